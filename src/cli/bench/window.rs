//! Floor 10: the window: first frame, first translation, keystrokes and frames while decoding.
//!
//! The real window opens on the bundled models (or the one given), twenty words are typed a letter
//! at a time, and it closes. Without a display the section says so and measures nothing.

use serde_json::{Value, json};

use crate::cli::bench::report::{Column, Report};
use crate::cli::bench::setup::Setup;
use crate::cli::bench::timing::quantile;
use crate::cli::bundled;
use crate::nn::device::DeviceChoice;
use crate::session::driver::OpenWith;

const COLUMNS: &[Column] = &[
    Column::words("", "", 32),
    Column::number("median", "median ms", 9, 1),
    Column::number("p99", "p99", 7, 1),
    Column::number("max", "max", 7, 1),
];

/// Measures one window; in the quick form none.
pub fn run(setup: &Setup, report: &mut Report<'_>) -> anyhow::Result<Value> {
    let Some(measure) = setup.measure_window.filter(|_| !setup.quick) else {
        report.line("the window is not measured in the quick form, nor in a build without it")?;
        return Ok(Value::Null);
    };
    let models = setup.model.clone().map_or_else(bundled::models, |folder| vec![folder]);
    let options = OpenWith {
        models,
        device: Some(DeviceChoice::Cpu),
        threads: Some(setup.runtime.threads),
        ..OpenWith::default()
    };
    let figures = match measure(options) {
        Ok(figures) => figures,
        Err(error) => {
            report.line(&format!("the window was not measured: {error}"))?;
            return Ok(Value::Null);
        }
    };
    report.line(&format!("columns {}, {} keystrokes", figures.columns, figures.finished_millis.len()))?;
    report.line(&format!(
        "first frame {:.0} ms, first translation {:.0} ms",
        figures.first_frame_millis, figures.first_translation_millis
    ))?;
    report.head(COLUMNS)?;
    let mut record = json!({"columns": figures.columns, "first_frame_millis": figures.first_frame_millis,
                            "first_translation_millis": figures.first_translation_millis});
    let rows = [
        ("keystroke to first row", "first_row_millis", &figures.first_row_millis),
        ("keystroke to finished", "finished_millis", &figures.finished_millis),
        ("last 20 keystrokes to finished", "finished_long_millis", &last(&figures.finished_millis)),
        ("frame while decoding", "decoding_frame_millis", &figures.decoding_frames_millis),
        ("frame otherwise", "idle_frame_millis", &figures.idle_frames_millis),
        ("whole frame while decoding", "decoding_whole_millis", &figures.decoding_whole_millis),
        ("whole frame otherwise", "idle_whole_millis", &figures.idle_whole_millis),
        ("frame to frame while decoding", "decoding_interval_millis", &figures.decoding_intervals_millis),
        ("frame to frame otherwise", "idle_interval_millis", &figures.idle_intervals_millis),
    ];
    for (name, key, values) in rows {
        let [median, p99, max] = [0.5, 0.99, 1.0].map(|share| json!(quantile(values, share)));
        record[key] = report.row(&[json!(name), median, p99, max], json!({"count": values.len()}))?;
    }
    Ok(record)
}

/// The keystrokes that make the sentence long.
fn last(values: &[f64]) -> Vec<f64> {
    values[values.len().saturating_sub(20)..].to_vec()
}
