//! Floor 13: what the keys and menus do. Each [`Act`] is a row of one table: its heading on the sheet of shortcuts, its
//! name, its keys, the pages that it works on, and what it does, as commands or as a change of the window alone.

use std::sync::LazyLock;

use egui::{Key, KeyboardShortcut, Modifiers};

use crate::app::command::{SettingsCommand, WindowCommand};
use crate::app::page::{PAGES, Page};
use crate::app::settings::{Shown, Theme};
use crate::jobs::corpus::thread::CorpusRequest;
use crate::pages::corpus::command::CorpusCommand;
use crate::pages::map::command::MapCommand;
use crate::pages::phrases::command::PhrasesCommand;
use crate::pages::sentence::command::{
    ColumnCommand, InterveneCommand, ListCommand, SearchCommand, SelectCommand, SourceCommand,
};
use crate::pages::steps::command::StepsCommand;
use crate::session::command::Command;
use crate::session::state::Session;
use crate::ui::clicked::MenuTarget;
use crate::ui::dialogs::{IMPORT, MODEL, PHRASE_TABLE, TEXT, WORKSPACE};
use crate::ui::local::{Local, Panel, Sheet};
use crate::ui::views::sentence::memory::ListPlace;
use crate::ui::{local, manual};
use crate::widgets::theme;

/// One step of the size of everything.
const ZOOM_STEP: f32 = 0.1;
/// One step of the size of cells.
const CELL_STEP: f32 = 1.25;
/// One step of the weight of a marked cell.
const WEIGHT_STEP: f32 = 0.1;

/// What an act does.
type Does = fn(&Session, &mut Local) -> Vec<Command>;

/// One row of the table.
#[derive(Debug)]
pub struct Binding {
    /// What it does.
    pub act: Act,
    /// Heading on the sheet.
    pub group: &'static str,
    /// In words.
    pub name: &'static str,
    /// Keys; the first is shown in menus.
    pub keys: &'static [KeyboardShortcut],
    /// Works while text is being typed too.
    pub while_typing: bool,
    pages: &'static [Page],
    does: Does,
}

impl Binding {
    /// On other pages than its own, what would change something unseen does not answer.
    pub fn works_on(&self, page: Page) -> bool {
        self.pages.is_empty() || self.pages.contains(&page)
    }
}

const fn ctrl(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn shift_ctrl(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

const fn alt(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::ALT, key)
}

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

const fn shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::SHIFT, key)
}

const ALWAYS: bool = true;
const NOT_TYPING: bool = false;

const FILES: &str = "Files and models";
const TEXTS: &str = "Text and sentences";
const WORDS: &str = "Words and beam";
const PICTURE: &str = "Picture";
const WINDOW: &str = "Window";

const EVERYWHERE: &[Page] = &[];
const SENTENCE: &[Page] = &[Page::Sentence];
/// The page Steps shows the sentence, too.
const STEPS: &[Page] = &[Page::Sentence, Page::Steps];
/// The page Corpus has an undo of its own.
const EDITS: &[Page] = &[Page::Sentence, Page::Steps, Page::Workbench];

/// The enum of acts and the table of its rows, in the order of the sheet.
macro_rules! acts {
    ($($act:ident: $while_typing:ident, $group:ident, $pages:ident, $name:literal, [$($key:expr),+], $does:expr;)*) => {
        /// What a key does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Act {
            /// To a page of the window.
            ShowPage(Page),
            $(#[doc = $name] $act,)*
        }

        const ROWS: &[Binding] = &[$(Binding {
            act: Act::$act,
            group: $group,
            name: $name,
            keys: &[$($key),+],
            while_typing: $while_typing,
            pages: $pages,
            does: $does,
        },)*];
    };
}

acts! {
    Open: ALWAYS, FILES, EVERYWHERE, "Open a text file or a model folder", [ctrl(Key::O)], open;
    AddModel: ALWAYS, FILES, EVERYWHERE, "Add a model", [shift_ctrl(Key::O)],
        |_, local| sheet(local, Sheet::Ask(MODEL.then(ColumnCommand::Add)));
    NewTraining: ALWAYS, FILES, EVERYWHERE, "New training", [shift_ctrl(Key::N)], |_, local| sheet(local, Sheet::Training);
    SaveFigure: ALWAYS, FILES, SENTENCE, "Save a figure", [ctrl(Key::S)], save_figure;
    // These two go to a panel, and so to its page.
    FocusSource: ALWAYS, TEXTS, EVERYWHERE, "Go to the source text", [ctrl(Key::L)],
        |session, local| focus(session, local, Panel::Source);
    FocusSearch: ALWAYS, TEXTS, EVERYWHERE, "Search in the list", [ctrl(Key::F)],
        |session, local| focus(session, local, Panel::Sentences);
    Undo: ALWAYS, TEXTS, EDITS, "Undo", [ctrl(Key::Z)],
        |session, _| edit(session, CorpusRequest::Undo, SourceCommand::Undo);
    Redo: ALWAYS, TEXTS, EDITS, "Redo", [shift_ctrl(Key::Z), ctrl(Key::Y)],
        |session, _| edit(session, CorpusRequest::Redo, SourceCommand::Redo);
    NextSentence: ALWAYS, TEXTS, SENTENCE, "Next sentence", [ctrl(Key::ArrowDown), plain(Key::PageDown)],
        |_, _| one(ListCommand::Move(1));
    PreviousSentence: ALWAYS, TEXTS, SENTENCE, "Previous sentence", [ctrl(Key::ArrowUp), plain(Key::PageUp)],
        |_, _| one(ListCommand::Move(-1));
    FirstSentence: NOT_TYPING, TEXTS, SENTENCE, "First sentence", [ctrl(Key::Home)], |_, _| one(ListCommand::First);
    LastSentence: NOT_TYPING, TEXTS, SENTENCE, "Last sentence", [ctrl(Key::End)], |_, _| one(ListCommand::Last);
    Stop: ALWAYS, TEXTS, STEPS, "Stop translating", [ctrl(Key::Period)], |_, _| one(SourceCommand::Stop);
    ToggleGiven: ALWAYS, TEXTS, SENTENCE, "Score a translation of your own", [ctrl(Key::G)], toggle_given;
    NextWord: ALWAYS, WORDS, SENTENCE, "Next target word", [alt(Key::ArrowDown)], |_, _| one(SelectCommand::MoveTarget(1));
    PreviousWord: ALWAYS, WORDS, SENTENCE, "Previous target word", [alt(Key::ArrowUp)],
        |_, _| one(SelectCommand::MoveTarget(-1));
    NextColumn: ALWAYS, WORDS, SENTENCE, "Column to the right", [alt(Key::ArrowRight)],
        |_, _| one(SelectCommand::MoveColumn(1));
    PreviousColumn: ALWAYS, WORDS, SENTENCE, "Column to the left", [alt(Key::ArrowLeft)],
        |_, _| one(SelectCommand::MoveColumn(-1));
    NextHypothesis: NOT_TYPING, WORDS, SENTENCE, "Next hypothesis", [plain(Key::CloseBracket)],
        |_, _| one(SelectCommand::MoveHypothesis(1));
    PreviousHypothesis: NOT_TYPING, WORDS, SENTENCE, "Previous hypothesis", [plain(Key::OpenBracket)],
        |_, _| one(SelectCommand::MoveHypothesis(-1));
    Offers: ALWAYS, WORDS, SENTENCE, "What can be done with a word or cell", [shift(Key::F10), plain(Key::Menu)],
        |session, local| { local.shared.asked = marked(session, local); Vec::new() };
    WidenBeam: ALWAYS, WORDS, SENTENCE, "Wider beam", [ctrl(Key::CloseBracket)],
        |session, _| one(SearchCommand::SetBeam(session.app().document.scene().search.beam + 1));
    NarrowBeam: ALWAYS, WORDS, SENTENCE, "Narrower beam", [ctrl(Key::OpenBracket)],
        |session, _| one(SearchCommand::SetBeam(session.app().document.scene().search.beam.saturating_sub(1).max(1)));
    NextPalette: ALWAYS, PICTURE, SENTENCE, "Next palette", [ctrl(Key::P)], next_palette;
    ToggleEnergies: ALWAYS, PICTURE, SENTENCE, "Alpha or energies", [ctrl(Key::E)], |session, _| {
        let is_alpha = session.app().view.settings().shown == Shown::Alpha;
        one(SettingsCommand::SetShown(if is_alpha { Shown::Energies } else { Shown::Alpha }))
    };
    NextPicture: ALWAYS, PICTURE, SENTENCE, "Heatmap, links or tree", [ctrl(Key::J)], next_picture;
    Solo: ALWAYS, PICTURE, SENTENCE, "One column alone, or all", [ctrl(Key::D)],
        |session, _| toggle(session, local::SOLO, 0.0);
    Present: ALWAYS, PICTURE, STEPS, "Presentation: one picture, large", [plain(Key::F5)],
        |_, local| { local.presents = !local.presents; Vec::new() };
    ToggleLinks: ALWAYS, PICTURE, SENTENCE, "Links of the aligner", [ctrl(Key::K)],
        |session, _| one(SettingsCommand::SetLinks(!session.app().view.settings().links));
    TogglePieces: ALWAYS, PICTURE, SENTENCE, "Words or their pieces", [shift_ctrl(Key::K)],
        |session, _| one(SettingsCommand::SetPieces(!session.app().view.settings().pieces));
    LargerCells: NOT_TYPING, PICTURE, SENTENCE, "Larger cells, or more weight in a marked one",
        [plain(Key::Plus), plain(Key::Equals)],
        |session, local| vec![weigh(session, local, WEIGHT_STEP).unwrap_or_else(|| cell(local.sentence.cell * CELL_STEP))];
    SmallerCells: NOT_TYPING, PICTURE, SENTENCE, "Smaller cells, or less weight", [plain(Key::Minus)],
        |session, local| vec![weigh(session, local, -WEIGHT_STEP).unwrap_or_else(|| cell(local.sentence.cell / CELL_STEP))];
    WholeMatrix: NOT_TYPING, PICTURE, SENTENCE, "All cells in view", [plain(Key::Num0)], |session, _| {
        let is_whole = local::layout(session, local::CELL, 0.0) < 0.0;
        vec![layout(local::CELL, if is_whole { 0.0 } else { -1.0 })]
    };
    NextPanel: ALWAYS, WINDOW, SENTENCE, "Next panel", [plain(Key::F6)], |_, local| { local.shared.cycle(1); Vec::new() };
    PreviousPanel: ALWAYS, WINDOW, SENTENCE, "Previous panel", [shift(Key::F6)], |_, local| { local.shared.cycle(-1); Vec::new() };
    ToggleSentences: ALWAYS, WINDOW, SENTENCE, "Show or hide the sentences", [ctrl(Key::B)],
        |session, local| match local.sentence.list {
            ListPlace::Beside => toggle(session, local::SENTENCES_OPEN, 1.0),
            ListPlace::Folded => { local.sentence.list = ListPlace::Over; Vec::new() }
            ListPlace::Over => { local.sentence.list = ListPlace::Folded; Vec::new() }
        };
    ToggleInspector: ALWAYS, WINDOW, SENTENCE, "Show or hide the inspector", [ctrl(Key::I)],
        |session, _| toggle(session, local::INSPECTOR_OPEN, 1.0);
    FullScreen: ALWAYS, WINDOW, EVERYWHERE, "Full screen", [plain(Key::F11)], |_, local| { local.full_screen = Some(()); Vec::new() };
    NextTheme: ALWAYS, WINDOW, EVERYWHERE, "Light, dark or as the system", [ctrl(Key::T)],
        |session, _| one(SettingsCommand::SetTheme(match session.app().view.settings().theme {
            Theme::System => Theme::Light,
            Theme::Light => Theme::Dark,
            Theme::Dark => Theme::System,
        }));
    ZoomIn: ALWAYS, WINDOW, EVERYWHERE, "Everything larger", [ctrl(Key::Plus), ctrl(Key::Equals)],
        |session, _| one(SettingsCommand::SetZoom(session.app().view.settings().zoom + ZOOM_STEP));
    ZoomOut: ALWAYS, WINDOW, EVERYWHERE, "Everything smaller", [ctrl(Key::Minus)],
        |session, _| one(SettingsCommand::SetZoom(session.app().view.settings().zoom - ZOOM_STEP));
    ZoomReset: ALWAYS, WINDOW, EVERYWHERE, "Usual size", [ctrl(Key::Num0)], |_, _| one(SettingsCommand::SetZoom(1.0));
    Help: NOT_TYPING, WINDOW, EVERYWHERE, "Shortcuts and explanations", [plain(Key::Questionmark), shift(Key::Slash)],
        |_, local| {
            let other = if local.shared.sheet == Sheet::Help { Sheet::None } else { Sheet::Help };
            sheet(local, other)
        };
    Manual: ALWAYS, WINDOW, EVERYWHERE, "Show or hide the manual", [plain(Key::F1)], toggle_manual;
    Escape: NOT_TYPING, WINDOW, EVERYWHERE, "Close what is open, then select nothing", [plain(Key::Escape)], escape;
}

/// The keys of the pages, by their digits.
const PAGE_KEYS: [[KeyboardShortcut; 1]; 9] = [
    [ctrl(Key::Num1)],
    [ctrl(Key::Num2)],
    [ctrl(Key::Num3)],
    [ctrl(Key::Num4)],
    [ctrl(Key::Num5)],
    [ctrl(Key::Num6)],
    [ctrl(Key::Num7)],
    [ctrl(Key::Num8)],
    [ctrl(Key::Num9)],
];

/// Every act with its keys, in the order of the sheet; the pages stand before the rest of the window.
pub fn bindings() -> &'static [&'static Binding] {
    static PAGE_ROWS: LazyLock<Vec<Binding>> = LazyLock::new(|| {
        let row = |entry: &'static crate::app::page::PageEntry| Binding {
            act: Act::ShowPage(entry.page),
            group: WINDOW,
            name: entry.title,
            keys: PAGE_KEYS.get(usize::from(entry.digit).wrapping_sub(1)).map_or(&[][..], |keys| keys),
            while_typing: true,
            pages: EVERYWHERE,
            does: |_, _| Vec::new(),
        };
        PAGES.iter().map(row).collect()
    });
    static ALL: LazyLock<Vec<&'static Binding>> = LazyLock::new(|| {
        let (window, others): (Vec<_>, Vec<_>) = ROWS.iter().partition(|row| row.group == WINDOW);
        others.into_iter().chain(PAGE_ROWS.iter()).chain(window).collect()
    });
    &ALL
}

impl Act {
    /// Its row of the table.
    pub fn row(self) -> &'static Binding {
        bindings().iter().find(|row| row.act == self).unwrap_or(&bindings()[0])
    }
}

/// Does `act`: returns the commands that it stands for.
pub fn perform(act: Act, session: &Session, local: &mut Local) -> Vec<Command> {
    match act {
        Act::ShowPage(page) => one(WindowCommand::ShowPage(page)),
        _ => (act.row().does)(session, local),
    }
}

fn one(command: impl Into<Command>) -> Vec<Command> {
    vec![command.into()]
}

/// Opens a sheet over the window.
fn sheet(local: &mut Local, sheet: Sheet) -> Vec<Command> {
    local.shared.sheet = sheet;
    Vec::new()
}

fn edit(session: &Session, judged: CorpusRequest, typed: SourceCommand) -> Vec<Command> {
    if session.app().view.page() == Page::Workbench { one(judged) } else { one(typed) }
}

fn save_figure(session: &Session, local: &mut Local) -> Vec<Command> {
    let column = session.app().selected_column().filter(|column| column.table.is_some());
    column.map_or_else(Vec::new, |column| sheet(local, Sheet::Figure { column: column.id, kind: None }))
}

fn toggle_given(session: &Session, local: &mut Local) -> Vec<Command> {
    let opens = session.app().document.scene().given.is_none();
    local.shared.focus_id = opens.then(local::given_id);
    one(SourceCommand::Give(opens.then(String::new)))
}

/// What a menu asked for by a key is about: the cell of the arrow keys, else the selected word, else a hypothesis.
fn marked(session: &Session, local: &Local) -> Option<MenuTarget> {
    let selected = session.app().selected_column()?;
    let hypothesis = MenuTarget::Hypothesis { column: selected.id, n: selected.hypothesis };
    if local.shared.last_panel == Some(Panel::Beam) {
        return Some(hypothesis);
    }
    let cell =
        local.sentence.key_mark.and_then(|mark| Some(MenuTarget::Cell { column: mark.column, i: mark.i?, j: mark.j? }));
    let word = session.app().selected_word().map(|(column, i, _)| MenuTarget::Target { column: column.id, i });
    Some(cell.or(word).unwrap_or(hypothesis))
}

/// Opens a file dialog: for a phrase table on the page of phrases.
fn open(session: &Session, local: &mut Local) -> Vec<Command> {
    let asked = match session.app().view.page() {
        Page::Phrases => PHRASE_TABLE.then(PhrasesCommand::Open),
        Page::Workbench if session.workbench().path.is_some() => IMPORT.then(CorpusCommand::Import),
        Page::Workbench => WORKSPACE.then(CorpusRequest::Open),
        Page::Sentence | Page::Evaluation | Page::Map | Page::Steps => TEXT.then(WindowCommand::Open),
    };
    local.dialogs.ask(asked.clone());
    sheet(local, Sheet::Ask(asked))
}

fn toggle_manual(session: &Session, local: &mut Local) -> Vec<Command> {
    if local::layout(session, local::MANUAL_OPEN, 0.0) <= 0.0 {
        open_manual_of(session.app().view.page(), local);
    }
    toggle(session, local::MANUAL_OPEN, 0.0)
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

/// Goes to a panel, and so to its page.
fn focus(session: &Session, local: &mut Local, panel: Panel) -> Vec<Command> {
    local.shared.focus = Some(panel);
    let is_elsewhere = session.app().view.page() != Page::Sentence;
    is_elsewhere.then(|| WindowCommand::ShowPage(Page::Sentence).into()).into_iter().collect()
}

/// Closes what is open, then the errors, which stay until they are dismissed; then selects nothing.
fn escape(session: &Session, local: &mut Local) -> Vec<Command> {
    if local.shared.sheet != Sheet::None {
        return sheet(local, Sheet::None);
    }
    if local.presents {
        local.presents = false;
        return Vec::new();
    }
    if local.sentence.list == ListPlace::Over {
        local.sentence.list = ListPlace::Folded;
        return Vec::new();
    }
    if local.shared.picked.take().is_some() {
        return Vec::new();
    }
    let errors = session.app().view.notices().iter().filter(|notice| notice.is_error);
    let dismissed: Vec<Command> = errors.map(|notice| WindowCommand::DismissNotice(notice.id).into()).collect();
    if !dismissed.is_empty() {
        return dismissed;
    }
    match session.app().view.page() {
        Page::Map => one(MapCommand::Select(None)),
        Page::Steps => one(StepsCommand::Open(None)),
        Page::Workbench if local.corpus.scheme.take().is_some() => Vec::new(),
        Page::Workbench if session.workbench().compared.is_some() => one(CorpusRequest::Compare(None)),
        Page::Workbench => one(CorpusCommand::Select(None)),
        Page::Sentence | Page::Evaluation | Page::Phrases => one(SelectCommand::Nothing),
    }
}

/// More or less weight in the cell that the arrow keys have marked.
fn weigh(session: &Session, local: &Local, by: f32) -> Option<Command> {
    let mark = local.sentence.key_mark.filter(|_| session.app().view.settings().shown == Shown::Alpha)?;
    let (i, j) = (mark.i?, mark.j?);
    let table = session.app().document.column(mark.column)?.table.as_deref().filter(|table| !table.is_given)?;
    let alpha = table.alpha.as_ref()?;
    let weight = (alpha.get(i, j)? + by).clamp(0.0, 1.0);
    let renormalise = local::layout(session, local::RENORMALISE, 1.0) > 0.0;
    Some(InterveneCommand::Weight { column: mark.column, i, j, weight, renormalise, goes_on: false }.into())
}

/// A side of a cell within its limits, to be kept.
pub fn cell(side: f32) -> Command {
    layout(local::CELL, side.clamp(theme::CELL_LIMITS.0, theme::CELL_LIMITS.1))
}

/// The palette behind the one that is shown.
fn next_palette(session: &Session, local: &mut Local) -> Vec<Command> {
    let at = theme::map_at(session.app().view.settings().palette_on(local.theme != Some(egui::Theme::Light)));
    let next = theme::COLOUR_MAPS[(at + 1) % theme::COLOUR_MAPS.len()].name;
    one(SettingsCommand::SetPalette(next.to_owned()))
}

fn layout(key: &str, value: f32) -> Command {
    WindowCommand::SetLayout { key: key.to_owned(), value }.into()
}

/// Turns a number of the layout on or off.
fn toggle(session: &Session, key: &str, at_first: f32) -> Vec<Command> {
    vec![layout(key, 1.0 - local::layout(session, key, at_first))]
}

/// From the heatmap to the links, from them to the tree of the search, and back.
fn next_picture(session: &Session, _: &mut Local) -> Vec<Command> {
    let is_on = |key| local::layout(session, key, 0.0) > 0.0;
    let (links, tree) = match (is_on(local::LINKS), is_on(local::TREE)) {
        (false, false) => (1.0, 0.0),
        (true, false) => (0.0, 1.0),
        (_, true) => (0.0, 0.0),
    };
    vec![layout(local::LINKS, links), layout(local::TREE, tree)]
}
