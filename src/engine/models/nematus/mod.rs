//! The attentional encoder-decoder with a conditional GRU of Nematus (Sennrich et al. 2017), and the deeper
//! models and those of LSTMs that Marian trains (Junczys-Dowmunt et al. 2018).
//!
//! | paper | here | shape |
//! |---|---|---|
//! | annotations h_j | `annotations.h` | [b, t_x, 2n], or [b, t_x, n] where the last layers read forward alone |
//! | s'_i, what looks | the state of the first unit | [rows, n] |
//! | s_i | the states of all layers, each with the memory cell of an LSTM | [rows, n] each |
//!
//! Wiring: s_0 = tanh(W h + b) of the mean of the annotations is where every layer of the decoder starts. In a step the
//! first unit reads y_{i-1} and gives s'_i, which looks at the source; the second reads c_i. Further units read
//! nothing, further layers read the layer below. The readout is tanh of three sums, of y_{i-1}, of the last layer and
//! of c_i.
//!
//! A step stops where the first unit has looked: that is its first half.

pub mod sizes;
pub mod units;

use candle_core::{D, Tensor};

use crate::attention::{self, Attention, AttentionKind, Query, Source};
use crate::error::{Error, Result};
use crate::models::batch::{Batch, embed_previous, embed_shifted};
use crate::models::entry::{AlignmentMode, ModelEntry};
use crate::models::loss::{Hidden, Regularizer, Trainable};
use crate::models::nematus::sizes::{EncoderKind, NematusSizes, UnitPlace};
use crate::models::nematus::units::{Dense, Layer, RecurrentUnit, UnitState};
use crate::models::readable::{AlignedStep, Annotations, State, Step, TranslationModel};
use crate::models::{anatomy, fused};
use crate::models::{config::Config, config::required, header::Shapes};
use crate::nn::linear::{Parameters, affine, apply};
use crate::nn::{bidirectional::Direction, softmax::log_softmax, trace::Trace};

pub const ENTRY: ModelEntry = ModelEntry {
    name: "nematus",
    citation: "Sennrich et al. 2017, Nematus: a Toolkit for Neural Machine Translation",
    needs: &[
        "encoder_type", "encoder_unit", "encoder_layers", "encoder_cells", "decoder_unit", "decoder_layers",
        "base_cells", "high_cells", "skip", "norm", "shared_embedding", "tied_output",
    ],
    may: &[],
    shapes,
    readable: |config, all| Ok(Box::new(Nematus::new(config, all)?)),
    fused: |_| Some(fused::nematus::pack_model),
    looks: |_| attention::find("additive").map(|score| AlignmentMode { kind: AttentionKind::Global, score }),
    input_delay: Some(1),
    annotation: |config| config.nematus().map_or(0, |sizes| sizes.annotation(config.hidden)),
    one_context: |_| false,
    anatomy: Some(&anatomy::recurrent::NEMATUS),
    gain: |_| 1.0,
};

/// e_ij = v_a' tanh(W_a s'_i + U_a h_j + b_a), where W_a and U_a may be normalised.
struct NormedAdditive {
    query: Dense,
    key: Dense,
    v_a: Tensor, // [|h_j|]
    trace: Trace,
}

impl Attention for NormedAdditive {
    fn keys(&self, h: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(self.key.apply(h)?)) // [b, t_x, |h_j|]
    }

    fn energies(&self, query: &Query<'_>, source: &Source<'_>) -> Result<Tensor> {
        let query = self.query.apply(query.state)?.unsqueeze(1)?; // [rows, 1, |h_j|]
        self.trace.note("query", &query);
        let match_ij = source.keys()?.broadcast_add(&query)?.tanh()?; // [rows, t_x, |h_j|]
        Ok(apply(&self.v_a.unsqueeze(0)?, &match_ij)?.squeeze(2)?) // [rows, t_x]
    }
}

struct Readout {
    word: Dense,
    state: Dense,
    context: Dense,
}

impl Readout {
    /// t_i = tanh(y_{i-1}, s_i and c_i, each through its layer), [rows, m].
    fn t(&self, e: &Tensor, s: &Tensor, c_i: &Tensor) -> Result<Tensor> {
        Ok(((self.word.apply(e)? + self.state.apply(s)?)? + self.context.apply(c_i)?)?.tanh()?)
    }
}

/// A conditional recurrent model over candle tensors.
pub struct Nematus {
    config: Config,
    sizes: NematusSizes,
    source_embedding: Tensor, // [K_x, m]
    target_embedding: Tensor, // [K_y, m]
    forward: Vec<Layer>,
    backward: Vec<Layer>,
    top: Vec<Layer>,
    start: Dense,
    attention: NormedAdditive,
    decoder: Vec<Layer>,
    readout: Readout,
    w_o: Tensor, // [K_y, m]
    b_o: Tensor, // [K_y]
    trace: Trace,
}

struct Halfway {
    first: UnitState,
    others: Vec<UnitState>,
}

impl Nematus {
    pub fn new(config: &Config, all: &Parameters<'_>) -> Result<Self> {
        let sizes = required(config.nematus(), "a conditional recurrent model")?;
        let stack = |name: &str| -> Result<Vec<Layer>> {
            let parts = sizes.layers(config.embedding, config.hidden).into_iter().filter(|part| part.0 == name);
            parts
                .map(|(stack, l, places)| {
                    let all = all.at(stack).at(&l.to_string());
                    let unit =
                        |(k, place): (usize, UnitPlace)| RecurrentUnit::find(&all.at(&(k + 1).to_string()), place);
                    Ok(Layer(places.into_iter().enumerate().map(unit).collect::<Result<_>>()?))
                })
                .collect()
        };
        let dense = |name: &str, has_bias: bool| Dense::find(&all.at(name), sizes.norm, has_bias);
        let target_embedding = all.get(config.target_embedding())?;
        let readout = all.at("readout");
        Ok(Self {
            config: config.clone(),
            forward: stack("encoder.forward")?,
            backward: stack("encoder.backward")?,
            top: stack("encoder.top")?,
            start: dense("start", true)?,
            attention: NormedAdditive {
                query: dense("attention.query", false)?,
                key: dense("attention.key", true)?,
                v_a: all.get("attention.v_a")?,
                trace: all.at("attention").trace(),
            },
            decoder: stack("decoder")?,
            readout: Readout {
                word: dense("readout.word", true)?,
                state: dense("readout.state", true)?,
                context: dense("readout.context", true)?,
            },
            w_o: if sizes.tied_output { target_embedding.clone() } else { readout.get("W_o")? },
            b_o: readout.get("b_o")?,
            source_embedding: all.get("source_embedding")?,
            target_embedding,
            sizes,
            trace: all.trace(),
        })
    }

    fn skip(&self, is_first: bool, read: &Tensor, x: Tensor) -> Result<Tensor> {
        if self.sizes.skip && !is_first { Ok((x + read)?) } else { Ok(x) }
    }

    /// Layers one over the other, [t_x, b, ..]; `turns` from one to the next.
    fn climb(
        &self, layers: &[Layer], x: &Tensor, mask: Option<&Tensor>, backward: bool, turns: bool,
    ) -> Result<Tensor> {
        let mut x = x.clone();
        for (l, layer) in layers.iter().enumerate() {
            let is_backward = backward != (turns && l % 2 == 1);
            let direction = if is_backward { Direction::Backward } else { Direction::Forward };
            x = self.skip(l == 0, &x, layer.read(&x, mask, direction)?.0)?;
        }
        Ok(x)
    }

    fn annotate(&self, source: &Batch, regularizer: &mut Regularizer) -> Result<Annotations> {
        let e = regularizer.drop(&source.embed(&self.source_embedding)?)?; // [t_x, b, m]
        self.trace.note("e", &e);
        let mask = source.time_mask(e.dtype(), e.device())?;
        let turns = self.sizes.encoder == EncoderKind::Alternating;
        let both = [(&self.forward, false), (&self.backward, true)]
            .map(|(layers, backward)| self.climb(layers, &e, mask.as_ref(), backward, turns));
        let [forward, backward] = both;
        let (forward, backward) = (forward?, backward?);
        self.trace.note("forward", &forward);
        self.trace.note("backward", &backward);
        let h = Tensor::cat(&[forward, backward], D::Minus1)?; // [t_x, b, 2n]
        let h = self.climb(&self.top, &h, mask.as_ref(), false, false)?.transpose(0, 1)?.contiguous()?;
        let keys = self.attention.keys(&h)?;
        let mask = source.mask(e.dtype(), e.device())?; // [b, t_x]
        Ok(Annotations { h, keys, last: Vec::new(), mask, lengths: source.lengths.clone(), changes: Vec::new() })
    }

    fn tensors(states: &[UnitState]) -> Vec<Tensor> {
        states.iter().flat_map(UnitState::tensors).collect()
    }

    fn states(&self, tensors: &[Tensor]) -> Result<Vec<UnitState>> {
        match UnitState::of(self.sizes.decoder_unit, self.decoder.len(), tensors)? {
            (states, None) => Ok(states),
            _ => Err(Error::Internal(format!("{} tensors are no state of this model", tensors.len()))),
        }
    }

    /// Moves the first unit by y_{i-1}, `e` [rows, m]; e_i and alpha_i, [rows, t_x] each.
    fn first_half(&self, e: &Tensor, s_prev: &State, annotations: &Annotations) -> Result<(Halfway, Tensor, Tensor)> {
        let mut others = self.states(&s_prev.tensors)?;
        let (unit, before) = (&self.decoder[0].0[0], others.remove(0));
        let first = unit.step(e, &before)?;
        let (e_i, alignment) = self.attention.look(&first.s, s_prev.i, &annotations.source())?;
        Ok((Halfway { first, others }, e_i, alignment.alpha))
    }

    fn second_half(&self, half: Halfway, e: &Tensor, c_i: &Tensor) -> Result<(Tensor, Vec<Tensor>)> {
        let Some((base, high)) = self.decoder.split_first() else {
            return Err(Error::Internal("a decoder has no layer".into()));
        };
        let state = match base.0.get(1) {
            Some(second) => base.pass(2, second.step(c_i, &half.first)?)?,
            None => half.first,
        };
        let mut x = state.s.clone();
        let mut states = vec![state];
        for (layer, before) in high.iter().zip(&half.others) {
            let state = layer.pass(1, layer.0[0].step(&x, before)?)?;
            x = self.skip(false, &x, state.s.clone())?;
            states.push(state);
        }
        let t = self.readout.t(e, &x, c_i)?;
        self.trace.note("top", &x);
        self.trace.note("t", &t);
        Ok((t, Self::tensors(&states)))
    }
}

impl TranslationModel for Nematus {
    fn config(&self) -> &Config {
        &self.config
    }

    fn encode(&self, source: &[&[u32]]) -> Result<Annotations> {
        self.annotate(&Batch::new(source)?, &mut Regularizer::none())
    }

    /// s_0 = tanh(W mean_j h_j + b), in every layer.
    fn init_state(&self, annotations: &Annotations) -> Result<State> {
        let mask = annotations.mask.unsqueeze(2)?; // [b, t_x, 1]
        let mean = annotations.h.broadcast_mul(&mask)?.sum(1)?.broadcast_div(&mask.sum(1)?)?; // [b, |h_j|]
        let s = self.start.apply(&mean)?.tanh()?;
        let states = vec![UnitState::start(self.sizes.decoder_unit, s); self.decoder.len()];
        Ok(State { tensors: Self::tensors(&states), i: 0 })
    }

    fn seen(&self, state: &State) -> Option<Tensor> {
        self.states(&state.tensors).ok()?.pop().map(|state| state.s)
    }

    fn align(&self, y_prev: Option<&[u32]>, s_prev: &State, annotations: &Annotations) -> Result<AlignedStep> {
        let e = embed_previous(&self.target_embedding, y_prev, s_prev.tensors[0].dim(0)?)?;
        self.trace.note("e", &e);
        let (Halfway { first, others }, e_i, alpha_i) = self.first_half(&e, s_prev, annotations)?;
        self.trace.note("looks", &first.s);
        let states: Vec<UnitState> = [first].into_iter().chain(others).collect();
        let s = State { tensors: Self::tensors(&states), i: s_prev.i };
        Ok(AlignedStep { s, e_i: Some(e_i), alpha_i: Some(alpha_i), p_t: None })
    }

    fn predict(&self, y_prev: Option<&[u32]>, aligned: &AlignedStep, annotations: &Annotations) -> Result<Step> {
        let mut others = self.states(&aligned.s.tensors)?;
        let first = others.remove(0);
        let e = embed_previous(&self.target_embedding, y_prev, first.s.dim(0)?)?;
        let c_i = annotations.context(aligned.alpha()?)?; // [rows, |h_j|]
        let (t, tensors) = self.second_half(Halfway { first, others }, &e, &c_i)?;
        let log_p = log_softmax(&self.logits(&t)?)?;
        Ok(Step { s: State { tensors, i: aligned.s.i + 1 }, c_i: Some(c_i), log_p })
    }
}

impl Trainable for Nematus {
    fn last_hidden(&self, source: &Batch, target: &Batch, regularizer: &mut Regularizer) -> Result<Hidden> {
        let annotations = self.annotate(source, regularizer)?;
        let e = regularizer.drop(&embed_shifted(&self.target_embedding, target, None)?)?; // [t_y, b, m]
        let mut s = self.init_state(&annotations)?;
        let (mut hidden, mut alpha) = (Vec::new(), Vec::new());
        for i in 0..target.longest {
            let e = e.get(i)?;
            let (half, _, alpha_i) = self.first_half(&e, &s, &annotations)?;
            let c_i = annotations.context(&alpha_i)?;
            let (t, tensors) = self.second_half(half, &e, &c_i)?;
            hidden.push(t);
            alpha.push(alpha_i);
            s = State { tensors, i: i + 1 };
        }
        Ok(Hidden { rows: target.rows_of_words(&Tensor::cat(&hidden, 0)?)?, alpha })
    }

    fn logits(&self, t: &Tensor) -> Result<Tensor> {
        affine(&self.w_o, &self.b_o, t)
    }
}

/// K vocabulary, m embedding, n hidden; matrices are \[out, in\].
pub fn shapes(config: &Config) -> Shapes {
    let Some(sizes) = config.nematus() else { return Shapes::new() };
    let (m, n, c) = (config.embedding, config.hidden, sizes.annotation(config.hidden));
    let mut shapes: Shapes = vec![("source_embedding".into(), vec![config.source_vocabulary, m])];
    if !sizes.shared_embedding {
        shapes.push(("target_embedding".into(), vec![config.target_vocabulary, m]));
    }
    for (stack, l, places) in sizes.layers(m, n) {
        for (k, place) in places.into_iter().enumerate() {
            shapes.extend(place.shapes(&format!("{stack}.{l}.{}", k + 1), n));
        }
    }
    for (name, has_bias, shape) in [
        ("start", true, [n, c]),
        ("attention.query", false, [c, n]),
        ("attention.key", true, [c, c]),
        ("readout.word", true, [m, m]),
        ("readout.state", true, [m, n]),
        ("readout.context", true, [m, c]),
    ] {
        shapes.extend(Dense::shapes(name, sizes.norm, has_bias, shape));
    }
    shapes.push(("attention.v_a".into(), vec![c]));
    if !sizes.tied_output {
        shapes.push(("readout.W_o".into(), vec![config.target_vocabulary, m]));
    }
    shapes.push(("readout.b_o".into(), vec![config.target_vocabulary]));
    shapes
}
