//! How the window is laid out, as it is kept between starts: what is open, how large it is, which picture columns
//! show. A leaf.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What columns show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Look {
    #[default]
    Heatmap,
    Links,
    Tree,
}

/// How the window is laid out. Sides are in points; `None`: as at first.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Layout {
    pub window: Option<[f32; 2]>,
    pub sentences_width: Option<f32>,
    pub sentences_open: bool,
    pub inspector_height: Option<f32>,
    pub inspector_open: bool,
    pub manual_width: Option<f32>,
    pub manual_open: bool,
    pub lesson_width: Option<f32>,
    pub beam_open: bool,
    pub look: Look,
    pub interlinear: bool,
    /// One column stands alone.
    pub solo: bool,
    /// For a class: the sentence, a column or two with all cells in view, the candidates of a word, and nothing else.
    pub class: bool,
    /// Side of a cell; 0: by itself, below 0: all cells in view.
    pub cell: f32,
    /// The marks of local attention are drawn.
    pub gaze: bool,
    /// Least alpha of a link.
    pub links_threshold: f32,
    /// alpha is the opacity of a link and not its width.
    pub links_opacity: bool,
    /// The other weights of a row share what a set one leaves.
    pub renormalise: bool,
    pub motion: bool,
    /// Parts of pages that are closed, by their names.
    pub closed: BTreeSet<String>,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            window: None,
            sentences_width: None,
            sentences_open: true,
            inspector_height: None,
            inspector_open: true,
            manual_width: None,
            manual_open: false,
            lesson_width: None,
            beam_open: true,
            look: Look::Heatmap,
            interlinear: false,
            solo: false,
            class: false,
            cell: 0.0,
            gaze: true,
            links_threshold: 0.1,
            links_opacity: false,
            renormalise: true,
            motion: true,
            closed: BTreeSet::new(),
        }
    }
}

/// The part in [`Layout::closed`] that holds the switches over the columns: they are behind one button.
pub const SWITCHES: &str = "switches";

impl Layout {
    /// As the window is at its first start: sentences, lists of the beam and switches open on demand.
    pub fn first() -> Self {
        let closed = BTreeSet::from([SWITCHES.to_owned()]);
        Self { sentences_open: false, beam_open: false, closed, ..Self::default() }
    }

    pub fn has_switches(&self) -> bool {
        !self.closed.contains(SWITCHES)
    }

    /// With what lessons and links show of another one.
    pub fn showing(self, of: &Self) -> Self {
        let Self { inspector_open, look, interlinear, solo, class, .. } = *of;
        Self { inspector_open, look, interlinear, solo, class, ..self }
    }

    pub fn turn(&mut self, part: &str) {
        if !self.closed.remove(part) {
            self.closed.insert(part.to_owned());
        }
    }
}
