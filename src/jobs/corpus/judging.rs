//! Floor 8: the thread of a corpus, what people say of it: every copy takes in what is new, and what follows is told.

use std::sync::Arc;

use crate::aligner::words::LineAligner;
use crate::corpus::judgements::agreement;
use crate::corpus::judgements::change::Change;
use crate::corpus::judgements::judge::Changed;
use crate::error::{Error, Result};
use crate::jobs::corpus::calls::CorpusNews;
use crate::jobs::corpus::open::Open;
use crate::text::links::Links;

impl Open<'_> {
    /// Something was judged: every copy of the corpus takes in what is new, and what follows from it is told. The rows are
    /// chosen and sorted again only where that depends on it.
    pub(super) fn judged(&mut self, changed: &Changed) -> Result<()> {
        let Some(workspace) = &mut self.workspace else { return Ok(()) };
        let change = Arc::new(Change::read(workspace, changed)?);
        Arc::make_mut(&mut self.corpus).apply(&change);
        self.tell(CorpusNews::Judged(Arc::clone(&change)));
        self.compare();
        let is_drawn = self.jobs.forget_judged(&self.corpus);
        let has_links = !change.golds.is_empty();
        if has_links {
            self.jobs.means.forget();
            self.jobs.forget();
        }
        if self.follows || has_links && self.shown != <(String, String)>::default() {
            return match self.show() {
                // A newer question waits, and is answered next.
                Err(Error::Stale) => Ok(()),
                shown => shown,
            };
        }
        if is_drawn || has_links {
            self.draw();
        }
        Ok(())
    }

    pub(super) fn draw_links(&mut self, at: usize, annotator: &str, gold: Option<&Links>) -> Result<()> {
        let Some(workspace) = &mut self.workspace else { return Ok(()) };
        let changed = workspace.draw(at, annotator, gold)?;
        self.judged(&changed)
    }

    /// Links to begin with.
    pub(super) fn align(&mut self, at: usize, annotator: &str, (source, target): &(String, String)) -> Result<()> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        let Some(sentence) = workspace.sentence(at)? else { return Ok(()) };
        let Some(reference) = sentence.reference.as_deref() else {
            return Err(Error::Input("There is no reference to link the source with; import one".to_owned()));
        };
        let Some(mut aligner) = LineAligner::bundled(source, target, false)? else {
            return Err(Error::Input(format!("No aligner comes with the program for {source} and {target}")));
        };
        let links = aligner.lines(&sentence.source, reference).forward;
        self.draw_links(at, annotator, Some(&Links::new(links, Vec::new())))
    }

    /// Tells how far two annotators agree, while they are compared.
    pub(super) fn compare(&self) {
        let Some((first, second)) = &self.compared else { return };
        let rows: Vec<u32> = self.corpus.judgements.keys().map(|at| *at as u32).collect();
        let found = agreement::compare(&self.corpus, (first, second), &rows).ok();
        for (at, _) in found.iter().flat_map(|agreement| &agreement.differing) {
            self.corpus.read_rows(&[*at as u32], &[]);
        }
        self.tell(CorpusNews::Compared(found.map(Arc::new)));
    }
}
