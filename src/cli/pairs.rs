//! Pairs of parallel files, forced through a model in windows: what `score` and `dictionary` share.

use crate::args::{BatchArgs, ModelArgs, PairArgs, ReadingArgs, RunArgs};
use crate::input::{InputFiles, InputSide, SourceLine};
use crate::windows;
use crate::windows::{Doing, Growth, WindowItem};
use engine::decoding::{Ensemble, Hypothesis};
use engine::error::{Error, Result};
use engine::{evaluation::rows::RowReader, models::Stepper, text::line, ticket::CancellationToken};
use host::words;
use host::words::Worded;

/// A source line and its target line.
pub type SourcePair = (SourceLine, SourceLine);

/// Called with each window of pairs and its results.
pub type Each<'a> = dyn FnMut(&Ensemble, &[SourcePair], &[Option<Hypothesis>]) -> anyhow::Result<()> + 'a;

/// Two files and what forces one through the other.
pub struct PairForcer {
    pub system: Ensemble,
    /// Whose rows alpha has.
    pub rows: RowReader,
    stepper: Box<dyn Stepper>,
    files: InputFiles,
    batch: usize,
    pretokenized: bool,
}

impl PairForcer {
    /// Opens the files, then loads what reads them.
    pub fn open(
        pairs: &PairArgs, models: &ModelArgs, (reading, may): (ReadingArgs, bool), (batch, run): (BatchArgs, &RunArgs),
    ) -> Result<Self> {
        let files = pairs.open()?;
        let runtime = run.plan()?;
        let system = models.load(&runtime)?;
        let (rows, stepper) = reading.open(&system, &runtime, may)?;
        let rows = if reading.is_head() { RowReader::own((&system).into()) } else { rows };
        Ok(Self { system, rows, stepper, files, batch: batch.batch, pretokenized: pairs.pretokenized })
    }

    /// Refuses what needs an alignment where there is none, and no rows of an alignment head.
    pub fn require_alignment(&self, what: &str) -> Result<()> {
        words::require_alignment(&self.system, self.stepper.has_alignment_head(), what)
    }

    /// Reads window after window and calls `each` for every pair; returns the number of refused pairs.
    pub fn run(mut self, doing: Doing, each: &mut Each<'_>) -> anyhow::Result<usize> {
        let system = &self.system;
        let mut next = |files: &mut InputFiles| next(files, system, self.pretokenized);
        windows::run(doing, &mut self.files, Growth::new(self.batch), &mut next, &mut |window| {
            let is_read = |pair: &&SourcePair| pair.facts().1.is_none();
            let read = window.iter().filter(is_read);
            let pairs: Vec<_> = read.map(|(x, y)| (&x.sentence.ids[..], &y.sentence.ids[..])).collect();
            let (stepper, ticket) = (self.stepper.as_mut(), CancellationToken::forever());
            let forced = self.rows.force_all(stepper, &pairs, self.batch, &ticket, &mut |_, _| {})?;
            let mut forced = forced.into_iter();
            let one = |pair| if is_read(&pair) { forced.next() } else { None };
            each(system, window, &window.iter().map(one).collect::<Vec<_>>())?;
            Ok(window.iter().map(|(_, target)| target.sentence.len()).sum())
        })
    }

    /// As [`PairForcer::run`]; `each` gets the words of every pair that a model could read, and their links: those of the alignment
    /// head, where its rows are there.
    pub fn run_aligned(self, each: &mut dyn FnMut(&Worded)) -> anyhow::Result<usize> {
        let pretokenized = self.pretokenized;
        let doing = Doing { name: "aligning", verb: "align" };
        self.run(doing, &mut |system, window, forced| {
            for ((source, target), forced) in window.iter().zip(forced) {
                if let Some(rows) = forced.as_ref().and_then(words::came_from) {
                    each(&words::worded(system, (&source.sentence, &target.sentence), rows, pretokenized));
                }
            }
            Ok(())
        })
    }
}

impl WindowItem for SourcePair {
    fn facts(&self) -> (usize, Option<&Error>) {
        (self.0.sentence.len() + self.1.sentence.len(), self.0.refused.as_ref().or(self.1.refused.as_ref()))
    }
}

fn next(files: &mut InputFiles, system: &Ensemble, pretokenized: bool) -> Result<Option<SourcePair>> {
    let Some((source, target)) = files.pair()? else { return Ok(None) };
    let mut source = InputSide { tokenizer: system, pretokenized }.read(&files.source, source);
    if source.sentence.is_empty() && source.refused.is_none() {
        source.refused = Some(files.source.refuse(line::NO_WORDS));
    }
    let target = InputSide { tokenizer: system.target(), pretokenized }.read(files.side(true), target);
    Ok(Some((source, target)))
}
