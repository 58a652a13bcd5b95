//! The corpus thread's long answers, given in steps between its other calls: overviews and concordances.

use std::sync::Arc;

use crate::jobs::corpus::calls::{CorpusNews, Find, Hits};
use crate::jobs::queue::JobProgress;
use corpus::overview::compute::{Counting, OverviewOptions};
use corpus::query::expensive::{FilterResources, GoesOn};
use corpus::query::linked::{TallyOrder, Tallying};
use corpus::store::{corpus::CorpusTable, file::Workspace};
use corpus::{import::aligned::Linker, query::hits::Searching};
use engine::error::Result;

/// Sentences of a step of an overview, and of a concordance.
const STEPS: (usize, usize) = (50, 500);
/// The most hits of a query.
pub const MOST_HITS: usize = 20_000;

/// Running counts and searches.
#[derive(Default)]
pub struct Jobs {
    pub means: FilterResources,
    counting: Option<(Box<Counting>, u32)>,
    searching: Option<(u64, Searching, usize)>,
    tallying: Option<Tallying>,
}

impl Jobs {
    pub fn is_busy(&self) -> bool {
        self.counting.is_some() || self.searching.is_some() || self.tallying.is_some()
    }

    pub fn forget_texts(&mut self) {
        if let Some((counting, _)) = &mut self.counting {
            counting.forget_texts();
        }
    }

    /// Call when systems have other positions.
    pub fn stop(&mut self) {
        (self.counting, self.searching, self.tallying) = (None, None, None);
    }

    /// Begins an overview in the place of an older one; stale when it is not wanted any more.
    pub fn count(
        &mut self, options: Option<OverviewOptions>, corpus: &Arc<CorpusTable>, rows: &[u32], goes_on: &mut GoesOn<'_>,
    ) -> Result<()> {
        self.counting = None;
        let Some(options) = options else { return Ok(()) };
        let frequencies = self.means.frequencies(corpus, goes_on)?;
        let linker = Linker::new(self.means.aligner.as_ref(), corpus.rules)?;
        let counting = Counting::new(Arc::clone(corpus), rows, &options, frequencies, linker);
        self.counting = Some((Box::new(counting), 0));
        Ok(())
    }

    /// Begins a concordance in place of an older one; an invalid query is returned as news.
    pub fn find(&mut self, find: Option<Find>, workspace: &Workspace, rows: &[u32]) -> Option<CorpusNews> {
        self.searching = None;
        let find = find?;
        let folder = workspace.path().parent().unwrap_or(workspace.path());
        let aligner = self.means.aligner.as_ref();
        match Searching::new(&find.query, folder, find.links, rows.to_vec(), (aligner, workspace.rules())) {
            Ok(searching) => self.searching = Some((find.number, searching.by_parts(find.by_parts, find.by_target), 0)),
            Err(why) => return Some(CorpusNews::Refused(find.number, why.to_string())),
        }
        None
    }

    /// Begins to count kinds of links in place of an older count; an error is returned as news.
    pub fn tally(&mut self, order: Option<TallyOrder>, workspace: &Workspace, rows: &[u32]) -> Option<CorpusNews> {
        self.tallying = None;
        let order = order?;
        let (number, folder) = (order.number, workspace.path().parent().unwrap_or(workspace.path()));
        match Tallying::new(order, folder, rows.to_vec(), (self.means.aligner.as_ref(), workspace.rules())) {
            Ok(tallying) => self.tallying = Some(tallying),
            Err(why) => return Some(CorpusNews::Refused(number, why.to_string())),
        }
        None
    }

    /// Goes a step on with what is under way; it ends when it fails.
    pub fn step(
        &mut self, corpus: &CorpusTable, workspace: &Workspace, notify: &mut dyn FnMut(CorpusNews),
    ) -> Result<()> {
        if let Some((mut counting, mut reported)) = self.counting.take() {
            if counting.step(workspace, STEPS.0)? {
                let share = (counting.share() * 100.0) as u32;
                if share > reported {
                    reported = share;
                    notify(CorpusNews::Counting(JobProgress::of_share("", counting.share())));
                }
                self.counting = Some((counting, reported));
            } else {
                notify(CorpusNews::Counted(Arc::new(counting.finish())));
            }
        }
        if let Some((number, mut searching, mut found)) = self.searching.take() {
            let mut lines = searching.step(corpus, workspace, STEPS.1)?;
            lines.truncate(MOST_HITS - found);
            found += lines.len();
            let is_over = searching.is_done() || found >= MOST_HITS;
            notify(CorpusNews::Hits(Hits {
                number,
                lines,
                done: searching.done(),
                is_over,
                note: note(&searching, found),
            }));
            if !is_over {
                self.searching = Some((number, searching, found));
            }
        }
        if let Some(mut tallying) = self.tallying.take() {
            let table = tallying.step(corpus, workspace, STEPS.1)?.map(Arc::new);
            let progress = JobProgress::of_share("", tallying.share());
            notify(CorpusNews::Tallied(tallying.number(), progress, table.clone()));
            if table.is_none() {
                self.tallying = Some(tallying);
            }
        }
        Ok(())
    }
}

fn note(searching: &Searching, found: usize) -> Option<String> {
    if found >= MOST_HITS && !searching.is_done() {
        return Some(format!("Only the first {MOST_HITS} hits are shown; ask for less, or narrow what is shown"));
    }
    if searching.is_done() && searching.done() > 0 && searching.lacks_links() {
        return Some(id!("This system has no alignments, and without them -> and crossing find nothing; choose the links of the statistical aligner").to_owned());
    }
    let first = searching.incomplete.first()?;
    Some(format!("Some sentences have more hits than are shown, such as sentence {}", first + 1))
}
