//! The context menus of words, cells, rows and hypotheses. A new entry is one line of [`OFFERS`].

use egui::{Align, Button, Id, LayerId, Layout, Popup, PopupAnchor, PopupKind, RichText, Ui};

use crate::app::command::{SettingsCommand, SourceCommand, WindowCommand};
use crate::app::document::column::{Column, ColumnState};
use crate::app::{document::table::AlignmentTable, files::drawing::Drawing, files::export, files::interlinear};
use crate::jobs::live::protocol::ColumnId;
use crate::pages::sentence::command::{ColumnCommand, ProbeCommand, SelectCommand};
use crate::pages::sentence::view::{changes, figure_sheet, measured, variant};
use crate::pages::shell::clicked::{ContextMenu, MenuTarget};
use crate::pages::shell::dialogs::{Question, Wants};
use crate::pages::shell::local::{Sheet, Window};
use crate::pages::{map::MAP, map::PointChoice, map::command::MapCommand};
use crate::widgets;
use crate::widgets::{labels, theme};
use engine::lang;
use figure::interlinear::GLOSS_FORMATS;

/// What an offer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MenuKind {
    Source,
    Target,
    Cell,
    Hypothesis,
    Picture,
    Bars,
    Column,
}

/// An entry of context menus.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// Ends with dots if a question follows.
    pub name: &'static str,
    pub on: &'static [MenuKind],
    pub can: fn(&Window<'_>, MenuTarget) -> bool,
    pub does: fn(&mut Window<'_>, MenuTarget),
}

const fn offer(
    name: &'static str, on: &'static [MenuKind], can: fn(&Window<'_>, MenuTarget) -> bool,
    does: fn(&mut Window<'_>, MenuTarget),
) -> Offer {
    Offer { name, on, can, does }
}

const TARGET: &[MenuKind] = &[MenuKind::Target, MenuKind::Cell];
/// Cells have many entries already.
const WITHOUT_CELLS: &[MenuKind] = &[MenuKind::Source, MenuKind::Target, MenuKind::Hypothesis];
const CELL: &[MenuKind] = &[MenuKind::Cell];
const WORD: &[MenuKind] = &[MenuKind::Source, MenuKind::Target];
const LOOKED_AT: &[MenuKind] = &[MenuKind::Source, MenuKind::Cell];
const HYPOTHESIS: &[MenuKind] = &[MenuKind::Hypothesis];
const ROW: &[MenuKind] = &[MenuKind::Target, MenuKind::Cell, MenuKind::Bars];
const COLUMN: &[MenuKind] = &[MenuKind::Column];
/// Entries for the sentence as a whole.
const WHOLE: &[MenuKind] = &[MenuKind::Source, MenuKind::Picture, MenuKind::Column];
const ALL: &[MenuKind] = &[
    MenuKind::Source,
    MenuKind::Target,
    MenuKind::Cell,
    MenuKind::Hypothesis,
    MenuKind::Picture,
    MenuKind::Bars,
    MenuKind::Column,
];

/// Entries that open a variant or change one.
pub const WHAT_IF: &[Offer] = &[
    offer(id!("Replace the source word..."), LOOKED_AT, variant::is_word, variant::replace),
    offer(id!("Drop the source word"), LOOKED_AT, variant::is_word, variant::drop_word),
    offer(id!("Insert words before it..."), LOOKED_AT, variant::is_read, variant::insert),
    offer(id!("Swap it with the next word"), LOOKED_AT, variant::has_next, variant::swap),
    offer(id!("Beside it with other words..."), COLUMN, always, variant::reword),
    offer(id!("Beside it with other settings..."), COLUMN, always, variant::reset),
    offer(id!("Make this the sentence"), COLUMN, variant::has_text, variant::adopt),
    offer(id!("Close this variant"), COLUMN, variant::is_variant, variant::close),
];

/// Every entry in the order of the menu, in groups with a line between.
pub const OFFERS: &[&[Offer]] = &[
    &[
        offer(id!("Inspect this word"), TARGET, always, inspect),
        offer(id!("Show its alignment"), HYPOTHESIS, always, show),
        offer(id!("Score it in every column"), HYPOTHESIS, beside_others, score),
    ],
    &[
        offer(id!("Force another word..."), TARGET, is_own, changes::force),
        offer(id!("A row that says another word..."), TARGET, |w, c| can_set(w, c) && can_test(w, c), changes::force),
        offer(id!("Not this word here"), TARGET, is_own, changes::ban),
        offer(id!("Never this word"), TARGET, is_own, changes::never),
        offer(id!("All weight on this source word"), CELL, can_set, changes::one_hot),
        offer(id!("The same weight on every word"), TARGET, can_set, changes::uniform),
        offer(id!("The row as linked by hand"), TARGET, changes::can_gold, changes::gold),
        offer(id!("All rows as linked by hand"), TARGET, changes::can_gold, changes::all_gold),
        offer(id!("Say the reference"), TARGET, |w, c| changes::fits(w, c) == Some(false), changes::reference),
        offer(id!("The row by the model again"), TARGET, changes::is_pinned, changes::free),
        offer(id!("Mask the source word"), LOOKED_AT, |w, c| changes::masked(w, c) == Some(false), changes::mask),
        offer(id!("Unmask the source word"), LOOKED_AT, changes::is_masked, changes::unmask),
    ],
    WHAT_IF,
    &[
        offer(id!("Test what the words depend on"), WORD, can_test, |window, clicked| {
            measured::measure(window, clicked.column(), 0);
        }),
        offer(id!("Save what is set..."), WITHOUT_CELLS, is_own, |window, clicked| {
            ask_for_set(window, clicked.column());
        }),
    ],
    &[
        offer(id!("Copy the word"), WORD, always, copy_word),
        offer(id!("Copy both words and their number"), CELL, always, copy_cell),
        offer(id!("Copy the row as TSV"), ROW, has_numbers, copy_row),
        offer(id!("Copy the numbers of the source word as TSV"), LOOKED_AT, has_numbers, copy_source),
        offer(id!("Copy the alignment as TSV"), ALL, has_numbers, copy_alignment),
        offer(id!("Copy as interlinear text"), WHOLE, any_aligns, |window, _| copy_glossed(window, "text")),
        offer(id!("Copy as interlinear LaTeX (gb4e)"), WHOLE, any_aligns, |window, _| copy_glossed(window, "gb4e")),
        offer(id!("Copy this translation"), ALL, always, copy_translation),
        offer(id!("Copy the beam as TSV"), HYPOTHESIS, always, copy_beam),
        offer(id!("Copy the picture"), ALL, always, copy_picture),
        offer(id!("Save a figure..."), ALL, always, save_figure),
    ],
    &[
        offer(id!("Neighbours on the map"), WORD, on_map, neighbours),
        offer(id!("Outline the aligner's links"), CELL, can_outline, |window, _| {
            window.push(SettingsCommand::SetLinks(true));
        }),
        offer(id!("Only this column"), ALL, beside_others, alone),
        offer(id!("All columns"), ALL, is_alone, |window, _| window.layout.solo = false),
    ],
];

const ABOUT: f32 = 60.0;

pub fn offers_ui(ui: &mut Ui, window: &mut Window<'_>) {
    // nothing was painted that was asked for by keys
    if let Some(clicked) = window.local.shared.asked.take() {
        window.local.shared.offered =
            Some(ContextMenu { clicked, at: ui.max_rect().center(), focus: None, is_open: false });
    }
    let Some(offered) = window.local.shared.offered else { return };
    let id = Id::unique("offers");
    if !offered.is_open {
        let focus = ui.memory(egui::Memory::focused);
        window.local.shared.offered = Some(ContextMenu { is_open: true, focus, ..offered });
    }
    let popup = Popup::new(id, ui.ctx().clone(), PopupAnchor::Position(offered.at), LayerId::background());
    let popup = popup.kind(PopupKind::Menu).layout(Layout::top_down_justified(Align::Min));
    let popup = popup.style(egui::containers::menu::menu_style).accessible_name(title(window, offered.clicked));
    let opens = (!offered.is_open).then_some(egui::SetOpenCommand::Bool(true));
    let menu = popup.open_memory(opens).show(|ui| menu_ui(ui, window, offered));
    if !Popup::is_id_open(ui.ctx(), id) {
        // what was clicked beside the menu has the keyboard now
        if menu.is_some_and(|menu| menu.response.clicked_elsewhere()) {
            window.local.shared.offered = None;
        } else {
            close(ui, window);
        }
    }
}

fn close(ui: &Ui, window: &mut Window<'_>) {
    if let Some(focus) = window.local.shared.offered.take().and_then(|offered| offered.focus) {
        ui.memory_mut(|memory| memory.request_focus(focus));
    }
}

fn menu_ui(ui: &mut Ui, window: &mut Window<'_>, offered: ContextMenu) {
    let clicked = offered.clicked;
    ui.set_min_width(theme::MENU_WIDTH);
    let heading = RichText::new(title(window, clicked)).size(theme::TEXT_SMALL).color(theme::tokens(ui).weak);
    ui.add(egui::Label::new(heading).truncate());
    // in a low window the menu scrolls
    let height = ui.ctx().content_rect().height() - ABOUT;
    widgets::growing(height).show(ui, |ui| lines_ui(ui, window, offered));
}

fn lines_ui(ui: &mut Ui, window: &mut Window<'_>, offered: ContextMenu) {
    let clicked = offered.clicked;
    let mut is_first = true;
    for group in OFFERS {
        let can = |offer: &&Offer| offer.on.contains(&kind(clicked)) && (offer.can)(window, clicked);
        let offers: Vec<&Offer> = group.iter().filter(can).collect();
        for (n, offer) in offers.into_iter().enumerate() {
            if n == 0 {
                ui.separator();
            }
            let button = ui.add(Button::new(lang::text(offer.name)));
            if is_first && !offered.is_open {
                button.request_focus();
            }
            is_first = false;
            if button.gained_focus() {
                button.scroll_to_me(None);
            }
            if button.clicked() {
                (offer.does)(window, clicked);
                ui.close();
            }
        }
    }
}

fn kind(clicked: MenuTarget) -> MenuKind {
    match clicked {
        MenuTarget::Source { .. } => MenuKind::Source,
        MenuTarget::Target { .. } => MenuKind::Target,
        MenuTarget::Cell { .. } => MenuKind::Cell,
        MenuTarget::Hypothesis { .. } => MenuKind::Hypothesis,
        MenuTarget::Picture { .. } => MenuKind::Picture,
        MenuTarget::Bars { .. } => MenuKind::Bars,
        MenuTarget::Column { .. } => MenuKind::Column,
    }
}

fn title(window: &Window<'_>, clicked: MenuTarget) -> String {
    let Some((column, table)) = shown(window, clicked) else { return tr!("Nothing is translated yet").to_owned() };
    let replace = window.app.replaces(column);
    let source = |j: usize| table.source.get(j).map_or_else(String::new, labels::source_text);
    let target = |i: usize| table.target.get(i).map_or_else(String::new, |word| labels::target_text(word, replace));
    match clicked {
        MenuTarget::Source { j, .. } => tr!("Source word {}, {}", j + 1, source(j)),
        MenuTarget::Target { i, .. } => tr!("Target word {}, {}", i + 1, target(i)),
        MenuTarget::Cell { i, j, .. } => tr!("{} and {}, {}", target(i), source(j), number(window, table, i, j)),
        MenuTarget::Hypothesis { n, .. } => tr!("Hypothesis {} of {}", n + 1, column.name()),
        MenuTarget::Picture { .. } => tr!("The picture of {}", column.name()),
        MenuTarget::Bars { i, .. } => tr!("The bars of target word {}, {}", i + 1, target(i)),
        MenuTarget::Column { .. } => column.name(),
    }
}

fn number(window: &Window<'_>, table: &AlignmentTable, i: usize, j: usize) -> String {
    let shown = window.app.view.settings.shown;
    table.numbers(shown).and_then(|matrix| matrix.get(i, j)).map_or_else(String::new, |number| format!("{number:.3}"))
}

fn shown<'a>(window: &Window<'a>, clicked: MenuTarget) -> Option<(&'a Column, &'a AlignmentTable)> {
    let column = window.app.document.column(clicked.column())?;
    Some((column, column.table.as_deref()?))
}

pub fn always(_: &Window<'_>, _: MenuTarget) -> bool {
    true
}

pub fn aligns(window: &Window<'_>, clicked: MenuTarget) -> bool {
    shown(window, clicked).is_some_and(|(_, table)| table.alpha.is_some())
}

fn any_aligns(window: &Window<'_>, _: MenuTarget) -> bool {
    let has = |column: &Column| column.table.as_deref().is_some_and(|table| table.alpha.is_some());
    window.app.document.columns.iter().any(has)
}

fn has_numbers(window: &Window<'_>, clicked: MenuTarget) -> bool {
    let settings = &window.app.view.settings;
    aligns(window, clicked) || shown(window, clicked).is_some_and(|(_, table)| table.numbers(settings.shown).is_some())
}

/// Whether the translation is the model's own; a forced one cannot be changed.
pub fn is_own(window: &Window<'_>, clicked: MenuTarget) -> bool {
    shown(window, clicked).is_some_and(|(_, table)| !table.is_given)
}

fn can_set(window: &Window<'_>, clicked: MenuTarget) -> bool {
    is_own(window, clicked) && aligns(window, clicked)
}

/// A row of one model, whose gradient can be computed.
fn can_test(window: &Window<'_>, clicked: MenuTarget) -> bool {
    aligns(window, clicked)
        && window.app.document.column(clicked.column()).is_some_and(|column| !column.system.is_ensemble())
}

pub fn ask_for_set(window: &mut Window<'_>, column: ColumnId) {
    let question = Question::new(
        tr!("Save the sentence with what is set"),
        tr!("Save"),
        Wants::NewFile("interventions.json"),
        tr!(
            "One line of JSON. Open it here, drop it on the window, or give it to interlinear translate --interventions."
        ),
    );
    window.ask(question.then(move |path| ProbeCommand::Save { column, path }));
}

fn is_alone(window: &Window<'_>, _: MenuTarget) -> bool {
    window.layout.solo && window.app.document.columns.len() > 1
}

fn beside_others(window: &Window<'_>, clicked: MenuTarget) -> bool {
    !is_alone(window, clicked) && window.app.document.columns.len() > 1
}

/// One loaded model; an ensemble has no embeddings.
fn on_map(window: &Window<'_>, clicked: MenuTarget) -> bool {
    let column = window.app.document.column(clicked.column());
    column.is_some_and(|column| !column.system.is_ensemble() && column.state == ColumnState::Ready)
        && word(window, clicked).is_some()
}

fn can_outline(window: &Window<'_>, clicked: MenuTarget) -> bool {
    let settings = &window.app.view.settings;
    let column = window.app.document.column(clicked.column());
    !settings.links && column.is_some_and(|column| column.aligner(settings).is_some())
}

/// The word as in the vocabulary; `None` for `</s>`.
fn word(window: &Window<'_>, clicked: MenuTarget) -> Option<String> {
    let (_, table) = shown(window, clicked)?;
    let source = || table.source.get(clicked.source()?).filter(|word| word.is_word()).map(|word| word.text.clone());
    let target = || table.target.get(clicked.target()?).filter(|word| !word.is_eos).map(|word| word.text.clone());
    source().or_else(target)
}

fn inspect(window: &mut Window<'_>, clicked: MenuTarget) {
    let Some(i) = clicked.target() else { return };
    window.push(SelectCommand::Target { column: clicked.column(), i });
    window.layout.inspector_open = true;
}

fn show(window: &mut Window<'_>, clicked: MenuTarget) {
    let MenuTarget::Hypothesis { column, n } = clicked else { return };
    window.push(SelectCommand::Hypothesis { column, hypothesis: n });
}

fn score(window: &mut Window<'_>, clicked: MenuTarget) {
    let MenuTarget::Hypothesis { column, n } = clicked else { return };
    let hypothesis = window.app.document.column(column).and_then(|column| column.hypotheses.get(n));
    if let Some(hypothesis) = hypothesis {
        window.push(SourceCommand::Give(Some(hypothesis.text.clone())));
    }
}

fn copy_word(window: &mut Window<'_>, clicked: MenuTarget) {
    let Some((column, table)) = shown(window, clicked) else { return };
    let replace = window.app.replaces(column);
    let source = || Some(table.source.get(clicked.source()?)?.text.clone());
    let target = || Some(labels::target_text(table.target.get(clicked.target()?)?, replace));
    window.local.shared.copied = source().or_else(target);
}

fn copy_cell(window: &mut Window<'_>, clicked: MenuTarget) {
    let (Some((_, table)), Some(i), Some(j)) = (shown(window, clicked), clicked.target(), clicked.source()) else {
        return;
    };
    let (Some(target), Some(source)) = (table.target.get(i), table.source.get(j)) else { return };
    let number = number(window, table, i, j);
    window.local.shared.copied = Some(format!("{}\t{}\t{number}", target.text, source.text));
}

fn copy_row(window: &mut Window<'_>, clicked: MenuTarget) {
    let (Some((_, table)), Some(i)) = (shown(window, clicked), clicked.target()) else { return };
    window.local.shared.copied = Some(export::shown_tsv(table, window.app.view.settings.shown, i..i + 1));
}

fn copy_source(window: &mut Window<'_>, clicked: MenuTarget) {
    let (Some((_, table)), Some(j)) = (shown(window, clicked), clicked.source()) else { return };
    window.local.shared.copied = Some(export::source_tsv(table, window.app.view.settings.shown, j));
}

fn copy_alignment(window: &mut Window<'_>, clicked: MenuTarget) {
    let Some((_, table)) = shown(window, clicked) else { return };
    window.local.shared.copied = Some(export::shown_tsv(table, window.app.view.settings.shown, 0..table.target.len()));
}

fn copy_glossed(window: &mut Window<'_>, format: &str) {
    let format = GLOSS_FORMATS.iter().find(|one| one.name == format);
    window.local.shared.copied =
        format.map(|format| format.file(&lang::in_english(|| interlinear::sentences(window.app))));
}

fn copy_translation(window: &mut Window<'_>, clicked: MenuTarget) {
    let Some((column, table)) = shown(window, clicked) else { return };
    let own = match clicked {
        MenuTarget::Hypothesis { n, .. } => column.hypotheses.get(n).map(|hypothesis| &hypothesis.text),
        MenuTarget::Source { .. }
        | MenuTarget::Target { .. }
        | MenuTarget::Cell { .. }
        | MenuTarget::Picture { .. }
        | MenuTarget::Bars { .. }
        | MenuTarget::Column { .. } => None,
    };
    window.local.shared.copied = Some(own.unwrap_or(&table.text).clone());
}

fn copy_beam(window: &mut Window<'_>, clicked: MenuTarget) {
    let Some((column, _)) = shown(window, clicked) else { return };
    window.local.shared.copied = Some(export::beam_tsv(column));
}

fn copy_picture(window: &mut Window<'_>, clicked: MenuTarget) {
    let kind = picture_of(window, clicked);
    let drawing = Drawing::to_copy(kind, window.local.theme != Some(egui::Theme::Light));
    let drawing = figure_sheet::as_on_screen(window, drawing, clicked.column());
    window.push(ColumnCommand::Copy { column: clicked.column(), drawing });
}

fn picture_of(window: &Window<'_>, clicked: MenuTarget) -> &'static str {
    match clicked {
        MenuTarget::Hypothesis { .. } => "beam",
        MenuTarget::Bars { .. } => "bars",
        MenuTarget::Source { .. }
        | MenuTarget::Target { .. }
        | MenuTarget::Cell { .. }
        | MenuTarget::Picture { .. }
        | MenuTarget::Column { .. } => {
            let column = window.app.document.column(clicked.column());
            column.map_or("beam", |column| figure_sheet::picture_of(window, column))
        }
    }
}

fn save_figure(window: &mut Window<'_>, clicked: MenuTarget) {
    let kind = Some(picture_of(window, clicked));
    window.local.shared.sheet = Sheet::Figure { column: clicked.column(), kind };
}

fn neighbours(window: &mut Window<'_>, clicked: MenuTarget) {
    let (Some(word), Some(column)) = (word(window, clicked), window.app.document.column(clicked.column())) else {
        return;
    };
    let choice = if clicked.target().is_some() { PointChoice::TargetWords } else { PointChoice::SourceWords };
    let Some(model) = column.system.only().cloned() else { return };
    window.push(MapCommand::Find { model, choice, word });
    window.push(WindowCommand::ShowPage(MAP));
}

fn alone(window: &mut Window<'_>, clicked: MenuTarget) {
    window.push(SelectCommand::Column(clicked.column()));
    window.layout.solo = true;
}
