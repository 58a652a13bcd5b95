//! Floor 11: what the keys and menus do. Each [`Act`] is a row of one table: its heading on the sheet of shortcuts, its
//! name, its keys, the pages that it works on, and what it does, as commands or as a change of the window alone.

use std::sync::LazyLock;

use egui::{Key, KeyboardShortcut, Modifiers};

use crate::app::command::{SettingsCommand, WindowCommand};
use crate::app::page::Page;
use crate::app::page::SENTENCE;
use crate::app::settings::{Shown, Theme};
#[cfg(not(target_family = "wasm"))]
use crate::pages::corpus::CORPUS;
use crate::pages::sentence::command::{
    ColumnCommand, InterveneCommand, ListCommand, SearchCommand, SelectCommand, SourceCommand,
};
use crate::pages::sentence::view::memory::ListPlace;
use crate::pages::sentence::view::memory::SentenceMemory;
use crate::pages::steps::STEPS;
use crate::pages::window::clicked::MenuTarget;
use crate::pages::window::dialogs::MODEL;
use crate::pages::window::local::{Local, PageView, Panel, Sheet, Window};
use crate::pages::window::{local, manual};
use crate::pages::{PAGES, PageEntry};
use crate::widgets::theme;

/// One step of the size of everything.
const ZOOM_STEP: f32 = 0.1;
/// One step of the size of cells.
const CELL_STEP: f32 = 1.25;
/// One step of the weight of a marked cell.
const WEIGHT_STEP: f32 = 0.1;

/// What an act does.
type Does = fn(&mut Window<'_>);

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

const fn ctrl_alt(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::ALT), key)
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

const FILES: &str = id!("Files and models");
const TEXTS: &str = id!("Text and sentences");
const WORDS: &str = id!("Words and beam");
const PICTURE: &str = id!("Picture");
const WINDOW: &str = id!("Window");

const EVERYWHERE: &[Page] = &[];
const ON_SENTENCE: &[Page] = &[SENTENCE];
/// The page Steps shows the sentence, too.
const ON_STEPS: &[Page] = &[SENTENCE, STEPS];
/// The page Corpus has an undo of its own.
const EDITS: &[Page] = &[
    SENTENCE,
    STEPS,
    #[cfg(not(target_family = "wasm"))]
    CORPUS,
];

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
        |window| sheet(window, Sheet::Ask(MODEL.then(|path| ColumnCommand::Add(path.into()))));
    NewTraining: ALWAYS, FILES, EVERYWHERE, "New training", [shift_ctrl(Key::N)], |window| sheet(window, Sheet::Training);
    CopyLink: ALWAYS, FILES, EVERYWHERE, "Copy a link to what is shown", [shift_ctrl(Key::L)],
        |window| window.local.shared.copies_link = true;
    SaveFigure: ALWAYS, FILES, ON_SENTENCE, "Save a figure", [ctrl(Key::S)], save_figure;
    // These two go to a panel, and so to its page.
    FocusSource: ALWAYS, TEXTS, EVERYWHERE, "Go to the source text", [ctrl(Key::L)],
        |window| focus(window, Panel::Source);
    FocusSearch: ALWAYS, TEXTS, EVERYWHERE, "Search in the list", [ctrl(Key::F)],
        |window| focus(window, Panel::Sentences);
    Undo: ALWAYS, TEXTS, EDITS, "Undo", [ctrl(Key::Z)],
        |window| edit(window, false);
    UndoSentence: ALWAYS, TEXTS, ON_STEPS, "Undo to the sentence before", [ctrl_alt(Key::Z)],
        |window| window.push(SourceCommand::UndoSentence);
    Redo: ALWAYS, TEXTS, EDITS, "Redo", [shift_ctrl(Key::Z), ctrl(Key::Y)],
        |window| edit(window, true);
    NextSentence: ALWAYS, TEXTS, ON_SENTENCE, "Next sentence", [ctrl(Key::ArrowDown), plain(Key::PageDown)],
        |window| window.push(ListCommand::Move(1));
    PreviousSentence: ALWAYS, TEXTS, ON_SENTENCE, "Previous sentence", [ctrl(Key::ArrowUp), plain(Key::PageUp)],
        |window| window.push(ListCommand::Move(-1));
    FirstSentence: NOT_TYPING, TEXTS, ON_SENTENCE, "First sentence", [ctrl(Key::Home)], |window| window.push(ListCommand::First);
    LastSentence: NOT_TYPING, TEXTS, ON_SENTENCE, "Last sentence", [ctrl(Key::End)], |window| window.push(ListCommand::Last);
    Stop: ALWAYS, TEXTS, ON_STEPS, "Stop translating", [ctrl(Key::Period)], |window| window.push(SourceCommand::Stop);
    ToggleGiven: ALWAYS, TEXTS, ON_SENTENCE, "Score a translation of your own", [ctrl(Key::G)], toggle_given;
    Interlinear: ALWAYS, TEXTS, ON_SENTENCE, "Interlinear text", [shift_ctrl(Key::J)],
        |window| toggle(window, local::INTERLINEAR, 0.0);
    NextWord: ALWAYS, WORDS, ON_SENTENCE, "Next target word", [alt(Key::ArrowDown)], |window| window.push(SelectCommand::MoveTarget(1));
    PreviousWord: ALWAYS, WORDS, ON_SENTENCE, "Previous target word", [alt(Key::ArrowUp)],
        |window| window.push(SelectCommand::MoveTarget(-1));
    NextColumn: ALWAYS, WORDS, ON_SENTENCE, "Column to the right", [alt(Key::ArrowRight)],
        |window| window.push(SelectCommand::MoveColumn(1));
    PreviousColumn: ALWAYS, WORDS, ON_SENTENCE, "Column to the left", [alt(Key::ArrowLeft)],
        |window| window.push(SelectCommand::MoveColumn(-1));
    NextHypothesis: NOT_TYPING, WORDS, ON_SENTENCE, "Next hypothesis", [plain(Key::CloseBracket)],
        |window| window.push(SelectCommand::MoveHypothesis(1));
    PreviousHypothesis: NOT_TYPING, WORDS, ON_SENTENCE, "Previous hypothesis", [plain(Key::OpenBracket)],
        |window| window.push(SelectCommand::MoveHypothesis(-1));
    Offers: ALWAYS, WORDS, ON_SENTENCE, "What can be done with a word or cell", [shift(Key::F10), plain(Key::Menu)],
        |window| window.local.shared.asked = marked(window);
    WidenBeam: ALWAYS, WORDS, ON_SENTENCE, "Wider beam", [ctrl(Key::CloseBracket)],
        |window| window.push(SearchCommand::SetBeam(window.app.document.scene().search.beam + 1));
    NarrowBeam: ALWAYS, WORDS, ON_SENTENCE, "Narrower beam", [ctrl(Key::OpenBracket)],
        |window| window.push(SearchCommand::SetBeam(window.app.document.scene().search.beam.saturating_sub(1).max(1)));
    NextPalette: ALWAYS, PICTURE, ON_SENTENCE, "Next palette", [ctrl(Key::P)], next_palette;
    ToggleEnergies: ALWAYS, PICTURE, ON_SENTENCE, "Alpha or energies", [ctrl(Key::E)], |window| {
        let is_alpha = window.app.view.settings().shown == Shown::Alpha;
        window.push(SettingsCommand::SetShown(if is_alpha { Shown::Energies } else { Shown::Alpha }));
    };
    NextPicture: ALWAYS, PICTURE, ON_SENTENCE, "Heatmap, links or tree", [ctrl(Key::J)], next_picture;
    Solo: ALWAYS, PICTURE, ON_SENTENCE, "One column alone, or all", [ctrl(Key::D)],
        |window| toggle(window, local::SOLO, 0.0);
    Present: ALWAYS, PICTURE, ON_STEPS, "Presentation: one picture, large", [plain(Key::F5)],
        |window| window.local.presents = !window.local.presents;
    ToggleLinks: ALWAYS, PICTURE, ON_SENTENCE, "Links of the aligner", [ctrl(Key::K)],
        |window| window.push(SettingsCommand::SetLinks(!window.app.view.settings().links));
    TogglePieces: ALWAYS, PICTURE, ON_SENTENCE, "Words or their pieces", [shift_ctrl(Key::K)],
        |window| window.push(SettingsCommand::SetPieces(!window.app.view.settings().pieces));
    LargerCells: NOT_TYPING, PICTURE, ON_SENTENCE, "Larger cells, or more weight in a marked one",
        [plain(Key::Plus), plain(Key::Equals)],
        |window| weigh_or_scale(window, WEIGHT_STEP, CELL_STEP);
    SmallerCells: NOT_TYPING, PICTURE, ON_SENTENCE, "Smaller cells, or less weight", [plain(Key::Minus)],
        |window| weigh_or_scale(window, -WEIGHT_STEP, 1.0 / CELL_STEP);
    WholeMatrix: NOT_TYPING, PICTURE, ON_SENTENCE, "All cells in view", [plain(Key::Num0)], |window| {
        let is_whole = window.layout(local::CELL, 0.0) < 0.0;
        window.keep(local::CELL, if is_whole { 0.0 } else { -1.0 });
    };
    NextPanel: ALWAYS, WINDOW, ON_SENTENCE, "Next panel", [plain(Key::F6)], |window| window.local.shared.cycle(1);
    PreviousPanel: ALWAYS, WINDOW, ON_SENTENCE, "Previous panel", [shift(Key::F6)], |window| window.local.shared.cycle(-1);
    ToggleSentences: ALWAYS, WINDOW, ON_SENTENCE, "Show or hide the sentences", [ctrl(Key::B)],
        |window| match window.local.of::<SentenceMemory>().list {
            ListPlace::Beside => toggle(window, local::SENTENCES_OPEN, 1.0),
            ListPlace::Folded => window.local.of::<SentenceMemory>().list = ListPlace::Over,
            ListPlace::Over => window.local.of::<SentenceMemory>().list = ListPlace::Folded,
        };
    ToggleInspector: ALWAYS, WINDOW, ON_SENTENCE, "Show or hide the inspector", [ctrl(Key::I)],
        |window| toggle(window, local::INSPECTOR_OPEN, 1.0);
    FullScreen: ALWAYS, WINDOW, EVERYWHERE, "Full screen", [plain(Key::F11)], |window| window.local.full_screen = Some(());
    NextTheme: ALWAYS, WINDOW, EVERYWHERE, "Light, dark or as the system", [ctrl(Key::T)],
        |window| window.push(SettingsCommand::SetTheme(match window.app.view.settings().theme {
            Theme::System => Theme::Light,
            Theme::Light => Theme::Dark,
            Theme::Dark => Theme::System,
        }));
    ZoomIn: ALWAYS, WINDOW, EVERYWHERE, "Everything larger", [ctrl(Key::Plus), ctrl(Key::Equals)],
        |window| window.push(SettingsCommand::SetZoom(window.app.view.settings().zoom + ZOOM_STEP));
    ZoomOut: ALWAYS, WINDOW, EVERYWHERE, "Everything smaller", [ctrl(Key::Minus)],
        |window| window.push(SettingsCommand::SetZoom(window.app.view.settings().zoom - ZOOM_STEP));
    ZoomReset: ALWAYS, WINDOW, EVERYWHERE, "Usual size", [ctrl(Key::Num0)], |window| window.push(SettingsCommand::SetZoom(1.0));
    Help: NOT_TYPING, WINDOW, EVERYWHERE, "Shortcuts and explanations", [plain(Key::Questionmark), shift(Key::Slash)],
        |window| {
            let other = if window.local.shared.sheet == Sheet::Help { Sheet::None } else { Sheet::Help };
            sheet(window, other);
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

fn page_keys(page: Page) -> &'static [KeyboardShortcut] {
    PAGE_KEYS.get(usize::from(page.info().digit).wrapping_sub(1)).map_or(&[], |keys| keys)
}

/// Every act with its keys, in the order of the sheet; the pages stand before the rest of the window.
pub fn bindings() -> &'static [&'static Binding] {
    static PAGE_ROWS: LazyLock<Vec<Binding>> = LazyLock::new(|| {
        let row = |entry: &'static PageEntry| Binding {
            act: Act::ShowPage(entry.page),
            group: WINDOW,
            name: entry.page.info().title,
            keys: page_keys(entry.page),
            while_typing: true,
            pages: EVERYWHERE,
            does: |_| {},
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

    /// Its keys; the first is shown.
    pub fn keys(self) -> &'static [KeyboardShortcut] {
        match self {
            Self::ShowPage(page) => page_keys(page),
            _ => self.row().keys,
        }
    }

    /// Does it.
    pub fn perform(self, window: &mut Window<'_>) {
        match self {
            Self::ShowPage(page) => window.push(WindowCommand::ShowPage(page)),
            _ => (self.row().does)(window),
        }
    }
}

/// Opens a sheet over the window.
fn sheet(window: &mut Window<'_>, sheet: Sheet) {
    window.local.shared.sheet = sheet;
}

fn edit(window: &mut Window<'_>, again: bool) {
    match window.pages.get(window.app.view.page()).undo(again) {
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
    let opens = window.app.document.scene().given.is_none();
    window.local.shared.focus_id = opens.then(local::given_id);
    window.push(SourceCommand::Give(opens.then(String::new)));
}

/// What a menu asked for by a key is about: the cell of the arrow keys, else the selected word, else a hypothesis.
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

/// Opens a file dialog for what the page opens.
fn open(window: &mut Window<'_>) {
    let asked = window.pages.get(window.app.view.page()).opens();
    window.local.dialogs.ask(asked.clone());
    sheet(window, Sheet::Ask(asked));
}

fn toggle_manual(window: &mut Window<'_>) {
    if window.layout(local::MANUAL_OPEN, 0.0) <= 0.0 {
        open_manual_of(window.pages.get(window.app.view.page()), window.local);
    }
    toggle(window, local::MANUAL_OPEN, 0.0);
}

/// The manual opens at the page about the page that is shown; on page Sentence where it was left.
fn open_manual_of(page: &dyn PageView, local: &mut Local) {
    if let Some(at) = manual::pages().iter().position(|about| Some(about.file) == page.manual()) {
        local.manual.open(at, None);
    }
}

/// Goes to a panel, and so to its page.
fn focus(window: &mut Window<'_>, panel: Panel) {
    window.local.shared.focus = Some(panel);
    if window.app.view.page() != SENTENCE {
        window.push(WindowCommand::ShowPage(SENTENCE));
    }
}

/// Closes what is open, then the errors, which stay until they are dismissed; then selects nothing.
fn escape(window: &mut Window<'_>) {
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
    let errors: Vec<u64> = window.app.view.notices().iter().filter(|notice| notice.is_error).map(|it| it.id).collect();
    if !errors.is_empty() {
        return errors.into_iter().for_each(|id| window.push(WindowCommand::DismissNotice(id)));
    }
    window.pages.get(window.app.view.page()).escape(window);
}

/// More or less weight in the cell that the arrow keys have marked; without one larger or smaller cells.
fn weigh_or_scale(window: &mut Window<'_>, by: f32, scale: f32) {
    if let Some(weighed) = weigh(window, by) {
        return window.push(weighed);
    }
    let side = window.local.of::<SentenceMemory>().cell;
    window.keep(local::CELL, cell(side * scale));
}

fn weigh(window: &Window<'_>, by: f32) -> Option<InterveneCommand> {
    let mark = window.local.seen::<SentenceMemory>()?.key_mark;
    let mark = mark.filter(|_| window.app.view.settings().shown == Shown::Alpha)?;
    let (i, j) = (mark.i?, mark.j?);
    let table = window.app.document.column(mark.column)?.table.as_deref().filter(|table| !table.is_given)?;
    let weight = (table.alpha.as_ref()?.get(i, j)? + by).clamp(0.0, 1.0);
    let renormalise = window.layout(local::RENORMALISE, 1.0) > 0.0;
    Some(InterveneCommand::Weight { column: mark.column, i, j, weight, renormalise, goes_on: false })
}

/// A side of a cell within its limits.
pub fn cell(side: f32) -> f32 {
    side.clamp(theme::CELL_LIMITS.0, theme::CELL_LIMITS.1)
}

/// The palette behind the one that is shown.
fn next_palette(window: &mut Window<'_>) {
    let is_dark = window.local.theme != Some(egui::Theme::Light);
    let at = theme::map_at(window.app.view.settings().palette_on(is_dark));
    let next = theme::COLOUR_MAPS[(at + 1) % theme::COLOUR_MAPS.len()].name;
    window.push(SettingsCommand::SetPalette(next.to_owned()));
}

/// Turns a number of the layout on or off.
fn toggle(window: &mut Window<'_>, key: &str, at_first: f32) {
    window.keep(key, 1.0 - window.layout(key, at_first));
}

/// From the heatmap to the links, from them to the tree of the search, and back.
fn next_picture(window: &mut Window<'_>) {
    let is_on = |key| window.layout(key, 0.0) > 0.0;
    let (links, tree) = match (is_on(local::LINKS), is_on(local::TREE)) {
        (false, false) => (1.0, 0.0),
        (true, false) => (0.0, 1.0),
        (_, true) => (0.0, 0.0),
    };
    window.keep(local::LINKS, links);
    window.keep(local::TREE, tree);
    window.keep(local::INTERLINEAR, 0.0);
}
