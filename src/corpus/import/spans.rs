//! Floor 7: judgements of outputs in JSON: what Pearmut's annotators said (DA, ESA, MQM), lines or the file that its dashboard
//! gives, and the scores and error spans of xCOMET (`comet-score --to_json`), as marks of an annotator of that name.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::corpus::import::letters::stem;
use crate::corpus::import::rated;
use crate::corpus::import::rated::{RatedFile, RatedRow, RatedSegment, RatedThing};
use crate::corpus::import::report::ImportReport;
use crate::corpus::judgements::judge::{ErrorMark, Letters, MOST_RATING};
use crate::corpus::store::file::Workspace;
use crate::error::{Error, Result};
use crate::import::Warnings;
use crate::text::reader::read_file;
use crate::text::words::words;

/// The most bytes of a file, which is read as a whole.
const MOST: u64 = 1 << 28;
/// Whose the suggestions of the metric are, and the title of the scores that come with them.
const METRIC: &str = "xCOMET";
/// What else may have a number in a line of COMET.
const SCORE: &str = "COMET";
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
    annotation: Vec<Option<BTreeMap<String, Value>>>,
    #[serde(default)]
    item: Vec<Value>,
    #[serde(default)]
    actions: Vec<Value>,
}

impl PearmutLine {
    fn does(&self, what: &str) -> bool {
        self.actions.iter().any(|act| act["action"] == what)
    }

    /// Whether errors were asked for: somebody marked one.
    fn has_spans(&self) -> bool {
        let is_marked = |said: &Value| said["error_spans"].as_array().is_some_and(|spans| !spans.is_empty());
        self.does("create_span") || self.annotation.iter().flatten().any(|all| all.values().any(is_marked))
    }
}

#[derive(Deserialize)]
struct PearmutItem {
    src: Option<String>,
    #[serde(rename = "ref")]
    reference: Option<String>,
    tgt: BTreeMap<String, String>,
    item_id: Option<Value>,
}

#[derive(Deserialize)]
struct PearmutSaid {
    score: Option<f64>,
    #[serde(default)]
    error_spans: Vec<PearmutSpan>,
    /// Whether there are no errors, as Interlinear writes it.
    no_errors: Option<bool>,
}

#[derive(Deserialize)]
struct PearmutSpan {
    /// Units of UTF-16, line breaks not counted.
    start_i: usize,
    /// The last unit itself.
    end_i: usize,
    severity: Option<String>,
    category: Option<String>,
    /// All of it, as Interlinear writes it.
    mark: Option<ErrorMark>,
}

/// Pearmut's units of a text: of each the letter that it is of, from 0.
pub(crate) fn units(text: &str) -> impl Iterator<Item = usize> + '_ {
    let letters = text.chars().enumerate().filter(|(_, c)| *c != '\n');
    letters.flat_map(|(at, c)| std::iter::repeat_n(at, c.len_utf16()))
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
    let mut campaigns: Vec<Vec<(usize, Value)>> = vec![Vec::new()];
    for (number, value) in lines {
        match value {
            // The dashboard gives the lines of each campaign.
            Value::Object(all) if !all.contains_key("annotation") => {
                let lines = |all| if let Value::Array(lines) = all { lines } else { Vec::new() };
                let of = |all| lines(all).into_iter().map(|line| (number, line)).collect();
                campaigns.extend(all.into_iter().map(|(_, all)| of(all)));
            }
            value => campaigns[0].push((number, value)),
        }
    }
    let mut skipped = 0;
    for campaign in campaigns {
        let read = |(number, line): (usize, Value)| match serde_json::from_value::<PearmutLine>(line) {
            Ok(line) => Some((number, line)),
            Err(error) => {
                warnings.add(number, format!("is no annotation ({error}); it is left out"));
                None
            }
        };
        let lines: Vec<(usize, PearmutLine)> = campaign.into_iter().filter_map(read).collect();
        // Of DA nobody is asked for errors, and all lists of them are empty.
        let asks = lines.iter().any(|(_, line)| line.has_spans());
        for (number, line) in lines {
            skipped += document(&mut file, (number, asks), line, warnings);
        }
    }
    if skipped > 0 {
        file.remarks.push(format!("Translations that were skipped: {skipped}. They are not judged."));
    }
    Ok(file)
}

/// Takes in a document; gives how many translations were skipped.
fn document(file: &mut RatedFile, (number, asks): (usize, bool), line: PearmutLine, warnings: &mut Warnings) -> usize {
    if line.item.len() != line.annotation.len() {
        warnings.add(number, "has no `item` with the texts of each annotation; it is left out".to_owned());
        return 0;
    }
    let is_skipped = line.does("submit_skip");
    let rater = line.user_id.unwrap_or_else(|| "annotator".to_owned());
    let mut skipped = 0;
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
            let Some(text) = item.tgt.get(&system) else {
                warnings.add(number, format!("judges {system}, whose text it lacks; it is left out"));
                continue;
            };
            let copy = file.says(&system, segment, text);
            let row =
                |thing| RatedRow { line: number, segment, system: system.clone(), rater: rater.clone(), copy, thing };
            match serde_json::from_value::<PearmutSaid>(said) {
                Err(error) => warnings.add(number, format!("judges {system} in another way ({error}); it is left out")),
                Ok(mut said) => {
                    let most = f64::from(MOST_RATING);
                    if let Some(score) = said.score.take_if(|score| !(0.0..=most).contains(score)) {
                        let message = format!("has the score {score}, which is not from 0 to {most}; it is left out");
                        warnings.add(number, message);
                    }
                    let things = if is_skipped { Vec::new() } else { things(said, text, asks) };
                    skipped += usize::from(things.is_empty());
                    file.rows.extend(things.into_iter().map(row));
                }
            }
        }
    }
    skipped
}

/// What is said of a translation; nothing if it was skipped.
fn things(said: PearmutSaid, text: &str, asks: bool) -> Vec<RatedThing> {
    let rating = said.score.map(|score| RatedThing::Rating(score.round() as u8));
    let is_clean = said.error_spans.is_empty() && said.no_errors.unwrap_or(asks && rating.is_some());
    let (units, end, count): (Vec<usize>, _, _) = (units(text).collect(), text.chars().count(), words(text).count());
    let mark = |span: PearmutSpan| {
        if let Some(mark) = span.mark.filter(|mark| mark.target.1 <= count) {
            RatedThing::Whole(mark)
        } else {
            let category = span.category.filter(|kind| !kind.is_empty()).unwrap_or_else(|| KIND.to_owned());
            let severity = span.severity.map_or_else(|| SEVERITY.to_owned(), |severity| severity.to_lowercase());
            let first = units.get(span.start_i).copied().unwrap_or(end);
            let behind = units.get(span.end_i).map_or(end, |last| last + 1);
            let mark = ErrorMark { category, severity, ..ErrorMark::default() };
            RatedThing::Mark(mark, (Some((first, Some(behind.max(first)))), None))
        }
    };
    let marks = said.error_spans.into_iter().map(mark);
    rating.into_iter().chain(marks).chain(is_clean.then_some(RatedThing::NoErrors)).collect()
}

#[derive(Deserialize)]
struct CometSegment {
    src: String,
    mt: String,
    #[serde(rename = "ref")]
    reference: Option<String>,
    #[serde(alias = "error_spans")]
    errors: Option<Vec<CometSpan>>,
    /// Scores, by the names of the metrics.
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct CometSpan {
    /// Letters, the first and the one behind the last.
    start: usize,
    end: usize,
    text: Option<String>,
    severity: Option<String>,
    confidence: Option<f64>,
}

impl CometSpan {
    /// Its letters: those of its text, of which one may be before its place.
    fn letters(&self, text: &str) -> Letters {
        let wanted = self.text.as_deref().unwrap_or_default().trim();
        let start = text.char_indices().nth(self.start).map_or(text.len(), |(at, _)| at);
        let places = text.match_indices(wanted).map(|(at, _)| at).filter(|_| !wanted.is_empty());
        match places.min_by_key(|at| at.abs_diff(start)).map(|at| text[..at].chars().count()) {
            Some(first) => (first, Some(first + wanted.chars().count())),
            None => (self.start, Some(self.end.max(self.start))),
        }
    }
}

fn comet(path: &Path, text: &str) -> Result<RatedFile> {
    let fact = "Scores and error spans of COMET, as JSON; the spans are marks of the annotator xCOMET.";
    let mut file = RatedFile::new(fact);
    file.names_files = true;
    let why = |error: serde_json::Error| Error::file(path, format!("is no JSON of comet-score ({error})"));
    let all: BTreeMap<String, Vec<CometSegment>> = serde_json::from_str(text).map_err(why)?;
    let has_spans = all.values().flatten().any(|one| one.errors.is_some());
    for (name, segments) in all {
        let system = stem(Path::new(&name));
        for (n, one) in segments.into_iter().enumerate() {
            let reference = one.reference.filter(|text| !text.is_empty());
            // Sentences that occur twice are told apart by their number.
            let segment = RatedSegment { source: one.src, reference, name: (n + 1).to_string(), line: n + 1 };
            let segment = file.segment(segment);
            let copy = file.says(&system, segment, &one.mt);
            for (key, score) in one.others.iter().filter_map(|(key, value)| Some((key, value.as_f64()?))) {
                let title = if key == SCORE && has_spans { METRIC } else { key };
                file.scores.entry((title.to_owned(), system.clone())).or_default().insert(segment, score as f32);
            }
            let mark = |span: &CometSpan| {
                let severity = span.severity.clone().unwrap_or_else(|| SEVERITY.to_owned());
                let note = span.confidence.map(|confidence| format!("confidence {confidence:.2}")).unwrap_or_default();
                let mark = ErrorMark { severity, note, category: KIND.to_owned(), ..ErrorMark::default() };
                RatedThing::Mark(mark, (Some(span.letters(&one.mt)), None))
            };
            let Some(errors) = &one.errors else { continue };
            let none = errors.is_empty().then_some(RatedThing::NoErrors);
            for thing in errors.iter().map(mark).chain(none) {
                let (system, rater) = (system.clone(), METRIC.to_owned());
                file.rows.push(RatedRow { line: n + 1, segment, system, rater, copy, thing });
            }
        }
    }
    Ok(file)
}
