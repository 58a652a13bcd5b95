//! Floor 8: the lane that keeps an open workspace: one thread with one connection. It answers calls in their order; of
//! questions that wait, only the last of a kind is answered. Now and then it looks whether another window, or a run,
//! has written.

pub mod explore;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::evaluation::first_set;
use crate::import;
use crate::text::links::Links;
use crate::text::links::read::links_of;
use crate::text::write::write_atomic;
use crate::ticket::{Counter, Ticket};
use crate::worker::keeper::explore::{Explore, Explored, Jobs};
use crate::worker::priority;
use crate::worker::serve::panic_sentence;
use crate::worker::thread;
use crate::worker::thread::{Outbox, Patience, Service, Wake, caught};
use crate::workspace::bring::{Brought, bring};
use crate::workspace::corpus::Corpus;
use crate::workspace::file::Workspace;
use crate::workspace::hits;
use crate::workspace::judge::{Changed, Judgement};
use crate::workspace::measures::Measuring;
use crate::workspace::out::{Out, write};
use crate::workspace::output::Output;
use crate::workspace::read::Sentence;
use crate::workspace::table;
use crate::workspace::table::Sorting;
use crate::workspace::write::NewSentence;

/// Events that may wait to be read.
const ROOM: usize = 64;
/// How often it looks whether others have written.
const LOOK_EVERY: Duration = Duration::from_millis(700);

/// What is asked of the lane.
#[derive(Clone, Debug, PartialEq)]
pub enum KeeperCall {
    /// Open this workspace, or make it; what was open is closed.
    Open(PathBuf),
    /// Close what is open.
    Close,
    /// Bring files in, one after the other.
    Import(Vec<(PathBuf, import::Options)>),
    /// Put in the small test set that comes with the program.
    Fill,
    /// Choose and sort the rows.
    Show {
        /// As typed; see [`Filter`](crate::workspace::filter::Filter).
        filter: String,
        /// As [`Sorting::named`] reads it; empty: as they came.
        sorting: String,
    },
    /// Everything about a sentence, from 0.
    Detail(usize),
    /// Judge a sentence.
    Judge(usize, String, Judgement),
    /// Set the links by hand of a sentence.
    SetGold(usize, Option<Links>),
    /// Take back what was judged last.
    Undo,
    /// Judge so again.
    Redo,
    /// Remove a system and all it said.
    Remove(i64),
    /// Write the rows into a file.
    Write(Box<Out>),
    /// Look at the whole.
    Explore(Explore),
}

/// Everything about a sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Detail {
    /// Its place, from 0.
    pub at: usize,
    /// Source and reference.
    pub sentence: Sentence,
    /// What each system says, in the order of the corpus.
    pub outputs: Vec<Option<Output>>,
    /// Links by hand.
    pub gold: Option<Links>,
    /// What people say of it.
    pub judgements: BTreeMap<String, Judgement>,
}

/// What the lane tells.
#[derive(Clone, Debug)]
pub enum KeeperNews {
    /// The workspace as it is now.
    Corpus(PathBuf, Arc<Corpus>),
    /// The rows that were asked for; why there are none, as a sentence.
    Rows(std::result::Result<Arc<Vec<u32>>, String>),
    /// Everything about a sentence.
    Detail(Box<Detail>),
    /// What it is doing and how far it is, from 0 to 1.
    Busy(String, f32),
    /// It is done with that.
    Idle,
    /// A file was brought in.
    Brought(PathBuf, Box<Brought>),
    /// A file was written.
    Written(PathBuf),
    /// What the whole looks like.
    Explored(Explored),
    /// Something could not be done, as a sentence.
    Failed(String),
}

/// The lane.
pub struct Keeper {
    calls: Sender<KeeperCall>,
    service: Service<KeeperNews>,
}

impl Keeper {
    /// Starts the thread.
    pub fn spawn(wake: Wake) -> Self {
        let (out, events) = thread::channel(ROOM, wake);
        let (calls, inbox) = channel();
        let tickets = Counter::new();
        let ticket = tickets.next();
        let stop = move || tickets.cancel();
        // A judgement that was given is written before the program ends.
        let service = Service::start("keeper", Patience::Whole, events, stop, move || run(&inbox, &out, &ticket));
        Self { calls, service }
    }

    /// Asks for something.
    pub fn send(&self, call: KeeperCall) {
        if !self.service.has_thread() || self.calls.send(call).is_err() {
            let message = "The system gave no thread for workspaces; close other programs and start again.";
            self.service.refuse(KeeperNews::Failed(message.to_owned()));
        }
    }

    /// The next event, if any came.
    pub fn try_next(&self) -> Option<KeeperNews> {
        self.service.try_next()
    }

    /// Waits for the next event, at most so long; for tests.
    pub fn next_within(&self, patience: Duration) -> Option<KeeperNews> {
        self.service.next_within(patience)
    }
}

fn run(inbox: &Receiver<KeeperCall>, out: &Outbox<KeeperNews>, ticket: &Ticket) {
    priority::step_back(priority::LIVE);
    let mut open = Open {
        out,
        ticket,
        inbox,
        waiting: Vec::new(),
        workspace: None,
        corpus: Arc::default(),
        version: 0,
        shown: Default::default(),
        rows: Arc::default(),
        jobs: Jobs::default(),
    };
    loop {
        if open.waiting.is_empty() && !open.jobs.is_busy() {
            match inbox.recv_timeout(LOOK_EVERY) {
                Ok(call) => open.waiting.push(call),
                Err(RecvTimeoutError::Timeout) => open.attempt(Open::look),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        match inbox.try_recv() {
            Ok(call) => open.waiting.push(call),
            Err(TryRecvError::Empty) => {}
            // A long answer ends with the program.
            Err(TryRecvError::Disconnected) if open.waiting.is_empty() => return,
            Err(TryRecvError::Disconnected) => {}
        }
        open.waiting.extend(inbox.try_iter());
        if open.waiting.is_empty() {
            open.attempt(Open::step);
            continue;
        }
        let call = open.waiting.remove(0);
        if !open.waiting.iter().any(|later| replaces(later, &call)) {
            open.attempt(|open| open.answer(call));
        }
    }
}

/// Whether the earlier of two calls need not be answered.
fn replaces(later: &KeeperCall, earlier: &KeeperCall) -> bool {
    match (later, earlier) {
        (KeeperCall::Show { .. }, KeeperCall::Show { .. }) | (KeeperCall::Detail(_), KeeperCall::Detail(_)) => true,
        (KeeperCall::Explore(later), KeeperCall::Explore(earlier)) => {
            !matches!(later, Explore::Save { .. }) && std::mem::discriminant(later) == std::mem::discriminant(earlier)
        }
        _ => false,
    }
}

/// A workspace that is open, or none.
struct Open<'a> {
    out: &'a Outbox<KeeperNews>,
    ticket: &'a Ticket,
    inbox: &'a Receiver<KeeperCall>,
    /// Calls that came and are not yet answered.
    waiting: Vec<KeeperCall>,
    workspace: Option<Workspace>,
    corpus: Arc<Corpus>,
    /// Of the file, when the corpus was read.
    version: i64,
    /// What was asked for last: conditions and order.
    shown: (String, String),
    /// The rows that came of it.
    rows: Arc<Vec<u32>>,
    jobs: Jobs,
}

/// Polls of a costly condition before it is told that it takes a while.
const PATIENT: usize = 20;

impl Open<'_> {
    fn tell(&self, news: KeeperNews) {
        self.out.send(news);
    }

    /// Tells what goes wrong and goes on.
    fn attempt(&mut self, job: impl FnOnce(&mut Self) -> Result<()>) {
        let done = caught(|| job(self));
        match done {
            Ok(Ok(()) | Err(Error::Stale)) => {}
            Ok(Err(error)) => self.tell(KeeperNews::Failed(error.to_string())),
            Err(words) => self.tell(KeeperNews::Failed(panic_sentence(&words))),
        }
    }

    fn answer(&mut self, call: KeeperCall) -> Result<()> {
        match call {
            KeeperCall::Open(path) => return self.open(&path),
            KeeperCall::Close => {
                self.workspace = None;
                self.corpus = Arc::default();
                self.rows = Arc::default();
                self.jobs = Jobs::default();
                return Ok(());
            }
            _ => {}
        }
        let Some(workspace) = &mut self.workspace else {
            return Err(Error::Input("No workspace is open; open one, or make one".to_owned()));
        };
        match call {
            KeeperCall::Open(_) | KeeperCall::Close => Ok(()),
            KeeperCall::Import(files) => self.import(files),
            KeeperCall::Fill => {
                let origin = workspace.add_origin("the first set of Interlinear", "")?;
                let sentence = |(n, (source, reference, links)): (usize, (&str, &str, &str))| NewSentence {
                    source: source.to_owned(),
                    reference: Some(reference.to_owned()),
                    name: None,
                    line: n + 1,
                    gold: links_of(links),
                };
                let new: Vec<NewSentence> = first_set::lines().enumerate().map(sentence).collect();
                workspace.add_sentences(origin, &new)?;
                self.jobs.means.forget();
                self.refresh()
            }
            KeeperCall::Show { filter, sorting } => {
                self.shown = (filter, sorting);
                self.show()
            }
            KeeperCall::Explore(explore) => self.explore(explore),
            KeeperCall::Detail(at) => self.detail(at),
            KeeperCall::Judge(at, annotator, judgement) => {
                workspace.judge(at, &annotator, &judgement)?;
                self.judged(Some(Changed { at, is_gold: false }))
            }
            KeeperCall::SetGold(at, gold) => {
                workspace.set_gold(at, gold.as_ref())?;
                self.judged(Some(Changed { at, is_gold: true }))
            }
            KeeperCall::Undo => {
                let changed = workspace.undo()?;
                self.judged(changed)
            }
            KeeperCall::Redo => {
                let changed = workspace.redo()?;
                self.judged(changed)
            }
            KeeperCall::Remove(id) => {
                workspace.remove_system(id)?;
                self.jobs.means.forget();
                self.jobs.stop();
                self.refresh()
            }
            KeeperCall::Write(out) => {
                write(&out, &self.corpus, workspace)?;
                self.tell(KeeperNews::Written(out.path.clone()));
                Ok(())
            }
        }
    }

    fn open(&mut self, path: &std::path::Path) -> Result<()> {
        self.tell(KeeperNews::Busy("Opening the workspace".to_owned(), 0.0));
        let read = Workspace::open(path)
            .and_then(|workspace| Ok((workspace.version()?, Corpus::read(&workspace)?, workspace)));
        self.tell(KeeperNews::Idle);
        let (version, corpus, workspace) = read?;
        (self.version, self.corpus, self.workspace) = (version, Arc::new(corpus), Some(workspace));
        self.shown = Default::default();
        self.jobs = Jobs::default();
        if let Some(workspace) = &self.workspace {
            self.tell(KeeperNews::Explored(Explored::Look(Box::new(workspace.look()))));
        }
        for damage in &self.corpus.damages {
            self.tell(KeeperNews::Failed(damage.clone()));
        }
        self.tell_corpus()
    }

    fn tell_corpus(&mut self) -> Result<()> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        self.tell(KeeperNews::Corpus(workspace.path().to_owned(), Arc::clone(&self.corpus)));
        self.jobs.forget();
        self.show()
    }

    fn explore(&mut self, explore: Explore) -> Result<()> {
        let Some(workspace) = &mut self.workspace else { return Ok(()) };
        match explore {
            Explore::Watch(columns) => {
                self.jobs.watch(columns);
                self.draw();
                Ok(())
            }
            Explore::Keep(look) => workspace.keep_look(&look),
            Explore::Means { frequencies, languages } => {
                self.jobs.means.set(frequencies, languages);
                Ok(())
            }
            Explore::Count(options) => {
                let (inbox, waiting) = (self.inbox, &mut self.waiting);
                let mut goes_on = || {
                    waiting.extend(inbox.try_iter());
                    !waiting
                        .iter()
                        .any(|call| matches!(call, KeeperCall::Explore(Explore::Count(_)) | KeeperCall::Close))
                };
                self.jobs.count(options, &self.corpus, &self.rows, &mut goes_on)
            }
            Explore::Find(find) => {
                if let Some(refused) = self.jobs.find(find, workspace, &self.rows) {
                    self.tell(KeeperNews::Explored(refused));
                }
                Ok(())
            }
            Explore::Save { path, lines, order, system } => {
                let table = hits::tsv(&lines, &order, &self.corpus, system);
                write_atomic(&path, |file| std::io::Write::write_all(file, table.as_bytes()))?;
                self.tell(KeeperNews::Written(path));
                Ok(())
            }
        }
    }

    /// Goes on with a long answer.
    fn step(&mut self) -> Result<()> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        let out = self.out;
        self.jobs.step(&self.corpus, workspace, &mut |explored| {
            out.send(KeeperNews::Explored(explored));
        })
    }

    /// Tells what is drawn of the columns that are watched.
    fn draw(&mut self) {
        if let Some(picture) = self.jobs.picture(&self.corpus, &self.rows) {
            self.tell(KeeperNews::Explored(Explored::Picture(Arc::new(picture))));
        }
    }

    fn show(&mut self) -> Result<()> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        let (inbox, waiting, out) = (self.inbox, &mut self.waiting, self.out);
        let mut polls = 0;
        let mut goes_on = || {
            polls += 1;
            if polls == PATIENT {
                out.send(KeeperNews::Busy("Looking through the sentences".to_owned(), 0.0));
            }
            waiting.extend(inbox.try_iter());
            !waiting
                .iter()
                .any(|call| matches!(call, KeeperCall::Show { .. } | KeeperCall::Open(_) | KeeperCall::Close))
        };
        let (corpus, (filter, sorting)) = (&self.corpus, &self.shown);
        let means = &mut self.jobs.means;
        let mut rows = || -> Result<Vec<u32>> {
            let filter = means.filter(filter, corpus, workspace, &mut goes_on)?;
            let sorting = (!sorting.is_empty()).then(|| Sorting::named(sorting, corpus)).transpose()?;
            Ok(table::rows(corpus, &filter, sorting.as_ref()))
        };
        let rows = rows();
        if polls >= PATIENT {
            out.send(KeeperNews::Idle);
        }
        let rows = match rows {
            Err(Error::Stale) => return Err(Error::Stale),
            Err(error) => Err(error.to_string()),
            Ok(rows) => {
                self.rows = Arc::new(rows);
                Ok(Arc::clone(&self.rows))
            }
        };
        self.draw();
        self.tell(KeeperNews::Rows(rows));
        Ok(())
    }

    /// Takes in what others have written.
    fn look(&mut self) -> Result<()> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        if workspace.version()? == self.version {
            return Ok(());
        }
        self.jobs.means.forget();
        self.refresh()
    }

    fn refresh(&mut self) -> Result<()> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        self.version = workspace.version()?;
        Arc::make_mut(&mut self.corpus).refresh(workspace)?;
        self.tell_corpus()
    }

    /// A sentence was judged: its numbers, its row and what is shown of it follow.
    fn judged(&mut self, changed: Option<Changed>) -> Result<()> {
        let (Some(changed), Some(workspace)) = (changed, &mut self.workspace) else { return Ok(()) };
        if changed.is_gold {
            self.jobs.means.forget();
            for system in workspace.systems()? {
                workspace.measure(system.id, &[changed.at], &mut Measuring::default())?;
            }
        }
        self.refresh()?;
        self.detail(changed.at)
    }

    fn detail(&self, at: usize) -> Result<()> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        let Some(sentence) = workspace.sentence(at)? else { return Ok(()) };
        let outputs = self.corpus.systems.iter().map(|column| workspace.output(column.system.id, at));
        let detail = Detail {
            at,
            sentence,
            outputs: outputs.collect::<Result<_>>()?,
            gold: workspace.gold(at)?,
            judgements: self.corpus.judgements.get(&at).cloned().unwrap_or_default(),
        };
        self.tell(KeeperNews::Detail(Box::new(detail)));
        Ok(())
    }

    fn import(&mut self, files: Vec<(PathBuf, import::Options)>) -> Result<()> {
        for (path, options) in files {
            let name = path.file_name().unwrap_or(path.as_os_str()).display().to_string();
            let Some(workspace) = &mut self.workspace else { return Ok(()) };
            let out = self.out;
            let mut hear = |share: f32| {
                out.send(KeeperNews::Busy(format!("Importing {name}"), share));
            };
            hear(0.0);
            let brought = bring(workspace, &path, &options, &mut Measuring::default(), self.ticket, &mut hear);
            self.tell(KeeperNews::Idle);
            self.jobs.means.forget();
            self.refresh()?;
            self.tell(KeeperNews::Brought(path, Box::new(brought?)));
        }
        Ok(())
    }
}
