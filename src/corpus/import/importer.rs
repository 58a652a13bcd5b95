//! Files of others imported into a workspace: sentences are added, or joined with those that are there.

mod outputs;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use crate::import::alignments::{Alignments, is_bare, sides};
use crate::import::counted::{Counted, known};
use crate::import::joining::{Joining, are_numbers, joining};
use crate::import::lanes::{Lanes, with_lanes};
use crate::import::references::{Known, check_golds, fitting, new_references, reference, slots};
use crate::import::scores::{GivenScores, given_scores};
use crate::import::windows::{Done, Draft, Job, MOST_OPEN, PACK, PACKED, read, work};
use crate::import::{places::is_same, scores::said};
use crate::import::{places::refuse_copy, places::stem};
use crate::import::{scored, scores};
use crate::measures::table::{CorpusMeasure, GIVEN};
use crate::store::read::{MOST_REFERENCES, StoredAbout, StoredSentence};
use crate::store::rules::{KnownWords, SideRules};
use crate::store::{file::Workspace, output::is_said, write::NewSentence};
use crate::{judgements::judgement_io, measures::remarks::remarks};
use engine::error::{Error, Result};
use engine::{text::links::Links, ticket::CancellationToken};
use import;
use import::beside::Sides;
use import::formats;
use import::{Import, ImportColumn, Record};

pub use crate::import::report::ImportReport;
use crate::import::{mqm, spans, spans::SpanFormat, tagged};
use import::format::{CorpusKind, FormatEntry, FormatReading};
use import::options::ImportOptions;

const FOLDED: usize = 1 << 16;
const MOST_GAP: usize = 10_000;

/// Imports a file of any kind with so many threads; `on_progress` gets the progress from 0 to 1. A stale ticket keeps what was written.
pub fn import_file(
    workspace: &mut Workspace, (path, options): (&Path, &import::ImportOptions), threads: usize,
    ticket: &CancellationToken, on_progress: &mut dyn FnMut(f32),
) -> Result<ImportReport> {
    refuse_copy(path)?;
    let kind = import::kind_of(path, options)?;
    let is_scores = matches!(options.role, Some(import::Role::Scores(_)));
    let lines = if is_scores { scored::read(path, options)? } else { None };
    let mut report = if let Some(lines) = lines {
        scored::import(workspace, (path, options), lines)?
    } else if kind.has_sentences() {
        import_records(workspace, (path, options), threads, ticket, on_progress)?
    } else {
        import_special(workspace, (path, options), kind, ticket)?
    };
    if !report.differing.is_empty() {
        report.replacing = Some(import::ImportOptions { replaces: true, ..options.clone() });
    }
    Ok(report)
}

fn import_records(
    workspace: &mut Workspace, (path, options): (&Path, &import::ImportOptions), threads: usize,
    ticket: &CancellationToken, on_progress: &mut dyn FnMut(f32),
) -> Result<ImportReport> {
    let (mut import, mut options) = (import::open(path, options)?, options.clone());
    // lists of a whole corpus may count from 1
    let is_beyond = import.facts.sentences == Some(workspace.newest()?.len() + 1);
    if (is_beyond || import.facts.base != import::ImportFact::None) && options.beside == Sides::default() {
        options.beside = sides(workspace, path, &options)?;
        import = import::open(path, &options)?;
    }
    let options = &options;
    scores::check(workspace, path, &import.facts)?;
    let facts = import.facts.sentences();
    let mut report = ImportReport { facts: facts.clone(), asks: import.facts.asks(), ..ImportReport::default() };
    let (stem, columns) = (stem(path), import.facts.columns.clone());
    let may_add = workspace.len()? == 0 || !options.adds_to_sentences();
    let scheduled = with_lanes(threads, &work, |lanes| {
        let joining = joining(workspace, lanes, (path, options), ticket)?;
        let importer = Importer {
            may_add,
            workspace: &mut *workspace,
            lanes,
            path,
            origin: 0,
            stem,
            facts: facts.join(" "),
            columns: &columns,
            joining,
            count: 0,
            stays: BTreeSet::new(),
            unscored: 0,
            other_ids: Vec::new(),
            options,
            slots: None,
            last: 0,
            end: None,
            systems: BTreeMap::new(),
            waiting: VecDeque::new(),
            loose: 0,
            apart: 0,
            alignments: Alignments::new(import.facts.behind),
            known: known((path, options), &import.facts),
        };
        importer.import(&mut import, &mut report, (ticket, on_progress))
    });
    // What came is folded, however it ended.
    workspace.fold()?;
    scheduled?;
    if import.facts.format == formats::corpus::NAME && !report.is_stopped {
        let judged = judgement_io::import(workspace, path, None, ticket)?;
        report.judgements += judged.judgements;
        report.warned += judged.warned;
        report.warnings.extend(judged.warnings);
        report.facts.extend(judged.facts);
    }
    report.warned += import.warnings.count;
    drop(report.warnings.splice(0..0, import.warnings.kept.iter().map(|warning| warning.sentence.clone())));
    Ok(report)
}

struct Importer<'a> {
    workspace: &'a mut Workspace,
    lanes: &'a Lanes<'a, 'static, Job, Done>,
    path: &'a Path,
    origin: i64,
    stem: String,
    facts: String,
    columns: &'a [ImportColumn],
    may_add: bool,
    joining: Joining,
    count: usize,
    /// Outputs that stay although the file has others, by system, and how many of their scores were left out.
    stays: BTreeSet<(String, usize)>,
    unscored: usize,
    other_ids: Vec<usize>,
    options: &'a import::ImportOptions,
    /// The numbers that the file's references have here, from 0; found with the first of them.
    slots: Option<Vec<usize>>,
    last: usize,
    /// The place behind the last sentence of a file that has no sources.
    end: Option<usize>,
    systems: BTreeMap<String, KnownSystem>,
    waiting: VecDeque<i64>,
    loose: usize,
    apart: usize,
    alignments: Alignments,
    known: KnownWords,
}

impl Importer<'_> {
    fn import(
        mut self, import: &mut Import, report: &mut ImportReport,
        (ticket, on_progress): (&CancellationToken, &mut dyn FnMut(f32)),
    ) -> Result<()> {
        let lanes = self.lanes;
        let failed = read(lanes, import, ticket, &mut |records, import| {
            self.take(records, report)?;
            self.write(MOST_OPEN.1)?;
            on_progress(import.progress());
            Ok(true)
        })?;
        report.is_stopped = ticket.is_stale();
        // Sentences that came have their outputs, even when it is stopped.
        self.write(0)?;
        report.apart = self.apart;
        report.facts.extend(self.alignments.notes());
        if let Some(line) = self.other_ids.first() {
            let count = self.other_ids.len();
            report.facts.push(format!(
                "The ids of {count} lines, the first of them line {line}, are not those of their sentences here; the sources decide."
            ));
        }
        if self.unscored > 0 {
            report.facts.push(format!(
                "{} scores are of translations that the corpus has not, and are left out.",
                self.unscored
            ));
        }
        if failed.is_none() && !report.is_stopped {
            self.report_missing(report);
        }
        failed.map_or(Ok(()), Err)
    }

    fn report_missing(&self, report: &mut ImportReport) {
        let (Joining::Lines(places), Some(end)) = (&self.joining, self.end) else { return };
        let missing = places.end.saturating_sub(end);
        if missing > 0 {
            let all = places.len();
            let rest = if missing == 1 { "the last gets".to_owned() } else { format!("the last {missing} get") };
            let message = format!(
                "is the last one, but there are {all} sentences; {rest} nothing. If a line is lost within, all behind it \
                 stand beside the wrong sentences"
            );
            report.warn(self.path, self.last, &message);
        }
    }

    fn write(&mut self, open: usize) -> Result<()> {
        while self.lanes.open(PACK) > open {
            let (Some(Done::Pack(ready)), Some(system)) = (self.lanes.take(PACK), self.waiting.pop_front()) else {
                return Err(Error::Internal("packed outputs are missing".to_owned()));
            };
            let ready = ready.map_err(|error| Error::io(self.path, &error))?;
            self.apart += self.workspace.add_ready(system, &ready, false)?;
            self.loose += ready.len();
        }
        if self.loose > FOLDED {
            self.loose = 0;
            self.workspace.fold()?;
        }
        Ok(())
    }

    fn counted(&self) -> Counted {
        let to = self.workspace.rules();
        Counted { from: SideRules::of_lines(self.options.link_tokens, to), to }
    }

    fn settle_words(&mut self, window: &[Record]) -> Result<()> {
        let mut known = KnownWords { pretokenized: self.options.pretokenized, ..self.known.clone() };
        let of = window.iter().find_map(|one| one.words).map(|[source, target]| SideRules { source, target });
        known.rules = of.filter(|rules| *rules != SideRules::SPACES);
        let sources = window.iter().filter_map(|record| Some(record.source.as_ref()?.text.as_str()));
        let references =
            window.iter().flat_map(|record| (0..=record.further.len()).filter_map(|n| record.reference(n)));
        let outputs = window.iter().flat_map(|record| &record.outputs).map(|output| output.text.as_str());
        let targets = references.chain(outputs).filter(|text| !text.is_empty());
        self.workspace.settle_words(&known, sources, targets)
    }

    fn begin(&mut self, window: &[Record]) -> Result<()> {
        if self.columns.is_empty() {
            let base = self.joining.first_of_file();
            let counted = self.counted();
            self.alignments.check(self.workspace, base, (self.path, self.options, counted), window)?;
            if let Joining::Lines(_) = self.joining {
                check_golds(self.workspace, base, (self.path, counted), window)?;
            }
        }
        self.origin = self.workspace.add_origin(&self.path.display().to_string(), &self.facts)?;
        Ok(())
    }

    fn take(&mut self, mut window: Vec<Record>, report: &mut ImportReport) -> Result<()> {
        self.settle_words(&window)?;
        if self.origin == 0 {
            self.begin(&window)?;
        }
        let outputs = window.iter_mut().flat_map(|record| &mut record.outputs);
        outputs.for_each(|output| self.alignments.name(output));
        self.last = window.iter().map(|record| record.line).max().unwrap_or(self.last);
        let window = self.placed(window, report);
        self.end = window.iter().map(|(at, _)| at + 1).max().or(self.end);
        let numbers = match &self.slots {
            Some(numbers) => numbers.clone(),
            None => slots(self.workspace, (self.path, self.options.replaces), &window, report)?,
        };
        self.slots = Some(numbers.clone()).filter(|numbers| !numbers.is_empty());
        self.add_sentences(&window, &numbers, report)?;
        let places = window.iter().map(|(at, _)| *at).collect();
        let mut known = Known::read(self.workspace, &places)?;
        let window = self.joined(window, &known, report)?;
        let (mut references, mut golds) = (Vec::new(), Vec::new());
        let tagged = window.iter().flat_map(|(at, record)| record.parts.iter().map(move |one| (*at, one)));
        let (sources, targets): (Vec<_>, Vec<_>) = tagged.partition(|(_, (text, _))| text.is_none());
        if !(sources.is_empty() && targets.is_empty()) {
            let target = |(at, (text, parts)): (_, &(Option<String>, String))| Some((at, text.clone()?, parts.clone()));
            self.workspace
                .set_parts(&sources.into_iter().map(|(at, (_, parts))| (at, parts.clone())).collect::<Vec<_>>())?;
            self.workspace.set_target_parts(&targets.into_iter().filter_map(target).collect::<Vec<_>>())?;
        }
        for (at, record) in &window {
            let Some(sentence) = known.sentences.get(at) else { continue };
            references.extend(new_references((*at, record), sentence, (&numbers, self.options.replaces), report));
            let gold = record.gold.as_ref();
            let gold = gold
                .and_then(|gold| fitting((self.path, gold, self.counted()), (*at, record), sentence, &numbers, report));
            let Some(gold) = gold.filter(|new| known.golds.get(at) != Some(new)) else { continue };
            if !known.golds.contains_key(at) || report.replaces("alignments by hand", self.options.replaces) {
                golds.push((*at, gold));
            }
        }
        // What is packed now was measured without them, and links alone join what is written.
        let is_bare = |record: &Record| record.outputs.iter().any(is_bare);
        if !references.is_empty() || !golds.is_empty() || window.iter().any(|(_, record)| is_bare(record)) {
            self.write(0)?;
        }
        self.judge_again(references, golds, &mut known, report)?;
        let remarks: Vec<_> = window.iter().filter_map(|(at, record)| Some((*at, remarks(record)?))).collect();
        if !remarks.is_empty() {
            self.workspace.add_remarks(&self.stem, &remarks)?;
        }
        let (mut drafts, mut oracles) = (BTreeMap::<i64, Vec<Draft>>::new(), GivenScores::new());
        let bleu = self.workspace.settle_bleu(known.sentences.values().flat_map(StoredSentence::references))?;
        for (at, record) in &window {
            let references = known.sentences.get(at).map(StoredSentence::references).unwrap_or_default();
            let said = said((*at, record), (&self.stem, self.options, &bleu), &references, &mut oracles);
            for (name, output) in said.map_err(|why| Error::line(self.path, record.line, why))? {
                let Some(sentence) = known.sentences.get(at) else { continue };
                let kept = self.output((*at, &name), &sentence.source, record, output, report)?;
                let id = self.system(&name)?.id;
                let Some(output) = kept else { continue };
                let gold = if is_said(&output.text, sentence.reference.as_deref()) {
                    known.golds.get(at).cloned()
                } else {
                    self.workspace.gold_of_output(*at, &output.text, None)?
                };
                let (sentence, rules) = (sentence.clone(), self.workspace.rules());
                drafts.entry(id).or_default().push(Draft { at: *at, output, sentence, gold, rules });
            }
        }
        for (system, drafts) in drafts {
            report.outputs += drafts.len();
            let mut drafts = drafts.into_iter().peekable();
            while drafts.peek().is_some() {
                self.lanes.give(PACK, Job::Pack(drafts.by_ref().take(PACKED).collect(), bleu));
                self.waiting.push_back(system);
            }
        }
        self.take_scores(&window, oracles, report)
    }

    fn take_scores(
        &mut self, window: &[(usize, Record)], oracles: GivenScores, report: &mut ImportReport,
    ) -> Result<()> {
        let known: Vec<String> = self.workspace.systems()?.into_iter().map(|system| system.name).collect();
        let mut scores = given_scores(window, &known, self.columns, self.path, report)?;
        // Scores of a translation are none of another.
        for ((_, system), scores) in &mut scores {
            let (all, system) = (scores.len(), system.clone().unwrap_or_default());
            scores.retain(|at, _| !self.stays.contains(&(system.clone(), *at)));
            self.unscored += all - scores.len();
            report.scores -= all - scores.len();
        }
        self.stays.clear();
        scores.extend(oracles);
        // A column that comes back has the name, not the title.
        let titles: Vec<_> = self.workspace.measures()?.into_iter().chain(self.workspace.sentence_numbers()?).collect();
        let title = |title: String| {
            let known =
                titles.iter().find(|known| known.is_given() && known.name == CorpusMeasure::given(&title, GIVEN).name);
            known.map_or(title, |known| known.title.to_owned())
        };
        let scores: GivenScores =
            scores.into_iter().map(|((of, system), scores)| ((title(of), system), scores)).collect();
        if !scores.is_empty() {
            self.write(0)?;
        }
        for ((title, system), scores) in &scores {
            let id = system.as_ref().map_or(Ok(0), |name| self.system(name).map(|system| system.id))?;
            self.workspace.add_scores(id, title, scores)?;
            self.loose += scores.len();
        }
        Ok(())
    }

    fn placed(&mut self, window: Vec<Record>, report: &mut ImportReport) -> Vec<(usize, Record)> {
        let mut placed = Vec::with_capacity(window.len());
        for record in window {
            match self.joining.place(self.count, &record) {
                Ok(at) => placed.push((at, record)),
                Err(why) => report.warn(self.path, record.line, &why),
            }
            self.count += 1;
        }
        placed
    }

    fn joined(
        &mut self, window: Vec<(usize, Record)>, known: &Known, report: &mut ImportReport,
    ) -> Result<Vec<(usize, Record)>> {
        let len = self.workspace.len()?;
        let mut joined = Vec::with_capacity(window.len());
        for (at, record) in window {
            let Some(sentence) = known.sentences.get(&at) else {
                if at >= len {
                    let message = format!("belongs to sentence {}, but there are {len}", at + 1);
                    report.warn(self.path, record.line, &message);
                }
                continue;
            };
            if record.source.as_ref().is_some_and(|source| !is_same(&sentence.source, &source.text)) {
                report.warn(self.path, record.line, &format!("is not sentence {}; it is left out", at + 1));
                continue;
            }
            let (id, name) = (record.id.as_deref().unwrap_or_default().trim(), sentence.name.as_deref());
            if !id.is_empty() && name.is_some_and(|name| name.trim() != id) && !are_numbers(self.columns) {
                self.other_ids.push(record.line);
            }
            joined.push((at, record));
        }
        Ok(joined)
    }

    fn judge_again(
        &mut self, references: Vec<(usize, usize, String)>, golds: Vec<(usize, Links)>, known: &mut Known,
        report: &mut ImportReport,
    ) -> Result<()> {
        report.references += references.len();
        report.golds += golds.len();
        let mut by_number: BTreeMap<usize, Vec<(usize, String)>> = BTreeMap::new();
        for (n, at, text) in references {
            by_number.entry(n).or_default().push((at, text));
        }
        for (n, new) in &by_number {
            self.workspace.set_references(*n, new)?;
        }
        if !golds.is_empty() {
            self.workspace.set_golds(&golds)?;
        }
        let of_references = by_number.values().flatten().map(|(at, _)| *at);
        let places: BTreeSet<usize> = of_references.chain(golds.iter().map(|(at, _)| *at)).collect();
        self.workspace.measure(&Vec::from_iter(places))?;
        // What comes with the same lines is measured against them.
        let changed: BTreeSet<usize> = by_number.into_values().flatten().map(|(at, _)| at).collect();
        known.sentences.extend(Known::read(self.workspace, &changed)?.sentences);
        known.golds.extend(golds);
        Ok(())
    }

    fn add_sentences(&mut self, window: &[(usize, Record)], slots: &[usize], report: &mut ImportReport) -> Result<()> {
        let mut len = self.workspace.len()?;
        let mut new: Vec<NewSentence> = Vec::new();
        let first = self.joining.first_of_file();
        for (at, record) in window.iter().filter(|_| self.may_add) {
            let (at, Some(source)) = (*at, &record.source) else { continue };
            if at > len && at > first + MOST_GAP.saturating_mul(1 + record.line / 100) {
                report.warn(self.path, record.line, "is far beyond the sentences before it; it is left out");
                continue;
            }
            // A gap in the file keeps its place, so that other files still fit.
            while len < at {
                new.push(NewSentence::default());
                len += 1;
            }
            if len == at {
                new.push(NewSentence {
                    source: source.text.clone(),
                    reference: reference(record, slots, 0).map(str::to_owned),
                    further: (1..MOST_REFERENCES)
                        .map(|n| reference(record, slots, n).unwrap_or_default().to_owned())
                        .take(slots.iter().max().copied().unwrap_or_default())
                        .collect(),
                    name: record.id.clone().filter(|_| !are_numbers(self.columns)),
                    line: record.line,
                    gold: None,
                });
                len += 1;
            }
        }
        report.sentences += new.len();
        self.loose += new.len();
        // An import that was stopped goes on: its sentences are of one file, whose first is that of other files.
        if let Some(first) = self.joining.first()
            && let Some(known) = self.workspace.sentence(first)?
        {
            self.origin = known.origin;
        }
        if new.is_empty() { Ok(()) } else { self.workspace.add_sentences(self.origin, &new).map(drop) }
    }

    fn system(&mut self, name: &str) -> Result<KnownSystem> {
        if let Some(known) = self.systems.get(name) {
            return Ok(*known);
        }
        let about =
            StoredAbout { file: self.path.display().to_string(), facts: self.facts.clone(), ..StoredAbout::default() };
        let id = self.workspace.add_system(name, &about)?.id;
        let known = KnownSystem { id, is_new: self.workspace.outputs(id)? == 0 };
        self.systems.insert(name.to_owned(), known);
        Ok(known)
    }
}

#[derive(Clone, Copy)]
struct KnownSystem {
    id: i64,
    is_new: bool,
}

/// Imports a file whose kind is not [`FormatReading::Sentences`].
fn import_special(
    workspace: &mut Workspace, (path, options): (&Path, &ImportOptions), kind: &FormatEntry, ticket: &CancellationToken,
) -> Result<ImportReport> {
    let special = match kind.reading {
        FormatReading::OfCorpus(special) => special,
        FormatReading::Refused(why) => {
            let message = format!(
                "{why}. If its lines are the sentences all the same, `analyse --import-format text` takes them"
            );
            return Err(Error::file(path, message));
        }
        FormatReading::Sentences(_) => return Err(Error::Internal("a file of sentences is no special one".to_owned())),
    };
    if options.is_role_sure {
        let message = format!("is of the kind \"{}\", which says itself what it is; give it to --import", kind.label);
        return Err(Error::file(path, message));
    }
    match special {
        CorpusKind::Judgements => judgement_io::import(workspace, path, None, ticket),
        CorpusKind::Conllu => tagged::import(workspace, path, ticket),
        CorpusKind::Mqm => mqm::import(workspace, (path, options.replaces), ticket),
        CorpusKind::Pearmut => spans::import(workspace, (path, options.replaces), SpanFormat::Pearmut),
        CorpusKind::Scores => match scored::read(path, options)? {
            Some(lines) => scored::import(workspace, (path, options), lines),
            None => Err(Error::file(path, "has no scores that can be read; name them with --scores COMET.NAME=FILE")),
        },
        CorpusKind::Comet => spans::import(workspace, (path, options.replaces), SpanFormat::Comet),
    }
}
