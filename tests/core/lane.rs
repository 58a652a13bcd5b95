//! The corpus lane, with made-up work. No test sleeps: what has to come first is said by channels and flags.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::{sync::Arc, time::Duration};

use interlinear::error::{Error, Result};
use interlinear::jobs::queue::{Job, JobProgress, JobQueue, QueueNews, Work};
use interlinear::jobs::{Library, Store, Worker};
use interlinear::jobs::{gate::ForegroundGate, live::protocol::Request};

const PATIENCE: Duration = Duration::from_secs(20);

type Made = Box<dyn FnOnce(&Work<'_>) -> Result<u32> + Send>;

struct Fake(Made);

impl Job for Fake {
    type Found = u32;

    fn run(self, work: &Work<'_>) -> Result<u32> {
        (self.0)(work)
    }
}

fn fake(work: impl FnOnce(&Work<'_>) -> Result<u32> + Send + 'static) -> Fake {
    Fake(Box::new(work))
}

fn lane() -> (JobQueue<Fake>, Arc<ForegroundGate>) {
    let gate = ForegroundGate::new();
    (JobQueue::spawn(Library::new(1), Arc::clone(&gate), Arc::new(|| {})), gate)
}

fn end(lane: &JobQueue<Fake>) -> (u64, QueueNews<u32>) {
    loop {
        let event = lane.news.next_within(PATIENCE).expect("every order ends");
        if !matches!(event.kind, QueueNews::Progress(_)) {
            return (event.number, event.kind);
        }
    }
}

fn beating() -> (Fake, Receiver<()>, Sender<()>) {
    let (beats, heard) = channel();
    let (go, may_go) = channel();
    let job = fake(move |work| {
        loop {
            let _ = beats.send(());
            let _ = may_go.recv_timeout(PATIENCE);
            work.pause_point()?;
        }
    });
    (job, heard, go)
}

#[test]
fn orders_are_done_in_the_order_they_came_and_tell_how_far_they_are() {
    let (lane, _) = lane();
    for number in [7, 8, 9] {
        lane.submit(
            number,
            fake(move |work| {
                for done in 0..=3 {
                    let what = "Counting".to_owned();
                    work.notify(JobProgress { done, total: 3, what, ..JobProgress::default() });
                }
                Ok(number as u32 * 10)
            }),
        );
    }
    let mut seen = Vec::new();
    while seen.last() != Some(&(9, "found 90".to_owned())) {
        let event = lane.news.next_within(PATIENCE).expect("all three are done");
        seen.push((
            event.number,
            match event.kind {
                QueueNews::Progress(progress) => format!("{} of {}", progress.done, progress.total),
                QueueNews::Found(found) => format!("found {found}"),
                other => format!("{other:?}"),
            },
        ));
    }
    for number in [7, 8, 9] {
        let story: Vec<&str> = seen.iter().filter(|(of, _)| *of == number).map(|(_, what)| what.as_str()).collect();
        assert_eq!(story.first(), Some(&"0 of 3"));
        assert_eq!(story[story.len() - 2..], ["3 of 3".to_owned(), format!("found {number}0")]);
    }
    assert!(seen.is_sorted_by_key(|(number, _)| *number), "{seen:?}");
}

#[test]
fn an_order_under_way_is_cancelled_and_the_next_one_goes_on() {
    let (lane, _) = lane();
    let (job, heard, go) = beating();
    lane.submit(1, job);
    lane.submit(2, fake(|_| Ok(2)));
    heard.recv_timeout(PATIENCE).expect("it has begun");
    lane.cancel(1);
    go.send(()).expect("it waits");
    assert_eq!(end(&lane), (1, QueueNews::Cancelled));
    assert_eq!(end(&lane), (2, QueueNews::Found(2)));
}

#[test]
fn what_is_cancelled_before_its_turn_never_begins() {
    let (lane, _) = lane();
    let (job, heard, go) = beating();
    lane.submit(1, job);
    lane.submit(2, fake(|_| panic!("it was cancelled")));
    heard.recv_timeout(PATIENCE).expect("it has begun");
    lane.cancel(2);
    lane.cancel(1);
    go.send(()).expect("it waits");
    assert_eq!(end(&lane), (1, QueueNews::Cancelled));
    assert_eq!(end(&lane), (2, QueueNews::Cancelled));
}

#[test]
fn what_was_cancelled_is_not_found_after_all() {
    let (lane, _) = lane();
    let (begun, has_begun) = channel();
    let (go, may_go) = channel::<()>();
    lane.submit(
        1,
        fake(move |_| {
            let _ = begun.send(());
            let _ = may_go.recv_timeout(PATIENCE);
            Ok(1)
        }),
    );
    has_begun.recv_timeout(PATIENCE).expect("it has begun");
    lane.cancel(1);
    go.send(()).expect("it waits");
    assert_eq!(end(&lane), (1, QueueNews::Cancelled));
}

fn sees(flag: &Arc<AtomicBool>) -> (Fake, Receiver<()>, Sender<()>) {
    let flag = Arc::clone(flag);
    let (begun, has_begun) = channel();
    let (go, may_go) = channel();
    let job = fake(move |work| {
        let _ = begun.send(());
        let _ = may_go.recv_timeout(PATIENCE);
        work.pause_point()?;
        Ok(u32::from(flag.load(Ordering::Acquire)))
    });
    (job, has_begun, go)
}

#[test]
fn a_paused_order_goes_on_only_when_it_is_told_to() {
    let (lane, _) = lane();
    let flag = Arc::new(AtomicBool::new(false));
    let (job, has_begun, go) = sees(&flag);
    lane.submit(1, job);
    has_begun.recv_timeout(PATIENCE).expect("it has begun");
    lane.pause(1, true);
    go.send(()).expect("it waits");
    flag.store(true, Ordering::Release);
    lane.pause(1, false);
    assert_eq!(end(&lane), (1, QueueNews::Found(1)), "it went on while it was paused");
}

#[test]
fn a_paused_order_can_be_cancelled() {
    let (lane, _) = lane();
    let (job, heard, go) = beating();
    lane.submit(1, job);
    heard.recv_timeout(PATIENCE).expect("it has begun");
    lane.pause(1, true);
    go.send(()).expect("it waits");
    lane.cancel(1);
    assert_eq!(end(&lane), (1, QueueNews::Cancelled));
}

#[test]
fn the_live_lane_goes_first() {
    let (lane, gate) = lane();
    let flag = Arc::new(AtomicBool::new(false));
    let (job, has_begun, go) = sees(&flag);
    lane.submit(1, job);
    has_begun.recv_timeout(PATIENCE).expect("it has begun");
    let (first, second) = (gate.shut(), gate.shut());
    go.send(()).expect("it waits");
    drop(first);
    assert!(!gate.is_open());
    flag.store(true, Ordering::Release);
    drop(second);
    assert_eq!(end(&lane), (1, QueueNews::Found(1)), "it went on beside the live lane");
}

#[test]
fn a_live_request_keeps_the_gate_shut_from_the_asking_to_the_end() {
    let (at_event, may_pass) = channel::<()>();
    let may_pass = std::sync::Mutex::new(may_pass);
    // The worker stops at its first event until the test lets it go on.
    let wake = Arc::new(move || {
        let _ = may_pass.lock().map(|passed| passed.recv_timeout(PATIENCE));
    });
    let worker = Worker::spawn_with(Store::new(1), wake);
    let gate = Arc::clone(&worker.gate);
    assert!(gate.is_open());
    let folder = std::path::PathBuf::from("no/such/model");
    let column = |column| interlinear::jobs::live::protocol::ColumnSpec {
        column,
        system: (&folder).into(),
        device: interlinear::nn::device::DeviceChoice::Cpu,
        engine: interlinear::models::Kernels::Fused,
        options: interlinear::decoding::SearchOptions::default(),
        interventions: std::sync::Arc::default(),
        decode: true,
        given: None,
        source: None,
    };
    for number in 1..=3 {
        worker.submit(Request { number, source: "a".to_owned(), columns: vec![column(number)], near: None });
    }
    assert!(!gate.is_open());
    let lane = JobQueue::<Fake>::spawn(worker.library.clone(), Arc::clone(&gate), Arc::new(|| {}));
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    lane.submit(1, fake(move |_| Ok(u32::from(seen.load(Ordering::Acquire)))));
    flag.store(true, Ordering::Release);
    drop(at_event);
    assert_eq!(end(&lane), (1, QueueNews::Found(1)));
}

#[test]
fn failures_and_panics_are_sentences_and_the_lane_goes_on() {
    let (lane, _) = lane();
    lane.submit(1, fake(|_| Err(Error::Input("No such file.".to_owned()))));
    lane.submit(2, fake(|_| panic!("boom")));
    lane.submit(3, fake(|_| Ok(3)));
    assert_eq!(end(&lane), (1, QueueNews::Failed("No such file.".to_owned())));
    let (number, kind) = end(&lane);
    assert!(matches!(&kind, QueueNews::Failed(message) if message.contains("boom")), "{number} {kind:?}");
    assert_eq!(end(&lane), (3, QueueNews::Found(3)));
}

#[test]
fn a_lane_that_is_dropped_ends_what_is_under_way() {
    let (lane, gate) = lane();
    let (job, heard, go) = beating();
    let busy = gate.shut();
    lane.submit(1, job);
    drop(lane);
    drop(busy);
    assert!(heard.try_recv().is_err() && go.send(()).is_err(), "it was never begun and is gone");
}
