//! Floor 8: the columns: adding, moving, loading again, and writing what they show.

use std::path::PathBuf;

use crate::figure::palette::COLOUR_MAPS;
use crate::figure::sheet::Look;
use crate::session::column::Column;
use crate::session::effect::Chore;
use crate::session::export;
use crate::session::pages::sentence::command::{AlignmentFormat, ColumnCommand};
use crate::session::shared::{Selection, Shared};
use crate::worker::protocol::ColumnId;

impl Shared {
    pub(super) fn apply_to_columns(&mut self, command: ColumnCommand) {
        match command {
            ColumnCommand::Add(folder) => self.add_column(folder),
            ColumnCommand::AddEnsemble(ensemble) => self.add_ensemble(ensemble),
            ColumnCommand::SetMixing { column, mixing } => {
                let column = self.columns.iter_mut().find(|one| one.id == column);
                let ensemble = column.and_then(|column| column.ensemble.as_mut());
                let Some(ensemble) = ensemble.filter(|ensemble| ensemble.mixing != mixing) else { return };
                ensemble.mixing = mixing;
            }
            ColumnCommand::Remove(id) => {
                self.columns.retain(|column| column.id != id);
                if self.selection.column == Some(id) {
                    self.selection = Selection::default();
                }
                self.hover = self.hover.filter(|hover| hover.column != id);
            }
            ColumnCommand::Move { column, to } => return self.move_column(column, to),
            ColumnCommand::Reload(id) => {
                let Some(at) = self.columns.iter().position(|one| one.id == id) else { return };
                // A new number makes the worker try again, and old events miss.
                let fresh = self.fresh_id();
                let column = &mut self.columns[at];
                *column = Column::new(fresh, std::mem::take(&mut column.folder), column.ensemble.take());
            }
            ColumnCommand::Export { column, format, path } => return self.export(column, format, path),
            ColumnCommand::Draw { column, kind, is_dark, path } => return self.draw(column, kind, is_dark, path),
        }
        self.columns_changed();
    }

    /// There are other columns than before.
    pub(super) fn columns_changed(&mut self) {
        self.changed();
        self.mark_differences();
        self.request();
    }

    fn move_column(&mut self, column: ColumnId, to: usize) {
        let Some(from) = self.columns.iter().position(|one| one.id == column) else { return };
        let moved = self.columns.remove(from);
        self.columns.insert(to.min(self.columns.len()), moved);
        self.changed();
        self.mark_differences();
    }

    fn draw(&mut self, column: ColumnId, kind: &'static str, is_dark: bool, path: PathBuf) {
        let map =
            COLOUR_MAPS.iter().find(|map| map.name == self.settings.palette_on(is_dark)).unwrap_or(&COLOUR_MAPS[0]);
        let look = Look { is_dark, map, has_legend: true, ..Look::default() };
        let (search, settings) = (&self.scene.search, &self.settings);
        let picture = self.column(column).and_then(|column| export::picture(column, search, settings, kind, look));
        match picture {
            Some(picture) => self.chore(Chore::Draw { path, picture: Box::new(picture) }),
            None => self.notify("There is nothing to draw yet, because nothing is translated in this column", true),
        }
    }

    fn export(&mut self, column: ColumnId, format: AlignmentFormat, path: PathBuf) {
        let column = self.column(column);
        match column.and_then(|column| export::text(column, &self.settings, format)) {
            Some(text) => {
                let note = column.and_then(|column| export::note(column, format));
                self.chore(Chore::Write { path, text });
                if let Some(note) = note {
                    self.notify(note, false);
                }
            }
            None => self.notify(export::why_not(column, format), true),
        }
    }
}
