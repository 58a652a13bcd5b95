//! Floor 3: models of GroundHog on the CPU; the equations stand in `models/groundhog.rs`.
//!
//! C is [C_z; C_r; C; C_o]: what the gates read of c_i is kept for the step behind, which moves by it.

use std::sync::Arc;

use super::gated::Encoder;
use super::readout::Readout;
use super::recurrent::{PackedScore, RecurrentSentence, RecurrentStep, RecurrentWiring, StateVectors};
use super::rows::RowTable;
use super::units::{PackedProduct, beside};
use super::{PackedModel, Sources, columns, gates, pack, stack_gates};
use crate::error::Result;
use crate::models::checkpoint::Weights;
use crate::models::config::Config;
use crate::nn::bidirectional::Direction;
use crate::nn::fused::elementwise::{add, tanh_all};
use crate::nn::fused::gru::Sense;
use crate::nn::fused::{Onto, Packed, fill_rows, gru, output, team};

/// The parts of a model.
#[derive(Debug)]
struct PackedGroundHog {
    config: Config,
    forward: Encoder,
    /// `None` where the last state is all that is left.
    backward: Option<Encoder>,
    w_s: PackedProduct,
    /// [W_z; W_r; W], m -> 3n, with its bias.
    word: Packed,
    bias: Vec<f32>,
    /// [U_z; U_r], and U.
    u_zr: Packed,
    u: Packed,
    u_o: PackedProduct,
    v_o: PackedProduct,
    /// Where W_o is two thin matrices.
    g_r: Option<PackedProduct>,
}

/// Packs the weights of a model.
pub fn pack_model(config: &Config, weights: &Arc<Weights>) -> Result<Arc<dyn PackedModel>> {
    let (n, m) = (config.hidden, config.embedding);
    let looks = config.alignment > 0;
    let encoder = |name: &str, direction| Encoder::new(config, weights, name, (Sense::New, direction));
    let names = |letter: &str| gates("decoder", letter);
    let (w, c) = (names("W"), names("C"));
    let affine = |matrix: &str, bias: Option<&str>| PackedProduct::affine(weights, matrix, bias);
    let wiring = PackedGroundHog {
        forward: encoder("encoder.forward", Direction::Forward)?,
        backward: looks.then(|| encoder("encoder.backward", Direction::Backward)).transpose()?,
        w_s: affine("decoder.W_s", Some("decoder.b_s"))?,
        word: pack(weights, &[&w[0], &w[1], &w[2]], m)?,
        bias: stack_gates(weights, "decoder", "b")?,
        u_zr: pack(weights, &["decoder.U_z", "decoder.U_r"], n)?,
        u: pack(weights, &["decoder.U"], n)?,
        u_o: affine("readout.U_o", Some("readout.b_o"))?,
        v_o: affine("readout.V_o", None)?,
        g_r: config.output_rank.map(|_| affine("readout.G_r", None)).transpose()?,
        config: config.clone(),
    };
    let output = if config.output_rank.is_some() { "readout.G_l" } else { "readout.W_o" };
    Ok(Arc::new(RecurrentSentence {
        source_embedding: RowTable::new(weights, "source_embedding")?,
        target_embedding: RowTable::new(weights, "target_embedding")?,
        start: None,
        score: looks.then(|| PackedScore::additive(weights)).transpose()?,
        context: pack(weights, &[&c[0], &c[1], &c[2], "readout.C_o"], if looks { 2 * n } else { n })?,
        readout: Readout::new(weights, output, Some("readout.b_w"))?,
        wiring: Box::new(wiring),
        config: config.clone(),
    }))
}

impl RecurrentWiring for PackedGroundHog {
    fn read(&self, threads: usize, sources: &Sources, e: &[f32]) -> (Vec<f32>, StateVectors) {
        let (n, b) = (self.config.hidden, sources.lengths.len());
        let mut readers = vec![(&self.forward, Vec::new())];
        readers.extend(self.backward.iter().map(|encoder| (encoder, Vec::new())));
        team::each(threads, &mut readers, &|_, (encoder, h)| *h = encoder.read(threads, sources, e));
        let mut read = readers.into_iter().map(|(_, h)| h);
        let forward = read.next().unwrap_or_default().split_off(b * n);
        // the state behind the last word, or the backward one of the first
        let (mut h, mut z) = (forward, Vec::new());
        if let Some(backward) = read.next() {
            z.extend_from_slice(&backward[..b * n]);
            h = beside((&h, n), (&backward[..sources.t_x * b * n], n));
        } else {
            z.extend_from_slice(&h[(sources.t_x - 1) * b * n..]);
        }
        let mut s = self.w_s.apply(threads, &z);
        tanh_all(&mut s);
        (h, vec![s, vec![0.0; b * 3 * n]])
    }

    fn advance(&self, step: &RecurrentStep<'_>, mut states: StateVectors) -> StateVectors {
        let (n, rows) = (self.config.hidden, step.rows.len());
        if step.rows.iter().all(|row| row.y_prev.is_none()) {
            return states;
        }
        let (s, from_context) = (&states[0], &states[1]);
        let [mut x, mut g] = [3, 2].map(|wide| vec![0.0; rows * wide * n]);
        fill_rows(&self.bias, &mut x);
        add(from_context, &mut x);
        self.word.apply_on(step.threads, rows, step.e, self.config.embedding, &mut x, 3 * n, Onto::C);
        self.u_zr.apply_on(step.threads, rows, s, n, &mut g, 2 * n, Onto::Zero);
        // the first step moves nowhere
        let moves: Vec<bool> = step.rows.iter().map(|row| row.y_prev.is_some()).collect();
        let [mut u, mut r, mut rs, mut made, mut proposal, mut moved] = [(); 6].map(|()| vec![0.0; rows * n]);
        gru::gates(Sense::New, n, &x, &g, 2 * n, 0, s, Some(&moves), &mut u, &mut r, &mut rs);
        self.u.apply_on(step.threads, rows, &rs, n, &mut made, n, Onto::Zero);
        gru::update(n, &x, &made, s, &u, &mut proposal, &mut moved);
        states[0] = moved;
        states
    }

    fn speak(&self, step: &RecurrentStep<'_>, half: &[Vec<f32>]) -> (Vec<f32>, StateVectors) {
        let (n, l, threads) = (self.config.hidden, self.config.maxout, step.threads);
        let wide = 3 * n + 2 * l;
        let mut pre = columns(step.from_context, wide, 3 * n, wide);
        add(&self.u_o.apply(threads, &half[0]), &mut pre);
        add(&self.v_o.apply(threads, step.e), &mut pre);
        let mut t = vec![0.0; step.rows.len() * l];
        output::maxout(&pre, &mut t);
        if let Some(g_r) = &self.g_r {
            t = g_r.apply(threads, &t);
        }
        (t, vec![half[0].clone(), columns(step.from_context, wide, 0, 3 * n)])
    }
}
