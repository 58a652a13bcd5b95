//! The parts of every lane of this room: a named thread, a channel with bounded room, a waker.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{cell::RefCell, collections::VecDeque, io, thread::JoinHandle, time::Duration};

use engine::lang;
pub(crate) use engine::quiet::caught;

/// What a panic inside of some work said, as a sentence for the user.
pub(crate) fn panic_sentence(work: &str, words: &str) -> String {
    format!("Something went wrong inside {work} ({words}); everything else goes on.")
}

/// The lock of what is whole between any two statements, so that a panic elsewhere does no harm.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Called from any thread after something was sent, to wake the receiver.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// How long the program's end waits for a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Until it ends: it writes what must not be lost.
    Whole,
    /// It is asked to end, but one that reads a file that does not answer would keep the process for ever.
    AtMost(Duration),
    /// Not at all: it only reads.
    None,
}

pub(crate) const GRACE: Patience = Patience::AtMost(Duration::from_secs(3));

/// A thread that is joined on drop, for as long as its [`Patience`] allows.
pub(crate) struct Thread {
    handle: Option<JoinHandle<()>>,
    ended: Receiver<()>,
    patience: Patience,
}

impl Thread {
    /// Starts `work` on the thread `interlinear-{name}` in the caller's language. A panic ends the thread alone.
    pub(crate) fn start(name: &str, patience: Patience, work: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let (alive, ended) = sync_channel::<()>(0);
        let spoken = lang::shared();
        let handle = std::thread::Builder::new().name(format!("interlinear-{name}")).spawn(move || {
            let _alive = alive;
            lang::speak_as(spoken);
            // The panic hook has reported it; work that must answer catches its own panics.
            let _ = caught(work);
        })?;
        Ok(Self { handle: Some(handle), ended, patience })
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.handle.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn may_join(&self) -> bool {
        match self.patience {
            Patience::Whole => true,
            // Nothing is ever sent: the channel closes when the thread ends.
            Patience::AtMost(patience) => self.ended.recv_timeout(patience) == Err(RecvTimeoutError::Disconnected),
            Patience::None => self.is_finished(),
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        if self.may_join()
            && let Some(handle) = self.handle.take()
        {
            let _ = handle.join();
        }
    }
}

pub(crate) fn channel<E>(room: usize, wake: Wake) -> (Outbox<E>, Receiver<E>) {
    let (events, receiver) = sync_channel(room);
    (Outbox { events, wake }, receiver)
}

/// The end of a channel that sends first and wakes afterwards.
pub(crate) struct Outbox<E> {
    events: SyncSender<E>,
    wake: Wake,
}

impl<E> Clone for Outbox<E> {
    fn clone(&self) -> Self {
        Self { events: self.events.clone(), wake: Arc::clone(&self.wake) }
    }
}

impl<E> Outbox<E> {
    /// Waits for room; false when the other end is gone.
    pub(crate) fn send(&self, event: E) -> bool {
        self.woken(self.events.send(event).is_ok())
    }

    /// Leaves the event out where there is no room.
    pub(crate) fn try_send(&self, event: E) -> bool {
        self.woken(self.events.try_send(event).is_ok())
    }

    fn woken(&self, sent: bool) -> bool {
        if sent {
            (self.wake)();
        }
        sent
    }
}

/// A thread with its channel. Dropping it closes the channel, calls `stop` and waits for the thread.
pub struct Service<E> {
    events: Option<Receiver<E>>,
    /// What could not be done because there is no thread.
    refused: RefCell<VecDeque<E>>,
    stop: Box<dyn Fn() + Send>,
    thread: Option<Thread>,
}

impl<E> Service<E> {
    /// Starts `run`, which ends soon after `stop` was called.
    pub(crate) fn start(
        name: &str, patience: Patience, events: Receiver<E>, stop: impl Fn() + Send + 'static,
        run: impl FnOnce() + Send + 'static,
    ) -> Self {
        let thread = Thread::start(name, patience, run).ok();
        Self { events: Some(events), refused: RefCell::default(), stop: Box::new(stop), thread }
    }

    pub(crate) fn has_thread(&self) -> bool {
        self.thread.is_some()
    }

    /// Queues a message as if the thread had sent it; used when there is no thread.
    pub(crate) fn refuse(&self, event: E) {
        self.refused.borrow_mut().push_back(event);
    }

    pub fn try_next(&self) -> Option<E> {
        self.refused.borrow_mut().pop_front().or_else(|| self.events.as_ref()?.try_recv().ok())
    }

    pub fn next_within(&self, patience: Duration) -> Option<E> {
        self.refused.borrow_mut().pop_front().or_else(|| self.events.as_ref()?.recv_timeout(patience).ok())
    }
}

impl<E> Drop for Service<E> {
    fn drop(&mut self) {
        self.events = None;
        (self.stop)();
        self.thread = None;
    }
}

/// How far behind the window: translating what is typed.
pub const LIVE_STEP: i32 = 10;
/// How far behind the window: whole corpora, maps and the like.
pub const CORPUS_STEP: i32 = 15;

/// Lowers the priority of the calling thread, and of threads that it starts, so that the window has the cores first.
/// Linux alone has a priority for a thread that needs no rights; elsewhere nothing changes.
pub fn step_back(to: i32) {
    #[cfg(target_os = "linux")]
    {
        // A process that already runs at a lower priority may not raise it, and need not.
        let _ = rustix::process::setpriority_process(None, to);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = to;
}

/// As [`step_back`], for the threads of the pool that computes for all of them.
pub fn step_back_with_pool(to: i32) {
    step_back(to);
    rayon::broadcast(|_| step_back(to));
}

#[cfg(all(test, target_os = "linux"))]
mod priority_tests {
    use super::*;

    #[test]
    fn a_thread_that_steps_back_leaves_the_others_where_they_are() {
        let own = || rustix::process::getpriority_process(None).expect("every thread has a priority");
        let before = own();
        // There is nothing further behind than 19.
        let behind = (before + 3).min(19);
        let theirs = std::thread::spawn(move || {
            step_back(behind);
            (own(), std::thread::spawn(own).join())
        });
        let (stepped, child) = theirs.join().expect("the thread ends");
        assert_eq!((stepped, child.expect("the thread ends"), own()), (behind, behind, before));
    }
}
