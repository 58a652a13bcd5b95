//! Floor 9: the columns: adding, moving, loading again, and writing what they show.

use std::path::PathBuf;

use crate::app::document::column::Column;
use crate::app::effect::Chore;
use crate::app::files::drawing::Drawing;
use crate::app::files::export;
use crate::app::files::export::AlignmentFormat;
use crate::app::files::picture::Picture;
use crate::app::settings::Settings;
use crate::app::state::AppState;
use crate::app::view::Selection;
use crate::decoding::ensemble::Mixing;
use crate::figure::palette::COLOUR_MAPS;
use crate::jobs::live::protocol::{ColumnId, EnsembleSpec};
use crate::pages::sentence::command::ColumnCommand;

impl AppState {
    pub(crate) fn apply_to_columns(&mut self, command: ColumnCommand) {
        match command {
            ColumnCommand::Add(folder) => self.add_column(folder),
            ColumnCommand::AddEnsemble(ensemble) => self.add_ensemble(ensemble),
            ColumnCommand::SetMixing { column, mixing } => {
                if !self.mix(column, mixing) {
                    return;
                }
            }
            ColumnCommand::Remove(id) => {
                if self.column(id).is_some_and(|column| column.variant.is_some()) {
                    return self.close_variant(id);
                }
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
                let (variant, told) = (column.variant, column.told.take());
                let again = Column::new(fresh, std::mem::take(&mut column.folder), column.ensemble.take());
                *column = Column { variant, told, ..again };
            }
            ColumnCommand::Export { column, format, path } => return self.export(column, format, path),
            ColumnCommand::Draw { column, kind, path } => {
                let drawing = Drawing { kind, ..self.drawing };
                let Some(picture) = self.picture(column, &drawing) else { return };
                return self.chore(Chore::Draw { path: drawing.named(path), picture });
            }
            ColumnCommand::Copy { column, drawing } => {
                let Some(picture) = self.picture(column, &drawing) else { return };
                return self.chore(Chore::Paint(picture));
            }
        }
        self.columns_changed();
    }

    /// There are other columns than before.
    pub(crate) fn columns_changed(&mut self) {
        self.changed();
        self.mark_differences();
        self.request();
    }

    /// Variants of an ensemble are mixed as it is; true when that is new.
    fn mix(&mut self, id: ColumnId, mixing: Mixing) -> bool {
        let is_other = |ensemble: &EnsembleSpec| ensemble.mixing != mixing;
        let column = self.column(id).filter(|column| column.ensemble.as_ref().is_some_and(is_other));
        let Some(folders) = column.map(|column| column.folders().to_vec()) else { return false };
        for column in &mut self.columns {
            let is_its = column.id == id || column.variant.is_some() && column.folders() == folders;
            if let Some(ensemble) = column.ensemble.as_mut().filter(|_| is_its) {
                ensemble.mixing = mixing;
            }
        }
        true
    }

    fn move_column(&mut self, column: ColumnId, to: usize) {
        let Some(from) = self.columns.iter().position(|one| one.id == column) else { return };
        let moved = self.columns.remove(from);
        self.columns.insert(to.min(self.columns.len()), moved);
        self.changed();
        self.mark_differences();
    }

    /// What a column shows as a figure; where there is nothing yet, that is said.
    fn picture(&mut self, column: ColumnId, drawing: &Drawing) -> Option<Box<Picture>> {
        let on_screen = self.settings.palette_on(drawing.is_dark);
        let on_screen = COLOUR_MAPS.iter().find(|map| map.name == on_screen);
        let drawing = Drawing { map: drawing.map.or(on_screen), ..*drawing };
        let word = self.selection.target.filter(|_| self.selection.column == Some(column));
        let shown = self.column(column);
        let picture = shown.and_then(|column| {
            let search = self.scene.search_of(column.variant);
            let settings = Settings { unk_replacement: self.replaces(column), ..self.settings.clone() };
            export::picture(column, &search, &settings, &drawing, word)
        });
        if picture.is_none() {
            self.notify("There is nothing to draw yet, because nothing is translated in this column", true);
        }
        picture.map(Box::new)
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
