//! The acts of keys, menus and buttons as one table: group, name, keys, and where they work.

use egui::{Key, KeyboardShortcut, Modifiers};

use crate::{app::page::Page, widgets::theme};

/// An act with its keys.
#[derive(Debug)]
pub struct Binding {
    pub act: Act,
    pub group: &'static str,
    pub name: &'static str,
    pub keys: &'static [KeyboardShortcut],
    pub while_typing: bool,
    /// Acts that would change something unseen do not work on other pages.
    pub works: WorksOn,
}

/// On which pages an act works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorksOn {
    Everywhere,
    Sentence,
    Source,
    /// On those, and on pages with an undo of their own.
    Edits,
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
pub const WINDOW: &str = id!("Window");

/// The enum of acts and the table of their keys, in the order of the help sheet.
macro_rules! acts {
    ($($act:ident: $while_typing:ident, $group:ident, $works:ident, $name:literal, [$($key:expr),+];)*) => {
        /// An action with a key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Act {
            ShowPage(Page),
            $(#[doc = $name] $act,)*
        }

        pub const ROWS: &[Binding] = &[$(Binding {
            act: Act::$act,
            group: $group,
            name: $name,
            keys: &[$($key),+],
            while_typing: $while_typing,
            works: WorksOn::$works,
        },)*];
    };
}

acts! {
    Open: ALWAYS, FILES, Everywhere, "Open a text file or a model folder", [ctrl(Key::O)];
    AddModel: ALWAYS, FILES, Everywhere, "Add a model", [shift_ctrl(Key::O)];
    NewTraining: ALWAYS, FILES, Everywhere, "New training", [shift_ctrl(Key::N)];
    CopyLink: ALWAYS, FILES, Everywhere, "Copy a link to what is shown", [shift_ctrl(Key::L)];
    SaveFigure: ALWAYS, FILES, Sentence, "Save a figure", [ctrl(Key::S)];
    FocusSource: ALWAYS, TEXTS, Everywhere, "Go to the source text", [ctrl(Key::L)];
    FocusSearch: ALWAYS, TEXTS, Everywhere, "Search in the list", [ctrl(Key::F)];
    Undo: ALWAYS, TEXTS, Edits, "Undo", [ctrl(Key::Z)];
    UndoSentence: ALWAYS, TEXTS, Source, "Undo to the sentence before", [ctrl_alt(Key::Z)];
    Redo: ALWAYS, TEXTS, Edits, "Redo", [shift_ctrl(Key::Z), ctrl(Key::Y)];
    NextSentence: ALWAYS, TEXTS, Sentence, "Next sentence", [ctrl(Key::ArrowDown), plain(Key::PageDown)];
    PreviousSentence: ALWAYS, TEXTS, Sentence, "Previous sentence", [ctrl(Key::ArrowUp), plain(Key::PageUp)];
    FirstSentence: NOT_TYPING, TEXTS, Sentence, "First sentence", [ctrl(Key::Home)];
    LastSentence: NOT_TYPING, TEXTS, Sentence, "Last sentence", [ctrl(Key::End)];
    Stop: ALWAYS, TEXTS, Source, "Stop translating", [ctrl(Key::Period)];
    ToggleGiven: ALWAYS, TEXTS, Sentence, "Score a translation of your own", [ctrl(Key::G)];
    Interlinear: ALWAYS, TEXTS, Sentence, "Interlinear text", [shift_ctrl(Key::J)];
    Table: ALWAYS, TEXTS, Source, "Alignment as a table", [plain(Key::F2)];
    NextWord: ALWAYS, WORDS, Sentence, "Next target word", [alt(Key::ArrowDown)];
    PreviousWord: ALWAYS, WORDS, Sentence, "Previous target word", [alt(Key::ArrowUp)];
    NextColumn: ALWAYS, WORDS, Sentence, "Column to the right", [alt(Key::ArrowRight)];
    PreviousColumn: ALWAYS, WORDS, Sentence, "Column to the left", [alt(Key::ArrowLeft)];
    NextHypothesis: NOT_TYPING, WORDS, Sentence, "Next hypothesis", [plain(Key::CloseBracket)];
    PreviousHypothesis: NOT_TYPING, WORDS, Sentence, "Previous hypothesis", [plain(Key::OpenBracket)];
    Offers: ALWAYS, WORDS, Sentence, "What can be done with a word or cell", [shift(Key::F10), plain(Key::Menu)];
    WidenBeam: ALWAYS, WORDS, Sentence, "Wider beam", [ctrl(Key::CloseBracket)];
    NarrowBeam: ALWAYS, WORDS, Sentence, "Narrower beam", [ctrl(Key::OpenBracket)];
    NextPalette: ALWAYS, PICTURE, Sentence, "Next palette", [ctrl(Key::P)];
    ToggleEnergies: ALWAYS, PICTURE, Sentence, "Alpha or energies", [ctrl(Key::E)];
    NextPicture: ALWAYS, PICTURE, Sentence, "Heatmap, links or tree", [ctrl(Key::J)];
    Solo: ALWAYS, PICTURE, Sentence, "One column alone, or all", [ctrl(Key::D)];
    Present: ALWAYS, PICTURE, Source, "Presentation: one picture, large", [plain(Key::F5)];
    ToggleLinks: ALWAYS, PICTURE, Sentence, "Links of the aligner", [ctrl(Key::K)];
    TogglePieces: ALWAYS, PICTURE, Sentence, "Words or their pieces", [shift_ctrl(Key::K)];
    LargerCells: NOT_TYPING, PICTURE, Sentence, "Larger cells, or more weight in a marked one", [plain(Key::Plus), plain(Key::Equals)];
    SmallerCells: NOT_TYPING, PICTURE, Sentence, "Smaller cells, or less weight", [plain(Key::Minus)];
    WholeMatrix: NOT_TYPING, PICTURE, Sentence, "All cells in view", [plain(Key::Num0)];
    NextPanel: ALWAYS, WINDOW, Sentence, "Next panel", [plain(Key::F6)];
    PreviousPanel: ALWAYS, WINDOW, Sentence, "Previous panel", [shift(Key::F6)];
    ToggleSentences: ALWAYS, WINDOW, Sentence, "Show or hide the sentences", [ctrl(Key::B)];
    ToggleInspector: ALWAYS, WINDOW, Sentence, "Show or hide the inspector", [ctrl(Key::I)];
    Class: ALWAYS, WINDOW, Source, "Class mode", [shift(Key::F5)];
    FullScreen: ALWAYS, WINDOW, Everywhere, "Full screen", [plain(Key::F11)];
    NextTheme: ALWAYS, WINDOW, Everywhere, "Light, dark or as the system", [ctrl(Key::T)];
    ZoomIn: ALWAYS, WINDOW, Everywhere, "Everything larger", [ctrl(Key::Plus), ctrl(Key::Equals)];
    ZoomOut: ALWAYS, WINDOW, Everywhere, "Everything smaller", [ctrl(Key::Minus)];
    ZoomReset: ALWAYS, WINDOW, Everywhere, "Usual size", [ctrl(Key::Num0)];
    Help: NOT_TYPING, WINDOW, Everywhere, "Shortcuts and explanations", [plain(Key::Questionmark), shift(Key::Slash)];
    Manual: ALWAYS, WINDOW, Everywhere, "Show or hide the manual", [plain(Key::F1)];
    Escape: NOT_TYPING, WINDOW, Everywhere, "Close what is open, then select nothing", [plain(Key::Escape)];
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

impl Act {
    pub fn keys(self) -> &'static [KeyboardShortcut] {
        match self {
            Self::ShowPage(page) => PAGE_KEYS.get(usize::from(page.0.digit).wrapping_sub(1)).map_or(&[], |keys| keys),
            _ => ROWS.iter().find(|row| row.act == self).map_or(&[], |row| row.keys),
        }
    }

    pub fn key_text(self, ctx: &egui::Context) -> String {
        self.keys().first().map(|key| key_text(ctx, key)).unwrap_or_default()
    }
}

/// A key in words such as `Ctrl+O` or `]`.
pub fn key_text(ctx: &egui::Context, key: &KeyboardShortcut) -> String {
    let symbol = match key.logical_key {
        Key::CloseBracket => "]",
        Key::OpenBracket => "[",
        Key::Plus => "+",
        Key::Minus => "-",
        Key::Equals => "=",
        Key::Period => ".",
        Key::Questionmark => "?",
        Key::Slash => "/",
        _ => return ctx.format_shortcut(key),
    };
    // The name at the end stands where the symbol belongs.
    let text = ctx.format_shortcut(key);
    let name = ctx.format_shortcut(&KeyboardShortcut::new(Modifiers::NONE, key.logical_key));
    text.strip_suffix(&name).map_or_else(|| text.clone(), |modifiers| format!("{modifiers}{symbol}"))
}

pub fn cell(side: f32) -> f32 {
    side.clamp(theme::CELL_LIMITS.0, theme::CELL_LIMITS.1)
}
