//! Floor 7: judgements of the WMT's metrics tasks (MQM), tables with a row for each error that a rater marked, or for each
//! translation without any. Marot, the viewer of these, adds notes in a column of JSON.
//!
//! The letters of an error stand between `<v>` and `</v>`.

use std::path::Path;

use crate::corpus::import::rated;
use crate::corpus::import::rated::{RatedFile, RatedRow, RatedSegment, RatedThing};
use crate::corpus::import::report::ImportReport;
use crate::corpus::judgements::judge::ErrorMark;
use crate::corpus::store::file::Workspace;
use crate::error::{Error, Result};
use crate::import::Warnings;
use crate::import::input::ImportInput;
use crate::text::words::{LetterSpan, span_of, words};
use crate::ticket::CancellationToken;

/// Where the columns are.
struct MqmColumns {
    count: usize,
    /// What tells one sentence from another beside its text: document and number.
    place: Vec<usize>,
    /// `system`, `rater`, `source`, `target`, `category`, `severity`.
    told: [usize; 6],
    /// A note, or JSON with one.
    note: Option<usize>,
}

impl MqmColumns {
    fn of(head: &str) -> Option<Self> {
        let heads: Vec<String> = head.split('\t').map(|name| name.trim().to_lowercase()).collect();
        let find = |name: &str| heads.iter().position(|head| head == name);
        let told = ["system", "rater", "source", "target", "category", "severity"].map(find);
        let [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f)] = told else { return None };
        let names = ["doc", "docid", "doc_id", "docsegid", "seg_id", "segid", "globalsegid"];
        Some(Self {
            count: heads.len(),
            place: names.into_iter().filter_map(find).collect(),
            told: [a, b, c, d, e, f],
            note: find("metadata").or_else(|| find("note")),
        })
    }
}

/// Whether a file is one, by its first line.
pub fn holds(path: &Path) -> bool {
    let head = ImportInput::open(path, None).map(|input| input.head());
    head.is_ok_and(|head| head.lines().find(|line| !line.trim().is_empty()).and_then(MqmColumns::of).is_some())
}

/// Imports a file, as [`rated::take`] does.
///
/// # Errors
/// A sentence about either file.
pub fn import(
    workspace: &mut Workspace,
    (path, replaces): (&Path, bool),
    ticket: &CancellationToken,
) -> Result<ImportReport> {
    let mut warnings = Warnings::new(path);
    let file = read(path, &mut warnings, ticket)?;
    rated::take(workspace, (path, replaces), (file, warnings))
}

fn read(path: &Path, warnings: &mut Warnings, ticket: &CancellationToken) -> Result<RatedFile> {
    let mut lines = ImportInput::open(path, None)?.lines()?;
    let mut columns: Option<MqmColumns> = None;
    let fact = "Errors marked by raters of the WMT (MQM), as a table.";
    let mut file = RatedFile::new(fact);
    while let Some(line) = lines.next(warnings)? {
        ticket.check()?;
        let Some(text) = line.text.filter(|text| !text.trim().is_empty()) else { continue };
        let Some(columns) = &columns else {
            let none =
                || Error::file(path, "has no columns `system`, `rater`, `source`, `target`, `category`, `severity`");
            columns = Some(MqmColumns::of(&text).ok_or_else(none)?);
            continue;
        };
        let cells: Vec<String> = text.split('\t').map(str::to_owned).collect();
        if cells.len() < columns.count {
            let (cells, count) = (cells.len(), columns.count);
            warnings.add(line.number, format!("has {cells} cells, but there are {count} columns; it is left out"));
            continue;
        }
        let [system, rater, source, target, category, severity] = columns.told.map(|at| cells[at].trim());
        let ((source, source_words), (target, target_words)) = (marked(source), marked(target));
        let place: Vec<&str> = columns.place.iter().map(|at| cells[*at].trim()).collect();
        let (name, line_number) = (place.join(" "), line.number);
        let segment = file.segment(RatedSegment { source, reference: None, name, line: line_number });
        let count = words(&target).count();
        let is_clean = [category, severity].iter().any(|cell| cell.to_lowercase().starts_with("no-error"));
        // Of an omission the words of the source are marked; where nothing is, all is meant.
        let whole = if source_words.is_some() { (count, count) } else { (0, count) };
        let (words, letters) = target_words.unwrap_or((whole, None));
        let mark = ErrorMark {
            system: system.to_owned(),
            target: words,
            letters,
            source: source_words.map(|(words, _)| words).unwrap_or_default(),
            category: category.to_owned(),
            severity: severity.to_lowercase(),
            note: columns.note.map(|at| note(&cells[at])).unwrap_or_default(),
        };
        if !file.says(system, segment, &target) {
            warnings
                .add(line.number, format!("has another translation of {system} than an earlier line; it is left out"));
            continue;
        }
        let thing = if is_clean { RatedThing::NoErrors } else { RatedThing::Mark(mark) };
        let (system, rater) = (system.to_owned(), rater.to_owned());
        file.rows.push(RatedRow { line: line.number, segment, system, rater, thing });
    }
    Ok(file)
}

/// A note as it is, or that of Marot's JSON.
fn note(cell: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(cell) {
        Ok(serde_json::Value::Object(all)) => {
            all.get("note").and_then(|note| note.as_str()).unwrap_or_default().to_owned()
        }
        _ => cell.trim().to_owned(),
    }
}

/// A text without its tags, and the letters between them.
fn marked(text: &str) -> (String, Option<LetterSpan>) {
    let plain = text.replace("<v>", "").replace("</v>", "");
    let Some((before, rest)) = text.split_once("<v>") else { return (plain, None) };
    let Some((within, _)) = rest.split_once("</v>") else { return (plain, None) };
    let first = before.chars().count();
    let span = span_of(&plain, first..first + within.chars().count());
    (plain, Some(span))
}
