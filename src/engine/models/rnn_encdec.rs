//! The RNN Encoder-Decoder of Cho et al. 2014, appendix A.
//!
//! | paper | here | shape |
//! |---|---|---|
//! | h_t of the encoder, N words | states of `encoder` | [b, n] |
//! | c | `c`, the one row of the annotations | [b, 1, n] |
//! | h'_t of the decoder | `s` | [rows, n] |
//!
//! Wiring: one vector c is all that the decoder learns of the source, so there is no alignment. A step
//! moves to h'_t first and reads the word out from it, from y_{t-1} and from c.

use candle_core::Tensor;

use crate::error::{Error, Result};
use crate::models::batch::{Batch, embed_previous, embed_shifted};
use crate::models::loss::{Hidden, Regularizer, Trainable};
use crate::models::readable::{AlignedStep, Annotations, State, Step, TranslationModel};
use crate::models::{anatomy, fused};
use crate::models::{config::Config, entry::ModelEntry, header::Shapes, rnn_search::unit_shapes};
use crate::nn::bidirectional::{Direction, read};
use crate::nn::gru::{ChoUnit, GatedCell as _, Matrices};
use crate::nn::linear::{Parameters, affine, apply};
use crate::nn::{maxout::DeepOutput, softmax::log_softmax, trace::Trace};

pub const ENTRY: ModelEntry = ModelEntry {
    name: "rnnencdec",
    citation: "Cho et al. 2014, Learning Phrase Representations using RNN Encoder-Decoder",
    needs: &["maxout"],
    may: &["output_rank"],
    shapes,
    readable: |config, all| Ok(Box::new(RnnEncDec::new(config, all)?)),
    fused: |_| Some(fused::rnn_encdec::pack_model),
    looks: |_| None,
    input_delay: None,
    annotation: |config| config.hidden,
    one_context: |_| true,
    anatomy: Some(&anatomy::rnn_encdec::PLAN),
    gain: |_| 1.0,
};

/// The RNN Encoder-Decoder over candle tensors.
pub struct RnnEncDec {
    config: Config,
    source_embedding: Tensor, // [K_x, m]
    target_embedding: Tensor, // [K_y, m]
    encoder: ChoUnit,
    v: Tensor,   // V of the encoder, [n, n]
    b_c: Tensor, // [n]
    decoder: ChoUnit,
    v_prime: Tensor, // V' of the decoder, [n, n]
    b_s: Tensor,     // [n]
    readout: DeepOutput,
    output: Output,
    b_w: Tensor, // [K_y]
    trace: Trace,
}

enum Output {
    Full(Tensor),
    /// G_l [K_y, r] and G_r [r, l].
    LowRank(Tensor, Tensor),
}

impl RnnEncDec {
    pub fn new(config: &Config, all: &Parameters<'_>) -> Result<Self> {
        let (encoder, decoder, readout) = (all.at("encoder"), all.at("decoder"), all.at("readout"));
        let output = match config.output_rank {
            None => Output::Full(readout.get("G")?),
            Some(_) => Output::LowRank(readout.get("G_l")?, readout.get("G_r")?),
        };
        Ok(Self {
            config: config.clone(),
            source_embedding: all.get("source_embedding")?,
            target_embedding: all.get("target_embedding")?,
            encoder: ChoUnit(Matrices::encoder(&encoder)?),
            v: encoder.get("V")?,
            b_c: encoder.get("b_c")?,
            decoder: ChoUnit(Matrices::decoder(&decoder)?),
            v_prime: decoder.get("V")?,
            b_s: decoder.get("b_s")?,
            readout: DeepOutput::find(&readout, ["O_h", "O_y", "O_c"])?,
            output,
            b_w: readout.get("b_w")?,
            trace: all.trace(),
        })
    }

    /// c = tanh(V h_N + b_c), [b, n].
    fn context(&self, source: &Batch, regularizer: &mut Regularizer) -> Result<Tensor> {
        let e = regularizer.drop(&source.embed(&self.source_embedding)?)?; // [t_x, b, m]
        self.trace.note("e", &e);
        let mask = source.time_mask(e.dtype(), e.device())?;
        let mut h = read(&self.encoder, &e, mask.as_ref(), Direction::Forward)?;
        let Some(h_n) = h.pop() else {
            return Err(Error::Internal("an empty sentence has no last state".into()));
        };
        Ok(affine(&self.v, &self.b_c, &h_n)?.tanh()?)
    }

    /// h'_0 = tanh(V' c + b_s), [b, n].
    fn start(&self, c: &Tensor) -> Result<Tensor> {
        Ok(affine(&self.v_prime, &self.b_s, c)?.tanh()?)
    }
}

impl TranslationModel for RnnEncDec {
    fn config(&self) -> &Config {
        &self.config
    }

    fn encode(&self, source: &[&[u32]]) -> Result<Annotations> {
        let source = Batch::new(source)?;
        let c = self.context(&source, &mut Regularizer::none())?;
        let mask = source.mask(c.dtype(), c.device())?;
        let (h, lengths) = (c.unsqueeze(1)?, source.lengths);
        Ok(Annotations { h, keys: None, last: Vec::new(), mask, lengths, changes: Vec::new() })
    }

    fn init_state(&self, annotations: &Annotations) -> Result<State> {
        Ok(State { tensors: vec![self.start(&annotations.h.squeeze(1)?)?], i: 0 })
    }

    fn align(&self, _: Option<&[u32]>, s_prev: &State, _: &Annotations) -> Result<AlignedStep> {
        Ok(AlignedStep::nowhere(s_prev))
    }

    fn predict(&self, y_prev: Option<&[u32]>, aligned: &AlignedStep, annotations: &Annotations) -> Result<Step> {
        let (i, s_prev) = (aligned.s.i, aligned.s.only()?);
        let c = annotations.h.squeeze(1)?; // [rows or 1, n]
        let e = embed_previous(&self.target_embedding, y_prev, s_prev.dim(0)?)?; // [rows, m]
        self.trace.note("e", &e);
        let unit = self.decoder.matrices();
        let s = self.decoder.step(&unit.input(&e)?, unit.context(&c)?.as_ref(), s_prev)?; // [rows, n]
        // s_t = maxout(O_h h'_t + O_y e(y_{t-1}) + O_c c + b_o), p(y_t) = softmax(G s_t + b_w)
        let t = self.readout.t(&s, &e, &c)?; // [rows, l]
        let log_p = log_softmax(&self.logits(&t)?)?; // [rows, K_y]
        let c_i = c.broadcast_as((s.dim(0)?, c.dim(1)?))?; // [rows, n]
        Ok(Step { s: State { tensors: vec![s], i: i + 1 }, c_i: Some(c_i), log_p })
    }
}

impl Trainable for RnnEncDec {
    fn last_hidden(&self, source: &Batch, target: &Batch, regularizer: &mut Regularizer) -> Result<Hidden> {
        let c = self.context(source, regularizer)?; // [b, n]
        let e = regularizer.drop(&embed_shifted(&self.target_embedding, target, None)?)?; // [t_y, b, m]
        let unit = self.decoder.matrices();
        let (x, from_context) = (unit.input(&e)?.positions()?, unit.context(&c)?); // t_y times 3 x [b, n], 3 x [b, n]
        let mut s = self.start(&c)?; // [b, n]
        let mut states = Vec::new();
        for t in 0..target.longest {
            s = self.decoder.step(&x[t], from_context.as_ref(), &s)?;
            states.push(s.clone()); // h'_t
        }
        let c = c.unsqueeze(0)?.repeat((target.longest, 1, 1))?.flatten(0, 1)?; // [t_y * b, n]
        let t = self.readout.t(&Tensor::cat(&states, 0)?, &e.flatten(0, 1)?, &c)?;
        Ok(Hidden { rows: target.rows_of_words(&t)?, alpha: Vec::new() }) // [t_y * b, l] to [words, l]
    }

    fn logits(&self, t: &Tensor) -> Result<Tensor> {
        match &self.output {
            Output::Full(g) => affine(g, &self.b_w, t),
            Output::LowRank(g_l, g_r) => affine(g_l, &self.b_w, &apply(g_r, t)?),
        }
    }
}

/// K vocabulary, m embedding, n hidden, l maxout, r output rank.
pub fn shapes(config: &Config) -> Shapes {
    let (m, n, l) = (config.embedding, config.hidden, config.maxout);
    let (k_x, k_y) = (config.source_vocabulary, config.target_vocabulary);
    let mut shapes = Shapes::new();
    let mut add = |name: &str, shape: &[usize]| shapes.push((name.to_owned(), shape.to_vec()));
    add("source_embedding", &[k_x, m]);
    add("target_embedding", &[k_y, m]);
    for (unit, context) in [("encoder", None), ("decoder", Some(n))] {
        for (name, shape) in unit_shapes(unit, config, context) {
            add(&name, &shape);
        }
    }
    add("encoder.V", &[n, n]);
    add("encoder.b_c", &[n]);
    add("decoder.V", &[n, n]);
    add("decoder.b_s", &[n]);
    add("readout.O_h", &[2 * l, n]);
    add("readout.O_y", &[2 * l, m]);
    add("readout.O_c", &[2 * l, n]);
    add("readout.b_o", &[2 * l]);
    if let Some(r) = config.output_rank {
        add("readout.G_l", &[k_y, r]);
        add("readout.G_r", &[r, l]);
    } else {
        add("readout.G", &[k_y, l]);
    }
    add("readout.b_w", &[k_y]);
    shapes
}
