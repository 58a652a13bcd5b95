//! Floor 9: the window: first frame, first translation, keystrokes and frames while decoding.
//!
//! The real window opens on the bundled models (or the one given), twenty words are typed a letter
//! at a time, and it closes. Without a display the section says so and measures nothing.

use serde_json::{Value, json};

use crate::cli::bench::Setup;
use crate::cli::bench::report::{Column, Report};
use crate::cli::bench::timing::quantile;
use crate::cli::bundled;
use crate::session::DeviceChoice;
use crate::session::driver::OpenWith;

const COLUMNS: &[Column] =
    &[Column::left("", 32), Column::right("median ms", 9), Column::right("p99", 7), Column::right("max", 7)];

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
        let at = |share: f64| quantile(values, share);
        let cell = |share| format!("{:.1}", at(share));
        report.row(&[name.to_owned(), cell(0.5), cell(0.99), cell(1.0)])?;
        record[key] = json!({"median": at(0.5), "p99": at(0.99), "max": at(1.0), "count": values.len()});
    }
    Ok(record)
}

/// The keystrokes that make the sentence long.
fn last(values: &[f64]) -> Vec<f64> {
    values[values.len().saturating_sub(20)..].to_vec()
}
