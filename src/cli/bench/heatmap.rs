//! Floor 10: the heatmap: CPU time of the whole window's frames with one large alignment, without a display.

use serde_json::{Value, json};

use crate::cli::bench::report::{Column, Report};
use crate::cli::bench::setup::Setup;
use crate::cli::bench::timing::quantile;

/// Words a side, and whether all of them are in view.
const SIZES: &[(usize, bool)] = &[(60, false), (200, false), (200, true)];
/// Frames of each kind.
const FRAMES: usize = 300;

const COLUMNS: &[Column] = &[
    Column::words("", "words", 10),
    Column::words("", "window", 11),
    Column::number("triangles", "triangles", 9, 0),
    Column::words("what", "what happens", 12),
    Column::number("frame_millis", "median ms", 9, 2),
    Column::number("p99", "p99 ms", 7, 2),
    Column::number("most", "most ms", 7, 2),
];

/// Measures frames in which nothing happens, the mouse moves, the wheel turns, and all colours change.
pub fn run(setup: &Setup, report: &mut Report<'_>) -> anyhow::Result<Value> {
    let Some(measure) = setup.measure_heatmap else {
        report.line("this build has no window, so no heatmap was drawn")?;
        return Ok(Value::Null);
    };
    report.line("CPU time of a frame of the whole window, laid out and cut into triangles")?;
    report.head(COLUMNS)?;
    let mut rows = Vec::new();
    let sizes = if setup.quick { &[(6, false)][..] } else { SIZES };
    for &(words, whole) in sizes {
        let figures = measure(words, whole, if setup.quick { 3 } else { FRAMES });
        let (width, height) = figures.window;
        let kinds = [
            ("nothing", &figures.still_millis),
            ("mouse", &figures.hovering_millis),
            ("wheel", &figures.scrolling_millis),
            ("new numbers", &figures.new_numbers_millis),
        ];
        for (kind, millis) in kinds {
            let [median, p99, most] = [0.5, 0.99, 1.0].map(|share| json!(quantile(millis, share)));
            let (size, shown) = (format!("{words} x {words}"), format!("{width:.0} x {height:.0}"));
            let row = [json!(size), json!(shown), json!(figures.triangles), json!(kind), median, p99, most];
            let more = json!({"words": words, "whole": whole, "window": [width, height], "frames": millis.len()});
            rows.push(report.row(&row, more)?);
        }
    }
    Ok(Value::Array(rows))
}
