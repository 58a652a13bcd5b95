//! What acts do, as commands or as a change of the window alone, and which keys begin them.

use std::sync::LazyLock;

use egui::{Key, KeyboardShortcut, Modifiers};

use crate::app::command::{SettingsCommand, SourceCommand, WindowCommand};
use crate::app::page::{Page, SENTENCE};
use crate::app::settings::{Shown, Theme};
#[cfg(not(target_family = "wasm"))]
use crate::pages::corpus::CORPUS;
use crate::pages::sentence::command::{ColumnCommand, InterveneCommand, ListCommand, SearchCommand, SelectCommand};
use crate::pages::sentence::view::memory::{ListPlace, SentenceMemory};
use crate::pages::shell::act::{Act, Binding, ROWS, WINDOW, WorksOn, cell};
use crate::pages::shell::local::{Panel, Sheet, Window, cell_id, given_id};
use crate::pages::{shape::PageState, shell::clicked::MenuTarget, shell::dialogs::MODEL, steps::STEPS};
use crate::ui::{manual, manual::ManualLocal};
use crate::widgets::theme;
use crate::{app::layout::Look, pages::PAGES};

const ZOOM_STEP: f32 = 0.1;
const CELL_STEP: f32 = 1.25;
const WEIGHT_STEP: f32 = 0.1;

const EDITED: &[Page] = &[
    SENTENCE,
    STEPS,
    #[cfg(not(target_family = "wasm"))]
    CORPUS,
];

pub fn bindings() -> &'static [&'static Binding] {
    static PAGE_ROWS: LazyLock<Vec<Binding>> = LazyLock::new(|| {
        let row = |act: Act, name| Binding {
            act,
            group: WINDOW,
            name,
            keys: act.keys(),
            while_typing: true,
            works: WorksOn::Everywhere,
        };
        PAGES.iter().map(|page| row(Act::ShowPage(*page), page.0.title)).collect()
    });
    static ALL: LazyLock<Vec<&'static Binding>> = LazyLock::new(|| {
        let (window, others): (Vec<_>, Vec<_>) = ROWS.iter().partition(|row| row.group == WINDOW);
        others.into_iter().chain(PAGE_ROWS.iter()).chain(window).collect()
    });
    &ALL
}

pub fn works_on(row: &Binding, page: Page) -> bool {
    match row.works {
        WorksOn::Everywhere => true,
        WorksOn::Sentence => page == SENTENCE,
        WorksOn::Source => page == SENTENCE || page == STEPS,
        WorksOn::Edits => EDITED.contains(&page),
    }
}

pub fn perform(act: Act, window: &mut Window<'_>, page: &dyn PageState) {
    match act {
        Act::ShowPage(page) => window.push(WindowCommand::ShowPage(page)),
        Act::Open => open(window, page),
        Act::AddModel => sheet(window, Sheet::Ask(MODEL.then(|path| ColumnCommand::Add(path.into())))),
        Act::NewTraining => sheet(window, Sheet::Training),
        Act::CopyLink => window.local.shared.copies_link = true,
        Act::SaveFigure => save_figure(window),
        Act::FocusSource => focus(window, Panel::Source),
        Act::FocusSearch => focus(window, Panel::Sentences),
        Act::Undo => edit(window, page, false),
        Act::UndoSentence => window.push(SourceCommand::UndoSentence),
        Act::Redo => edit(window, page, true),
        Act::NextSentence => window.push(ListCommand::Move(1)),
        Act::PreviousSentence => window.push(ListCommand::Move(-1)),
        Act::FirstSentence => window.push(ListCommand::First),
        Act::LastSentence => window.push(ListCommand::Last),
        Act::Stop => window.push(SourceCommand::Stop),
        Act::ToggleGiven => toggle_given(window),
        Act::Interlinear => window.layout.interlinear = !window.layout.interlinear,
        Act::NextWord => window.push(SelectCommand::MoveTarget(1)),
        Act::PreviousWord => window.push(SelectCommand::MoveTarget(-1)),
        Act::NextColumn => window.push(SelectCommand::MoveColumn(1)),
        Act::PreviousColumn => window.push(SelectCommand::MoveColumn(-1)),
        Act::NextHypothesis => window.push(SelectCommand::MoveHypothesis(1)),
        Act::PreviousHypothesis => window.push(SelectCommand::MoveHypothesis(-1)),
        Act::Offers => window.local.shared.asked = marked(window),
        Act::WidenBeam => window.push(SearchCommand::SetBeam(window.app.document.state.search.beam + 1)),
        Act::NarrowBeam => {
            window.push(SearchCommand::SetBeam(window.app.document.state.search.beam.saturating_sub(1).max(1)));
        }
        Act::NextPalette => next_palette(window),
        Act::ToggleEnergies => {
            let is_alpha = window.app.view.settings.shown == Shown::Alpha;
            window.push(SettingsCommand::SetShown(if is_alpha { Shown::Energies } else { Shown::Alpha }));
        }
        Act::NextPicture => next_picture(window),
        Act::Table => toggle(window, Sheet::Alignment),
        Act::Solo => window.layout.solo = !window.layout.solo,
        Act::Class => window.layout.class = !window.layout.class,
        Act::Present => window.local.presents = !window.local.presents,
        Act::ToggleLinks => window.push(SettingsCommand::SetLinks(!window.app.view.settings.links)),
        Act::TogglePieces => window.push(SettingsCommand::SetPieces(!window.app.view.settings.pieces)),
        Act::LargerCells => weigh_or_scale(window, WEIGHT_STEP, CELL_STEP),
        Act::SmallerCells => weigh_or_scale(window, -WEIGHT_STEP, 1.0 / CELL_STEP),
        Act::WholeMatrix => window.layout.cell = if window.layout.cell < 0.0 { 0.0 } else { -1.0 },
        Act::NextPanel => window.local.shared.cycle(1),
        Act::PreviousPanel => window.local.shared.cycle(-1),
        Act::ToggleSentences => {
            let list = &mut window.local.of::<SentenceMemory>().list;
            match list {
                ListPlace::Beside => window.layout.sentences_open = !window.layout.sentences_open,
                ListPlace::Folded => *list = ListPlace::Over,
                ListPlace::Over => *list = ListPlace::Folded,
            }
        }
        Act::ToggleInspector => window.layout.inspector_open = !window.layout.inspector_open,
        Act::FullScreen => window.local.full_screen = Some(()),
        Act::NextTheme => window.push(SettingsCommand::SetTheme(match window.app.view.settings.theme {
            Theme::System => Theme::Light,
            Theme::Light => Theme::Dark,
            Theme::Dark => Theme::System,
        })),
        Act::ZoomIn => window.push(SettingsCommand::SetZoom(window.app.view.settings.zoom + ZOOM_STEP)),
        Act::ZoomOut => window.push(SettingsCommand::SetZoom(window.app.view.settings.zoom - ZOOM_STEP)),
        Act::ZoomReset => window.push(SettingsCommand::SetZoom(1.0)),
        Act::Help => toggle(window, Sheet::Help),
        Act::Manual => toggle_manual(window, page),
        Act::Escape => escape(window, page),
    }
}

fn sheet(window: &mut Window<'_>, sheet: Sheet) {
    window.local.shared.sheet = sheet;
}

/// Opens the sheet, or closes it if it is open.
fn toggle(window: &mut Window<'_>, own: Sheet) {
    let is_open = window.local.shared.sheet == own;
    sheet(window, if is_open { Sheet::None } else { own });
}

fn edit(window: &mut Window<'_>, page: &dyn PageState, again: bool) {
    match page.undo(again) {
        Some(own) => window.push(own),
        None => window.push(if again { SourceCommand::Redo } else { SourceCommand::Undo }),
    }
}

fn save_figure(window: &mut Window<'_>) {
    if let Some(column) = window.app.selected_column().filter(|column| column.table.is_some()) {
        sheet(window, Sheet::Figure { column: column.id, kind: None });
    }
}

fn toggle_given(window: &mut Window<'_>) {
    let opens = window.app.document.state.given.is_none();
    window.local.shared.focus_id = opens.then(given_id);
    window.push(SourceCommand::Give(opens.then(String::new)));
}

/// The target of a menu that a key opens: the cell of the arrow keys, else the selected word, else a hypothesis.
fn marked(window: &Window<'_>) -> Option<MenuTarget> {
    let selected = window.app.selected_column()?;
    let hypothesis = MenuTarget::Hypothesis { column: selected.id, n: selected.hypothesis };
    if window.local.shared.last_panel == Some(Panel::Beam) {
        return Some(hypothesis);
    }
    let mark = window.local.seen::<SentenceMemory>().and_then(|memory| memory.key_mark);
    let cell = mark.and_then(|mark| Some(MenuTarget::Cell { column: mark.column, i: mark.i?, j: mark.j? }));
    let word = window.app.selected_word().map(|(column, i, _)| MenuTarget::Target { column: column.id, i });
    Some(cell.or(word).unwrap_or(hypothesis))
}

fn open(window: &mut Window<'_>, page: &dyn PageState) {
    let asked = page.opens();
    window.local.dialogs.ask(asked.clone());
    sheet(window, Sheet::Ask(asked));
}

fn toggle_manual(window: &mut Window<'_>, page: &dyn PageState) {
    let at = manual::pages().iter().position(|about| Some(about.file) == page.manual());
    if let Some(at) = at.filter(|_| !window.layout.manual_open) {
        window.local.of::<ManualLocal>().open(at, None);
    }
    window.layout.manual_open = !window.layout.manual_open;
}

fn focus(window: &mut Window<'_>, panel: Panel) {
    window.local.shared.focus = Some(panel);
    if window.app.view.page != SENTENCE {
        window.push(WindowCommand::ShowPage(SENTENCE));
    }
}

/// Closes what is open, then dismisses the errors, then clears the selection.
fn escape(window: &mut Window<'_>, page: &dyn PageState) {
    if window.local.shared.sheet != Sheet::None {
        return sheet(window, Sheet::None);
    }
    if std::mem::take(&mut window.local.presents) {
        return;
    }
    if window.local.of::<SentenceMemory>().list == ListPlace::Over {
        window.local.of::<SentenceMemory>().list = ListPlace::Folded;
        return;
    }
    if window.local.shared.picked.take().is_some() {
        return;
    }
    let errors: Vec<u64> = window.app.view.notices.iter().filter(|notice| notice.is_error).map(|it| it.id).collect();
    if !errors.is_empty() {
        return errors.into_iter().for_each(|id| window.push(WindowCommand::DismissNotice(id)));
    }
    page.escape(window);
}

/// Changes the weight of the cell that the arrow keys have marked; without one the size of cells.
fn weigh_or_scale(window: &mut Window<'_>, by: f32, scale: f32) {
    if let Some(weighed) = weigh(window, by) {
        return window.push(weighed);
    }
    let side = window.local.of::<SentenceMemory>().cell;
    window.layout.cell = cell(side * scale);
}

fn weigh(window: &Window<'_>, by: f32) -> Option<InterveneCommand> {
    let mark = window.local.seen::<SentenceMemory>()?.key_mark;
    let mark = mark.filter(|_| window.app.view.settings.shown == Shown::Alpha)?;
    let (i, j) = (mark.i?, mark.j?);
    let table = window.app.document.column(mark.column)?.table.as_deref().filter(|table| !table.is_given)?;
    let weight = (table.alpha.as_ref()?.get(i, j)? + by).clamp(0.0, 1.0);
    let renormalise = window.layout.renormalise;
    Some(InterveneCommand::Weight { column: mark.column, i, j, weight, renormalise, goes_on: false })
}

fn next_palette(window: &mut Window<'_>) {
    let is_dark = window.local.theme != Some(egui::Theme::Light);
    let at = theme::map_at(window.app.view.settings.palette_on(is_dark));
    let next = theme::COLOUR_MAPS[(at + 1) % theme::COLOUR_MAPS.len()].name;
    window.push(SettingsCommand::SetPalette(next.to_owned()));
}

fn next_picture(window: &mut Window<'_>) {
    window.layout.look = match window.layout.look {
        Look::Heatmap => Look::Links,
        Look::Links => Look::Tree,
        Look::Tree => Look::Heatmap,
    };
    window.layout.interlinear = false;
}

pub const PAGING: [KeyboardShortcut; 2] =
    [KeyboardShortcut::new(Modifiers::NONE, Key::PageDown), KeyboardShortcut::new(Modifiers::NONE, Key::PageUp)];

/// Acts whose keys were pressed since the last frame. It consumes the keys; text fields other than `source` keep undo.
pub fn pressed(ctx: &egui::Context, source: egui::Id, page: Page, in_lesson: bool) -> Vec<Act> {
    let typing = ctx.text_edit_focused();
    let focused = ctx.memory(egui::Memory::focused);
    let cell = ctx.data(|data| data.get_temp::<egui::Id>(cell_id()));
    let elsewhere = typing && ![Some(source), Some(given_id()), cell].contains(&focused);
    // An open menu closes with Escape by itself.
    let in_menu = egui::Popup::is_any_open(ctx);
    let mut acts = Vec::new();
    ctx.input_mut(|input| {
        // egui's matching ignores an extra Shift or Alt, so Ctrl+Shift+O has to be looked for before Ctrl+O.
        for has_more in [true, false] {
            for binding in bindings() {
                let is_fields_own = elsewhere && matches!(binding.act, Act::Undo | Act::Redo);
                let is_menus_own = in_menu && binding.act == Act::Escape;
                if is_fields_own || is_menus_own || !works_on(binding, page) || typing && !binding.while_typing {
                    continue;
                }
                let is_lessons_own = |key: &KeyboardShortcut| in_lesson && PAGING.contains(key);
                let own = binding.keys.iter().filter(|key| !is_lessons_own(key));
                for key in own.filter(|key| (key.modifiers.shift || key.modifiers.alt) == has_more) {
                    let presses = input.count_and_consume_key(key.modifiers, key.logical_key);
                    acts.extend(std::iter::repeat_n(binding.act, presses));
                }
            }
        }
    });
    acts
}
