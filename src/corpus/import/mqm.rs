//! Floor 7: judgements of the WMT's metrics tasks (MQM), tables with a row for each error that a rater marked, or for each
//! translation without any: sentences, what systems said, and marks of errors by rater.
//!
//! The words of an error stand between `<v>` and `</v>`. A mark is of whole words between spaces.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use crate::corpus::import::letters::visible;
use crate::corpus::import::report::ImportReport;
use crate::corpus::judgements::judge::{ErrorMark, Given, Judgement};
use crate::corpus::judgements::judgement_io::strange;
use crate::corpus::measures::table::Measuring;
use crate::corpus::store::file::Workspace;
use crate::corpus::store::output::SystemOutput;
use crate::corpus::store::read::StoredAbout;
use crate::corpus::store::write::{NewSentence, Placed};
use crate::error::{Error, Result};
use crate::import::Warnings;
use crate::import::formats::table::unquoted;
use crate::import::input::ImportInput;
use crate::text::words::words;
use crate::ticket::CancellationToken;

/// Where the columns are.
struct MqmColumns {
    count: usize,
    /// What tells one sentence from another beside its text: document and number.
    place: Vec<usize>,
    /// `system`, `rater`, `source`, `target`, `category`, `severity`.
    told: [usize; 6],
}

impl MqmColumns {
    fn of(head: &str) -> Option<Self> {
        let heads: Vec<String> = head.split('\t').map(|name| name.trim().to_lowercase()).collect();
        let find = |name: &str| heads.iter().position(|head| head == name);
        let told = ["system", "rater", "source", "target", "category", "severity"].map(find);
        let [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f)] = told else { return None };
        let names = ["doc", "docid", "doc_id", "docsegid", "seg_id", "segid", "globalsegid"];
        Some(Self { count: heads.len(), place: names.into_iter().filter_map(find).collect(), told: [a, b, c, d, e, f] })
    }
}

/// A sentence of the file.
struct Segment {
    source: String,
    name: String,
    line: usize,
}

/// A row of the file.
struct MqmRow {
    line: usize,
    segment: usize,
    system: String,
    rater: String,
    /// `None`: the translation has no errors.
    mark: Option<ErrorMark>,
}

/// What a file says.
#[derive(Default)]
struct MqmFile {
    segments: Vec<Segment>,
    outputs: BTreeMap<(String, usize), String>,
    rows: Vec<MqmRow>,
}

/// Whether a file is one, by its first line.
pub fn holds(path: &Path) -> bool {
    let head = ImportInput::open(path, None).map(|input| input.head());
    head.is_ok_and(|head| head.lines().find(|line| !line.trim().is_empty()).and_then(MqmColumns::of).is_some())
}

/// Imports a file. Sentences that are there are joined by their texts, the others are new. What a system said otherwise
/// stays, unless the file `replaces` it; marks of other words than it says are left out. All judgements are one act.
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
    let mut report = ImportReport { warned: warnings.count, ..ImportReport::default() };
    report.warnings = warnings.kept.into_iter().map(|warning| warning.sentence).collect();
    report.facts.push("Errors marked by raters of the WMT (MQM), as a table.".to_owned());
    let places = places(workspace, path, &file.segments, &mut report)?;
    let others = add_outputs(workspace, path, &file, &places, replaces, &mut report)?;
    let mut said: BTreeMap<(usize, String), Judgement> = BTreeMap::new();
    for row in file.rows {
        if others.contains(&(row.system.clone(), row.segment)) {
            report.warn(path, row.line, &format!("marks what {} does not say here; the mark is left out", row.system));
            continue;
        }
        let (at, by) = (places[row.segment], row.rater);
        let judgement = match said.entry((at, by)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let known = workspace.judgements_of(at)?.remove(&new.key().1).unwrap_or_default();
                new.insert(known)
            }
        };
        match row.mark {
            Some(mark) if judgement.marks.contains(&mark) => {}
            Some(mark) => judgement.mark(mark),
            None if judgement.judges(&row.system) => {}
            None => judgement.turn_no_errors(row.system),
        }
    }
    report.facts.extend(strange(&said, workspace)?);
    report.judgements = said.len();
    let given: Vec<Given> = said.into_iter().map(|((at, by), judgement)| (at, by, judgement)).collect();
    workspace.judge_all(&given, &[])?;
    workspace.fold()?;
    Ok(report)
}

fn read(path: &Path, warnings: &mut Warnings, ticket: &CancellationToken) -> Result<MqmFile> {
    let mut lines = ImportInput::open(path, None)?.lines()?;
    let (mut columns, mut file): (Option<MqmColumns>, _) = (None, MqmFile::default());
    let mut known: HashMap<String, usize> = HashMap::new();
    while let Some(line) = lines.next(warnings)? {
        ticket.check()?;
        let Some(text) = line.text.filter(|text| !text.trim().is_empty()) else { continue };
        let Some(columns) = &columns else {
            let none =
                || Error::file(path, "has no columns `system`, `rater`, `source`, `target`, `category`, `severity`");
            columns = Some(MqmColumns::of(&text).ok_or_else(none)?);
            continue;
        };
        let cells: Vec<String> = text.split('\t').map(unquoted).collect();
        if cells.len() < columns.count {
            let (cells, count) = (cells.len(), columns.count);
            warnings.add(line.number, format!("has {cells} cells, but there are {count} columns; it is left out"));
            continue;
        }
        let [system, rater, source, target, category, severity] = columns.told.map(|at| cells[at].trim());
        let ((source, source_words), (target, target_words)) = (marked(source), marked(target));
        let place: Vec<&str> = columns.place.iter().map(|at| cells[*at].trim()).collect();
        let name = place.join(" ");
        let next = file.segments.len();
        let segment = *known.entry(format!("{name}\t{source}")).or_insert(next);
        if segment == next {
            file.segments.push(Segment { source, name, line: line.number });
        }
        let count = words(&target).count();
        let is_clean = [category, severity].iter().any(|cell| cell.to_lowercase().starts_with("no-error"));
        // Of an omission the words of the source are marked; where nothing is, all is meant.
        let whole = if source_words.is_some() { (count, count) } else { (0, count) };
        let mark = (!is_clean).then(|| ErrorMark {
            system: system.to_owned(),
            target: target_words.unwrap_or(whole),
            source: source_words.unwrap_or_default(),
            category: category.to_owned(),
            severity: severity.to_lowercase(),
            note: String::new(),
        });
        let said = file.outputs.entry((system.to_owned(), segment)).or_insert_with(|| target.clone());
        if *said != target {
            warnings
                .add(line.number, format!("has another translation of {system} than an earlier line; it is left out"));
            continue;
        }
        file.rows.push(MqmRow { line: line.number, segment, system: system.to_owned(), rater: rater.to_owned(), mark });
    }
    Ok(file)
}

/// A text without its tags, and the words between them.
fn marked(text: &str) -> (String, Option<(usize, usize)>) {
    let plain = text.replace("<v>", "").replace("</v>", "");
    let Some((before, rest)) = text.split_once("<v>") else { return (plain, None) };
    let Some((within, _)) = rest.split_once("</v>") else { return (plain, None) };
    let is_cut = before.ends_with(|c: char| !c.is_whitespace()) && within.starts_with(|c: char| !c.is_whitespace());
    let first = words(before).count() - usize::from(is_cut);
    let behind = words(&format!("{before}{within}")).count().max(first);
    (plain, Some((first, behind)))
}

/// The places of the sentences, from 0; those that are not there are added.
fn places(
    workspace: &mut Workspace,
    path: &Path,
    segments: &[Segment],
    report: &mut ImportReport,
) -> Result<Vec<usize>> {
    let (mut places, mut taken, mut new) = (Vec::with_capacity(segments.len()), BTreeSet::new(), Vec::new());
    let len = workspace.len()?;
    for segment in segments {
        let found = workspace.places_of(&visible(&segment.source).collect::<String>())?;
        let place = found.into_iter().find(|place| !taken.contains(place)).unwrap_or_else(|| {
            let (source, line) = (segment.source.clone(), segment.line);
            let name = Some(segment.name.clone()).filter(|name| !name.is_empty());
            new.push(NewSentence { source, name, line, ..NewSentence::default() });
            len + new.len() - 1
        });
        taken.insert(place);
        places.push(place);
    }
    report.sentences = new.len();
    let origin = workspace.add_origin(&path.display().to_string(), &report.facts.join(" "))?;
    if !new.is_empty() {
        workspace.add_sentences(origin, &new)?;
    }
    Ok(places)
}

/// Puts in what systems said; gives where a system says something else, which stays.
fn add_outputs(
    workspace: &mut Workspace,
    path: &Path,
    file: &MqmFile,
    places: &[usize],
    replaces: bool,
    report: &mut ImportReport,
) -> Result<BTreeSet<(String, usize)>> {
    let about =
        StoredAbout { file: path.display().to_string(), facts: report.facts.join(" "), ..StoredAbout::default() };
    let (mut others, mut by_system) = (BTreeSet::new(), BTreeMap::<i64, Vec<Placed>>::new());
    for ((name, segment), text) in &file.outputs {
        let id = workspace.add_system(name, &about)?.id;
        let at = places[*segment];
        let before = workspace.output(id, at)?.map(|known| known.text);
        if before.as_ref() == Some(text) {
            continue;
        }
        if before.is_some() && !report.replaces(format!("outputs of {name}"), replaces) {
            others.insert((name.clone(), *segment));
            continue;
        }
        let all = |text: &str| words(text).map(str::to_owned).collect();
        let (source, target) = (all(&file.segments[*segment].source), all(text));
        let output = SystemOutput { text: text.clone(), source, target, ..SystemOutput::default() };
        by_system.entry(id).or_default().push((at, output));
    }
    for (system, outputs) in by_system {
        report.outputs += outputs.len();
        report.apart += workspace.add_outputs(system, &outputs, &mut Measuring::default())?;
    }
    Ok(others)
}
