//! One LSTM layer (Zaremba et al. 2015) over a whole sentence, forward and backward, in either
//! direction. The input part W x + b is one product; each step multiplies only U. The equations are in `nn/lstm.rs`.

use crate::fused::{Shard, affine::Affine, parts::Both, parts::FusedParts, pass::ShardPass, workspace::Buffer};
use engine::nn::fused::elementwise::{add, add_column_sums};
use engine::nn::{bidirectional::Direction, fused::lstm, fused::scan::two_slots};

/// The gates of a layer in the order of the layout.
pub const GATES: usize = 4;

/// U of one layer packed both ways.
#[derive(Debug, Default)]
pub struct LayerPacks {
    u: Both,
}

impl LayerPacks {
    pub fn repack(&mut self, model: &FusedParts<'_>, prefix: &str) {
        let n = model.config.hidden;
        let u = model.joined(&format!("{prefix}.U_i"), GATES * n * n);
        self.u.repack(model.precision, u, GATES * n, n);
    }
}

/// What the forward pass keeps.
#[derive(Debug)]
pub struct LstmScan<'a> {
    /// States h, [t_x + 1, b, n]; see [`Direction`] for the slots.
    pub h: Buffer<'a>,
    /// Memory cells c, likewise.
    pub c: Buffer<'a>,
    /// i, f, o, g: [t_x, b, 4n].
    gates: Buffer<'a>,
}

impl LstmScan<'_> {
    /// The states after each word, [t_x, b, n].
    pub fn outputs(&self, direction: Direction, size: usize) -> &[f32] {
        match direction {
            Direction::Forward => &self.h[size..],
            Direction::Backward => &self.h[..self.h.len() - size],
        }
    }

    /// The slot of the state after the whole sentence.
    pub fn last(direction: Direction, t_x: usize) -> usize {
        t_x - direction.start(t_x)
    }
}

/// One layer named `prefix`.
#[derive(Clone, Copy, Debug)]
pub struct LstmLayer<'a> {
    /// `encoder.0` and so on.
    pub prefix: &'a str,
    pub packs: &'a LayerPacks,
    pub direction: Direction,
    pub width: usize,
}

impl LstmLayer<'_> {
    fn name(&self, tensor: &str) -> String {
        format!("{}.{tensor}", self.prefix)
    }

    /// Reads x [t_x * b, width].
    pub fn forward<'a>(&self, pass: &ShardPass<'a>, x: &[f32]) -> LstmScan<'a> {
        let Shard { b, t_x, ref live, .. } = *pass.shard;
        let n = pass.model.config.hidden;
        let (rows, wide) = (t_x * b, GATES * n);
        let [h, c] = [(t_x + 1) * b * n; 2].map(|length| pass.buffers.take(length));
        let mut scan = LstmScan { h, c, gates: pass.buffers.take(rows * wide) };
        let input = Affine::new(pass.model, (&self.name("W_i"), &self.name("b_i")), wide, self.width);
        input.forward(rows, x, &mut scan.gates);
        let start = self.direction.start(t_x) * b * n;
        scan.h[start..start + b * n].fill(0.0);
        scan.c[start..start + b * n].fill(0.0);
        for t in self.direction.order(t_x, false) {
            let (from, to) = self.direction.slots(t);
            let (h, h_next) = two_slots(&mut scan.h, from, to, b * n);
            let (c, c_next) = two_slots(&mut scan.c, from, to, b * n);
            let gates = &mut scan.gates[t * b * wide..(t + 1) * b * wide];
            self.packs.u.forward.apply(b, h, n, gates, wide, true);
            lstm::cell(n, gates, c, h, Some(&live[t * b..(t + 1) * b]), c_next, h_next);
        }
        scan
    }

    /// From `dh` [t_x, b, n] (the gradient of the state after each word) and `last` (those of h and c after the whole
    /// sentence, [b, n] each; used up) to the weights' gradient (added) and dx [t_x * b, width].
    pub fn backward<'a>(
        &self, pass: &mut ShardPass<'a>, scan: &LstmScan<'_>, x: &[f32], dh: &[f32],
        (running, dc): (&mut Buffer<'a>, &mut [f32]),
    ) -> Buffer<'a> {
        let Shard { b, t_x, ref live, .. } = *pass.shard;
        let n = pass.model.config.hidden;
        let (rows, wide) = (t_x * b, GATES * n);
        let mut d_pre = pass.buffers.take(rows * wide);
        let mut next = pass.buffers.take(b * n);
        for t in self.direction.order(t_x, true) {
            let (from, to) = self.direction.slots(t);
            let slot = |slot: usize| slot * b * n..(slot + 1) * b * n;
            add(&dh[slot(t)], running);
            let at = t * b * wide..(t + 1) * b * wide;
            let (gates, d_pre) = (&scan.gates[at.clone()], &mut d_pre[at]);
            let live = Some(&live[t * b..(t + 1) * b]);
            lstm::cell_back(n, gates, &scan.c[slot(from)], &scan.c[slot(to)], running, live, dc, d_pre, &mut next);
            self.packs.u.back.apply(b, d_pre, wide, &mut next, n, true);
            std::mem::swap(running, &mut next);
        }
        // word t is read from the slot `from`: 0.. forward, 1.. backward
        let first = if self.direction == Direction::Forward { 0 } else { b * n };
        weights_back(pass, self.prefix, self.width, &d_pre, x, &scan.h[first..]);
        let mut dx = pass.buffers.take(rows * self.width);
        let w = pass.model.joined(&self.name("W_i"), wide * self.width);
        pass.model.precision.matmul(rows, self.width, wide, &d_pre, w, &mut dx, false);
        dx
    }
}

/// The gradients of W, U and b of a layer from those of its pre-activations [rows, 4n], its inputs x [rows, width] and
/// its states before [rows, n].
pub fn weights_back(pass: &mut ShardPass<'_>, prefix: &str, width: usize, d_pre: &[f32], x: &[f32], h: &[f32]) {
    let n = pass.model.config.hidden;
    let wide = GATES * n;
    let rows = d_pre.len() / wide;
    pass.matrix_back(&format!("{prefix}.W_i"), [wide, width], rows, d_pre, x);
    pass.matrix_back(&format!("{prefix}.U_i"), [wide, n], rows, d_pre, h);
    let at = pass.model.layout.at(&format!("{prefix}.b_i"));
    add_column_sums(d_pre, &mut pass.gradient[at..at + wide]);
}
