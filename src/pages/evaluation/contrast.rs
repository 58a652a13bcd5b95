//! Floor 11: page Evaluation, minimal pairs: a table of them, what the open models say, and the tables that come of it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::analysis::contrast::pairs::{each, summary, summary_table};
use crate::app::effect::FileJob;
use crate::app::state::AppState;
use crate::jobs::queue::candidate::Candidate;
use crate::jobs::queue::contrast::{ContrastFound, ContrastOrder};
use crate::nn::device::DeviceChoice;
use crate::pages::evaluation::command::ContrastCommand;
use crate::text::cells::CellTable;

/// What is known of minimal pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContrastDesk {
    /// The table that was asked about last.
    pub table: Option<PathBuf>,
    /// The number of the work under way.
    pub task: Option<u64>,
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

    /// Does what the user asked for.
    pub(super) fn apply(&mut self, command: ContrastCommand, app: &mut AppState) {
        match command {
            ContrastCommand::Open(path) => self.table = Some(path),
            ContrastCommand::Again => {}
            ContrastCommand::ShowPairs(shows) => self.shows_pairs = shows,
            ContrastCommand::Select(row) => self.selected = Some(row),
            ContrastCommand::Show(row) => {
                let pair = self.of.get(row).and_then(|n| self.found.as_ref()?.pairs.get(*n));
                if let Some(pair) = pair.cloned() {
                    self.selected = Some(row);
                    app.show_pair(pair);
                }
            }
            ContrastCommand::Save(path) => app.tasks.chore(FileJob::Write { path, text: self.shown().tsv() }),
        }
    }

    /// What asks these systems; why nothing does, as a sentence.
    pub(super) fn order(&self, systems: Vec<Candidate>, device: DeviceChoice) -> Result<ContrastOrder, &'static str> {
        match &self.table {
            Some(table) if !systems.is_empty() => Ok(ContrastOrder { table: table.clone(), systems, device }),
            _ => Err(tr!("There is no model to ask; add one with + Model above")),
        }
    }

    /// The table that what is shown is of, where another one came to nothing.
    pub(super) fn ended(&mut self) {
        self.task = None;
        if let Some(found) = &self.found {
            self.table = Some(found.table.clone());
        }
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
}
