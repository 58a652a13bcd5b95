//! State of the window between two frames that no other room needs.

use std::any::{Any, TypeId};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use crate::app::lights::{HighlightPart, Lights};
use crate::app::{command::WindowCommand, layout::Layout, open_with::Installed, state::AppState, view::Hover};
use crate::jobs::live::protocol::ColumnId;
use crate::pages::shell::clicked::{ContextMenu, MenuTarget};
use crate::pages::shell::dialogs::{AskedPath, Dialogs, Question, TEXT};
use crate::pages::{command::Command, shell::act::Act};
use crate::widgets::{heatmap::Texture, heatmap::layout::Zoom, words};
use engine::models::choice::ModelSpec;

/// Panels between which F6 moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panel {
    Sentences,
    Source,
    Picture,
    Beam,
    Inspector,
}

pub const PANELS: [Panel; 5] = [Panel::Sentences, Panel::Source, Panel::Picture, Panel::Beam, Panel::Inspector];

/// The sheet that is open over the window.
#[derive(Clone, Default, PartialEq)]
pub enum Sheet {
    #[default]
    None,
    Help,
    Training,
    Figure {
        column: ColumnId,
        /// The name of its kind; `None`: as on the screen, or bars or the beam where they were chosen last.
        kind: Option<&'static str>,
    },
    Head(ColumnId),
    Words(ColumnId, VariantWords),
    Beside(ColumnId),
    /// The alignment of the selected column as a table.
    Alignment,
    Ask(AskedPath),
    /// A text that the system lets nobody put on the clipboard.
    Copy(String),
}

/// Which words of a variant are typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariantWords {
    Replace(usize),
    Insert(usize),
    Whole,
}

/// Words of a text that were selected with the mouse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    pub flow: egui::Id,
    pub words: (usize, usize),
    /// The selection is lost if the text changes.
    pub whole: String,
    pub part: String,
}

/// The parts that a lesson highlights and has scrolled into view.
#[derive(Debug, Default)]
pub struct Lighted {
    of: Lights,
    seen: HashSet<(HighlightPart, String)>,
}

/// Memory that several views share.
#[derive(Default)]
pub struct SharedMemory {
    pub textures: HashMap<ColumnId, Texture>,
    pub hover: Option<Hover>,
    pub focus: Option<Panel>,
    pub focus_id: Option<egui::Id>,
    pub last_panel: Option<Panel>,
    /// The direction of F6 until a visible panel takes the focus; 0 otherwise.
    pub cycling: isize,
    pub sheet: Sheet,
    /// Whether a sheet was open in the last frame, and what had the keyboard before.
    pub before_sheet: (bool, Option<egui::Id>),
    pub offered: Option<ContextMenu>,
    /// The target of a menu that a key opened; the view that paints the target opens it.
    pub asked: Option<MenuTarget>,
    pub picked: Option<Picked>,
    pub copied: Option<String>,
    pub copies_link: bool,
    pub path: String,
    /// The existing file that the sheet asks to replace.
    pub replaces: Option<PathBuf>,
}

/// What the window remembers until it is closed.
#[derive(Default)]
pub struct Local {
    pub shared: SharedMemory,
    pages: HashMap<TypeId, Box<dyn Any>>,
    pub training_path: String,
    pub lighted: Lighted,
    /// Highlighted parts with their visible rectangle in this frame, and with the unclipped one.
    pub lit: Vec<(HighlightPart, egui::Rect, egui::Rect)>,
    /// The lesson that was painted last, its page, and whether it waited.
    pub seen_lesson: Option<(String, usize, bool)>,
    pub presents: bool,
    /// The QR code of the link: for this state of the session, its side and its dark squares.
    pub code: (u64, usize, Vec<bool>),
    pub full_screen: Option<()>,
    /// The number of the picture that was last put into the clipboard.
    pub seen_painted: Option<u64>,
    /// When each notice was first seen, in seconds of the window's clock.
    pub notices: HashMap<u64, f64>,
    pub members: Vec<ModelSpec>,
    pub bundled: Vec<Installed>,
    pub home: Option<PathBuf>,
    pub theme: Option<egui::Theme>,
    pub dialogs: Dialogs,
    pub acts: Vec<Act>,
}

impl Local {
    /// Memory of a page or of a part, one value for each type.
    ///
    /// # Panics
    /// Never: each value is kept under its own type.
    pub fn of<M: Default + 'static>(&mut self) -> &mut M {
        let memory = self.pages.entry(TypeId::of::<M>()).or_insert_with(|| Box::new(M::default()));
        memory.downcast_mut().expect("each is kept under its own type")
    }

    /// As [`Self::of`], without creating the value.
    pub fn seen<M: 'static>(&self) -> Option<&M> {
        self.pages.get(&TypeId::of::<M>())?.downcast_ref()
    }
}

impl SharedMemory {
    /// True once for the panel that is to take the keyboard.
    pub fn takes_focus(&mut self, panel: Panel) -> bool {
        let takes = self.focus == Some(panel);
        if takes {
            (self.focus, self.cycling) = (None, 0);
            self.last_panel = Some(panel);
        }
        takes
    }

    pub fn cycle(&mut self, by: isize) {
        let count = PANELS.len() as isize;
        let at = self.last_panel.and_then(|last| PANELS.iter().position(|panel| *panel == last));
        let next = at.map_or(if by > 0 { 0 } else { count - 1 }, |at| (at as isize + by).rem_euclid(count));
        self.focus = Some(PANELS[next as usize]);
        (self.last_panel, self.cycling) = (self.focus, by);
    }

    /// Moves on to the next panel if the requested one is not visible; returns whether it did.
    pub fn cycle_on(&mut self) -> bool {
        let goes_on = self.focus.is_some() && self.cycling != 0;
        if goes_on {
            self.cycle(self.cycling);
        }
        goes_on
    }
}

/// How a page is painted and handles keys.
pub trait PageView {
    /// Paints the panels at the edges of the window, from the outside inwards.
    fn edges_ui(&self, _ui: &mut egui::Ui, _window: &mut Window<'_>) {}

    fn middle_ui(&self, ui: &mut egui::Ui, window: &mut Window<'_>);

    /// Paints what is over everything, whichever page is shown.
    fn over_ui(&self, _ui: &mut egui::Ui, _window: &mut Window<'_>) {}

    /// The file of the manual about it; `None` leaves the manual where it is.
    fn manual(&self) -> Option<&'static str> {
        None
    }

    /// The question of the key that opens files.
    fn opens(&self) -> AskedPath {
        TEXT.then(WindowCommand::Open)
    }

    /// The command of undo, or of redo with `again`, for a page with its own undo.
    fn undo(&self, _again: bool) -> Option<Command> {
        None
    }

    /// Escape, if nothing is open over the page: closes what is open on it, else clears the selection.
    fn escape(&self, _window: &mut Window<'_>) {}

    fn presents(&self) -> bool {
        false
    }

    fn present_ui(&self, _ui: &mut egui::Ui, _window: &mut Window<'_>) {}
}

/// What a view reads and writes: the state, commands to push, and the window's own memory.
pub struct Window<'a> {
    pub app: &'a AppState,
    pub lights: &'a Lights,
    pub commands: &'a mut Vec<Command>,
    /// Kept between starts.
    pub layout: &'a mut Layout,
    pub local: &'a mut Local,
}

impl Window<'_> {
    /// Pushes a command that is applied after painting.
    pub fn push(&mut self, command: impl Into<Command>) {
        self.commands.push(command.into());
    }

    pub fn push_if(&mut self, is_wanted: bool, command: impl Into<Command>) {
        if is_wanted {
            self.push(command);
        }
    }

    pub fn push_on(&mut self, clicked: &egui::Response, command: impl Into<Command>) {
        self.push_if(clicked.clicked(), command);
    }

    pub fn ask_on<C: Into<Command>>(
        &mut self, clicked: &egui::Response, question: Question, answered: impl Fn(PathBuf) -> C + 'static,
    ) {
        if clicked.clicked() {
            self.ask(question.then(answered));
        }
    }

    pub fn ask(&mut self, asked: AskedPath) {
        self.local.shared.sheet = Sheet::Ask(asked);
    }

    pub fn pick(&mut self, ui: &egui::Ui, flow: egui::Id, whole: &str, words: &[&str], range: (usize, usize)) {
        let part = words::part(whole, words, range);
        self.local.shared.picked = Some(Picked { flow, words: range, whole: whole.to_owned(), part });
        // the text field would copy its own
        ui.memory_mut(|memory| memory.focused().into_iter().for_each(|focus| memory.surrender_focus(focus)));
    }

    pub fn picked(&self, flow: egui::Id, whole: &str) -> Option<(usize, usize)> {
        let picked = self.local.shared.picked.as_ref()?;
        (picked.flow == flow && picked.whole == whole).then_some(picked.words)
    }

    /// Opens the menu of `clicked` if it was right-clicked or a key asked for its menu.
    pub fn offer(&mut self, response: &egui::Response, clicked: MenuTarget) {
        if response.secondary_clicked() {
            let at = response.interact_pointer_pos().unwrap_or(response.rect.left_bottom());
            self.offer_at(clicked, at);
        } else if self.local.shared.asked == Some(clicked) {
            self.offer_at(clicked, response.rect.left_bottom());
        }
    }

    pub fn offer_at(&mut self, clicked: MenuTarget, at: egui::Pos2) {
        self.local.shared.asked = None;
        self.local.shared.offered = Some(ContextMenu { clicked, at, focus: None, is_open: false });
    }

    /// Registers the place of a part that a lesson may highlight, and scrolls to it when it is highlighted anew.
    pub fn part(&mut self, ui: &egui::Ui, lit: HighlightPart, of: &str, rect: egui::Rect) {
        if !self.lights.lights(lit, of) {
            return;
        }
        if self.is_lit_anew(lit, of) && !ui.clip_rect().contains_rect(rect) {
            ui.scroll_to_rect(rect, None);
        }
        self.frame_part(ui, lit, of, rect);
    }

    /// As [`Self::part`] for a part that scrolls into view otherwise: columns are shown in full.
    pub fn frame_part(&mut self, ui: &egui::Ui, lit: HighlightPart, of: &str, rect: egui::Rect) {
        if !self.lights.lights(lit, of) {
            return;
        }
        self.local.lit.push((lit, rect.intersect(ui.clip_rect()), rect));
    }

    /// Whether this is the first call for a highlighted part since the page of the lesson was opened.
    pub fn is_lit_anew(&mut self, lit: HighlightPart, of: &str) -> bool {
        if !self.lights.is_ready {
            return false;
        }
        let Lighted { of: now, seen } = &mut self.local.lighted;
        if now != self.lights {
            now.clone_from(self.lights);
            seen.clear();
        }
        seen.insert((lit, of.to_owned()))
    }

    /// Whether little more than sentence and pictures is shown: in class mode, and in its large form, the presentation.
    pub fn is_plain(&self) -> bool {
        self.layout.class || self.local.presents
    }

    /// Whether the lists of the beam are open: by the user, or because a lesson speaks of them.
    pub fn shows_beam(&self) -> bool {
        self.layout.beam_open || self.lights.parts.iter().any(|light| light.lit == HighlightPart::Beam)
    }

    pub fn zoom(&self) -> Zoom {
        match self.layout.cell {
            _ if self.layout.class => Zoom::Whole,
            side if side > 0.0 => Zoom::Fixed(side),
            side if side < 0.0 => Zoom::Whole,
            _ => Zoom::Auto,
        }
    }
}

/// Keeps the size of a panel between starts, once the mouse button is released.
pub fn keep_side(ui: &egui::Ui, kept: &mut Option<f32>, before: f32, now: f32) {
    if (now - before).abs() > 1.0 && !ui.input(|input| input.pointer.any_down()) {
        *kept = Some(now);
    }
}

/// Where the window keeps the id of the focused cell of interlinear text; undo there is that of the sentence.
pub fn cell_id() -> egui::Id {
    egui::Id::unique("interlinear_cell")
}

pub fn given_id() -> egui::Id {
    egui::Id::unique("given_translation")
}
