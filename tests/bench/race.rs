//! One model translates the same sentences in several ways by turns: with the fast kernels, in the readable
//! form, and by a peer; and what they say is compared.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::others::Others;
use crate::peer::{Laps, Peer};
use crate::{Setup, machine::pool, subject::Subject, timing::Timing, work::Load};
use interlinear::decoding::{self, Hypothesis, SearchOptions};
use interlinear::models::{Kernels, Stepper};
use interlinear::{error::Error, nn::device::Device, ticket::CancellationToken};

pub const BEAM: usize = 5;
pub const WORDS: usize = 20;
const WARM: usize = 12;
/// A turn that takes so long is repeated once and no more.
const LONG: Duration = Duration::from_secs(8);
/// How far a log p of 20 words may be from that of another way of computing in `f32`.
const TOLERANCE: f64 = 1e-3;

#[derive(Clone, Copy, Debug)]
pub struct Course {
    pub beam: usize,
    pub batch: usize,
    pub threads: usize,
    pub count: usize,
    pub readable: usize,
    pub patience: Duration,
}

impl Course {
    pub fn load(&self) -> Load {
        Load { batch: self.batch, beam: self.beam, t_x: WORDS + 1, t_y: WORDS }
    }
}

#[derive(Default)]
pub struct Lap {
    pub timing: Timing,
    pub best: Vec<Hypothesis>,
    pub rates: Vec<f64>,
}

#[derive(Clone, Copy, Default)]
pub struct Apart {
    same: bool,
    log_p: f64,
}

#[derive(Default)]
pub struct Race {
    pub ours: Lap,
    pub readable: Option<Lap>,
    pub apart: Option<Apart>,
    pub peers: Vec<Laps>,
    pub others: Others,
}

pub struct Racer<'a> {
    setup: &'a Setup,
    subject: &'a Subject,
    peers: Vec<Peer>,
    folder: Option<TempDir>,
}

const MODEL: &str = "model";
const SENTENCES: &str = "sentences.txt";

impl<'a> Racer<'a> {
    pub fn new(setup: &'a Setup, subject: &'a Subject) -> anyhow::Result<Self> {
        let (peers, mut folder) = (setup.peers.clone(), None);
        if !peers.is_empty() {
            subject.save(&folder.insert(tempfile::tempdir()?).path().join(MODEL))?;
        }
        Ok(Self { setup, subject, peers, folder })
    }

    pub fn race(&mut self, course: &Course) -> anyhow::Result<Race> {
        let runtime = &self.setup.runtime;
        let sentences = self.subject.sentences(course.count, WORDS);
        let mut ours = Runner::new(self.subject, runtime.engine, &runtime.device, course)?;
        let (other, cpu) =
            (if runtime.engine == Kernels::Fused { Kernels::Plain } else { Kernels::Fused }, Device::cpu());
        let mut reference = match course.readable {
            0 => None,
            _ => Some(Runner::new(self.subject, other, &cpu, course)?),
        };
        let few = &sentences[..course.readable.min(sentences.len())];
        let laps = |peer: &Peer| Laps::new(peer, course.threads);
        let mut race = Race {
            readable: reference.as_ref().map(|_| Lap::default()),
            peers: self.peers.iter().map(laps).collect(),
            ..Race::default()
        };
        ours.warm(&sentences)?;
        if let Some(reference) = &mut reference {
            reference.warm(few)?;
        }
        if let Some(folder) = &self.folder {
            std::fs::write(folder.path().join(SENTENCES), self.subject.text(&sentences))?;
        }
        let started = Instant::now();
        for turn in 0..self.setup.repeat.max(1) {
            let Race { ours: lap, others, .. } = &mut race;
            others.during(|| ours.pass(&sentences, lap))?;
            if let (Some(reference), Some(lap)) = (&mut reference, &mut race.readable) {
                reference.pass(few, lap)?;
            }
            let arguments = self.arguments(course);
            race.peers.iter_mut().for_each(|laps| laps.turn(&arguments, &mut race.others));
            let (turns, took) = (turn + 1, started.elapsed());
            let enough = turns >= self.setup.least || (turns >= 2 && took >= LONG * turns as u32);
            if enough && took >= course.patience {
                break;
            }
        }
        // it does not know the architecture, whatever the course
        let mut laps = race.peers.iter();
        self.peers.retain(|_| laps.next().is_some_and(|laps| laps.refused.is_none()));
        race.apart = race.readable.as_ref().map(|lap| apart(&race.ours.best, &lap.best));
        Ok(race)
    }

    fn arguments(&self, course: &Course) -> Vec<OsString> {
        let Some(folder) = &self.folder else { return Vec::new() };
        let mut arguments: Vec<OsString> =
            [MODEL, SENTENCES].map(|name| folder.path().join(name).into_os_string()).to_vec();
        arguments.extend([course.beam, WORDS].map(|number| number.to_string().into()));
        arguments.push(format!("batch={}", course.batch).into());
        let device = &self.setup.runtime.device.name;
        arguments.extend((device != "cpu").then(|| format!("device={device}").into()));
        arguments
    }
}

struct Runner<'a> {
    subject: &'a Subject,
    stepper: Box<dyn Stepper>,
    pool: rayon::ThreadPool,
    batch: usize,
    options: SearchOptions,
}

impl<'a> Runner<'a> {
    fn new(subject: &'a Subject, engine: Kernels, device: &Device, course: &Course) -> anyhow::Result<Self> {
        let pool = pool(course.threads)?;
        let stepper = pool.install(|| subject.stepper(engine, device, course.threads))?;
        let options = SearchOptions { beam: course.beam, max_length: Some(WORDS), ..SearchOptions::default() };
        Ok(Self { subject, stepper, pool, batch: course.batch, options })
    }

    fn warm(&mut self, sentences: &[Vec<u32>]) -> anyhow::Result<()> {
        self.pass(&sentences[..self.batch.min(sentences.len()).min(WARM)], &mut Lap::default())
    }

    fn pass(&mut self, sentences: &[Vec<u32>], lap: &mut Lap) -> anyhow::Result<()> {
        let Self { subject, stepper, pool, batch, options } = self;
        let sources: Vec<&[u32]> = sentences.iter().map(Vec::as_slice).collect();
        let (timing, best) = (&mut lap.timing, &mut lap.best);
        best.clear();
        let (specials, ticket) = (subject.specials(), CancellationToken::forever());
        pool.install(|| {
            timing.pass(|timing| {
                for batch in sources.chunks(*batch) {
                    let mut decode =
                        || decoding::decode(stepper.as_mut(), specials, batch, options, &ticket, &mut |_, _| {});
                    let decoded = timing.piece(&mut decode)?;
                    best.extend(decoded.into_iter().filter_map(|decoded| decoded.hypotheses.into_iter().next()));
                }
                Ok::<_, Error>(())
            })
        })?;
        let words: usize = lap.best.iter().map(|hypothesis| hypothesis.tokens.len()).sum();
        lap.rates.push(words as f64 / lap.timing.last_pass().max(1e-9));
        Ok(())
    }
}

fn apart(ours: &[Hypothesis], theirs: &[Hypothesis]) -> Apart {
    let mut apart = Apart { same: true, log_p: 0.0 };
    for (one, other) in ours.iter().zip(theirs) {
        apart.same &= one.tokens == other.tokens;
        apart.log_p = apart.log_p.max(f64::from((one.log_p - other.log_p).abs()));
    }
    apart
}

pub fn peer_apart(ours: &[Hypothesis], figures: &Value) -> Apart {
    let Some(ours) = ours.first() else { return Apart::default() };
    let words: Vec<u64> = figures["first"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let same = !words.is_empty() && ours.tokens.iter().zip(&words).all(|(one, other)| u64::from(*one) == *other);
    let score = figures["score"].as_f64().unwrap_or(f64::NAN);
    Apart { same, log_p: (f64::from(ours.log_p) - score).abs() }
}

impl std::fmt::Display for Apart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = if self.same { "same" } else { "OTHER" };
        write!(f, "{words} {:.0e}", self.log_p)
    }
}

impl Apart {
    pub fn is_near(&self) -> bool {
        self.same && self.log_p <= TOLERANCE
    }
}
