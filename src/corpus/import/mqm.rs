//! Judgements of the WMT's metrics tasks (MQM), tables with a row for each error that a rater marked, or for each
//! translation without any. Marot, the viewer of these, adds notes in a column of JSON.
//!
//! The letters of an error stand between `<v>` and `</v>`. Cells are raw, as mt-metrics-eval reads them; a table that
//! a spreadsheet quoted is known by doubled quotes.

use std::path::Path;

use crate::import::rated::{RatedFile, RatedRow, RatedSegment, RatedThing};
use crate::import::{rated, report::ImportReport};
use crate::judgements::judge::{ErrorMark, Letters};
use crate::{judgements::spans::moved, store::file::Workspace};
use engine::error::{Error, Result};
use engine::ticket::CancellationToken;
use import::{Warnings, input::ImportInput, recognise::MQM};

/// How the categories of Google's raters begin.
const GOOGLE: &[&str] = &["Accuracy/", "Fluency/", "Terminology/", "Style/", "Locale convention/", "Non-translation"];

struct MqmColumns {
    /// What tells one sentence from another beside its text: document and number.
    place: Vec<usize>,
    found: [usize; 6],
    /// A note, or JSON with one.
    note: Option<usize>,
}

impl MqmColumns {
    fn of(head: &str) -> Option<Self> {
        let heads: Vec<String> = head.split('\t').map(|name| unquoted(name.trim()).to_lowercase()).collect();
        let find = |name: &str| heads.iter().position(|head| head == name);
        let found = MQM.map(find);
        let [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f)] = found else { return None };
        let names = ["doc", "docid", "doc_id", "docsegid", "seg_id", "segid", "globalsegid"];
        Some(Self {
            place: names.into_iter().filter_map(find).collect(),
            found: [a, b, c, d, e, f],
            note: ["metadata", "note", "comment"].into_iter().find_map(find),
        })
    }
}

/// Imports a file, as [`rated::take`] does.
pub fn import(
    workspace: &mut Workspace, (path, replaces): (&Path, bool), ticket: &CancellationToken,
) -> Result<ImportReport> {
    let mut warnings = Warnings::new(path);
    let file = read(path, &mut warnings, ticket)?;
    rated::take(workspace, (path, replaces), (file, warnings))
}

fn is_quoted(path: &Path) -> Result<bool> {
    let (mut lines, mut warnings) = (ImportInput::open(path, None)?.lines()?, Warnings::new(path));
    let mut has_doubled = false;
    while let Some(line) = lines.next(&mut warnings)? {
        let text = line.text.unwrap_or_default();
        for cell in text.split('\t').filter(|cell| cell.contains('"') && !cell.trim_start().starts_with('{')) {
            let within = cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            let Some(within) = within.filter(|within| !within.replace("\"\"", "").contains('"')) else {
                return Ok(false);
            };
            has_doubled |= line.number == 1 || within.contains("\"\"");
        }
    }
    Ok(has_doubled)
}

fn unquoted(cell: &str) -> String {
    let within = cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    within.map_or_else(|| cell.to_owned(), |within| within.replace("\"\"", "\""))
}

fn read(path: &Path, warnings: &mut Warnings, ticket: &CancellationToken) -> Result<RatedFile> {
    let is_quoted = is_quoted(path)?;
    let cell = |text: &str| if is_quoted { unquoted(text) } else { text.to_owned() };
    let mut lines = ImportInput::open(path, None)?.lines()?;
    let mut columns: Option<MqmColumns> = None;
    let fact = "Errors marked by raters of the WMT (MQM), as a table.";
    let mut file = RatedFile::new(fact);
    while let Some(line) = lines.next(warnings)? {
        ticket.check()?;
        let Some(text) = line.text.filter(|text| !text.trim().is_empty()) else { continue };
        let Some(columns) = &columns else {
            let none = || Error::file(path, format!("has no columns `{}` with tabs between them", MQM.join("`, `")));
            columns = Some(MqmColumns::of(&text).ok_or_else(none)?);
            continue;
        };
        let cells: Vec<String> = text.split('\t').map(cell).collect();
        let is_there = |n: usize| cells.get(columns.found[n]).is_some_and(|cell| n > 1 || !cell.trim().is_empty());
        if let Some(n) = (0..MQM.len()).find(|n| !is_there(*n)) {
            let (count, at, name) = (cells.len(), columns.found[n] + 1, MQM[n]);
            let message = format!("has {count} cells and no `{name}`, which is column {at}; it is left out");
            warnings.add(line.number, message);
            continue;
        }
        if [3, 2].iter().any(|n| cells[columns.found[*n]].matches("<v>").count() > 1) {
            warnings.add(line.number, "marks several places at once; the first is taken".to_owned());
        }
        row(&mut file, columns, &cells, line.number);
    }
    Ok(file)
}

fn row(file: &mut RatedFile, columns: &MqmColumns, cells: &[String], line: usize) {
    let [system, rater, source, target, category, severity] = columns.found.map(|at| cells[at].as_str());
    let [system, rater, category, severity] = [system, rater, category, severity].map(str::trim);
    let ((source, of_source), (target, of_target)) = (marked(source), marked(target));
    let place: Vec<&str> = columns.place.iter().filter_map(|at| cells.get(*at)).map(|cell| cell.trim()).collect();
    let copy = source.clone();
    let segment = file.segment(RatedSegment { source, reference: None, name: place.join(" "), line });
    let of_source = of_source.map(|letters| moved(letters, &copy, &file.segments[segment].source));
    let copy = file.says(system, segment, &target);
    let is_clean = [category, severity].iter().any(|cell| cell.to_lowercase().starts_with("no-error"));
    if !is_clean && GOOGLE.iter().any(|group| category.starts_with(group)) {
        file.scheme = Some("google");
    }
    let mild = severity.to_lowercase();
    let mark = ErrorMark {
        system: system.to_owned(),
        category: category.to_owned(),
        // Severities are small here and begin with a capital there; others stay as they are.
        severity: if severity == mild || severity == capital(&mild) { mild } else { severity.to_owned() },
        note: columns.note.and_then(|at| cells.get(at)).map(|cell| note(cell)).unwrap_or_default(),
        ..ErrorMark::default()
    };
    let thing = if is_clean { RatedThing::NoErrors } else { RatedThing::Mark(mark, (of_target, of_source)) };
    let (system, rater) = (system.to_owned(), rater.to_owned());
    file.rows.push(RatedRow { line, segment, system, rater, copy, thing });
}

pub(crate) fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn note(cell: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(cell) {
        Ok(serde_json::Value::Object(all)) => {
            all.get("note").and_then(|note| note.as_str()).unwrap_or_default().to_owned()
        }
        _ => cell.trim().to_owned(),
    }
}

/// A text without its tags, and the letters between the first of them; the tag may not be closed.
fn marked(text: &str) -> (String, Option<Letters>) {
    let plain = text.replace("<v>", "").replace("</v>", "");
    let Some((before, rest)) = text.split_once("<v>") else { return (plain, None) };
    let first = before.replace("</v>", "").chars().count();
    let behind = rest.split_once("</v>").map(|(within, _)| first + within.replace("<v>", "").chars().count());
    (plain, Some((first, behind)))
}
