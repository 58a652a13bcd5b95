//! What page Steps remembers between two frames. A leaf.

use crate::pages::steps::worked::WorkedNumber;
use crate::widgets::{heatmap::Texture, matrix};

/// Parts of the Steps page, one of which is shown if there is no room for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepsView {
    #[default]
    Machine,
    Rows,
    Beam,
}

/// What the Steps page remembers between frames.
#[derive(Default)]
pub struct StepsMemory {
    /// The frame in which the page was painted last.
    pub frame: u64,
    /// When the player moved last, in seconds of the window's clock.
    pub moved: Option<f64>,
    /// The word that was scrolled into view, and the number of words.
    pub seen: Option<(usize, usize)>,
    pub revealed: Option<usize>,
    pub scroll: f32,
    pub texture: Texture,
    pub class_scroll: f32,
    pub class_texture: Texture,
    pub cursor: Option<(usize, usize)>,
    pub number: Option<WorkedNumber>,
    pub shows_made: bool,
    /// The box to which numbers travel, with its step, and the start in seconds of the window's clock.
    pub travel: Option<((usize, &'static str), f64)>,
    pub matrices: matrix::Textures,
    pub view: StepsView,
}
