//! Thousands of requests, cancels and orders in any order through the worker and the lane, without a display: every
//! order ends, and neither threads nor memory grow. A process of its own, so that other tests count for nothing.
//! INTERLINEAR_SOAK=100000 runs so many rounds instead of the few of the suite.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{path::PathBuf, sync::Arc};

use interlinear::aligner::bundled::AlignerFiles;
use interlinear::corpus::{judgements::judge::Judgement, store::file::Workspace, store::write::NewSentence};
use interlinear::jobs::live::protocol::{Event, Request};
use interlinear::jobs::queue::maps::{MapOrder, What};
use interlinear::jobs::queue::{JobQueue, QueueNews, QueueOrder};
use interlinear::{decoding, decoding::SystemSpec, decoding::ensemble::Mixing, jobs::Worker};
use interlinear::{jobs::queue::analyse::Analyse, models::representations::VocabularySide, nn::device::DeviceChoice};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::worker::{PATIENCE, request};
use crate::{cli::reference, folder::Folder};

const ROUNDS: &str = "INTERLINEAR_SOAK";
const MODELS: [&str; 4] = ["rnnsearch", "rnnencdec", "luong-local-p-general", "no-such-model"];
/// Memory may differ by so much between two moments of rest, bytes.
const SLACK: u64 = 48 << 20;

#[test]
fn threads_and_memory_stay_flat_through_random_requests_and_orders() {
    let rounds = std::env::var(ROUNDS).unwrap_or_else(|_| "1200".to_owned());
    let test = std::env::current_exe().expect("a test knows where it is");
    let child = Command::new(test).args(["--exact", "soak::rounds", "--ignored"]).env(ROUNDS, rounds).output();
    let output = child.expect("the test starts itself");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

fn process() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    (value("Threads:").unwrap_or(0), value("VmRSS:").unwrap_or(0) << 10)
}

struct Soak {
    worker: Worker,
    lane: JobQueue<QueueOrder>,
    rng: ChaCha8Rng,
    requests: u64,
    orders: u64,
    open: Vec<u64>,
    corpus: PathBuf,
}

impl Soak {
    fn pick<T: Clone>(&mut self, among: &[T]) -> T {
        among[self.rng.random_range(0..among.len())].clone()
    }

    fn words(&mut self) -> String {
        let count = self.rng.random_range(0..6);
        (0..count).map(|_| format!("s{} ", self.rng.random_range(0..60))).collect()
    }

    fn request(&mut self) -> Request {
        self.requests += 1;
        let folders: Vec<PathBuf> = (0..self.rng.random_range(0..4)).map(|_| reference(self.pick(&MODELS))).collect();
        let mut wanted = request(self.requests, &self.words(), &folders);
        for spec in &mut wanted.columns {
            spec.column += self.rng.random_range(0..3) * 10;
            spec.decode = self.rng.random_range(0..4) > 0;
            spec.options.beam = self.rng.random_range(1..4);
            if self.rng.random_range(0..4) == 0 {
                spec.source = Some(self.words());
            }
            if self.rng.random_range(0..12) == 0 {
                spec.device = DeviceChoice::Cuda(97);
            }
            if self.rng.random_range(0..6) == 0 {
                let members = ["rnnsearch", "luong-local-p-general"].map(|name| reference(name).into()).to_vec();
                spec.system = SystemSpec { members, mixing: Mixing::default() };
            }
        }
        wanted
    }

    fn order(&mut self) -> QueueOrder {
        let model = reference(self.pick(&MODELS)).into();
        let device = DeviceChoice::Cpu;
        match self.rng.random_range(0..3) {
            0 => {
                let what = What::Words { side: VocabularySide::default(), count: 9 };
                QueueOrder::Map(MapOrder { model, device, what, ..MapOrder::default() })
            }
            1 => QueueOrder::Map(MapOrder {
                model,
                device,
                what: What::Annotations { text: self.words() },
                ..MapOrder::default()
            }),
            _ => {
                let beam = self.rng.random_range(1..60);
                let search =
                    decoding::SearchOptions { beam, max_length: Some(6), ..decoding::SearchOptions::default() };
                QueueOrder::Analyse(Analyse {
                    workspace: self.corpus.clone(),
                    system: model.into(),
                    device,
                    search,
                    forces: false,
                    acting: None,
                    aligner: AlignerFiles::default(),
                    reading: None,
                })
            }
        }
    }

    fn round(&mut self) {
        match self.rng.random_range(0..10) {
            0..5 => {
                let wanted = self.request();
                self.worker.submit(wanted);
            }
            5..7 if self.open.len() < 20 => {
                self.orders += 1;
                let order = self.order();
                self.lane.submit(self.orders, order);
                self.open.push(self.orders);
            }
            7 => self.lane.cancel(self.rng.random_range(0..=self.orders)),
            8 => self.lane.pause(self.rng.random_range(0..=self.orders), self.rng.random_range(0..2) == 0),
            _ => {
                // One event at a time: at other times the channels fill up.
                self.hear(Duration::from_millis(1));
            }
        }
        if self.rng.random_range(0..3) == 0 {
            while self.hear(Duration::ZERO).0 {}
        }
    }

    fn hear(&mut self, patience: Duration) -> (bool, bool) {
        let live = self.worker.next_within(patience);
        let event = self.lane.news.next_within(patience);
        let ended = event.as_ref().filter(|event| !matches!(event.kind, QueueNews::Progress(_)));
        if let Some(ended) = ended {
            let at = self.open.iter().position(|number| *number == ended.number);
            self.open.remove(at.expect("an order ends once"));
        }
        let is_newest =
            |live: &Event| live.address().0 == Some(self.requests) && matches!(live, Event::Finished { .. });
        (live.is_some() || event.is_some(), live.as_ref().is_some_and(is_newest))
    }

    fn rest(&mut self, threads: Option<u64>) -> (u64, u64) {
        (0..=self.orders).for_each(|number| self.lane.pause(number, false));
        let start = Instant::now();
        self.requests += 1;
        self.worker.submit(request(self.requests, "s9 s31", &[reference("rnnsearch")]));
        let mut finished = false;
        while !(finished && self.open.is_empty()) {
            assert!(start.elapsed() < 6 * PATIENCE, "without an end: {:?}, finished: {finished}", self.open);
            finished |= self.hear(Duration::from_millis(1)).1;
        }
        // Readers that nobody waits for end a moment later.
        while threads.is_some_and(|threads| process().0 > threads) && start.elapsed() < 6 * PATIENCE {
            self.hear(Duration::from_millis(5));
        }
        process()
    }
}

#[test]
#[ignore = "started by the test above in a process of its own"]
fn rounds() {
    let rounds: usize = std::env::var(ROUNDS).ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1200);
    let (_folder, corpus) = Folder::and_path("c.ilws");
    let sentence = |text: &str| NewSentence { source: text.to_owned(), ..NewSentence::default() };
    let sentences = ["s9 s31", "s4 s17 s2"].map(sentence);
    Workspace::open(&corpus).expect("a workspace").add_sentences(1, &sentences).expect("sentences");
    let worker = Worker::spawn(Some(2), Arc::new(|| {}));
    let lane = JobQueue::spawn(worker.library.clone(), Arc::clone(&worker.gate), Arc::new(|| {}));
    let rng = ChaCha8Rng::seed_from_u64(7);
    let mut soak = Soak { worker, lane, rng, requests: 0, orders: 0, open: Vec::new(), corpus };
    // Pools, caches and the allocator's arenas come to their size.
    (0..rounds / 4).for_each(|_| soak.round());
    let (threads, memory) = soak.rest(None);
    for part in 0..3 {
        (0..rounds / 4).for_each(|_| soak.round());
        let (now, bytes) = soak.rest(Some(threads));
        assert!(now <= threads, "{threads} threads became {now} in part {part}");
        assert!(bytes <= memory + SLACK, "{memory} bytes became {bytes} in part {part}");
    }
}

/// The workspace in which [`judgements`] are made.
const JUDGED: &str = "INTERLINEAR_JUDGED";
const KILLS: &str = "INTERLINEAR_KILLS";
/// Sentences that are judged one after the other, again and again.
const SENTENCES: usize = 50;

#[test]
#[ignore = "a process that the next test kills"]
fn judgements() {
    let path = PathBuf::from(std::env::var(JUDGED).expect("it is named"));
    let mut workspace = Workspace::open(&path).expect("a workspace");
    let said = workspace.judgements().expect("judgements");
    let mut number: usize =
        said.values().map(|by| by["Ann"].note.parse::<usize>().expect("a number")).max().unwrap_or(0);
    loop {
        number += 1;
        let judgement = Judgement { note: number.to_string(), stars: 3, ..Judgement::default() };
        workspace.judge(number % SENTENCES, "Ann", &judgement).expect("judged");
        println!("\nkept {number}");
    }
}

#[test]
fn judgements_that_were_kept_are_there_after_every_kill() {
    let kills: usize = std::env::var(KILLS).map_or(4, |kills| kills.parse().expect("a number"));
    let (_folder, path) = Folder::and_path("a.ilws");
    let sentence = |n: usize| NewSentence { source: format!("house {n}"), ..NewSentence::default() };
    let sentences: Vec<_> = (0..SENTENCES).map(sentence).collect();
    Workspace::open(&path).expect("a workspace").add_sentences(1, &sentences).expect("sentences");
    let (mut kept, mut all) = (0, 0);
    for kill in 0..kills {
        let test = std::env::current_exe().expect("a test knows where it is");
        let mut command = Command::new(test);
        command.args(["--exact", "soak::judgements", "--ignored", "--nocapture"]).env(JUDGED, &path);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
        let number = |line: &String| line.strip_prefix("kept ").and_then(|number| number.parse::<usize>().ok());
        let first = lines.find_map(|line| number(&line)).expect("it judges");
        std::thread::sleep(Duration::from_micros(kill as u64 * 7_919 % 40_000));
        child.kill().expect("killed");
        let last = lines.filter_map(|line| number(&line)).max().unwrap_or(first);
        child.wait().expect("it has ended");
        assert!(first > kept, "kill {kill}: what was kept before is not known any more");
        (kept, all) = (last, all + last + 1 - first);
        let said = Workspace::open(&path).expect("it opens").judgements().expect("judgements");
        for number in kept.saturating_sub(SENTENCES - 1).max(1)..=kept {
            let note = said.get(&(number % SENTENCES)).map(|by| by["Ann"].note.parse::<usize>().expect("a number"));
            assert!(note >= Some(number), "kill {kill}: judgement {number} of {kept} is lost, {note:?} is there");
        }
    }
    println!("{all} judgements, {kills} kills");
}
