//! Learns an alignment head ([`engine::models::fused::head`]) on a frozen model from links between words.
//!
//! The cost of word i is the cross entropy between alpha'_i and its links, -sum_j A_ij log alpha'_ij with A_i spread evenly
//! over the linked source words; words without a link look at `</s>`. The model runs forward alone, over given
//! translations and without its output layer, so that a pass takes a fraction of the training of a model; and what it says
//! is kept for further passes, as far as there is room, since the model never changes. The text is cut into groups of like
//! length once, each is read alone, and the gradients of a minibatch's groups are added in order: the result follows from
//! the seed, whatever the number of threads and the room. A run that was ended goes on from its checkpoint.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rand::seq::SliceRandom as _;

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::settings::{OptimizerSettings, Rule};
use crate::state::{Checkpoint, Position, SentenceOrder, Tally};
use crate::{guide::Guide, minibatch::GuidedLink, optimizer::Optimizer, reach::Reach};
use engine::error::{Error, Result};
use engine::models::fused::head::{HEAD_WIDTH, HeadSizes, NEAR, SOURCE_TABLE, near, no_vectors, weights_of};
use engine::models::{Kernels, Model, Need, StepOutput, StepRow, Stepper};
use engine::nn::fused::{Precision, attention};
use engine::nn::{fused::elementwise::softmax, init::gaussian};
use engine::text::corpus::{Batches, ParallelText};
use engine::{models::checkpoint::Weights, ticket::CancellationToken};

/// Groups of a minibatch.
const BATCH: usize = 8;
/// Pairs of a group.
const GROUP: usize = 10;
/// Groups sorted by length together.
const POOL: usize = 160;
const WARMUP: u64 = 50;
const FINAL_RATE: f32 = 0.03;
const CLIP: f32 = 1.0;

/// How a head is learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeadTraining {
    pub passes: u64,
    pub rate: f32,
    pub seed: u64,
    /// Bytes of what the model says of the text that are kept between passes; what finds no room is asked of it again.
    pub keep: u64,
}

impl Default for HeadTraining {
    fn default() -> Self {
        Self { passes: 2, rate: 1e-3, seed: 1, keep: 1 << 30 }
    }
}

/// How far a head is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeadProgress {
    pub updates: (u64, u64),
    pub words: u64,
    /// Cost a word over the last updates, nats.
    pub cost: f64,
}

/// A step of the learning, and what is needed to go on from it.
pub struct HeadStep<'a> {
    pub progress: HeadProgress,
    flat: &'a [f32],
    optimizer: &'a Optimizer,
    position: &'a Position,
}

impl HeadStep<'_> {
    /// Everything that a run needs to go on as if it had never stopped.
    pub fn checkpoint(&self) -> Checkpoint {
        let Self { flat, optimizer, position, .. } = *self;
        let HeadProgress { updates, words, cost } = self.progress;
        let tally = Tally { nll: cost, ..Tally::default() };
        Checkpoint {
            weights: flat.to_vec(),
            memory: optimizer.memory.clone(),
            measured: Vec::new(),
            position: Position { update: updates.0, words, tally, ..position.clone() },
        }
    }
}

struct Learner<'a> {
    model: &'a Model,
    text: (&'a ParallelText, &'a Guide),
    groups: &'a Batches,
    sizes: HeadSizes,
    /// W', U', v' and X', one after the other.
    flat: Vec<f32>,
    settings: OptimizerSettings,
    optimizer: Optimizer,
    reach: Reach,
    position: Position,
    /// The model's steppers that nobody uses just now: making one may copy its weights.
    steppers: Mutex<Vec<Box<dyn Stepper>>>,
    kept: Vec<OnceLock<Features<'a>>>,
    room: AtomicU64,
}

struct Part {
    gradient: Vec<f32>,
    cost: f64,
    words: usize,
}

/// Numbers of the parameters of a head: what a checkpoint of one holds.
pub fn head_parameters(sizes: HeadSizes) -> usize {
    sizes.shapes().iter().map(|(_, shape)| shape.iter().product::<usize>()).sum()
}

/// Learns a head for a model, from the start or from a checkpoint on. `on_progress` gets every update.
pub fn train_head(
    model: &Model, text: (&ParallelText, &Guide), options: HeadTraining, before: Option<&Checkpoint>,
    ticket: &CancellationToken, on_progress: &mut dyn FnMut(&HeadStep<'_>) -> Result<()>,
) -> Result<Weights> {
    let (corpus, guide) = text;
    if (0..corpus.len()).all(|k| guide.of(k).is_empty()) {
        return Err(Error::Input("no pair has a link that a head could be learned from; give other links".to_owned()));
    }
    let groups = corpus.batches(options.seed, 0, GROUP, POOL);
    let mut learner = Learner::new(model, text, &groups, options);
    let mut progress = learner.go_on(before)?;
    let in_pass = groups.len().div_ceil(BATCH) as u64;
    progress.updates.1 = in_pass * options.passes;
    let mut order = Vec::new();
    while progress.updates.0 < progress.updates.1 {
        ticket.check()?;
        let (pass, k) = (progress.updates.0 / in_pass, (progress.updates.0 % in_pass) as usize);
        if k == 0 || order.is_empty() {
            order = shuffled(groups.len(), options.seed, pass);
        }
        let chosen = &order[k * BATCH..order.len().min((k + 1) * BATCH)];
        let (cost, words) = learner.update(chosen, progress.updates, ticket)?;
        let smooth = if progress.updates.0 == 0 { 1.0 } else { 0.02 };
        progress.cost += smooth * (cost / words.max(1) as f64 - progress.cost);
        progress.updates.0 += 1;
        progress.words += words as u64;
        let Learner { flat, optimizer, position, .. } = &learner;
        on_progress(&HeadStep { progress, flat, optimizer, position })?;
    }
    Ok(weights_of(learner.sizes, &learner.flat))
}

fn shuffled(groups: usize, seed: u64, pass: u64) -> Vec<usize> {
    // a pass has its own stream of the seed's
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(pass + 1);
    let mut order: Vec<usize> = (0..groups).collect();
    order.shuffle(&mut rng);
    order
}

impl<'a> Learner<'a> {
    fn new(model: &'a Model, text: (&'a ParallelText, &'a Guide), groups: &'a Batches, options: HeadTraining) -> Self {
        let sizes = HeadSizes::of(&model.config, &model.weights);
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
        let position = position(model, text, options);
        // a single pass needs nothing twice
        let room = AtomicU64::new(if options.passes > 1 { options.keep } else { 0 });
        let kept = (0..groups.len()).map(|_| OnceLock::new()).collect();
        let (reach, steppers) = (Reach::whole(flat.len()), Mutex::default());
        Self { model, text, groups, sizes, flat, settings, optimizer, reach, position, steppers, kept, room }
    }

    fn go_on(&mut self, before: Option<&Checkpoint>) -> Result<HeadProgress> {
        let Some(Checkpoint { weights, memory, position, .. }) = before else {
            return Ok(HeadProgress::default());
        };
        let sizes = [weights.len(), memory.first.len(), memory.second.len()];
        if !is_same(position, &self.position) || sizes != [self.flat.len(); 3] {
            let message = "the checkpoint is of another model or text, or of other links, passes or another seed; give the same, or \
                           start anew";
            return Err(Error::Input(message.to_owned()));
        }
        self.flat.clone_from(weights);
        self.optimizer.memory.clone_from(memory);
        Ok(HeadProgress { updates: (position.update, 0), words: position.words, cost: position.tally.nll })
    }

    fn update(
        &mut self, chosen: &[usize], (update, updates): (u64, u64), ticket: &CancellationToken,
    ) -> Result<(f64, usize)> {
        let mut parts: Vec<Part> = chosen.par_iter().map(|&group| self.part(group, ticket)).collect::<Result<_>>()?;
        let (cost, words) = parts.iter().fold((0.0, 0), |(cost, words), part| (cost + part.cost, words + part.words));
        let mean = 1.0 / words.max(1) as f32;
        parts.iter_mut().flat_map(|part| &mut part.gradient).for_each(|d| *d *= mean);
        let mut gradients: Vec<Vec<f32>> = parts.into_iter().map(|part| part.gradient).collect();
        let rate = self.settings.rate_at(update, 0, updates);
        self.optimizer.apply(&mut self.flat, &mut gradients, &self.reach, rate, update);
        Ok((cost, words))
    }

    fn part(&self, group: usize, ticket: &CancellationToken) -> Result<Part> {
        let embedding = self.model.weights.get(self.model.config.target_embedding())?.data.as_slice();
        let source: &[f32] = match self.sizes.source {
            0 => &[],
            _ => &self.model.weights.get(SOURCE_TABLE)?.data,
        };
        let embeddings = [source, embedding];
        if let Some(kept) = self.kept[group].get() {
            return Ok(kept.back(&self.flat, self.sizes, embeddings));
        }
        let (corpus, guide) = self.text;
        let pairs = self.groups.get(group).unwrap_or_default().iter().map(|&k| k as usize);
        let pairs: Vec<_> = pairs.map(|k| (corpus.pair(k), guide.of(k))).collect();
        let free = self.steppers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut stepper = free.map_or_else(|| self.model.stepper(Kernels::Fused, 1), Ok)?;
        let features = Features::read(&mut *stepper, &pairs, self.sizes, ticket)?;
        self.steppers.lock().unwrap_or_else(PoisonError::into_inner).push(stepper);
        let part = features.back(&self.flat, self.sizes, embeddings);
        let take = |left: u64| left.checked_sub(features.bytes());
        if self.room.fetch_update(Ordering::AcqRel, Ordering::Acquire, take).is_ok() {
            let _ = self.kept[group].set(features);
        }
        Ok(part)
    }
}

fn position(model: &Model, text: (&ParallelText, &Guide), options: HeadTraining) -> Position {
    let (batch, sorted, pairs) = (BATCH * GROUP, options.passes as usize, text.0.len());
    let order = SentenceOrder { batch, sorted, pairs, seed: options.seed, ..SentenceOrder::default() };
    Position { sentences: print(model, text), rule: Some(Rule::Adam), order: Some(order), ..Position::default() }
}

fn is_same(one: &Position, other: &Position) -> bool {
    (one.order, one.sentences) == (other.order, other.sentences)
}

/// Whether a checkpoint is of this very run, which may go on from it.
pub fn is_of(before: &Checkpoint, model: &Model, text: (&ParallelText, &Guide), options: HeadTraining) -> bool {
    is_same(&before.position, &position(model, text, options))
}

fn print(model: &Model, (corpus, guide): (&ParallelText, &Guide)) -> u64 {
    let mut hasher = DefaultHasher::new();
    model.digest().hash(&mut hasher);
    for k in 0..corpus.len() {
        corpus.pair(k).hash(&mut hasher);
        guide.of(k).iter().for_each(|link| (link.i, link.j).hash(&mut hasher));
    }
    hasher.finish()
}

type GivenPair<'a> = ((&'a [u32], &'a [u32]), &'a [GuidedLink]);

struct Features<'a> {
    h: Vec<f32>,
    states: Vec<f32>,
    pairs: Vec<GivenPair<'a>>,
}

impl<'a> Features<'a> {
    fn read(
        stepper: &mut dyn Stepper, pairs: &[GivenPair<'a>], HeadSizes { state: n, .. }: HeadSizes,
        ticket: &CancellationToken,
    ) -> Result<Self> {
        let sources: Vec<&[u32]> = pairs.iter().map(|((source, _), _)| *source).collect();
        stepper.begin(&sources)?;
        let mut h = Vec::new();
        for sentence in 0..sources.len() {
            h.extend(stepper.encoded(sentence).ok_or_else(no_vectors)?.concat());
        }
        // it is kept long, and may have room for twice as many
        h.shrink_to_fit();
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
        Ok(Self { h, states: states.concat(), pairs: pairs.to_vec() })
    }

    fn bytes(&self) -> u64 {
        4 * (self.h.len() + self.states.len()) as u64
    }

    /// [s_{i-1}; s_i; s_{i+1}; E y_i] of every target word, [words, query].
    fn queries(&self, HeadSizes { state: n, embedding: m, .. }: HeadSizes, embedding: &[f32]) -> Vec<f32> {
        let (mut queries, mut first) = (Vec::new(), 0);
        for ((_, target), _) in &self.pairs {
            for (i, &y) in target.iter().enumerate() {
                queries.extend_from_slice(&self.states[(first + i) * n..(first + i + 3) * n]);
                queries.extend_from_slice(&embedding[y as usize * m..(y as usize + 1) * m]);
            }
            first += target.len() + 2;
        }
        queries
    }

    /// [E x_{j-1}; E x_j; E x_{j+1}] of every source word, zeros beyond the ends.
    fn near(&self, HeadSizes { source: m, .. }: HeadSizes, embedding: &[f32]) -> Vec<f32> {
        let mut read = Vec::new();
        for ((source, _), _) in self.pairs.iter().filter(|_| m > 0) {
            for word in near(source, source.len()) {
                match word {
                    Some(x) => read.extend_from_slice(&embedding[x as usize * m..(x as usize + 1) * m]),
                    None => read.resize(read.len() + m, 0.0),
                }
            }
        }
        read
    }

    fn back(&self, flat: &[f32], sizes: HeadSizes, [source, embedding]: [&[f32]; 2]) -> Part {
        let (query, annotation, queries) = (sizes.query(), sizes.annotation, self.queries(sizes, embedding));
        let (w, rest) = flat.split_at(HEAD_WIDTH * query);
        let (u, rest) = rest.split_at(HEAD_WIDTH * annotation);
        let (v, x_weights) = rest.split_at(HEAD_WIDTH);
        let (near, width) = (self.near(sizes, source), NEAR * sizes.source);
        let (t_x, t_y) = (self.h.len() / annotation, queries.len() / query);
        let [mut keys, mut d_keys] = [(); 2].map(|()| vec![0.0; t_x * HEAD_WIDTH]);
        let [mut asked, mut d_asked] = [(); 2].map(|()| vec![0.0; t_y * HEAD_WIDTH]);
        Precision::F32.matmul_nt(t_x, HEAD_WIDTH, annotation, &self.h, u, &mut keys, false);
        if width > 0 {
            Precision::F32.matmul_nt(t_x, HEAD_WIDTH, width, &near, x_weights, &mut keys, true);
        }
        Precision::F32.matmul_nt(t_y, HEAD_WIDTH, query, &queries, w, &mut asked, false);
        let mut part = Part { gradient: vec![0.0; flat.len()], cost: 0.0, words: 0 };
        let (dw, rest) = part.gradient.split_at_mut(HEAD_WIDTH * query);
        let (du, rest) = rest.split_at_mut(HEAD_WIDTH * annotation);
        let (dv, dx) = rest.split_at_mut(HEAD_WIDTH);
        let (mut x, mut y, mut alpha) = (0, 0, Vec::new());
        for &((source, target), looks) in &self.pairs {
            let words = source.len();
            let own = x * HEAD_WIDTH..(x + words) * HEAD_WIDTH;
            for links in looks.chunk_by(|a, b| a.i == b.i) {
                let i = usize::from(links[0].i);
                let linked = || links.iter().map(|link| usize::from(link.j)).filter(|j| *j < words);
                let share = 1.0 / linked().count() as f32;
                if i >= target.len() || !share.is_finite() {
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
            y += target.len();
        }
        Precision::F32.matmul_tn(HEAD_WIDTH, query, t_y, &d_asked, HEAD_WIDTH, &queries, query, dw, false);
        Precision::F32.matmul_tn(HEAD_WIDTH, annotation, t_x, &d_keys, HEAD_WIDTH, &self.h, annotation, du, false);
        if width > 0 {
            Precision::F32.matmul_tn(HEAD_WIDTH, width, t_x, &d_keys, HEAD_WIDTH, &near, width, dx, false);
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use engine::nn::device::Device;

    fn numbers(count: usize, by: f32) -> Vec<f32> {
        (0..count).map(|k| ((k * k) as f32 * by + 0.3).sin()).collect()
    }

    fn check(name: &str, features: &Features<'_>, sizes: HeadSizes, embeddings: [&[f32]; 2]) {
        let count = head_parameters(sizes);
        let flat: Vec<f32> = numbers(count, 0.11).into_iter().map(|x| 0.2 * x).collect();
        let part = features.back(&flat, sizes, embeddings);
        assert_eq!(part.words, 4, "{name}");
        for at in (0..count).step_by(97).chain(count - 5..count) {
            let cost = |by: f32| {
                let mut moved = flat.clone();
                moved[at] += by;
                features.back(&moved, sizes, embeddings).cost
            };
            let slope = (cost(1e-2) - cost(-1e-2)) / 2e-2;
            let found = f64::from(part.gradient[at]);
            assert!((slope - found).abs() < 2e-3, "{name}, number {at}: {found} for {slope}");
        }
    }

    const LINKS: [(u16, u16); 4] = [(0, 1), (1, 0), (1, 2), (3, 2)];

    #[test]
    fn the_gradient_is_that_of_the_cost() {
        let sizes = HeadSizes { state: 2, embedding: 1, annotation: 3, source: 2 };
        let links = LINKS.map(|(i, j)| GuidedLink { i, j });
        // the second pair has fewer words, and a word without links
        let pairs = vec![((&[3, 1, 0][..], &[0, 1, 2, 0][..]), links.as_slice()), ((&[2, 0], &[1, 2]), &links[..1])];
        let features = Features { h: numbers(5 * 3, 0.7), states: numbers((6 + 4) * 2, 0.3), pairs };
        check("made up", &features, sizes, [&numbers(8, 0.9), &numbers(3, 0.5)]);
        check("without source words", &features, HeadSizes { source: 0, ..sizes }, [&[], &numbers(3, 0.5)]);
    }

    #[test]
    fn the_gradient_is_that_of_the_cost_on_every_architecture() {
        let links = LINKS.map(|(i, j)| GuidedLink { i, j });
        for name in ["rnnsearch", "rnnencdec", "luong-global-general", "luong-local-p-dot"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/reference").join(name);
            let model = Model::load(&folder, &Device::cpu()).unwrap_or_else(|error| panic!("{error}"));
            let sizes = HeadSizes::of(&model.config, &model.weights);
            let mut stepper = model.stepper(Kernels::Fused, 1).unwrap_or_else(|error| panic!("{error}"));
            let pairs: [GivenPair<'_>; 2] = [((&[2, 3, 0], &[4, 2, 5, 0]), &links), ((&[3, 0], &[2, 0]), &links[..1])];
            let features = Features::read(&mut *stepper, &pairs, sizes, &CancellationToken::forever());
            let features = features.unwrap_or_else(|error| panic!("{name}: {error}"));
            let embedding = |name| model.weights.numbers(name).unwrap_or_default();
            let embeddings = [embedding(SOURCE_TABLE), embedding(model.config.target_embedding())];
            check(name, &features, sizes, embeddings.each_ref().map(Vec::as_slice));
        }
    }
}
