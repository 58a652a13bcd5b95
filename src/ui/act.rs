//! Floor 9: what the keys and menus do: each [`Act`] as commands, or as a change of the window alone.

use crate::session::{Command, Page, Session, Shown, Theme, maps};
use crate::ui::dialogs::Question;
use crate::ui::local::{Local, Panel, Sheet};
use crate::ui::shortcuts::Act;
use crate::ui::{local, theme};

/// One step of the size of everything.
const ZOOM_STEP: f32 = 0.1;
/// One step of the size of cells.
const CELL_STEP: f32 = 1.25;

/// Does `act`: returns the commands that it stands for.
pub fn perform(act: Act, session: &Session, local: &mut Local) -> Vec<Command> {
    if let Some(command) = simple(act) {
        return vec![command];
    }
    let settings = &session.settings;
    match act {
        Act::FocusSource | Act::FocusSearch if session.page != Page::Sentence => {
            inside(act, local);
            vec![Command::ShowPage(Page::Sentence)]
        }
        Act::Open if session.page == Page::Phrases => {
            local.sheet = Sheet::Ask(Question::PhraseTable);
            local.dialogs.ask(Question::PhraseTable);
            Vec::new()
        }
        Act::WidenBeam => vec![Command::SetBeam(settings.beam + 1)],
        Act::NarrowBeam => vec![Command::SetBeam(settings.beam.saturating_sub(1).max(1))],
        Act::NextPalette => vec![Command::SetPalette(next_palette(&settings.palette))],
        Act::ToggleEnergies => {
            vec![Command::SetShown(if settings.shown == Shown::Alpha { Shown::Energies } else { Shown::Alpha })]
        }
        Act::NextTheme => vec![Command::SetTheme(next_theme(settings.theme))],
        Act::ZoomIn => vec![Command::SetZoom(settings.zoom + ZOOM_STEP)],
        Act::ZoomOut => vec![Command::SetZoom(settings.zoom - ZOOM_STEP)],
        Act::ZoomReset => vec![Command::SetZoom(1.0)],
        Act::LargerCells => vec![cell(local.cell * CELL_STEP)],
        Act::SmallerCells => vec![cell(local.cell / CELL_STEP)],
        Act::WholeMatrix => {
            vec![layout(local::CELL, if local::layout(session, local::CELL, 0.0) < 0.0 { 0.0 } else { -1.0 })]
        }
        Act::ToggleSentences => vec![toggle(session, local::SENTENCES_OPEN)],
        Act::ToggleInspector => vec![toggle(session, local::INSPECTOR_OPEN)],
        // what stays until it is dismissed is open, too
        Act::Escape if local.sheet == Sheet::None && session.notices.iter().any(|notice| notice.is_error) => {
            let errors = session.notices.iter().filter(|notice| notice.is_error);
            errors.map(|notice| Command::DismissNotice(notice.id)).collect()
        }
        Act::Escape if local.sheet == Sheet::None && session.page == Page::Map => {
            vec![Command::Map(maps::Command::Select(None))]
        }
        Act::Escape if local.sheet == Sheet::None => vec![Command::Deselect],
        _ => {
            inside(act, local);
            Vec::new()
        }
    }
}

/// A side of a cell within its limits, to be kept.
pub fn cell(side: f32) -> Command {
    layout(local::CELL, side.clamp(theme::CELL_LIMITS.0, theme::CELL_LIMITS.1))
}

/// The palette behind this one in the table.
pub fn next_palette(name: &str) -> String {
    let at = palette(name);
    theme::COLOUR_MAPS[(at + 1) % theme::COLOUR_MAPS.len()].name.to_owned()
}

/// Where the palette of this name stands in the table; the first when there is none.
pub fn palette(name: &str) -> usize {
    theme::COLOUR_MAPS.iter().position(|map| map.name.eq_ignore_ascii_case(name)).unwrap_or(0)
}

fn simple(act: Act) -> Option<Command> {
    Some(match act {
        Act::Undo => Command::Undo,
        Act::Redo => Command::Redo,
        Act::ShowPage(page) => Command::ShowPage(page),
        Act::Stop => Command::Stop,
        Act::NextSentence => Command::MoveSentence(1),
        Act::PreviousSentence => Command::MoveSentence(-1),
        Act::FirstSentence => Command::FirstSentence,
        Act::LastSentence => Command::LastSentence,
        Act::NextWord => Command::MoveTarget(1),
        Act::PreviousWord => Command::MoveTarget(-1),
        Act::NextColumn => Command::MoveColumnSelection(1),
        Act::PreviousColumn => Command::MoveColumnSelection(-1),
        Act::NextHypothesis => Command::MoveHypothesis(1),
        Act::PreviousHypothesis => Command::MoveHypothesis(-1),
        _ => return None,
    })
}

/// Acts that only the window itself has to know about.
fn inside(act: Act, local: &mut Local) {
    match act {
        Act::Open => {
            local.sheet = Sheet::Ask(Question::Text);
            local.dialogs.ask(Question::Text);
        }
        Act::AddModel => local.sheet = Sheet::Ask(Question::Model),
        Act::NewTraining => local.sheet = Sheet::Training,
        Act::FocusSource => local.focus = Some(Panel::Source),
        Act::FocusSearch => local.focus = Some(Panel::Sentences),
        Act::NextPanel => local.cycle(1),
        Act::PreviousPanel => local.cycle(-1),
        Act::Help => local.sheet = if local.sheet == Sheet::Help { Sheet::None } else { Sheet::Help },
        Act::Escape => local.sheet = Sheet::None,
        _ => {}
    }
}

fn layout(key: &str, value: f32) -> Command {
    Command::SetLayout { key: key.to_owned(), value }
}

fn toggle(session: &Session, key: &str) -> Command {
    layout(key, 1.0 - local::layout(session, key, 1.0))
}

fn next_theme(theme: Theme) -> Theme {
    match theme {
        Theme::System => Theme::Light,
        Theme::Light => Theme::Dark,
        Theme::Dark => Theme::System,
    }
}
