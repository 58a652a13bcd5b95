//! Floor 9: the page Sentence: the source text, the columns, the lists and what is marked. All of it is app with the
//! other pages, so the page itself has no state of its own.

pub mod columns;
pub mod command;
pub mod intervene;
pub mod lists;
pub mod probes;
pub mod selection;
pub mod source;
pub mod variants;

use std::path::PathBuf;

use serde_json::Value;

use crate::app::page::Dropped;
use crate::app::state::AppState;
use crate::jobs::queue::probe::Probed;
use crate::pages::sentence::command::{SearchCommand, SentenceCommand};
use crate::pages::shape::{Kept, PageState};

/// The page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sentence;

impl PageState for Sentence {
    type Command = SentenceCommand;
    type Found = Probed;

    fn apply(&mut self, command: SentenceCommand, app: &mut AppState) {
        match command {
            SentenceCommand::Source(command) => app.apply_to_source(command),
            SentenceCommand::Column(command) => app.apply_to_columns(command),
            SentenceCommand::List(command) => app.apply_to_lists(command),
            SentenceCommand::Select(command) => app.apply_to_selection(&command),
            SentenceCommand::Search(command) => app.apply_to_search(command),
            SentenceCommand::Intervene(command) => app.apply_to_interventions(command),
            SentenceCommand::Probe(command) => app.apply_to_probes(command),
            SentenceCommand::Variant(command) => app.apply_to_variants(command),
        }
    }

    fn found(&mut self, number: u64, found: Probed, app: &mut AppState) {
        app.probed(number, found);
    }
}

impl Kept for Sentence {
    fn ended(&mut self, number: u64, message: Option<String>, app: &mut AppState) {
        app.unanswered(number, message);
    }

    fn dropped(&mut self, what: Dropped, path: PathBuf, app: &mut AppState) {
        match what {
            Dropped::Model => {
                app.add_column(path);
                app.columns_changed();
            }
            Dropped::Text => app.open_file(path),
            Dropped::Interventions => app.open_interventions(path),
            // Other pages take these.
            Dropped::Logs | Dropped::PhraseTable | Dropped::Workspace => {}
        }
    }

    fn saved(&self) -> Value {
        // What is app is saved with the session.
        Value::Null
    }

    fn restore(&mut self, _saved: Value) -> serde_json::Result<()> {
        Ok(())
    }
}

impl AppState {
    fn apply_to_search(&mut self, command: SearchCommand) {
        let mut search = self.scene.search;
        match command {
            SearchCommand::SetBeam(beam) => search.beam = beam.clamp(1, 50),
            SearchCommand::SetLengthNormalization(a) => {
                if a.is_finite() {
                    search.length_normalization = a.clamp(0.0, 2.0);
                }
            }
            SearchCommand::SetForbidUnk(forbid) => search.forbid_unk = forbid,
        }
        if search != self.scene.search {
            self.scene.search = search;
            self.changed();
            self.request();
        }
    }
}
