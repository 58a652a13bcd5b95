//! The thread of a corpus, how it answers: the workspace that is open, and what was asked of it last. What people say
//! of a sentence goes into the file and into the table, and the table in view gets what is new.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{sync::Arc, sync::mpsc::Receiver};

use crate::jobs::corpus::calls::{CorpusNews, CorpusRequest, Detail};
use crate::jobs::corpus::explore::Jobs;
use crate::jobs::thread::{Outbox, caught, panic_sentence};
use corpus::export::{out::write, provenance::provenance};
use corpus::import::importer::{ImportReport, import_file};
use corpus::judgements::judge::{Changed, Judges};
use corpus::judgements::scheme::{ErrorScheme, Renamed};
use corpus::judgements::{agreement, alpha::alphas, change::Change};
use corpus::query::{hits, table};
use corpus::store::{corpus::CorpusTable, file::Workspace, output::SystemOutput, write::NewSentence};
use corpus::{overview::compute::OverviewOptions, query::table::Sorting};
use engine::aligner::{bundled::AlignerChoice, words::LineAligner};
use engine::error::{Error, Result};
use engine::text::links::{Links, read::links_of};
use engine::ticket::{CancellationToken, Generation};
use engine::{analysis::bleu::Tokenization, evaluation::first_set, lang, text::write::write_atomic};
use figure::provenance::beside;
use import;

/// While others write, rows are chosen and sorted again after so many times as long as that took.
const REST: u32 = 10;
/// The rows whose texts are read before they are shown.
const FIRST_ROWS: usize = 64;
/// Polls of a costly condition before it is told that it takes a while.
const PATIENT: usize = 20;

/// The open workspace and the last requests.
#[derive(Default)]
pub(super) struct OpenCorpus {
    workspace: Option<Workspace>,
    /// The folder of one that is not saved; it goes after the workspace.
    unsaved: Option<tempfile::TempDir>,
    corpus: Arc<CorpusTable>,
    /// Of the file, when the corpus was read.
    version: i64,
    /// What was asked for last: conditions and order.
    shown: (String, String),
    /// What people say decides which rows are shown, or where, or whether the conditions can be read.
    follows: bool,
    compared: Option<(String, String)>,
    rows: Arc<Vec<u32>>,
    pub(super) jobs: Jobs,
    /// When the rows were told last, and how long it took to choose and sort them.
    sorted: Option<(Instant, Duration)>,
    /// The rows that were told are not those of the corpus any more.
    is_behind: bool,
    pub(super) reads_on: bool,
    let_go: Option<Instant>,
}

/// Texts are let go no more often, for the rows in view may need as many.
const LET_GO: Duration = Duration::from_secs(5);

/// The state of the corpus thread while it answers.
pub(super) struct CorpusHandler<'a> {
    pub(super) out: &'a Outbox<CorpusNews>,
    /// Each file that comes in has a ticket of its own.
    pub(super) imports: &'a Generation,
    /// Stale when the program ends.
    pub(super) end: &'a CancellationToken,
    pub(super) inbox: &'a Receiver<CorpusRequest>,
    pub(super) waiting: Vec<CorpusRequest>,
    pub(super) at: OpenCorpus,
}

impl CorpusHandler<'_> {
    fn notify(&self, news: CorpusNews) {
        self.out.send(news);
    }

    pub(super) fn attempt(&mut self, job: impl FnOnce(&mut Self) -> Result<()>) {
        let done = caught(|| job(self));
        match done {
            Ok(Ok(()) | Err(Error::Stale)) => {}
            Ok(Err(error)) => self.notify(CorpusNews::Failed(error.to_string())),
            Err(words) => self.notify(CorpusNews::Failed(panic_sentence("the work on this corpus", &words))),
        }
    }

    pub(super) fn answer(&mut self, request: CorpusRequest) -> Result<()> {
        if !matches!(
            request,
            CorpusRequest::Stop | CorpusRequest::Open(_) | CorpusRequest::Begin | CorpusRequest::Close
        ) {
            self.workspace()?;
        }
        match request {
            CorpusRequest::Stop => {}
            CorpusRequest::Open(path) => self.open(&path)?,
            CorpusRequest::Begin => self.begin_unsaved()?,
            CorpusRequest::SaveAs(path) => self.save_as(&path)?,
            CorpusRequest::Close => self.at = OpenCorpus::default(),
            CorpusRequest::Import(path, options) => self.import(path, &options)?,
            CorpusRequest::Fill { is_german } => {
                let sentence = |(source, reference, links): (&str, &str, &str)| NewSentence {
                    gold: links_of(links),
                    ..new_sentence(source, reference)
                };
                self.add("the first set of Interlinear", first_set::lines(is_german).map(sentence))?;
            }
            CorpusRequest::Add(name, pairs) => {
                self.add(&name, pairs.iter().map(|[source, target]| new_sentence(source, target)))?;
            }
            CorpusRequest::Show { filter, sorting } => {
                self.at.shown = (filter, sorting);
                self.show()?;
            }
            CorpusRequest::See(rows, columns) => {
                self.at.corpus.read_rows(&rows, &columns);
                self.report_damages();
                self.notify(CorpusNews::Seen);
            }
            CorpusRequest::Detail(at) => self.detail(at)?,
            CorpusRequest::Compare(pair) => {
                self.at.compared = pair;
                self.compare();
            }
            CorpusRequest::Plan(plan) => {
                let rows = Arc::clone(&self.at.rows);
                let campaign = plan.map(|plan| plan.begun(&self.at.corpus, &rows)).transpose()?;
                self.workspace()?.set_campaign(campaign.as_ref())?;
                self.refresh()?;
            }
            CorpusRequest::SaveScheme(path) => {
                self.workspace()?.scheme()?.save(&path)?;
                self.notify(CorpusNews::Written(path));
            }
            CorpusRequest::Remove(id) => {
                self.workspace()?.remove_system(id)?;
                self.at.jobs.means.forget();
                self.at.jobs.stop();
                self.refresh()?;
            }
            CorpusRequest::SetTokenizer(tokenization) => self.set_tokenizer(tokenization)?,
            CorpusRequest::Write(out) => {
                let corpus = Arc::clone(&self.at.corpus);
                lang::in_english(|| write(&out, &corpus, self.workspace()?))?;
                self.notify(CorpusNews::Written(out.path));
            }
            CorpusRequest::Keep(look) => self.workspace()?.keep_look(&look)?,
            CorpusRequest::Means(frequencies, aligner) => {
                let trouble = aligner.as_ref().and_then(AlignerChoice::trouble);
                self.at.jobs.means.set(frequencies, aligner);
                trouble.map_or(Ok(()), |trouble| Err(Error::Input(trouble)))?;
            }
            CorpusRequest::Count(options) => self.count(options)?,
            CorpusRequest::Find(find) => self.begin(|jobs, workspace, rows| jobs.find(find, workspace, rows)),
            CorpusRequest::Tally(order) => self.begin(|jobs, workspace, rows| jobs.tally(order, workspace, rows)),
            CorpusRequest::SaveHits { path, lines, order, links } => {
                self.save_hits(&path, hits::tsv(&lines, &order, &self.at.corpus, links).as_bytes())?;
                self.notify(CorpusNews::Written(path));
            }
            judging => self.answer_judging(judging)?,
        }
        Ok(())
    }

    fn set_tokenizer(&mut self, tokenization: Tokenization) -> Result<()> {
        let (out, ticket) = (self.out, self.imports.next());
        let measured = self.workspace()?.set_tokenizer(tokenization, &mut |share| {
            out.send(CorpusNews::importing(id!("Measuring the outputs"), share));
            ticket.check()
        });
        self.notify(CorpusNews::Idle);
        let means = &mut self.at.jobs.means;
        means.set(means.path.clone(), means.aligner.clone());
        measured.and_then(|()| self.refresh())
    }

    fn save_hits(&self, path: &Path, table: &[u8]) -> Result<()> {
        write_atomic(path, |file| std::io::Write::write_all(file, table))?;
        let from = provenance(&self.at.corpus, None).json();
        write_atomic(&beside(path), |file| std::io::Write::write_fmt(file, format_args!("{from:#}\n")))
    }

    fn count(&mut self, options: Option<OverviewOptions>) -> Result<()> {
        let (inbox, waiting) = (self.inbox, &mut self.waiting);
        let mut goes_on = || {
            waiting.extend(inbox.try_iter());
            !waiting.iter().any(|call| matches!(call, CorpusRequest::Count(_) | CorpusRequest::Close))
        };
        self.at.jobs.count(options, &self.at.corpus, &self.at.rows, &mut goes_on)
    }

    fn workspace(&mut self) -> Result<&mut Workspace> {
        let none = || Error::Input("No corpus is open; open one, or make one".to_owned());
        self.at.workspace.as_mut().ok_or_else(none)
    }

    fn begin(&mut self, begin: impl FnOnce(&mut Jobs, &Workspace, &[u32]) -> Option<CorpusNews>) {
        let rows = Arc::clone(&self.at.rows);
        let Some(workspace) = &self.at.workspace else { return };
        if let Some(refused) = begin(&mut self.at.jobs, workspace, &rows) {
            self.notify(refused);
        }
    }

    fn add(&mut self, name: &str, sentences: impl Iterator<Item = NewSentence>) -> Result<()> {
        let workspace = self.workspace()?;
        let origin = workspace.add_origin(name, "")?;
        let new: Vec<NewSentence> =
            sentences.enumerate().map(|(n, sentence)| NewSentence { line: n + 1, ..sentence }).collect();
        workspace.add_sentences(origin, &new)?;
        self.at.jobs.means.forget();
        self.refresh()
    }

    /// Makes an empty corpus, and opens it.
    fn begin_unsaved(&mut self) -> Result<()> {
        let folder = tempfile::tempdir().map_err(|error| Error::io(std::env::temp_dir(), &error))?;
        let path = folder.path().join("corpus.ilws");
        self.notify(CorpusNews::Made { path: path.clone(), is_saved: false });
        self.open(&path)?;
        self.at.unsaved = Some(folder);
        Ok(())
    }

    /// Writes the corpus into a file of its own, and goes on with that.
    fn save_as(&mut self, path: &Path) -> Result<()> {
        self.workspace()?.copy(path)?;
        self.notify(CorpusNews::Made { path: path.to_owned(), is_saved: true });
        self.open(path)
    }

    fn open(&mut self, path: &Path) -> Result<()> {
        self.notify(CorpusNews::busy(id!("Opening the corpus"), 0.0));
        let read = Workspace::open(path).and_then(|mut workspace| {
            // Unfolded numbers are read as well, only more slowly.
            let folded = if workspace.is_fixed() { Ok(()) } else { workspace.fold_much() };
            Ok((workspace.version()?, CorpusTable::read(&workspace)?, workspace, folded))
        });
        self.notify(CorpusNews::Idle);
        let (version, corpus, workspace, folded) = read?;
        if let Err(error) = folded {
            self.notify(CorpusNews::Failed(error.to_string()));
        }
        let (corpus, workspace) = (Arc::new(corpus), Some(workspace));
        self.at = OpenCorpus { version, corpus, workspace, reads_on: true, ..OpenCorpus::default() };
        if let Some(workspace) = &self.at.workspace {
            let mut look = workspace.look();
            // A column may be gone.
            if Sorting::named(&look.sorting, &self.at.corpus).is_err() {
                look.sorting.clear();
            }
            self.notify(CorpusNews::Look(Box::new(look)));
        }
        if self.at.workspace.as_ref().is_some_and(Workspace::is_fixed) {
            let name = path.file_name().unwrap_or(path.as_os_str()).display();
            let message = format!("{name} may only be read: look at it; to judge or import, copy it to another folder");
            self.notify(CorpusNews::Failed(message));
        }
        for damage in &self.at.corpus.damages {
            self.notify(CorpusNews::Failed(damage.clone()));
        }
        self.send_corpus()
    }

    fn send_corpus(&mut self) -> Result<()> {
        self.send_table();
        self.compare();
        match self.show() {
            // A newer question waits, and is answered next.
            Err(Error::Stale) => Ok(()),
            shown => shown,
        }
    }

    fn send_table(&self) {
        if let Some(workspace) = &self.at.workspace {
            self.notify(CorpusNews::Corpus(workspace.path().to_owned(), Arc::new(self.at.corpus.without_file())));
        }
    }

    /// Reads what nobody has asked for yet, a little at a time.
    #[expect(clippy::unnecessary_wraps, reason = "one of the things that are attempted")]
    pub(super) fn read_on(&mut self) -> Result<()> {
        self.at.reads_on = self.at.corpus.read_on();
        self.report_damages();
        Ok(())
    }

    fn report_damages(&self) {
        for damage in self.at.corpus.take_damages() {
            self.notify(CorpusNews::Failed(damage));
        }
    }

    /// Keeps texts in memory within their bound, and the window's with them.
    fn let_go(&mut self) {
        let is_rested = self.at.let_go.is_none_or(|at| at.elapsed() >= LET_GO);
        if is_rested && self.at.corpus.holds_too_much() {
            self.at.let_go = Some(Instant::now());
            Arc::make_mut(&mut self.at.corpus).forget_texts();
            self.at.jobs.forget_texts();
            self.send_table();
        }
    }

    pub(super) fn step(&mut self) -> Result<()> {
        self.let_go();
        let Some(workspace) = &self.at.workspace else { return Ok(()) };
        let out = self.out;
        self.at.jobs.step(&self.at.corpus, workspace, &mut |news| {
            out.send(news);
        })
    }

    fn show(&mut self) -> Result<()> {
        let Some(workspace) = &self.at.workspace else { return Ok(()) };
        let (inbox, waiting, out) = (self.inbox, &mut self.waiting, self.out);
        let mut polls = 0;
        let mut goes_on = || {
            polls += 1;
            if polls == PATIENT {
                out.send(CorpusNews::busy(id!("Looking through the sentences"), 0.0));
            }
            waiting.extend(inbox.try_iter());
            !waiting
                .iter()
                .any(|call| matches!(call, CorpusRequest::Show { .. } | CorpusRequest::Open(_) | CorpusRequest::Close))
        };
        let (corpus, (filter, sorting)) = (&self.at.corpus, &self.at.shown);
        let means = &mut self.at.jobs.means;
        let began = Instant::now();
        let mut rows = || -> Result<(Vec<u32>, bool)> {
            let filter = means.filter(filter, corpus, workspace, &mut goes_on)?;
            let sorting = (!sorting.is_empty()).then(|| Sorting::named(sorting, corpus)).transpose()?;
            let follows = filter.reads_judgements() || sorting.as_ref().is_some_and(Sorting::reads_judgements);
            Ok((table::rows(corpus, &filter, sorting.as_ref()), follows))
        };
        let rows = rows();
        if polls >= PATIENT {
            out.send(CorpusNews::Idle);
        }
        let rows = match rows {
            Err(Error::Stale) => return Err(Error::Stale),
            Err(error) => {
                self.at.follows = true;
                Err(error.to_string())
            }
            Ok((rows, follows)) => {
                self.at.follows = follows;
                self.at.rows = Arc::new(rows);
                Ok(Arc::clone(&self.at.rows))
            }
        };
        // What the table shows first should not wait for the file.
        self.at.corpus.read_for(&self.at.rows[..self.at.rows.len().min(FIRST_ROWS)]);
        self.notify(CorpusNews::Rows(rows));
        self.report_damages();
        (self.at.sorted, self.at.is_behind) = (Some((Instant::now(), began.elapsed())), false);
        Ok(())
    }

    /// Reads what others have written. A large table is filtered and sorted less often than it grows.
    pub(super) fn look(&mut self) -> Result<()> {
        self.let_go();
        let Some(workspace) = &self.at.workspace else { return Ok(()) };
        workspace.settle();
        if workspace.version()? != self.at.version {
            self.at.jobs.means.forget();
            self.read_again()?;
            self.send_table();
            self.at.is_behind = true;
        }
        if self.at.is_behind && self.at.sorted.is_none_or(|(at, took)| at.elapsed() >= took * REST) {
            self.show()?;
        }
        Ok(())
    }

    fn read_again(&mut self) -> Result<()> {
        let Some(workspace) = &self.at.workspace else { return Ok(()) };
        let version = workspace.version()?;
        if version != self.at.version {
            self.at.jobs.means.forget();
        }
        self.at.version = version;
        Arc::make_mut(&mut self.at.corpus).refresh(workspace)?;
        self.at.reads_on = true;
        Ok(())
    }

    fn refresh(&mut self) -> Result<()> {
        self.read_again()?;
        self.send_corpus()
    }

    fn detail(&self, at: usize) -> Result<()> {
        let Some(workspace) = &self.at.workspace else { return Ok(()) };
        let Some(sentence) = workspace.sentence(at)? else { return Ok(()) };
        self.at.corpus.read_sentence(at);
        let outputs = self.at.corpus.systems.iter().map(|column| workspace.output(column.system.id, at));
        let outputs = outputs.collect::<Result<Vec<_>>>()?;
        let reference = sentence.reference.as_deref();
        let own = |output: &Option<SystemOutput>| match output {
            Some(output) => workspace.gold_of_output(at, &output.text, reference),
            None => Ok(None),
        };
        let detail = Detail {
            at,
            golds: outputs.iter().map(own).collect::<Result<_>>()?,
            sentence,
            outputs,
            gold: workspace.gold(at)?,
        };
        self.notify(CorpusNews::Detail(Box::new(detail)));
        Ok(())
    }

    fn import(&mut self, path: PathBuf, options: &import::ImportOptions) -> Result<()> {
        let name = path.file_name().unwrap_or(path.as_os_str()).display().to_string();
        let Some(workspace) = &mut self.at.workspace else { return Ok(()) };
        let out = self.out;
        let mut on_progress = |share: f32| {
            out.send(CorpusNews::importing(tr!("Reading {}", name), share));
        };
        let ticket = self.imports.next();
        // One that came before the ticket was there stops it too.
        self.waiting.extend(self.inbox.try_iter());
        if self.waiting.contains(&CorpusRequest::Stop) {
            self.imports.cancel();
        }
        self.end.check()?;
        on_progress(0.0);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let imported = import_file(workspace, (&path, options), threads, &ticket, &mut on_progress);
        self.notify(CorpusNews::Idle);
        self.at.jobs.means.forget();
        self.refresh()?;
        let imported = match imported {
            Err(Error::Stale) => ImportReport {
                warnings: vec!["The import was stopped; nothing of this file was taken".to_owned()],
                is_stopped: true,
                ..ImportReport::default()
            },
            other => other?,
        };
        self.notify(CorpusNews::Imported(path, Box::new(imported)));
        Ok(())
    }
}

fn new_sentence(source: &str, reference: &str) -> NewSentence {
    NewSentence { source: source.to_owned(), reference: Some(reference.to_owned()), ..NewSentence::default() }
}

fn align(workspace: &mut Workspace, at: usize, by: &str, choice: &AlignerChoice) -> Result<Changed> {
    let Some(sentence) = workspace.sentence(at)? else { return Ok(Changed::default()) };
    let Some(reference) = sentence.reference.as_deref() else {
        return Err(Error::Input("There is no reference to link the source with; import one".to_owned()));
    };
    let Some(mut aligner) = LineAligner::chosen(choice, workspace.rules().are_given())? else {
        let AlignerChoice { source, target, .. } = choice;
        let none = || {
            format!(
                "No aligner comes with the program for {source} and {target}; the menu View takes a file of your own"
            )
        };
        return Err(Error::Input(choice.trouble().unwrap_or_else(none)));
    };
    let links = workspace.rules().aligned(&mut aligner, &sentence.source, reference).likely;
    workspace.draw(at, by, Some(&Links::new(links, Vec::new())))
}

impl CorpusHandler<'_> {
    fn answer_judging(&mut self, request: CorpusRequest) -> Result<()> {
        let workspace = self.workspace()?;
        let changed = match request {
            CorpusRequest::Judge(at, by, judgement) => workspace.judge(at, &by, &judgement)?,
            CorpusRequest::SetGold(at, by, gold) => workspace.draw(at, &by, gold.as_ref())?,
            CorpusRequest::SetOutputGold(at, text, gold) => workspace.draw_output(at, &text, gold.as_ref())?,
            CorpusRequest::Align(at, by, aligner) => align(workspace, at, &by, &aligner)?,
            CorpusRequest::SetScheme(scheme, renamed) => workspace.set_scheme(&scheme, &renamed)?,
            CorpusRequest::OpenScheme(path) => workspace.set_scheme(&ErrorScheme::open(&path)?, &Renamed::default())?,
            CorpusRequest::Undo | CorpusRequest::Redo => {
                let act = if request == CorpusRequest::Undo { workspace.undo()? } else { workspace.redo()? };
                let Some(changed) = act else { return Ok(()) };
                changed
            }
            _ => return Ok(()),
        };
        self.judged(&changed)
    }

    /// Updates every copy of the corpus after a judgement; filters and sorts again only if that depends on it.
    fn judged(&mut self, changed: &Changed) -> Result<()> {
        let Some(workspace) = &mut self.at.workspace else { return Ok(()) };
        let change = Arc::new(Change::read(workspace, changed)?);
        Arc::make_mut(&mut self.at.corpus).apply(&change);
        self.notify(CorpusNews::Judged(Arc::clone(&change)));
        self.compare();
        let has_links = !change.golds.is_empty();
        if has_links {
            self.at.jobs.means.forget();
        }
        if self.at.follows || has_links && self.at.shown != <(String, String)>::default() {
            // Where it is stale, a newer question waits, and is answered next.
            return self.show();
        }
        Ok(())
    }

    fn compare(&self) {
        let Some((first, second)) = &self.at.compared else { return };
        let rows: Vec<u32> = self.at.corpus.judgements.keys().map(|at| *at as u32).collect();
        let mut found = agreement::compare(&self.at.corpus, (first, second), &rows).ok();
        if let Some(agreement) = &mut found {
            let all = self.at.corpus.counts.annotators.keys().map(String::as_str);
            let all: Vec<&str> = all.filter(|name| Judges::People.are(name)).collect();
            agreement.alphas = alphas(&self.at.corpus, &all, &rows).unwrap_or_default();
        }
        for (at, _) in found.iter().flat_map(|agreement| &agreement.differing) {
            self.at.corpus.read_rows(&[*at as u32], &[]);
        }
        self.notify(CorpusNews::Compared(found.map(Arc::new)));
    }
}
