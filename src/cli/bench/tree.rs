//! Floor 10: the tree of a search: CPU time of the whole window's frames with one large search, without a display.

use serde_json::{Value, json};

use crate::cli::bench::report::{Column, Report};
use crate::cli::bench::setup::Setup;
use crate::cli::bench::timing::quantile;

/// Beam and words.
const SIZE: (usize, usize) = (12, 40);
/// The same in the quick form.
const QUICK: (usize, usize) = (3, 5);
/// Frames of each kind.
const FRAMES: usize = 300;

const COLUMNS: &[Column] = &[
    Column::words("", "beam, words", 11),
    Column::words("shown", "shown", 11),
    Column::number("nodes", "nodes", 6, 0),
    Column::number("triangles", "triangles", 9, 0),
    Column::words("what", "what happens", 13),
    Column::number("frame_millis", "median ms", 9, 2),
    Column::number("p99", "p99 ms", 7, 2),
    Column::number("most", "most ms", 7, 2),
];

/// Measures frames in which nothing happens, the mouse moves, the wheel turns, another node is looked at, and the tree
/// grows; of the tree as it is shown at first, and with what fell out of the beam.
pub fn run(setup: &Setup, report: &mut Report<'_>) -> anyhow::Result<Value> {
    let Some(measure) = setup.measure_tree else {
        report.line("this build has no window, so no tree was drawn")?;
        return Ok(Value::Null);
    };
    report.line("CPU time of a frame of the whole window, laid out and cut into triangles")?;
    report.head(COLUMNS)?;
    let mut rows = Vec::new();
    let (beam, words) = if setup.quick { QUICK } else { SIZE };
    for pruned in [false, true] {
        let figures = measure(beam, words, pruned, if setup.quick { 3 } else { FRAMES });
        let kinds = [
            ("nothing", &figures.still_millis),
            ("mouse", &figures.hovering_millis),
            ("wheel", &figures.scrolling_millis),
            ("another node", &figures.walking_millis),
            ("another step", &figures.growing_millis),
        ];
        let shown = if pruned { "all" } else { "not pruned" };
        for (kind, millis) in kinds {
            let [median, p99, most] = [0.5, 0.99, 1.0].map(|share| json!(quantile(millis, share)));
            let (size, of) = (format!("{beam}, {words}"), (json!(figures.nodes), json!(figures.triangles)));
            let row = [json!(size), json!(shown), of.0, of.1, json!(kind), median, p99, most];
            let more = json!({"beam": beam, "words": words, "pruned": pruned, "frames": millis.len()});
            rows.push(report.row(&row, more)?);
        }
    }
    Ok(Value::Array(rows))
}
