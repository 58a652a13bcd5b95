//! Floor 8: what a measurement of the window brings, in plain numbers; made by `ui`, told by `cli`.

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
    /// Columns measured.
    pub columns: usize,
}
