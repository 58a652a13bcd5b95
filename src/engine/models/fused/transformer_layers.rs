//! The layers of the Transformer on the CPU; the equations stand in `models/transformer/layers.rs`.

use std::sync::Arc;

use super::sized;
use crate::error::Result;
use crate::models::transformer::sizes::{Activation, DecoderCell, TransformerSizes};
use crate::models::{checkpoint::Weights, config::Config, stored::IntegerMatrix};
use crate::nn::fused::elementwise::{add, softmax};
use crate::nn::fused::integers::{PackedIntegers, Rounding};
use crate::nn::fused::{Onto, Packed, heads, team};

/// Numbers of a feed-forward layer that one more thread is worth.
const WORTHWHILE: usize = 1 << 14;
/// Numbers between the rows of an inner layer.
const ROW_GAP: usize = 16;

/// Numbers of whole rows that a thread gets at a time: all of them where there are few.
fn piece(threads: usize, rows: usize, width: usize) -> usize {
    let threads = if rows * width > WORTHWHILE { threads.max(1) } else { 1 };
    (rows.div_ceil(threads) * width).max(1)
}

/// Buffers of a layer, [rows, ..].
#[derive(Debug, Default)]
pub struct LayerBuffers {
    input: Vec<f32>,
    q: Vec<f32>,
    pub c: Vec<f32>,
    inner: Vec<f32>,
    made: Vec<f32>,
    /// The rows of each sentence where they are its words; none where each row is a step of its own.
    pub together: Vec<usize>,
}

#[derive(Debug)]
struct Affine {
    w: AffineWeight,
    b: Vec<f32>,
}

#[derive(Debug)]
enum AffineWeight {
    Float(Arc<Packed>),
    Integers(Vec<(Arc<PackedIntegers>, Rounding)>),
}

impl AffineWeight {
    fn new(weights: &Weights, names: &[&str], width: usize) -> Result<Self> {
        let integers = names.iter().map(|name| weights.integers(name)).collect::<Result<Option<Vec<_>>>>()?;
        let Some(integers) = integers else {
            let w = super::stack(weights, names)?;
            let pack = Arc::new(Packed::rounded(&w, w.len() / width, width));
            if !pack.is_rounded() {
                weights.hand_over(names.iter().copied(), &pack);
            }
            return Ok(Self::Float(pack));
        };
        let mut parts = Vec::new();
        let (mut names, mut left) = (names, integers.as_slice());
        while let [IntegerMatrix { rounding, .. }, ..] = left {
            let count = left.iter().take_while(|matrix| matrix.rounding == *rounding).count();
            let (own, others) = left.split_at(count);
            let matrices: Vec<(&[i8], f32)> = own.iter().map(|matrix| (&*matrix.q, matrix.multiplier)).collect();
            let pack = Arc::new(PackedIntegers::new(&matrices, width));
            weights.hand_over_integers(names[..count].iter().copied(), &pack, *rounding);
            parts.push((pack, *rounding));
            (names, left) = (&names[count..], others);
        }
        Ok(Self::Integers(parts))
    }
}

impl Affine {
    fn new(weights: &Weights, names: &[(String, String)], width: usize) -> Result<Self> {
        let matrices: Vec<&str> = names.iter().map(|(matrix, _)| matrix.as_str()).collect();
        let mut b = Vec::new();
        for (matrix, bias) in names {
            if bias.is_empty() {
                b.resize(b.len() + weights.rows(matrix)?.count, 0.0);
            } else {
                weights.append(bias, &mut b)?;
            }
        }
        Ok(Self { w: AffineWeight::new(weights, &matrices, width)?, b })
    }

    fn apply(&self, threads: usize, rows: usize, x: &[f32], out: &mut [f32], together: &[usize]) {
        let [from, to] = [x.len(), out.len()].map(|length| length / rows.max(1));
        let parts = match &self.w {
            AffineWeight::Float(w) => return w.apply_on(threads, rows, x, from, out, to, Onto::Row(&self.b)),
            AffineWeight::Integers(parts) => parts,
        };
        let mut first = 0;
        for (w, rounding) in parts {
            let x = w.round(threads, *rounding, x, rows, from, together);
            let columns = first..first + w.columns();
            w.apply(threads, &x, &self.b[columns.clone()], &mut out[first..], to);
            first = columns.end;
        }
    }

    fn columns(&self) -> usize {
        self.b.len()
    }
}

/// Layer normalisation.
#[derive(Clone, Debug)]
pub struct FusedNorm {
    g: Vec<f32>,
    b: Vec<f32>,
    epsilon: f32,
}

impl FusedNorm {
    pub fn new(weights: &Weights, name: &str, sizes: &TransformerSizes) -> Result<Self> {
        let get = |part: &str| weights.numbers(&format!("{name}.{part}"));
        Ok(Self { g: get("g")?, b: get("b")?, epsilon: sizes.norm_epsilon as f32 })
    }

    pub fn apply(&self, threads: usize, x: &mut [f32]) {
        let some = piece(threads, x.len() / self.g.len().max(1), self.g.len());
        team::chunks(threads, x, some, &|_, rows| heads::norm(rows, &self.g, &self.b, self.epsilon));
    }
}

#[derive(Debug)]
struct Around {
    norm: FusedNorm,
    first: bool,
}

impl Around {
    fn new(weights: &Weights, name: &str, sizes: &TransformerSizes) -> Result<Self> {
        Ok(Self { norm: FusedNorm::new(weights, &format!("{name}.norm"), sizes)?, first: sizes.norm_first })
    }

    fn input<'a>(&self, threads: usize, x: &'a [f32], buffer: &'a mut Vec<f32>) -> &'a [f32] {
        if !self.first {
            return x;
        }
        buffer.clear();
        buffer.extend_from_slice(x);
        self.norm.apply(threads, buffer);
        buffer
    }

    fn add(&self, threads: usize, x: &mut [f32], made: &[f32]) {
        let FusedNorm { g, b, epsilon } = &self.norm;
        let some = piece(threads, x.len() / g.len().max(1), g.len());
        team::chunks(threads, x, some, &|part, x| {
            add(&made[part * some..][..x.len()], x);
            if !self.first {
                heads::norm(x, g, b, *epsilon);
            }
        });
    }
}

/// Multi-head attention.
#[derive(Debug)]
pub struct FusedAttention {
    /// q, K and V side by side (self-attention), or q alone.
    q: Affine,
    keys: Option<Affine>,
    out: Affine,
    around: Around,
    heads: usize,
    scale: f32,
}

impl FusedAttention {
    fn new(weights: &Weights, config: &Config, sizes: &TransformerSizes, name: &str, is_cross: bool) -> Result<Self> {
        let d = config.hidden;
        let of = |which: &[&str]| {
            let names: Vec<_> = which.iter().map(|w| (format!("{name}.W_{w}"), format!("{name}.b_{w}"))).collect();
            Affine::new(weights, &names, d)
        };
        Ok(Self {
            q: if is_cross { of(&["q"])? } else { of(&["q", "k", "v"])? },
            keys: is_cross.then(|| of(&["k", "v"])).transpose()?,
            out: of(&["o"])?,
            around: Around::new(weights, name, sizes)?,
            heads: sizes.heads,
            scale: 1.0 / ((d / sizes.heads) as f32).sqrt(),
        })
    }

    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// K and V of the annotations `h` [words, d] of sentences of these lengths side by side, [words, 2d].
    pub fn keys_and_values(&self, threads: usize, h: &[f32], out: &mut [f32], lengths: &[usize]) {
        if let Some(keys) = &self.keys {
            keys.apply(threads, out.len() / keys.columns(), h, out, lengths);
        }
    }

    /// q of x [rows, d], or q, K and V side by side.
    pub fn queries<'a>(&self, threads: usize, x: &[f32], sheet: &'a mut LayerBuffers) -> &'a [f32] {
        let rows = x.len() / self.out.columns();
        let q = sized(&mut sheet.q, rows * self.q.columns());
        self.q.apply(threads, rows, self.around.input(threads, x, &mut sheet.input), q, &sheet.together);
        q
    }

    /// The end of the sublayer: x [rows, d] and what W_o makes of `sheet.c`.
    pub fn add(&self, threads: usize, rows: usize, x: &mut [f32], sheet: &mut LayerBuffers) {
        let made = sized(&mut sheet.made, x.len());
        self.out.apply(threads, rows, &sheet.c[..x.len()], made, &sheet.together);
        self.around.add(threads, x, made);
    }

    /// The weights of all heads of one row over the keys that begin at `at`, [heads, at.len()].
    fn weights(&self, q: &[f32], store: &[f32], at: &[usize]) -> Vec<f32> {
        let mut e = vec![0.0; self.heads * at.len()];
        heads::energies(q, store, at, self.heads, self.scale, &mut e);
        e.chunks_exact_mut(at.len()).for_each(|head| _ = softmax(head));
        e
    }

    fn mix(&self, weights: &[f32], store: &[f32], at: &[usize], left_out: &[usize], c: &mut [f32]) {
        heads::mix(weights, store, at, c.len(), self.heads, c);
        silence(c, self.heads, left_out);
    }
}

pub fn silence(c: &mut [f32], heads: usize, left_out: &[usize]) {
    let width = c.len() / heads;
    for head in left_out {
        c[(head - 1) * width..head * width].fill(0.0);
    }
}

/// W_2 f(W_1 x + b_1) + b_2.
#[derive(Debug)]
pub struct FusedFeed {
    first: Affine,
    second: Affine,
    activation: Activation,
    around: Around,
}

impl FusedFeed {
    fn new(weights: &Weights, config: &Config, sizes: &TransformerSizes, name: &str, inner: usize) -> Result<Self> {
        let of =
            |n: usize, width: usize| Affine::new(weights, &[(format!("{name}.W_{n}"), format!("{name}.b_{n}"))], width);
        Ok(Self {
            first: of(1, config.hidden)?,
            second: of(2, inner)?,
            activation: sizes.activation,
            around: Around::new(weights, name, sizes)?,
        })
    }

    pub fn apply(&self, threads: usize, rows: usize, x: &mut [f32], sheet: &mut LayerBuffers) {
        // a line of a cache between rows, or those of a power of two would push each other out
        let inner = sized(&mut sheet.inner, rows * (self.first.columns() + ROW_GAP));
        let input = self.around.input(threads, x, &mut sheet.input);
        self.first.apply(threads, rows, input, inner, &sheet.together);
        let some = piece(threads, inner.len(), 1);
        let activation = match self.activation {
            Activation::Relu => heads::relu,
            Activation::Swish => heads::swish,
            Activation::Gelu => heads::gelu,
        };
        team::chunks(threads, inner, some, &|_, part| activation(part));
        let made = sized(&mut sheet.made, x.len());
        self.second.apply(threads, rows, inner, made, &sheet.together);
        self.around.add(threads, x, made);
    }
}

/// A layer of the encoder.
#[derive(Debug)]
pub struct FusedEncoderLayer {
    attention: FusedAttention,
    feed: FusedFeed,
}

impl FusedEncoderLayer {
    pub fn new(weights: &Arc<Weights>, config: &Config, sizes: &TransformerSizes, l: usize) -> Result<Self> {
        let name = |part: &str| format!("encoder.{l}.{part}");
        Ok(Self {
            attention: FusedAttention::new(weights, config, sizes, &name("self"), false)?,
            feed: FusedFeed::new(weights, config, sizes, &name("feed"), sizes.feed_forward)?,
        })
    }

    /// x [words of all sentences, d] in place; `left_out`: heads left out by sentence; `seen` collects [heads, t_x] a
    /// word.
    pub fn read(
        &self, threads: usize, lengths: &[usize], left_out: &[Vec<usize>], x: &mut [f32], sheet: &mut LayerBuffers,
        seen: Option<&mut Vec<Vec<f32>>>,
    ) {
        let words: usize = lengths.iter().sum();
        let d = x.len() / words.max(1);
        self.attention.queries(threads, x, sheet);
        let LayerBuffers { q, c, .. } = sheet;
        let (q, c) = (&q[..words * 3 * d], sized(c, words * d));
        // where the words of each sentence have their keys, and which sentence each word is of
        let (mut keys, mut of) = (Vec::new(), Vec::with_capacity(words));
        for (n, length) in lengths.iter().enumerate() {
            keys.push((of.len()..of.len() + length).map(|word| word * 3 * d + d).collect::<Vec<_>>());
            of.resize(of.len() + length, n);
        }
        let weights = |word: usize| self.attention.weights(&q[word * 3 * d..][..d], q, &keys[of[word]]);
        if let Some(seen) = seen {
            seen.extend((0..words).map(weights));
        }
        team::chunks(threads, c, d, &|word, c| {
            let left_out = left_out.get(of[word]).map_or(&[][..], Vec::as_slice);
            self.attention.mix(&weights(word), q, &keys[of[word]], left_out, c);
        });
        self.attention.add(threads, words, x, sheet);
        self.feed.apply(threads, words, x, sheet);
    }
}

#[derive(Debug)]
enum Back {
    Attention(FusedAttention),
    /// \[W; W_f\] of an SSRU, with its bias.
    Ssru(Affine, Around),
}

/// A layer of the decoder.
#[derive(Debug)]
pub struct FusedDecoderLayer {
    back: Back,
    pub cross: FusedAttention,
    pub feed: FusedFeed,
}

impl FusedDecoderLayer {
    pub fn new(weights: &Arc<Weights>, config: &Config, sizes: &TransformerSizes, l: usize) -> Result<Self> {
        let name = |part: &str| format!("decoder.{l}.{part}");
        let back = match sizes.cell {
            DecoderCell::SelfAttention => {
                Back::Attention(FusedAttention::new(weights, config, sizes, &name("self"), false)?)
            }
            DecoderCell::Ssru => {
                let names = [(name("ssru.W"), String::new()), (name("ssru.W_f"), name("ssru.b_f"))];
                let around = Around::new(weights, &name("ssru"), sizes)?;
                Back::Ssru(Affine::new(weights, &names, config.hidden)?, around)
            }
        };
        Ok(Self {
            back,
            cross: FusedAttention::new(weights, config, sizes, &name("cross"), true)?,
            feed: FusedFeed::new(weights, config, sizes, &name("feed"), sizes.decoder_feed_forward)?,
        })
    }

    pub fn width(&self) -> usize {
        match &self.back {
            Back::Attention(attention) => 2 * attention.out.columns(),
            Back::Ssru(cell, _) => cell.columns() / 2,
        }
    }

    /// The first sublayer, x [rows, d] in place: each row reads the rows of `store` on its path and writes the last.
    /// `left_out` are each row's heads left out; `looked` becomes the weights, [rows, heads, the longest path].
    pub fn look_back(
        &self, threads: usize, (paths, left_out): (&[Vec<usize>], &[Vec<usize>]),
        (store, looked): (&mut [f32], &mut Vec<f32>), x: &mut [f32], sheet: &mut LayerBuffers,
    ) {
        let (rows, width) = (paths.len(), self.width());
        let place = |path: &[usize]| path.last().map_or(0, |last| last * width);
        match &self.back {
            Back::Attention(attention) => {
                let d = width / 2;
                attention.queries(threads, x, sheet);
                let LayerBuffers { q, c, .. } = sheet;
                let (q, c) = (&q[..rows * 3 * d], sized(c, rows * d));
                for (path, q) in paths.iter().zip(q.chunks_exact(3 * d)) {
                    store[place(path)..][..width].copy_from_slice(&q[d..]);
                }
                let store = &*store;
                let longest = paths.iter().map(Vec::len).max().unwrap_or(0);
                looked.clear();
                looked.resize(rows * attention.heads * longest, 0.0);
                let shown = looked.chunks_exact_mut((attention.heads * longest).max(1));
                let mut both: Vec<(&mut [f32], &mut [f32])> = c.chunks_exact_mut(d).zip(shown).collect();
                team::each(threads.min(rows), &mut both, &|r, (c, shown)| {
                    let at: Vec<usize> = paths[r].iter().map(|place| place * width).collect();
                    let weights = attention.weights(&q[r * 3 * d..][..d], store, &at);
                    for (shown, head) in shown.chunks_exact_mut(longest).zip(weights.chunks_exact(at.len())) {
                        shown[..at.len()].copy_from_slice(head);
                    }
                    attention.mix(&weights, store, &at, left_out.get(r).map_or(&[], Vec::as_slice), c);
                });
                attention.add(threads, rows, x, sheet);
            }
            Back::Ssru(cell, around) => {
                let d = width;
                let LayerBuffers { input, q, made, together, .. } = sheet;
                let (q, made) = (sized(q, rows * 2 * d), sized(made, rows * d));
                cell.apply(threads, rows, around.input(threads, x, input), q, together);
                for ((path, q), made) in paths.iter().zip(q.chunks_exact(2 * d)).zip(made.chunks_exact_mut(d)) {
                    let before = path.len().checked_sub(2).map(|last| path[last] * d);
                    let before = before.map(|from| store[from..from + d].to_vec()).unwrap_or_default();
                    let c = &mut store[place(path)..][..d];
                    heads::ssru(&q[..d], &q[d..], &before, c);
                    made.copy_from_slice(c);
                }
                heads::relu(made);
                around.add(threads, x, made);
            }
        }
    }
}
