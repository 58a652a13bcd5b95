//! Floor 10: every act with a key. One table feeds the menus, the sheet of shortcuts and the keyboard.

use std::sync::LazyLock;

use egui::{Key, KeyboardShortcut, Modifiers};

use crate::app::page::PageEntry;
use crate::app::page::{PAGES, Page};

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Ask for a text file or a model folder.
    Open,
    /// Ask for a model folder.
    AddModel,
    /// The sheet of a new training.
    NewTraining,
    /// The sheet of figures.
    SaveFigure,
    /// To the text field of the source.
    FocusSource,
    /// To the search in the list of sentences.
    FocusSearch,
    /// To a page of the window.
    ShowPage(Page),
    /// To the next panel.
    NextPanel,
    /// To the panel before.
    PreviousPanel,
    /// Take back the last edit.
    Undo,
    /// Do it again.
    Redo,
    /// Stop translating.
    Stop,
    /// Next sentence of the list.
    NextSentence,
    /// Sentence before.
    PreviousSentence,
    /// First sentence of the list.
    FirstSentence,
    /// Last sentence of the list.
    LastSentence,
    /// Next target word.
    NextWord,
    /// Target word before.
    PreviousWord,
    /// Column to the right.
    NextColumn,
    /// Column to the left.
    PreviousColumn,
    /// Next hypothesis of the beam.
    NextHypothesis,
    /// Hypothesis before.
    PreviousHypothesis,
    /// Wider beam.
    WidenBeam,
    /// Narrower beam.
    NarrowBeam,
    /// Next colour map.
    NextPalette,
    /// alpha or energies.
    ToggleEnergies,
    /// Show or hide the links of the statistical aligner.
    ToggleLinks,
    /// Words or their pieces.
    TogglePieces,
    /// Larger cells.
    LargerCells,
    /// Smaller cells.
    SmallerCells,
    /// All cells in view.
    WholeMatrix,
    /// Heatmaps, links, or the search as a tree.
    NextPicture,
    /// One column alone, or all.
    Solo,
    /// One picture in large type.
    Present,
    /// The window fills the screen.
    FullScreen,
    /// Show or hide the sentences.
    ToggleSentences,
    /// Show or hide the inspector.
    ToggleInspector,
    /// Light, dark, as the system.
    NextTheme,
    /// Everything larger.
    ZoomIn,
    /// Everything smaller.
    ZoomOut,
    /// Everything at its usual size.
    ZoomReset,
    /// Show or hide the manual.
    Manual,
    /// Show or hide the sheet of shortcuts.
    Help,
    /// Show the field for a translation of one's own, or take it away.
    ToggleGiven,
    /// The menu of what is marked.
    Offers,
    /// Close what is open, then select nothing.
    Escape,
}

/// One line of the table.
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
}

impl Binding {
    /// On other pages than the sentence's, what changes the sentence or its picture unseen does not answer.
    pub fn works_on(&self, page: Page) -> bool {
        let belongs_to_sentence = [TEXT, WORDS, PICTURE].contains(&self.group)
            || matches!(
                self.act,
                Act::SaveFigure | Act::NextPanel | Act::PreviousPanel | Act::ToggleSentences | Act::ToggleInspector
            );
        // These two go to a panel, and so to its page.
        let goes_there = matches!(self.act, Act::FocusSource | Act::FocusSearch);
        // The page Steps shows the sentence, too.
        let is_shared = page == Page::Steps && matches!(self.act, Act::Present | Act::Undo | Act::Redo | Act::Stop);
        // The page Corpus has an undo of its own.
        let is_judged = page == Page::Workbench && matches!(self.act, Act::Undo | Act::Redo);
        page == Page::Sentence || !belongs_to_sentence || goes_there || is_shared || is_judged
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

const fn always(act: Act, group: &'static str, name: &'static str, keys: &'static [KeyboardShortcut]) -> Binding {
    Binding { act, group, name, keys, while_typing: true }
}

const fn not_typing(act: Act, group: &'static str, name: &'static str, keys: &'static [KeyboardShortcut]) -> Binding {
    Binding { act, group, name, keys, while_typing: false }
}

const FILES: &str = "Files and models";
const TEXT: &str = "Text and sentences";
const WORDS: &str = "Words and beam";
const PICTURE: &str = "Picture";
const WINDOW: &str = "Window";

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

/// Every act with its keys, in the order of the sheet.
pub fn bindings() -> impl Iterator<Item = &'static Binding> {
    let before = SENTENCE_BINDINGS.iter();
    before.chain(PAGE_BINDINGS.iter()).chain(WINDOW_BINDINGS)
}

/// The pages of the table, each with its digit.
static PAGE_BINDINGS: LazyLock<Vec<Binding>> = LazyLock::new(|| {
    let keys = |entry: &PageEntry| PAGE_KEYS.get(usize::from(entry.digit).wrapping_sub(1)).map_or(&[][..], |keys| keys);
    PAGES.iter().map(|entry| always(Act::ShowPage(entry.page), WINDOW, entry.title, keys(entry))).collect()
});

/// What is done with files, the sentence and its picture.
const SENTENCE_BINDINGS: &[Binding] = &[
    always(Act::Open, FILES, "Open a text file or a model folder", &[ctrl(Key::O)]),
    always(Act::AddModel, FILES, "Add a model", &[shift_ctrl(Key::O)]),
    always(Act::NewTraining, FILES, "New training", &[shift_ctrl(Key::N)]),
    always(Act::SaveFigure, FILES, "Save a figure", &[ctrl(Key::S)]),
    always(Act::FocusSource, TEXT, "Go to the source text", &[ctrl(Key::L)]),
    always(Act::FocusSearch, TEXT, "Search in the list", &[ctrl(Key::F)]),
    always(Act::Undo, TEXT, "Undo", &[ctrl(Key::Z)]),
    always(Act::Redo, TEXT, "Redo", &[shift_ctrl(Key::Z), ctrl(Key::Y)]),
    always(Act::NextSentence, TEXT, "Next sentence", &[ctrl(Key::ArrowDown), plain(Key::PageDown)]),
    always(Act::PreviousSentence, TEXT, "Previous sentence", &[ctrl(Key::ArrowUp), plain(Key::PageUp)]),
    not_typing(Act::FirstSentence, TEXT, "First sentence", &[ctrl(Key::Home)]),
    not_typing(Act::LastSentence, TEXT, "Last sentence", &[ctrl(Key::End)]),
    always(Act::Stop, TEXT, "Stop translating", &[ctrl(Key::Period)]),
    always(Act::ToggleGiven, TEXT, "Score a translation of your own", &[ctrl(Key::G)]),
    always(Act::NextWord, WORDS, "Next target word", &[alt(Key::ArrowDown)]),
    always(Act::PreviousWord, WORDS, "Previous target word", &[alt(Key::ArrowUp)]),
    always(Act::NextColumn, WORDS, "Column to the right", &[alt(Key::ArrowRight)]),
    always(Act::PreviousColumn, WORDS, "Column to the left", &[alt(Key::ArrowLeft)]),
    not_typing(Act::NextHypothesis, WORDS, "Next hypothesis", &[plain(Key::CloseBracket)]),
    not_typing(Act::PreviousHypothesis, WORDS, "Previous hypothesis", &[plain(Key::OpenBracket)]),
    always(Act::Offers, WORDS, "What can be done with a word or cell", &[shift(Key::F10), plain(Key::Menu)]),
    always(Act::WidenBeam, WORDS, "Wider beam", &[ctrl(Key::CloseBracket)]),
    always(Act::NarrowBeam, WORDS, "Narrower beam", &[ctrl(Key::OpenBracket)]),
    always(Act::NextPalette, PICTURE, "Next palette", &[ctrl(Key::P)]),
    always(Act::ToggleEnergies, PICTURE, "Alpha or energies", &[ctrl(Key::E)]),
    always(Act::NextPicture, PICTURE, "Heatmap, links or tree", &[ctrl(Key::J)]),
    always(Act::Solo, PICTURE, "One column alone, or all", &[ctrl(Key::D)]),
    always(Act::Present, PICTURE, "Presentation: one picture, large", &[plain(Key::F5)]),
    always(Act::ToggleLinks, PICTURE, "Links of the aligner", &[ctrl(Key::K)]),
    always(Act::TogglePieces, PICTURE, "Words or their pieces", &[shift_ctrl(Key::K)]),
    not_typing(
        Act::LargerCells,
        PICTURE,
        "Larger cells, or more weight in a marked one",
        &[plain(Key::Plus), plain(Key::Equals)],
    ),
    not_typing(Act::SmallerCells, PICTURE, "Smaller cells, or less weight", &[plain(Key::Minus)]),
    not_typing(Act::WholeMatrix, PICTURE, "All cells in view", &[plain(Key::Num0)]),
];

/// What is done with the window.
const WINDOW_BINDINGS: &[Binding] = &[
    always(Act::NextPanel, WINDOW, "Next panel", &[plain(Key::F6)]),
    always(Act::PreviousPanel, WINDOW, "Previous panel", &[shift(Key::F6)]),
    always(Act::ToggleSentences, WINDOW, "Show or hide the sentences", &[ctrl(Key::B)]),
    always(Act::ToggleInspector, WINDOW, "Show or hide the inspector", &[ctrl(Key::I)]),
    always(Act::FullScreen, WINDOW, "Full screen", &[plain(Key::F11)]),
    always(Act::NextTheme, WINDOW, "Light, dark or as the system", &[ctrl(Key::T)]),
    always(Act::ZoomIn, WINDOW, "Everything larger", &[ctrl(Key::Plus), ctrl(Key::Equals)]),
    always(Act::ZoomOut, WINDOW, "Everything smaller", &[ctrl(Key::Minus)]),
    always(Act::ZoomReset, WINDOW, "Usual size", &[ctrl(Key::Num0)]),
    not_typing(Act::Help, WINDOW, "Shortcuts and explanations", &[plain(Key::Questionmark), shift(Key::Slash)]),
    always(Act::Manual, WINDOW, "Show or hide the manual", &[plain(Key::F1)]),
    not_typing(Act::Escape, WINDOW, "Close what is open, then select nothing", &[plain(Key::Escape)]),
];

/// The text field of the translation that the user gives, where undo is the scene's as well.
pub fn given_id() -> egui::Id {
    egui::Id::unique("given_translation")
}

/// The acts whose keys were pressed since the last frame; their keys are consumed, so no widget sees them.
/// Undo belongs to the text field `source`; other fields keep their own.
pub fn pressed(ctx: &egui::Context, source: egui::Id, page: Page) -> Vec<Act> {
    let typing = ctx.text_edit_focused();
    let focused = ctx.memory(egui::Memory::focused);
    let elsewhere = typing && focused != Some(source) && focused != Some(given_id());
    // An open menu closes with Escape by itself.
    let in_menu = egui::Popup::is_any_open(ctx);
    let mut acts = Vec::new();
    ctx.input_mut(|input| {
        // egui's matching ignores an extra shift, so Ctrl+Shift+O has to be looked for before Ctrl+O.
        for shifted in [true, false] {
            for binding in bindings() {
                let is_fields_own = elsewhere && matches!(binding.act, Act::Undo | Act::Redo);
                let is_menus_own = in_menu && binding.act == Act::Escape;
                if is_fields_own || is_menus_own || !binding.works_on(page) || typing && !binding.while_typing {
                    continue;
                }
                for key in binding.keys.iter().filter(|key| key.modifiers.shift == shifted) {
                    let presses = input.count_and_consume_key(key.modifiers, key.logical_key);
                    acts.extend(std::iter::repeat_n(binding.act, presses));
                }
            }
        }
    });
    acts
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
    let name = ctx.format_shortcut(&plain(key.logical_key));
    text.strip_suffix(&name).map_or_else(|| text.clone(), |modifiers| format!("{modifiers}{symbol}"))
}

/// The first key of an act in words; empty without one.
pub fn text(ctx: &egui::Context, act: Act) -> String {
    let binding = bindings().find(|binding| binding.act == act);
    binding.and_then(|binding| binding.keys.first()).map(|key| key_text(ctx, key)).unwrap_or_default()
}
