//! The thread of a corpus, what people say of it: every copy takes in what is new, and what follows is told.

use std::sync::Arc;

use crate::jobs::corpus::calls::{CorpusNews, CorpusRequest};
use crate::jobs::corpus::open::CorpusHandler;
use corpus::judgements::judge::{Changed, Judges};
use corpus::judgements::scheme::{ErrorScheme, Renamed};
use corpus::judgements::{agreement, alpha::alphas, change::Change};
use corpus::store::file::Workspace;
use engine::aligner::{bundled::AlignerChoice, words::LineAligner};
use engine::error::{Error, Result};
use engine::text::links::Links;

fn align(workspace: &mut Workspace, at: usize, by: &str, choice: &AlignerChoice) -> Result<Changed> {
    let Some(sentence) = workspace.sentence(at)? else { return Ok(Changed::default()) };
    let Some(reference) = sentence.reference.as_deref() else {
        return Err(Error::Input("There is no reference to link the source with; import one".to_owned()));
    };
    let Some(mut aligner) = LineAligner::chosen(choice, workspace.rules().are_given())? else {
        let AlignerChoice { source, target, .. } = choice;
        let none = || {
            format!(
                "No aligner comes with the program for {source} and {target}; the menu View takes a file of your own"
            )
        };
        return Err(Error::Input(choice.trouble().unwrap_or_else(none)));
    };
    let links = workspace.rules().aligned(&mut aligner, &sentence.source, reference).likely;
    workspace.draw(at, by, Some(&Links::new(links, Vec::new())))
}

impl CorpusHandler<'_> {
    pub(super) fn answer_judging(&mut self, request: CorpusRequest) -> Result<()> {
        let workspace = self.workspace()?;
        let changed = match request {
            CorpusRequest::Judge(at, by, judgement) => workspace.judge(at, &by, &judgement)?,
            CorpusRequest::SetGold(at, by, gold) => workspace.draw(at, &by, gold.as_ref())?,
            CorpusRequest::SetOutputGold(at, text, gold) => workspace.draw_output(at, &text, gold.as_ref())?,
            CorpusRequest::Align(at, by, aligner) => align(workspace, at, &by, &aligner)?,
            CorpusRequest::SetScheme(scheme, renamed) => workspace.set_scheme(&scheme, &renamed)?,
            CorpusRequest::OpenScheme(path) => workspace.set_scheme(&ErrorScheme::open(&path)?, &Renamed::default())?,
            CorpusRequest::Undo | CorpusRequest::Redo => {
                let act = if request == CorpusRequest::Undo { workspace.undo()? } else { workspace.redo()? };
                let Some(changed) = act else { return Ok(()) };
                changed
            }
            _ => return Ok(()),
        };
        self.judged(&changed)
    }

    /// Updates every copy of the corpus after a judgement; filters and sorts again only if that depends on it.
    pub(super) fn judged(&mut self, changed: &Changed) -> Result<()> {
        let Some(workspace) = &mut self.at.workspace else { return Ok(()) };
        let change = Arc::new(Change::read(workspace, changed)?);
        Arc::make_mut(&mut self.at.corpus).apply(&change);
        self.tell(CorpusNews::Judged(Arc::clone(&change)));
        self.compare();
        let has_links = !change.golds.is_empty();
        if has_links {
            self.at.jobs.means.forget();
        }
        if self.at.follows || has_links && self.at.shown != <(String, String)>::default() {
            // Where it is stale, a newer question waits, and is answered next.
            return self.show();
        }
        Ok(())
    }

    pub(super) fn compare(&self) {
        let Some((first, second)) = &self.at.compared else { return };
        let rows: Vec<u32> = self.at.corpus.judgements.keys().map(|at| *at as u32).collect();
        let mut found = agreement::compare(&self.at.corpus, (first, second), &rows).ok();
        if let Some(agreement) = &mut found {
            let all = self.at.corpus.counts.annotators.keys().map(String::as_str);
            let all: Vec<&str> = all.filter(|name| Judges::People.are(name)).collect();
            agreement.alphas = alphas(&self.at.corpus, &all, &rows).unwrap_or_default();
        }
        for (at, _) in found.iter().flat_map(|agreement| &agreement.differing) {
            self.at.corpus.read_rows(&[*at as u32], &[]);
        }
        self.tell(CorpusNews::Compared(found.map(Arc::new)));
    }
}
