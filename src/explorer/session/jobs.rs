//! Where translations are made: by threads of this program ([`JobThreads`]), or by the worker of a browser.

use std::sync::Arc;

use crate::app::{effect::QueueCall, open_with::OpenWith};
#[cfg(not(target_family = "wasm"))]
use crate::jobs::corpus::thread::{CorpusNews, CorpusRequest, CorpusThread};
use crate::jobs::live::protocol::{Event, Request};
use crate::jobs::queue::{JobQueue, QueueEvent};
use crate::jobs::steps::{StepsEvent, StepsRequest, StepsThread};
use crate::jobs::{Wake, Worker};

/// Background work of the session; nothing here waits.
pub trait BackgroundJobs {
    /// Replaces older requests.
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
            queue: JobQueue::spawn(worker.library(), worker.gate(), Arc::clone(wake)),
            steps: StepsThread::spawn(worker.library(), Arc::clone(wake)),
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
