//! Floor 3: RNNsearch and the RNN Encoder-Decoder as GroundHog computes them, in which the authors of both papers wrote
//! them.
//!
//! | | Bahdanau et al. 2015, Cho et al. 2014 | here |
//! |---|---|---|
//! | s_i reads | y_{i-1} and c_i | y_i and c_i, so that step i + 1 moves to it before it looks |
//! | c of the RNN Encoder-Decoder | tanh(V h_N) | h_N |
//! | what its word is read from | s_i | s_{i-1}, which has read y_{i-1} |
//! | its gates | z is what stays, r covers U h + C c | as those of RNNsearch |
//!
//! Wiring: s_0 starts from <-h_1, or from c. Step i moves to s_{i-1} by y_{i-1}, c_{i-1} and s_{i-2}, looks from there,
//! and reads the word out from s_{i-1}, y_{i-1} and c_i. What is kept is s_{i-1} with c_i.

use candle_core::Tensor;

use crate::attention::{self, Attention, AttentionKind, Query, Sizes, additive};
use crate::error::{Error, Result};
use crate::models::batch::{Batch, embed_previous, embed_shifted};
use crate::models::config::Config;
use crate::models::loss::{Hidden, Regularizer, Trainable};
use crate::models::readable::{AlignedStep, Annotations, State, Step, TranslationModel};
use crate::models::rnn_search::unit_shapes;
use crate::models::{AlignmentMode, ModelEntry, Shapes, anatomy, fused};
use crate::nn::bidirectional::{Bidirectional, Direction, read};
use crate::nn::gru::{BahdanauUnit, GatedCell as _, Matrices};
use crate::nn::linear::{Parameters, affine, apply};
use crate::nn::maxout::DeepOutput;
use crate::nn::softmax::log_softmax;
use crate::nn::trace::Trace;

/// Its line in the table of architectures.
pub const ENTRY: ModelEntry = ModelEntry {
    name: "groundhog",
    citation: "Bahdanau, Cho, Bengio 2015 and Cho et al. 2014, as their GroundHog computes them",
    needs: &["maxout"],
    may: &["alignment", "output_rank"],
    shapes,
    readable: |config, all| Ok(Box::new(GroundHog::new(config, all)?)),
    fused: |_| Some(fused::groundhog::pack_model),
    looks: |config| {
        let score = attention::find("additive").filter(|_| config.alignment > 0)?;
        Some(AlignmentMode { kind: AttentionKind::Global, score })
    },
    input_delay: Some(1),
    annotation,
    one_context: |config| config.alignment == 0,
    anatomy: Some(&anatomy::recurrent::GROUNDHOG),
    gain: |_| 1.0,
};

/// 2n where it looks, else the n of the one context.
fn annotation(config: &Config) -> usize {
    if config.alignment > 0 { 2 * config.hidden } else { config.hidden }
}

enum Encoder {
    /// Leaves h_j of every word, at which the attention looks.
    Both(Bidirectional, Box<dyn Attention>),
    /// Leaves h_N.
    Forward(BahdanauUnit),
}

/// A model of GroundHog over candle tensors.
pub struct GroundHog {
    config: Config,
    source_embedding: Tensor, // [K_x, m]
    target_embedding: Tensor, // [K_y, m]
    encoder: Encoder,
    w_s: Tensor, // [n, n]
    b_s: Tensor, // [n]
    decoder: BahdanauUnit,
    readout: DeepOutput,
    /// W_o, [K_y, l], or two thin matrices: [K_y, r] and [r, l].
    output: (Tensor, Option<Tensor>),
    b_w: Tensor, // [K_y]
    trace: Trace,
}

impl GroundHog {
    /// From tensors by the names of [`shapes`]; variables stay variables.
    pub fn new(config: &Config, all: &Parameters<'_>) -> Result<Self> {
        let (encoder, decoder, readout) = (all.at("encoder"), all.at("decoder"), all.at("readout"));
        let unit = |name: &str| Ok::<_, Error>(BahdanauUnit(Matrices::encoder(&encoder.at(name))?));
        let forward = unit("forward")?;
        Ok(Self {
            config: config.clone(),
            source_embedding: all.get("source_embedding")?,
            target_embedding: all.get("target_embedding")?,
            encoder: if config.alignment > 0 {
                let both = Bidirectional { forward, backward: unit("backward")? };
                Encoder::Both(both, additive::construct(&all.at("attention"))?)
            } else {
                Encoder::Forward(forward)
            },
            w_s: decoder.get("W_s")?,
            b_s: decoder.get("b_s")?,
            decoder: BahdanauUnit(Matrices::decoder(&decoder)?),
            readout: DeepOutput::find(&readout, ["U_o", "V_o", "C_o"])?,
            output: match config.output_rank {
                None => (readout.get("W_o")?, None),
                Some(_) => (readout.get("G_l")?, Some(readout.get("G_r")?)),
            },
            b_w: readout.get("b_w")?,
            trace: all.trace(),
        })
    }

    /// The annotations, or c as the one of them, with dropout on the embeddings where training asks for it.
    fn annotate(&self, source: &Batch, regularizer: &mut Regularizer) -> Result<Annotations> {
        let e = regularizer.drop(&source.embed(&self.source_embedding)?)?; // [t_x, b, m]
        self.trace.note("e", &e);
        let time_mask = source.time_mask(e.dtype(), e.device())?;
        let (h, keys) = match &self.encoder {
            Encoder::Both(both, attention) => {
                let h = both.annotate(&e, time_mask.as_ref())?; // [b, t_x, 2n]
                let keys = attention.keys(&h)?; // [b, t_x, n']
                (h, keys)
            }
            Encoder::Forward(unit) => {
                let Some(c) = read(unit, &e, time_mask.as_ref(), Direction::Forward)?.pop() else {
                    return Err(Error::Internal("an empty sentence has no last state".into()));
                };
                (c.unsqueeze(1)?, None) // [b, 1, n]
            }
        };
        let mask = source.mask(e.dtype(), e.device())?; // [b, t_x]
        Ok(Annotations { h, keys, last: Vec::new(), mask, lengths: source.lengths.clone(), changes: Vec::new() })
    }

    /// s_0 = tanh(W_s <-h_1 + b_s), [b, n], or of c.
    fn start(&self, annotations: &Annotations) -> Result<Tensor> {
        let (n, first) = (self.config.hidden, annotations.h.narrow(1, 0, 1)?.squeeze(1)?);
        let z = first.narrow(1, first.dim(1)? - n, n)?.contiguous()?; // [b, n]
        Ok(affine(&self.w_s, &self.b_s, &z)?.tanh()?)
    }

    /// e_i and alpha_i, [rows, t_x], from s_{i-1}, [rows, n]; `None` where it does not look.
    fn look(&self, s: &Tensor, i: usize, annotations: &Annotations) -> Result<Option<(Tensor, Tensor)>> {
        let Encoder::Both(_, attention) = &self.encoder else { return Ok(None) };
        let (query, source) = (Query { state: s, i }, annotations.source());
        // e_ij = v_a' tanh(W_a s_{i-1} + U_a h_j + b_a), alpha_i = softmax(e_i)
        let e_i = attention.energies(&query, &source)?;
        let alpha_i = attention.align(&query, &e_i, &source)?.alpha;
        Ok(Some((e_i, alpha_i)))
    }

    /// c_i, [rows, 2n] from alpha_i, or c, [rows, n].
    fn context(&self, alpha_i: Option<&Tensor>, rows: usize, annotations: &Annotations) -> Result<Tensor> {
        match alpha_i {
            Some(alpha_i) => annotations.context(alpha_i),
            None => Ok(annotations.h.squeeze(1)?.broadcast_as((rows, self.config.hidden))?.contiguous()?),
        }
    }
}

impl TranslationModel for GroundHog {
    fn config(&self) -> &Config {
        &self.config
    }

    fn encode(&self, source: &[&[u32]]) -> Result<Annotations> {
        self.annotate(&Batch::new(source)?, &mut Regularizer::none())
    }

    /// s_0, and zeros in the place of a c_0 that nothing reads.
    fn init_state(&self, annotations: &Annotations) -> Result<State> {
        let s = self.start(annotations)?;
        let c = annotations.h.narrow(1, 0, 1)?.squeeze(1)?.zeros_like()?;
        Ok(State { tensors: vec![s, c], i: 0 })
    }

    fn align(&self, y_prev: Option<&[u32]>, s_prev: &State, annotations: &Annotations) -> Result<AlignedStep> {
        let [s, c] = s_prev.tensors.as_slice() else {
            return Err(Error::Internal("a state is not one of this model".into()));
        };
        let s = match y_prev {
            None => s.clone(),
            Some(ids) => {
                let e = embed_previous(&self.target_embedding, Some(ids), s.dim(0)?)?; // [rows, m]
                let unit = self.decoder.matrices();
                self.decoder.step(&unit.input(&e)?, unit.context(c)?.as_ref(), s)? // [rows, n]
            }
        };
        self.trace.note("looks", &s);
        let (e_i, alpha_i) = self.look(&s, s_prev.i, annotations)?.unzip();
        Ok(AlignedStep { s: State { tensors: vec![s, c.clone()], i: s_prev.i }, e_i, alpha_i, p_t: None })
    }

    fn predict(&self, y_prev: Option<&[u32]>, aligned: &AlignedStep, annotations: &Annotations) -> Result<Step> {
        let s = &aligned.s.tensors[0];
        let e = embed_previous(&self.target_embedding, y_prev, s.dim(0)?)?; // [rows, m]
        self.trace.note("e", &e);
        let c_i = self.context(aligned.alpha_i.as_ref(), s.dim(0)?, annotations)?;
        // t_i = maxout(U_o s_{i-1} + V_o e(y_{i-1}) + C_o c_i + b_o), p(y_i) = softmax(W_o t_i + b_w)
        let log_p = log_softmax(&self.logits(&self.readout.t(s, &e, &c_i)?)?)?; // [rows, K_y]
        let s = State { tensors: vec![s.clone(), c_i.clone()], i: aligned.s.i + 1 };
        Ok(Step { s, c_i: Some(c_i), log_p })
    }
}

impl Trainable for GroundHog {
    fn last_hidden(&self, source: &Batch, target: &Batch, regularizer: &mut Regularizer) -> Result<Hidden> {
        let annotations = self.annotate(source, regularizer)?;
        let e = regularizer.drop(&embed_shifted(&self.target_embedding, target)?)?; // [t_y, b, m]
        let unit = self.decoder.matrices();
        let x = unit.input(&e)?.positions()?; // t_y times 3 x [b, n]
        let mut s = self.start(&annotations)?; // [b, n]
        let (mut states, mut contexts, mut alpha): (Vec<Tensor>, Vec<Tensor>, Vec<Tensor>) = Default::default();
        for i in 0..target.longest {
            if let Some(c) = contexts.last() {
                s = self.decoder.step(&x[i], unit.context(c)?.as_ref(), &s)?;
            }
            let alpha_i = self.look(&s, i, &annotations)?.map(|(_, alpha_i)| alpha_i);
            contexts.push(self.context(alpha_i.as_ref(), s.dim(0)?, &annotations)?);
            alpha.extend(alpha_i);
            states.push(s.clone());
        }
        let t = self.readout.t(&Tensor::cat(&states, 0)?, &e.flatten(0, 1)?, &Tensor::cat(&contexts, 0)?)?;
        Ok(Hidden { rows: target.rows_of_words(&t)?, alpha }) // [t_y * b, l] to [words, l]
    }

    fn logits(&self, t: &Tensor) -> Result<Tensor> {
        match &self.output {
            (w_o, None) => affine(w_o, &self.b_w, t),
            (g_l, Some(g_r)) => affine(g_l, &self.b_w, &apply(g_r, t)?),
        }
    }
}

/// Names and shapes of its tensors. K vocabulary, m embedding, n hidden, l maxout, n' alignment units, r rank.
pub fn shapes(config: &Config) -> Shapes {
    let (m, n, l, c) = (config.embedding, config.hidden, config.maxout, annotation(config));
    let (k_x, k_y) = (config.source_vocabulary, config.target_vocabulary);
    let named = |(name, shape): (&str, Vec<usize>)| (name.to_owned(), shape);
    let mut shapes: Shapes = [("source_embedding", vec![k_x, m]), ("target_embedding", vec![k_y, m])].map(named).into();
    shapes.extend(unit_shapes("encoder.forward", config, None));
    if config.alignment > 0 {
        shapes.extend(unit_shapes("encoder.backward", config, None));
        let sizes = Sizes { query: n, annotation: c, units: config.alignment, max_source: 0 };
        shapes.extend(additive::shapes(&sizes).into_iter().map(|(name, shape)| (format!("attention.{name}"), shape)));
    }
    shapes.extend(unit_shapes("decoder", config, Some(c)));
    let readout = [
        ("decoder.W_s", vec![n, n]),
        ("decoder.b_s", vec![n]),
        ("readout.U_o", vec![2 * l, n]),
        ("readout.V_o", vec![2 * l, m]),
        ("readout.C_o", vec![2 * l, c]),
        ("readout.b_o", vec![2 * l]),
        ("readout.b_w", vec![k_y]),
    ];
    shapes.extend(readout.map(named));
    match config.output_rank {
        None => shapes.push(named(("readout.W_o", vec![k_y, l]))),
        Some(r) => shapes.extend([("readout.G_l", vec![k_y, r]), ("readout.G_r", vec![r, l])].map(named)),
    }
    shapes
}
