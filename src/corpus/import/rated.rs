//! Floor 7: what people, or a metric, say of the outputs of systems in files of others: sentences, what systems said, marks of
//! errors and ratings by rater. The formats are tables of the WMT ([`mqm`](super::mqm)) and JSON ([`spans`](super::spans)).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use crate::corpus::import::letters::visible;
use crate::corpus::import::places::SentencePlaces;
use crate::corpus::import::report::ImportReport;
use crate::corpus::judgements::judge::{ErrorMark, Given, Judgement};
use crate::corpus::judgements::judgement_io::strange;
use crate::corpus::measures::table::Measuring;
use crate::corpus::store::file::Workspace;
use crate::corpus::store::output::SystemOutput;
use crate::corpus::store::read::StoredAbout;
use crate::corpus::store::write::{NewSentence, Placed};
use crate::error::Result;
use crate::import::Warnings;
use crate::text::words::words;

/// Sentences by which a system of the workspace is known that a file names otherwise.
const COMPARED: usize = 20;

/// A sentence of the file.
pub(super) struct RatedSegment {
    pub source: String,
    pub reference: Option<String>,
    pub name: String,
    pub line: usize,
}

/// What is said of an output.
pub(super) enum RatedThing {
    Mark(ErrorMark),
    NoErrors,
    Rating(u8),
}

/// A row of the file.
pub(super) struct RatedRow {
    pub line: usize,
    pub segment: usize,
    pub system: String,
    pub rater: String,
    pub thing: RatedThing,
}

/// What a file says.
#[derive(Default)]
pub(super) struct RatedFile {
    /// What it is, as a sentence.
    pub fact: &'static str,
    pub segments: Vec<RatedSegment>,
    known: HashMap<String, usize>,
    outputs: BTreeMap<(String, usize), String>,
    pub rows: Vec<RatedRow>,
    /// Scores by the title, the system and the segment.
    pub scores: BTreeMap<(&'static str, String), BTreeMap<usize, f32>>,
}

impl RatedFile {
    /// One that says nothing yet.
    pub(super) fn new(fact: &'static str) -> Self {
        Self { fact, ..Self::default() }
    }

    /// The number of a segment, which may be there already.
    pub(super) fn segment(&mut self, segment: RatedSegment) -> usize {
        let next = self.segments.len();
        let key = format!("{}\t{}", segment.name, segment.source);
        let found = *self.known.entry(key).or_insert(next);
        if found == next {
            self.segments.push(segment);
        }
        found
    }

    /// Notes what a system says of a segment; false where an earlier line has something else.
    pub(super) fn says(&mut self, system: &str, segment: usize, text: &str) -> bool {
        self.outputs.entry((system.to_owned(), segment)).or_insert_with(|| text.to_owned()) == text
    }
}

/// Takes in what a file says. Sentences that are there are joined by their texts, the others are new. What a system said otherwise
/// stays, unless the file `replaces` it; marks of other words than it says are left out. All judgements are one act.
///
/// # Errors
/// A sentence about either file.
pub(super) fn take(
    workspace: &mut Workspace,
    (path, replaces): (&Path, bool),
    (mut file, warnings): (RatedFile, Warnings),
) -> Result<ImportReport> {
    let mut report = ImportReport { warned: warnings.count, ..ImportReport::default() };
    report.warnings = warnings.kept.into_iter().map(|warning| warning.sentence).collect();
    report.facts.push(file.fact.to_owned());
    let places = places(workspace, path, &file.segments, &mut report)?;
    name_as_known(workspace, &mut file, &places)?;
    let others = add_outputs(workspace, path, &file, &places, replaces, &mut report)?;
    let mut said: BTreeMap<(usize, String), Judgement> = BTreeMap::new();
    for row in std::mem::take(&mut file.rows) {
        if others.contains(&(row.system.clone(), row.segment)) {
            report.warn(path, row.line, &format!("judges what {} does not say here; it is left out", row.system));
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
        match row.thing {
            RatedThing::Mark(mark) if judgement.marks.contains(&mark) => {}
            RatedThing::Mark(mark) => judgement.mark(mark),
            RatedThing::NoErrors if judgement.judges(&row.system) => {}
            RatedThing::NoErrors => judgement.turn_no_errors(row.system),
            RatedThing::Rating(rating) => judgement.rate(row.system, Some(rating)),
        }
    }
    for ((title, system), scores) in &file.scores {
        let scores = scores.iter().filter(|(segment, _)| !others.contains(&(system.clone(), **segment)));
        let scores: BTreeMap<usize, f32> = scores.map(|(segment, score)| (places[*segment], *score)).collect();
        report.scores += scores.len();
        let system = workspace.add_system(system, &StoredAbout::default())?.id;
        workspace.add_scores(system, title, &scores)?;
    }
    report.facts.extend(strange(&said, workspace)?);
    report.judgements = said.len();
    let given: Vec<Given> = said.into_iter().map(|((at, by), judgement)| (at, by, judgement)).collect();
    workspace.judge_all(&given, &[])?;
    workspace.fold()?;
    Ok(report)
}

/// Gives a system that the workspace does not have the name of the one that says the same there: metrics name files, not systems.
fn name_as_known(workspace: &mut Workspace, file: &mut RatedFile, places: &[usize]) -> Result<()> {
    let known = workspace.systems()?;
    let names: BTreeSet<String> = file.outputs.keys().map(|(name, _)| name.clone()).collect();
    for name in names.into_iter().filter(|name| known.iter().all(|system| system.name != *name)) {
        let said = file.outputs.range((name.clone(), 0)..).take_while(|((of, _), _)| *of == name).take(COMPARED);
        let said: Vec<(usize, &String)> = said.map(|((_, segment), text)| (places[*segment], text)).collect();
        let mut same = None;
        for system in &known {
            let mut is_same = true;
            for (at, text) in &said {
                is_same &= workspace.output(system.id, *at)?.is_some_and(|output| output.text == **text);
            }
            same = same.or_else(|| is_same.then(|| system.name.clone()));
        }
        if let Some(same) = same {
            rename(file, &name, &same);
        }
    }
    Ok(())
}

fn rename(file: &mut RatedFile, from: &str, to: &str) {
    let new = |name: String| if name == from { to.to_owned() } else { name };
    file.outputs =
        std::mem::take(&mut file.outputs).into_iter().map(|((name, n), text)| ((new(name), n), text)).collect();
    file.scores =
        std::mem::take(&mut file.scores).into_iter().map(|((title, name), all)| ((title, new(name)), all)).collect();
    for row in &mut file.rows {
        row.system = new(std::mem::take(&mut row.system));
        if let RatedThing::Mark(mark) = &mut row.thing {
            mark.system.clone_from(&row.system);
        }
    }
}

/// The places of the sentences, from 0; those that are not there are added.
fn places(
    workspace: &mut Workspace,
    path: &Path,
    segments: &[RatedSegment],
    report: &mut ImportReport,
) -> Result<Vec<usize>> {
    let (mut places, mut taken, mut new) = (Vec::with_capacity(segments.len()), BTreeMap::new(), Vec::new());
    let (len, known) = (workspace.len()?, SentencePlaces::read(workspace)?);
    for segment in segments {
        // Those with the same letters are taken in order.
        let used = taken.entry(visible(&segment.source).collect::<String>()).or_insert(0);
        let found = known.of(workspace, &segment.source, *used).next().transpose()?.map(|(place, _)| place);
        *used += usize::from(found.is_some());
        let place = found.unwrap_or_else(|| {
            let (source, line) = (segment.source.clone(), segment.line);
            let name = Some(segment.name.clone()).filter(|name| !name.is_empty());
            new.push(NewSentence {
                source,
                reference: segment.reference.clone(),
                name,
                line,
                ..NewSentence::default()
            });
            len + new.len() - 1
        });
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
    file: &RatedFile,
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
