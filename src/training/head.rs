//! Floor 6: learns an alignment head ([`crate::models::fused::head`]) on a frozen model from links between words.
//!
//! The cost of word i is the cross entropy between alpha'_i and its links, -sum_j A_ij log alpha'_ij with A_i spread evenly
//! over the linked source words; words without a link look at `</s>`. The model runs forward alone, over given
//! translations and without its output layer, so that a pass takes a fraction of the training of a model. A minibatch is
//! cut into shards of a fixed size whose gradients are added in order: the result follows from the seed, whatever the
//! number of threads.

use std::sync::{Mutex, PoisonError};

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::models::checkpoint::Weights;
use crate::models::fused::head::{HEAD_WIDTH, HeadSizes, no_vectors, weights_of};
use crate::models::{Kernels, Model, Need, StepOutput, StepRow, Stepper};
use crate::nn::fused::elementwise::softmax;
use crate::nn::fused::{Precision, attention};
use crate::nn::init::gaussian;
use crate::text::corpus::{Batches, ParallelText};
use crate::ticket::CancellationToken;
use crate::training::guide::Guide;
use crate::training::minibatch::GuidedLink;
use crate::training::optimizer::Optimizer;
use crate::training::reach::Reach;
use crate::training::settings::{OptimizerSettings, Rule};

/// Pairs of a minibatch.
const BATCH: usize = 80;
/// Pairs of a shard.
const SHARD: usize = 10;
/// Minibatches sorted by length together.
const POOL: usize = 20;
/// Updates over which the rate rises.
const WARMUP: u64 = 50;
/// Share of the rate that is left at the end.
const FINAL_RATE: f32 = 0.03;
/// The gradient's norm is cut to this.
const CLIP: f32 = 1.0;

/// How a head is learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeadTraining {
    /// Passes over the text.
    pub passes: u64,
    /// Adam's rate at its highest.
    pub rate: f32,
    /// Draws the first weights and the order of the text.
    pub seed: u64,
}

impl Default for HeadTraining {
    fn default() -> Self {
        Self { passes: 2, rate: 1e-3, seed: 1 }
    }
}

/// How far a head is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeadProgress {
    /// Updates done, and all of them.
    pub updates: (u64, u64),
    /// Target words read.
    pub words: u64,
    /// Cost a word over the last updates, nats.
    pub cost: f64,
}

/// What is learned, and how.
struct Learner {
    sizes: HeadSizes,
    /// W', U' and v', one after the other.
    flat: Vec<f32>,
    settings: OptimizerSettings,
    optimizer: Optimizer,
    reach: Reach,
    /// The model's steppers that nobody uses just now: making one may copy its weights.
    steppers: Mutex<Vec<Box<dyn Stepper>>>,
}

/// What a shard adds.
struct Part {
    gradient: Vec<f32>,
    cost: f64,
    words: usize,
}

/// Learns a head for a model. `report` hears every update.
///
/// # Errors
/// [`Error::Stale`]; a text without links; a model that has no kernels on the processor.
pub fn train_head(
    model: &Model,
    (corpus, guide): (&ParallelText, &Guide),
    options: HeadTraining,
    ticket: &CancellationToken,
    report: &mut dyn FnMut(HeadProgress),
) -> Result<Weights> {
    if (0..corpus.len()).all(|k| guide.of(k).is_empty()) {
        return Err(Error::Input("no pair has a link that a head could be learned from; give other links".to_owned()));
    }
    let mut learner = Learner::new(HeadSizes::of(&model.config), options);
    let epochs: Vec<_> = (0..options.passes).map(|pass| corpus.batches(options.seed, pass, BATCH, POOL)).collect();
    let mut progress =
        HeadProgress { updates: (0, epochs.iter().map(|epoch| epoch.len() as u64).sum()), ..HeadProgress::default() };
    for batch in epochs.iter().flat_map(Batches::iter) {
        ticket.check()?;
        let (cost, words) = learner.update(model, (corpus, guide), batch, progress.updates, ticket)?;
        let smooth = if progress.updates.0 == 0 { 1.0 } else { 0.02 };
        progress.cost += smooth * (cost / words.max(1) as f64 - progress.cost);
        progress.updates.0 += 1;
        progress.words += words as u64;
        report(progress);
    }
    Ok(weights_of(learner.sizes, &learner.flat))
}

impl Learner {
    fn new(sizes: HeadSizes, options: HeadTraining) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
        let mut draw = |(_, shape): (String, Vec<usize>)| {
            let fan_in = shape.last().copied().unwrap_or(1) as f64;
            gaussian(shape.iter().product(), 1.0 / fan_in.sqrt(), &mut rng)
        };
        let flat: Vec<f32> = sizes.shapes().into_iter().flat_map(&mut draw).map(|x| x as f32).collect();
        let settings = OptimizerSettings {
            rule: Rule::Adam,
            learning_rate: Some(options.rate),
            clip: CLIP,
            warmup: WARMUP,
            decay_from: Some(0),
            final_rate: FINAL_RATE,
            ..OptimizerSettings::default()
        };
        let optimizer = Optimizer::new(&settings, flat.len());
        Self { sizes, settings, optimizer, reach: Reach::whole(flat.len()), flat, steppers: Mutex::default() }
    }

    /// One step of Adam; the cost and the number of words.
    fn update(
        &mut self,
        model: &Model,
        (corpus, guide): (&ParallelText, &Guide),
        batch: &[u32],
        (update, updates): (u64, u64),
        ticket: &CancellationToken,
    ) -> Result<(f64, usize)> {
        let embedding = &model.weights.get(model.config.target_embedding())?.data;
        let mut parts: Vec<Part> = batch
            .par_chunks(SHARD)
            .map(|shard| {
                let pairs: Vec<_> = shard.iter().map(|&k| (corpus.pair(k as usize), guide.of(k as usize))).collect();
                let free = self.steppers.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let mut stepper = free.map_or_else(|| model.stepper(Kernels::Fused, 1), Ok)?;
                let features = Features::read(&mut *stepper, &pairs, (self.sizes, embedding), ticket)?;
                self.steppers.lock().unwrap_or_else(PoisonError::into_inner).push(stepper);
                Ok(features.back(&self.flat, self.sizes))
            })
            .collect::<Result<_>>()?;
        let (cost, words) = parts.iter().fold((0.0, 0), |(cost, words), part| (cost + part.cost, words + part.words));
        let mean = 1.0 / words.max(1) as f32;
        parts.iter_mut().flat_map(|part| &mut part.gradient).for_each(|d| *d *= mean);
        let mut gradients: Vec<Vec<f32>> = parts.into_iter().map(|part| part.gradient).collect();
        let rate = self.settings.rate_at(update, 0, updates);
        self.optimizer.apply(&mut self.flat, &mut gradients, &self.reach, rate, update);
        Ok((cost, words))
    }
}

/// Source and target of a pair, and its links.
type GivenPair<'a> = ((&'a [u32], &'a [u32]), &'a [GuidedLink]);

/// What a head reads of some pairs, all of them one after the other.
struct Features<'a> {
    /// h_j, [words, annotation].
    h: Vec<f32>,
    /// [s_{i-1}; s_i; s_{i+1}; E y_i], [words, query].
    queries: Vec<f32>,
    /// Source words, target words and links of each pair.
    pairs: Vec<(usize, usize, &'a [GuidedLink])>,
}

impl<'a> Features<'a> {
    /// Runs a model over given translations.
    fn read(
        stepper: &mut dyn Stepper,
        pairs: &[GivenPair<'a>],
        (sizes, embedding): (HeadSizes, &[f32]),
        ticket: &CancellationToken,
    ) -> Result<Self> {
        let sources: Vec<&[u32]> = pairs.iter().map(|((source, _), _)| *source).collect();
        let HeadSizes { state: n, embedding: m, .. } = sizes;
        stepper.begin(&sources)?;
        let mut h = Vec::new();
        for sentence in 0..sources.len() {
            h.extend(stepper.encoded(sentence).ok_or_else(no_vectors)?.concat());
        }
        // s_0, s_1, .. of each pair; s_0 is 0 where the model has none
        let mut states = vec![vec![0.0; n]; pairs.len()];
        for (s_0, s) in states.iter_mut().zip(stepper.states().unwrap_or_default().chunks_exact(n)) {
            s_0.copy_from_slice(s);
        }
        let (mut rows, mut at, mut output) = (Vec::new(), (0..pairs.len()).collect::<Vec<_>>(), StepOutput::default());
        for i in 0.. {
            rows.clear();
            for (sentence, ((_, target), _)) in
                pairs.iter().enumerate().filter(|(_, ((_, target), _))| i <= target.len())
            {
                let y_prev = (i > 0).then(|| target[i - 1]);
                rows.push(StepRow { sentence, parent: at[sentence], y_prev });
                at[sentence] = rows.len() - 1;
            }
            if rows.is_empty() {
                break;
            }
            ticket.check()?;
            stepper.step(&rows, &Need::default(), &mut output)?;
            let now = stepper.states().ok_or_else(no_vectors)?;
            for (row, s) in rows.iter().zip(now.chunks_exact(n)) {
                states[row.sentence].extend_from_slice(s);
            }
        }
        let mut queries = Vec::new();
        for (((_, target), _), states) in pairs.iter().zip(&states) {
            for (i, &y) in target.iter().enumerate() {
                queries.extend_from_slice(&states[i * n..(i + 3) * n]);
                queries.extend_from_slice(&embedding[y as usize * m..(y as usize + 1) * m]);
            }
        }
        let pairs = pairs.iter().map(|((source, target), looks)| (source.len(), target.len(), *looks)).collect();
        Ok(Self { h, queries, pairs })
    }

    /// The gradient of W', U' and v', and the cost.
    fn back(&self, flat: &[f32], sizes: HeadSizes) -> Part {
        let (query, annotation) = (sizes.query(), sizes.annotation);
        let (w, rest) = flat.split_at(HEAD_WIDTH * query);
        let (u, v) = rest.split_at(HEAD_WIDTH * annotation);
        let (t_x, t_y) = (self.h.len() / annotation, self.queries.len() / query);
        let [mut keys, mut d_keys] = [(); 2].map(|()| vec![0.0; t_x * HEAD_WIDTH]);
        let [mut asked, mut d_asked] = [(); 2].map(|()| vec![0.0; t_y * HEAD_WIDTH]);
        Precision::F32.matmul_nt(t_x, HEAD_WIDTH, annotation, &self.h, u, &mut keys, false);
        Precision::F32.matmul_nt(t_y, HEAD_WIDTH, query, &self.queries, w, &mut asked, false);
        let mut part = Part { gradient: vec![0.0; flat.len()], cost: 0.0, words: 0 };
        let (dw, rest) = part.gradient.split_at_mut(HEAD_WIDTH * query);
        let (du, dv) = rest.split_at_mut(HEAD_WIDTH * annotation);
        let (mut x, mut y, mut alpha) = (0, 0, Vec::new());
        for &(words, targets, looks) in &self.pairs {
            let own = x * HEAD_WIDTH..(x + words) * HEAD_WIDTH;
            for links in looks.chunk_by(|a, b| a.i == b.i) {
                let i = usize::from(links[0].i);
                let linked = || links.iter().map(|link| usize::from(link.j)).filter(|j| *j < words);
                let share = 1.0 / linked().count() as f32;
                if i >= targets || !share.is_finite() {
                    continue;
                }
                let row = (y + i) * HEAD_WIDTH..(y + i + 1) * HEAD_WIDTH;
                alpha.resize(words, 0.0);
                attention::energies(&asked[row.clone()], &keys[own.clone()], v, &mut alpha);
                softmax(&mut alpha);
                for j in linked() {
                    part.cost -= f64::from(share) * f64::from(alpha[j].max(f32::MIN_POSITIVE)).ln();
                }
                // de_j = alpha_j - A_j
                linked().for_each(|j| alpha[j] -= share);
                let (d_row, d_own) = (&mut d_asked[row.clone()], &mut d_keys[own.clone()]);
                attention::energies_back(&asked[row], &keys[own.clone()], v, &alpha, d_row, d_own, dv);
                part.words += 1;
            }
            x += words;
            y += targets;
        }
        Precision::F32.matmul_tn(HEAD_WIDTH, query, t_y, &d_asked, HEAD_WIDTH, &self.queries, query, dw, false);
        Precision::F32.matmul_tn(HEAD_WIDTH, annotation, t_x, &d_keys, HEAD_WIDTH, &self.h, annotation, du, false);
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_cost() {
        let sizes = HeadSizes { state: 2, embedding: 1, annotation: 3 };
        let numbers =
            |count: usize, by: f32| (0..count).map(|k| ((k * k) as f32 * by + 0.3).sin()).collect::<Vec<f32>>();
        let links = [(0, 1), (1, 0), (1, 2), (3, 2)].map(|(i, j)| GuidedLink { i, j });
        // the second pair has fewer words, and a word without links
        let pairs = vec![(3, 4, links.as_slice()), (2, 2, &links[..1])];
        let features = Features { h: numbers(5 * 3, 0.7), queries: numbers(6 * sizes.query(), 0.3), pairs };
        let count = HEAD_WIDTH * (sizes.query() + sizes.annotation + 1);
        let flat: Vec<f32> = numbers(count, 0.11).into_iter().map(|x| 0.2 * x).collect();
        let part = features.back(&flat, sizes);
        assert_eq!(part.words, 4);
        for at in (0..count).step_by(97).chain(count - 5..count) {
            let cost = |by: f32| {
                let mut moved = flat.clone();
                moved[at] += by;
                features.back(&moved, sizes).cost
            };
            let slope = (cost(1e-2) - cost(-1e-2)) / 2e-2;
            let found = f64::from(part.gradient[at]);
            assert!((slope - found).abs() < 2e-3, "number {at}: {found} for {slope}");
        }
    }
}
