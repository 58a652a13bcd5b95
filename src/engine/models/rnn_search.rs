//! RNNsearch (Bahdanau, Cho, Bengio 2015, appendix A.2): annotations h_j from both directions, s_0 from <-h_1; a step
//! aligns by s_{i-1}, mixes c_i, reads out y_i from s_{i-1}, y_{i-1} and c_i, and only then moves to s_i.

use candle_core::Tensor;

use crate::attention::{self, Attention, AttentionKind, Sizes, additive};
use crate::error::Result;
use crate::models::batch::{Batch, embed_previous, embed_shifted};
use crate::models::entry::{AlignmentMode, ModelEntry};
use crate::models::loss::{Hidden, Regularizer, Trainable};
use crate::models::readable::{AlignedStep, Annotations, State, Step, TranslationModel};
use crate::models::{anatomy, fused};
use crate::models::{config::Config, header::Shapes};
use crate::nn::gru::{BahdanauUnit, GatedCell as _, Matrices};
use crate::nn::linear::{Parameters, affine};
use crate::nn::{bidirectional::Bidirectional, maxout::DeepOutput, softmax::log_softmax, trace::Trace};

pub const ENTRY: ModelEntry = ModelEntry {
    name: "rnnsearch",
    citation: "Bahdanau, Cho, Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate",
    needs: &["maxout", "alignment"],
    may: &[],
    shapes,
    readable: |config, all| Ok(Box::new(RnnSearch::new(config, all)?)),
    fused: |_| Some(fused::rnn_search::pack_model),
    looks: |_| attention::find("additive").map(|score| AlignmentMode { kind: AttentionKind::Global, score }),
    input_delay: Some(2),
    annotation: |config| 2 * config.hidden,
    one_context: |_| false,
    anatomy: Some(&anatomy::rnn_search::PLAN),
    gain: |_| 1.0,
};

/// RNNsearch over candle tensors.
pub struct RnnSearch {
    config: Config,
    source_embedding: Tensor, // [K_x, m]
    target_embedding: Tensor, // [K_y, m]
    encoder: Bidirectional,
    w_s: Tensor, // [n, n]
    b_s: Tensor, // [n]
    attention: Box<dyn Attention>,
    decoder: BahdanauUnit,
    readout: DeepOutput,
    w_o: Tensor, // [K_y, l]
    b_w: Tensor, // [K_y]
    trace: Trace,
}

impl RnnSearch {
    pub fn new(config: &Config, all: &Parameters<'_>) -> Result<Self> {
        let (encoder, decoder, readout) = (all.at("encoder"), all.at("decoder"), all.at("readout"));
        Ok(Self {
            config: config.clone(),
            source_embedding: all.get("source_embedding")?,
            target_embedding: all.get("target_embedding")?,
            encoder: Bidirectional {
                forward: BahdanauUnit(Matrices::encoder(&encoder.at("forward"))?),
                backward: BahdanauUnit(Matrices::encoder(&encoder.at("backward"))?),
            },
            w_s: decoder.get("W_s")?,
            b_s: decoder.get("b_s")?,
            attention: additive::construct(&all.at("attention"))?,
            decoder: BahdanauUnit(Matrices::decoder(&decoder)?),
            readout: DeepOutput::find(&readout, ["U_o", "V_o", "C_o"])?,
            w_o: readout.get("W_o")?,
            b_w: readout.get("b_w")?,
            trace: all.trace(),
        })
    }

    /// A.2.1, with dropout on the embeddings where training asks for it.
    fn annotate(&self, source: &Batch, regularizer: &mut Regularizer) -> Result<Annotations> {
        let e = regularizer.drop(&source.embed(&self.source_embedding)?)?; // [t_x, b, m]
        self.trace.note("e", &e);
        let h = self.encoder.annotate(&e, source.time_mask(e.dtype(), e.device())?.as_ref())?; // [b, t_x, 2n]
        let keys = self.attention.keys(&h)?; // [b, t_x, n']
        let mask = source.mask(e.dtype(), e.device())?; // [b, t_x]
        Ok(Annotations { h, keys, last: Vec::new(), mask, lengths: source.lengths.clone(), changes: Vec::new() })
    }

    /// s_0 = tanh(W_s <-h_1 + b_s), [b, n].
    fn start(&self, annotations: &Annotations) -> Result<Tensor> {
        let n = self.config.hidden;
        let h_bwd_1 = annotations.h.narrow(1, 0, 1)?.squeeze(1)?.narrow(1, n, n)?.contiguous()?; // [b, n]
        Ok(affine(&self.w_s, &self.b_s, &h_bwd_1)?.tanh()?)
    }
}

impl TranslationModel for RnnSearch {
    fn config(&self) -> &Config {
        &self.config
    }

    fn encode(&self, source: &[&[u32]]) -> Result<Annotations> {
        self.annotate(&Batch::new(source)?, &mut Regularizer::none())
    }

    fn init_state(&self, annotations: &Annotations) -> Result<State> {
        Ok(State { tensors: vec![self.start(annotations)?], i: 0 })
    }

    fn align(&self, _: Option<&[u32]>, s_prev: &State, annotations: &Annotations) -> Result<AlignedStep> {
        // e_ij = v_a' tanh(W_a s_{i-1} + U_a h_j + b_a), alpha_i = softmax(e_i)
        let (e_i, alignment) = self.attention.look(s_prev.only()?, s_prev.i, &annotations.source())?;
        Ok(AlignedStep { e_i: Some(e_i), alpha_i: Some(alignment.alpha), ..AlignedStep::nowhere(s_prev) })
    }

    fn predict(&self, y_prev: Option<&[u32]>, aligned: &AlignedStep, annotations: &Annotations) -> Result<Step> {
        let (i, s_prev) = (aligned.s.i, aligned.s.only()?);
        let e = embed_previous(&self.target_embedding, y_prev, s_prev.dim(0)?)?; // [rows, m]
        self.trace.note("e", &e);
        let c_i = annotations.context(aligned.alpha()?)?; // c_i = sum_j alpha_ij h_j, [rows, 2n]
        // t_i = maxout(U_o s_{i-1} + V_o e(y_{i-1}) + C_o c_i + b_o), p(y_i) = softmax(W_o t_i + b_w)
        let t_i = self.readout.t(s_prev, &e, &c_i)?; // [rows, l]
        let log_p = log_softmax(&self.logits(&t_i)?)?; // [rows, K_y]
        let unit = self.decoder.matrices();
        let s = self.decoder.step(&unit.input(&e)?, unit.context(&c_i)?.as_ref(), s_prev)?; // [rows, n]
        Ok(Step { s: State { tensors: vec![s], i: i + 1 }, c_i: Some(c_i), log_p })
    }
}

impl Trainable for RnnSearch {
    fn last_hidden(&self, source: &Batch, target: &Batch, regularizer: &mut Regularizer) -> Result<Hidden> {
        let annotations = self.annotate(source, regularizer)?;
        let e = regularizer.drop(&embed_shifted(&self.target_embedding, target, None)?)?; // [t_y, b, m]
        let unit = self.decoder.matrices();
        let x = unit.input(&e)?.positions()?; // t_y times 3 x [b, n]
        let mut s = self.start(&annotations)?; // [b, n]
        let (mut states, mut contexts, mut alpha) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..target.longest {
            let alpha_i = self.attention.look(&s, i, &annotations.source())?.1.alpha;
            let c_i = annotations.context(&alpha_i)?; // [b, 2n]
            alpha.push(alpha_i);
            states.push(s.clone()); // s_{i-1}
            if i + 1 < target.longest {
                s = self.decoder.step(&x[i], unit.context(&c_i)?.as_ref(), &s)?;
            }
            contexts.push(c_i);
        }
        let t = self.readout.t(&Tensor::cat(&states, 0)?, &e.flatten(0, 1)?, &Tensor::cat(&contexts, 0)?)?;
        Ok(Hidden { rows: target.rows_of_words(&t)?, alpha }) // [t_y * b, l] to [words, l]
    }

    fn logits(&self, t: &Tensor) -> Result<Tensor> {
        affine(&self.w_o, &self.b_w, t)
    }
}

/// A gated unit, with a context of that size if it reads one.
pub fn unit_shapes(unit: &str, config: &Config, context: Option<usize>) -> Shapes {
    let (m, n) = (config.embedding, config.hidden);
    let parts = [("W", Some(vec![n, m])), ("U", Some(vec![n, n])), ("b", Some(vec![n]))];
    let parts = parts.into_iter().chain([("C", context.map(|c| vec![n, c]))]);
    let parts: Vec<_> = parts.filter_map(|(letter, shape)| Some((letter, shape?))).collect();
    let gate =
        |gate: &'static str| parts.iter().map(move |(letter, shape)| (format!("{unit}.{letter}{gate}"), shape.clone()));
    ["", "_z", "_r"].into_iter().flat_map(gate).collect()
}

/// K vocabulary, m embedding, n hidden, l maxout, n' alignment units.
pub fn shapes(config: &Config) -> Shapes {
    let (m, n, l, n_a) = (config.embedding, config.hidden, config.maxout, config.alignment);
    let (k_x, k_y) = (config.source_vocabulary, config.target_vocabulary);
    let mut shapes = Shapes::new();
    let mut add = |name: &str, shape: &[usize]| shapes.push((name.to_owned(), shape.to_vec()));
    add("source_embedding", &[k_x, m]);
    add("target_embedding", &[k_y, m]);
    for (unit, context) in [("encoder.forward", None), ("encoder.backward", None), ("decoder", Some(2 * n))] {
        for (name, shape) in unit_shapes(unit, config, context) {
            add(&name, &shape);
        }
    }
    add("decoder.W_s", &[n, n]);
    add("decoder.b_s", &[n]);
    for (name, shape) in additive::shapes(&Sizes { query: n, annotation: 2 * n, units: n_a, max_source: 0 }) {
        add(&format!("attention.{name}"), &shape);
    }
    add("readout.U_o", &[2 * l, n]);
    add("readout.V_o", &[2 * l, m]);
    add("readout.C_o", &[2 * l, 2 * n]);
    add("readout.b_o", &[2 * l]);
    add("readout.W_o", &[k_y, l]);
    add("readout.b_w", &[k_y]);
    shapes
}
