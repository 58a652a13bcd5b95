//! RNN Encoder-Decoder on the CPU; the equations are in `models/rnn_encdec.rs`. C c and O_c c are computed once a
//! sentence; a step has four products: [U_z; U_r; U] h', [W; O_y] e(y), O_h h'_t, G t.

use std::sync::Arc;

use super::rows::{Distinct, RowTable};
use super::{Joining, PackedModel, Sources};
use super::{gated::Encoder, gather_states, pack, readout, readout::Readout, sized, stack, stack_gates};
use crate::error::Result;
use crate::models::stepper::{StepOutput, StepRow, Stepper};
use crate::models::{checkpoint::Weights, config::Config, need::Need};
use crate::nn::fused::elementwise::{sum, tanh_all};
use crate::nn::fused::{Onto, Packed, gru, output};
use crate::nn::{bidirectional::Direction, fused::gru::Sense};

/// Weights packed for decoding.
#[derive(Debug)]
pub struct PackedRnnEncdec {
    config: Config,
    source_embedding: RowTable,
    target_embedding: RowTable,
    encoder: Encoder,
    v: Packed,
    b_c: Vec<f32>,
    v_prime: Packed,
    b_s: Vec<f32>,
    context: Packed,
    state: Packed,
    /// [W_z; W_r; W; O_y], m -> 3n + 2l, with its bias
    word: Packed,
    bias: Vec<f32>,
    o_h: Packed,
    g_r: Option<Packed>,
    g: Readout,
}

pub fn pack_model(config: &Config, weights: &Arc<Weights>) -> Result<Arc<dyn PackedModel>> {
    let (n, m, l) = (config.hidden, config.embedding, config.maxout);
    let data = |name: &str| weights.numbers(name);
    let [w, c, u] = ["W", "C", "U"].map(|matrix| super::gates("decoder", matrix));
    let mut bias = stack_gates(weights, "decoder", "b")?;
    bias.extend(stack(weights, &["readout.b_o"])?);
    let (g_r, g) = match config.output_rank {
        Some(_) => (Some(pack(weights, &["readout.G_r"], l)?), "readout.G_l"),
        None => (None, "readout.G"),
    };
    Ok(Arc::new(PackedRnnEncdec {
        config: config.clone(),
        source_embedding: RowTable::new(weights, "source_embedding")?,
        target_embedding: RowTable::new(weights, "target_embedding")?,
        encoder: Encoder::new(config, weights, "encoder", (Sense::Old, Direction::Forward))?,
        v: pack(weights, &["encoder.V"], n)?,
        b_c: data("encoder.b_c")?,
        v_prime: pack(weights, &["decoder.V"], n)?,
        b_s: data("decoder.b_s")?,
        context: pack(weights, &[&c[0], &c[1], &c[2], "readout.O_c"], n)?,
        state: pack(weights, &[&u[0], &u[1], &u[2]], n)?,
        word: pack(weights, &[&w[0], &w[1], &w[2], "readout.O_y"], m)?,
        bias,
        o_h: pack(weights, &["readout.O_h"], n)?,
        g_r,
        g: Readout::new(weights, g, Some("readout.b_w"))?,
    }))
}

impl PackedModel for PackedRnnEncdec {
    fn stepper(self: Arc<Self>, _: &Config, threads: usize) -> Box<dyn Stepper> {
        Box::new(FusedEncdec::new(self, threads))
    }
}

/// Buffers of a step. What depends on the parent alone has a row for each parent, likewise for words.
#[derive(Debug, Default)]
struct Buffers {
    parents: Distinct,
    words: Distinct,
    h: Vec<f32>,
    e: Vec<f32>,
    from_word: Vec<f32>,
    p: Vec<f32>,
    u: Vec<f32>,
    r: Vec<f32>,
    h_tilde: Vec<f32>,
    pre: Vec<f32>,
    t: Vec<f32>,
    low: Vec<f32>,
    readout: readout::Buffers,
}

/// RNN Encoder-Decoder as a [`Stepper`].
#[derive(Debug)]
pub struct FusedEncdec {
    model: Arc<PackedRnnEncdec>,
    threads: usize,
    sources: Sources,
    c: Vec<f32>,
    /// C c (3n) and O_c c (2l), [b, 3n + 2l].
    from_context: Vec<f32>,
    /// States of the rows of the last step; h'_0 of each sentence at first.
    h: Vec<f32>,
    /// States of the encoder over the sentences that came last, [t_x + 1, b, n], and the first of those sentences.
    encoded: (Vec<f32>, usize),
    first: bool,
    buffers: Buffers,
}

impl FusedEncdec {
    pub fn new(model: Arc<PackedRnnEncdec>, threads: usize) -> Self {
        let [c, from_context, h] = [(); 3].map(|()| Vec::new());
        Self {
            model,
            threads: threads.max(1),
            sources: Sources::default(),
            c,
            from_context,
            h,
            encoded: Default::default(),
            first: true,
            buffers: Buffers::default(),
        }
    }

    fn advance(&mut self, rows: &[StepRow]) {
        let model = &*self.model;
        let n = model.config.hidden;
        let wide = model.word.columns();
        let Buffers { parents, words, h, from_word, p, u, r, h_tilde, .. } = &mut self.buffers;
        let p = sized(p, parents.len() * 3 * n);
        for (first, p) in parents.first.iter().zip(p.chunks_exact_mut(3 * n)) {
            let from = rows[*first].sentence * wide;
            p.copy_from_slice(&self.from_context[from..from + 3 * n]);
        }
        model.state.apply_on(self.threads, parents.len(), h, n, p, 3 * n, Onto::C);
        self.h.resize(rows.len() * n, 0.0);
        let (u, r, h_tilde) = (sized(u, n), sized(r, n), sized(h_tilde, n));
        for (i, out) in self.h.chunks_exact_mut(n).enumerate() {
            let (parent, y) = (parents.of[i], words.of[i]);
            let (x, p) = (&from_word[y * wide..y * wide + 3 * n], &p[parent * 3 * n..(parent + 1) * 3 * n]);
            gru::cho_decoder(n, x, p, &h[parent * n..(parent + 1) * n], u, r, h_tilde, out);
        }
    }

    fn read_out(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        let model = &*self.model;
        let (n, l) = (model.config.hidden, model.config.maxout);
        let wide = model.word.columns();
        let Buffers { words, from_word, pre, t, low, readout, .. } = &mut self.buffers;
        let pre = sized(pre, rows.len() * 2 * l);
        for (i, (row, pre)) in rows.iter().zip(pre.chunks_exact_mut(2 * l)).enumerate() {
            let at = |row: usize| row * wide + 3 * n..(row + 1) * wide;
            sum(&from_word[at(words.of[i])], &self.from_context[at(row.sentence)], pre);
        }
        model.o_h.apply_on(self.threads, rows.len(), &self.h, n, pre, 2 * l, Onto::C);
        let t = sized(t, rows.len() * l);
        for (pre, t) in pre.chunks_exact(2 * l).zip(t.chunks_exact_mut(l)) {
            output::maxout(pre, t);
        }
        let input = match &model.g_r {
            None => &*t,
            Some(g_r) => {
                let rank = g_r.columns();
                let low = sized(low, rows.len() * rank);
                g_r.apply_on(self.threads, rows.len(), t, l, low, rank, Onto::Zero);
                &*low
            }
        };
        model.g.answer(self.threads, input, need, readout, output)
    }
}

impl Stepper for FusedEncdec {
    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        let model = Arc::clone(&self.model);
        let config = &model.config;
        let n = config.hidden;
        let batch = Sources::new(sources, config.source_vocabulary)?;
        let b = sources.len();
        let e = batch.embed(&model.source_embedding, config.embedding)?;
        let h = model.encoder.read(self.threads, &batch, &e);
        let h_last = &h[batch.t_x * b * n..]; // h_N, [b, n]
        // c = tanh(V h_N + b_c), h'_0 = tanh(V' c + b_s)
        self.c.resize(b * n, 0.0);
        model.v.apply_on(self.threads, b, h_last, n, &mut self.c, n, Onto::Row(&model.b_c));
        tanh_all(&mut self.c);
        self.h.resize(b * n, 0.0);
        model.v_prime.apply_on(self.threads, b, &self.c, n, &mut self.h, n, Onto::Row(&model.b_s));
        tanh_all(&mut self.h);
        let wide = model.context.columns();
        self.from_context.resize(b * wide, 0.0);
        model.context.apply_on(self.threads, b, &self.c, n, &mut self.from_context, wide, Onto::Zero);
        self.encoded = (h, 0);
        self.sources = batch;
        self.first = true;
        Ok(())
    }

    fn align(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()> {
        let config = &self.model.config;
        super::prepare(output, rows.len(), config.target_vocabulary, None);
        super::check_rows(rows, self.sources.lengths.len())?;
        let Buffers { parents, h, .. } = &mut self.buffers;
        parents.parents(rows);
        gather_states(parents.first.iter().map(|row| rows[*row]), self.first, &self.h, config.hidden, h)
    }

    fn predict(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        output.check_aligned(rows, None)?;
        let model = Arc::clone(&self.model);
        let m = model.config.embedding;
        let Buffers { words, e, from_word, .. } = &mut self.buffers;
        words.words(rows);
        model.target_embedding.gather(m, words.first.iter().map(|row| rows[*row].y_prev), e)?;
        let wide = model.word.columns();
        let from_word = sized(from_word, words.len() * wide);
        model.word.apply_on(self.threads, words.len(), e, m, from_word, wide, Onto::Row(&model.bias));
        self.advance(rows);
        self.read_out(rows, need, output)?;
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
        let joining = Joining::new(&before.sources, kept, &self.sources)?;
        self.encoded.1 = kept.len();
        let contexts = joining.once();
        self.c = contexts.numbers(&before.c, &self.c, self.model.config.hidden);
        self.from_context = contexts.numbers(&before.from_context, &self.from_context, self.model.context.columns());
        self.sources = joining.sources;
        before.h.append(&mut self.h);
        self.h = before.h;
        self.first = false;
        Ok(())
    }

    fn states(&self) -> Option<&[f32]> {
        Some(&self.h)
    }

    fn encoded(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
        let (h, first) = &self.encoded;
        let (n, words) = (self.model.config.hidden, *self.sources.lengths.get(sentence)?);
        let (row, b) = (sentence.checked_sub(*first)?, self.sources.lengths.len() - first);
        (1..=words).map(|t| h.get((t * b + row) * n..(t * b + row + 1) * n).map(<[f32]>::to_vec)).collect()
    }

    fn context(&self, sentence: usize) -> Option<Vec<f32>> {
        let n = self.model.config.hidden;
        self.c.get(sentence * n..(sentence + 1) * n).map(<[f32]>::to_vec)
    }
}
