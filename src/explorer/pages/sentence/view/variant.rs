//! The head and the foot of a variant's column, and the menu entries of variants.

use egui::accesskit::Role;
use egui::{Label, RichText, Ui, WidgetInfo};

use crate::app::document::compare::{DIVERGENCE, SystemComparison};
use crate::app::document::table::{AlignmentTable, SourceWord};
use crate::app::{
    document::column::Column, document::rewording, document::rewording::WordEdit, document::variant::VariantLabel,
};
use crate::pages::shell::local::{Sheet, VariantWords, Window};
use crate::pages::{
    sentence::command::BesideSettings, sentence::command::VariantCommand, sentence::view::memory::SentenceMemory,
    shell::clicked::MenuTarget,
};
use crate::widgets::{labels, theme};
use engine::lang;

pub fn head_ui(ui: &mut Ui, column: &Column, variant_label: &VariantLabel) -> egui::Response {
    let t = theme::tokens(ui);
    ui.label(RichText::new(tr!("variant")).size(theme::TEXT_SMALL).color(t.warm));
    let text = RichText::new(variant_label.text()).size(theme::TEXT_TITLE).color(t.warm);
    let label = ui.add(Label::new(text).truncate().sense(egui::Sense::CLICK));
    let name = tr!("Variant of {}: {}", column.model(), variant_label.text());
    label.widget_info(|| WidgetInfo::labeled(Role::Heading, true, &name));
    label.on_hover_text(tr!("{name}\nThe original: {}", variant_label.original, name))
}

pub fn foot_ui(ui: &mut Ui, window: &Window<'_>, column: &Column) {
    let (Some(table), Some(original)) = (&column.table, window.app.document.original(column)) else { return };
    let Some(comparison) = column.difference.comparison.as_deref() else {
        let waits = column.decoding || original.decoding;
        let text = if waits { tr!("Compared when both stand") } else { "" };
        labels::caption(ui, text);
        return;
    };
    let text = comparison.text(table);
    let lines = original.table.as_deref().map_or_else(Vec::new, |before| moves(comparison, before, table));
    let label = labels::warm_line(ui, &text);
    let said =
        tr!("Beside the original, {text}{}", lines.iter().map(|line| format!("; {line}")).collect::<String>(), text);
    labels::said(label.on_hover_text(format!("{}\n{}", lines.join("\n"), lang::text(DIVERGENCE))), &said);
}

fn moves(comparison: &SystemComparison, original: &AlignmentTable, variant: &AlignmentTable) -> Vec<String> {
    let line = |moved: &crate::app::document::compare::Moved| {
        let (word, now) = (variant.target.get(moved.i)?, variant.source.get(moved.now)?);
        let before = original.source.get(moved.before)?;
        Some(tr!("{} looks at {} in place of {}", word.text, now.text, before.text))
    };
    comparison.moved.iter().filter_map(line).collect()
}

/// The change of target word i from the original, after a semicolon; empty if there is none.
pub fn moved_text(window: &Window<'_>, column: &Column, i: usize) -> String {
    let original = window.app.document.original(column).and_then(|original| original.table.as_deref());
    let moved = column.difference.comparison.as_deref().and_then(|all| all.moved.iter().find(|moved| moved.i == i));
    let before = original.zip(moved).and_then(|(table, moved)| table.source.get(moved.before));
    before.map_or_else(String::new, |word| tr!("; looked most at {} in the original", word.text))
}

/// The cells where the original has the greatest alpha, in rows where the variant has it elsewhere.
pub fn looked(column: &Column) -> Vec<(usize, usize)> {
    let Some(comparison) = column.difference.comparison.as_deref() else { return Vec::new() };
    let here = |before: usize| comparison.sources.iter().position(|of| *of == Some(before));
    comparison.moved.iter().filter_map(|moved| Some((moved.i, here(moved.before)?))).collect()
}

pub fn is_changed(column: &Column, j: usize) -> bool {
    column.difference.comparison.as_ref().is_some_and(|comparison| comparison.changed_sources.get(j) == Some(&true))
}

fn read<'a>(window: &Window<'a>, clicked: MenuTarget) -> Option<(&'a Column, &'a AlignmentTable)> {
    let column = window.app.document.column(clicked.column())?;
    let text = window.app.document.state.text_of(column.variant);
    let table = column.table.as_deref().filter(|_| column.source.text == text)?;
    Some((column, table))
}

pub fn is_read(window: &Window<'_>, clicked: MenuTarget) -> bool {
    read(window, clicked).is_some() && clicked.source().is_some()
}

pub fn is_word(window: &Window<'_>, clicked: MenuTarget) -> bool {
    let word = || read(window, clicked)?.1.source.get(clicked.source()?);
    word().is_some_and(SourceWord::is_word)
}

pub fn has_next(window: &Window<'_>, clicked: MenuTarget) -> bool {
    let next = || {
        let (column, table) = read(window, clicked)?;
        let spans: Vec<_> = table.source.iter().map(|word| word.span.clone()).collect();
        rewording::next_word(&column.source.text, &spans, clicked.source()?)
    };
    next().is_some()
}

pub fn is_variant(window: &Window<'_>, clicked: MenuTarget) -> bool {
    window.app.document.column(clicked.column()).is_some_and(|column| column.variant.is_some())
}

pub fn has_text(window: &Window<'_>, clicked: MenuTarget) -> bool {
    let app = window.app;
    app.document
        .column(clicked.column())
        .is_some_and(|column| app.document.state.text_of(column.variant) != app.document.source())
}

fn edit(window: &mut Window<'_>, clicked: MenuTarget, edit: WordEdit) {
    let Some(j) = clicked.source() else { return };
    window.push(VariantCommand::Word { column: clicked.column(), j, edit });
}

pub fn drop_word(window: &mut Window<'_>, clicked: MenuTarget) {
    edit(window, clicked, WordEdit::Drop);
}

pub fn swap(window: &mut Window<'_>, clicked: MenuTarget) {
    edit(window, clicked, WordEdit::Swap);
}

pub fn field_id() -> egui::Id {
    egui::Id::unique("what_if_words")
}

fn ask(window: &mut Window<'_>, clicked: MenuTarget, words: VariantWords, text: String) {
    window.local.of::<SentenceMemory>().wording = text;
    window.local.shared.focus_id = Some(field_id());
    window.local.shared.sheet = Sheet::Words(clicked.column(), words);
}

pub fn replace(window: &mut Window<'_>, clicked: MenuTarget) {
    let Some(j) = clicked.source() else { return };
    window.push(VariantCommand::Near(Some((clicked.column(), j))));
    ask(window, clicked, VariantWords::Replace(j), String::new());
}

pub fn insert(window: &mut Window<'_>, clicked: MenuTarget) {
    let Some(j) = clicked.source() else { return };
    ask(window, clicked, VariantWords::Insert(j), String::new());
}

pub fn reword(window: &mut Window<'_>, clicked: MenuTarget) {
    let Some(column) = window.app.document.column(clicked.column()) else { return };
    let text = window.app.document.state.text_of(column.variant).to_owned();
    ask(window, clicked, VariantWords::Whole, text);
}

pub fn reset(window: &mut Window<'_>, clicked: MenuTarget) {
    let Some(column) = window.app.document.column(clicked.column()) else { return };
    let (app, search) = (window.app, window.app.document.state.search_of(column.variant));
    window.local.of::<SentenceMemory>().beside =
        Some(BesideSettings { search, replaces: app.replaces(column), has_interventions: true });
    window.local.shared.sheet = Sheet::Beside(column.id);
}

pub fn adopt(window: &mut Window<'_>, clicked: MenuTarget) {
    window.push(VariantCommand::Adopt(clicked.column()));
}

pub fn close(window: &mut Window<'_>, clicked: MenuTarget) {
    window.push(VariantCommand::Close(clicked.column()));
}
