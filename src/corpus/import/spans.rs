//! Judgements of outputs in JSON: what Pearmut's annotators said (DA, ESA, MQM), lines or the file that its dashboard
//! gives, and the scores and error spans of xCOMET (`comet-score --to_json`), as suggestions by that name.

use std::collections::{BTreeMap, HashMap};
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::import::rated::{RatedFile, RatedRow, RatedSegment, RatedThing};
use crate::import::{places::stem, rated, report::ImportReport};
use crate::judgements::judge::{ErrorMark, Letters, METRIC, MOST_RATING};
use crate::store::file::Workspace;
use engine::error::{Error, Result};
use import::Warnings;
use import::input::ImportInput;

const MOST: u64 = 1 << 28;
const KIND: &str = "other";
const SEVERITY: &str = "minor";

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanFormat {
    Pearmut,
    Comet,
}

/// Imports a file, as [`rated::take`] does.
pub fn import(workspace: &mut Workspace, (path, replaces): (&Path, bool), format: SpanFormat) -> Result<ImportReport> {
    let input = ImportInput::open(path, None)?;
    let bytes = match input.encoding() {
        "UTF-8" => input.bytes()?,
        name if name.starts_with("UTF-") => input.text()?,
        _ => return Err(Error::file(path, "is not UTF-8; save it so")),
    };
    let mut text = String::new();
    let read = bytes.take(MOST + 1).read_to_string(&mut text);
    read.map_err(|error| Error::file(path, format!("could not be read ({error})")))?;
    if text.len() as u64 > MOST {
        return Err(Error::file(path, format!("has more than {MOST} bytes, too many for such a file")));
    }
    let text = text.trim_start_matches('\u{feff}');
    let mut warnings = Warnings::new(path);
    let file = match format {
        SpanFormat::Pearmut => pearmut(path, text, &mut warnings)?,
        SpanFormat::Comet => comet(path, text)?,
    };
    rated::take(workspace, (path, replaces), (file, warnings))
}

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
    error_spans: Option<Vec<PearmutSpan>>,
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
    mark: Option<ErrorMark>,
}

/// Stands for the annotation where all before it of this item and annotator was taken back.
const RESET: &str = "__RESET__";
/// How items are numbered that Pearmut does not count.
const EXTRA: [&str; 3] = ["welcome_", "random_", "goodbye_"];

type PearmutRows = BTreeMap<(usize, String, String), Vec<RatedRow>>;

/// The lines that count, as Pearmut counts them: none before a reset, and neither forms nor what is shown before and after.
fn counting(lines: Vec<(usize, Value)>) -> impl Iterator<Item = (usize, Value)> {
    let key = |line: &Value| (line["user_id"].to_string(), line["item_i"].to_string());
    let resets = lines.iter().enumerate().filter(|(_, (_, line))| line["annotation"] == RESET);
    let resets: HashMap<_, usize> = resets.map(|(n, (_, line))| (key(line), n)).collect();
    let is_extra = |line: &Value| {
        let is_shown = line["item_i"].as_str().is_some_and(|name| EXTRA.iter().any(|start| name.starts_with(start)));
        is_shown || line["item"][0].get("form").is_some()
    };
    let counts = move |(n, (_, line)): &(usize, (usize, Value))| {
        !is_extra(line) && resets.get(&key(line)).is_none_or(|reset| reset < n)
    };
    lines.into_iter().enumerate().filter(counts).map(|(_, line)| line)
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
    let [mut skipped, mut again, mut left] = [0; 3];
    for campaign in campaigns {
        left += campaign.len();
        let read = |(number, line): (usize, Value)| match serde_json::from_value::<PearmutLine>(line) {
            Ok(line) => Some((number, line)),
            Err(error) => {
                warnings.add(number, format!("is no annotation ({error}); it is left out"));
                None
            }
        };
        let lines: Vec<(usize, Value)> = counting(campaign).collect();
        left -= lines.len();
        let lines: Vec<(usize, PearmutLine)> = lines.into_iter().filter_map(read).collect();
        // Of DA nobody is asked for errors, and all lists of them are empty.
        let asks = lines.iter().any(|(_, line)| line.has_spans());
        let mut said = PearmutRows::new();
        for (number, line) in lines {
            let [skips, replaces] = document((&mut file, &mut said), (number, asks), line, warnings);
            (skipped, again) = (skipped + skips, again + replaces);
        }
        file.rows.extend(said.into_values().flatten());
    }
    let remarks = [
        (skipped, "Translations that were skipped", "They are not judged."),
        (again, "Translations that were judged again by the same annotator", "The last judgement counts."),
        (left, "Lines that Pearmut does not count, such as those before a reset", "They are left out."),
    ];
    let remarks = remarks.into_iter().filter(|(count, ..)| *count > 0);
    file.remarks.extend(remarks.map(|(count, what, then)| format!("{what}: {count}. {then}")));
    Ok(file)
}

fn document(
    (file, all): (&mut RatedFile, &mut PearmutRows), (number, asks): (usize, bool), line: PearmutLine,
    warnings: &mut Warnings,
) -> [usize; 2] {
    if line.item.len() != line.annotation.len() {
        warnings.add(number, "has no `item` with the texts of each annotation; it is left out".to_owned());
        return [0; 2];
    }
    let is_skipped = line.does("submit_skip");
    let rater = line.user_id.unwrap_or_else(|| "annotator".to_owned());
    let [mut skipped, mut again] = [0; 2];
    for (item, said) in line.item.into_iter().zip(line.annotation) {
        let Some(said) = said else { continue };
        let item = match serde_json::from_value::<PearmutItem>(item) {
            Ok(item) => item,
            Err(error) => {
                warnings.add(number, format!("has an item of another kind ({error}); it is left out"));
                continue;
            }
        };
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
                    if things.is_empty() {
                        skipped += 1;
                        continue;
                    }
                    let rows = things.into_iter().map(row).collect();
                    again += usize::from(all.insert((segment, system.clone(), rater.clone()), rows).is_some());
                }
            }
        }
    }
    [skipped, again]
}

fn things(said: PearmutSaid, text: &str, asks: bool) -> Vec<RatedThing> {
    let rating = said.score.map(|score| RatedThing::Rating(score.round() as u8));
    let asks = asks && said.error_spans.is_some();
    let spans = said.error_spans.unwrap_or_default();
    let is_clean = spans.is_empty() && said.no_errors.unwrap_or(asks && rating.is_some());
    let (units, end): (Vec<usize>, _) = (units(text).collect(), text.chars().count());
    let mark = |span: PearmutSpan| {
        // words of another corpus may be other ones, letters are not
        if let Some((spans, mark)) = span.mark.and_then(|mut mark| Some((mark.spans.take()?, mark))) {
            return RatedThing::Mark(mark, spans);
        }
        let category = span.category.filter(|kind| !kind.is_empty()).unwrap_or_else(|| KIND.to_owned());
        let severity = span.severity.map_or_else(|| SEVERITY.to_owned(), |severity| severity.to_lowercase());
        let first = units.get(span.start_i).copied().unwrap_or(end);
        let behind = units.get(span.end_i).map_or(end, |last| last + 1);
        let mark = ErrorMark { category, severity, ..ErrorMark::default() };
        RatedThing::Mark(mark, (Some((first, Some(behind.max(first)))), None))
    };
    let marks = spans.into_iter().map(mark);
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
    let fact =
        "Scores and error spans of COMET, as JSON; the spans are suggestions by xCOMET, in the columns `suggested`.";
    let mut file = RatedFile::new(fact);
    file.names_files = true;
    let why = |error: serde_json::Error| Error::file(path, format!("is no JSON of comet-score ({error})"));
    let all: BTreeMap<String, Vec<CometSegment>> = serde_json::from_str(text).map_err(why)?;
    let has_spans = all.values().flatten().any(|one| one.errors.is_some());
    let own = |name: &String| stem(Path::new(name));
    let mut names = BTreeMap::<String, usize>::new();
    for name in all.keys() {
        *names.entry(own(name)).or_default() += 1;
    }
    for (name, segments) in all {
        // Files in several folders may be called the same.
        let system = if names[&own(&name)] > 1 { name } else { own(&name) };
        for (n, one) in segments.into_iter().enumerate() {
            let reference = one.reference.filter(|text| !text.is_empty());
            // Sentences that occur twice are told apart by their number.
            let segment = RatedSegment { source: one.src, reference, name: (n + 1).to_string(), line: n + 1 };
            let segment = file.segment(segment);
            let copy = file.says(&system, segment, &one.mt);
            for (key, score) in one.others.iter().filter_map(|(key, value)| Some((key, value.as_f64()?))) {
                file.scores.entry((key.clone(), system.clone())).or_default().insert(segment, score as f32);
            }
            let mark = |span: &CometSpan| {
                let severity = span.severity.clone().unwrap_or_else(|| SEVERITY.to_owned());
                let note = span.confidence.map(|confidence| format!("confidence {confidence:.2}")).unwrap_or_default();
                let mark = ErrorMark { severity, note, category: KIND.to_owned(), ..ErrorMark::default() };
                RatedThing::Mark(mark, (Some(span.letters(&one.mt)), None))
            };
            // Where others have spans, it looked at those without any, too.
            let Some(errors) = one.errors.as_deref().or(has_spans.then_some(&[])) else { continue };
            let none = errors.is_empty().then_some(RatedThing::NoErrors);
            for thing in errors.iter().map(mark).chain(none) {
                let (system, rater) = (system.clone(), METRIC.to_owned());
                file.rows.push(RatedRow { line: n + 1, segment, system, rater, copy, thing });
            }
        }
    }
    Ok(file)
}
