//! The thread of the open workspace: it answers requests in order, of waiting ones only the last of a kind.
//! When idle it reads texts, and looks whether another window or a run has written.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

use crate::jobs::corpus::open::{CorpusHandler, OpenCorpus};
use crate::jobs::thread;
use crate::jobs::thread::{Outbox, Patience, Service, Wake};
use engine::ticket::{CancellationToken, Generation};

pub use crate::jobs::corpus::calls::{CorpusNews, CorpusRequest, Detail};

const ROOM: usize = 64;
/// How often it looks whether others have written.
const LOOK_EVERY: Duration = Duration::from_millis(700);

/// The lane.
pub struct CorpusThread {
    calls: Sender<CorpusRequest>,
    imports: Generation,
    pub news: Service<CorpusNews>,
}

impl CorpusThread {
    pub fn spawn(wake: Wake) -> Self {
        let (out, events) = thread::channel(ROOM, wake);
        let (calls, inbox) = channel();
        let imports = Generation::new();
        let (tickets, stopped) = (imports.clone(), imports.clone());
        let ends = Generation::new();
        let end = ends.next();
        let stop = move || {
            ends.cancel();
            stopped.cancel();
        };
        // A judgement that was given is written before the program ends.
        let news = Service::start("corpus", Patience::Whole, events, stop, move || run(&inbox, &out, &tickets, &end));
        Self { calls, imports, news }
    }

    pub fn send(&self, call: CorpusRequest) {
        let stops = call == CorpusRequest::Stop;
        let is_sent = self.news.has_thread() && self.calls.send(call).is_ok();
        // Sent first: an import that begins meanwhile finds it waiting.
        if stops {
            self.imports.cancel();
        }
        if !is_sent {
            let message = "The system gave no thread for corpora; close other programs and start again.";
            self.news.refuse(CorpusNews::Failed(message.to_owned()));
        }
    }
}

fn run(inbox: &Receiver<CorpusRequest>, out: &Outbox<CorpusNews>, imports: &Generation, end: &CancellationToken) {
    thread::step_back(thread::LIVE_STEP);
    let mut open = CorpusHandler { out, imports, end, inbox, waiting: Vec::new(), at: OpenCorpus::default() };
    loop {
        if open.waiting.is_empty() && !open.at.jobs.is_busy() {
            match inbox.recv_timeout(if open.at.reads_on { Duration::ZERO } else { LOOK_EVERY }) {
                Ok(call) => open.waiting.push(call),
                Err(RecvTimeoutError::Timeout) if open.at.reads_on => open.attempt(CorpusHandler::read_on),
                Err(RecvTimeoutError::Timeout) => open.attempt(CorpusHandler::look),
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
            open.attempt(CorpusHandler::step);
            continue;
        }
        let call = open.waiting.remove(0);
        if !open.waiting.iter().any(|later| later.replaces(&call)) {
            open.attempt(|open| open.answer(call));
        }
    }
}
