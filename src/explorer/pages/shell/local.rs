//! State of the window between two frames that no other room needs.

use std::any::{Any, TypeId};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use crate::app::command::WindowCommand;
use crate::app::layout::Layout;
use crate::app::lights::{HighlightPart, Lights};
use crate::app::open_with::Installed;
use crate::app::state::AppState;
use crate::app::view::Hover;
use crate::jobs::live::protocol::ColumnId;
use crate::pages::command::Command;
use crate::pages::shell::act::Act;
use crate::pages::shell::clicked::{ContextMenu, MenuTarget};
use crate::pages::shell::dialogs::{AskedPath, Dialogs, TEXT};
use crate::widgets::heatmap::Texture;
use crate::widgets::heatmap::layout::Zoom;
use crate::widgets::words;
use engine::models::choice::ModelSpec;

/// Where F6 goes, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panel {
    /// The list of sentences.
    Sentences,
    Source,
    /// The heatmap of the selected column.
    Picture,
    /// The beam of the selected column.
    Beam,
    Inspector,
}

/// The panels in the order of F6.
pub const PANELS: [Panel; 5] = [Panel::Sentences, Panel::Source, Panel::Picture, Panel::Beam, Panel::Inspector];

/// What is open over the window.
#[derive(Clone, Default, PartialEq)]
pub enum Sheet {
    #[default]
    None,
    Help,
    Training,
    /// A figure of a column.
    Figure {
        column: ColumnId,
        /// The name of its kind; `None`: as on the screen, or bars or the beam where they were chosen last.
        kind: Option<&'static str>,
    },
    /// An alignment head that is to be learned for the model of this column.
    Head(ColumnId),
    /// Words of a variant of this column.
    Words(ColumnId, VariantWords),
    /// Settings of a variant of this column.
    Beside(ColumnId),
    /// A path to type, or to choose in the system's dialog.
    Ask(AskedPath),
}

/// Which words of a variant are typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariantWords {
    /// Those in place of source word j.
    Replace(usize),
    Insert(usize),
    /// All of the text.
    Whole,
}

/// Words of a text that the mouse was drawn over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    /// The words, as painted.
    pub flow: egui::Id,
    /// The first and the last of them.
    pub words: (usize, usize),
    /// The whole text; of another nothing is selected.
    pub whole: String,
    /// What is selected of it.
    pub part: String,
}

/// What a page of a lesson lights, and the parts that were brought into view for it.
#[derive(Debug, Default)]
pub struct Lighted {
    of: Lights,
    /// Parts, each with what it is of.
    seen: HashSet<(HighlightPart, String)>,
}

/// What several views remember together.
#[derive(Default)]
pub struct SharedMemory {
    /// Heatmaps as textures, by column.
    pub textures: HashMap<ColumnId, Texture>,
    /// What the mouse is over, found out while painting this frame.
    pub hover: Option<Hover>,
    /// The panel that wants the keyboard.
    pub focus: Option<Panel>,
    /// The widget that wants the keyboard.
    pub focus_id: Option<egui::Id>,
    /// The panel that had it last.
    pub last_panel: Option<Panel>,
    /// Which way F6 is going, until a panel that is there takes the keyboard; 0 when it is not.
    pub cycling: isize,
    /// What is open over the window.
    pub sheet: Sheet,
    /// The open menu of what can be done with a word, a cell or a hypothesis.
    pub offered: Option<ContextMenu>,
    /// A menu was asked for by a key; what it is about says where it opens.
    pub asked: Option<MenuTarget>,
    /// Words of a text that the mouse was drawn over.
    pub picked: Option<Picked>,
    /// A text for the clipboard.
    pub copied: Option<String>,
    /// The link to what is shown is for the clipboard.
    pub copies_link: bool,
    /// The path being typed in a sheet.
    pub path: String,
    /// The file that is there already, of which the sheet asks whether it is to be replaced.
    pub replaces: Option<PathBuf>,
}

/// What the window remembers: its own, and what each page does.
#[derive(Default)]
pub struct Local {
    /// Of what several views share.
    pub shared: SharedMemory,
    /// Of each page, by its type.
    pages: HashMap<TypeId, Box<dyn Any>>,
    /// Where the configuration of a new training is to be written.
    pub training_path: String,
    /// What a lesson lights now.
    pub lighted: Lighted,
    /// The parts that a lesson lights, where they were painted in this frame, and where they would be if nothing was cut.
    pub lit: Vec<(HighlightPart, egui::Rect, egui::Rect)>,
    /// The lesson that was painted last, its page, and whether it waited.
    pub seen_lesson: Option<(String, usize, bool)>,
    /// One picture in large type, and nothing beside it.
    pub presents: bool,
    /// The link to what is presented as a code for cameras: for this state of the session, its side and its dark squares.
    pub code: (u64, usize, Vec<bool>),
    /// The window is to fill the screen, or no longer.
    pub full_screen: Option<()>,
    /// The picture that was put into the clipboard last, by its number.
    pub seen_painted: Option<u64>,
    /// When each notice was first seen, in seconds of the window's clock.
    pub notices: HashMap<u64, f64>,
    /// Model folders that are to form an ensemble.
    pub members: Vec<ModelSpec>,
    /// Models that come with the program.
    pub bundled: Vec<Installed>,
    /// Where this user keeps models.
    pub home: Option<PathBuf>,
    /// The theme that is on, the system's where that is asked for.
    pub theme: Option<egui::Theme>,
    /// The system's file dialogs.
    pub dialogs: Dialogs,
    /// Acts that menus and buttons ask for; they are done after painting.
    pub acts: Vec<Act>,
}

impl Local {
    /// What a page or a part of it remembers, each by a type of its own; at first as by default.
    ///
    /// # Panics
    /// Never: each is kept under its own type.
    pub fn of<M: Default + 'static>(&mut self) -> &mut M {
        let memory = self.pages.entry(TypeId::of::<M>()).or_insert_with(|| Box::new(M::default()));
        memory.downcast_mut().expect("each is kept under its own type")
    }

    /// The same where nothing changes; none before it was first needed.
    pub fn seen<M: 'static>(&self) -> Option<&M> {
        self.pages.get(&TypeId::of::<M>())?.downcast_ref()
    }

    /// Where this user's files of the program lie, models aside.
    pub fn own_folder(&self) -> PathBuf {
        let beside = self.home.as_deref().and_then(std::path::Path::parent).map(std::path::Path::to_path_buf);
        beside.unwrap_or_else(|| std::env::temp_dir().join("interlinear"))
    }
}

impl SharedMemory {
    /// True once for the panel that wants the keyboard.
    pub fn takes_focus(&mut self, panel: Panel) -> bool {
        let takes = self.focus == Some(panel);
        if takes {
            (self.focus, self.cycling) = (None, 0);
            self.last_panel = Some(panel);
        }
        takes
    }

    /// Asks for the panel `by` places on from the one that had the keyboard last.
    pub fn cycle(&mut self, by: isize) {
        let count = PANELS.len() as isize;
        let at = self.last_panel.and_then(|last| PANELS.iter().position(|panel| *panel == last));
        let next = at.map_or(if by > 0 { 0 } else { count - 1 }, |at| (at as isize + by).rem_euclid(count));
        self.focus = Some(PANELS[next as usize]);
        (self.last_panel, self.cycling) = (self.focus, by);
    }

    /// Goes on to the next panel where the one that was asked for is not on the screen; whether it did.
    pub fn cycle_on(&mut self) -> bool {
        let goes_on = self.focus.is_some() && self.cycling != 0;
        if goes_on {
            self.cycle(self.cycling);
        }
        goes_on
    }
}

/// What the window asks of a page, as it stands.
pub trait PageView {
    /// Paints what stands at the edges of the window, from there inwards.
    fn edges_ui(&self, _ui: &mut egui::Ui, _window: &mut Window<'_>) {}

    /// Paints what stands between the edges.
    fn middle_ui(&self, ui: &mut egui::Ui, window: &mut Window<'_>);

    /// Paints what stands over everything, whichever page is shown.
    fn over_ui(&self, _ui: &mut egui::Ui, _window: &mut Window<'_>) {}

    /// The file of the manual about it; none: the manual opens where it was left.
    fn manual(&self) -> Option<&'static str> {
        None
    }

    /// What the key that opens files asks for.
    fn opens(&self) -> AskedPath {
        TEXT.then(WindowCommand::Open)
    }

    /// What takes back the last act on it, or does it `again`, where the page has an undo of its own.
    fn undo(&self, _again: bool) -> Option<Command> {
        None
    }

    /// Escape, where nothing is open over the page: closes what is open on it, then selects nothing.
    fn escape(&self, _window: &mut Window<'_>) {}

    /// Whether it can be presented: one picture in large type.
    fn presents(&self) -> bool {
        false
    }

    /// Paints what is presented of it.
    fn present_ui(&self, _ui: &mut egui::Ui, _window: &mut Window<'_>) {}
}

/// What a view gets: what to read, commands to push, and the window's own memory.
pub struct Window<'a> {
    /// What the pages share.
    pub app: &'a AppState,
    /// What a lesson lights.
    pub lights: &'a Lights,
    /// What the user did.
    pub commands: &'a mut Vec<Command>,
    /// How the window is laid out, which is kept between starts.
    pub layout: &'a mut Layout,
    /// What the window remembers until it is closed.
    pub local: &'a mut Local,
}

impl Window<'_> {
    /// Does this after painting.
    pub fn push(&mut self, command: impl Into<Command>) {
        self.commands.push(command.into());
    }

    /// Asks for a path on a sheet.
    pub fn ask(&mut self, asked: AskedPath) {
        self.local.shared.sheet = Sheet::Ask(asked);
    }

    /// Selects these words of a text.
    pub fn pick(&mut self, ui: &egui::Ui, flow: egui::Id, whole: &str, words: &[&str], range: (usize, usize)) {
        let part = words::part(whole, words, range);
        self.local.shared.picked = Some(Picked { flow, words: range, whole: whole.to_owned(), part });
        // the text field would copy its own
        ui.memory_mut(|memory| memory.focused().into_iter().for_each(|focus| memory.surrender_focus(focus)));
    }

    /// The words of this text that are selected.
    pub fn picked(&self, flow: egui::Id, whole: &str) -> Option<(usize, usize)> {
        let picked = self.local.shared.picked.as_ref()?;
        (picked.flow == flow && picked.whole == whole).then_some(picked.words)
    }

    /// Opens the menu of this thing, where it was clicked with the other button or asked for by a key.
    pub fn offer(&mut self, response: &egui::Response, clicked: MenuTarget) {
        if response.secondary_clicked() {
            let at = response.interact_pointer_pos().unwrap_or(response.rect.left_bottom());
            self.offer_at(clicked, at);
        } else if self.local.shared.asked == Some(clicked) {
            self.offer_at(clicked, response.rect.left_bottom());
        }
    }

    /// Opens the menu of this thing.
    pub fn offer_at(&mut self, clicked: MenuTarget, at: egui::Pos2) {
        self.local.shared.asked = None;
        self.local.shared.offered = Some(ContextMenu { clicked, at, focus: None, is_open: false });
    }

    /// Says where a part of the window is, which a lesson may light; `of` is a model's folder or a box. What is lit anew
    /// and stands outside of its scroll area is scrolled into view.
    pub fn part(&mut self, ui: &egui::Ui, lit: HighlightPart, of: &str, rect: egui::Rect) {
        if !self.lights.lights(lit, of) {
            return;
        }
        if self.is_lit_anew(lit, of) && !ui.clip_rect().contains_rect(rect) {
            ui.scroll_to_rect(rect, None);
        }
        self.frame_part(ui, lit, of, rect);
    }

    /// The same of a part that is brought into view otherwise: columns come whole.
    pub fn frame_part(&mut self, ui: &egui::Ui, lit: HighlightPart, of: &str, rect: egui::Rect) {
        if !self.lights.lights(lit, of) {
            return;
        }
        self.local.lit.push((lit, rect.intersect(ui.clip_rect()), rect));
    }

    /// Whether a part that is lit is asked about for the first time since the page of the lesson lit it.
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

    /// How the heatmaps are scaled.
    pub fn zoom(&self) -> Zoom {
        match self.layout.cell {
            side if side > 0.0 => Zoom::Fixed(side),
            side if side < 0.0 => Zoom::Whole,
            _ => Zoom::Auto,
        }
    }
}

/// Keeps the side of a panel between starts, once the mouse has let go of it.
pub fn keep_side(ui: &egui::Ui, kept: &mut Option<f32>, before: f32, now: f32) {
    if (now - before).abs() > 1.0 && !ui.input(|input| input.pointer.any_down()) {
        *kept = Some(now);
    }
}

/// Where the window notes the cell of interlinear text that has the keyboard: undo there is the scene's as well.
pub fn cell_id() -> egui::Id {
    egui::Id::unique("interlinear_cell")
}

/// The text field of the translation that the user gives, where undo is the scene's as well.
pub fn given_id() -> egui::Id {
    egui::Id::unique("given_translation")
}
