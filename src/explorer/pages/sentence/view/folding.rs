//! How much of the line over the columns stands behind a button: first a guess from what there is, then more
//! wherever what stands at its right would lie over the rest. A leaf.

use crate::app::settings::Shown;

/// With less room only what is changed often stands in the line, points.
const FOLDED: f32 = 860.0;
/// Width of the legend of words that differ, points.
const DIFFERS: f32 = 84.0;
/// The questions of alpha and of an alignment head need so much, points.
const ASKED: f32 = 290.0;
/// Which word a row belongs to needs so much more, points.
const READING: f32 = 140.0;
/// The choice of each model's own reading needs so much, points.
const OWN_READING: f32 = 40.0;
/// Words or pieces need so much, points.
const UNITS: f32 = 80.0;
/// The marks of local attention need so much, points.
const GAZE: f32 = 104.0;
/// The button that shows one column alone needs so much, points.
const ALONE: f32 = 72.0;
/// The measures need so much beside several columns or the marks of local attention, points.
const TESTS: f32 = 52.0;

/// How much of the line stands behind a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folding {
    Nothing,
    /// What rows and columns stand for.
    Rows,
    /// That, the aligner and the marks of local attention.
    More,
    /// All that is not changed often.
    All,
    /// All but the choice of the picture.
    Slim,
}

impl Folding {
    /// The next one, with less in the line.
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
    /// Columns on the page.
    pub columns: usize,
    /// Which numbers are shown.
    pub shown: Shown,
    /// The aligner's links are on; the picture is the tree; it is interlinear text; it is that of links.
    pub pictured: [bool; 4],
    /// What there is besides what always is: words that differ, alignment heads, readings, own ones, pieces, marks of local
    /// attention.
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
