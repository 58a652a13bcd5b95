//! Ancestral sampling: every word is drawn from p(y_i | y_<i, x), as Cho et al. (2014, table 3) draw targets
//! of a phrase, or from p^(1/T), normalised, with a temperature T.
//!
//! Each draw has a generator of its own, which follows from the seed, the sentence's number and the draw's, and so does
//! not depend on its neighbours. Another batch, number of threads or processor may change the last digits of log p, since
//! sums are then taken in another order, and with them, rarely, a draw. Draws that begin with the same words share a row, so that a
//! thousand samples of a phrase cost little more than their distinct beginnings.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::decoding::{SearchOptions, Specials};
use crate::error::{Error, Result};
use crate::models::{Need, StepOutput, StepRow, Stepper};
use crate::{decoding::beam::check_sources, nn::fused::elementwise, ticket::CancellationToken};

/// Most draws under way at once: each may come to a row of its own, with probabilities for a vocabulary.
const MOST_DRAWS: usize = 1024;

/// How to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleOptions {
    pub count: usize,
    /// T; 1 draws from the model's distribution, less from a sharper one, and 0 always takes the most probable word.
    pub temperature: f32,
    pub seed: u64,
    /// Most target tokens, `</s>` included; `None`: 2 T_x + 10.
    pub max_length: Option<usize>,
    pub forbid_unk: bool,
    pub allow_unk: bool,
}

impl Default for SampleOptions {
    fn default() -> Self {
        Self { count: 1, temperature: 1.0, seed: 1, max_length: None, forbid_unk: false, allow_unk: false }
    }
}

/// What was drawn once or more often.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub tokens: Vec<u32>,
    /// log p(y | x) by the model, whatever the temperature.
    pub log_p: f32,
    /// Ends with `</s>`; otherwise it was cut at the maximal length.
    pub finished: bool,
    /// How often it was drawn.
    pub count: usize,
}

/// A sentence to draw translations of.
#[derive(Clone, Copy, Debug)]
pub struct Numbered<'a> {
    /// Its number in the text, from which its draws follow.
    pub number: u64,
    /// Its ids, `</s>` included.
    pub source: &'a [u32],
}

/// Draws translations of each sentence; the distinct ones, most probable first.
pub fn sample(
    stepper: &mut dyn Stepper, specials: Specials, sentences: &[Numbered<'_>], options: &SampleOptions,
    ticket: &CancellationToken,
) -> Result<Vec<Vec<Sample>>> {
    if !(options.temperature >= 0.0 && options.temperature.is_finite()) {
        let temperature = options.temperature;
        return Err(Error::Input(format!("the temperature is {temperature}, but it must be a number from 0 up")));
    }
    let sources: Vec<&[u32]> = sentences.iter().map(|sentence| sentence.source).collect();
    check_sources(&sources)?;
    let mut drawn: Vec<Drawn> = sentences.iter().map(|_| Drawn::default()).collect();
    for pieces in batches(sentences.len(), options.count) {
        let mut sampler = Sampler { specials, options, groups: Vec::new(), weights: Vec::new(), sums: Vec::new() };
        sampler.run(stepper, sentences, &pieces, &mut drawn, ticket)?;
    }
    Ok(drawn.into_iter().map(Drawn::sorted).collect())
}

struct Piece {
    sentence: usize,
    draws: Range<usize>,
}

fn batches(sentences: usize, count: usize) -> Vec<Vec<Piece>> {
    let (mut batches, mut room): (Vec<Vec<Piece>>, usize) = (Vec::new(), 0);
    for sentence in 0..sentences {
        let mut from = 0;
        while from < count {
            if room == 0 {
                batches.push(Vec::new());
                room = MOST_DRAWS;
            }
            let draws = from..count.min(from + room);
            (from, room) = (draws.end, room - draws.len());
            batches.last_mut().into_iter().for_each(|batch| batch.push(Piece { sentence, draws: draws.clone() }));
        }
    }
    batches
}

#[derive(Default)]
struct Drawn(HashMap<Vec<u32>, Sample>);

impl Drawn {
    fn add(&mut self, tokens: Vec<u32>, log_p: f64, finished: bool, count: usize) {
        let new = Sample { tokens: tokens.clone(), log_p: log_p as f32, finished, count: 0 };
        self.0.entry(tokens).or_insert(new).count += count;
    }

    fn sorted(self) -> Vec<Sample> {
        let mut samples: Vec<Sample> = self.0.into_values().collect();
        samples.sort_by(|a, b| b.log_p.total_cmp(&a.log_p).then_with(|| a.tokens.cmp(&b.tokens)));
        samples
    }
}

struct Group {
    piece: usize,
    tokens: Vec<u32>,
    log_p: f64,
    row: usize,
    draws: Vec<ChaCha8Rng>,
}

struct Sampler<'a> {
    specials: Specials,
    options: &'a SampleOptions,
    groups: Vec<Group>,
    /// p^(1/T) of the row at hand, [K_y].
    weights: Vec<f32>,
    /// Their sums up to each word.
    sums: Vec<f64>,
}

impl Sampler<'_> {
    fn run(
        &mut self, stepper: &mut dyn Stepper, sentences: &[Numbered<'_>], pieces: &[Piece], drawn: &mut [Drawn],
        ticket: &CancellationToken,
    ) -> Result<()> {
        ticket.check()?;
        let sources: Vec<&[u32]> = pieces.iter().map(|piece| sentences[piece.sentence].source).collect();
        stepper.heed(ticket);
        stepper.begin(&sources)?;
        let limit = |piece: usize| {
            let options = SearchOptions { max_length: self.options.max_length, ..SearchOptions::default() };
            options.limit(sources[piece].len()).min(stepper.most())
        };
        let limits: Vec<usize> = (0..pieces.len()).map(limit).collect();
        self.groups = (0..pieces.len())
            .filter(|&piece| limits[piece] > 0)
            .map(|piece| {
                let number = sentences[pieces[piece].sentence].number;
                let draws = pieces[piece].draws.clone().map(|draw| self.generator(number, draw)).collect();
                Group { piece, tokens: Vec::new(), log_p: 0.0, row: piece, draws }
            })
            .collect();
        let mut output = StepOutput::default();
        while !self.groups.is_empty() {
            let row = |group: &Group| StepRow {
                sentence: group.piece,
                parent: group.row,
                y_prev: group.tokens.last().copied(),
            };
            let rows: Vec<StepRow> = self.groups.iter().map(row).collect();
            stepper.step(&rows, &Need::all(), &mut output)?;
            ticket.check()?;
            for (row, group) in std::mem::take(&mut self.groups).into_iter().enumerate() {
                let log_p = output.log_p_row(row);
                for (token, draws) in self.draw(log_p, group.draws, group.tokens.len())? {
                    let tokens = [group.tokens.as_slice(), &[token]].concat();
                    let total = group.log_p + f64::from(log_p[token as usize]);
                    let finished = token == self.specials.eos;
                    if finished || tokens.len() == limits[group.piece] {
                        drawn[pieces[group.piece].sentence].add(tokens, total, finished, draws.len());
                    } else {
                        self.groups.push(Group { piece: group.piece, tokens, log_p: total, row, draws });
                    }
                }
            }
        }
        Ok(())
    }

    fn generator(&self, number: u64, draw: usize) -> ChaCha8Rng {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.options.seed.to_le_bytes());
        seed[8..16].copy_from_slice(&number.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(seed);
        rng.set_stream(draw as u64);
        rng
    }

    fn draw(&mut self, log_p: &[f32], mut draws: Vec<ChaCha8Rng>, i: usize) -> Result<BTreeMap<u32, Vec<ChaCha8Rng>>> {
        let best = self.weigh(log_p);
        let total = self.sums.last().copied().unwrap_or(0.0);
        let (Some(best), true) = (best, total > 0.0) else {
            return Err(Error::Input(format!(
                "the model gives no word a probability at target position {}; its weights are probably damaged, load another copy",
                i + 1
            )));
        };
        if self.options.temperature == 0.0 {
            return Ok(BTreeMap::from([(best as u32, draws)]));
        }
        let mut by_word: BTreeMap<u32, Vec<ChaCha8Rng>> = BTreeMap::new();
        for mut rng in draws.drain(..) {
            let at: f64 = rng.random::<f64>() * total;
            let word = self.sums.partition_point(|&sum| sum <= at);
            // Rounding may lead beyond the last word that has a weight; the most probable one is never wrong.
            let word = if word < log_p.len() { word } else { best };
            by_word.entry(word as u32).or_default().push(rng);
        }
        Ok(by_word)
    }

    /// Sets the weights and their sums; gives the most probable word, of equals the first.
    fn weigh(&mut self, log_p: &[f32]) -> Option<usize> {
        let forbidden =
            self.specials.forbidden(self.options.forbid_unk, self.options.allow_unk).map(|unk| unk as usize);
        let allowed = |k: &usize| Some(*k) != forbidden && !log_p[*k].is_nan();
        let best = (0..log_p.len()).filter(allowed).reduce(|best, k| if log_p[k] > log_p[best] { k } else { best })?;
        let temperature = if self.options.temperature == 0.0 { 1.0 } else { self.options.temperature };
        self.weights.clear();
        self.weights.extend(log_p.iter().map(|log_p_k| (log_p_k - log_p[best]) / temperature));
        if let Some(weight) = forbidden.and_then(|k| self.weights.get_mut(k)) {
            *weight = f32::NEG_INFINITY;
        }
        elementwise::softmax(&mut self.weights);
        let mut sum = 0.0;
        self.sums.clear();
        self.sums.extend(self.weights.iter().enumerate().map(|(k, &weight)| {
            // The kernel gives even what is impossible a trace of weight.
            let possible = Some(k) != forbidden && log_p[k] > f32::NEG_INFINITY;
            sum += if possible { f64::from(weight) } else { 0.0 };
            sum
        }));
        Some(best)
    }
}
