//! Floor 9: what a measurement of the window brings, in plain numbers; made by `ui`, told by `cli`.

use std::path::Path;
use std::sync::Arc;

use crate::jobs::steps::Apart;

/// Times of a window that was opened, typed into and closed by the benchmark. Milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowFigures {
    /// From the start of the measurement until the first frame was laid out.
    pub first_frame_millis: f64,
    /// From the start of the measurement until every column showed its translation.
    pub first_translation_millis: f64,
    /// From a keystroke until the first word of every column that aligns, one number a keystroke.
    pub first_row_millis: Vec<f64>,
    /// From a keystroke until every column was finished.
    pub finished_millis: Vec<f64>,
    /// Length of frames while a column was decoding: taking in news, layout, commands, without the graphics card.
    pub decoding_frames_millis: Vec<f64>,
    /// Length of the other frames.
    pub idle_frames_millis: Vec<f64>,
    /// As `decoding_frames_millis`, with tessellation and the calls to the graphics card, but not waiting for it.
    pub decoding_whole_millis: Vec<f64>,
    /// As `idle_frames_millis`, with tessellation and the calls to the graphics card, but not waiting for it.
    pub idle_whole_millis: Vec<f64>,
    /// From the beginning of a frame to that of the next while a column was decoding: all of the above, drawing and
    /// waiting for the display. The measured window draws frame after frame.
    pub decoding_intervals_millis: Vec<f64>,
    /// The same of the other frames.
    pub idle_intervals_millis: Vec<f64>,
    /// Columns measured.
    pub columns: usize,
}

/// CPU times of frames with one heatmap, laid out and tessellated without a display. Milliseconds, one number a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatmapFigures {
    /// Source words, and as many target words.
    pub words: usize,
    /// Width and height of the window, points.
    pub window: (f32, f32),
    /// Triangles of a frame of the whole window.
    pub triangles: usize,
    /// Nothing happens.
    pub still_millis: Vec<f64>,
    /// The mouse moves over the cells.
    pub hovering_millis: Vec<f64>,
    /// The wheel turns.
    pub scrolling_millis: Vec<f64>,
    /// The colours of all cells change.
    pub new_numbers_millis: Vec<f64>,
}

/// How the command line asks for [`HeatmapFigures`]: words a side, whether all of them are in view, frames of each kind.
pub type MeasureHeatmap = fn(words: usize, whole: bool, frames: usize) -> HeatmapFigures;

/// CPU times of frames with the tree of one search, laid out and tessellated without a display. Milliseconds, one number a
/// frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeFigures {
    /// Of the search.
    pub beam: usize,
    /// Its steps.
    pub words: usize,
    /// Nodes of the tree, in view or not.
    pub nodes: usize,
    /// Width and height of the window, points.
    pub window: (f32, f32),
    /// Triangles of a frame of the whole window.
    pub triangles: usize,
    /// Nothing happens.
    pub still_millis: Vec<f64>,
    /// The mouse moves over the nodes.
    pub hovering_millis: Vec<f64>,
    /// The wheel turns.
    pub scrolling_millis: Vec<f64>,
    /// Another node is looked at.
    pub walking_millis: Vec<f64>,
    /// Another number of steps is drawn.
    pub growing_millis: Vec<f64>,
}

/// How the command line asks for [`TreeFigures`]: beam, words, whether with what fell out of the beam, frames of each kind.
pub type MeasureTree = fn(beam: usize, words: usize, pruned: bool, frames: usize) -> TreeFigures;

/// Times of a long file that was opened as a list, without a window. Milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpeningFigures {
    /// Its lines.
    pub lines: usize,
    /// Its bytes.
    pub bytes: u64,
    /// Until its first lines were there to be shown and chosen.
    pub first_millis: f64,
    /// Until all were.
    pub whole_millis: f64,
    /// Until a search had seen all lines.
    pub search_millis: f64,
    /// Lines that it found.
    pub found: usize,
    /// The longest that a frame would have waited for any of it.
    pub longest_turn_millis: f64,
    /// Most memory of the process beyond what it had before, where the system tells.
    pub memory_bytes: Option<u64>,
}

/// Times of page Corpus with a workspace, without a display. Milliseconds, one number a frame or click.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkspaceFigures {
    /// Its sentences.
    pub rows: usize,
    /// Until the first rows were painted.
    pub opened_millis: f64,
    /// Frames that show other rows than before, right after it was opened.
    pub first_leaps_millis: Vec<f64>,
    /// The wheel turns.
    pub scrolling_millis: Vec<f64>,
    /// Other rows than before in every frame.
    pub leaping_millis: Vec<f64>,
    /// From a click on a sentence until what the systems say of it is painted.
    pub chosen_millis: Vec<f64>,
    /// It has alignments.
    pub has_heatmap: bool,
}

/// How the command line asks for [`WorkspaceFigures`]: the file, frames of each kind.
pub type MeasureWorkspace = fn(path: &Path, frames: usize) -> WorkspaceFigures;

/// CPU times of frames of the page Steps, laid out and tessellated without a display. Milliseconds, one number a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepsFigures {
    /// Triangles of a frame of the whole window.
    pub triangles: usize,
    /// Nothing happens.
    pub still_millis: Vec<f64>,
    /// Another step is shown.
    pub stepping_millis: Vec<f64>,
    /// Another box is open.
    pub opening_millis: Vec<f64>,
}

/// How the command line asks for [`StepsFigures`]: what there is to see, frames of each kind.
pub type MeasureSteps = fn(apart: &Arc<Apart>, frames: usize) -> StepsFigures;
