//! The recurrent models of OpenNMT (Klein et al. 2017) and of Joey NMT (Kreutzer et al. 2019): Luong et al. 2015
//! with an encoder that may read in both directions, GRUs too, and additive attention too.
//!
//! | paper | here | shape |
//! |---|---|---|
//! | annotations h_j, of the top layer | `annotations.h` | [b, t_x, n_x] or [b, t_x, 2 n_x] |
//! | h_t, of the top layer | s_i, which looks | [rows, n] |
//! | attentional state h~_t | `h_tilde` | [rows, n] |
//!
//! Wiring: a layer of the encoder reads both directions of the layer below. A step moves all layers of the decoder by
//! [e(y_{i-1}); h~_{i-1}] to s_i, aligns by it, and reads the word out from h~_i = tanh(W_c [c_i; s_i] + b_c) through a
//! layer with a bias.

pub mod sizes;

use candle_core::{D, Tensor};

use crate::attention::{self, Attention, AttentionKind, Sizes};
use crate::error::{Error, Result};
use crate::models::batch::{Batch, embed, embed_shifted};
use crate::models::entry::{AlignmentMode, ModelEntry};
use crate::models::loss::{Hidden, Regularizer, Trainable};
use crate::models::nematus::units::{Layer, RecurrentUnit, UnitState};
use crate::models::opennmt::sizes::{AttentionalMix, DecoderStart, OpenNmtSizes};
use crate::models::readable::{AlignedStep, Annotations, State, Step, TranslationModel};
use crate::models::{anatomy, fused};
use crate::models::{config::Config, config::required, header::Shapes};
use crate::nn::linear::{Parameters, affine};
use crate::nn::{bidirectional::Direction, softmax::log_softmax, trace::Trace};

pub const ENTRY: ModelEntry = ModelEntry {
    name: "opennmt",
    citation: "Klein et al. 2017, OpenNMT: Open-Source Toolkit for Neural Machine Translation",
    needs: &[
        "both_directions", "unit", "encoder_hidden", "encoder_layers", "decoder_layers", "start_state", "score",
        "mixing", "input_feeding", "shared_embedding", "tied_output", "start",
    ],
    may: &[],
    shapes,
    readable: |config, all| Ok(Box::new(OpenNmt::new(config, all)?)),
    fused: |_| Some(fused::opennmt::pack_model),
    looks: |config| {
        let score = attention::find(&config.opennmt()?.score)?;
        Some(AlignmentMode { kind: AttentionKind::Global, score })
    },
    input_delay: Some(1),
    annotation: |config| config.opennmt().map_or(0, OpenNmtSizes::annotation),
    one_context: |_| false,
    anatomy: Some(&anatomy::recurrent::OPENNMT),
    gain: |_| 1.0,
};

/// A recurrent model of OpenNMT over candle tensors.
pub struct OpenNmt {
    config: Config,
    sizes: OpenNmtSizes,
    source_embedding: Tensor, // [K_x, m]
    target_embedding: Tensor, // [K_y, m]
    forward: Vec<Layer>,
    backward: Vec<Layer>,
    start: Option<(Tensor, Tensor)>, // [n, |h_j|], [n]
    attention: Box<dyn Attention>,
    decoder: Vec<Layer>,
    w_c: Tensor, // [n, |h_j| + n]
    b_c: Tensor, // [n]
    w_o: Tensor, // [K_y, n]
    b_o: Tensor, // [K_y]
    trace: Trace,
}

impl OpenNmt {
    pub fn new(config: &Config, all: &Parameters<'_>) -> Result<Self> {
        let sizes = required(config.opennmt(), "OpenNMT")?;
        let Some(entry) = attention::find(&sizes.score) else {
            return Err(Error::Internal(format!("there is no score function `{}`", sizes.score)));
        };
        let stack = |name: &str| -> Result<Vec<Layer>> {
            let of_stack = sizes.layers(config.embedding, config.hidden).into_iter().filter(|layer| layer.0 == name);
            of_stack
                .map(|(stack, l, place)| {
                    Ok(Layer(vec![RecurrentUnit::find(&all.at(stack).at(&l.to_string()), place)?]))
                })
                .collect()
        };
        let target_embedding = all.get(config.target_embedding())?;
        let has_bridge = sizes.start_state == DecoderStart::Bridge;
        let (start, readout) = (all.at("start"), all.at("readout"));
        Ok(Self {
            config: config.clone(),
            forward: stack("encoder.forward")?,
            backward: stack("encoder.backward")?,
            start: has_bridge.then(|| Ok::<_, Error>((start.get("W")?, start.get("b")?))).transpose()?,
            attention: (entry.construct)(&all.at("attention"))?,
            decoder: stack("decoder")?,
            w_c: all.get("W_c")?,
            b_c: all.get("b_c")?,
            w_o: if sizes.tied_output { target_embedding.clone() } else { readout.get("W_o")? },
            b_o: readout.get("b_o")?,
            source_embedding: all.get("source_embedding")?,
            target_embedding,
            sizes,
            trace: all.trace(),
        })
    }

    fn annotate(&self, source: &Batch, regularizer: &mut Regularizer) -> Result<Annotations> {
        let mut x = regularizer.drop(&source.embed(&self.source_embedding)?)?; // [t_x, b, m]
        self.trace.note("e", &x);
        let mask = source.time_mask(x.dtype(), x.device())?;
        let mut ends = Vec::with_capacity(self.forward.len());
        for (l, forward) in self.forward.iter().enumerate() {
            let (states, end) = forward.read(&x, mask.as_ref(), Direction::Forward)?;
            let Some(backward) = self.backward.get(l) else {
                (x, ends) = (states, [ends, vec![end]].concat());
                self.note_top(l, "forward", &x);
                continue;
            };
            let (others, other) = backward.read(&x, mask.as_ref(), Direction::Backward)?;
            self.note_top(l, "forward", &states);
            self.note_top(l, "backward", &others);
            x = Tensor::cat(&[states, others], D::Minus1)?; // [t_x, b, 2 n_x]
            ends.push(end.concat(&other)?);
        }
        let h = x.transpose(0, 1)?.contiguous()?; // [b, t_x, |h_j|]
        let keys = self.attention.keys(&h)?;
        let mask = source.mask(h.dtype(), h.device())?; // [b, t_x]
        let last = self.starts(&ends)?.iter().flat_map(UnitState::tensors).collect();
        Ok(Annotations { h, keys, last, mask, lengths: source.lengths.clone(), changes: Vec::new() })
    }

    fn note_top(&self, l: usize, name: &str, states: &Tensor) {
        if l + 1 == self.forward.len() {
            self.trace.note(name, states);
        }
    }

    fn starts(&self, ends: &[UnitState]) -> Result<Vec<UnitState>> {
        let Some(top) = ends.last() else {
            return Err(Error::Internal("an encoder has no layer".into()));
        };
        let s = match (self.sizes.start_state, &self.start) {
            (DecoderStart::Layers, _) => return Ok(ends.to_vec()),
            (DecoderStart::Bridge, Some((w, b))) => affine(w, b, &top.s)?.tanh()?,
            (DecoderStart::Top | DecoderStart::Bridge, _) => {
                top.s.narrow(D::Minus1, 0, self.config.hidden)?.contiguous()?
            }
            (DecoderStart::Zeros, _) => {
                Tensor::zeros((top.s.dim(0)?, self.config.hidden), top.s.dtype(), top.s.device())?
            }
        };
        Ok(vec![UnitState::start(self.sizes.unit, s); self.decoder.len()])
    }

    fn parts(&self, state: &State) -> Result<(Vec<UnitState>, Option<Tensor>)> {
        UnitState::of(self.sizes.unit, self.decoder.len(), &state.tensors)
    }

    fn advance(&self, e: Tensor, s_prev: &State, regularizer: &mut Regularizer) -> Result<Vec<UnitState>> {
        let (mut states, fed) = self.parts(s_prev)?;
        let mut x = match fed {
            Some(h_tilde) => Tensor::cat(&[e, h_tilde], 1)?, // [rows, m + n]
            None => e,
        };
        for (l, (layer, state)) in self.decoder.iter().zip(&mut states).enumerate() {
            let read = if l > 0 { regularizer.drop(&x)? } else { x };
            *state = layer.0[0].step(&read, state)?;
            x = state.s.clone();
        }
        Ok(states)
    }

    /// h~_i of c_i and s_i, [rows, n].
    fn mix(&self, c_i: &Tensor, s: &Tensor) -> Result<Tensor> {
        let sum = affine(&self.w_c, &self.b_c, &Tensor::cat(&[c_i, s], 1)?)?;
        if self.sizes.mixing == AttentionalMix::Tanh { Ok(sum.tanh()?) } else { Ok(sum) }
    }

    fn state(&self, states: &[UnitState], h_tilde: Option<Tensor>, i: usize) -> State {
        let fed = h_tilde.filter(|_| self.sizes.input_feeding);
        State { tensors: states.iter().flat_map(UnitState::tensors).chain(fed).collect(), i }
    }
}

fn top(states: &[UnitState]) -> Result<&Tensor> {
    states.last().map(|state| &state.s).ok_or_else(|| Error::Internal("a decoder has no layer".into()))
}

impl TranslationModel for OpenNmt {
    fn config(&self) -> &Config {
        &self.config
    }

    fn encode(&self, source: &[&[u32]]) -> Result<Annotations> {
        self.annotate(&Batch::new(source)?, &mut Regularizer::none())
    }

    fn init_state(&self, annotations: &Annotations) -> Result<State> {
        let mut tensors = annotations.last.clone();
        if let Some(s) = annotations.last.first().filter(|_| self.sizes.input_feeding) {
            tensors.push(s.zeros_like()?.detach());
        }
        Ok(State { tensors, i: 0 })
    }

    fn seen(&self, state: &State) -> Option<Tensor> {
        let (states, _) = self.parts(state).ok()?;
        states.last().map(|state| state.s.clone())
    }

    fn align(&self, y_prev: Option<&[u32]>, s_prev: &State, annotations: &Annotations) -> Result<AlignedStep> {
        let y_0 = vec![self.sizes.start; s_prev.tensors[0].dim(0)?];
        let e = embed(&self.target_embedding, y_prev.unwrap_or(&y_0))?; // [rows, m]
        self.trace.note("e", &e);
        if let (_, Some(h_tilde)) = self.parts(s_prev)? {
            self.trace.note("fed", &h_tilde);
        }
        let states = self.advance(e, s_prev, &mut Regularizer::none())?;
        self.trace.note("looks", top(&states)?);
        let (e_i, alignment) = self.attention.look(top(&states)?, s_prev.i, &annotations.source())?;
        let s = self.state(&states, None, s_prev.i);
        Ok(AlignedStep { s, e_i: Some(e_i), alpha_i: Some(alignment.alpha), p_t: None })
    }

    fn predict(&self, _: Option<&[u32]>, aligned: &AlignedStep, annotations: &Annotations) -> Result<Step> {
        let (states, _) = self.parts(&aligned.s)?;
        let c_i = annotations.context(aligned.alpha()?)?; // [rows, |h_j|]
        let h_tilde = self.mix(&c_i, top(&states)?)?;
        self.trace.note("t", &h_tilde);
        let log_p = log_softmax(&self.logits(&h_tilde)?)?; // [rows, K_y]
        Ok(Step { s: self.state(&states, Some(h_tilde), aligned.s.i + 1), c_i: Some(c_i), log_p })
    }
}

impl Trainable for OpenNmt {
    fn last_hidden(&self, source: &Batch, target: &Batch, regularizer: &mut Regularizer) -> Result<Hidden> {
        let annotations = self.annotate(source, regularizer)?;
        let start = Some(self.sizes.start);
        let e = regularizer.drop(&embed_shifted(&self.target_embedding, target, start)?)?; // [t_y, b, m]
        let mut s = self.init_state(&annotations)?;
        let (mut hidden, mut alpha) = (Vec::with_capacity(target.longest), Vec::with_capacity(target.longest));
        for i in 0..target.longest {
            let states = self.advance(e.get(i)?, &s, regularizer)?;
            let s_i = top(&states)?;
            let alpha_i = self.attention.look(s_i, i, &annotations.source())?.1.alpha;
            let h_tilde = self.mix(&annotations.context(&alpha_i)?, s_i)?;
            s = self.state(&states, Some(h_tilde.clone()), i + 1);
            hidden.push(h_tilde);
            alpha.push(alpha_i);
        }
        Ok(Hidden { rows: target.rows_of_words(&Tensor::cat(&hidden, 0)?)?, alpha })
    }

    fn logits(&self, h_tilde: &Tensor) -> Result<Tensor> {
        affine(&self.w_o, &self.b_o, h_tilde)
    }
}

/// K vocabulary, m embedding, n hidden; matrices are \[out, in\].
pub fn shapes(config: &Config) -> Shapes {
    let Some(sizes) = config.opennmt() else { return Shapes::new() };
    let (m, n, c) = (config.embedding, config.hidden, sizes.annotation());
    let mut shapes: Shapes = vec![("source_embedding".into(), vec![config.source_vocabulary, m])];
    if !sizes.shared_embedding {
        shapes.push(("target_embedding".into(), vec![config.target_vocabulary, m]));
    }
    for (stack, l, place) in sizes.layers(m, n) {
        let width = if stack == "decoder" { n } else { sizes.encoder_hidden };
        shapes.extend(place.shapes(&format!("{stack}.{l}"), width));
    }
    if sizes.start_state == DecoderStart::Bridge {
        shapes.extend([("start.W".into(), vec![n, c]), ("start.b".into(), vec![n])]);
    }
    if let Some(entry) = attention::find(&sizes.score) {
        let sizes = Sizes { query: n, annotation: c, units: n, max_source: 0 };
        let of_attention = (entry.shapes)(&sizes).into_iter();
        shapes.extend(of_attention.map(|(name, shape)| (format!("attention.{name}"), shape)));
    }
    shapes.extend([("W_c".into(), vec![n, c + n]), ("b_c".into(), vec![n])]);
    if !sizes.tied_output {
        shapes.push(("readout.W_o".into(), vec![config.target_vocabulary, n]));
    }
    shapes.push(("readout.b_o".into(), vec![config.target_vocabulary]));
    shapes
}
