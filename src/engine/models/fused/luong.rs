//! The models of Luong et al. 2015 on the CPU; the equations are in `models/luong.rs`. Products of a step: one for each
//! LSTM layer over [its input; its state], W_e e(y), the halves of W_c [c; h], W_s h~; general and concat multiply
//! annotations once a sentence, and so does the first half of W_c where that is less work: W c_t = sum_s alpha_t(s) W
//! h_s.

use std::sync::Arc;

use super::readout::Readout;
use super::rows::{Distinct, RowTable};
use super::sums::{Annotated, Sums};
use super::{Joining, Pack, PackedModel, Sources};
use super::{columns, gather_states, pack, readout, sized, stack};
use crate::error::{Error, Result};
use crate::models::config::{AttentionKind, Config, LuongSizes, required};
use crate::models::stepper::{StepOutput, StepRow, Stepper};
use crate::models::{checkpoint::Weights, need::Need};
use crate::nn::fused::elementwise::{sigmoid, sum, tanh_all};
use crate::nn::fused::{Onto, Packed, attention, dot, focus, lstm};
use crate::nn::{bidirectional::Direction, fused::focus::Focus, fused::scan::two_slots};

const GATES: [&str; 4] = ["i", "f", "o", "g"];

fn gates(weights: &Weights, prefix: &str, matrix: &str) -> Result<Vec<f32>> {
    let names = GATES.map(|gate| format!("{prefix}.{matrix}_{gate}"));
    stack(weights, &[&names[0], &names[1], &names[2], &names[3]])
}

#[derive(Debug)]
struct Reader {
    w: Packed,
    u: Packed,
    b: Vec<f32>,
    width: usize,
}

/// One layer of the decoder, [W; U] side by side.
#[derive(Debug)]
struct Cell {
    both: Packed,
    b: Vec<f32>,
    /// Columns of `both`: 2n, or n where nothing but the embedding is read.
    width: usize,
}

#[derive(Debug)]
enum Score {
    Dot,
    General(Packed),
    Concat { query: Packed, keys: Packed, v_a: Vec<f32> },
    Location(Packed),
}

/// A score function that has kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreKind {
    Dot,
    General,
    Concat,
    Location,
}

type Kernel = fn(n: usize, &Weights) -> Result<Score>;

/// The scores that have kernels here and in `training/fused`; others use the readable form.
const KERNELS: &[(&str, ScoreKind, Kernel)] = &[
    ("dot", ScoreKind::Dot, |_, _| Ok(Score::Dot)),
    ("general", ScoreKind::General, |n, weights| Ok(Score::General(pack(weights, &["attention.W_a"], n)?))),
    ("concat", ScoreKind::Concat, concat),
    ("location", ScoreKind::Location, |n, weights| Ok(Score::Location(pack(weights, &["attention.W_a"], n)?))),
];

fn kernel(score: &str) -> Option<Kernel> {
    KERNELS.iter().find(|(name, ..)| *name == score).map(|(.., kernel)| *kernel)
}

pub fn score_kind(score: &str) -> Option<ScoreKind> {
    KERNELS.iter().find(|(name, ..)| *name == score).map(|(_, kind, _)| *kind)
}

fn concat(n: usize, weights: &Weights) -> Result<Score> {
    let w = &weights.numbers("attention.W_a")?;
    let [query, keys] = [0, n].map(|from| Packed::compact(&columns(w, 2 * n, from, from + n), n, n));
    Ok(Score::Concat { query, keys, v_a: weights.numbers("attention.v_a")? })
}

pub fn packs(config: &Config) -> Option<Pack> {
    let sizes = config.luong()?;
    kernel(&sizes.score)?;
    Some(|config, weights| Ok(Arc::new(PackedLuong::new(config, weights)?)))
}

#[derive(Debug)]
struct Look {
    kind: AttentionKind,
    score: Score,
    /// W_p and v_p of local-p.
    place: Option<(Packed, Vec<f32>)>,
    /// The halves of W_c, for c_t and for h_t.
    w_c: [Packed; 2],
}

/// Weights packed for decoding.
#[derive(Debug)]
pub struct PackedLuong {
    config: Config,
    sizes: LuongSizes,
    source_embedding: RowTable,
    target_embedding: RowTable,
    encoder: Vec<Reader>,
    /// W_e of the first layer.
    word: Packed,
    decoder: Vec<Cell>,
    look: Option<Look>,
    w_s: Readout,
}

impl PackedLuong {
    pub fn new(config: &Config, weights: &Arc<Weights>) -> Result<Self> {
        let sizes = required(config.luong(), "luong")?;
        let (n, m) = (config.hidden, config.embedding);
        let wide = GATES.len() * n;
        let mut encoder = Vec::new();
        let mut decoder = Vec::new();
        let mut word = Packed::default();
        for layer in 0..sizes.layers {
            let prefix = format!("encoder.{layer}");
            let width = if layer == 0 { m } else { n };
            encoder.push(Reader {
                w: Packed::compact(&gates(weights, &prefix, "W")?, wide, width),
                u: Packed::compact(&gates(weights, &prefix, "U")?, wide, n),
                b: gates(weights, &prefix, "b")?,
                width,
            });
            let prefix = format!("decoder.{layer}");
            let (w, u) = (gates(weights, &prefix, "W")?, gates(weights, &prefix, "U")?);
            let columns_of_w = w.len() / wide;
            let read = if layer == 0 {
                word = Packed::compact(&columns(&w, columns_of_w, 0, m), wide, m);
                columns(&w, columns_of_w, m, columns_of_w)
            } else {
                w
            };
            let width = read.len() / wide;
            let both: Vec<f32> = (0..wide)
                .flat_map(|row| read[row * width..(row + 1) * width].iter().chain(&u[row * n..(row + 1) * n]))
                .copied()
                .collect();
            let b = gates(weights, &prefix, "b")?;
            decoder.push(Cell { both: Packed::compact(&both, wide, width + n), b, width: width + n });
        }
        Ok(Self {
            config: config.clone(),
            source_embedding: RowTable::new(weights, "source_embedding")?,
            target_embedding: RowTable::new(weights, "target_embedding")?,
            encoder,
            word,
            decoder,
            look: Look::new(&sizes, n, weights)?,
            w_s: Readout::new(weights, "W_s", None)?,
            sizes,
        })
    }
}

impl Look {
    fn new(sizes: &LuongSizes, n: usize, weights: &Weights) -> Result<Option<Self>> {
        if sizes.attention == AttentionKind::None {
            return Ok(None);
        }
        let Some(kernel) = kernel(&sizes.score) else {
            return Err(Error::Internal(format!("the score `{}` has no kernels", sizes.score)));
        };
        let score = kernel(n, weights)?;
        let w_c = &weights.numbers("W_c")?;
        let local_p = sizes.attention == AttentionKind::LocalP;
        let place = || Ok::<_, Error>((pack(weights, &["attention.W_p"], n)?, weights.numbers("attention.v_p")?));
        Ok(Some(Self {
            kind: sizes.attention,
            score,
            place: local_p.then(place).transpose()?,
            w_c: [0, n].map(|from| Packed::compact(&columns(w_c, 2 * n, from, from + n), n, n)),
        }))
    }
}

impl PackedModel for PackedLuong {
    fn stepper(self: Arc<Self>, _: &Config, threads: usize) -> Box<dyn Stepper> {
        Box::new(FusedLuong::new(self, threads))
    }
}

/// Buffers of a step, [rows, ...].
#[derive(Debug, Default)]
struct Buffers {
    parents: Distinct,
    words: Distinct,
    sentences: Vec<usize>,
    e: Vec<f32>,
    from_word: Vec<f32>,
    from_parent: Vec<f32>,
    input: Vec<f32>,
    gates: Vec<f32>,
    /// h, c of every layer, then h~: of the rows of a step; the first and the last of its parents.
    before: Vec<Vec<f32>>,
    query: Vec<f32>,
    place: Vec<f32>,
    base: Vec<f32>,
    h_tilde: Vec<f32>,
    readout: readout::Buffers,
}

/// A model of Luong et al. as a [`Stepper`].
#[derive(Debug)]
pub struct FusedLuong {
    model: Arc<PackedLuong>,
    threads: usize,
    sources: Sources,
    /// h_s [n], and what the half of W_c for c_t makes of it.
    annotated: Annotated,
    /// W_a h_s or its half, [b, t_x, n]; empty where the annotations are their own keys.
    keys: Vec<f32>,
    /// h, c of every layer, then h~, of the rows of the last step; those of the encoder at first.
    states: Vec<Vec<f32>>,
    t: usize,
    buffers: Buffers,
}

impl FusedLuong {
    pub fn new(model: Arc<PackedLuong>, threads: usize) -> Self {
        Self {
            model,
            threads: threads.max(1),
            sources: Sources::default(),
            annotated: Annotated::default(),
            keys: Vec::new(),
            states: Vec::new(),
            t: 0,
            buffers: Buffers::default(),
        }
    }

    /// One layer over all sources: x [t_x * b, width] becomes its outputs [t_x * b, n]; its last h and c are kept.
    fn read(&mut self, layer: &Reader, direction: Direction, x: &[f32]) -> Vec<f32> {
        let n = self.model.config.hidden;
        let (b, t_x, wide) = (self.sources.lengths.len(), self.sources.t_x, GATES.len() * n);
        let mut gates = vec![0.0; t_x * b * wide];
        layer.w.apply_on(self.threads, t_x * b, x, layer.width, &mut gates, wide, Onto::Row(&layer.b));
        let [mut h, mut c] = [(); 2].map(|()| vec![0.0; (t_x + 1) * b * n]);
        for t in direction.order(t_x, false) {
            let (from, to) = direction.slots(t);
            let (h, h_next) = two_slots(&mut h, from, to, b * n);
            let (c, c_next) = two_slots(&mut c, from, to, b * n);
            let gates = &mut gates[t * b * wide..(t + 1) * b * wide];
            layer.u.apply_on(self.threads, b, h, n, gates, wide, Onto::C);
            lstm::cell(n, gates, c, h, Some(&self.sources.live[t * b..(t + 1) * b]), c_next, h_next);
        }
        let last = (t_x - direction.start(t_x)) * b * n;
        self.states.push(h[last..last + b * n].to_vec());
        self.states.push(c[last..last + b * n].to_vec());
        match direction {
            Direction::Forward => h.split_off(b * n),
            Direction::Backward => {
                h.truncate(t_x * b * n);
                h
            }
        }
    }

    /// The first layer's gates for these rows: b + W_e e(y) of each word, [W; U] [h~; h] of each parent.
    fn first_gates(&mut self, rows: usize) {
        let model = &*self.model;
        let Cell { both, b, width } = &model.decoder[0];
        let (n, m, wide) = (model.config.hidden, model.config.embedding, both.columns());
        let Buffers { parents, words, e, from_word, from_parent, input, gates, before, .. } = &mut self.buffers;
        let from_word = sized(from_word, words.len() * wide);
        model.word.apply_on(self.threads, words.len(), e, m, from_word, wide, Onto::Row(b));
        let (fed, h_prev) = (&before[before.len() - 1], &before[0]);
        let input = sized(input, parents.len() * width);
        for (parent, input) in input.chunks_exact_mut(*width).enumerate() {
            let at = parent * n..(parent + 1) * n;
            let (read, state) = input.split_at_mut(width - n);
            state.copy_from_slice(&h_prev[at.clone()]);
            if !read.is_empty() {
                read.copy_from_slice(&fed[at]);
            }
        }
        let from_parent = sized(from_parent, parents.len() * wide);
        both.apply_on(self.threads, parents.len(), input, *width, from_parent, wide, Onto::Zero);
        let gates = sized(gates, rows * wide);
        for (i, gates) in gates.chunks_exact_mut(wide).enumerate() {
            let (parent, word) = (parents.of[i], words.of[i]);
            let (word, parent) = (&from_word[word * wide..][..wide], &from_parent[parent * wide..][..wide]);
            sum(word, parent, gates);
        }
    }

    fn move_on(&mut self, rows: usize) {
        self.first_gates(rows);
        let model = &*self.model;
        let n = model.config.hidden;
        let wide = GATES.len() * n;
        let Buffers { input, gates, before, .. } = &mut self.buffers;
        for (k, cell) in model.decoder.iter().enumerate() {
            let (h_prev, c_prev) = (&before[2 * k], &before[2 * k + 1]);
            let gates = sized(gates, rows * wide);
            if k > 0 {
                let input = sized(input, rows * cell.width);
                for (row, input) in input.chunks_exact_mut(cell.width).enumerate() {
                    let at = row * n..(row + 1) * n;
                    input[..n].copy_from_slice(&self.states[2 * k - 2][at.clone()]);
                    input[n..].copy_from_slice(&h_prev[at]);
                }
                cell.both.apply_on(self.threads, rows, input, cell.width, gates, wide, Onto::Row(&cell.b));
            }
            let (h, c) = self.states[2 * k..2 * k + 2].split_at_mut(1);
            h[0].resize(rows * n, 0.0);
            c[0].resize(rows * n, 0.0);
            // every row is live, so h_prev is not read
            lstm::cell(n, gates, c_prev, h_prev, None, &mut c[0], &mut h[0]);
        }
    }

    fn top(&self) -> &[f32] {
        &self.states[2 * self.model.decoder.len() - 2]
    }

    fn ask(&mut self, look: &Look, rows: usize) {
        let n = self.model.config.hidden;
        let top = &self.states[2 * self.model.decoder.len() - 2];
        if let Some((w_p, _)) = &look.place {
            let place = sized(&mut self.buffers.place, rows * n);
            w_p.apply_on(self.threads, rows, top, n, place, n, Onto::Zero);
            tanh_all(place);
        }
        if let Score::Concat { query: w, .. } | Score::Location(w) = &look.score {
            let query = sized(&mut self.buffers.query, rows * w.columns());
            w.apply_on(self.threads, rows, top, n, query, w.columns(), Onto::Zero);
        }
    }

    fn focus(&self, look: &Look, i: usize, words: usize) -> Focus {
        let (n, d) = (self.model.config.hidden, self.model.sizes.window);
        match (look.kind, &look.place) {
            (AttentionKind::LocalM, _) => Focus::window(self.t.min(words - 1) as f32, d, words, false),
            (AttentionKind::LocalP, Some((_, v_p))) => {
                let p_t = words as f32 * sigmoid(dot(v_p, &self.buffers.place[i * n..(i + 1) * n]));
                Focus::window(p_t, d, words, true)
            }
            _ if matches!(look.score, Score::Location(_)) => Focus::all(words.min(self.model.sizes.max_source)),
            _ => Focus::all(words),
        }
    }

    fn attend(&mut self, look: &Look, rows: &[StepRow], output: &mut StepOutput) {
        let (n, t_x) = (self.model.config.hidden, self.sources.t_x);
        for (i, row) in rows.iter().enumerate() {
            let words = self.sources.lengths[row.sentence];
            let focus = self.focus(look, i, words);
            let at = row.sentence * t_x * n..(row.sentence * t_x + words) * n;
            let e = &mut output.energies[i * t_x..i * t_x + words];
            let top = &self.top()[i * n..(i + 1) * n];
            match &look.score {
                Score::Dot => focus::products(top, &self.annotated.h[at], e),
                Score::General(_) => focus::products(top, &self.keys[at], e),
                Score::Concat { v_a, .. } => {
                    attention::energies(&self.buffers.query[i * n..(i + 1) * n], &self.keys[at], v_a, e);
                }
                Score::Location(w) => {
                    let known = words.min(w.columns());
                    e[..known].copy_from_slice(&self.buffers.query[i * w.columns()..i * w.columns() + known]);
                    e[known..].fill(f32::NAN);
                }
            }
            let alpha = &mut output.alpha[i * t_x..i * t_x + words];
            focus.align(e, sized(&mut self.buffers.base, words), alpha);
            if look.kind.is_local() {
                output.p_t.push(focus.p_t);
            }
        }
    }

    /// h~_t = tanh(W_c [c_t; h_t]) of every row, c_t = sum_s alpha_t(s) h_s.
    fn combine(&mut self, look: &Look, rows: &[StepRow], alpha: &[f32]) {
        let (n, t_x) = (self.model.config.hidden, self.sources.t_x);
        let [for_c, for_h] = &look.w_c;
        let top = &self.states[2 * self.model.decoder.len() - 2];
        let Buffers { sentences, h_tilde, .. } = &mut self.buffers;
        sentences.clear();
        sentences.extend(rows.iter().map(|row| row.sentence));
        let sums = Sums { threads: self.threads, t_x, lengths: &self.sources.lengths, sentences, alpha };
        let h_tilde = sized(h_tilde, rows.len() * n);
        for_h.apply_on(self.threads, rows.len(), top, n, h_tilde, n, Onto::Zero);
        self.annotated.look(&sums, rows.len(), (for_c, n), h_tilde, Onto::C);
        tanh_all(h_tilde);
    }
}

impl Stepper for FusedLuong {
    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        let model = Arc::clone(&self.model);
        let config = &model.config;
        let n = config.hidden;
        self.sources = Sources::new(sources, config.source_vocabulary)?;
        let (b, t_x) = (sources.len(), self.sources.t_x);
        let direction = if model.sizes.reverse_source { Direction::Backward } else { Direction::Forward };
        let mut x = self.sources.embed(&model.source_embedding, config.embedding)?;
        self.states.clear();
        for layer in &model.encoder {
            x = self.read(layer, direction, &x);
        }
        self.states.push(vec![0.0; b * n]); // h~_0
        self.annotated.begin(b * t_x * n);
        for (at, h) in self.annotated.h.chunks_exact_mut(n).enumerate() {
            let (row, t) = (at / t_x, at % t_x);
            h.copy_from_slice(&x[(t * b + row) * n..(t * b + row + 1) * n]);
        }
        if let Some(Score::General(w) | Score::Concat { keys: w, .. }) = model.look.as_ref().map(|look| &look.score) {
            self.keys.resize(b * t_x * n, 0.0);
            w.apply_on(self.threads, b * t_x, &self.annotated.h, n, &mut self.keys, n, Onto::Zero);
        }
        self.t = 0;
        Ok(())
    }

    fn align(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()> {
        let model = Arc::clone(&self.model);
        let (n, vocabulary) = (model.config.hidden, model.config.target_vocabulary);
        super::prepare(output, rows.len(), vocabulary, model.look.as_ref().map(|_| self.sources.t_x));
        super::check_rows(rows, self.sources.lengths.len())?;
        let Buffers { parents, words, e, before, .. } = &mut self.buffers;
        parents.parents(rows);
        words.words(rows);
        let last = self.states.len() - 1;
        before.resize_with(self.states.len(), Vec::new);
        for (k, (state, before)) in self.states.iter().zip(before).enumerate() {
            if k == 0 || k == last {
                let first = parents.first.iter().map(|row| rows[*row]);
                gather_states(first, self.t == 0, state, n, before)?;
            } else {
                gather_states(rows.iter().copied(), self.t == 0, state, n, before)?;
            }
        }
        let y_prev = words.first.iter().map(|row| Some(rows[*row].y_prev.unwrap_or(model.sizes.start)));
        model.target_embedding.gather(model.config.embedding, y_prev, e)?;
        self.move_on(rows.len());
        if let Some(look) = &model.look {
            self.ask(look, rows.len());
            self.attend(look, rows, output);
        }
        self.t += 1;
        Ok(())
    }

    fn predict(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        let model = Arc::clone(&self.model);
        output.check_aligned(rows, model.look.as_ref().map(|_| self.sources.t_x))?;
        let n = model.config.hidden;
        if let Some(look) = &model.look {
            self.combine(look, rows, &output.alpha);
        } else {
            let top = &self.states[2 * model.decoder.len() - 2];
            sized(&mut self.buffers.h_tilde, rows.len() * n).copy_from_slice(top);
        }
        let h_tilde = &self.buffers.h_tilde[..rows.len() * n];
        let fed = self.states.len() - 1;
        self.states[fed].clear();
        self.states[fed].extend_from_slice(h_tilde);
        model.w_s.answer(self.threads, h_tilde, need, &mut self.buffers.readout, output)
    }

    /// Local-m looks where its step is, and the sentences of a batch would be at different ones.
    fn joins(&self) -> bool {
        self.model.sizes.attention != AttentionKind::LocalM
    }

    fn join(&mut self, kept: &[usize], sources: &[&[u32]]) -> Result<()> {
        let mut before = std::mem::replace(self, Self::new(Arc::clone(&self.model), self.threads));
        std::mem::swap(&mut self.buffers, &mut before.buffers);
        self.begin(sources)?;
        let (model, n) = (Arc::clone(&self.model), self.model.config.hidden);
        let joining = Joining::new(&before.sources, kept, &self.sources)?;
        let for_c = model.look.as_ref().map(|look| &look.w_c[0]);
        self.annotated.join(before.annotated, &joining, self.threads, for_c, n);
        if !before.keys.is_empty() {
            self.keys = joining.numbers(&before.keys, &self.keys, n);
        }
        self.sources = joining.sources;
        for (states, new) in before.states.iter_mut().zip(&mut self.states) {
            states.append(new);
        }
        self.states = before.states;
        self.t = before.t;
        Ok(())
    }

    fn states(&self) -> Option<&[f32]> {
        Some(self.top())
    }

    fn annotations(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
        self.sources.words_of(sentence, &self.annotated.h, self.model.config.hidden)
    }
}
