//! Floor 9: what if: variants of the sentence and of how it is searched, each a column beside its original. They are part
//! of the scene, so that undo takes them back and they are kept with the sentence.

use std::ops::Range;
use std::sync::Arc;

use crate::app::document::rewording::{WordEdit, reworded};
use crate::app::document::scene::{Scene, SearchChange, SearchSettings, Variant};
use crate::app::state::AppState;
use crate::jobs::live::protocol::{ColumnId, Near};
use crate::pages::sentence::command::VariantCommand;
use crate::pages::sentence::variants::Neighbours;

/// Most variants of a sentence.
pub const MOST: usize = 12;

impl AppState {
    pub(crate) fn apply_to_variants(&mut self, command: VariantCommand) {
        self.going_on = None;
        match command {
            VariantCommand::Word { column, j, edit } => self.reword(column, j, &edit),
            VariantCommand::Text { column, text } => self.retext(column, text),
            VariantCommand::Beside { column, search, replaces, has_interventions } => {
                self.beside(column, search, replaces, has_interventions);
            }
            VariantCommand::Adopt(column) => self.adopt(column),
            VariantCommand::Close(column) => self.close_variant(column),
            VariantCommand::Near(of) => self.look_near(of),
        }
    }

    /// The words of a column as places of its text; `None` while it shows another text.
    fn places(&self, id: ColumnId) -> Option<(&str, Vec<Range<usize>>)> {
        let column = self.column(id)?;
        let text = self.scene.text_of(column.variant);
        let table = column.table.as_deref().filter(|_| column.source.text == text)?;
        Some((text, table.source.iter().map(|word| word.span.clone()).collect()))
    }

    fn reword(&mut self, id: ColumnId, j: usize, edit: &WordEdit) {
        let Some((text, spans)) = self.places(id) else {
            return self.notify("The words of this column are still being read; try again when they stand", false);
        };
        match reworded(text, &spans, j, edit) {
            Some(text) => self.retext(id, text),
            None => self.notify("This changes nothing, or leaves no text to translate", false),
        }
    }

    /// A variant with this text: beside an original, in place of a variant's.
    fn retext(&mut self, id: ColumnId, text: String) {
        let text = self.cut(text);
        let Some(column) = self.column(id).filter(|_| !text.trim().is_empty()) else { return };
        let (variant, folders) = (column.variant, column.folders().to_vec());
        if text == self.scene.text_of(variant) {
            return;
        }
        let source = (text != self.scene.source).then_some(text);
        match variant {
            None => self.add(Variant { folders, source, ..Variant::default() }),
            Some(id) => self.step(|scene| {
                scene.change_variant(id, |variant| {
                    variant.source = source;
                    let other = variant.interventions.take().map(|set| Arc::new(set.for_other_text()));
                    variant.interventions = other;
                });
            }),
        }
    }

    fn beside(&mut self, id: ColumnId, search: SearchSettings, replaces: bool, has_interventions: bool) {
        let Some(column) = self.column(id) else { return };
        let shown = column.variant.and_then(|id| self.scene.variant(id)).cloned();
        let base = shown.unwrap_or_else(|| Variant { folders: column.folders().to_vec(), ..Variant::default() });
        let none = || (!self.interventions(column).is_empty()).then(Arc::default);
        let interventions = if has_interventions { base.interventions.clone() } else { none() };
        let length_normalization = search.length_normalization;
        let usual = self.scene.search;
        let search = SearchSettings {
            beam: search.beam.clamp(1, 50),
            length_normalization: if length_normalization.is_finite() {
                length_normalization.clamp(0.0, 2.0)
            } else {
                usual.length_normalization
            },
            ..search
        };
        let replaces = (replaces != self.settings.unk_replacement).then_some(replaces);
        self.add(Variant { search: SearchChange::between(usual, search), replaces, interventions, ..base });
    }

    /// Opens a variant, unless there is the same already.
    fn add(&mut self, variant: Variant) {
        let is_same = |other: &Variant| *other == Variant { id: other.id, ..variant.clone() };
        if variant.is_as_original() || self.scene.variants.iter().any(is_same) {
            return self.notify("This is open in a column already", false);
        }
        if self.columns.iter().filter(|column| column.variant.is_some()).count() >= MOST {
            return self.notify(format!("{MOST} variants are open; close one of them first"), false);
        }
        let id = self.fresh_id();
        self.step(|scene| {
            let list = scene.variants.iter().cloned().chain([Variant { id, ..variant }]);
            scene.variants = list.collect();
        });
    }

    /// A step of undo.
    fn step(&mut self, change: impl FnOnce(&mut Scene)) {
        let before = self.scene.clone();
        change(&mut self.scene);
        if self.scene != before {
            self.history.replaced(before);
            self.changed();
            self.request();
        }
    }

    /// The variant that a column shows.
    fn variant_of(&self, id: ColumnId) -> Option<Variant> {
        self.scene.variant(self.column(id)?.variant?).cloned()
    }

    /// The text of a variant becomes the sentence; what else it differs in stays a variant. The others stay what they
    /// are, beside another original.
    fn adopt(&mut self, id: ColumnId) {
        let Some(mut variant) = self.variant_of(id) else { return };
        let Some(text) = variant.source.take() else { return };
        let set = self.scene.set_of(&variant.folders, Some(variant.id));
        variant.interventions = None;
        self.step(|scene| {
            scene.keep_for_other_text();
            scene.set(&variant.folders, (*set).clone());
            let adopted = |other: &Variant| {
                let mut other = if other.id == variant.id { variant.clone() } else { other.clone() };
                if other.source.is_none() {
                    // it follows the sentence, whose words are others now
                    other.interventions = other.interventions.map(|set| Arc::new(set.for_other_text()));
                }
                Variant { source: other.source.filter(|source| *source != text), ..other }
            };
            scene.variants = scene.variants.iter().map(adopted).filter(|other| !other.is_as_original()).collect();
            (scene.source, scene.position) = (text, None);
            scene.given = scene.given.take().map(|_| String::new());
        });
        (self.typed, self.typed_on) = (false, false);
        self.scene.position = self.position_of_source();
    }

    pub(crate) fn close_variant(&mut self, id: ColumnId) {
        let Some(variant) = self.variant_of(id) else { return };
        self.step(|scene| scene.variants = scene.variants.iter().filter(|one| one.id != variant.id).cloned().collect());
    }

    fn look_near(&mut self, of: Option<(ColumnId, usize)>) {
        self.near = None;
        let Some((column, j)) = of else { return };
        let table = self.column(column).and_then(|column| column.table.as_deref());
        let word = table.and_then(|table| table.source.get(j)).filter(|word| !word.is_eos);
        let Some(word) = word.map(|word| word.text.clone()) else { return };
        self.near = Some(Neighbours { of: Near { column, word }, found: None });
        self.request();
    }
}

impl AppState {
    /// The neighbours that were asked for; true when anybody waits for them.
    pub(crate) fn near_found(&mut self, id: ColumnId, found: Result<Vec<(String, f32)>, String>) -> bool {
        let wanted = self.near.as_mut().filter(|near| near.of.column == id);
        let is_wanted = wanted.is_some();
        if let Some(near) = wanted {
            near.found = Some(found);
        }
        is_wanted
    }
}
