//! Gradients of log p(y_i) by candle's autograd on the readable models: towards the embeddings of the source
//! words, and towards one row of alpha. Plain numbers go in and come out.

use std::{collections::HashMap, ops::Range};

use serde::{Deserialize, Serialize};

use candle_core::{D, DType, Tensor, Var};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};
use crate::models::batch::{Batch, embed};
use crate::models::config::{Config, OwnSizes};
use crate::models::loss::{Regularizer, Trainable, trainable};
use crate::models::readable::{AlignedStep, Annotations, State};
use crate::nn::{init::gaussian, softmax::log_softmax};
use crate::{models::folder::Model, ticket::CancellationToken};

const EMBEDDING: &str = "source_embedding";
/// Source words times target words of all copies that one backward pass goes through: the graph keeps n' numbers or
/// more for each.
const MOST_CELLS: usize = 65_536;
const MOST_COPIES: usize = 64;
const NOWHERE: f64 = -1e30;

/// How the noise of `SmoothGrad` is drawn (Smilkov et al. 2017; Ding et al. 2019, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoothing {
    /// Noisy copies of the embeddings over which the gradient is averaged; 1 without noise is the plain gradient.
    pub samples: usize,
    /// Standard deviation of the noise as a share of the range of the sentence's embeddings; 0 is no noise.
    pub noise: f32,
    pub seed: u64,
}

impl Smoothing {
    pub const PLAIN: Self = Self { samples: 1, noise: 0.0, seed: 0 };

    pub fn of(samples: usize) -> Self {
        if samples <= 1 { Self::PLAIN } else { Self { samples, ..Self::default() } }
    }
}

impl Default for Smoothing {
    /// The values of Ding et al. 2019: 30 samples, 0.15.
    fn default() -> Self {
        Self { samples: 30, noise: 0.15, seed: 1 }
    }
}

/// How a row of alpha is optimised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Descent {
    pub steps: usize,
    pub rate: f64,
}

impl Default for Descent {
    /// The values of Zenkel et al. 2019, section 4.3: three steps at rate 1.
    fn default() -> Self {
        Self { steps: 3, rate: 1.0 }
    }
}

/// A row of alpha that makes the model say another word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PersuadedRow {
    /// alpha_i, which keeps the sum of the model's own row. [t_x]
    pub alpha: Vec<f32>,
    /// How much weight moved, the total variation: sum_j |alpha_ij - own_ij| / 2.
    pub moved: f32,
    /// KL(alpha_i, own_i) = sum_j alpha_ij ln(alpha_ij / own_ij), nats.
    pub divergence: f32,
    pub log_p: f32,
    pub own_log_p: f32,
}

/// A model that gradients can be taken of.
pub struct Gradients {
    config: Config,
    tensors: HashMap<String, Tensor>,
    embedding: Tensor, // [K_x, m]
    model: Box<dyn Trainable>,
}

struct Walk {
    annotations: Annotations,
    halves: Vec<AlignedStep>,
    before: Vec<Option<u32>>,
}

impl Gradients {
    pub fn new(model: &Model) -> Result<Self> {
        Self::from_tensors(&model.config, model.weights.tensors(&model.device.candle)?)
    }

    pub fn from_tensors(config: &Config, tensors: HashMap<String, Tensor>) -> Result<Self> {
        let (config, mut tensors) = two_embeddings(config, tensors);
        let model = trainable(&config, &tensors)?;
        let missing = || Error::Internal(format!("the tensor `{EMBEDDING}` was not given"));
        let embedding = tensors.remove(EMBEDDING).ok_or_else(missing)?;
        Ok(Self { config, tensors, embedding, model })
    }

    /// x_j · d log p(y_i) / d x_j for each target word i and source word j, x_j being the embedding of word j (Ding,
    /// Xu, Koehn 2019, Saliency-driven Word Alignment Interpretation for NMT, equation 5, there of p), averaged over
    /// noisy copies of the embeddings. [t_y][t_x]
    pub fn times_input(
        &self, (source, target): (&[u32], &[u32]), smoothing: Smoothing, ticket: &CancellationToken,
    ) -> Result<Vec<Vec<f32>>> {
        let x = self.embed(source)?; // [t_x, m]
        check_ids(target, self.config.target_vocabulary, "target")?;
        let cells = source.len() * target.len();
        if cells > MOST_CELLS {
            return Err(Error::Input(format!(
                "the pair has {} by {} words, too many to take gradients of; cut it into sentences",
                source.len(),
                target.len()
            )));
        }
        let samples = smoothing.samples.max(1);
        // A copy of the sentence for each target word and sample, so that one pass backward serves many of them.
        let copies: Vec<(usize, usize)> =
            (0..target.len()).flat_map(|i| (0..samples).map(move |sample| (i, sample))).collect();
        let noise = noise(&x, smoothing)?;
        let mut sums = vec![vec![0.0_f64; source.len()]; target.len()];
        for copies in copies.chunks((MOST_CELLS / cells.max(1)).clamp(1, MOST_COPIES)) {
            ticket.check()?;
            let inputs = copies.iter().map(|(_, sample)| match noise.get(*sample) {
                Some(noise) => Ok((&x + noise)?),
                None => Ok(x.clone()),
            });
            let inputs = Var::from_tensor(&Tensor::cat(&inputs.collect::<Result<Vec<_>>>()?, 0)?)?;
            let targets: Vec<&[u32]> = copies.iter().map(|(i, _)| &target[..=*i]).collect();
            let gradient = self.backward(&inputs, source.len(), &targets)?; // [copies * t_x, m]
            let products = gradient.reshape((copies.len(), source.len(), ()))?.broadcast_mul(&x.unsqueeze(0)?)?;
            let products: Vec<Vec<f32>> = products.sum(D::Minus1)?.to_dtype(DType::F32)?.to_vec2()?;
            for ((i, _), row) in copies.iter().zip(products) {
                sums[*i].iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(value));
            }
        }
        let mean = |sum: f64| (sum / samples as f64) as f32;
        Ok(sums.into_iter().map(|row| row.into_iter().map(mean).collect()).collect())
    }

    fn embed(&self, source: &[u32]) -> Result<Tensor> {
        check_ids(source, self.embedding.dim(0)?, "source")?;
        embed(&self.embedding, source)
    }

    /// Gradient of the summed log p of each target's last word by `inputs`, all copies' embeddings [copies * t_x, m].
    fn backward(&self, inputs: &Var, t_x: usize, targets: &[&[u32]]) -> Result<Tensor> {
        let mut tensors = self.tensors.clone();
        // The model reads word j of copy c in row c t_x + j of its own table of embeddings.
        tensors.insert(EMBEDDING.to_owned(), inputs.as_tensor().clone());
        let model = trainable(&self.config, &tensors)?;
        let ids: Vec<u32> = (0..(targets.len() * t_x) as u32).collect();
        let source = Batch::new(&ids.chunks(t_x).collect::<Vec<_>>())?;
        let target = Batch::new(targets)?;
        let hidden = model.last_hidden(&source, &target, &mut Regularizer::none())?.rows; // [words, l]
        let b = targets.len();
        let last = |(place, at): (usize, &u32)| {
            let (t, copy) = (*at as usize / b, *at as usize % b);
            (t + 1 == targets[copy].len()).then_some((place as u32, targets[copy][t]))
        };
        let (rows, words): (Vec<u32>, Vec<u32>) = target.words().0.iter().enumerate().filter_map(last).unzip();
        let log_p = log_softmax(&model.logits(&embed(&hidden, &rows)?)?)?; // [copies, K_y]
        let words = Tensor::from_vec(words, (b, 1), log_p.device())?;
        let gradients = log_p.gather(&words, 1)?.sum_all()?.backward()?;
        let nothing = || inputs.as_tensor().zeros_like();
        gradients.get(inputs).cloned().map_or_else(|| Ok(nothing()?), Ok)
    }

    /// alpha_i of each target word after gradient descent on its logits towards log p(y_i), from the model's own row
    /// (Zenkel, Wuebker, DeNero 2019, Adding Interpretable Attention to Neural Translation Models Improves Word
    /// Alignment, section 4.3). Rows before it stay the model's own; each keeps its sum, and words that the model does
    /// not look at stay without weight. [t_y][t_x]
    pub fn optimised(
        &self, (source, target): (&[u32], &[u32]), descent: Descent, ticket: &CancellationToken,
    ) -> Result<Vec<Vec<f32>>> {
        let walk = self.walk((source, target), &[], ticket)?;
        let mut rows = Vec::with_capacity(target.len());
        for steps in walk.alike() {
            let (half, before) = walk.rows(steps.clone())?;
            let start = logits(half.alpha()?)?;
            let (sum, mut logits) = (half.alpha()?.sum_keepdim(1)?, start);
            for _ in 0..descent.steps {
                ticket.check()?;
                let (gradient, _) =
                    self.uphill(&walk, (&half, before.as_deref()), (&logits, &sum), &target[steps.clone()])?;
                logits = (logits + (gradient * descent.rate)?)?;
            }
            rows.extend(host_rows(&weights(&logits, &sum)?)?);
        }
        Ok(rows)
    }

    /// A small change of alpha_i that makes `word` the most probable after the words `before`: short steps up the
    /// gradient of its log p over the logits, then back towards the model's own row while the word stays the most
    /// probable. `None` if no row does. `rows` are the alpha of the words before where they are not the model's own,
    /// [..i][t_x].
    pub fn persuade(
        &self, (source, before): (&[u32], &[u32]), rows: &[Vec<f32>], word: u32, ticket: &CancellationToken,
    ) -> Result<Option<PersuadedRow>> {
        let target: Vec<u32> = before.iter().copied().chain([word]).collect();
        let rows = &rows[..rows.len().min(before.len())];
        let walk = self.walk((source, &target), rows, ticket)?;
        let (half, y_prev) = walk.rows(before.len()..target.len())?;
        let at = (&half, y_prev.as_deref());
        let own = half.alpha()?.clone();
        let (sum, mut logits) = (own.sum_keepdim(1)?, logits(&own)?);
        for _ in 0..PERSUADING_STEPS {
            ticket.check()?;
            let (gradient, log_p) = self.uphill(&walk, at, (&logits, &sum), &[word])?;
            if best(&log_p)? == word {
                return self.back(&walk, at, &weights(&logits, &sum)?, word).map(Some);
            }
            let length: f64 = gradient.sqr()?.sum_all()?.to_dtype(DType::F64)?.to_scalar()?;
            if length <= 0.0 {
                break;
            }
            logits = (logits + (gradient * (PERSUADING_STEP / length.sqrt()))?)?;
        }
        Ok(None)
    }

    fn back(&self, walk: &Walk, at: Half<'_>, found: &Tensor, word: u32) -> Result<PersuadedRow> {
        let own = at.0.alpha()?;
        let row = |share: f64| Ok::<_, Error>((own + ((found - own)? * share)?)?);
        let (mut near, mut far) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(near, far);
            let log_p = self.log_p(walk, at, row(middle)?)?;
            *(if best(&log_p)? == word { &mut far } else { &mut near }) = middle;
        }
        // Where the model says it anyway, nothing is changed.
        let by_own = self.log_p(walk, at, own.clone())?;
        let share = if best(&by_own)? == word { 0.0 } else { far };
        let (alpha, log_p) = (row(share)?, self.log_p(walk, at, row(share)?)?);
        let of_word = |log_p: &Tensor| -> Result<f32> {
            Ok(log_p.squeeze(0)?.get(word as usize)?.to_dtype(DType::F32)?.to_scalar()?)
        };
        let host = |row: &Tensor| Ok::<_, Error>(host_rows(row)?.pop().unwrap_or_default());
        let (own, alpha) = (host(own)?, host(&alpha)?);
        let (moved, divergence) = distances(&alpha, &own);
        Ok(PersuadedRow { alpha, moved, divergence, log_p: of_word(&log_p)?, own_log_p: of_word(&by_own)? })
    }

    fn log_p(&self, walk: &Walk, (half, before): Half<'_>, alpha: Tensor) -> Result<Tensor> {
        let aligned = AlignedStep { alpha_i: Some(alpha), ..half.clone() };
        Ok(self.model.predict(before, &aligned, &walk.annotations)?.log_p)
    }

    fn uphill(
        &self, walk: &Walk, at: Half<'_>, (logits, sum): (&Tensor, &Tensor), words: &[u32],
    ) -> Result<(Tensor, Tensor)> {
        let logits = Var::from_tensor(logits)?;
        let log_p = self.log_p(walk, at, weights(logits.as_tensor(), sum)?)?; // [rows, K_y]
        let words = Tensor::from_slice(words, (words.len(), 1), log_p.device())?;
        let gradients = log_p.gather(&words, 1)?.sum_all()?.backward()?;
        let gradient = gradients.get(&logits).cloned().map_or_else(|| logits.as_tensor().zeros_like(), Ok)?;
        Ok((gradient, log_p.detach()))
    }

    fn walk(&self, (source, target): (&[u32], &[u32]), rows: &[Vec<f32>], ticket: &CancellationToken) -> Result<Walk> {
        check_ids(source, self.embedding.dim(0)?, "source")?;
        check_ids(target, self.config.target_vocabulary, "target")?;
        if !self.config.aligns() {
            let message = "this model has no alignment that could be changed; choose one that aligns";
            return Err(Error::Input(message.to_owned()));
        }
        let annotations = self.model.encode(&[source])?;
        let mut state = self.model.init_state(&annotations)?;
        let mut walk = Walk { annotations, halves: Vec::new(), before: Vec::new() };
        for (i, _) in target.iter().enumerate() {
            ticket.check()?;
            let before = i.checked_sub(1).map(|before| target[before]);
            let y_prev = before.as_ref().map(std::slice::from_ref);
            let mut half = self.model.align(y_prev, &state, &walk.annotations)?;
            if let Some(row) = rows.get(i) {
                half.alpha_i = Some(like(row, half.alpha()?)?);
            }
            if i + 1 < target.len() {
                state = self.model.predict(y_prev, &half, &walk.annotations)?.s;
            }
            walk.halves.push(half);
            walk.before.push(before);
        }
        Ok(walk)
    }
}

type Half<'a> = (&'a AlignedStep, Option<&'a [u32]>);

/// How far a step towards another word goes over the logits, how many there are, and how often the way back is halved.
const PERSUADING_STEP: f64 = 0.25;
const PERSUADING_STEPS: usize = 100;
const HALVINGS: usize = 20;

impl Walk {
    /// Steps that can be rows of one; the first and those of a decoder that keeps all words before are single.
    fn alike(&self) -> Vec<Range<usize>> {
        let shapes = |half: &AlignedStep| half.s.tensors.iter().map(|x| x.shape().clone()).collect::<Vec<_>>();
        let mut steps: Vec<Range<usize>> = Vec::new();
        for (i, half) in self.halves.iter().enumerate() {
            match steps.last_mut() {
                Some(last) if i > 1 && shapes(&self.halves[last.start]) == shapes(half) => last.end = i + 1,
                _ => steps.push(i..i + 1),
            }
        }
        steps
    }

    fn rows(&self, steps: Range<usize>) -> Result<(AlignedStep, Option<Vec<u32>>)> {
        let halves = &self.halves[steps.clone()];
        let Some(first) = halves.first() else {
            return Err(Error::Internal("no step was asked for".into()));
        };
        let tensor = |n: usize| Ok(Tensor::cat(&halves.iter().map(|half| &half.s.tensors[n]).collect::<Vec<_>>(), 0)?);
        let tensors = (0..first.s.tensors.len()).map(tensor).collect::<Result<_>>()?;
        let alpha = halves.iter().map(AlignedStep::alpha).collect::<Result<Vec<_>>>()?;
        let alpha_i = Some(Tensor::cat(&alpha, 0)?);
        let s = State { tensors, i: first.s.i };
        Ok((AlignedStep { s, e_i: None, alpha_i, p_t: None }, self.before[steps].iter().copied().collect()))
    }
}

/// Separates shared embeddings, so that the gradient of the source is not that of the target.
pub fn two_embeddings(config: &Config, mut tensors: HashMap<String, Tensor>) -> (Config, HashMap<String, Tensor>) {
    let mut config = config.clone();
    let shares = match &mut config.own {
        OwnSizes::Transformer(sizes) => Some(&mut sizes.shared_embedding),
        OwnSizes::Nematus(sizes) => Some(&mut sizes.shared_embedding),
        OwnSizes::OpenNmt(sizes) => Some(&mut sizes.shared_embedding),
        OwnSizes::Luong(_) | OwnSizes::None => None,
    };
    if let Some(shares) = shares
        && std::mem::take(shares)
        && let Some(embedding) = tensors.get(EMBEDDING).cloned()
    {
        tensors.insert("target_embedding".to_owned(), embedding);
    }
    (config, tensors)
}

fn noise(x: &Tensor, smoothing: Smoothing) -> Result<Vec<Tensor>> {
    if smoothing.noise <= 0.0 {
        return Ok(Vec::new());
    }
    let values: Vec<f32> = x.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?;
    let most = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let least = values.iter().copied().fold(f32::INFINITY, f32::min);
    let sigma = smoothing.noise * (most - least);
    let mut rng = ChaCha8Rng::seed_from_u64(smoothing.seed);
    let mut draw = || {
        let noise = gaussian(values.len(), f64::from(sigma), &mut rng);
        Ok(Tensor::from_vec(noise, x.shape(), x.device())?.to_dtype(x.dtype())?)
    };
    (0..smoothing.samples).map(|_| draw()).collect()
}

fn check_ids(ids: &[u32], vocabulary: usize, side: &str) -> Result<()> {
    match ids.iter().find(|id| **id as usize >= vocabulary) {
        _ if ids.is_empty() => Err(Error::Input(format!("the {side} is empty"))),
        Some(id) => {
            Err(Error::Input(format!("the model knows only {vocabulary} {side} words, and none with the id {id}")))
        }
        None => Ok(()),
    }
}

fn logits(alpha: &Tensor) -> Result<Tensor> {
    let log = alpha.maximum(f64::from(f32::MIN_POSITIVE))?.log()?;
    Ok(alpha.gt(0.0)?.where_cond(&log, &alpha.affine(0.0, NOWHERE)?)?)
}

/// alpha_i = softmax(logits), times the sum of the row.
fn weights(logits: &Tensor, sum: &Tensor) -> Result<Tensor> {
    Ok(log_softmax(logits)?.exp()?.broadcast_mul(sum)?)
}

fn like(row: &[f32], own: &Tensor) -> Result<Tensor> {
    let t_x = own.dim(1)?;
    if row.len() != t_x {
        return Err(Error::Input(format!("a row of alpha has {} weights, but the source has {t_x} words", row.len())));
    }
    Ok(Tensor::from_slice(row, (1, t_x), own.device())?.to_dtype(own.dtype())?)
}

/// Total variation and KL divergence of a row from the model's own.
fn distances(alpha: &[f32], own: &[f32]) -> (f32, f32) {
    let pairs = || alpha.iter().zip(own).map(|(alpha, own)| (f64::from(*alpha), f64::from(*own)));
    let moved: f64 = pairs().map(|(alpha, own)| (alpha - own).abs()).sum();
    let divergence: f64 =
        pairs().filter(|(alpha, _)| *alpha > 0.0).map(|(alpha, own)| alpha * (alpha / own).ln()).sum();
    ((moved / 2.0) as f32, divergence as f32)
}

fn best(log_p: &Tensor) -> Result<u32> {
    Ok(log_p.squeeze(0)?.argmax(0)?.to_scalar()?)
}

fn host_rows(tensor: &Tensor) -> Result<Vec<Vec<f32>>> {
    Ok(tensor.to_dtype(DType::F32)?.to_vec2()?)
}
