//! Variants of the sentence and of its search, each a column. Undo and the saved state include them.

use std::{ops::Range, sync::Arc};

use crate::app::document::rewording::{WordEdit, reworded};
use crate::app::document::sentence_state::{SearchChange, SearchSettings, SentenceState, Variant};
use crate::jobs::live::protocol::{ColumnId, Near};
use crate::pages::sentence::command::{BesideSettings, VariantCommand};
use crate::pages::{sentence::asked::Neighbours, sentence::asked::SentencePage};
use crate::{app::state::AppState, pages::sentence::intervene::change_sentence};

pub const MOST: usize = 12;

impl SentencePage {
    pub(super) fn vary(&mut self, app: &mut AppState, command: VariantCommand) {
        match command {
            VariantCommand::Word { column, j, edit } => reword(app, column, j, &edit),
            VariantCommand::Text { column, text } => retext(app, column, text),
            VariantCommand::Beside(column, settings) => beside(app, column, settings),
            VariantCommand::Adopt(column) => adopt(app, column),
            VariantCommand::Close(column) => close_variant(app, column),
            VariantCommand::Near(of) => self.look_near(app, of),
        }
    }

    fn look_near(&mut self, app: &mut AppState, of: Option<(ColumnId, usize)>) {
        (self.near, app.tasks.near) = (None, None);
        let Some((column, j)) = of else { return };
        let table = app.document.column(column).and_then(|column| column.table.as_deref());
        let word = table.and_then(|table| table.source.get(j)).filter(|word| word.is_word());
        let Some(word) = word.map(|word| word.text.clone()) else { return };
        let of = Near { column, word };
        app.tasks.near = Some(of.clone());
        self.near = Some(Neighbours { of, found: None });
        app.request();
    }

    /// True if these neighbours were asked for.
    pub(crate) fn near_found(
        &mut self, app: &mut AppState, id: ColumnId, found: Result<Vec<(String, f32)>, String>,
    ) -> bool {
        let Some(near) = self.near.as_mut().filter(|near| near.of.column == id) else { return false };
        near.found = Some(found);
        app.tasks.near = None;
        true
    }
}

/// The words of a column as byte ranges of its text; `None` while it shows another text.
fn places(app: &AppState, id: ColumnId) -> Option<(&str, Vec<Range<usize>>)> {
    let column = app.document.column(id)?;
    let text = app.document.state.text_of(column.variant);
    let table = column.table.as_deref().filter(|_| column.source.text == text)?;
    Some((text, table.source.iter().map(|word| word.span.clone()).collect()))
}

fn reword(app: &mut AppState, id: ColumnId, j: usize, edit: &WordEdit) {
    let Some((text, spans)) = places(app, id) else {
        return app.notify(tr!("The words of this column are still being read; try again when they stand"), false);
    };
    match reworded(text, &spans, j, edit) {
        Some(text) => retext(app, id, text),
        None => app.notify(tr!("This changes nothing, or leaves no text to translate"), false),
    }
}

fn retext(app: &mut AppState, id: ColumnId, text: String) {
    let text = app.cut(text);
    let Some(column) = app.document.column(id).filter(|_| !text.trim().is_empty()) else { return };
    let (variant, models) = (column.variant, column.system.members.clone());
    if text == app.document.state.text_of(variant) {
        return;
    }
    let source = (text != app.document.state.source).then_some(text);
    match variant {
        None => add(app, Variant { models, source, ..Variant::default() }),
        Some(id) => step(app, |sentence| {
            sentence.change_variant(id, |variant| {
                variant.source = source;
                let other = variant.interventions.take().map(|set| Arc::new(set.for_other_text()));
                variant.interventions = other;
            });
        }),
    }
}

fn beside(app: &mut AppState, id: ColumnId, settings: BesideSettings) {
    let BesideSettings { search, replaces, has_interventions } = settings;
    let Some(column) = app.document.column(id) else { return };
    let shown = column.variant.and_then(|id| app.document.state.variant(id)).cloned();
    let base = shown.unwrap_or_else(|| Variant { models: column.system.members.clone(), ..Variant::default() });
    let none = || (!app.document.interventions(column).is_empty()).then(Arc::default);
    let interventions = if has_interventions { base.interventions.clone() } else { none() };
    let usual = app.document.state.search;
    let length = Some(search.length_normalization).filter(|length| length.is_finite());
    let search = SearchSettings {
        beam: search.beam.clamp(1, 50),
        length_normalization: length.map_or(usual.length_normalization, |length| length.clamp(0.0, 2.0)),
        ..search
    };
    let replaces = (replaces != app.view.settings.unk_replacement).then_some(replaces);
    add(app, Variant { search: SearchChange::between(usual, search), replaces, interventions, ..base });
}

fn add(app: &mut AppState, variant: Variant) {
    let is_same = |other: &Variant| *other == Variant { id: other.id, ..variant.clone() };
    if variant.is_as_original() || app.document.state.variants.iter().any(is_same) {
        return app.notify(tr!("This is open in a column already"), false);
    }
    if app.document.columns.iter().filter(|column| column.variant.is_some()).count() >= MOST {
        return app.notify(tr!("{MOST} variants are open; close one of them first", MOST), false);
    }
    let id = app.tasks.fresh_id();
    step(app, |sentence| {
        let list = sentence.variants.iter().cloned().chain([Variant { id, ..variant }]);
        sentence.variants = list.collect();
    });
}

fn step(app: &mut AppState, change: impl FnOnce(&mut SentenceState)) {
    change_sentence(app, false, change);
}

fn variant_of(app: &AppState, id: ColumnId) -> Option<Variant> {
    app.document.state.variant(app.document.column(id)?.variant?).cloned()
}

/// Makes the text of a variant the sentence. Its other differences and all other variants stay variants.
fn adopt(app: &mut AppState, id: ColumnId) {
    let Some(mut variant) = variant_of(app, id) else { return };
    let Some(text) = variant.source.take() else { return };
    let set = app.document.state.set_of(&variant.models, Some(variant.id));
    variant.interventions = None;
    step(app, |sentence| {
        sentence.keep_for_other_text();
        sentence.set(&variant.models, (*set).clone());
        let adopted = |other: &Variant| {
            let mut other = if other.id == variant.id { variant.clone() } else { other.clone() };
            if other.source.is_none() {
                // it follows the sentence, whose words are others now
                other.interventions = other.interventions.map(|set| Arc::new(set.for_other_text()));
            }
            Variant { source: other.source.filter(|source| *source != text), ..other }
        };
        sentence.variants = sentence.variants.iter().map(adopted).filter(|other| !other.is_as_original()).collect();
        (sentence.source, sentence.position) = (text, None);
        sentence.given = sentence.given.take().map(|_| String::new());
    });
    (app.document.typed, app.document.typed_on) = (false, false);
    app.document.state.position = app.position_of_source();
}

pub(crate) fn close_variant(app: &mut AppState, id: ColumnId) {
    let Some(variant) = variant_of(app, id) else { return };
    step(app, |sentence| {
        sentence.variants = sentence.variants.iter().filter(|one| one.id != variant.id).cloned().collect();
    });
}
