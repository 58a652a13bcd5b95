//! Floor 11: the figures of an evaluation as text for other programs, as `interlinear evaluate` writes them. Pure.

use serde_json::{Value, json};

use crate::corpus::overview::evaluated::Evaluated;
use crate::corpus::overview::figures;
use crate::pages::evaluation::command::FiguresFormat;

/// The figures in a format.
pub fn text(results: &Evaluated, format: FiguresFormat) -> String {
    match format {
        FiguresFormat::Tsv => figures::scores(results),
        FiguresFormat::Json => format!("{:#}\n", json(results)),
    }
}

/// With every two models, not only each with the first.
fn json(results: &Evaluated) -> Value {
    let mut all = figures::json(results);
    let name = |place: usize| results.models.get(place).map(|measured| measured.report.name.clone());
    let comparisons = results.comparisons.iter().map(|against| {
        let mut object = figures::comparison(against.unk.name(), &against.by);
        object["first"] = json!(name(against.pair.0));
        object["second"] = json!(name(against.pair.1));
        object
    });
    all["comparisons"] = comparisons.collect();
    all["left_out"] = json!(results.left_out);
    all
}
