//! A file in windows of records, read ahead, and outputs measured and packed, by threads beside the one that writes.

use crate::store::{output::SystemOutput, read::StoredSentence, rules::SideRules, write::Ready};
use crate::{import::lanes::Lanes, measures::table::Measuring};
use engine::error::{Error, Result};
use engine::{analysis::bleu::BleuSettings, text::links::Links, ticket::CancellationToken};
use import::{Import, Record, RecordWindow, Warnings};

pub(super) const WINDOW: usize = 1000;
pub(super) const PACKED: usize = 250;

/// Reads ahead and sends windows until it is stopped; returns the error that ended the file early.
pub(super) fn read(
    lanes: &Lanes<'_, '_, Job, Done>, import: &mut Import, ticket: &CancellationToken,
    take: &mut dyn FnMut(Vec<Record>, &Import) -> Result<bool>,
) -> Result<Option<Error>> {
    let mut failed = None;
    let (mut is_over, mut goes_on) = (false, true);
    loop {
        while !is_over && lanes.open(READ) < MOST_OPEN.0 {
            match import.window(WINDOW) {
                Ok(window) if window.is_empty() => is_over = true,
                Ok(window) => lanes.give(READ, Job::Read(window)),
                Err(error) => (failed, is_over) = (Some(error), true),
            }
        }
        is_over |= !goes_on || ticket.is_stale();
        let Some(Done::Read(records, warnings)) = lanes.take(READ) else { return Ok(failed) };
        if goes_on && !ticket.is_stale() {
            import.warnings.absorb(warnings);
            goes_on = take(records, import)?;
        }
    }
}

pub(super) enum Job {
    Read(RecordWindow),
    Pack(Vec<Draft>, BleuSettings),
}

pub(super) enum Done {
    Read(Vec<Record>, Warnings),
    Pack(std::io::Result<Vec<Ready>>),
}

pub(super) const READ: usize = 0;
pub(super) const PACK: usize = 1;
/// Windows that are being read, and outputs that are being packed, at most.
pub(super) const MOST_OPEN: (usize, usize) = (3, 4 * WINDOW / PACKED);

pub(super) fn work(job: Job) -> Done {
    match job {
        Job::Read(window) => {
            let (records, warnings) = window.read();
            Done::Read(records, warnings)
        }
        Job::Pack(drafts, bleu) => {
            let mut measuring = Measuring { bleu, ..Measuring::default() };
            Done::Pack(drafts.iter().map(|draft| draft.ready(&mut measuring)).collect())
        }
    }
}

pub(super) struct Draft {
    pub(super) at: usize,
    pub(super) output: SystemOutput,
    pub(super) sentence: StoredSentence,
    pub(super) gold: Option<Links>,
    pub(super) rules: SideRules,
}

impl Draft {
    pub(super) fn ready(&self, measuring: &mut Measuring) -> std::io::Result<Ready> {
        let of = (self.sentence.source.as_str(), &*self.sentence.references(), self.gold.as_ref());
        Ready::new(self.at, &self.output, of, (self.rules, measuring))
    }
}
