//! Page Corpus, minimal pairs: a table of them, what the open models say, and the tables that come of it.

use std::{path::PathBuf, sync::Arc};

use crate::app::{files::work::FileJob, state::AppState};
use crate::jobs::queue::contrast::{ContrastFound, ContrastOrder};
use crate::pages::corpus::command::ContrastCommand;
use engine::{
    decoding::SystemSpec, evaluation::contrast::ContrastMeasures, nn::device::DeviceChoice, text::cells::CellTable,
};

/// State of minimal pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContrastState {
    /// The table that was asked about last.
    pub table: Option<PathBuf>,
    pub interventions: Option<PathBuf>,
    pub measures: ContrastMeasures,
    pub task: Option<u64>,
    pub found: Option<Arc<ContrastFound>>,
    pub shows_pairs: bool,
    /// The chosen row of these.
    pub selected: Option<usize>,
}

impl ContrastState {
    pub fn shown(&self) -> Option<&Arc<CellTable>> {
        let tables = &self.found.as_ref()?.tables;
        Some(if self.shows_pairs { &tables.each } else { &tables.by_tag })
    }

    pub(super) fn apply(&mut self, command: ContrastCommand, app: &mut AppState) {
        match command {
            ContrastCommand::Open(path) => self.table = Some(path),
            ContrastCommand::Again => {}
            ContrastCommand::SetInterventions(path) => self.interventions = path,
            ContrastCommand::SetMeasures(measures) => self.measures = measures,
            ContrastCommand::ShowPairs(shows) => self.shows_pairs = shows,
            ContrastCommand::Select(row) => self.selected = Some(row),
            ContrastCommand::Show(row) => {
                let of = |found: &Arc<ContrastFound>| found.pairs.get(*found.tables.of.get(row)?).cloned();
                if let Some(pair) = self.found.as_ref().and_then(of) {
                    self.selected = Some(row);
                    app.show_pair(pair);
                }
            }
            ContrastCommand::Save(path) => {
                if let Some(table) = self.shown() {
                    app.tasks.chore(FileJob::Write { path, text: table.tsv() });
                }
            }
        }
    }

    /// What asks these systems; why nothing does, as a sentence.
    pub(super) fn order(&self, systems: Vec<SystemSpec>, device: DeviceChoice) -> Result<ContrastOrder, &'static str> {
        match &self.table {
            Some(table) if !systems.is_empty() => Ok(ContrastOrder {
                table: table.clone(),
                systems,
                interventions: self.interventions.clone(),
                measures: self.measures,
                device,
            }),
            _ => Err(tr!("There is no model to ask; add one with + Model above")),
        }
    }

    /// The order failed: shows again the table of the last result.
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
        (self.selected, self.task) = (None, None);
        self.found = Some(Arc::new(found));
    }
}
