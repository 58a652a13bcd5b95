//! The models of Luong, Pham and Manning 2015.
//!
//! | paper | here | shape |
//! |---|---|---|
//! | source states h_s, of the top layer | `annotations.h`, h_j of source word j | [b, t_x, n] |
//! | target state h_t, of the top layer | `h_t` | [rows, n] |
//! | aligned position p_t | `p_t`, from 0 | [rows] |
//! | attentional state h~_t | `h_tilde` | [rows, n] |
//!
//! Wiring: stacked LSTMs on both sides; the decoder starts from the encoder's last states in every layer. A step moves
//! to h_t first, aligns by it, mixes c_t, and reads the word out from h~_t = tanh(W_c [c_t; h_t]), or from h_t where
//! there is no attention. With input feeding the next step reads [e(y_t); h~_t]. With `reverse_source` the encoder
//! reads the last word first, each sentence within its own length; annotation j belongs to source word j all the same.
//!
//! Dropout, as Zaremba et al. 2015 apply it, falls in training on
//! - the embedding that layer 0 reads (not on the h~_{t-1} fed beside it),
//! - the output of layer k-1 that layer k reads,
//! - h~_t before W_s (what is fed, and what attention reads, is the h~_t and h_t that nothing was dropped from),
//!
//! and on nothing that goes from one step to the next. Encoder and decoder alike; annotations are the top
//! layer's states, not dropped.

pub mod sizes;

use candle_core::Tensor;

use crate::attention::{AlignedAnnotations, Attention, AttentionKind, Sizes, construct};
use crate::error::{Error, Result};
use crate::models::batch::{Batch, embed, embed_shifted};
use crate::models::entry::{AlignmentMode, ModelEntry};
use crate::models::loss::{Hidden, Regularizer, Trainable};
use crate::models::readable::{AlignedStep, Annotations, State, Step, TranslationModel};
use crate::models::{anatomy, fused};
use crate::models::{config::Config, config::required, header::Shapes, luong::sizes::LuongSizes};
use crate::nn::linear::{Parameters, apply};
use crate::nn::lstm::{Lstm, LstmGates, LstmState};
use crate::nn::{bidirectional::Direction, softmax::log_softmax, trace::Trace};

pub const ENTRY: ModelEntry = ModelEntry {
    name: "luong",
    citation: "Luong, Pham, Manning 2015, Effective Approaches to Attention-based Neural Machine Translation",
    needs: &["layers", "attention", "score", "input_feeding", "reverse_source", "start"],
    may: &["window", "max_source"],
    shapes,
    readable: |config, all| Ok(Box::new(Luong::new(config, all)?)),
    fused: fused::luong::packs,
    looks,
    input_delay: Some(1),
    annotation: |config| config.hidden,
    one_context: |_| false,
    anatomy: Some(&anatomy::luong::PLAN),
    gain,
};

fn looks(config: &Config) -> Option<AlignmentMode> {
    let luong = config.luong()?;
    let score = luong.entry().filter(|_| luong.attention != AttentionKind::None)?;
    Some(AlignmentMode { kind: luong.attention, score })
}

/// An LSTM halves what passes through it twice over, since i and o start at 1/2.
fn gain(name: &str) -> f64 {
    match name.rsplit('.').next().unwrap_or(name) {
        "source_embedding" | "target_embedding" => 10.0,
        "W_i" | "W_f" | "W_o" | "W_g" | "W_c" => 2.0,
        _ => 1.0,
    }
}

/// A model of Luong et al. over candle tensors.
pub struct Luong {
    config: Config,
    sizes: LuongSizes,
    source_embedding: Tensor, // [K_x, m]
    target_embedding: Tensor, // [K_y, m]
    encoder: Vec<Lstm>,
    decoder: Vec<Lstm>,
    look: Option<Look>,
    w_s: Tensor, // [K_y, n]
    trace: Trace,
}

struct Look {
    attention: Box<dyn Attention>,
    w_c: Tensor, // [n, 2n]
}

struct First {
    /// W_e and b: what reads the embedding.
    embedding: Lstm,
    fed: Option<LstmGates>,
}

struct Decoder {
    layers: Vec<LstmState>,
    /// h~_{t-1}, [rows, n]; with input feeding only.
    fed: Option<Tensor>,
    t: usize,
}

impl Luong {
    pub fn new(config: &Config, all: &Parameters<'_>) -> Result<Self> {
        let sizes = required(config.luong(), "luong")?;
        let Some(entry) = sizes.entry() else {
            return Err(Error::Internal(format!("there is no score function `{}`", sizes.score)));
        };
        let attention = construct(sizes.attention, entry, sizes.window, &all.at("attention"))?;
        let look = attention.map(|attention| Ok::<_, Error>(Look { attention, w_c: all.get("W_c")? })).transpose()?;
        Ok(Self {
            config: config.clone(),
            source_embedding: all.get("source_embedding")?,
            target_embedding: all.get("target_embedding")?,
            encoder: Lstm::stack(&all.at("encoder"), sizes.layers)?,
            decoder: Lstm::stack(&all.at("decoder"), sizes.layers)?,
            look,
            w_s: all.get("W_s")?,
            trace: all.trace(),
            sizes,
        })
    }

    fn annotate(&self, source: &Batch, regularizer: &mut Regularizer) -> Result<Annotations> {
        let direction = if self.sizes.reverse_source { Direction::Backward } else { Direction::Forward };
        let mut x = source.embed(&self.source_embedding)?; // [t_x, b, m], then [t_x, b, n]
        self.trace.note("e", &x);
        let time_mask = source.time_mask(x.dtype(), x.device())?;
        let mut last = Vec::with_capacity(2 * self.encoder.len());
        for layer in &self.encoder {
            let (states, memory) = layer.read(&regularizer.drop(&x)?, time_mask.as_ref(), direction)?;
            x = Tensor::stack(&states, 0)?;
            last.extend([memory.h, memory.c]);
        }
        let h = x.transpose(0, 1)?.contiguous()?; // [b, t_x, n]
        let keys = self.look.as_ref().map_or(Ok(None), |look| look.attention.keys(&h))?;
        let mask = source.mask(h.dtype(), h.device())?; // [b, t_x]
        Ok(Annotations { h, keys, last, mask, lengths: source.lengths.clone(), changes: Vec::new() })
    }

    /// The encoder's last states in every layer, and h~_0 = 0.
    fn start(&self, annotations: &Annotations) -> Result<State> {
        let mut tensors = annotations.last.clone();
        if self.sizes.input_feeding {
            let Some(h) = tensors.first() else {
                return Err(Error::Internal("luong was given annotations without last states".into()));
            };
            tensors.push(h.zeros_like()?.detach());
        }
        Ok(State { tensors, i: 0 })
    }

    fn first(&self) -> Result<First> {
        let Some(layer) = self.decoder.first() else {
            return Err(Error::Internal("a decoder without layers was asked for a step".into()));
        };
        if !self.sizes.input_feeding {
            return Ok(First { embedding: layer.clone(), fed: None });
        }
        let (embedding, fed) = layer.split(self.config.embedding)?;
        Ok(First { embedding, fed: Some(fed) })
    }

    /// Moves all layers to h_t. `x` = W_e e(y_{t-1}) + b, 4 x [rows, n].
    fn advance(
        &self, first: &First, x: &LstmGates, decoder: &mut Decoder, regularizer: &mut Regularizer,
    ) -> Result<()> {
        let mut x = match (&first.fed, &decoder.fed) {
            (Some(w), Some(h_tilde)) => x.plus(&w.apply(h_tilde)?)?,
            _ => x.clone(),
        };
        for (k, layer) in self.decoder.iter().enumerate() {
            if k > 0 {
                x = layer.input(&regularizer.drop(&decoder.layers[k - 1].h)?)?;
            }
            decoder.layers[k] = layer.step(&x, &decoder.layers[k])?;
        }
        Ok(())
    }

    /// e_t and alpha_t, [rows, t_x], from h_t; `None` without attention.
    fn look(&self, decoder: &Decoder, annotations: &Annotations) -> Result<Option<(Tensor, AlignedAnnotations)>> {
        let look = |look: &Look| look.attention.look(decoder.h_t(), decoder.t, &annotations.source());
        self.look.as_ref().map(look).transpose()
    }

    /// Mixes c_t and ends the step with h~_t = tanh(W_c [c_t; h_t]), or h_t without attention; gives c_t and h~_t.
    fn combine(
        &self, decoder: &mut Decoder, alpha_t: Option<&Tensor>, annotations: &Annotations,
    ) -> Result<(Option<Tensor>, Tensor)> {
        let h_t = decoder.h_t();
        let (c_t, h_tilde) = match (&self.look, alpha_t) {
            (Some(Look { w_c, .. }), Some(alpha_t)) => {
                let c_t = annotations.context(alpha_t)?; // [rows, n]
                let h_tilde = apply(w_c, &Tensor::cat(&[&c_t, h_t], 1)?)?.tanh()?; // [rows, n]
                (Some(c_t), h_tilde)
            }
            _ => (None, h_t.clone()),
        };
        self.trace.note("h_tilde", &h_tilde);
        if self.sizes.input_feeding {
            decoder.fed = Some(h_tilde.clone());
        }
        decoder.t += 1;
        Ok((c_t, h_tilde))
    }

    fn decoder(&self, state: &State) -> Result<Decoder> {
        let layers = self.decoder.len();
        let expected = 2 * layers + usize::from(self.sizes.input_feeding);
        if layers == 0 || state.tensors.len() != expected {
            let message = format!("a state of {expected} tensors was expected, not of {}", state.tensors.len());
            return Err(Error::Internal(message));
        }
        let (memories, fed) = state.tensors.split_at(2 * layers);
        Ok(Decoder {
            layers: memories.chunks(2).map(|pair| LstmState { h: pair[0].clone(), c: pair[1].clone() }).collect(),
            fed: fed.first().cloned(),
            t: state.i,
        })
    }
}

impl Decoder {
    /// The state of the top layer, [rows, n].
    fn h_t(&self) -> &Tensor {
        &self.layers[self.layers.len() - 1].h
    }

    fn state(self) -> State {
        let memories = self.layers.into_iter().flat_map(|memory| [memory.h, memory.c]);
        State { tensors: memories.chain(self.fed).collect(), i: self.t }
    }
}

impl TranslationModel for Luong {
    fn config(&self) -> &Config {
        &self.config
    }

    fn encode(&self, source: &[&[u32]]) -> Result<Annotations> {
        self.annotate(&Batch::new(source)?, &mut Regularizer::none())
    }

    fn init_state(&self, annotations: &Annotations) -> Result<State> {
        self.start(annotations)
    }

    fn seen(&self, state: &State) -> Option<Tensor> {
        self.decoder(state).ok().map(|decoder| decoder.h_t().clone())
    }

    fn align(&self, y_prev: Option<&[u32]>, s_prev: &State, annotations: &Annotations) -> Result<AlignedStep> {
        let mut decoder = self.decoder(s_prev)?;
        decoder.fed.iter().for_each(|h_tilde| self.trace.note("fed", h_tilde));
        let y_0 = vec![self.sizes.start; decoder.h_t().dim(0)?];
        let e = embed(&self.target_embedding, y_prev.unwrap_or(&y_0))?; // [rows, m]
        self.trace.note("e", &e);
        let first = self.first()?;
        self.advance(&first, &first.embedding.input(&e)?, &mut decoder, &mut Regularizer::none())?;
        let (e_i, alignment) = self.look(&decoder, annotations)?.unzip();
        let (alpha_i, p_t) = alignment.map(|alignment| (alignment.alpha, alignment.p_t)).unzip();
        Ok(AlignedStep { s: decoder.state(), e_i, alpha_i, p_t: p_t.flatten() })
    }

    fn predict(&self, _: Option<&[u32]>, aligned: &AlignedStep, annotations: &Annotations) -> Result<Step> {
        let mut decoder = self.decoder(&aligned.s)?;
        let alpha_t = self.look.as_ref().map(|_| aligned.alpha()).transpose()?;
        let (c_i, h_tilde) = self.combine(&mut decoder, alpha_t, annotations)?;
        let log_p = log_softmax(&self.logits(&h_tilde)?)?; // [rows, K_y]
        Ok(Step { s: decoder.state(), c_i, log_p })
    }
}

impl Trainable for Luong {
    fn last_hidden(&self, source: &Batch, target: &Batch, regularizer: &mut Regularizer) -> Result<Hidden> {
        let annotations = self.annotate(source, regularizer)?;
        let e = embed_shifted(&self.target_embedding, target, Some(self.sizes.start))?; // [t_y, b, m]
        let first = self.first()?;
        let x = first.embedding.input(&regularizer.drop(&e)?)?.positions()?; // t_y times 4 x [b, n]
        let mut decoder = self.decoder(&self.start(&annotations)?)?;
        let (mut hidden, mut alpha) = (Vec::with_capacity(target.longest), Vec::new());
        for t in 0..target.longest {
            self.advance(&first, &x[t], &mut decoder, regularizer)?;
            let alignment = self.look(&decoder, &annotations)?.map(|(_, alignment)| alignment.alpha);
            hidden.push(self.combine(&mut decoder, alignment.as_ref(), &annotations)?.1);
            alpha.extend(alignment);
        }
        // [t_y * b, n] to [words, n]
        Ok(Hidden { rows: target.rows_of_words(&Tensor::cat(&hidden, 0)?)?, alpha })
    }

    fn logits(&self, h_tilde: &Tensor) -> Result<Tensor> {
        apply(&self.w_s, h_tilde)
    }
}

/// K vocabulary, m embedding, n hidden; a layer has the gates i, f, o and the proposal g.
pub fn shapes(config: &Config) -> Shapes {
    let (m, n) = (config.embedding, config.hidden);
    let mut shapes = Shapes::new();
    let Some(luong) = config.luong() else { return shapes };
    let mut add = |name: &str, shape: &[usize]| shapes.push((name.to_owned(), shape.to_vec()));
    add("source_embedding", &[config.source_vocabulary, m]);
    add("target_embedding", &[config.target_vocabulary, m]);
    for side in ["encoder", "decoder"] {
        for layer in 0..luong.layers {
            let fed = if side == "decoder" && luong.input_feeding { n } else { 0 };
            let width = if layer == 0 { m + fed } else { n };
            for gate in ["i", "f", "o", "g"] {
                add(&format!("{side}.{layer}.W_{gate}"), &[n, width]);
                add(&format!("{side}.{layer}.U_{gate}"), &[n, n]);
                add(&format!("{side}.{layer}.b_{gate}"), &[n]);
            }
        }
    }
    if let Some(entry) = luong.entry().filter(|_| config.aligns()) {
        let sizes = Sizes { query: n, annotation: n, units: 0, max_source: luong.max_source };
        for (name, shape) in crate::attention::shapes(luong.attention, entry, &sizes) {
            add(&format!("attention.{name}"), &shape);
        }
        add("W_c", &[n, 2 * n]);
    }
    add("W_s", &[config.target_vocabulary, n]);
    shapes
}
