//! Ties a [`Session`] to its threads and files: each frame call [`Driver::pump`], paint [`Driver::session`] and
//! [`Driver::send`] the user's commands. Nothing here blocks.

use std::{path::PathBuf, sync::Arc, time::Duration};

use crate::app::files::claim::Claim;
use crate::app::files::work::{self, FileEvent, KeptAligners};
use crate::app::tasks::{Effect, QueueCall};
#[cfg(not(target_family = "wasm"))]
use crate::jobs::corpus::thread::{CorpusNews, CorpusRequest, CorpusThread};
use crate::jobs::files::inbox::{Inboxes, inbox_of};
use crate::jobs::live::protocol::{Event, Request};
use crate::jobs::queue::{JobQueue, QueueEvent};
use crate::jobs::steps::{StepsEvent, StepsRequest, StepsThread};
use crate::jobs::{Worker, files::disk::Disk, files::follow::Follower, files::texts::Folders};
use crate::pages::command::Command;
use crate::session::{persist, state::Session};
use engine::{clock::Instant, models::choice::ModelSpec};

pub use crate::{app::open_with::OpenWith, jobs::Wake};

/// A save waits so long for a newer one; "at most a second is lost" with room to spare.
const SAVE_PATIENCE: Duration = Duration::from_millis(500);

/// Training logs and lessons are looked at so often; a run writes a line every few seconds.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a second start was given is looked for so often: someone waits for it.
const TAKE_EVERY: Duration = Duration::from_millis(250);

/// A session with its threads and files.
pub struct Driver {
    session: Session,
    lanes: Box<dyn BackgroundJobs>,
    /// The model that was taken traced last, while a column has it.
    traced: Option<ModelSpec>,
    follower: Follower,
    texts: Follower<Folders>,
    inbox: Follower<Inboxes>,
    aligner: KeptAligners,
    disk: Disk<FileEvent>,
    saved: Option<PathBuf>,
    saved_revision: u64,
    wake: Wake,
    /// The last field, since `disk` writes the last save when it goes.
    _claim: Claim,
}

impl Driver {
    /// Opens the saved state, or bundled models and an example; problems become notices.
    /// `wake` is called whenever [`Driver::pump`] has something to do.
    pub fn open(options: OpenWith, wake: Wake) -> Self {
        let lanes = JobThreads::spawn(&options, &wake);
        Self::on(Box::new(lanes), options, wake)
    }

    pub fn on(lanes: Box<dyn BackgroundJobs>, options: OpenWith, wake: Wake) -> Self {
        let follower = Follower::spawn(LOOK_EVERY, Arc::clone(&wake));
        let texts = Follower::spawn(LOOK_EVERY, Arc::clone(&wake));
        let inbox = Follower::spawn(TAKE_EVERY, Arc::clone(&wake));
        let disk = Disk::spawn(SAVE_PATIENCE, Arc::clone(&wake));
        // Claimed before it is read: what another window writes meanwhile would be lost.
        let mut claim = options.saved.as_deref().map(Claim::on).unwrap_or_default();
        let found = options.saved.as_deref().map(persist::load_or_set_aside).unwrap_or_default();
        if found.is_left_alone {
            std::mem::take(&mut claim).give_up();
        }
        let kept = || options.kept.as_deref().and_then(persist::of_text);
        let session =
            Session::start(found.state.or_else(kept).map(|state| state.with_moved(&options.bundled)), &options);
        let saved = options.saved.filter(|_| !found.is_left_alone && !claim.is_taken());
        // The window that keeps the state is the one that a second start finds.
        inbox.follow(saved.as_deref().map(inbox_of).into_iter().collect());
        let troubles = [found.trouble, claim.trouble()];
        let saved_revision = session.app().revision;
        let aligner = KeptAligners::default();
        let mut driver = Self {
            session,
            lanes,
            traced: None,
            follower,
            texts,
            inbox,
            aligner,
            disk,
            saved,
            saved_revision,
            wake,
            _claim: claim,
        };
        for text in troubles.into_iter().flatten() {
            driver.session.absorb_file(FileEvent::Notice { text, is_error: true });
        }
        driver.after();
        driver
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    pub fn send(&mut self, command: impl Into<Command>) {
        self.session.apply(command);
        self.after();
    }

    /// Handles events for about `budget`; true when anything changed. Calls `wake` when something is left.
    pub fn pump(&mut self, budget: Duration) -> bool {
        let start = Instant::now();
        let mut changed = false;
        let mut rows = Vec::new();
        while start.elapsed() < budget {
            if let Some(event) = self.lanes.decoded() {
                changed |= self.take(event, &mut rows);
            } else if !rows.is_empty() {
                changed |= self.absorb_all(&mut rows);
            } else if let Some(news) = self.disk.news.try_next() {
                self.session.absorb_file(news);
                self.carry_out();
                changed = true;
            } else if let Some(news) = self.lanes.news() {
                changed |= match news {
                    JobNews::Queue(event) => self.session.absorb_job(event),
                    JobNews::Steps(event) => self.session.absorb_steps(event),
                    #[cfg(not(target_family = "wasm"))]
                    JobNews::Corpus(news) => self.session.absorb_corpus(news),
                };
            } else if let Some(seen) = self.follower.news.try_next() {
                changed |= self.session.absorb_seen(&seen);
            } else if let Some(seen) = self.texts.news.try_next() {
                self.session.absorb_texts(&seen);
                changed = true;
            } else if let Some(given) = self.inbox.news.try_next() {
                self.session.receive(given);
                changed = true;
            } else if self.session.search_some() {
                changed = true;
            } else {
                self.after();
                return changed;
            }
        }
        changed |= self.absorb_all(&mut rows);
        self.after();
        (self.wake)();
        changed
    }

    /// Of the waiting rows only the newest of a column is drawn, since each repeats those before it.
    fn take(&mut self, event: Event, rows: &mut Vec<Event>) -> bool {
        let address = event.address();
        let held = rows.iter().position(|row| row.address().1 == address.1).map(|at| rows.swap_remove(at));
        match event {
            Event::Expanded { .. } => {
                let changed = held.filter(|row| row.address() != address).is_some_and(|row| self.session.absorb(row));
                rows.push(event);
                changed
            }
            Event::Finished { .. } if held.as_ref().is_some_and(|row| row.address() == address) => {
                self.session.absorb(event)
            }
            _ => {
                let changed = held.is_some_and(|row| self.session.absorb(row));
                self.session.absorb(event) || changed
            }
        }
    }

    fn absorb_all(&mut self, rows: &mut Vec<Event>) -> bool {
        rows.drain(..).fold(false, |changed, row| self.session.absorb(row) | changed)
    }

    fn carry_out(&mut self) {
        for effect in self.session.take_effects() {
            match effect {
                Effect::Decode(request) => {
                    let is_open = |model: &_| request.columns.iter().any(|spec| spec.system.only() == Some(model));
                    if self.traced.take_if(|model| !is_open(model)).is_some() {
                        self.lanes.let_go();
                    }
                    self.lanes.decode(request);
                }
                Effect::Job(call) => self.lanes.queue(call),
                Effect::TakeApart { number, request } => {
                    self.traced = Some(request.model.clone());
                    self.lanes.trace(number, *request);
                }
                #[cfg(not(target_family = "wasm"))]
                Effect::Corpus(call) => self.lanes.corpus(call),
                Effect::Chore(chore) => work::carry_out(chore, &mut self.disk, &self.aligner),
                Effect::Follow(logs) => self.follower.follow(logs),
                Effect::FollowTexts(folders) => self.texts.follow(folders),
            }
        }
    }

    fn after(&mut self) {
        self.carry_out();
        if self.session.app().revision == self.saved_revision || self.session.is_unseen() {
            return;
        }
        self.saved_revision = self.session.app().revision;
        let Some(path) = self.saved.clone() else { return };
        let state = self.session.saved();
        self.disk.save_soon(Box::new(move || {
            let error = state.save(&path).err()?;
            Some(FileEvent::Notice {
                text: tr!("The window's state is not being kept. {error}", error),
                is_error: true,
            })
        }));
    }
}

/// Background work of the session; nothing here waits.
pub trait BackgroundJobs {
    fn decode(&mut self, request: Request);
    /// The next event of what is translated.
    fn decoded(&mut self) -> Option<Event>;
    fn trace(&mut self, number: u64, request: StepsRequest);
    /// The model that was taken apart last is not needed any more.
    fn let_go(&mut self);
    fn queue(&mut self, call: QueueCall);
    #[cfg(not(target_family = "wasm"))]
    fn corpus(&mut self, request: CorpusRequest);
    /// The next news of anything but what is translated.
    fn news(&mut self) -> Option<JobNews>;
}

/// News of all threads but the live one.
pub enum JobNews {
    Queue(QueueEvent),
    Steps(StepsEvent),
    #[cfg(not(target_family = "wasm"))]
    Corpus(CorpusNews),
}

/// One thread for each kind of work.
pub struct JobThreads {
    worker: Worker,
    queue: JobQueue,
    steps: StepsThread,
    #[cfg(not(target_family = "wasm"))]
    corpus: CorpusThread,
}

impl JobThreads {
    pub fn spawn(options: &OpenWith, wake: &Wake) -> Self {
        let worker = Worker::spawn(options.threads, Arc::clone(wake));
        Self {
            queue: JobQueue::spawn(worker.library.clone(), Arc::clone(&worker.gate), Arc::clone(wake)),
            steps: StepsThread::spawn(worker.library.clone(), Arc::clone(wake)),
            #[cfg(not(target_family = "wasm"))]
            corpus: CorpusThread::spawn(Arc::clone(wake)),
            worker,
        }
    }
}

impl BackgroundJobs for JobThreads {
    fn decode(&mut self, request: Request) {
        self.worker.submit(request);
    }

    fn decoded(&mut self) -> Option<Event> {
        self.worker.try_next()
    }

    fn trace(&mut self, number: u64, request: StepsRequest) {
        self.steps.submit(number, request);
    }

    fn let_go(&mut self) {
        self.steps.let_go();
    }

    fn queue(&mut self, call: QueueCall) {
        match call {
            QueueCall::Submit(number, order) => self.queue.submit(number, order),
            QueueCall::Cancel(number) => self.queue.cancel(number),
            QueueCall::Pause(number, is_paused) => self.queue.pause(number, is_paused),
        }
    }

    #[cfg(not(target_family = "wasm"))]
    fn corpus(&mut self, request: CorpusRequest) {
        self.corpus.send(request);
    }

    fn news(&mut self) -> Option<JobNews> {
        let queue = || self.queue.news.try_next().map(JobNews::Queue);
        let news = queue().or_else(|| self.steps.news.try_next().map(JobNews::Steps));
        #[cfg(not(target_family = "wasm"))]
        let news = news.or_else(|| self.corpus.news.try_next().map(JobNews::Corpus));
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::live::protocol::{ColumnResult, HypothesisView};

    fn hypothesis(words: usize) -> HypothesisView {
        HypothesisView { tokens: vec!["a".to_owned(); words], ..HypothesisView::default() }
    }

    #[test]
    fn of_rows_that_wait_only_the_newest_of_a_column_is_absorbed() {
        let models = vec!["no/such/model".into(); 2];
        let mut driver = Driver::open(OpenWith { models, ..OpenWith::default() }, Arc::new(|| {}));
        let number = driver.session.app().tasks.newest;
        let ids: Vec<u64> = driver.session.app().document.columns.iter().map(|column| column.id).collect();
        let row = |at: usize, words: usize| Event::Expanded { number, column: ids[at], best: hypothesis(words) };
        let shown = |driver: &Driver| -> Vec<usize> {
            let words = |column: &crate::app::document::column::Column| {
                column.table.as_ref().map_or(0, |table| table.target.len())
            };
            driver.session.app().document.columns.iter().map(words).collect()
        };
        let mut rows = Vec::new();
        for (at, words) in [(0, 1), (1, 1), (0, 2), (0, 3)] {
            assert!(!driver.take(row(at, words), &mut rows));
        }
        assert_eq!((shown(&driver), rows.len()), (vec![0, 0], 2));
        assert!(driver.absorb_all(&mut rows));
        assert_eq!(shown(&driver), [3, 1]);

        // The end says it all again; a failure leaves the newest row.
        driver.take(row(0, 4), &mut rows);
        let result = ColumnResult { hypotheses: vec![hypothesis(6)], ..ColumnResult::default() };
        driver.take(Event::Finished { number, column: ids[0], result }, &mut rows);
        driver.take(row(1, 2), &mut rows);
        driver.take(Event::Failed { number, column: ids[1], message: "No.".to_owned() }, &mut rows);
        assert_eq!((shown(&driver), rows.len()), (vec![6, 2], 0));
    }
}
