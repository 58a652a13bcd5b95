//! Floor 10: one model translates the same sentences in several ways by turns: with the fast kernels, in the readable
//! form, and by a peer; and what they say is compared.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::bench::peer::Peer;
use crate::cli::bench::rates::pool;
use crate::cli::bench::setup::Setup;
use crate::cli::bench::subject::Subject;
use crate::cli::bench::timing::{Timing, quantile};
use crate::cli::bench::work::Load;
use crate::decoding;
use crate::decoding::{Hypothesis, SearchOptions};
use crate::error::{Error, Result};
use crate::models::{Kernels, Stepper};
use crate::nn::device::Device;
use crate::text::write::write_atomic;
use crate::ticket::Ticket;

/// Hypotheses kept.
pub const BEAM: usize = 5;
/// Words of every source and of every translation.
pub const WORDS: usize = 20;
/// Most sentences that are translated before the counted ones.
const WARM: usize = 12;
/// A turn that takes so long is repeated once and no more.
const LONG: Duration = Duration::from_secs(8);
/// How far a log p of 20 words may be from that of another way of computing in `f32`.
pub const TOLERANCE: f64 = 1e-3;

/// What is raced.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// Sentences decoded together.
    pub batch: usize,
    /// Threads of every way.
    pub threads: usize,
    /// Sentences of a pass.
    pub count: usize,
    /// Sentences of a pass of the readable form, the first ones; 0: it does not run.
    pub readable: usize,
    /// After so long no further turn begins.
    pub patience: Duration,
}

impl Course {
    /// The least work of a batch.
    pub fn load(&self) -> Load {
        Load { batch: self.batch, beam: BEAM, t_x: WORDS + 1, t_y: WORDS }
    }
}

/// One way to translate: times, and what came out in the last pass.
#[derive(Debug, Default)]
pub struct Lap {
    /// Of batches and passes.
    pub timing: Timing,
    /// The best hypothesis of every sentence.
    pub best: Vec<Hypothesis>,
    /// Target words a second, of each pass.
    pub rates: Vec<f64>,
}

/// What a peer printed, turn by turn.
#[derive(Debug, Default)]
pub struct PeerLap {
    /// Seconds of its median batch.
    pub medians: Vec<f64>,
    /// Target words a second.
    pub rates: Vec<f64>,
    /// How far its first translation is from ours.
    pub apart: Apart,
}

/// How far two ways are apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Apart {
    /// Whether all words are the same.
    pub same: bool,
    /// The greatest difference of a translation's log p.
    pub log_p: f64,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Race {
    /// The way that is measured.
    pub ours: Lap,
    /// The way that it is compared with.
    pub readable: Option<Lap>,
    /// How far these are apart.
    pub apart: Option<Apart>,
    /// The peer, where there is one that runs this model.
    pub peer: Option<PeerLap>,
    /// Why there is no peer, where there should be one.
    pub refused: Option<String>,
}

/// A model that races, with a folder for the peers that read it.
pub struct Racer<'a> {
    setup: &'a Setup,
    subject: &'a Subject,
    peer: Option<Peer>,
    folder: Option<TempDir>,
}

/// Name of the model's folder inside the temporary one.
const MODEL: &str = "model";

impl<'a> Racer<'a> {
    /// Writes the model where a peer can read it, if there is one.
    pub fn new(setup: &'a Setup, subject: &'a Subject) -> Result<Self> {
        let peer = setup.peer.clone();
        let folder = match &peer {
            Some(_) => {
                let folder = tempfile::tempdir().map_err(|error| Error::io(std::env::temp_dir(), &error))?;
                subject.save(&folder.path().join(MODEL))?;
                Some(folder)
            }
            None => None,
        };
        Ok(Self { setup, subject, peer, folder })
    }

    /// Runs all ways by turns: at least `setup.least` times, at most `setup.repeat` times, and no more once the
    /// patience is used up.
    ///
    /// # Errors
    /// When a way refuses; a peer that prints no figures is only noted.
    pub fn race(&mut self, course: &Course) -> anyhow::Result<Race> {
        let runtime = &self.setup.runtime;
        let sentences = self.subject.sentences(course.count, WORDS);
        let mut ours = Runner::new(self.subject, runtime.engine, self.subject.device(), course)?;
        let (other, cpu) =
            (if runtime.engine == Kernels::Fused { Kernels::Plain } else { Kernels::Fused }, Device::cpu());
        let mut reference = match course.readable {
            0 => None,
            _ => Some(Runner::new(self.subject, other, &cpu, course)?),
        };
        let few = &sentences[..course.readable.min(sentences.len())];
        let mut race = Race { readable: reference.as_ref().map(|_| Lap::default()), ..Race::default() };
        ours.warm(&sentences)?;
        if let Some(reference) = &mut reference {
            reference.warm(few)?;
        }
        let text = self.write(&sentences)?;
        let started = Instant::now();
        for turn in 0..self.setup.repeat.max(1) {
            ours.pass(&sentences, &mut race.ours)?;
            if let (Some(reference), Some(lap)) = (&mut reference, &mut race.readable) {
                reference.pass(few, lap)?;
            }
            if let Some(text) = &text {
                self.peer_turn(course, text, &mut race);
            }
            let (turns, took) = (turn + 1, started.elapsed());
            let enough = turns >= self.setup.least || (turns >= 2 && took >= LONG * turns as u32);
            if enough && took >= course.patience {
                break;
            }
        }
        race.apart = race.readable.as_ref().map(|lap| apart(&race.ours.best, &lap.best));
        Ok(race)
    }

    /// The sentences as a file for the peer.
    fn write(&self, sentences: &[Vec<u32>]) -> Result<Option<OsString>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let path = folder.path().join("sentences.txt");
        write_atomic(&path, |file| std::io::Write::write_all(file, self.subject.text(sentences).as_bytes()))?;
        Ok(Some(path.into_os_string()))
    }

    fn peer_turn(&mut self, course: &Course, text: &OsString, race: &mut Race) {
        let (Some(peer), Some(folder)) = (&self.peer, &self.folder) else { return };
        let device = &self.subject.device().name;
        let model = folder.path().join(MODEL);
        let told = peer.run(&arguments(&model, text, course, (device != "cpu").then_some(device)));
        match told {
            Ok(told) => {
                let lap = race.peer.get_or_insert_with(PeerLap::default);
                lap.medians.push(told["median_s"].as_f64().unwrap_or(f64::NAN));
                lap.rates.push(told["words_per_s"].as_f64().unwrap_or(f64::NAN));
                lap.apart = peer_apart(&race.ours.best, &told);
            }
            // Once is enough: a peer need not know every architecture.
            Err(error) => {
                race.refused = Some(peer.refusal(&error));
                self.peer = None;
            }
        }
    }
}

/// DIR FILE BEAM MAX_LENGTH batch=N threads=N [device=NAME].
fn arguments(model: &Path, text: &OsString, course: &Course, device: Option<&String>) -> Vec<OsString> {
    let mut arguments = vec![model.as_os_str().to_owned(), text.clone()];
    arguments.extend([BEAM.to_string().into(), WORDS.to_string().into()]);
    arguments.extend([format!("batch={}", course.batch).into(), format!("threads={}", course.threads).into()]);
    arguments.extend(device.map(|name| format!("device={name}").into()));
    arguments
}

/// One way with its threads.
struct Runner<'a> {
    subject: &'a Subject,
    stepper: Box<dyn Stepper>,
    pool: rayon::ThreadPool,
    batch: usize,
    options: SearchOptions,
}

impl<'a> Runner<'a> {
    fn new(subject: &'a Subject, engine: Kernels, device: &Device, course: &Course) -> Result<Self> {
        let pool = pool(course.threads)?;
        let stepper = pool.install(|| subject.stepper(engine, device, course.threads))?;
        let options = SearchOptions { beam: BEAM, max_length: Some(WORDS), ..SearchOptions::default() };
        Ok(Self { subject, stepper, pool, batch: course.batch, options })
    }

    /// A few sentences that are not counted.
    fn warm(&mut self, sentences: &[Vec<u32>]) -> Result<()> {
        self.pass(&sentences[..self.batch.min(sentences.len()).min(WARM)], &mut Lap::default())
    }

    fn pass(&mut self, sentences: &[Vec<u32>], lap: &mut Lap) -> Result<()> {
        let Self { subject, stepper, pool, batch, options } = self;
        let sources: Vec<&[u32]> = sentences.iter().map(Vec::as_slice).collect();
        lap.best.clear();
        let timing = &mut lap.timing;
        let decoded = pool.install(|| {
            let mut all = Vec::new();
            timing.pass(|timing| {
                for batch in sources.chunks(*batch) {
                    all.extend(timing.piece(|| decode(subject, stepper.as_mut(), batch, options))?);
                }
                Ok::<_, Error>(())
            })?;
            Ok::<_, Error>(all)
        })?;
        lap.best.extend(decoded.into_iter().filter_map(|decoded| decoded.hypotheses.into_iter().next()));
        let words: usize = lap.best.iter().map(|hypothesis| hypothesis.tokens.len()).sum();
        lap.rates.push(words as f64 / lap.timing.last_pass().max(1e-9));
        Ok(())
    }
}

fn decode(
    subject: &Subject,
    stepper: &mut dyn Stepper,
    sources: &[&[u32]],
    options: &SearchOptions,
) -> Result<Vec<decoding::Decoded>> {
    decoding::decode(stepper, subject.specials(), sources, options, &Ticket::forever(), &mut |_, _| {})
}

/// Compares as many translations as both have.
fn apart(ours: &[Hypothesis], theirs: &[Hypothesis]) -> Apart {
    let mut apart = Apart { same: true, log_p: 0.0 };
    for (one, other) in ours.iter().zip(theirs) {
        apart.same &= one.tokens == other.tokens;
        apart.log_p = apart.log_p.max(f64::from((one.log_p - other.log_p).abs()));
    }
    apart
}

/// Compares the first translation with the words (`first`) and the log p (`score`) that a peer printed.
fn peer_apart(ours: &[Hypothesis], told: &Value) -> Apart {
    let Some(ours) = ours.first() else { return Apart::default() };
    let words: Vec<u64> = told["first"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let same = !words.is_empty() && ours.tokens.iter().zip(&words).all(|(one, other)| u64::from(*one) == *other);
    let score = told["score"].as_f64().unwrap_or(f64::NAN);
    Apart { same, log_p: (f64::from(ours.log_p) - score).abs() }
}

impl std::fmt::Display for Apart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = if self.same { "same" } else { "OTHER" };
        write!(f, "{words} {:.0e}", self.log_p)
    }
}

impl Apart {
    /// For the record.
    pub fn json(&self) -> Value {
        json!({"same_words": self.same, "log_p": self.log_p, "within_tolerance": self.log_p <= TOLERANCE})
    }
}

impl Lap {
    /// Median words a second.
    pub fn rate(&self) -> f64 {
        quantile(&self.rates, 0.5)
    }
}

impl PeerLap {
    /// Median words a second.
    pub fn rate(&self) -> f64 {
        quantile(&self.rates, 0.5)
    }

    /// Median milliseconds of a batch.
    pub fn millis(&self) -> f64 {
        1000.0 * quantile(&self.medians, 0.5)
    }

    /// For the record.
    pub fn json(&self) -> Value {
        json!({"batch_millis": self.millis(), "words_per_s": self.rate(), "words_per_s_all": self.rates,
               "apart": self.apart.json()})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hypothesis(tokens: &[u32], log_p: f32) -> Hypothesis {
        Hypothesis { tokens: tokens.to_vec(), log_p, ..Hypothesis::default() }
    }

    #[test]
    fn translations_are_the_same_when_words_and_log_p_are() {
        let ours = [hypothesis(&[3, 4], -1.0), hypothesis(&[5], -2.0)];
        assert_eq!(apart(&ours, &ours), Apart { same: true, log_p: 0.0 });
        assert_eq!(apart(&ours, &[hypothesis(&[3, 5], -1.5)]), Apart { same: false, log_p: 0.5 });
        let told = json!({"first": [3, 4], "score": -1.25});
        assert_eq!(peer_apart(&ours, &told), Apart { same: true, log_p: 0.25 });
        assert!(!peer_apart(&ours, &json!({"first": [4, 4], "score": -1.0})).same);
        let silent = peer_apart(&ours, &json!({"words_per_s": 1}));
        assert!(!silent.same && silent.log_p.is_nan() && !silent.json()["within_tolerance"].as_bool().expect("bool"));
    }
}
