//! The loop. Emits reports, asks its ticket, takes time from outside.

use std::path::Path;

use serde::Serialize;

use crate::backend::Engine;
use crate::folder::{checkpoint_file, training_folder};
use crate::fused::{BatchLoss, StepOptions};
use crate::minibatch::{GuidedLink, Minibatch};
use crate::settings::{BestSettings, Rule, ScheduleSettings, TrainingSettings};
use crate::state::{Checkpoint, Position, SentenceOrder};
use crate::{guide::Guide, log::Log, optimizer::OptimizerMemory};
use engine::error::{Error, Result};
use engine::text::corpus::{Batches, ParallelText};
use engine::ticket::CancellationToken;

/// One line of the log: training since the line before.
#[derive(Clone, Debug, Default, Serialize, PartialEq)]
pub struct LogLine {
    pub update: u64,
    pub epoch: u64,
    pub loss: f64,
    pub nll: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guide: Option<f64>,
    pub norm: f64,
    pub rate: f32,
    pub words: u64,
    pub words_per_second: f64,
    pub seconds: f64,
}

/// One measurement on the development text.
#[derive(Clone, Debug, Default, Serialize, PartialEq)]
pub struct DevelopmentScore {
    pub update: u64,
    pub development_nll: f64,
    pub development_perplexity: f64,
    pub development_bleu: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_nll: Option<f64>,
    pub best: bool,
    pub seconds: f64,
}

/// What the loop tells.
#[derive(Clone, Debug, PartialEq)]
pub enum TrainingReport {
    /// Before the first update.
    Started {
        position: Position,
        updates: u64,
        pairs: usize,
        parameters: usize,
    },
    /// A sentence about what is being done.
    Note(String),
    Line(LogLine),
    Measure(DevelopmentScore),
    /// The end, by schedule or by a stale ticket (then a checkpoint was written).
    Ended {
        position: Position,
        complete: bool,
    },
}

/// Translates development sentences with these weights and gives their BLEU.
pub type MeasureBleu<'a> = dyn FnMut(&[f32]) -> Result<f64> + 'a;

/// Keeps weights that measured best.
pub type Keep<'a> = dyn FnMut(&[f32], &DevelopmentScore) -> Result<()> + 'a;

/// A run in progress.
pub struct Trainer<'a> {
    pub settings: &'a TrainingSettings,
    pub engine: Box<dyn Engine>,
    pub training: &'a ParallelText,
    /// Where alpha is to look in it.
    pub guide: Option<&'a Guide>,
    pub development: &'a ParallelText,
    /// BLEU of weights, where asked for.
    pub bleu: Option<Box<MeasureBleu<'a>>>,
    pub keep: Box<Keep<'a>>,
    /// Seconds from some start.
    pub clock: &'a dyn Fn() -> f64,
    pub measured: Vec<Vec<f32>>,
    pub position: Position,
}

impl Trainer<'_> {
    /// Goes on from the checkpoint that was read from `path`.
    pub fn resume(&mut self, path: &Path, checkpoint: Checkpoint) -> Result<()> {
        self.check_memory(path, &checkpoint)?;
        self.check_order(path, &checkpoint)?;
        self.engine.restore(checkpoint.weights, Some(checkpoint.memory))?;
        self.position = checkpoint.position;
        self.measured = checkpoint.measured;
        if self.position.measure().is_some_and(|by| by != self.measured_by()) {
            // An NLL and a BLEU cannot be compared: the next measurement is the best so far.
            (self.position.best, self.position.best_update) = (None, 0);
        }
        Ok(())
    }

    fn measured_by(&self) -> BestSettings {
        if self.bleu.is_some() { self.settings.schedule.best } else { BestSettings::Nll }
    }

    fn order(&self) -> SentenceOrder {
        let schedule = &self.settings.schedule;
        let batch_words = schedule.batch_words.unwrap_or(0);
        let pairs = self.training.len();
        SentenceOrder { batch: schedule.batch, batch_words, sorted: schedule.sorted, seed: schedule.seed, pairs }
    }

    fn batches(&self) -> Batches {
        let ScheduleSettings { seed, batch, batch_words, sorted, .. } = self.settings.schedule;
        let epoch = self.position.epoch;
        match batch_words {
            None => self.training.batches(seed, epoch, batch, sorted),
            Some(words) => self.training.batches_of_words(seed, epoch, words, batch * sorted),
        }
    }

    /// What the loss of a minibatch is multiplied by: one over its sentences; where minibatches are cut by words, one
    /// over its words, times the mean words of a sentence, so that rates and `clip` mean the same.
    fn scale(&self, target: &[&[u32]]) -> f32 {
        if self.settings.schedule.batch_words.is_none() {
            return 1.0 / target.len() as f32;
        }
        let words: usize = target.iter().map(|target| target.len()).sum();
        (self.training.target_ids() as f64 / self.training.len() as f64 / words as f64) as f32
    }

    /// Refuses to resume when the data are in another order: the saved position would point to other pairs.
    fn check_order(&self, path: &Path, checkpoint: &Checkpoint) -> Result<()> {
        let change = checkpoint.position.order.and_then(|order| order.change(&self.order()));
        let Some((name, was, is)) = change else { return Ok(()) };
        let message = format!(
            "was made where {name} was {was}, and now it is {is}; set it back, or start anew without --resume in another `output`"
        );
        Err(Error::file(path, message))
    }

    fn check_memory(&self, path: &Path, checkpoint: &Checkpoint) -> Result<()> {
        let rule = self.settings.optimizer.rule;
        let expected = if rule == Rule::Sgd { 0 } else { checkpoint.weights.len() };
        let OptimizerMemory { first, second } = &checkpoint.memory;
        let fits = [first, second].iter().all(|memory| memory.len() == expected);
        if fits && checkpoint.position.rule.is_none_or(|made| made == rule) {
            return Ok(());
        }
        let message = "was made with another `optimizer.rule`; set it back, or start without --resume";
        Err(Error::file(path, message))
    }

    /// Trains until the schedule is done or the ticket is stale.
    pub fn run(&mut self, ticket: &CancellationToken, emit: &mut dyn FnMut(&TrainingReport)) -> Result<()> {
        let updates = self.settings.schedule.updates;
        let mut log = Log::open(&training_folder(&self.settings.output).join("log.jsonl"), self.position.update)?;
        let (position, pairs, parameters) = (self.position.clone(), self.training.len(), self.engine.layout().total());
        emit(&TrainingReport::Started { position, updates, pairs, parameters });
        self.position.rule = Some(self.settings.optimizer.rule);
        self.position.order = Some(self.order());
        self.position.measured_by = Some(self.measured_by());
        if self.position.update == 0 {
            // from here on a run can be resumed, even if the disk fills up after the first best model
            self.save()?;
        }
        let epochs = self.settings.schedule.epochs.unwrap_or(u64::MAX);
        let began = self.position.update;
        while self.position.update < updates && self.position.epoch < epochs && !ticket.is_stale() {
            let batches = self.batches();
            while let Some(batch) = batches.get(self.position.batch) {
                if self.position.update >= updates || ticket.is_stale() {
                    break;
                }
                self.update(batch)?;
                self.after_update(&mut log, emit)?;
            }
            if self.position.batch >= batches.len() {
                self.position.epoch += 1;
                self.position.batch = 0;
            }
        }
        let complete = self.position.update >= updates || self.position.epoch >= epochs;
        // a run that ends with its epochs measures its last weights too, unless it had already ended
        let moved = self.position.update > began;
        if complete && moved && self.position.measured_at != Some(self.position.update) {
            self.note_measure(&mut log, emit)?;
        }
        self.save()?;
        emit(&TrainingReport::Ended { position: self.position.clone(), complete });
        Ok(())
    }

    fn update(&mut self, batch: &[u32]) -> Result<()> {
        let start = (self.clock)();
        let pairs: Vec<_> = batch.iter().map(|&i| self.training.pair(i as usize)).collect();
        let (source, target): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let schedule = &self.settings.schedule;
        let update = self.position.update;
        let looks: Vec<&[GuidedLink]> =
            self.guide.map(|guide| batch.iter().map(|&i| guide.of(i as usize)).collect()).unwrap_or_default();
        let guide = self.settings.guide.as_ref().map_or(0.0, |guide| guide.weight_at(update, schedule.updates));
        let (dropout, smoothing, scale) = (schedule.dropout, schedule.label_smoothing, self.scale(&target));
        let seed = schedule.seed.wrapping_mul(0x0000_0100_0000_01B3) ^ update;
        let options = StepOptions { dropout, smoothing, scale, seed, guide };
        let rate = self.settings.optimizer.rate_at(update, self.position.epoch, schedule.updates);
        let (loss, norm) =
            self.engine.update(Minibatch::new(&source, &target).guided(&looks), options, rate, update)?;
        let seconds = (self.clock)() - start;
        if !(loss.smoothed + loss.guide).is_finite() {
            let message = format!(
                "the loss is no longer a number at update {}; the last checkpoint is kept; lower `optimizer.learning_rate` or `optimizer.clip` and resume",
                update + 1
            );
            return Err(Error::Input(message));
        }
        let position = &mut self.position;
        position.update += 1;
        position.batch += 1;
        position.words += loss.words as u64;
        position.sentences += batch.len() as u64;
        position.seconds += seconds;
        let tally = &mut position.tally;
        tally.nll += loss.nll;
        tally.smoothed += loss.smoothed;
        tally.words += loss.words as u64;
        tally.guide += loss.guide;
        tally.guided += loss.guided as u64;
        tally.norm += f64::from(norm);
        tally.updates += 1;
        tally.seconds += seconds;
        Ok(())
    }

    fn after_update(&mut self, log: &mut Log, emit: &mut dyn FnMut(&TrainingReport)) -> Result<()> {
        let schedule = &self.settings.schedule;
        let (update, last) = (self.position.update, self.position.update == schedule.updates);
        let due = |every: u64| every > 0 && (update.is_multiple_of(every) || last);
        if due(schedule.log_every) {
            let tally = std::mem::take(&mut self.position.tally);
            let words = tally.words.max(1) as f64;
            let line = LogLine {
                update,
                epoch: self.position.epoch,
                loss: tally.smoothed / words,
                nll: tally.nll / words,
                guide: (tally.guided > 0).then(|| tally.guide / tally.guided as f64),
                norm: tally.norm / tally.updates.max(1) as f64,
                rate: self.settings.optimizer.rate_at(update - 1, self.position.epoch, self.settings.schedule.updates),
                words: self.position.words,
                words_per_second: words / tally.seconds.max(1e-9),
                seconds: self.position.seconds,
            };
            log.append(&line)?;
            emit(&TrainingReport::Line(line));
        }
        // the last update is always measured: a run that is done leaves a model
        let measure = last || due(schedule.measure_every);
        let checkpoint = due(schedule.checkpoint_every);
        if measure {
            self.note_measure(log, emit)?;
        }
        if checkpoint || measure {
            self.save()?;
        }
        Ok(())
    }

    fn note_measure(&mut self, log: &mut Log, emit: &mut dyn FnMut(&TrainingReport)) -> Result<()> {
        let measure = self.measure(emit)?;
        self.position.measured_at = Some(measure.update);
        log.append(&measure)?;
        emit(&TrainingReport::Measure(measure));
        Ok(())
    }

    fn measure(&mut self, emit: &mut dyn FnMut(&TrainingReport)) -> Result<DevelopmentScore> {
        emit(&TrainingReport::Note("measuring on the development text".into()));
        let weights = self.engine.weights()?;
        let now = self.candidate(weights)?;
        let (nll, bleu) = (now.nll, now.bleu);
        let mean = self.mean(&now.weights)?;
        let average_nll = mean.as_ref().map(|mean| mean.nll);
        let kept = mean.filter(|mean| mean.value < now.value).unwrap_or(now);
        let position = &mut self.position;
        let best = kept.value.is_finite() && position.best.is_none_or(|best| kept.value < best);
        if best {
            position.best = Some(kept.value);
            position.best_update = position.update;
        }
        let measure = DevelopmentScore {
            update: position.update,
            development_nll: nll,
            development_perplexity: nll.exp(),
            development_bleu: bleu,
            average_nll,
            best,
            seconds: position.seconds,
        };
        if best {
            (self.keep)(&kept.weights, &measure)?;
        }
        Ok(measure)
    }

    fn candidate(&mut self, weights: Vec<f32>) -> Result<Candidate> {
        let nll = self.development_nll()?;
        let bleu = self.bleu.as_mut().map(|bleu| bleu(&weights)).transpose()?;
        let value = match (self.measured_by(), bleu) {
            (BestSettings::Bleu, Some(bleu)) => -bleu,
            _ => nll,
        };
        Ok(Candidate { weights, nll, bleu, value })
    }

    fn mean(&mut self, weights: &[f32]) -> Result<Option<Candidate>> {
        let most = self.settings.schedule.average;
        if most == 0 {
            return Ok(None);
        }
        self.measured.push(weights.to_vec());
        let old = self.measured.len().saturating_sub(most);
        self.measured.drain(..old);
        if self.measured.len() < 2 {
            return Ok(None);
        }
        self.engine.restore(mean(&self.measured), None)?;
        let mean = self.engine.weights()?;
        let candidate = self.candidate(mean);
        self.engine.restore(weights.to_vec(), None)?;
        candidate.map(Some)
    }

    fn development_nll(&mut self) -> Result<f64> {
        let mut order: Vec<usize> = (0..self.development.len()).collect();
        order.sort_by_key(|&i| (self.development.pair(i).1.len(), self.development.pair(i).0.len()));
        let mut total = BatchLoss::default();
        for batch in order.chunks(self.settings.schedule.batch) {
            let (source, target): (Vec<_>, Vec<_>) = batch.iter().map(|&i| self.development.pair(i)).unzip();
            total += self.engine.measure(Minibatch::new(&source, &target))?;
        }
        if total.words == 0 {
            return Err(Error::Input("the development text has no usable pair; give other files".into()));
        }
        Ok(total.nll / total.words as f64)
    }

    fn save(&self) -> Result<()> {
        let (weights, memory) = (self.engine.weights()?, self.engine.memory()?);
        let (measured, position) = (self.measured.clone(), self.position.clone());
        let checkpoint = Checkpoint { weights, memory, measured, position };
        checkpoint.save(&checkpoint_file(&self.settings.output))
    }
}

struct Candidate {
    weights: Vec<f32>,
    nll: f64,
    bleu: Option<f64>,
    value: f64,
}

fn mean(all: &[Vec<f32>]) -> Vec<f32> {
    let length = all.first().map_or(0, Vec::len);
    let sum = |k: usize| all.iter().map(|weights| f64::from(weights[k])).sum::<f64>();
    (0..length).map(|k| (sum(k) / all.len() as f64) as f32).collect()
}
