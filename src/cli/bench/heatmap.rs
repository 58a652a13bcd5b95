//! Floor 9: the heatmap: CPU time of the whole window's frames with one large alignment, without a display.

use serde_json::{Value, json};

use crate::cli::bench::Setup;
use crate::cli::bench::report::{Column, Report};
use crate::cli::bench::timing::quantile;

/// Words a side, and whether all of them are in view.
const SIZES: &[(usize, bool)] = &[(60, false), (200, false), (200, true)];
/// Frames of each kind.
const FRAMES: usize = 300;

const COLUMNS: &[Column] = &[
    Column::left("words", 10),
    Column::left("window", 11),
    Column::right("triangles", 9),
    Column::left("what happens", 12),
    Column::right("median ms", 9),
    Column::right("p99 ms", 7),
    Column::right("most ms", 7),
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
            let at = |share: f64| quantile(millis, share);
            report.row(&[
                format!("{words} x {words}"),
                format!("{width:.0} x {height:.0}"),
                figures.triangles.to_string(),
                kind.to_owned(),
                format!("{:.2}", at(0.5)),
                format!("{:.2}", at(0.99)),
                format!("{:.2}", at(1.0)),
            ])?;
            rows.push(
                json!({"words": words, "whole": whole, "window": [width, height], "triangles": figures.triangles,
                             "what": kind, "frame_millis": at(0.5), "p99": at(0.99), "most": at(1.0),
                             "frames": millis.len()}),
            );
        }
    }
    Ok(Value::Array(rows))
}
