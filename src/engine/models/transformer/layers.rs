//! The layers of the Transformer, section 3.1 to 3.3 of Vaswani et al. 2017.

use candle_core::{D, Tensor};

use crate::error::{Error, Result};
use crate::models::transformer::sizes::{Activation, TransformerSizes};
use crate::nn::linear::{Parameters, RoundingMatrix};
use crate::nn::{gru::sigmoid, softmax::masked, trace::Trace};

/// What all layers have in common.
#[derive(Clone, Copy, Debug)]
pub struct LayerSetting {
    heads: usize,
    norm_first: bool,
    epsilon: f64,
    activation: Activation,
}

impl LayerSetting {
    pub fn of(sizes: &TransformerSizes) -> Self {
        let TransformerSizes { heads, norm_first, norm_epsilon: epsilon, activation, .. } = *sizes;
        Self { heads, norm_first, epsilon, activation }
    }
}

/// Layer normalisation: g (x - mean) / sqrt(variance + epsilon) + b.
pub struct LayerNorm {
    g: Tensor, // [d]
    b: Tensor, // [d]
    epsilon: f64,
}

impl LayerNorm {
    pub fn find(all: &Parameters<'_>, setting: LayerSetting) -> Result<Self> {
        Ok(Self { g: all.get("g")?, b: all.get("b")?, epsilon: setting.epsilon })
    }

    pub fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let x = x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)?;
        let variance = x.sqr()?.mean_keepdim(D::Minus1)?;
        let x = x.broadcast_div(&(variance + self.epsilon)?.sqrt()?)?;
        Ok(x.broadcast_mul(&self.g)?.broadcast_add(&self.b)?)
    }
}

struct Around {
    norm: LayerNorm,
    first: bool,
}

impl Around {
    fn find(all: &Parameters<'_>, setting: LayerSetting) -> Result<Self> {
        Ok(Self { norm: LayerNorm::find(&all.at("norm"), setting)?, first: setting.norm_first })
    }

    fn input(&self, x: &Tensor) -> Result<Tensor> {
        if self.first { self.norm.apply(x) } else { Ok(x.clone()) }
    }

    fn add(&self, x: &Tensor, made: &Tensor) -> Result<Tensor> {
        let sum = (x + made)?;
        if self.first { Ok(sum) } else { self.norm.apply(&sum) }
    }
}

/// Multi-head attention, section 3.2.2.
pub struct MultiHeadAttention {
    w: [RoundingMatrix; 4], // q, k, v, o: [d, d]
    b: [Tensor; 4],         // [d]
    around: Around,
    heads: usize,
    trace: Trace,
}

impl MultiHeadAttention {
    fn find(all: &Parameters<'_>, setting: LayerSetting) -> Result<Self> {
        let w = |which: &str| all.matrix(&format!("W_{which}"));
        let b = |which: &str| all.get(&format!("b_{which}"));
        let (w, b) = ([w("q")?, w("k")?, w("v")?, w("o")?], [b("q")?, b("k")?, b("v")?, b("o")?]);
        let around = Around::find(all, setting)?;
        Ok(Self { w, b, around, heads: setting.heads, trace: all.trace() })
    }

    fn project(&self, n: usize, x: &Tensor) -> Result<Tensor> {
        self.w[n].affine(&self.b[n], x)
    }

    /// K and V of words, side by side: [b, t, d] gives [b, t, 2d].
    pub fn keys_and_values(&self, h: &Tensor) -> Result<Tensor> {
        Ok(Tensor::cat(&[self.project(1, h)?, self.project(2, h)?], D::Minus1)?)
    }

    /// q_i [rows, d] and e_ij = q_i' k_j / sqrt(d_k) [rows, heads, t], of `x` [rows, d] and keys [b, heads, t, d_k].
    pub fn energies(&self, x: &Tensor, keys: &Tensor) -> Result<(Tensor, Tensor)> {
        let q = self.project(0, &self.around.input(x)?)?; // [rows, d]
        let split = heads_of(&q.unsqueeze(1)?, self.heads)?; // [rows, heads, 1, d_k]
        let e = (split.broadcast_matmul(&keys.t()?)? * scale(keys)?)?.squeeze(2)?;
        Ok((q, e))
    }

    /// The sublayer's end: x and what W_o makes of the heads' sums, [rows, d].
    pub fn add(&self, x: &Tensor, c: &Tensor) -> Result<Tensor> {
        self.around.add(x, &self.project(3, c)?)
    }

    /// Words that look at each other, [b, t, d]; `mask` [b, t]; `gate` as in [`gated`].
    fn within(&self, x: &Tensor, mask: &Tensor, gate: Option<&Tensor>) -> Result<Tensor> {
        let input = self.around.input(x)?;
        let projected = |(n, name): (usize, &str)| {
            let x = self.project(n, &input)?;
            self.trace.note(name, &x);
            heads_of(&x, self.heads)
        };
        let [q, k, v] = [(0, "q"), (1, "k"), (2, "v")].map(projected);
        let (q, k) = (q?, k?);
        let e = (q.matmul(&k.t()?)? * scale(&k)?)?; // [b, heads, t, t]
        let weights = masked(&e, &mask.unsqueeze(1)?.unsqueeze(1)?)?;
        self.trace.note("alpha", &weights);
        self.add(x, &together(&gated(&weights.matmul(&v?)?, gate)?)?)
    }

    /// The newest words [rows, d] look at themselves and those before (`known` K and V); new K and V go to `states`.
    fn back(&self, x: &Tensor, gate: Option<&Tensor>, known: &[Tensor], states: &mut Vec<Tensor>) -> Result<Tensor> {
        let input = self.around.input(x)?;
        let grown = |n: usize| {
            let new = self.project(n, &input)?.unsqueeze(1)?; // [rows, 1, d]
            Ok::<_, Error>(if let Some(known) = known.get(n - 1) { Tensor::cat(&[known, &new], 1)? } else { new })
        };
        let (k, v) = (grown(1)?, grown(2)?);
        let q = heads_of(&self.project(0, &input)?.unsqueeze(1)?, self.heads)?; // [rows, heads, 1, d_k]
        let keys = heads_of(&k, self.heads)?;
        let e = (q.matmul(&keys.t()?)? * scale(&keys)?)?; // [rows, heads, 1, i + 1]
        let exp = e.broadcast_sub(&e.max_keepdim(D::Minus1)?)?.exp()?;
        let weights = exp.broadcast_div(&exp.sum_keepdim(D::Minus1)?)?;
        self.trace.note("alpha", &weights);
        let c = together(&gated(&weights.matmul(&heads_of(&v, self.heads)?)?, gate)?)?.squeeze(1)?; // [rows, d]
        states.extend([k, v]);
        self.add(x, &c)
    }
}

fn scale(keys: &Tensor) -> Result<f64> {
    Ok(1.0 / (keys.dim(D::Minus1)? as f64).sqrt())
}

/// The heads' sums of values [rows, heads, t, d_k] times `gate` [rows or 1, heads, 1, 1], 0 for heads left out.
pub fn gated(sums: &Tensor, gate: Option<&Tensor>) -> Result<Tensor> {
    Ok(gate.map_or(Ok(sums.clone()), |gate| sums.broadcast_mul(gate))?)
}

/// [b, t, d] as [b, heads, t, d / heads].
pub fn heads_of(x: &Tensor, heads: usize) -> Result<Tensor> {
    let (b, t, d) = x.dims3()?;
    Ok(x.reshape((b, t, heads, d / heads))?.transpose(1, 2)?.contiguous()?)
}

/// [b, heads, t, d_k] as [b, t, d].
pub fn together(x: &Tensor) -> Result<Tensor> {
    Ok(x.transpose(1, 2)?.contiguous()?.flatten_from(2)?)
}

/// W_2 f(W_1 x + b_1) + b_2, section 3.3.
struct Feed {
    w_1: RoundingMatrix, // [d_ff, d]
    b_1: Tensor,         // [d_ff]
    w_2: RoundingMatrix, // [d, d_ff]
    b_2: Tensor,         // [d]
    activation: Activation,
    around: Around,
}

impl Feed {
    fn find(all: &Parameters<'_>, setting: LayerSetting) -> Result<Self> {
        Ok(Self {
            w_1: all.matrix("W_1")?,
            b_1: all.get("b_1")?,
            w_2: all.matrix("W_2")?,
            b_2: all.get("b_2")?,
            activation: setting.activation,
            around: Around::find(all, setting)?,
        })
    }

    fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let inner = self.w_1.affine(&self.b_1, &self.around.input(x)?)?;
        let inner = match self.activation {
            Activation::Relu => inner.relu()?,
            Activation::Swish => inner.silu()?,
            Activation::Gelu => inner.gelu_erf()?,
        };
        self.around.add(x, &self.w_2.affine(&self.b_2, &inner)?)
    }
}

/// A layer of the encoder.
pub struct EncoderBlock {
    attention: MultiHeadAttention,
    feed: Feed,
}

impl EncoderBlock {
    pub fn find(all: &Parameters<'_>, setting: LayerSetting) -> Result<Self> {
        Ok(Self {
            attention: MultiHeadAttention::find(&all.at("self"), setting)?,
            feed: Feed::find(&all.at("feed"), setting)?,
        })
    }

    /// [b, t_x, d] to the same; `mask` [b, t_x].
    pub fn read(&self, x: &Tensor, mask: &Tensor, gate: Option<&Tensor>) -> Result<Tensor> {
        self.feed.apply(&self.attention.within(x, mask, gate)?)
    }
}

enum Back {
    Attention(MultiHeadAttention),
    Ssru {
        w: RoundingMatrix,   // [d, d]
        w_f: RoundingMatrix, // [d, d]
        b_f: Tensor,         // [d]
        around: Around,
    },
}

/// A layer of the decoder.
pub struct DecoderBlock {
    back: Back,
    pub cross: MultiHeadAttention,
    feed: Feed,
}

impl DecoderBlock {
    pub fn find(all: &Parameters<'_>, setting: LayerSetting, has_cell: bool) -> Result<Self> {
        let back = if has_cell {
            let all = all.at("ssru");
            let around = Around::find(&all, setting)?;
            Back::Ssru { w: all.matrix("W")?, w_f: all.matrix("W_f")?, b_f: all.get("b_f")?, around }
        } else {
            Back::Attention(MultiHeadAttention::find(&all.at("self"), setting)?)
        };
        Ok(Self {
            back,
            cross: MultiHeadAttention::find(&all.at("cross"), setting)?,
            feed: Feed::find(&all.at("feed"), setting)?,
        })
    }

    /// The first sublayer, [rows, d], from the states of the step before; the new ones go behind `states`.
    pub fn look_back(
        &self, x: &Tensor, gate: Option<&Tensor>, known: &[Tensor], states: &mut Vec<Tensor>,
    ) -> Result<Tensor> {
        let (w, w_f, b_f, around) = match &self.back {
            Back::Attention(attention) => return attention.back(x, gate, known, states),
            Back::Ssru { w, w_f, b_f, around } => (w, w_f, b_f, around),
        };
        let input = around.input(x)?;
        let f = sigmoid(&w_f.affine(b_f, &input)?)?; // f_t
        // c_t = f_t c_{t-1} + (1 - f_t) W x_t, c_{-1} = 0
        let mut c = ((1.0 - &f)? * w.apply(&input)?)?;
        if let Some(before) = known.first() {
            c = (c + (&f * before)?)?;
        }
        let x = around.add(x, &c.relu()?)?;
        states.push(c);
        Ok(x)
    }

    pub fn feed(&self, x: &Tensor) -> Result<Tensor> {
        self.feed.apply(x)
    }
}
