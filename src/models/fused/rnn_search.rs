//! Floor 3: RNNsearch decoding on the CPU; the equations stand in `models/rnn_search.rs`.
//!
//! Five products a step: [W_a; U_z; U_r; U_o] s, [W; V_o] e(y), [C; C_o] c, U (r o s), W_o t.

use std::sync::Arc;

use super::Sources;
use super::gather;
use super::gather_states;
use super::pack;
use super::sized;
use super::stack;
use super::stack_gates;
use crate::error::Result;
use crate::models::Need;
use crate::models::Row;
use crate::models::StepOutput;
use crate::models::Stepper;
use crate::models::checkpoint::Weights;
use crate::models::config::Config;
use crate::nn::fused::Packed;
use crate::nn::fused::add_bias;
use crate::nn::fused::attention;
use crate::nn::fused::elementwise::tanh_all;
use crate::nn::fused::gru;
use crate::nn::fused::gru::Sense;
use crate::nn::fused::output;
use crate::nn::fused::scan;
use crate::nn::fused::scan::Direction;
use crate::nn::fused::scan::Kept;
use crate::nn::fused::scan::Unit;
use crate::nn::fused::team;

/// One direction of the encoder.
#[derive(Debug)]
struct Encoder {
    w: Packed,
    b: Vec<f32>,
    u_zr: Packed,
    u: Packed,
}

impl Encoder {
    fn new(config: &Config, weights: &Weights, prefix: &str) -> Result<Self> {
        let (n, m) = (config.hidden, config.embedding);
        let name = |tensor: &str| format!("{prefix}.{tensor}");
        Ok(Self {
            w: Packed::transposed(&stack_gates(weights, prefix, "W")?, 3 * n, m),
            b: stack_gates(weights, prefix, "b")?,
            u_zr: pack(weights, &[&name("U_z"), &name("U_r")], n)?,
            u: pack(weights, &[&name("U")], n)?,
        })
    }
}

/// Weights packed for decoding.
#[derive(Debug)]
pub struct Prepared {
    config: Config,
    source_embedding: Vec<f32>,
    target_embedding: Vec<f32>,
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
    /// [C_z; C_r; C; C_o], 2n -> 3n + 2l
    context: Packed,
    u: Packed,
    w_o: Packed,
    b_w: Vec<f32>,
}

impl Prepared {
    /// Packs the weights of a model.
    ///
    /// # Errors
    /// When a tensor is missing.
    pub fn new(config: &Config, weights: &Weights) -> Result<Self> {
        let (n, m) = (config.hidden, config.embedding);
        let data = |name: &str| weights.numbers(name);
        let w = super::gates("decoder", "W");
        let c = super::gates("decoder", "C");
        let mut bias = stack_gates(weights, "decoder", "b")?;
        bias.extend(stack(weights, &["readout.b_o"])?);
        Ok(Self {
            config: config.clone(),
            source_embedding: data("source_embedding")?,
            target_embedding: data("target_embedding")?,
            forward: Encoder::new(config, weights, "encoder.forward")?,
            backward: Encoder::new(config, weights, "encoder.backward")?,
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
            w_o: pack(weights, &["readout.W_o"], config.maxout)?,
            b_w: data("readout.b_w")?,
        })
    }
}

/// Buffers of a step.
#[derive(Debug, Default)]
struct Buffers {
    s: Vec<f32>,
    e: Vec<f32>,
    from_state: Vec<f32>,
    from_word: Vec<f32>,
    c: Vec<f32>,
    x: Vec<f32>,
    u: Vec<f32>,
    r: Vec<f32>,
    rs: Vec<f32>,
    candidate: Vec<f32>,
    s_tilde: Vec<f32>,
    t: Vec<f32>,
}

/// RNNsearch as a [`Stepper`].
#[derive(Debug)]
pub struct FusedStepper {
    model: Arc<Prepared>,
    threads: usize,
    sources: Sources,
    /// Annotations [b, t_x, 2n].
    h: Vec<f32>,
    /// U_a h_j + b_a, [b, t_x, n'].
    keys: Vec<f32>,
    /// States of the rows of the last step; s_0 of each sentence at first.
    s: Vec<f32>,
    first: bool,
    buffers: Buffers,
}

impl FusedStepper {
    /// A stepper that may use `threads` threads.
    #[must_use]
    pub fn new(model: Arc<Prepared>, threads: usize) -> Self {
        let (h, keys, s) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            model,
            threads: threads.max(1),
            sources: Sources::default(),
            h,
            keys,
            s,
            first: true,
            buffers: Buffers::default(),
        }
    }

    /// One direction over all sources: states [t_x + 1, b, n].
    fn read(&self, encoder: &Encoder, direction: Direction, e: &[f32]) -> Vec<f32> {
        let (n, m) = (self.model.config.hidden, self.model.config.embedding);
        let (b, t_x) = (self.sources.lengths.len(), self.sources.t_x);
        let rows = t_x * b;
        let mut x = vec![0.0; rows * 3 * n];
        add_bias(&encoder.b, &mut x);
        encoder.w.apply_on(self.threads, rows, e, m, &mut x, 3 * n, true);
        let mut h = vec![0.0; (t_x + 1) * b * n];
        let [mut u, mut r, mut rh, mut h_tilde] = [(); 4].map(|()| vec![0.0; rows * n]);
        let mut kept = Kept { h: &mut h, u: &mut u, r: &mut r, rh: &mut rh, h_tilde: &mut h_tilde };
        let unit = Unit { n, u_zr: &encoder.u_zr, u: &encoder.u, sense: Sense::New, direction };
        scan::scan(&unit, &x, t_x, b, &self.sources.live, &mut kept, &mut vec![0.0; 3 * b * n]);
        h
    }

    /// alpha, e and c of every row.
    fn attend(&mut self, rows: &[Row], output: &mut StepOutput) {
        let Prepared { config, v_a, .. } = &*self.model;
        let (n, a, t_x) = (config.hidden, config.alignment, self.sources.t_x);
        let wide = a + 2 * n + 2 * config.maxout;
        let c = sized(&mut self.buffers.c, rows.len() * 2 * n);
        for (i, row) in rows.iter().enumerate() {
            let length = self.sources.lengths[row.sentence];
            let q = &self.buffers.from_state[i * wide..i * wide + a];
            let at = row.sentence * t_x;
            let keys = &self.keys[at * a..(at + length) * a];
            let h = &self.h[at * 2 * n..(at + length) * 2 * n];
            let e = &mut output.energies[i * t_x..i * t_x + length];
            attention::energies(q, keys, v_a, e);
            let alpha = &mut output.alpha[i * t_x..i * t_x + length];
            attention::align(e, h, alpha, &mut c[i * 2 * n..(i + 1) * 2 * n]);
        }
    }

    /// t = maxout(U_o s + V_o e + C_o c + b_o), log p = log softmax(W_o t + b_w).
    fn read_out(&mut self, rows: usize, output: &mut StepOutput) {
        let Prepared { config, w_o, b_w, .. } = &*self.model;
        let (n, l, vocabulary) = (config.hidden, config.maxout, config.target_vocabulary);
        let (state, word) = (config.alignment + 2 * n + 2 * l, 3 * n + 2 * l);
        let buffers = &mut self.buffers;
        let t = sized(&mut buffers.t, rows * l);
        for (i, t) in t.chunks_exact_mut(l).enumerate() {
            let pre = &mut buffers.from_word[i * word + 3 * n..(i + 1) * word];
            let from_state = &buffers.from_state[(i + 1) * state - 2 * l..(i + 1) * state];
            crate::nn::fused::elementwise::add(from_state, pre);
            output::maxout(pre, t);
        }
        super::log_softmax(self.threads, rows, w_o, b_w, t, l, vocabulary, &mut output.log_p);
    }

    /// s_i from s_{i-1}, y_{i-1} and c_i.
    fn advance(&mut self, rows: usize) {
        let Prepared { config, u: big_u, .. } = &*self.model;
        let (n, a, l) = (config.hidden, config.alignment, config.maxout);
        let (state, word) = (a + 2 * n + 2 * l, 3 * n + 2 * l);
        let Buffers { s, from_state, from_word, x, u, r, rs, candidate, s_tilde, .. } = &mut self.buffers;
        let x = sized(x, rows * 3 * n);
        for (x, from) in x.chunks_exact_mut(3 * n).zip(from_word.chunks_exact(word)) {
            x.copy_from_slice(&from[..3 * n]);
        }
        let (u, r, rs) = (sized(u, rows * n), sized(r, rows * n), sized(rs, rows * n));
        gru::gates(Sense::New, n, x, from_state, state, a, s, None, u, r, rs);
        let candidate = sized(candidate, rows * n);
        big_u.apply(rows, rs, n, candidate, n, false);
        self.s.resize(rows * n, 0.0);
        gru::update(n, x, candidate, s, u, sized(s_tilde, rows * n), &mut self.s);
    }
}

impl Stepper for FusedStepper {
    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        let model = Arc::clone(&self.model);
        let config = &model.config;
        let (n, a) = (config.hidden, config.alignment);
        self.sources = Sources::new(sources, config.source_vocabulary)?;
        let (b, t_x) = (sources.len(), self.sources.t_x);
        let mut e = Vec::new();
        gather(&model.source_embedding, config.embedding, self.sources.ids.iter().map(|&id| Some(id)), &mut e)?;
        let mut halves = [(&model.forward, Direction::Forward), (&model.backward, Direction::Backward)]
            .map(|(encoder, direction)| (encoder, direction, Vec::new()));
        team::each(self.threads, &mut halves, &|_, half| half.2 = self.read(half.0, half.1, &e));
        let [(.., forward), (.., backward)] = halves;
        self.h.resize(b * t_x * 2 * n, 0.0);
        for (at, h) in self.h.chunks_exact_mut(2 * n).enumerate() {
            let (row, t) = (at / t_x, at % t_x);
            h[..n].copy_from_slice(&forward[((t + 1) * b + row) * n..((t + 1) * b + row + 1) * n]);
            h[n..].copy_from_slice(&backward[(t * b + row) * n..(t * b + row + 1) * n]);
        }
        self.keys.resize(b * t_x * a, 0.0);
        add_bias(&model.b_a, &mut self.keys);
        model.u_a.apply_on(self.threads, b * t_x, &self.h, 2 * n, &mut self.keys, a, true);
        // s_0 = tanh(W_s <-h_1 + b_s)
        self.s.resize(b * n, 0.0);
        add_bias(&model.b_s, &mut self.s);
        model.w_s.apply(b, &backward[..b * n], n, &mut self.s, n, true);
        tanh_all(&mut self.s);
        self.first = true;
        Ok(())
    }

    fn step(&mut self, rows: &[Row], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        let model = Arc::clone(&self.model);
        let config = &model.config;
        let (n, m, t_x) = (config.hidden, config.embedding, self.sources.t_x);
        super::prepare(output, rows.len(), config.target_vocabulary, Some(t_x));
        super::check_rows(rows, self.sources.lengths.len())?;
        let mut s = std::mem::take(&mut self.buffers.s);
        gather_states(rows, self.first, &self.s, n, &mut s)?;
        self.buffers.s = s;
        gather(&model.target_embedding, m, rows.iter().map(|row| row.y_prev), &mut self.buffers.e)?;
        let (state, word) = (model.state.columns(), model.word.columns());
        let buffers = &mut self.buffers;
        let from_state = sized(&mut buffers.from_state, rows.len() * state);
        model.state.apply_on(self.threads, rows.len(), &buffers.s, n, from_state, state, false);
        let from_word = sized(&mut buffers.from_word, rows.len() * word);
        add_bias(&model.bias, from_word);
        model.word.apply_on(self.threads, rows.len(), &buffers.e, m, from_word, word, true);
        self.attend(rows, output);
        let buffers = &mut self.buffers;
        let from_word = sized(&mut buffers.from_word, rows.len() * word);
        model.context.apply_on(self.threads, rows.len(), &buffers.c, 2 * n, from_word, word, true);
        self.advance(rows.len());
        self.read_out(rows.len(), output);
        output.answer(need);
        self.first = false;
        Ok(())
    }

    fn context(&self, _sentence: usize) -> Option<Vec<f32>> {
        None
    }

    fn annotations(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
        let (wide, t_x) = (2 * self.model.config.hidden, self.sources.t_x);
        let length = *self.sources.lengths.get(sentence)?;
        let h = self.h.get(sentence * t_x * wide..(sentence * t_x + length) * wide)?;
        Some(h.chunks_exact(wide).map(<[f32]>::to_vec).collect())
    }
}
