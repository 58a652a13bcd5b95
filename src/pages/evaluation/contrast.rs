//! Floor 11: page Evaluation, minimal pairs: a table of them, what the open models say, and the tables that come of it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::analysis::contrast::pairs::{each, summary, summary_table};
use crate::app::effect::FileJob;
use crate::app::state::AppState;
use crate::jobs::queue::contrast::{ContrastFound, ContrastOrder};
use crate::pages::evaluation::command::ContrastCommand;
use crate::text::cells::CellTable;

/// What is known of minimal pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContrastDesk {
    /// The table that was asked about last.
    pub table: Option<PathBuf>,
    /// The number of the work under way.
    pub task: Option<u64>,
    /// Why the last came to nothing.
    pub message: Option<String>,
    /// What the last found.
    pub found: Option<Arc<ContrastFound>>,
    /// A row for each tag and model.
    pub by_tag: Arc<CellTable>,
    /// A row for each pair and model, and of which pair each is.
    pub each: Arc<CellTable>,
    of: Vec<usize>,
    /// The rows of pairs are shown.
    pub shows_pairs: bool,
    /// The chosen row of these.
    pub selected: Option<usize>,
}

impl ContrastDesk {
    /// The table that is shown.
    pub fn shown(&self) -> &Arc<CellTable> {
        if self.shows_pairs { &self.each } else { &self.by_tag }
    }

    /// Does what the user asked for; gives what is to be ordered.
    pub(super) fn apply(&mut self, command: ContrastCommand, app: &mut AppState) -> Option<ContrastOrder> {
        match command {
            ContrastCommand::Open(path) => {
                self.table = Some(path);
                return self.order(app);
            }
            ContrastCommand::Again => return self.order(app),
            ContrastCommand::ShowPairs(shows) => self.shows_pairs = shows,
            ContrastCommand::Select(row) => {
                let pair = self.of.get(row).and_then(|n| self.found.as_ref()?.pairs.get(*n));
                if let Some(pair) = pair.cloned() {
                    self.selected = Some(row);
                    app.show_pair(pair);
                }
            }
            ContrastCommand::Save(path) => app.tasks.chore(FileJob::Write { path, text: self.shown().tsv() }),
            ContrastCommand::Dismiss => self.message = None,
        }
        None
    }

    fn order(&mut self, app: &AppState) -> Option<ContrastOrder> {
        let table = self.table.clone().filter(|_| self.task.is_none())?;
        let systems = app.systems();
        if systems.is_empty() {
            self.message = Some(tr!("There is no model to ask; add one with + Model above").to_owned());
            return None;
        }
        self.message = None;
        Some(ContrastOrder { table, systems, device: app.view.settings.device })
    }

    pub(super) fn take(&mut self, number: u64, found: ContrastFound) {
        if self.task != Some(number) {
            return;
        }
        let (rows, of) = each(&found.pairs, &found.models);
        (self.by_tag, self.each) = (Arc::new(summary_table(&summary(&found.pairs, &found.models))), Arc::new(rows));
        (self.of, self.selected, self.task) = (of, None, None);
        self.found = Some(Arc::new(found));
    }

    pub(super) fn ended(&mut self, number: u64, message: Option<&String>) {
        if self.task == Some(number) {
            self.task = None;
            self.message = message.cloned();
        }
    }
}
