//! Floor 10: what the keys and menus do: each [`Act`] as commands, or as a change of the window alone.

use crate::app::page::Page;
use crate::app::settings::{Shown, Theme};
use crate::pages::corpus::command::WorkbenchCommand;
use crate::pages::map::command::MapCommand;
use crate::pages::sentence::command::{ListCommand, SearchCommand, SelectCommand, SourceCommand};
use crate::pages::steps::command::StepsCommand;
use crate::session::command::{Command, SettingsCommand, WindowCommand};
use crate::session::state::Session;
use crate::ui::clicked::Clicked;
use crate::ui::dialogs::Question;
use crate::ui::local::{ListPlace, Local, Panel, Sheet};
use crate::ui::shortcuts::Act;
use crate::ui::views::change;
use crate::ui::{local, manual, shortcuts, theme};

/// One step of the size of everything.
const ZOOM_STEP: f32 = 0.1;
/// One step of the size of cells.
const CELL_STEP: f32 = 1.25;

/// Does `act`: returns the commands that it stands for.
pub fn perform(act: Act, session: &Session, local: &mut Local) -> Vec<Command> {
    let settings = session.app().view.settings();
    let beam = session.app().document.scene().search.beam;
    let command: Command = match act {
        Act::Open => return open(session, local),
        Act::AddModel => return sheet(local, Sheet::Ask(Question::Model)),
        Act::NewTraining => return sheet(local, Sheet::Training),
        Act::SaveFigure => {
            let column = session.app().selected_column().filter(|column| column.table.is_some());
            return column
                .map_or_else(Vec::new, |column| sheet(local, Sheet::Figure { column: column.id, kind: None }));
        }
        Act::FocusSource => return focus(session, local, Panel::Source),
        Act::FocusSearch => return focus(session, local, Panel::Sentences),
        Act::NextPanel => return cycle(local, 1),
        Act::PreviousPanel => return cycle(local, -1),
        Act::Help => {
            let other = if local.sheet == Sheet::Help { Sheet::None } else { Sheet::Help };
            return sheet(local, other);
        }
        Act::Escape => return escape(session, local),
        Act::Offers => {
            local.asked = marked(session, local);
            return Vec::new();
        }
        Act::ShowPage(page) => WindowCommand::ShowPage(page).into(),
        Act::Undo if session.app().view.page() == Page::Workbench => WorkbenchCommand::Undo.into(),
        Act::Redo if session.app().view.page() == Page::Workbench => WorkbenchCommand::Redo.into(),
        Act::Undo => SourceCommand::Undo.into(),
        Act::Redo => SourceCommand::Redo.into(),
        Act::Stop => SourceCommand::Stop.into(),
        Act::ToggleGiven => {
            let opens = session.app().document.scene().given.is_none();
            local.focus_id = opens.then(shortcuts::given_id);
            SourceCommand::Give(opens.then(String::new)).into()
        }
        Act::NextSentence => ListCommand::Move(1).into(),
        Act::PreviousSentence => ListCommand::Move(-1).into(),
        Act::FirstSentence => ListCommand::First.into(),
        Act::LastSentence => ListCommand::Last.into(),
        Act::NextWord => SelectCommand::MoveTarget(1).into(),
        Act::PreviousWord => SelectCommand::MoveTarget(-1).into(),
        Act::NextColumn => SelectCommand::MoveColumn(1).into(),
        Act::PreviousColumn => SelectCommand::MoveColumn(-1).into(),
        Act::NextHypothesis => SelectCommand::MoveHypothesis(1).into(),
        Act::PreviousHypothesis => SelectCommand::MoveHypothesis(-1).into(),
        Act::WidenBeam => SearchCommand::SetBeam(beam + 1).into(),
        Act::NarrowBeam => SearchCommand::SetBeam(beam.saturating_sub(1).max(1)).into(),
        Act::NextPalette => {
            SettingsCommand::SetPalette(next_palette(settings.palette_on(local.theme != Some(egui::Theme::Light))))
                .into()
        }
        Act::ToggleEnergies => {
            let other = if settings.shown == Shown::Alpha { Shown::Energies } else { Shown::Alpha };
            SettingsCommand::SetShown(other).into()
        }
        Act::ToggleLinks => SettingsCommand::SetLinks(!settings.links).into(),
        Act::TogglePieces => SettingsCommand::SetPieces(!settings.pieces).into(),
        Act::NextTheme => SettingsCommand::SetTheme(next_theme(settings.theme)).into(),
        Act::ZoomIn => SettingsCommand::SetZoom(settings.zoom + ZOOM_STEP).into(),
        Act::ZoomOut => SettingsCommand::SetZoom(settings.zoom - ZOOM_STEP).into(),
        Act::ZoomReset => SettingsCommand::SetZoom(1.0).into(),
        Act::LargerCells => change::step(session, local, 0.1).unwrap_or_else(|| cell(local.cell * CELL_STEP)),
        Act::SmallerCells => change::step(session, local, -0.1).unwrap_or_else(|| cell(local.cell / CELL_STEP)),
        Act::WholeMatrix => {
            layout(local::CELL, if local::layout(session, local::CELL, 0.0) < 0.0 { 0.0 } else { -1.0 })
        }
        Act::NextPicture => return next_picture(session),
        Act::Manual => {
            if local::layout(session, local::MANUAL_OPEN, 0.0) <= 0.0 {
                open_manual_of(session.app().view.page(), local);
            }
            off_or_on(session, local::MANUAL_OPEN)
        }
        Act::Solo => off_or_on(session, local::SOLO),
        Act::Present => {
            local.presents = !local.presents;
            return Vec::new();
        }
        Act::FullScreen => {
            local.full_screen = Some(());
            return Vec::new();
        }
        Act::ToggleSentences => match local.list {
            ListPlace::Beside => toggle(session, local::SENTENCES_OPEN),
            ListPlace::Folded => return put_list(local, ListPlace::Over),
            ListPlace::Over => return put_list(local, ListPlace::Folded),
        },
        Act::ToggleInspector => toggle(session, local::INSPECTOR_OPEN),
    };
    vec![command]
}

/// What a menu asked for by a key is about: the cell of the arrow keys, else the selected word, else a hypothesis.
fn marked(session: &Session, local: &Local) -> Option<Clicked> {
    let selected = session.app().selected_column()?;
    let hypothesis = Clicked::Hypothesis { column: selected.id, n: selected.hypothesis };
    if local.last_panel == Some(Panel::Beam) {
        return Some(hypothesis);
    }
    let cell = local.key_mark.and_then(|mark| Some(Clicked::Cell { column: mark.column, i: mark.i?, j: mark.j? }));
    let word = session.app().selected_word().map(|(column, i, _)| Clicked::Target { column: column.id, i });
    Some(cell.or(word).unwrap_or(hypothesis))
}

/// Opens a sheet over the window.
fn sheet(local: &mut Local, sheet: Sheet) -> Vec<Command> {
    local.sheet = sheet;
    Vec::new()
}

/// Opens a file dialog: for a phrase table on the page of phrases.
fn open(session: &Session, local: &mut Local) -> Vec<Command> {
    let question = match session.app().view.page() {
        Page::Phrases => Question::PhraseTable,
        Page::Workbench if session.workbench().path.is_some() => Question::Import,
        Page::Workbench => Question::Workspace,
        Page::Sentence | Page::Evaluation | Page::Map | Page::Steps => Question::Text,
    };
    local.dialogs.ask(question);
    sheet(local, Sheet::Ask(question))
}

/// The manual opens at the page about the page that is shown; on page Sentence where it was left.
fn open_manual_of(page: Page, local: &mut Local) {
    let file = match page {
        Page::Sentence => return,
        Page::Evaluation => "evaluation.md",
        Page::Map => "plane.md",
        Page::Phrases => "phrase-tables.md",
        Page::Steps => "steps.md",
        Page::Workbench => "corpus.md",
    };
    if let Some(at) = manual::pages().iter().position(|page| page.file == file) {
        local.manual.open(at, None);
    }
}

fn put_list(local: &mut Local, place: ListPlace) -> Vec<Command> {
    local.list = place;
    Vec::new()
}

/// Goes to a panel, and so to its page.
fn focus(session: &Session, local: &mut Local, panel: Panel) -> Vec<Command> {
    local.focus = Some(panel);
    let is_elsewhere = session.app().view.page() != Page::Sentence;
    is_elsewhere.then(|| WindowCommand::ShowPage(Page::Sentence).into()).into_iter().collect()
}

fn cycle(local: &mut Local, by: isize) -> Vec<Command> {
    local.cycle(by);
    Vec::new()
}

/// Closes what is open, then the errors, which stay until they are dismissed; then selects nothing.
fn escape(session: &Session, local: &mut Local) -> Vec<Command> {
    if local.sheet != Sheet::None {
        return sheet(local, Sheet::None);
    }
    if local.presents {
        local.presents = false;
        return Vec::new();
    }
    if local.list == ListPlace::Over {
        return put_list(local, ListPlace::Folded);
    }
    if local.picked.take().is_some() {
        return Vec::new();
    }
    let errors = session.app().view.notices().iter().filter(|notice| notice.is_error);
    let dismissed: Vec<Command> = errors.map(|notice| WindowCommand::DismissNotice(notice.id).into()).collect();
    if !dismissed.is_empty() {
        return dismissed;
    }
    match session.app().view.page() {
        Page::Map => vec![MapCommand::Select(None).into()],
        Page::Steps => vec![StepsCommand::Open(None).into()],
        Page::Workbench if local.workbench.scheme.take().is_some() => Vec::new(),
        Page::Workbench if session.workbench().compared.is_some() => vec![WorkbenchCommand::Compare(None).into()],
        Page::Workbench => vec![WorkbenchCommand::Select(None).into()],
        Page::Sentence | Page::Evaluation | Page::Phrases => vec![SelectCommand::Nothing.into()],
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

fn layout(key: &str, value: f32) -> Command {
    WindowCommand::SetLayout { key: key.to_owned(), value }.into()
}

fn toggle(session: &Session, key: &str) -> Command {
    layout(key, 1.0 - local::layout(session, key, 1.0))
}

/// From the heatmap to the links, from them to the tree of the search, and back.
fn next_picture(session: &Session) -> Vec<Command> {
    let is_on = |key| local::layout(session, key, 0.0) > 0.0;
    let (links, tree) = match (is_on(local::LINKS), is_on(local::TREE)) {
        (false, false) => (1.0, 0.0),
        (true, false) => (0.0, 1.0),
        (_, true) => (0.0, 0.0),
    };
    vec![layout(local::LINKS, links), layout(local::TREE, tree)]
}

/// As [`toggle`] of what is off at first.
fn off_or_on(session: &Session, key: &str) -> Command {
    layout(key, 1.0 - local::layout(session, key, 0.0))
}

fn next_theme(theme: Theme) -> Theme {
    match theme {
        Theme::System => Theme::Light,
        Theme::Light => Theme::Dark,
        Theme::Dark => Theme::System,
    }
}
