//! Floor 7: files of others imported into a workspace: sentences are added, or joined with those that are there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use crate::corpus::import::lanes::{Lanes, with_lanes};
use crate::corpus::import::letters::stem;
use crate::corpus::import::mqm;
use crate::corpus::import::nbest::said;
use crate::corpus::import::places::{SentencePlaces, is_same};
use crate::corpus::import::references::{Known, links_fit, new_references, reference, slots};
use crate::corpus::import::scores::{GivenScores, given_scores};
use crate::corpus::import::spans;
use crate::corpus::measures::remarks::remarks;
use crate::corpus::measures::table::Measuring;
use crate::corpus::store::file::Workspace;
use crate::corpus::store::output::SystemOutput;
use crate::corpus::store::read::{MOST_REFERENCES, StoredAbout, StoredSentence};
use crate::corpus::store::write::{NewSentence, Ready};
use crate::error::{Error, Result};
use crate::import;
use crate::import::{Import, ImportColumn, Record, RecordWindow, Warnings};
use crate::text::links::Links;
use crate::text::sentence::EOS;
use crate::text::words::words;
use crate::ticket::CancellationToken;

pub use crate::corpus::import::report::ImportReport;

/// Sentences that are joined at once.
const WINDOW: usize = 1000;
/// Outputs that a thread packs at once.
const PACKED: usize = 250;
/// Outputs and sentences whose measures are folded together.
const FOLDED: usize = 1 << 16;
/// The most sentences that a file may leave out, for every hundred lines that it has.
const MOST_GAP: usize = 10_000;
/// Sentences compared to find out whether a file tells of those that are there.
const COMPARED: usize = 20;
/// Places that are tried where the first sentence of a file stands more than once.
const TRIED: usize = 100;

/// Imports a file: `threads` threads read, measure and pack, this one writes. `hear` is told how far it is, from 0 to 1.
/// What came before an error stays, and so does what came before the ticket was stale; when the file comes in again, it
/// joins that.
pub fn import_file(
    workspace: &mut Workspace,
    (path, options): (&Path, &import::ImportOptions),
    threads: usize,
    ticket: &CancellationToken,
    hear: &mut dyn FnMut(f32),
) -> Result<ImportReport> {
    if path.metadata().is_ok_and(|facts| facts.is_file() && facts.len() == 0) {
        return Err(Error::file(path, "is empty; choose a file with at least one line"));
    }
    let mut report = if options.format.is_none() && options.columns.is_empty() && mqm::holds(path) {
        mqm::import(workspace, (path, options.replaces), ticket)?
    } else if let Some(format) = spans::format(path).filter(|_| options.format.is_none()) {
        spans::import(workspace, (path, options.replaces), format)?
    } else {
        import_records(workspace, (path, options), threads, ticket, hear)?
    };
    if !report.differing.is_empty() {
        report.replacing = Some(import::ImportOptions { replaces: true, ..options.clone() });
    }
    Ok(report)
}

fn import_records(
    workspace: &mut Workspace,
    (path, options): (&Path, &import::ImportOptions),
    threads: usize,
    ticket: &CancellationToken,
    hear: &mut dyn FnMut(f32),
) -> Result<ImportReport> {
    let mut import = import::open(path, options)?;
    let facts = import.facts.told();
    let mut report = ImportReport { facts: facts.clone(), asks: import.facts.asks(), ..ImportReport::default() };
    let origin = workspace.add_origin(&path.display().to_string(), &facts.join(" "))?;
    let (stem, columns) = (stem(path), import.facts.columns.clone());
    let told = with_lanes(threads, &work, |lanes| {
        let importer = Importer {
            workspace: &mut *workspace,
            lanes,
            path,
            origin,
            stem,
            facts: facts.join(" "),
            columns: &columns,
            numeric: BTreeMap::new(),
            base: None,
            options,
            slots: None,
            last: 0,
            end: None,
            systems: BTreeMap::new(),
            waiting: VecDeque::new(),
            loose: 0,
            apart: 0,
        };
        importer.import(&mut import, &mut report, (ticket, hear))
    });
    // What came is folded, however it ended.
    workspace.fold()?;
    told?;
    report.warned += import.warnings.count;
    let mut told: Vec<String> = import.warnings.kept.iter().map(|warning| warning.sentence.clone()).collect();
    told.append(&mut report.warnings);
    report.warnings = told;
    Ok(report)
}

/// What other threads do.
enum Job {
    /// Reads sentences from their lines.
    Read(RecordWindow),
    /// Measures and packs.
    Pack(Vec<Draft>),
}

enum Done {
    Read(Vec<Record>, Warnings),
    Pack(std::io::Result<Vec<Ready>>),
}

/// The kinds of [`Job`].
const READ: usize = 0;
const PACK: usize = 1;
/// Windows that are being read, and outputs that are being packed, at most.
const MOST_OPEN: (usize, usize) = (3, 4 * WINDOW / PACKED);

fn work(job: Job) -> Done {
    match job {
        Job::Read(window) => {
            let (records, warnings) = window.read();
            Done::Read(records, warnings)
        }
        Job::Pack(drafts) => {
            let mut measuring = Measuring::default();
            Done::Pack(drafts.iter().map(|draft| draft.ready(&mut measuring)).collect())
        }
    }
}

/// An output that is not measured and packed yet, and what it is measured against.
struct Draft {
    at: usize,
    output: SystemOutput,
    sentence: StoredSentence,
    gold: Option<Links>,
}

impl Draft {
    fn ready(&self, measuring: &mut Measuring) -> std::io::Result<Ready> {
        let of = (self.sentence.source.as_str(), &*self.sentence.references(), self.gold.as_ref());
        Ready::new(self.at, &self.output, of, measuring)
    }
}

/// A file on its way in.
struct Importer<'a> {
    workspace: &'a mut Workspace,
    lanes: &'a Lanes<'a, 'static, Job, Done>,
    path: &'a Path,
    origin: i64,
    /// The name of a system that has none in the file.
    stem: String,
    facts: String,
    /// Its columns, where it is a table.
    columns: &'a [ImportColumn],
    /// Whether those that are of no system hold numbers, as their first cells say.
    numeric: BTreeMap<String, bool>,
    /// The place of the file's first sentence, from 0.
    base: Option<usize>,
    /// Whether what differs goes in the place of what is there, and what is taken of n-best lists.
    options: &'a import::ImportOptions,
    /// The numbers that the file's references have here, from 0; found with the first of them.
    slots: Option<Vec<usize>>,
    /// The line of the last sentence.
    last: usize,
    /// The place behind the last sentence of a file that has no sources.
    end: Option<usize>,
    systems: BTreeMap<String, KnownSystem>,
    /// The system of each piece of outputs that is being packed.
    waiting: VecDeque<i64>,
    /// Outputs and sentences that are not folded.
    loose: usize,
    /// Marks that were set apart.
    apart: usize,
}

impl Importer<'_> {
    /// Reads ahead, joins window after window, and writes what is packed.
    fn import(
        mut self,
        import: &mut Import,
        report: &mut ImportReport,
        (ticket, hear): (&CancellationToken, &mut dyn FnMut(f32)),
    ) -> Result<()> {
        let mut failed = None;
        let mut is_over = false;
        loop {
            while !is_over && self.lanes.open(READ) < MOST_OPEN.0 {
                match import.window(WINDOW) {
                    Ok(window) if window.is_empty() => is_over = true,
                    Ok(window) => self.lanes.give(READ, Job::Read(window)),
                    Err(error) => (failed, is_over) = (Some(error), true),
                }
            }
            report.is_stopped = ticket.is_stale();
            let Some(Done::Read(records, warnings)) = self.lanes.take(READ).filter(|_| !report.is_stopped) else {
                break;
            };
            import.warnings.absorb(warnings);
            self.take(records, report)?;
            self.write(MOST_OPEN.1)?;
            hear(import.progress());
        }
        // Sentences that came have their outputs, even when it is stopped.
        self.write(0)?;
        report.apart = self.apart;
        if failed.is_none() && !report.is_stopped {
            self.tell_missing(report)?;
        }
        failed.map_or(Ok(()), Err)
    }

    /// Tells when a file without sources has fewer lines than the sentences that it is of.
    fn tell_missing(&self, report: &mut ImportReport) -> Result<()> {
        let Some(end) = self.end else { return Ok(()) };
        let missing = self.workspace.len()?.saturating_sub(end);
        if missing > 0 {
            let all = self.workspace.len()? - self.base.unwrap_or_default();
            let rest = if missing == 1 { "the last gets".to_owned() } else { format!("the last {missing} get") };
            let message = format!(
                "is the last one, but there are {all} sentences; {rest} nothing. If a line is lost within, all behind it \
                 stand beside the wrong sentences"
            );
            report.warn(self.path, self.last, &message);
        }
        Ok(())
    }

    /// Writes what is packed, until at most so many pieces are being packed.
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

    fn take(&mut self, window: Vec<Record>, report: &mut ImportReport) -> Result<()> {
        let base = match self.base {
            Some(base) => base,
            None => *self.base.insert(self.find_base(&window)?),
        };
        self.last = window.iter().map(|record| record.line).max().unwrap_or(self.last);
        let has_sources = window.iter().any(|record| record.source.is_some());
        self.end = window.iter().map(|record| base + record.sentence).max().filter(|_| !has_sources);
        let numbers = match &self.slots {
            Some(numbers) => numbers.clone(),
            None => slots(self.workspace, (self.path, self.options.replaces), base, &window, report)?,
        };
        self.slots = Some(numbers.clone()).filter(|numbers| !numbers.is_empty());
        self.add_sentences(base, &window, &numbers, report)?;
        let places = window.iter().map(|record| base + record.sentence.saturating_sub(1)).collect();
        let mut known = Known::read(self.workspace, &places)?;
        let window = self.joined(base, window, &known, report)?;
        let (mut references, mut golds) = (Vec::new(), Vec::new());
        for (at, record) in &window {
            let Some(sentence) = known.sentences.get(at) else { continue };
            references.extend(new_references((*at, record), sentence, (&numbers, self.options.replaces), report));
            let gold = record.gold.as_ref().filter(|new| known.golds.get(at) != Some(*new));
            let Some(gold) = gold.filter(|gold| links_fit((self.path, gold), record, sentence, &numbers, report))
            else {
                continue;
            };
            if !known.golds.contains_key(at) || report.replaces("alignments by hand", self.options.replaces) {
                golds.push((*at, gold.clone()));
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
        for (at, record) in &window {
            let references = known.sentences.get(at).map(StoredSentence::references).unwrap_or_default();
            let said = said((*at, record), (&self.stem, self.options), &references, &mut oracles);
            for (name, output) in said.map_err(|why| Error::line(self.path, record.line, why))? {
                let Some(sentence) = known.sentences.get(at) else { continue };
                let kept = self.output((*at, &name), &sentence.source, record, output, report)?;
                let id = self.system(&name)?.id;
                drafts.entry(id).or_default().extend(kept.map(|output| Draft {
                    at: *at,
                    output,
                    sentence: sentence.clone(),
                    gold: known.golds.get(at).cloned(),
                }));
            }
        }
        for (system, drafts) in drafts {
            report.outputs += drafts.len();
            let mut drafts = drafts.into_iter().peekable();
            while drafts.peek().is_some() {
                self.lanes.give(PACK, Job::Pack(drafts.by_ref().take(PACKED).collect()));
                self.waiting.push_back(system);
            }
        }
        self.take_scores(&window, oracles, report)
    }

    /// Scores of others come behind the outputs that they are of, for a new output has none.
    fn take_scores(
        &mut self,
        window: &[(usize, Record)],
        oracles: GivenScores,
        report: &mut ImportReport,
    ) -> Result<()> {
        let known: Vec<String> = self.workspace.systems()?.into_iter().map(|system| system.name).collect();
        let mut scores = given_scores(window, &known, (self.columns, &mut self.numeric), self.path, report)?;
        scores.extend(oracles);
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

    /// The records that are of sentences of the workspace, each with its place, from 0.
    fn joined(
        &self,
        base: usize,
        window: Vec<Record>,
        known: &Known,
        report: &mut ImportReport,
    ) -> Result<Vec<(usize, Record)>> {
        let len = self.workspace.len()?;
        let mut joined = Vec::with_capacity(window.len());
        for record in window {
            let at = base + record.sentence.saturating_sub(1);
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
            joined.push((at, record));
        }
        Ok(joined)
    }

    /// Sets references and links by hand; what systems said before is measured again.
    fn judge_again(
        &mut self,
        references: Vec<(usize, usize, String)>,
        golds: Vec<(usize, Links)>,
        known: &mut Known,
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

    /// Where the file's sentences belong: to those that are there when they are the same, else behind them. A file without
    /// sources tells of those that the last file with sources brought.
    fn find_base(&self, window: &[Record]) -> Result<usize> {
        let Some(first) = window.iter().find(|record| record.source.is_some()) else {
            return self.workspace.newest();
        };
        let text = first.source.as_ref().map_or("", |source| source.text.as_str());
        if self.is_base(0, window)? {
            return Ok(0);
        }
        for found in SentencePlaces::read(self.workspace)?.of(self.workspace, text, 0).take(TRIED) {
            let Some(base) = (found?.0 + 1).checked_sub(first.sentence) else { continue };
            if self.is_base(base, window)? {
                return Ok(base);
            }
        }
        self.workspace.len()
    }

    /// Whether the first sentences of the file are those from this place on.
    fn is_base(&self, base: usize, window: &[Record]) -> Result<bool> {
        for record in window.iter().filter(|record| record.source.is_some()).take(COMPARED) {
            let known = self.workspace.sentence(base + record.sentence.saturating_sub(1))?;
            if !known.zip(record.source.as_ref()).is_some_and(|(known, new)| is_same(&known.source, &new.text)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds those that are new.
    fn add_sentences(
        &mut self,
        base: usize,
        window: &[Record],
        slots: &[usize],
        report: &mut ImportReport,
    ) -> Result<()> {
        let mut len = self.workspace.len()?;
        let mut new: Vec<NewSentence> = Vec::new();
        for record in window {
            let Some(source) = &record.source else { continue };
            let at = base + record.sentence.saturating_sub(1);
            if at > len && at > base + MOST_GAP.saturating_mul(1 + record.line / 100) {
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
                    name: record.id.clone(),
                    line: record.line,
                    gold: None,
                });
                len += 1;
            }
        }
        report.sentences += new.len();
        self.loose += new.len();
        // An import that was stopped goes on: its sentences are of one file, whose first is that of other files.
        if let Some(known) = self.workspace.sentence(base)? {
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

    /// What a system said of a sentence before this file came.
    fn said_before(&mut self, name: &str, at: usize) -> Result<Option<SystemOutput>> {
        let system = self.system(name)?;
        if system.is_new { Ok(None) } else { self.workspace.output(system.id, at) }
    }

    /// An output as the workspace keeps it. Links or weights alone join the output that is there.
    fn output(
        &mut self,
        (at, name): (usize, &str),
        source: &str,
        record: &Record,
        output: &import::ImportedOutput,
        report: &mut ImportReport,
    ) -> Result<Option<SystemOutput>> {
        let mut kept = SystemOutput {
            text: output.text.clone(),
            target: if output.tokens.is_empty() { owned_words(&output.text) } else { output.tokens.clone() },
            word_log_p: output.token_log_p.clone(),
            log_p: output.log_p,
            links: output.links.clone(),
            ..SystemOutput::default()
        };
        let is_bare = is_bare(output);
        let says_more = output.links.is_some() || output.alpha.is_some() || output.log_p.is_some();
        if is_bare && !says_more {
            // A cell that is empty says nothing; a blank line of a text is a translation without words.
            let id = self.system(name)?.id;
            let is_known = self.workspace.output(id, at)?.is_some_and(|known| !known.text.is_empty());
            return Ok((!is_known).then_some(kept));
        }
        let mut is_joined = false;
        let before = if is_bare { None } else { self.said_before(name, at)?.filter(|known| !known.text.is_empty()) };
        if let Some(known) = before {
            if known.text != kept.text {
                if !report.replaces(format!("outputs of {name}"), self.options.replaces) {
                    return Ok(None);
                }
            } else if known.alpha.is_some() && output.alpha.is_none() {
                // The same words again say no less than before.
                let links = kept.links.take().or_else(|| known.links.clone());
                is_joined = true;
                kept = SystemOutput { links, log_p: kept.log_p.or(known.log_p), ..known };
            }
        }
        if is_bare {
            let id = self.system(name)?.id;
            let Some(known) = self.workspace.output(id, at)? else {
                let message = format!("has links of {name}, which says nothing of sentence {}", at + 1);
                report.warn(self.path, record.line, &message);
                return Ok(None);
            };
            let links = kept.links.take().or_else(|| known.links.clone());
            is_joined = known.alpha.is_some() && output.alpha.is_none();
            kept = SystemOutput { links, log_p: kept.log_p.or(known.log_p), ..known };
        }
        if !is_joined {
            let tokens = record.source.as_ref().and_then(|source| source.tokens.clone());
            kept.source = tokens.unwrap_or_else(|| owned_words(source));
        }
        if let Some(alpha) = &output.alpha {
            end(&mut kept.source, alpha.columns());
            end(&mut kept.target, alpha.rows());
            if (kept.target.len(), kept.source.len()) == (alpha.rows(), alpha.columns()) {
                kept.alpha = Some(alpha.clone());
            } else {
                let shape = format!("{} by {}", alpha.rows(), alpha.columns());
                let words = format!("{} by {}", kept.target.len(), kept.source.len());
                let message = format!("has {shape} weights for {words} words; they are left out");
                report.warn(self.path, record.line, &message);
            }
        }
        if let Some(links) = &kept.links {
            let is_within = links.iter().all(|link| link.source < kept.source.len() && link.target < kept.target.len());
            if !is_within {
                report.warn(self.path, record.line, "has a link beyond its words; its links are left out");
                kept.links = None;
            }
        }
        Ok(Some(kept))
    }
}

/// A system of the workspace that the file tells of.
#[derive(Clone, Copy)]
struct KnownSystem {
    id: i64,
    /// It said nothing before.
    is_new: bool,
}

/// Whether it says nothing in words: links or numbers for what is there.
fn is_bare(output: &import::ImportedOutput) -> bool {
    output.text.is_empty() && output.tokens.is_empty()
}

fn owned_words(text: &str) -> Vec<String> {
    words(text).map(str::to_owned).collect()
}

/// Puts `</s>` behind words where the weights have one more.
fn end(words: &mut Vec<String>, count: usize) {
    if words.len() + 1 == count && words.last().is_none_or(|last| last != EOS) {
        words.push(EOS.to_owned());
    }
}
