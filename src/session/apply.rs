//! Floor 8: what each command does to the session.

use crate::session::command::{Command, Format, List};
use crate::session::driver::Chore;
use crate::session::history::Snapshot;
use crate::session::pages::Page;
use crate::session::{Column, DeviceChoice, Session, export};
use crate::worker::protocol::{ColumnId, Request};

impl Session {
    /// Does what the user asked for; answers with the request that it calls for, if any.
    pub fn apply(&mut self, command: Command) -> Option<Request> {
        match command {
            Command::EditSource(_) | Command::ReplaceSource(_) | Command::Undo | Command::Redo | Command::Stop => {
                self.apply_to_source(command)
            }
            Command::Open(path) => {
                self.chores.push(Chore::Open(path));
                None
            }
            Command::AddColumn(_)
            | Command::AddEnsemble(_)
            | Command::SetMixing { .. }
            | Command::RemoveColumn(_)
            | Command::MoveColumn { .. }
            | Command::ReloadColumn(_) => self.apply_to_columns(command),
            Command::ShowList(_)
            | Command::CloseFile(_)
            | Command::PickSentence(_)
            | Command::MoveSentence(_)
            | Command::FirstSentence
            | Command::LastSentence
            | Command::Search(_)
            | Command::ClearHistory => self.apply_to_lists(command),
            Command::Hover(_)
            | Command::SelectTarget { .. }
            | Command::MoveTarget(_)
            | Command::MoveColumnSelection(_)
            | Command::SelectHypothesis { .. }
            | Command::MoveHypothesis(_)
            | Command::Deselect => {
                self.apply_to_selection(&command);
                None
            }
            Command::SetBeam(_)
            | Command::SetLengthNormalization(_)
            | Command::SetForbidUnk(_)
            | Command::SetDevice(_) => self.apply_to_search(&command),
            Command::Export { column, format, path } => {
                self.export(column, format, path);
                None
            }
            Command::Training(command) => {
                self.apply_to_training(command);
                None
            }
            Command::DismissNotice(id) => {
                self.notices.retain(|notice| notice.id != id);
                None
            }
            Command::ShowPage(_)
            | Command::Evaluation(_)
            | Command::Map(_)
            | Command::Phrases(_)
            | Command::PauseTask(..)
            | Command::CancelTask(_) => {
                self.apply_to_pages(command);
                let text = self.to_open.take()?;
                self.replace_source(text, None)
            }
            other => {
                self.apply_to_picture(other);
                None
            }
        }
    }

    fn apply_to_pages(&mut self, command: Command) {
        match command {
            Command::ShowPage(page) => self.show_page(page),
            Command::Evaluation(command) => self.apply_to_evaluation(command),
            Command::Map(command) => self.apply_to_maps(command),
            Command::Phrases(command) => self.apply_to_phrases(command),
            Command::PauseTask(number, is_paused) => self.pause_task(number, is_paused),
            Command::CancelTask(number) => self.cancel_task(number),
            _ => {}
        }
    }

    fn show_page(&mut self, page: Page) {
        if page != self.page {
            self.page = page;
            self.revision += 1;
        }
    }

    /// Translates a text on page Sentence.
    pub(super) fn show_sentence(&mut self, text: String) {
        self.show_page(Page::Sentence);
        self.to_open = Some(text);
    }

    fn apply_to_source(&mut self, command: Command) -> Option<Request> {
        match command {
            Command::EditSource(text) => {
                if text == self.source {
                    return None;
                }
                self.undo.typed(&self.source, self.position, &text);
                self.typed = true;
                self.typed_on &= !text.trim().is_empty();
                Some(self.set_source(text, None))
            }
            Command::ReplaceSource(text) => self.replace_source(text, None),
            Command::Undo => {
                let before = self.undo.undo(&self.source, self.position)?;
                Some(self.set_back(before))
            }
            Command::Redo => {
                let after = self.undo.redo(&self.source, self.position)?;
                Some(self.set_back(after))
            }
            _ => {
                // What the work under way still tells is old; models that are being read are still wanted.
                let request = self.request_to_rest();
                self.mark_differences();
                Some(request)
            }
        }
    }

    pub(super) fn replace_source(&mut self, text: String, position: Option<usize>) -> Option<Request> {
        if text == self.source {
            self.position = position.or(self.position);
            return None;
        }
        self.undo.replaced(&self.source, self.position);
        (self.typed, self.typed_on) = (false, false);
        Some(self.set_source(text, position))
    }

    /// A text of the past or future, marked in the list where it still stands there.
    fn set_back(&mut self, (text, position): Snapshot) -> Request {
        let position = position.filter(|&at| self.list_sentence(at).is_some_and(|line| line == text));
        self.set_source(text, position)
    }

    fn set_source(&mut self, text: String, position: Option<usize>) -> Request {
        self.source = text;
        self.position = position;
        self.hover = None;
        self.revision += 1;
        self.request()
    }

    fn apply_to_columns(&mut self, command: Command) -> Option<Request> {
        match command {
            Command::AddColumn(folder) => self.add_column(folder),
            Command::AddEnsemble(ensemble) => self.add_ensemble(ensemble),
            Command::SetMixing { column, mixing } => {
                let column = self.columns.iter_mut().find(|one| one.id == column)?;
                let ensemble = column.ensemble.as_mut().filter(|ensemble| ensemble.mixing != mixing)?;
                ensemble.mixing = mixing;
            }
            Command::RemoveColumn(id) => {
                self.columns.retain(|column| column.id != id);
                if self.selection.column == Some(id) {
                    self.selection = super::Selection::default();
                }
                self.hover = self.hover.filter(|hover| hover.column != id);
            }
            Command::MoveColumn { column, to } => {
                let from = self.columns.iter().position(|one| one.id == column)?;
                let moved = self.columns.remove(from);
                self.columns.insert(to.min(self.columns.len()), moved);
                self.revision += 1;
                self.mark_differences();
                return None;
            }
            Command::ReloadColumn(id) => {
                let at = self.columns.iter().position(|one| one.id == id)?;
                // A new name makes the worker try again, and old events miss.
                let fresh = self.fresh_id();
                let column = &mut self.columns[at];
                *column = Column::new(fresh, std::mem::take(&mut column.folder), column.ensemble.take());
            }
            _ => return None,
        }
        self.revision += 1;
        self.mark_differences();
        Some(self.request())
    }

    fn apply_to_search(&mut self, command: &Command) -> Option<Request> {
        let before = self.settings.clone();
        let settings = &mut self.settings;
        match *command {
            Command::SetBeam(beam) => settings.beam = beam.clamp(1, 50),
            Command::SetLengthNormalization(a) if a.is_finite() => settings.length_normalization = a.clamp(0.0, 2.0),
            Command::SetForbidUnk(forbid) => settings.forbid_unk = forbid,
            Command::SetDevice(device) => settings.device = device,
            _ => {}
        }
        if *settings == before {
            return None;
        }
        let moved: DeviceChoice = settings.device;
        if moved != before.device {
            self.rename_columns();
        }
        self.revision += 1;
        Some(self.request())
    }

    /// Models move to another device: each column is told again what it is, failures are tried again.
    fn rename_columns(&mut self) {
        for at in 0..self.columns.len() {
            let fresh = self.fresh_id();
            let column = &mut self.columns[at];
            if self.selection.column == Some(column.id) {
                self.selection.column = Some(fresh);
            }
            column.id = fresh;
            column.state = super::ColumnState::Loading(0.0);
        }
        self.hover = None;
    }

    fn apply_to_picture(&mut self, command: Command) {
        let settings = &mut self.settings;
        match command {
            Command::SetUnkReplacement(on) => settings.unk_replacement = on,
            Command::SetShown(shown) => settings.shown = shown,
            Command::SetReading(reading) => {
                settings.reading = reading;
                (0..self.columns.len()).for_each(|at| self.rebuild(at));
                self.mark_differences();
            }
            Command::SetPalette(name) => settings.palette = name,
            Command::SetTheme(theme) => settings.theme = theme,
            Command::SetZoom(zoom) if zoom.is_finite() => settings.zoom = zoom.clamp(0.5, 3.0),
            Command::SetLayout { key, value } if value.is_finite() => {
                if self.layout.insert(key, value) == Some(value) {
                    return;
                }
            }
            _ => return,
        }
        self.revision += 1;
    }

    fn apply_to_selection(&mut self, command: &Command) {
        match *command {
            Command::Hover(hover) => self.hover = hover.filter(|hover| self.column(hover.column).is_some()),
            Command::SelectTarget { column, i } => {
                if self.column(column).is_some() {
                    self.selection = super::Selection { column: Some(column), target: Some(i) };
                }
            }
            Command::MoveTarget(by) => {
                let Some(column) = self.selected_column() else { return };
                let words = column.table.as_ref().map_or(0, |table| table.target.len());
                let target = match (self.selection.target, words) {
                    (_, 0) => None,
                    (Some(i), _) => Some(moved(i, by, words)),
                    (None, _) => Some(if by < 0 { words - 1 } else { 0 }),
                };
                self.selection = super::Selection { column: Some(column.id), target };
            }
            Command::MoveColumnSelection(by) => {
                let Some(id) = self.selected_column().map(|column| column.id) else { return };
                let at = self.columns.iter().position(|column| column.id == id).unwrap_or(0);
                self.selection.column = Some(self.columns[moved(at, by, self.columns.len())].id);
            }
            Command::SelectHypothesis { column, hypothesis } => self.show_hypothesis(column, hypothesis),
            Command::MoveHypothesis(by) => {
                let Some(column) = self.selected_column() else { return };
                if !column.hypotheses.is_empty() {
                    let (id, to) = (column.id, moved(column.hypothesis, by, column.hypotheses.len()));
                    self.show_hypothesis(id, to);
                }
            }
            _ => self.selection = super::Selection::default(),
        }
    }

    fn show_hypothesis(&mut self, id: ColumnId, hypothesis: usize) {
        let Some(at) = self.columns.iter().position(|column| column.id == id) else { return };
        if hypothesis >= self.columns[at].hypotheses.len() {
            return;
        }
        self.columns[at].hypothesis = hypothesis;
        if self.selection.column != Some(id) {
            self.selection.target = None;
        }
        self.selection.column = Some(id);
        self.rebuild(at);
        self.mark_differences();
    }

    fn export(&mut self, column: ColumnId, format: Format, path: std::path::PathBuf) {
        let column = self.column(column);
        match column.and_then(|column| export::text(column, format)) {
            Some(text) => {
                let note = column.and_then(|column| export::note(column, format));
                self.chores.push(Chore::Write { path, text });
                if let Some(note) = note {
                    self.notify(note, false);
                }
            }
            None => self.notify(export::why_not(column, format), true),
        }
    }

    pub(super) fn existing(&self, list: List) -> List {
        match list {
            List::File(n) if n >= self.files.len() => List::Examples,
            other => other,
        }
    }
}

/// `at + by`, kept inside `0..length` (not empty).
pub(super) fn moved(at: usize, by: isize, length: usize) -> usize {
    at.saturating_add_signed(by).min(length - 1)
}
