//! Sizes of figures in points, which the window uses too.

pub const SPACE_1: f32 = 4.0;
/// Between neighbours that belong together.
pub const SPACE_2: f32 = 8.0;

pub const TEXT_SMALL: f32 = 12.5;
pub const TEXT_BODY: f32 = 14.5;

/// Radius of the corners of a figure on its ground.
pub const CARD_RADIUS: f32 = 8.0;
/// Radius of the mark of a data point.
pub const DATA_POINT: f32 = 4.0;

/// Smallest and largest side of a heatmap cell chosen by itself.
pub const CELL_AUTO: (f32, f32) = (14.0, 96.0);
/// Smallest and largest side of a heatmap cell reached by zooming.
pub const CELL_LIMITS: (f32, f32) = (2.0, 96.0);
/// Widest label at the side of the heatmap.
pub const LABEL_MAX: f32 = 132.0;
/// The mark of p_t: half its height as a share of a cell, and its limits.
pub const GAZE_MARK: (f32, f32, f32) = (0.24, 2.0, 7.0);
/// Width of the frame round the window of local attention.
pub const GAZE_LINE: f32 = 1.5;
/// Room between that frame and the edges of its row; none in small cells.
pub const GAZE_INSET: f32 = 2.0;
