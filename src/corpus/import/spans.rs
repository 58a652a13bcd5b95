//! Floor 7: judgements of outputs in JSON: what Pearmut's annotators said (DA, ESA, MQM), lines or the file that its dashboard
//! gives, and the scores and error spans of xCOMET (`comet-score --to_json`), as marks of an annotator of that name.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::corpus::import::letters::stem;
use crate::corpus::import::rated;
use crate::corpus::import::rated::{RatedFile, RatedRow, RatedSegment, RatedThing};
use crate::corpus::import::report::ImportReport;
use crate::corpus::judgements::judge::{ErrorMark, MOST_RATING};
use crate::corpus::store::file::Workspace;
use crate::error::{Error, Result};
use crate::import::Warnings;
use crate::text::reader::read_file;
use crate::text::words::span_of;

/// The most bytes of a file, which is read as a whole.
const MOST: u64 = 1 << 28;
/// Whose the suggestions of the metric are, and the title of its scores.
const METRIC: &str = "xCOMET";
/// The kind of an error that has none.
const KIND: &str = "other";
/// How bad one is of which that is not said.
const SEVERITY: &str = "minor";

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanFormat {
    /// Of Pearmut.
    Pearmut,
    /// Of COMET.
    Comet,
}

/// Imports a file, as [`rated::take`] does.
///
/// # Errors
/// A sentence about either file.
pub fn import(workspace: &mut Workspace, (path, replaces): (&Path, bool), format: SpanFormat) -> Result<ImportReport> {
    let bytes = read_file(path, MOST)?;
    let text = String::from_utf8(bytes).map_err(|_| Error::file(path, "is not UTF-8; save it so"))?;
    let mut warnings = Warnings::new(path);
    let file = match format {
        SpanFormat::Pearmut => pearmut(path, &text, &mut warnings)?,
        SpanFormat::Comet => comet(path, &text)?,
    };
    rated::take(workspace, (path, replaces), (file, warnings))
}

/// A document that an annotator was done with.
#[derive(Deserialize)]
struct PearmutLine {
    user_id: Option<String>,
    annotation: Vec<Option<serde_json::Map<String, Value>>>,
    #[serde(default)]
    item: Vec<Value>,
}

#[derive(Deserialize)]
struct PearmutItem {
    src: Option<String>,
    #[serde(rename = "ref")]
    reference: Option<String>,
    tgt: std::collections::BTreeMap<String, String>,
    item_id: Option<Value>,
}

#[derive(Deserialize)]
struct PearmutSaid {
    score: Option<f64>,
    #[serde(default)]
    error_spans: Vec<PearmutSpan>,
}

#[derive(Deserialize)]
struct PearmutSpan {
    start_i: usize,
    /// The last letter itself.
    end_i: usize,
    severity: Option<String>,
    category: Option<String>,
}

fn pearmut(path: &Path, text: &str, warnings: &mut Warnings) -> Result<RatedFile> {
    let fact = "Ratings and error spans of annotators (Pearmut: DA, ESA, MQM), as JSON.";
    let mut file = RatedFile::new(fact);
    let mut lines: Vec<(usize, Value)> = Vec::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str::<Value>(line) {
            Ok(value) => lines.push((n + 1, value)),
            // one object over many lines
            Err(_) if lines.is_empty() => {
                let whole = serde_json::from_str(text);
                let why = |error: serde_json::Error| Error::file(path, format!("is no JSON ({error})"));
                lines = vec![(n + 1, whole.map_err(why)?)];
                break;
            }
            Err(error) => warnings.add(n + 1, format!("is no JSON ({error}); it is left out")),
        }
    }
    for (number, value) in lines {
        let all = match value {
            // The dashboard gives the lines of each campaign.
            Value::Object(campaigns) if !campaigns.contains_key("annotation") => {
                campaigns.into_iter().flat_map(|(_, lines)| lines.as_array().cloned().unwrap_or_default()).collect()
            }
            value => vec![value],
        };
        for line in all {
            match serde_json::from_value::<PearmutLine>(line) {
                Ok(line) => document(&mut file, number, line, warnings),
                Err(error) => warnings.add(number, format!("is no annotation ({error}); it is left out")),
            }
        }
    }
    Ok(file)
}

fn document(file: &mut RatedFile, number: usize, line: PearmutLine, warnings: &mut Warnings) {
    if line.item.len() != line.annotation.len() {
        return warnings.add(number, "has no `item` with the texts of each annotation; it is left out".to_owned());
    }
    let rater = line.user_id.unwrap_or_else(|| "annotator".to_owned());
    for (item, said) in line.item.into_iter().zip(line.annotation) {
        let (Ok(item), Some(said)) = (serde_json::from_value::<PearmutItem>(item), said) else { continue };
        let Some(source) = item.src else {
            warnings.add(number, "has an item without `src`; it is left out".to_owned());
            continue;
        };
        let name = item.item_id.map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
        let reference = item.reference.filter(|text| !text.is_empty());
        let name = name.unwrap_or_default();
        let segment = file.segment(RatedSegment { source, reference, name, line: number });
        for (system, said) in said {
            let Some(text) = item.tgt.get(&system) else { continue };
            match serde_json::from_value::<PearmutSaid>(said) {
                Ok(said) => translation(file, (number, segment), (&system, &rater), text, said, warnings),
                Err(error) => warnings.add(number, format!("judges {system} in another way ({error}); it is left out")),
            }
        }
    }
}

fn translation(
    file: &mut RatedFile,
    (line, segment): (usize, usize),
    (system, rater): (&str, &str),
    text: &str,
    said: PearmutSaid,
    warnings: &mut Warnings,
) {
    if !file.says(system, segment, text) {
        return warnings.add(line, format!("has another translation of {system} than an earlier line; it is left out"));
    }
    let mut add = |thing| {
        let (system, rater) = (system.to_owned(), rater.to_owned());
        file.rows.push(RatedRow { line, segment, system, rater, thing });
    };
    match said.score {
        Some(score) if (0.0..=f64::from(MOST_RATING)).contains(&score) => {
            add(RatedThing::Rating(score.round() as u8));
        }
        Some(score) => warnings.add(line, format!("has the score {score}, which is not from 0 to 100; it is left out")),
        None => {}
    }
    if said.error_spans.is_empty() {
        add(RatedThing::NoErrors);
    }
    for span in said.error_spans {
        let category = span.category.filter(|kind| !kind.is_empty()).unwrap_or_else(|| KIND.to_owned());
        let severity = span.severity.map_or_else(|| SEVERITY.to_owned(), |severity| severity.to_lowercase());
        let mark = mark(system, text, span.start_i..span.end_i + 1);
        add(RatedThing::Mark(ErrorMark { category, severity, ..mark }));
    }
}

/// A mark of these letters.
fn mark(system: &str, text: &str, letters: std::ops::Range<usize>) -> ErrorMark {
    let (target, letters) = span_of(text, letters);
    ErrorMark { system: system.to_owned(), target, letters, category: KIND.to_owned(), ..ErrorMark::default() }
}

#[derive(Deserialize)]
struct CometSegment {
    src: String,
    mt: String,
    #[serde(rename = "ref")]
    reference: Option<String>,
    #[serde(rename = "COMET")]
    score: Option<f32>,
    #[serde(default, alias = "error_spans")]
    errors: Vec<CometSpan>,
}

#[derive(Deserialize)]
struct CometSpan {
    /// Letters, the first and the one behind the last.
    start: usize,
    end: usize,
    severity: Option<String>,
    confidence: Option<f64>,
}

fn comet(path: &Path, text: &str) -> Result<RatedFile> {
    let fact = "Scores and error spans of COMET, as JSON; the spans are marks of the annotator xCOMET.";
    let mut file = RatedFile::new(fact);
    let why = |error: serde_json::Error| Error::file(path, format!("is no JSON of comet-score ({error})"));
    let all: std::collections::BTreeMap<String, Vec<CometSegment>> = serde_json::from_str(text).map_err(why)?;
    for (name, segments) in all {
        let system = stem(Path::new(&name));
        for (n, one) in segments.into_iter().enumerate() {
            let reference = one.reference.filter(|text| !text.is_empty());
            // Sentences that occur twice are told apart by their number.
            let segment = RatedSegment { source: one.src, reference, name: (n + 1).to_string(), line: n + 1 };
            let segment = file.segment(segment);
            file.says(&system, segment, &one.mt);
            if let Some(score) = one.score {
                file.scores.entry((METRIC, system.clone())).or_default().insert(segment, score);
            }
            for span in one.errors {
                let severity = span.severity.unwrap_or_else(|| SEVERITY.to_owned());
                let note = span.confidence.map(|confidence| format!("confidence {confidence:.2}")).unwrap_or_default();
                let mark = ErrorMark { severity, note, ..mark(&system, &one.mt, span.start..span.end) };
                let (system, rater) = (system.clone(), METRIC.to_owned());
                file.rows.push(RatedRow { line: n + 1, segment, system, rater, thing: RatedThing::Mark(mark) });
            }
        }
    }
    Ok(file)
}
