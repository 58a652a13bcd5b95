//! How much of the line over the columns is behind a button: estimated first, then more if parts overlap.

use crate::app::settings::Shown;

/// Widths that the parts of the line need, points.
const FOLDED: f32 = 860.0;
const DIFFERS: f32 = 84.0;
const ASKED: f32 = 290.0;
const READING: f32 = 140.0;
const OWN_READING: f32 = 40.0;
const UNITS: f32 = 80.0;
const GAZE: f32 = 104.0;
const ALONE: f32 = 72.0;
const TESTS: f32 = 52.0;

/// How much of the line is behind a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folding {
    Nothing,
    Rows,
    More,
    All,
    Slim,
}

impl Folding {
    /// The next level, with less in the line.
    pub fn more(self) -> Self {
        match self {
            Self::Nothing => Self::Rows,
            Self::Rows => Self::More,
            Self::More => Self::All,
            Self::All | Self::Slim => Self::Slim,
        }
    }
}

/// What the width of the line depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoldingLine {
    pub room: f32,
    pub columns: usize,
    pub shown: Shown,
    /// Whether the aligner's links are on, and whether the picture is the tree, interlinear text, or links.
    pub pictured: [bool; 4],
    /// Whether there are differing words, alignment heads, readings, own readings, pieces, marks of local attention.
    pub extras: [bool; 6],
}

impl FoldingLine {
    pub fn folding(&self) -> Folding {
        let [differs, heads, reading, own, units, gaze] = self.extras;
        let width = |is_there: bool, width: f32| if is_there { width } else { 0.0 };
        let folded = FOLDED + width(differs, DIFFERS) + width(heads, ASKED);
        if self.room < folded {
            return Folding::All;
        }
        let rows = width(reading, READING + width(own, OWN_READING)) + width(units, UNITS);
        let gaze = width(gaze, GAZE);
        let is_crowded = self.columns > 1 || gaze > 0.0;
        if self.room >= folded + rows + gaze + width(is_crowded, TESTS) || rows + gaze == 0.0 {
            return Folding::Nothing;
        }
        // with less room not even the aligner and the marks of local attention stand beside that button
        let alone = width(self.columns > 1, ALONE);
        if self.room < folded + gaze + alone { Folding::More } else { Folding::Rows }
    }
}
