//! The Sentence page. Its text and columns are the document, which all pages share; questions belong to it.

pub mod asked;
pub mod columns;
pub mod command;
pub mod interlinear;
pub mod intervene;
pub mod learning;
pub mod lists;
pub mod probes;
pub mod selection;
pub mod variants;
#[cfg(feature = "gui")]
pub mod view;

use std::path::PathBuf;

use crate::app::files::work::{FileEvent, FileJob};
use crate::app::page::{Dropped, Page, SENTENCE};
use crate::pages::sentence::command::{SearchCommand, SentenceCommand};
use crate::{app::state::AppState, jobs::queue::Found, pages::shape::PageState};

pub use crate::pages::sentence::asked::SentencePage;

impl SentencePage {
    pub fn apply(&mut self, command: SentenceCommand, app: &mut AppState) {
        match command {
            SentenceCommand::Column(command) => columns::arrange(app, command),
            SentenceCommand::List(command) => lists::browse(app, command),
            SentenceCommand::Select(command) => selection::select(app, &command),
            SentenceCommand::Search(command) => set_search(app, command),
            SentenceCommand::Intervene(command) => {
                let last = app.document.moved.take();
                app.document.moved = intervene::intervene(app, command, last);
            }
            SentenceCommand::Probe(command) => self.probe(app, command),
            SentenceCommand::Head(command) => self.learn(app, command),
            SentenceCommand::Interlinear(command) => interlinear::arrange(app, command),
            SentenceCommand::Variant(command) => {
                app.document.moved = None;
                self.vary(app, command);
            }
        }
    }
}

impl PageState for SentencePage {
    fn page(&self) -> Page {
        SENTENCE
    }

    fn follow(&mut self, app: &mut AppState) {
        self.end_stale_probes(app);
        interlinear::ask_aligner(app);
    }

    fn absorb_file(&mut self, news: &FileEvent, app: &mut AppState) {
        if let FileEvent::Annotated { path, sentences } = news {
            interlinear::annotate(app, path, sentences);
        }
    }

    fn found(&mut self, number: u64, found: Found, app: &mut AppState) {
        match found {
            Found::Probed(found) => self.probed(app, number, found),
            Found::Head(found) => self.learned(app, number, found),
            _ => {}
        }
    }

    fn ended(&mut self, number: u64, message: Option<String>, app: &mut AppState) {
        if !self.not_learned(number, message.as_ref()) {
            self.unanswered(app, number, message);
        }
    }

    fn dropped(&mut self, what: Dropped, path: PathBuf, app: &mut AppState) {
        match what {
            Dropped::Model => {
                app.add_column(path.into());
                app.columns_changed();
            }
            Dropped::Text => lists::open_file(app, path),
            Dropped::Interventions => self.open_interventions(app, path),
            Dropped::Links => lists::open_gold(app, path),
            Dropped::Annotated => app.tasks.chore(FileJob::ReadAnnotated(path)),
            // Other pages take these.
            Dropped::Logs | Dropped::Workspace => {}
        }
    }
}

fn set_search(app: &mut AppState, command: SearchCommand) {
    let mut search = app.document.state.search;
    match command {
        SearchCommand::SetBeam(beam) => search.beam = beam.clamp(1, 50),
        SearchCommand::SetLengthNormalization(a) => {
            if a.is_finite() {
                search.length_normalization = a.clamp(0.0, 2.0);
            }
        }
        SearchCommand::SetForbidUnk(forbid) => search.forbid_unk = forbid,
        SearchCommand::SetAllowUnk(allow) => search.allow_unk = allow,
    }
    if search != app.document.state.search {
        app.document.state.search = search;
        app.changed();
        app.request();
    }
}
