//! The fast CPU twins of the readable models, as steppers over plain `f32` rows: what does not depend on the step is
//! computed once a sentence, and weights are packed once for all steppers of a model.

mod gated;
pub mod head;
pub mod luong;
pub mod nematus;
pub mod opennmt;
mod readout;
mod recurrent;
pub mod rnn_encdec;
pub mod rnn_search;
mod rows;
mod sums;
pub mod transformer;
mod transformer_layers;
mod units;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::models::stepper::{StepOutput, StepRow, Stepper};
use crate::models::{checkpoint::Weights, config::Config, fused::rows::RowTable};
use crate::nn::fused::Packed;

pub use crate::models::entry::{Pack, PackedModel};

pub fn supports(config: &Config) -> bool {
    pack_of(config).is_some()
}

fn pack_of(config: &Config) -> Option<Pack> {
    (config.architecture.entry().fused)(config)
}

/// The weights of a model that [`supports`] accepts, packed once for all its steppers.
pub fn packed(config: &Config, weights: &Arc<Weights>) -> Result<Arc<dyn PackedModel>> {
    let Some(pack) = pack_of(config) else {
        let attention = config.attention().unwrap_or_default();
        let message = format!("there are no kernels for {} {attention}", config.architecture.name());
        return Err(Error::Internal(message));
    };
    pack(config, weights)
}

/// A stepper of a model that is packed for it alone.
pub fn stepper(config: &Config, weights: &Arc<Weights>, threads: usize) -> Result<Box<dyn Stepper>> {
    Ok(packed(config, weights)?.stepper(config, threads))
}

/// Rows of several [out, in] matrices over the same input, below each other.
fn stack(weights: &Weights, names: &[&str]) -> Result<Vec<f32>> {
    let mut all = Vec::new();
    for name in names {
        weights.append(name, &mut all)?;
    }
    Ok(all)
}

/// [`stack`], packed for inputs of `width`, as f16 where nothing is lost.
fn pack(weights: &Weights, names: &[&str], width: usize) -> Result<Packed> {
    let all = stack(weights, names)?;
    Ok(Packed::compact(&all, all.len() / width.max(1), width))
}

fn columns(w: &[f32], width: usize, from: usize, to: usize) -> Vec<f32> {
    w.chunks_exact(width).flat_map(|row| &row[from..to]).copied().collect()
}

fn gates(prefix: &str, matrix: &str) -> [String; 3] {
    ["_z", "_r", ""].map(|gate| format!("{prefix}.{matrix}{gate}"))
}

fn stack_gates(weights: &Weights, prefix: &str, matrix: &str) -> Result<Vec<f32>> {
    let names = gates(prefix, matrix);
    stack(weights, &[&names[0], &names[1], &names[2]])
}

/// A batch of sources, time-major and padded with 0.
#[derive(Debug, Default)]
struct Sources {
    ids: Vec<u32>,
    lengths: Vec<usize>,
    live: Vec<bool>,
    t_x: usize,
}

impl Sources {
    fn new(sources: &[&[u32]], vocabulary: usize) -> Result<Self> {
        let lengths: Vec<usize> = sources.iter().map(|s| s.len()).collect();
        let (b, t_x) = (sources.len(), lengths.iter().copied().max().unwrap_or(0));
        if lengths.contains(&0) {
            return Err(Error::Input(
                "a sentence without any token cannot be translated; give it at least one word".into(),
            ));
        }
        let mut ids = vec![0; t_x * b];
        let mut live = vec![false; t_x * b];
        for (row, source) in sources.iter().enumerate() {
            for (t, &id) in source.iter().enumerate() {
                if id as usize >= vocabulary {
                    return Err(Error::Input(format!(
                        "source id {id} is outside the vocabulary of {vocabulary} words"
                    )));
                }
                ids[t * b + row] = id;
                live[t * b + row] = true;
            }
        }
        Ok(Self { ids, lengths, live, t_x })
    }

    /// Rows of m numbers for all words, [t_x, b, m].
    fn embed(&self, table: &RowTable, m: usize) -> Result<Vec<f32>> {
        let mut e = Vec::new();
        table.gather(m, self.ids.iter().map(|&id| Some(id)), &mut e)?;
        Ok(e)
    }

    /// Of numbers of all words [b, t_x, width] those of a sentence.
    fn words_of(&self, sentence: usize, all: &[f32], width: usize) -> Option<Vec<Vec<f32>>> {
        let (start, length) = (sentence * self.t_x, *self.lengths.get(sentence)?);
        let own = all.get(start * width..(start + length) * width)?;
        Some(own.chunks_exact(width).map(<[f32]>::to_vec).collect())
    }
}

struct Joining<'a> {
    kept: &'a [usize],
    before: usize,
    after: usize,
    sources: Sources,
}

impl<'a> Joining<'a> {
    fn new(before: &Sources, kept: &'a [usize], after: &Sources) -> Result<Self> {
        let lengths: Option<Vec<usize>> = kept.iter().map(|&sentence| before.lengths.get(sentence).copied()).collect();
        let Some(mut lengths) = lengths else {
            return Err(Error::Internal(format!("a batch of {} was to keep other sentences", before.lengths.len())));
        };
        lengths.extend_from_slice(&after.lengths);
        let t_x = lengths.iter().copied().max().unwrap_or(0);
        // what was encoded is not read again
        let sources = Sources { lengths, t_x, ..Sources::default() };
        Ok(Self { kept, before: before.t_x, after: after.t_x, sources })
    }

    fn once(&self) -> Self {
        let sources = Sources { lengths: vec![1; self.sources.lengths.len()], t_x: 1, ..Sources::default() };
        Self { kept: self.kept, before: 1, after: 1, sources }
    }

    /// Numbers of both, [b, t_x, width] with the t_x of each, as those of the batch that they become.
    fn numbers(&self, before: &[f32], after: &[f32], width: usize) -> Vec<f32> {
        let long = self.sources.t_x * width;
        let mut all = Vec::with_capacity(self.sources.lengths.len() * long);
        let mut push = |numbers: &[f32]| {
            all.extend_from_slice(&numbers[..numbers.len().min(long)]);
            all.resize(all.len().next_multiple_of(long.max(1)), 0.0);
        };
        let size = self.before * width;
        self.kept.iter().for_each(|&sentence| push(&before[sentence * size..(sentence + 1) * size]));
        after.chunks_exact((self.after * width).max(1)).for_each(push);
        all
    }
}

/// Where each row's state comes from: at the first step its sentence's s_0, later its parent's.
fn gather_states(
    rows: impl Iterator<Item = StepRow>, first: bool, states: &[f32], n: usize, out: &mut Vec<f32>,
) -> Result<()> {
    out.clear();
    for row in rows {
        let from = if first { row.sentence } else { row.parent };
        let Some(state) = states.get(from * n..(from + 1) * n) else {
            return Err(Error::Internal(format!("row {from} of the step before does not exist")));
        };
        out.extend_from_slice(state);
    }
    Ok(())
}

/// Buffer of a length with arbitrary content.
fn sized(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

/// Sizes a step's output; alpha and energies are zeros, or empty without alignment, and p_t is empty.
fn prepare(output: &mut StepOutput, rows: usize, vocabulary: usize, t_x: Option<usize>) {
    output.rows = rows;
    output.vocabulary = vocabulary;
    output.t_x = t_x.unwrap_or(0);
    output.p_t.clear();
    for row in [&mut output.alpha, &mut output.energies] {
        row.clear();
        row.resize(rows * output.t_x, 0.0);
    }
}

fn check_rows(rows: &[StepRow], sentences: usize) -> Result<()> {
    match rows.iter().find(|row| row.sentence >= sentences) {
        None => Ok(()),
        Some(row) => Err(Error::Internal(format!("sentence {} is not in the batch of {sentences}", row.sentence))),
    }
}
