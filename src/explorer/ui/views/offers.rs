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
    Offer { name: id!("Replace the source word..."), on: LOOKED_AT, can: variant::is_word, does: variant::replace },
    Offer { name: id!("Drop the source word"), on: LOOKED_AT, can: variant::is_word, does: variant::drop_word },
    Offer { name: id!("Insert words before it..."), on: LOOKED_AT, can: variant::is_read, does: variant::insert },
    Offer { name: id!("Swap it with the next word"), on: LOOKED_AT, can: variant::has_next, does: variant::swap },
    Offer { name: id!("Beside it with other words..."), on: COLUMN, can: always, does: variant::reword },
    Offer { name: id!("Beside it with other settings..."), on: COLUMN, can: always, does: variant::reset },
    Offer { name: id!("Make this the sentence"), on: COLUMN, can: variant::has_text, does: variant::adopt },
    Offer { name: id!("Close this variant"), on: COLUMN, can: variant::is_variant, does: variant::close },
];

/// Every entry in the order of the menu, in groups with a line between.
pub const OFFERS: &[&[Offer]] = &[
    &[
        Offer { name: id!("Inspect this word"), on: TARGET, can: always, does: inspect },
        Offer { name: id!("Show its alignment"), on: HYPOTHESIS, can: always, does: show },
        Offer { name: id!("Score it in every column"), on: HYPOTHESIS, can: beside_others, does: score },
    ],
    &[
        Offer { name: id!("Force another word..."), on: TARGET, can: is_own, does: changes::force },
        Offer { name: id!("A row that says another word..."), on: TARGET, can: can_persuade, does: changes::force },
        Offer { name: id!("Not this word here"), on: TARGET, can: is_own, does: changes::ban },
        Offer { name: id!("Never this word"), on: TARGET, can: is_own, does: changes::never },
        Offer { name: id!("All weight on this source word"), on: CELL, can: can_set, does: changes::one_hot },
        Offer { name: id!("The same weight on every word"), on: TARGET, can: can_set, does: changes::uniform },
        Offer { name: id!("The row as linked by hand"), on: TARGET, can: changes::can_gold, does: changes::gold },
        Offer { name: id!("All rows as linked by hand"), on: TARGET, can: changes::can_gold, does: changes::all_gold },
        Offer { name: id!("Say the reference"), on: TARGET, can: changes::has_other_words, does: changes::reference },
        Offer { name: id!("The row by the model again"), on: TARGET, can: changes::is_pinned, does: changes::free },
        Offer { name: id!("Mask the source word"), on: LOOKED_AT, can: changes::can_mask, does: changes::mask },
        Offer { name: id!("Unmask the source word"), on: LOOKED_AT, can: changes::is_masked, does: changes::unmask },
    ],
    WHAT_IF,
    &[
        Offer { name: id!("Test what the words depend on"), on: WORD, can: can_test, does: test },
        Offer { name: id!("Save what is set..."), on: WITHOUT_CELLS, can: is_own, does: save_set },
    ],
    &[
        Offer { name: id!("Copy the word"), on: WORD, can: always, does: copy_word },
        Offer { name: id!("Copy both words and their number"), on: CELL, can: always, does: copy_cell },
        Offer { name: id!("Copy the row as TSV"), on: ROW, can: has_numbers, does: copy_row },
        Offer {
            name: id!("Copy the numbers of the source word as TSV"),
            on: LOOKED_AT,
            can: has_numbers,
            does: copy_source,
        },
        Offer { name: id!("Copy the alignment as TSV"), on: ALL, can: has_numbers, does: copy_alignment },
        Offer { name: id!("Copy as interlinear text"), on: WHOLE, can: any_aligns, does: copy_interlinear },
        Offer { name: id!("Copy as interlinear LaTeX (gb4e)"), on: WHOLE, can: any_aligns, does: copy_gb4e },
        Offer { name: id!("Copy this translation"), on: ALL, can: always, does: copy_translation },
        Offer { name: id!("Copy the beam as TSV"), on: HYPOTHESIS, can: always, does: copy_beam },
        Offer { name: id!("Copy the picture"), on: ALL, can: always, does: copy_picture },
        Offer { name: id!("Save a figure..."), on: ALL, can: always, does: save_figure },
    ],
    &[
        Offer { name: id!("Neighbours on the map"), on: WORD, can: on_map, does: neighbours },
        Offer { name: id!("Outline the aligner's links"), on: CELL, can: can_outline, does: outline },
        Offer { name: id!("Only this column"), on: ALL, can: beside_others, does: alone },
        Offer { name: id!("All columns"), on: ALL, can: is_alone, does: |window, _| window.layout.solo = false },
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
fn can_persuade(window: &Window<'_>, clicked: MenuTarget) -> bool {
    can_set(window, clicked) && can_test(window, clicked)
}

fn can_test(window: &Window<'_>, clicked: MenuTarget) -> bool {
    aligns(window, clicked)
        && window.app.document.column(clicked.column()).is_some_and(|column| !column.system.is_ensemble())
}

fn test(window: &mut Window<'_>, clicked: MenuTarget) {
    measured::measure(window, clicked.column(), 0);
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

fn save_set(window: &mut Window<'_>, clicked: MenuTarget) {
    ask_for_set(window, clicked.column());
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

fn copy_interlinear(window: &mut Window<'_>, _: MenuTarget) {
    copy_glossed(window, "text");
}

fn copy_gb4e(window: &mut Window<'_>, _: MenuTarget) {
    copy_glossed(window, "gb4e");
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

fn outline(window: &mut Window<'_>, _: MenuTarget) {
    window.push(SettingsCommand::SetLinks(true));
}

fn alone(window: &mut Window<'_>, clicked: MenuTarget) {
    window.push(SelectCommand::Column(clicked.column()));
    window.layout.solo = true;
}
