//! RNNsearch on the CPU; the equations are in `models/rnn_search.rs`. Five products a step: [W_a; U_z; U_r; U_o] s for
//! each state that is extended, [W; V_o] e(y) for each word that is followed, [C; C_o] c, U (r o s), W_o t. Since
//! [C; C_o] c_i = sum_j alpha_ij [C; C_o] h_j, the third is computed once a sentence where that is less work.

use std::sync::Arc;

use super::rows::{Distinct, RowTable};
use super::sums::{Annotated, Sums};
use super::{Joining, PackedModel, Sources};
use super::{gated::Encoder, gather_states, pack, readout, readout::Readout, sized, stack, stack_gates};
use crate::error::Result;
use crate::models::stepper::{StepOutput, StepRow, Stepper};
use crate::models::{checkpoint::Weights, config::Config, need::Need};
use crate::nn::fused::elementwise::{add, softmax, sum, tanh_all};
use crate::nn::fused::{Onto, Packed, attention, gru, output, team};
use crate::nn::{bidirectional::Direction, fused::gru::Sense};

/// Hyperbolic tangents that one more thread is worth.
const WORTHWHILE: usize = 1 << 13;

/// Weights packed for decoding.
#[derive(Debug)]
pub struct PackedRnnSearch {
    config: Config,
    source_embedding: RowTable,
    target_embedding: RowTable,
    forward: Encoder,
    backward: Encoder,
    u_a: Packed,
    b_a: Vec<f32>,
    v_a: Vec<f32>,
    w_s: Packed,
    b_s: Vec<f32>,
    /// [W_a; U_z; U_r; U_o], n -> n' + 2n + 2l
    state: Packed,
    /// [W_z; W_r; W; V_o], m -> 3n + 2l, with its bias
    word: Packed,
    bias: Vec<f32>,
    context: Packed,
    u: Packed,
    w_o: Readout,
}

pub fn pack_model(config: &Config, weights: &Arc<Weights>) -> Result<Arc<dyn PackedModel>> {
    let (n, m) = (config.hidden, config.embedding);
    let data = |name: &str| weights.numbers(name);
    let w = super::gates("decoder", "W");
    let c = super::gates("decoder", "C");
    let mut bias = stack_gates(weights, "decoder", "b")?;
    bias.extend(stack(weights, &["readout.b_o"])?);
    Ok(Arc::new(PackedRnnSearch {
        config: config.clone(),
        source_embedding: RowTable::new(weights, "source_embedding")?,
        target_embedding: RowTable::new(weights, "target_embedding")?,
        forward: Encoder::new(config, weights, "encoder.forward", (Sense::New, Direction::Forward))?,
        backward: Encoder::new(config, weights, "encoder.backward", (Sense::New, Direction::Backward))?,
        u_a: pack(weights, &["attention.U_a"], 2 * n)?,
        b_a: data("attention.b_a")?,
        v_a: data("attention.v_a")?,
        w_s: pack(weights, &["decoder.W_s"], n)?,
        b_s: data("decoder.b_s")?,
        state: pack(weights, &["attention.W_a", "decoder.U_z", "decoder.U_r", "readout.U_o"], n)?,
        word: pack(weights, &[&w[0], &w[1], &w[2], "readout.V_o"], m)?,
        bias,
        context: pack(weights, &[&c[0], &c[1], &c[2], "readout.C_o"], 2 * n)?,
        u: pack(weights, &["decoder.U"], n)?,
        w_o: Readout::new(weights, "readout.W_o", Some("readout.b_w"))?,
    }))
}

impl PackedModel for PackedRnnSearch {
    fn stepper(self: Arc<Self>, _: &Config, threads: usize) -> Box<dyn Stepper> {
        Box::new(FusedSearch::new(self, threads))
    }
}

/// Buffers of a step. What depends on the parent alone has a row for each parent, likewise for words.
#[derive(Debug, Default)]
struct Buffers {
    parents: Distinct,
    words: Distinct,
    contexts: Distinct,
    sentences: Vec<usize>,
    s: Vec<f32>,
    e: Vec<f32>,
    from_state: Vec<f32>,
    from_word: Vec<f32>,
    energies: Vec<f32>,
    alpha: Vec<f32>,
    from_context: Vec<f32>,
    x: Vec<f32>,
    u: Vec<f32>,
    r: Vec<f32>,
    rs: Vec<f32>,
    candidate: Vec<f32>,
    s_tilde: Vec<f32>,
    pre: Vec<f32>,
    t: Vec<f32>,
    readout: readout::Buffers,
}

/// RNNsearch as a [`Stepper`].
#[derive(Debug)]
pub struct FusedSearch {
    model: Arc<PackedRnnSearch>,
    threads: usize,
    sources: Sources,
    /// h_j [2n], and [C; C_o] h_j.
    annotated: Annotated,
    /// U_a h_j + b_a, [b, t_x, n'].
    keys: Vec<f32>,
    /// States of the rows of the last step; s_0 of each sentence at first.
    s: Vec<f32>,
    first: bool,
    buffers: Buffers,
}

impl FusedSearch {
    pub fn new(model: Arc<PackedRnnSearch>, threads: usize) -> Self {
        let (keys, s) = (Vec::new(), Vec::new());
        Self {
            model,
            threads: threads.max(1),
            sources: Sources::default(),
            annotated: Annotated::default(),
            keys,
            s,
            first: true,
            buffers: Buffers::default(),
        }
    }

    fn attend(&mut self, rows: &[StepRow], output: &mut StepOutput) {
        let PackedRnnSearch { config, v_a, state, .. } = &*self.model;
        let (a, t_x, wide) = (config.alignment, self.sources.t_x, state.columns());
        let Buffers { parents, from_state, energies, alpha, .. } = &mut self.buffers;
        let (keys, lengths) = (&self.keys, &self.sources.lengths);
        let energies = sized(energies, parents.len() * t_x);
        let most = energies.len() * a / WORTHWHILE + 1;
        let piece = energies.len().div_ceil(if most > 1 { 4 * self.threads } else { 1 });
        team::chunks(self.threads.min(most), energies, piece, &|part, mut e| {
            let mut at = part * piece;
            while !e.is_empty() {
                let (parent, j) = (at / t_x, at % t_x);
                let (piece, rest) = e.split_at_mut((t_x - j).min(e.len()));
                let sentence = rows[parents.first[parent]].sentence;
                let known = piece.len().min(lengths[sentence].saturating_sub(j));
                let keys = &keys[(sentence * t_x + j) * a..(sentence * t_x + j + known) * a];
                attention::energies(&from_state[parent * wide..parent * wide + a], keys, v_a, &mut piece[..known]);
                piece[known..].fill(0.0);
                at += piece.len();
                e = rest;
            }
        });
        let alpha = sized(alpha, parents.len() * t_x);
        alpha.copy_from_slice(energies);
        for (alpha, first) in alpha.chunks_exact_mut(t_x).zip(&parents.first) {
            softmax(&mut alpha[..lengths[rows[*first].sentence]]);
        }
        for (row, parent) in parents.of.iter().enumerate() {
            let (to, from) = (row * t_x..(row + 1) * t_x, parent * t_x..(parent + 1) * t_x);
            output.energies[to.clone()].copy_from_slice(&energies[from.clone()]);
            output.alpha[to].copy_from_slice(&alpha[from]);
        }
    }

    /// [C; C_o] c_i of every context; rows of one parent share it unless they were given other weights.
    fn look(&mut self, rows: &[StepRow], given: &[f32]) {
        let model = &*self.model;
        let (n, t_x, wide) = (model.config.hidden, self.sources.t_x, model.context.columns());
        let Buffers { parents, contexts, sentences, alpha, from_context, .. } = &mut self.buffers;
        contexts.contexts(parents, given, t_x);
        sentences.clear();
        alpha.clear();
        for row in &contexts.first {
            sentences.push(rows[*row].sentence);
            alpha.extend_from_slice(&given[row * t_x..(row + 1) * t_x]);
        }
        let sums = Sums { threads: self.threads, t_x, lengths: &self.sources.lengths, sentences, alpha };
        let from_context = sized(from_context, contexts.len() * wide);
        self.annotated.look(&sums, rows.len(), (&model.context, 2 * n), from_context, Onto::Zero);
    }

    /// t = maxout(U_o s + V_o e + C_o c + b_o), log p = log softmax(W_o t + b_w).
    fn read_out(&mut self, rows: usize, need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        let PackedRnnSearch { config, w_o, .. } = &*self.model;
        let (n, l) = (config.hidden, config.maxout);
        let (state, word) = (config.alignment + 2 * n + 2 * l, 3 * n + 2 * l);
        let Buffers { parents, contexts, words, from_state, from_word, from_context, pre, t, readout, .. } =
            &mut self.buffers;
        let (pre, t) = (sized(pre, 2 * l), sized(t, rows * l));
        for (i, t) in t.chunks_exact_mut(l).enumerate() {
            let (parent, context, y) = (parents.of[i], contexts.of[i], words.of[i]);
            let at = |row: usize, wide: usize| (row + 1) * wide - 2 * l..(row + 1) * wide;
            sum(&from_word[at(y, word)], &from_context[at(context, word)], pre);
            add(&from_state[at(parent, state)], pre);
            output::maxout(pre, t);
        }
        w_o.answer(self.threads, t, need, readout, output)
    }

    fn advance(&mut self, rows: usize) {
        let PackedRnnSearch { config, u: big_u, .. } = &*self.model;
        let (n, a, l) = (config.hidden, config.alignment, config.maxout);
        let (state, word) = (a + 2 * n + 2 * l, 3 * n + 2 * l);
        let Buffers {
            parents,
            contexts,
            words,
            s,
            from_state,
            from_word,
            from_context,
            x,
            u,
            r,
            rs,
            candidate,
            s_tilde,
            ..
        } = &mut self.buffers;
        let x = sized(x, rows * 3 * n);
        let (u, r, rs) = (sized(u, rows * n), sized(r, rows * n), sized(rs, rows * n));
        let s_prev = |row: usize| &s[parents.of[row] * n..(parents.of[row] + 1) * n];
        for (i, x) in x.chunks_exact_mut(3 * n).enumerate() {
            let (parent, context, y, at) = (parents.of[i], contexts.of[i], words.of[i], i * n..(i + 1) * n);
            sum(&from_word[y * word..y * word + 3 * n], &from_context[context * word..context * word + 3 * n], x);
            let g = &from_state[parent * state..(parent + 1) * state];
            let (u, r, rs) = (&mut u[at.clone()], &mut r[at.clone()], &mut rs[at]);
            gru::gates(Sense::New, n, x, g, state, a, s_prev(i), None, u, r, rs);
        }
        let candidate = sized(candidate, rows * n);
        big_u.apply_on(self.threads, rows, rs, n, candidate, n, Onto::Zero);
        self.s.resize(rows * n, 0.0);
        let s_tilde = sized(s_tilde, n);
        for (i, s) in self.s.chunks_exact_mut(n).enumerate() {
            let at = i * n..(i + 1) * n;
            gru::update(n, &x[i * 3 * n..(i + 1) * 3 * n], &candidate[at.clone()], s_prev(i), &u[at], s_tilde, s);
        }
    }
}

impl Stepper for FusedSearch {
    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        let model = Arc::clone(&self.model);
        let config = &model.config;
        let (n, a) = (config.hidden, config.alignment);
        self.sources = Sources::new(sources, config.source_vocabulary)?;
        let (b, t_x) = (sources.len(), self.sources.t_x);
        let e = self.sources.embed(&model.source_embedding, config.embedding)?;
        let mut halves = [&model.forward, &model.backward].map(|encoder| (encoder, Vec::new()));
        team::each(self.threads, &mut halves, &|_, half| half.1 = half.0.read(self.threads, &self.sources, &e));
        let [(_, forward), (_, backward)] = halves;
        self.annotated.begin(b * t_x * 2 * n);
        for (at, h) in self.annotated.h.chunks_exact_mut(2 * n).enumerate() {
            let (row, t) = (at / t_x, at % t_x);
            h[..n].copy_from_slice(&forward[((t + 1) * b + row) * n..((t + 1) * b + row + 1) * n]);
            h[n..].copy_from_slice(&backward[(t * b + row) * n..(t * b + row + 1) * n]);
        }
        self.keys.resize(b * t_x * a, 0.0);
        model.u_a.apply_on(self.threads, b * t_x, &self.annotated.h, 2 * n, &mut self.keys, a, Onto::Row(&model.b_a));
        // s_0 = tanh(W_s <-h_1 + b_s)
        self.s.resize(b * n, 0.0);
        model.w_s.apply_on(self.threads, b, &backward[..b * n], n, &mut self.s, n, Onto::Row(&model.b_s));
        tanh_all(&mut self.s);
        self.first = true;
        Ok(())
    }

    fn align(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()> {
        let model = Arc::clone(&self.model);
        let (n, t_x) = (model.config.hidden, self.sources.t_x);
        super::prepare(output, rows.len(), model.config.target_vocabulary, Some(t_x));
        super::check_rows(rows, self.sources.lengths.len())?;
        let Buffers { parents, s, from_state, .. } = &mut self.buffers;
        parents.parents(rows);
        gather_states(parents.first.iter().map(|row| rows[*row]), self.first, &self.s, n, s)?;
        let wide = model.state.columns();
        let from_state = sized(from_state, parents.len() * wide);
        model.state.apply_on(self.threads, parents.len(), s, n, from_state, wide, Onto::Zero);
        self.attend(rows, output);
        Ok(())
    }

    fn predict(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        output.check_aligned(rows, Some(self.sources.t_x))?;
        let model = Arc::clone(&self.model);
        let m = model.config.embedding;
        let Buffers { words, e, from_word, .. } = &mut self.buffers;
        words.words(rows);
        model.target_embedding.gather(m, words.first.iter().map(|row| rows[*row].y_prev), e)?;
        let wide = model.word.columns();
        let from_word = sized(from_word, words.len() * wide);
        model.word.apply_on(self.threads, words.len(), e, m, from_word, wide, Onto::Row(&model.bias));
        self.look(rows, &output.alpha);
        self.advance(rows.len());
        self.read_out(rows.len(), need, output)?;
        self.first = false;
        Ok(())
    }

    fn joins(&self) -> bool {
        true
    }

    fn join(&mut self, kept: &[usize], sources: &[&[u32]]) -> Result<()> {
        let mut before = std::mem::replace(self, Self::new(Arc::clone(&self.model), self.threads));
        std::mem::swap(&mut self.buffers, &mut before.buffers);
        self.begin(sources)?;
        let (n, a) = (self.model.config.hidden, self.model.config.alignment);
        let joining = Joining::new(&before.sources, kept, &self.sources)?;
        self.annotated.join(before.annotated, &joining, self.threads, Some(&self.model.context), 2 * n);
        self.keys = joining.numbers(&before.keys, &self.keys, a);
        self.sources = joining.sources;
        before.s.append(&mut self.s);
        self.s = before.s;
        self.first = false;
        Ok(())
    }

    fn states(&self) -> Option<&[f32]> {
        Some(&self.s)
    }

    fn annotations(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
        self.sources.words_of(sentence, &self.annotated.h, 2 * self.model.config.hidden)
    }
}
