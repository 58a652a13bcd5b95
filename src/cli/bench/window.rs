//! Floor 9: the window: first frame, first translation, keystrokes and frames while decoding.
//!
//! The real window opens on the bundled models (or the one given), twenty words are typed a letter
//! at a time, and it closes. Without a display the section says so and measures nothing.

use serde_json::Value;
use serde_json::json;

use crate::cli::bench::Say;
use crate::cli::bench::Setup;
use crate::cli::bench::timing::quantile;
use crate::cli::bundled;
use crate::session::DeviceChoice;
use crate::session::driver::Options;

/// Measures one window; in the quick form none.
pub fn run(setup: &Setup, say: Say<'_>) -> anyhow::Result<Value> {
    let Some(measure) = setup.measure_window.filter(|_| !setup.quick) else {
        say("the window is not measured in the quick form, nor in a build without it")?;
        return Ok(Value::Null);
    };
    let models = setup.model.clone().map_or_else(bundled::models, |folder| vec![folder]);
    let options =
        Options { models, device: Some(DeviceChoice::Cpu), threads: Some(setup.runtime.threads), ..Options::default() };
    let figures = match measure(options) {
        Ok(figures) => figures,
        Err(error) => {
            say(&format!("the window was not measured: {error}"))?;
            return Ok(Value::Null);
        }
    };
    say(&format!("columns {}, {} keystrokes", figures.columns, figures.finished_millis.len()))?;
    say(&format!(
        "first frame {:.0} ms, first translation {:.0} ms",
        figures.first_frame_millis, figures.first_translation_millis
    ))?;
    say("                                   median    p99    max   (ms)")?;
    let mut record = json!({"columns": figures.columns, "first_frame_millis": figures.first_frame_millis,
                            "first_translation_millis": figures.first_translation_millis});
    let rows = [
        ("keystroke to first row", "first_row_millis", &figures.first_row_millis),
        ("keystroke to finished", "finished_millis", &figures.finished_millis),
        ("last 20 keystrokes to finished", "finished_long_millis", &last(&figures.finished_millis)),
        ("frame while decoding", "decoding_frame_millis", &figures.decoding_frames_millis),
        ("frame otherwise", "idle_frame_millis", &figures.idle_frames_millis),
    ];
    for (name, key, values) in rows {
        let at = |share: f64| quantile(values, share);
        say(&format!("{name:<32} {:>8.1} {:>6.1} {:>6.1}", at(0.5), at(0.99), at(1.0)))?;
        record[key] = json!({"median": at(0.5), "p99": at(0.99), "max": at(1.0), "count": values.len()});
    }
    Ok(record)
}

/// The keystrokes that make the sentence long.
fn last(values: &[f64]) -> Vec<f64> {
    values[values.len().saturating_sub(20)..].to_vec()
}
