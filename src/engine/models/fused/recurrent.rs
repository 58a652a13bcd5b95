//! What the CPU forms of conditional models and of OpenNMT's share; they differ in their [`RecurrentWiring`] alone. All
//! that is multiplied with c_i is one matrix C, and C c_i = sum_j alpha_ij C h_j is computed once a sentence where that
//! is less work.

use std::{fmt::Debug, sync::Arc};

use super::sums::{Annotated, Sums};
use super::{Joining, PackedModel, Sources};
use super::{gather_states, readout, readout::Readout, rows::RowTable, units::PackedProduct};
use crate::models::stepper::{StepOutput, StepRow, Stepper};
use crate::models::{checkpoint::Weights, config::Config, need::Need};
use crate::nn::fused::{Onto, Packed, attention, focus, team};
use crate::{error::Result, nn::fused::elementwise::softmax};

/// Hyperbolic tangents that one more thread is worth.
const WORTHWHILE: usize = 1 << 13;

/// How a state and an annotation are compared; see `attention/`.
#[derive(Debug)]
pub enum PackedScore {
    Dot,
    General(PackedProduct),
    /// v_a' tanh(W_a s + U_a h_j + b_a), of W_a, U_a and b_a, and v_a.
    Additive(PackedProduct, PackedProduct, Vec<f32>),
}

impl PackedScore {
    pub fn additive(weights: &Weights) -> Result<Self> {
        let query = PackedProduct::affine(weights, "attention.W_a", None)?;
        let keys = PackedProduct::affine(weights, "attention.U_a", Some("attention.b_a"))?;
        Ok(Self::Additive(query, keys, weights.numbers("attention.v_a")?))
    }
}

/// The rows of a step.
pub struct RecurrentStep<'a> {
    pub threads: usize,
    pub rows: &'a [StepRow],
    pub e: &'a [f32],
    /// C c_i, [rows, ..]; before alpha is known it is empty, but for the one context of a model that does not look.
    pub from_context: &'a [f32],
}

/// Vectors that a step goes on from, [rows, ..] each.
pub type StateVectors = Vec<Vec<f32>>;

/// How the units of an architecture are put together.
pub trait RecurrentWiring: Debug + Send + Sync {
    /// Reads e(x) of all words, [t_x, b, m]: their annotations, [t_x, b, ..], and where the decoder starts.
    fn read(&self, threads: usize, sources: &Sources, e: &[f32]) -> (Vec<f32>, StateVectors);
    /// Moves from the states of the step before to the state that looks.
    fn advance(&self, step: &RecurrentStep<'_>, states: StateVectors) -> StateVectors;
    /// What the output layer reads, [rows, ..], and the states after the step, from what [`RecurrentWiring::advance`]
    /// gave.
    fn read_out(&self, step: &RecurrentStep<'_>, half: &[Vec<f32>]) -> (Vec<f32>, StateVectors);
    fn query(&self) -> usize {
        0
    }
    fn state(&self) -> usize {
        self.query()
    }
}

/// Weights packed for decoding.
#[derive(Debug)]
pub struct PackedRecurrent {
    pub config: Config,
    pub source_embedding: RowTable,
    pub target_embedding: RowTable,
    pub start: Option<u32>,
    pub score: PackedScore,
    pub context: Packed,
    pub readout: Readout,
    pub wiring: Box<dyn RecurrentWiring>,
}

impl PackedModel for PackedRecurrent {
    fn stepper(self: Arc<Self>, _: &Config, threads: usize) -> Box<dyn Stepper> {
        Box::new(FusedRecurrent::new(self, threads))
    }
}

/// Such a model as a [`Stepper`].
#[derive(Debug)]
pub struct FusedRecurrent {
    model: Arc<PackedRecurrent>,
    threads: usize,
    sources: Sources,
    /// h_j, and C h_j.
    annotated: Annotated,
    /// What h_j is compared as, [b, t_x, ..]; empty where that is h_j itself.
    keys: Vec<f32>,
    states: StateVectors,
    widths: Vec<usize>,
    /// What the first half of the running step left, and e(y_{i-1}).
    half: (StateVectors, Vec<f32>),
    first: bool,
    readout: readout::Buffers,
}

impl FusedRecurrent {
    pub fn new(model: Arc<PackedRecurrent>, threads: usize) -> Self {
        Self {
            model,
            threads: threads.max(1),
            sources: Sources::default(),
            annotated: Annotated::default(),
            keys: Vec::new(),
            states: Vec::new(),
            widths: Vec::new(),
            half: Default::default(),
            first: true,
            readout: readout::Buffers::default(),
        }
    }

    fn width(&self) -> usize {
        (self.model.config.architecture.entry().annotation)(&self.model.config)
    }

    fn attend(&self, rows: &[StepRow], output: &mut StepOutput) {
        let (t_x, lengths, score) = (self.sources.t_x, &self.sources.lengths, &self.model.score);
        let s = &self.half.0[self.model.wiring.query()];
        let asked =
            if let PackedScore::Additive(query, ..) = score { query.apply(self.threads, s) } else { Vec::new() };
        let query = if asked.is_empty() { s } else { &asked };
        let keys = if matches!(score, PackedScore::Dot) { &self.annotated.h } else { &self.keys };
        let width = query.len() / rows.len().max(1);
        let threads = self.threads.min(output.energies.len() * width / WORTHWHILE + 1);
        team::chunks(threads, &mut output.energies, t_x, &|row, e| {
            let sentence = rows[row].sentence;
            let keys = &keys[sentence * t_x * width..(sentence * t_x + lengths[sentence]) * width];
            let (query, e) = (&query[row * width..(row + 1) * width], &mut e[..lengths[sentence]]);
            match score {
                PackedScore::Additive(.., v_a) => attention::energies(query, keys, v_a, e),
                PackedScore::Dot | PackedScore::General(_) => focus::products(query, keys, e),
            }
        });
        output.alpha.copy_from_slice(&output.energies);
        for (alpha, row) in output.alpha.chunks_exact_mut(t_x).zip(rows) {
            softmax(&mut alpha[..lengths[row.sentence]]);
        }
    }

    fn look(&mut self, rows: &[StepRow], alpha: &[f32]) -> Vec<f32> {
        let (model, width) = (Arc::clone(&self.model), self.width());
        let mut from_context = vec![0.0; rows.len() * model.context.columns()];
        let sentences: Vec<usize> = rows.iter().map(|row| row.sentence).collect();
        let Sources { t_x, lengths, .. } = &self.sources;
        let sums = Sums { threads: self.threads, t_x: *t_x, lengths, sentences: &sentences, alpha };
        self.annotated.look(&sums, rows.len(), (&model.context, width), &mut from_context, Onto::Zero);
        from_context
    }
}

impl Stepper for FusedRecurrent {
    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        let (model, width) = (Arc::clone(&self.model), self.width());
        self.sources = Sources::new(sources, model.config.source_vocabulary)?;
        let (b, t_x) = (sources.len(), self.sources.t_x);
        let e = self.sources.embed(&model.source_embedding, model.config.embedding)?;
        let (h, states) = model.wiring.read(self.threads, &self.sources, &e);
        self.annotated.begin(b * t_x * width);
        for (at, own) in self.annotated.h.chunks_exact_mut(width).enumerate() {
            let from = (at % t_x * b + at / t_x) * width;
            own.copy_from_slice(&h[from..from + width]);
        }
        self.keys = match &model.score {
            PackedScore::General(keys) | PackedScore::Additive(_, keys, _) => {
                keys.apply(self.threads, &self.annotated.h)
            }
            PackedScore::Dot => Vec::new(),
        };
        self.widths = states.iter().map(|state| state.len() / b).collect();
        (self.states, self.first) = (states, true);
        Ok(())
    }

    fn align(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()> {
        let model = Arc::clone(&self.model);
        super::prepare(output, rows.len(), model.config.target_vocabulary, Some(self.sources.t_x));
        super::check_rows(rows, self.sources.lengths.len())?;
        let mut before = vec![Vec::new(); self.states.len()];
        for ((state, width), before) in self.states.iter().zip(&self.widths).zip(&mut before) {
            gather_states(rows.iter().copied(), self.first, state, *width, before)?;
        }
        let mut e = Vec::new();
        let y_prev = rows.iter().map(|row| row.y_prev.or(model.start));
        model.target_embedding.gather(model.config.embedding, y_prev, &mut e)?;
        let step = RecurrentStep { threads: self.threads, rows, e: &e, from_context: &[] };
        self.half = (model.wiring.advance(&step, before), e);
        self.attend(rows, output);
        Ok(())
    }

    fn predict(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        let model = Arc::clone(&self.model);
        output.check_aligned(rows, Some(self.sources.t_x))?;
        let from_context = self.look(rows, &output.alpha);
        let (half, e) = &self.half;
        let step = RecurrentStep { threads: self.threads, rows, e, from_context: &from_context };
        let (t, states) = model.wiring.read_out(&step, half);
        (self.states, self.first) = (states, false);
        model.readout.answer(self.threads, &t, need, &mut self.readout, output)
    }

    fn joins(&self) -> bool {
        true
    }

    fn join(&mut self, kept: &[usize], sources: &[&[u32]]) -> Result<()> {
        let mut before = std::mem::replace(self, Self::new(Arc::clone(&self.model), self.threads));
        std::mem::swap(&mut self.readout, &mut before.readout);
        self.begin(sources)?;
        let (model, width) = (Arc::clone(&self.model), self.width());
        let joining = Joining::new(&before.sources, kept, &self.sources)?;
        self.annotated.join(before.annotated, &joining, self.threads, Some(&model.context), width);
        if !before.keys.is_empty() {
            let wide = before.keys.len() / (before.sources.lengths.len() * before.sources.t_x);
            self.keys = joining.numbers(&before.keys, &self.keys, wide);
        }
        self.sources = joining.sources;
        for (states, new) in before.states.iter_mut().zip(&mut self.states) {
            states.append(new);
        }
        (self.states, self.first) = (before.states, false);
        Ok(())
    }

    fn states(&self) -> Option<&[f32]> {
        self.states.get(self.model.wiring.state()).map(Vec::as_slice)
    }

    fn annotations(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
        self.encoded(sentence)
    }

    fn encoded(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
        self.sources.words_of(sentence, &self.annotated.h, self.width())
    }
}
