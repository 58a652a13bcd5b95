//! What page Steps remembers between two frames. A leaf.

use crate::pages::steps::worked::WorkedNumber;
use crate::widgets::heatmap::Texture;
use crate::widgets::matrix;

/// Parts of the page Steps that stand beside each other where there is room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepsView {
    #[default]
    Machine,
    /// The rows so far.
    Rows,
    /// The beam of the step.
    Beam,
}

/// What page Steps remembers.
#[derive(Default)]
pub struct StepsMemory {
    /// The frame in which page Steps was painted last.
    pub frame: u64,
    /// When the player of page Steps moved last, in seconds of the window's clock.
    pub moved: Option<f64>,
    /// The word of page Steps that is already in view, and of how many.
    pub seen: Option<(usize, usize)>,
    /// The row of the heatmap of page Steps that was brought into view last.
    pub revealed: Option<usize>,
    /// How far the heatmap of page Steps is scrolled to the right, points.
    pub scroll: f32,
    /// That heatmap as a texture.
    pub texture: Texture,
    /// The same of the heatmap of what the class thought,
    pub class_scroll: f32,
    pub class_texture: Texture,
    /// The cell of the heatmap, target and source word, that the keyboard would guess.
    pub cursor: Option<(usize, usize)>,
    /// The number that was clicked, to see what made it.
    pub number: Option<WorkedNumber>,
    /// What made it is to come into view.
    pub shows_made: bool,
    /// To which box numbers travel, of which step, and since when, in seconds of the window's clock.
    pub travel: Option<((usize, &'static str), f64)>,
    /// The matrices of its open box as textures.
    pub matrices: matrix::Textures,
    /// What it shows where there is no room for all.
    pub view: StepsView,
}
