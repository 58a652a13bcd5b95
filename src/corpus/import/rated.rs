//! What people, or a metric, say of the outputs of systems in files of others: sentences, what systems said, marks of
//! errors and ratings by rater. The formats are tables of the WMT ([`mqm`](super::mqm)) and JSON
//! ([`spans`](super::spans)).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::{collections::btree_map::Entry, path::Path, sync::Arc};

use crate::import::{places::SentencePlaces, places::visible, report::ImportReport};
use crate::judgements::judge::{ByAnnotator, ErrorMark, Given, Judgement, Judges, MarkSpans};
use crate::judgements::scheme::{ErrorScheme, Renamed};
use crate::judgements::{judgement_io::strange, spans::moved};
use crate::measures::table::Measuring;
use crate::store::write::{NewSentence, Placed};
use crate::store::{file::Workspace, output::SystemOutput, read::StoredAbout, rules::KnownWords};
use engine::error::Result;
use import::Warnings;

/// How names begin that are none, as tables of sentences without a document have them.
pub(crate) const NO_DOCUMENT: &str = "corpus ";
const COMPARED: usize = 20;
const TRIED: usize = 50;

pub(super) struct RatedSegment {
    pub source: String,
    pub reference: Option<String>,
    pub name: String,
    pub line: usize,
}

#[expect(clippy::large_enum_variant, reason = "most of them are marks")]
pub(super) enum RatedThing {
    /// An error, at these letters of the row's translation and of the segment's source.
    Mark(ErrorMark, MarkSpans),
    NoErrors,
    Rating(u8),
}

pub(super) struct RatedRow {
    pub line: usize,
    pub segment: usize,
    pub system: String,
    pub rater: String,
    /// Which of the system's texts of the segment it judges.
    pub copy: usize,
    pub thing: RatedThing,
}

#[derive(Default)]
struct Copies {
    texts: Vec<(Arc<str>, usize)>,
    known: HashMap<Arc<str>, usize>,
}

/// The text of an output that is judged, and which copies are it, spaces and the like aside.
struct Chosen {
    text: String,
    is_new: bool,
    fits: Vec<bool>,
}

type Outputs<T> = BTreeMap<(usize, String), T>;

#[derive(Default)]
pub(super) struct RatedFile {
    /// What it is, as a sentence.
    pub fact: &'static str,
    /// What else is to be said of it.
    pub remarks: Vec<String>,
    /// The systems are named as their files, not as the corpus names them.
    pub names_files: bool,
    /// The preset that its marks are weighed with, unless the corpus has others.
    pub scheme: Option<&'static str>,
    pub segments: Vec<RatedSegment>,
    known: HashMap<String, usize>,
    outputs: Outputs<Copies>,
    pub rows: Vec<RatedRow>,
    /// Scores by the title, the system and the segment.
    pub scores: BTreeMap<(String, String), BTreeMap<usize, f32>>,
}

impl RatedFile {
    pub(super) fn new(fact: &'static str) -> Self {
        Self { fact, ..Self::default() }
    }

    pub(super) fn segment(&mut self, segment: RatedSegment) -> usize {
        let next = self.segments.len();
        let key = segment.name.chars().chain(['\t']).chain(visible(&segment.source)).collect();
        let found = *self.known.entry(key).or_insert(next);
        if found == next {
            self.segments.push(segment);
        }
        found
    }

    pub(super) fn says(&mut self, system: &str, segment: usize, text: &str) -> usize {
        let copies = self.outputs.entry((segment, system.to_owned())).or_default();
        let found = copies.known.get(text).copied().unwrap_or_else(|| {
            let text: Arc<str> = text.into();
            copies.known.insert(Arc::clone(&text), copies.texts.len());
            copies.texts.push((text, 0));
            copies.texts.len() - 1
        });
        copies.texts[found].1 += 1;
        found
    }
}

/// Imports the sentences, outputs and judgements of a file, all judgements as one act. Outputs that differ stay unless the
/// file `replaces` them.
pub(super) fn take(
    workspace: &mut Workspace, (path, replaces): (&Path, bool), (mut file, warnings): (RatedFile, Warnings),
) -> Result<ImportReport> {
    let mut report = ImportReport { warned: warnings.count, ..ImportReport::default() };
    report.warnings = warnings.kept.into_iter().map(|warning| warning.sentence).collect();
    report.facts.push(file.fact.to_owned());
    report.facts.append(&mut file.remarks);
    report.facts.extend(several_sources(&file));
    let found = found(workspace, &file)?;
    if file.names_files {
        name_as_known(workspace, &mut file, &found)?;
    }
    let chosen = chosen(workspace, &file, &found, replaces, &mut report)?;
    let all = file.rows.len() + report.warned;
    let rows = fitting(std::mem::take(&mut file.rows), &chosen, path, &mut report);
    let lost = all - rows.len();
    if lost * 2 > all {
        let why =
            format!("{lost} of {all} rows cannot be used, so none is; check that the file belongs to this corpus.");
        report.facts.push(why);
        report.is_refused = true;
        return Ok(report);
    }
    let places = add_sentences(workspace, path, &file, &found, &mut report)?;
    add_outputs(workspace, path, (&file, &chosen, &places), &mut report)?;
    weigh(workspace, file.scheme, &mut report)?;
    let said = said(workspace, (&file, rows), &chosen, &places)?;
    for ((title, system), scores) in &file.scores {
        let is_kept = |segment: usize| chosen.get(&(segment, system.clone())).is_some_and(|one| one.fits[0]);
        let scores = scores.iter().filter(|(segment, _)| is_kept(**segment));
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

fn said(
    workspace: &Workspace, (file, rows): (&RatedFile, Vec<RatedRow>), chosen: &Outputs<Chosen>, places: &[usize],
) -> Result<BTreeMap<(usize, String), Judgement>> {
    let mut said = BTreeMap::new();
    // Marks from before that no row of the file has said again, whatever letters they are of.
    let mut before: BTreeMap<(usize, String, ErrorMark), usize> = BTreeMap::new();
    let bare = |mark: &ErrorMark| ErrorMark { spans: None, ..mark.clone() };
    for row in rows {
        let at = places[row.segment];
        let judgement: &mut Judgement = match said.entry((at, row.rater.clone())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let known = workspace.judgements_of(at)?.remove(&row.rater).unwrap_or_default();
                for mark in &known.marks {
                    *before.entry((at, row.rater.clone(), bare(mark))).or_default() += 1;
                }
                new.insert(known)
            }
        };
        let key = (row.segment, row.system);
        let mark = match row.thing {
            RatedThing::NoErrors => {
                judgement.no_errors.insert(key.1);
                continue;
            }
            RatedThing::Rating(rating) => {
                judgement.rate(key.1, Some(rating));
                continue;
            }
            RatedThing::Mark(mark, (target, source)) => {
                let (text, of) = (&chosen[&key].text, &file.segments[row.segment].source);
                let copy = &file.outputs[&key].texts[row.copy].0;
                let to = workspace.sentence(at)?.map_or_else(String::new, |sentence| sentence.source);
                let spans = (target.map(|one| moved(one, copy, text)), source.map(|one| moved(one, of, &to)));
                ErrorMark { system: key.1, ..mark }.at((text, &to, workspace.rules()), spans)
            }
        };
        match before.get_mut(&(at, row.rater, bare(&mark))) {
            Some(left) if *left > 0 => *left -= 1,
            _ => judgement.marks.push(mark),
        }
    }
    for judgement in said.values_mut() {
        let marked: BTreeSet<&String> = judgement.marks.iter().map(|mark| &mark.system).collect();
        judgement.no_errors.retain(|system| !marked.contains(system));
    }
    Ok(said)
}

fn several_sources(file: &RatedFile) -> Option<String> {
    let mut names = BTreeSet::new();
    let named = file.segments.iter().filter(|segment| !file.names_files && !segment.name.is_empty());
    let again: Vec<usize> = named.filter(|one| !names.insert(&one.name)).map(|one| one.line).collect();
    let (first, count) = (again.first()?, again.len());
    Some(format!(
        "{count} sources differ from those before under the same number, first in line {first}; each is a sentence."
    ))
}

fn fitting(rows: Vec<RatedRow>, chosen: &Outputs<Chosen>, path: &Path, report: &mut ImportReport) -> Vec<RatedRow> {
    let mut fit = |row: &RatedRow| {
        let chosen = &chosen[&(row.segment, row.system.clone())];
        if !chosen.fits[row.copy] {
            let than = if chosen.is_new { "most rows of this segment" } else { "the corpus" };
            let message = format!("judges another translation of {} than that of {than}; it is left out", row.system);
            report.warn(path, row.line, &message);
        }
        chosen.fits[row.copy]
    };
    rows.into_iter().filter(|row| fit(row)).collect()
}

fn weigh(workspace: &mut Workspace, preset: Option<&str>, report: &mut ImportReport) -> Result<()> {
    let Some(preset) = preset.and_then(ErrorScheme::preset) else { return Ok(()) };
    let mut scheme = workspace.scheme()?;
    let is_judged = |by: &Arc<ByAnnotator>| Judges::People.said(by).any(|(_, judgement)| judgement.judges_any());
    if scheme == ErrorScheme::default() && !workspace.judgements()?.values().any(is_judged) {
        workspace.set_scheme(&preset, &Renamed::default())?;
        scheme = preset;
    }
    report.facts.push(format!("Errors weigh by the scheme {}: {}.", scheme.name(), scheme.weights()));
    Ok(())
}

fn name_as_known(workspace: &mut Workspace, file: &mut RatedFile, found: &[Option<usize>]) -> Result<()> {
    let known = workspace.systems()?;
    let mut texts: BTreeMap<&String, Vec<(Option<usize>, &str)>> = BTreeMap::new();
    for ((segment, name), copies) in &file.outputs {
        texts.entry(name).or_default().push((found[*segment], &copies.texts[0].0));
    }
    let mut free: Vec<_> = known.iter().filter(|system| !texts.contains_key(&system.name)).collect();
    let mut names = BTreeMap::new();
    for (name, said) in texts.iter().filter(|(name, _)| known.iter().all(|system| system.name != ***name)) {
        for n in 0..free.len() {
            let mut is_same = true;
            for (at, text) in said.iter().take(COMPARED) {
                let output = at.map(|at| workspace.output(free[n].id, at)).transpose()?.flatten();
                is_same &= output.is_some_and(|output| output.text == *text);
            }
            if is_same {
                names.insert((*name).clone(), free.swap_remove(n).name.clone());
                break;
            }
        }
    }
    let new = |name: String| names.get(&name).cloned().unwrap_or(name);
    file.outputs =
        std::mem::take(&mut file.outputs).into_iter().map(|((n, name), all)| ((n, new(name)), all)).collect();
    file.scores =
        std::mem::take(&mut file.scores).into_iter().map(|((title, name), all)| ((title, new(name)), all)).collect();
    for row in &mut file.rows {
        row.system = new(std::mem::take(&mut row.system));
    }
    Ok(())
}

/// Finds the sentences of the file by their letters; of several by name, then outputs, then order.
fn found(workspace: &Workspace, file: &RatedFile) -> Result<Vec<Option<usize>>> {
    let known = SentencePlaces::read(workspace)?;
    let systems: HashMap<String, i64> = workspace.systems()?.into_iter().map(|known| (known.name, known.id)).collect();
    let mut alike: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let mut found: Vec<Option<usize>> = Vec::with_capacity(file.segments.len());
    for (n, segment) in file.segments.iter().enumerate() {
        let free = match alike.entry(visible(&segment.source).collect()) {
            Entry::Occupied(free) => free.into_mut(),
            Entry::Vacant(new) => {
                let places = known.of(workspace, &segment.source).map(|found| found.map(|(at, _)| at));
                new.insert(places.collect::<Result<_>>()?)
            }
        };
        let mut best = free.first().map(|at| ([0; 4], *at));
        for at in free.iter().take(TRIED).filter(|_| free.len() > 1) {
            let name = workspace.sentence(*at)?.and_then(|sentence| sentence.name).unwrap_or_default();
            let is_number = segment.name.rsplit(' ').next() == Some(&(at + 1).to_string());
            let mut same = 0;
            for ((_, system), copies) in file.outputs.range((n, String::new())..(n + 1, String::new())) {
                // A file that is a name may be any system.
                let ids = systems
                    .iter()
                    .filter(|(name, _)| *name == system || file.names_files && !systems.contains_key(system));
                for (_, id) in ids {
                    let output = workspace.output_text(*id, *at)?;
                    same += usize::from(output.is_some_and(|text| copies.known.contains_key(text.as_str())));
                }
            }
            let is_next = found.last().copied().flatten().is_some_and(|before| before + 1 == *at);
            let rank = [usize::from(name == segment.name), same, usize::from(is_number), usize::from(is_next)];
            best = best.filter(|(known, _)| *known >= rank).or(Some((rank, *at)));
        }
        found.push(best.map(|(_, at)| at));
        best.map(|(_, at)| free.remove(&at));
    }
    Ok(found)
}

fn add_sentences(
    workspace: &mut Workspace, path: &Path, file: &RatedFile, found: &[Option<usize>], report: &mut ImportReport,
) -> Result<Vec<usize>> {
    let (len, mut new) = (workspace.len()?, Vec::new());
    let mut place = |(segment, found): (&RatedSegment, &Option<usize>)| {
        found.unwrap_or_else(|| {
            new.push(NewSentence {
                source: segment.source.clone(),
                reference: segment.reference.clone(),
                name: Some(segment.name.clone()).filter(|name| !name.is_empty()),
                line: segment.line,
                ..NewSentence::default()
            });
            len + new.len() - 1
        })
    };
    let places: Vec<usize> = file.segments.iter().zip(found).map(&mut place).collect();
    report.sentences = new.len();
    let origin = workspace.add_origin(&path.display().to_string(), &report.facts.join(" "))?;
    if !new.is_empty() {
        workspace.add_sentences(origin, &new)?;
    }
    let named = file.segments.iter().map(|segment| segment.name.as_str());
    workspace.name_sentences(places.iter().copied().zip(named).filter(|(_, name)| !name.starts_with(NO_DOCUMENT)))?;
    Ok(places)
}

fn chosen(
    workspace: &Workspace, file: &RatedFile, found: &[Option<usize>], replaces: bool, report: &mut ImportReport,
) -> Result<Outputs<Chosen>> {
    let systems: HashMap<String, i64> = workspace.systems()?.into_iter().map(|known| (known.name, known.id)).collect();
    let mut all = Outputs::new();
    for ((segment, system), copies) in &file.outputs {
        let of = systems.get(system).zip(found[*segment]);
        let before = of.map(|(id, at)| workspace.output(*id, at)).transpose()?.flatten().map(|known| known.text);
        let letters: Vec<String> = copies.texts.iter().map(|(text, _)| visible(text).collect()).collect();
        let known: Option<String> = before.as_ref().map(|text| visible(text).collect());
        let is_there = known.as_ref().is_some_and(|known| letters.contains(known));
        let stays = is_there || before.is_some() && !report.replaces(format!("outputs of {system}"), replaces);
        let wanted = known.filter(|_| stays).unwrap_or_else(|| most(letters.iter().zip(&copies.texts)));
        let fits: Vec<bool> = letters.iter().map(|letters| *letters == wanted).collect();
        let same = copies.texts.iter().zip(&fits).filter(|(_, fits)| **fits);
        let text = before.filter(|_| stays).unwrap_or_else(|| most(same.map(|(copy, _)| (&copy.0, copy))));
        all.insert((*segment, system.clone()), Chosen { text, is_new: !stays, fits });
    }
    Ok(all)
}

fn most<'a, T: std::hash::Hash + Eq + ToString + 'a>(
    all: impl Iterator<Item = (&'a T, &'a (Arc<str>, usize))>,
) -> String {
    let mut counts: HashMap<&T, (usize, usize)> = HashMap::new();
    for (n, (what, (_, rows))) in all.enumerate() {
        counts.entry(what).or_insert((0, usize::MAX - n)).0 += rows;
    }
    counts.into_iter().max_by_key(|(_, rank)| *rank).map_or_else(String::new, |(what, _)| what.to_string())
}

fn add_outputs(
    workspace: &mut Workspace, path: &Path, (file, chosen, places): (&RatedFile, &Outputs<Chosen>, &[usize]),
    report: &mut ImportReport,
) -> Result<()> {
    let about =
        StoredAbout { file: path.display().to_string(), facts: report.facts.join(" "), ..StoredAbout::default() };
    let texts = chosen.values().map(|chosen| chosen.text.as_str());
    workspace.settle_words(&KnownWords::default(), std::iter::empty(), texts)?;
    let (rules, mut by_system) = (workspace.rules(), BTreeMap::<&String, Vec<Placed>>::new());
    for ((segment, name), Chosen { text, .. }) in chosen.iter().filter(|(_, chosen)| chosen.is_new) {
        let output = SystemOutput::plain(text, &file.segments[*segment].source, rules);
        by_system.entry(name).or_default().push((places[*segment], output));
    }
    for (name, outputs) in by_system {
        report.outputs += outputs.len();
        let system = workspace.add_system(name, &about)?.id;
        report.apart += workspace.add_outputs(system, &outputs, &mut Measuring::default())?;
    }
    Ok(())
}
