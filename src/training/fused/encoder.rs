//! One recurrent layer over a whole sentence, forward and backward, in either direction.
//! The input part W e + b is one product; each step multiplies only U. The equations are in `nn/gru.rs`.

use crate::fused::{Shard, parts::Both, parts::FusedParts, pass::ShardPass, workspace::Buffer};
use engine::nn::fused::scan::{ScanStates, Unit};
use engine::nn::fused::{gru, scan};
use engine::nn::{bidirectional::Direction, fused::elementwise::add, fused::gru::Sense};

/// U of one unit packed both ways.
#[derive(Debug, Default)]
pub struct UnitPacks {
    u_zr: Both,
    u: Both,
}

impl UnitPacks {
    pub fn repack(&mut self, model: &FusedParts<'_>, prefix: &str) {
        let n = model.config.hidden;
        let u = model.joined(&format!("{prefix}.U_z"), 3 * n * n);
        let (zr, u) = u.split_at(2 * n * n);
        self.u_zr.repack(model.precision, zr, 2 * n, n);
        self.u.repack(model.precision, u, n, n);
    }
}

/// What the forward pass keeps.
#[derive(Debug)]
pub struct EncoderScan<'a> {
    /// States, [t_x + 1, b, n]; see [`Direction`] for the slots.
    pub h: Buffer<'a>,
    u: Buffer<'a>,
    r: Buffer<'a>,
    rh: Buffer<'a>,
    h_tilde: Buffer<'a>,
}

/// One layer of gated units named `prefix`.
#[derive(Clone, Copy, Debug)]
pub struct EncoderLayer<'a> {
    /// `encoder`, `encoder.forward` or `encoder.backward`.
    pub prefix: &'a str,
    pub packs: &'a UnitPacks,
    pub sense: Sense,
    pub direction: Direction,
}

impl EncoderLayer<'_> {
    /// Reads e [t_x * b, m].
    pub fn forward<'a>(&self, pass: &ShardPass<'a>, e: &[f32]) -> EncoderScan<'a> {
        let Shard { b, t_x, ref live, .. } = *pass.shard;
        let (n, rows) = (pass.model.config.hidden, t_x * b);
        let take = |length| pass.buffers.take(length);
        let mut x = take(rows * 3 * n);
        pass.gates(self.prefix).forward(rows, e, &mut x);
        let (h, [u, r, rh, h_tilde]) = (take((t_x + 1) * b * n), [rows * n; 4].map(take));
        let mut scan = EncoderScan { h, u, r, rh, h_tilde };
        let mut scratch = take(3 * b * n);
        let (Self { sense, direction, .. }, UnitPacks { u_zr, u }) = (*self, self.packs);
        let unit = Unit { n, u_zr: &u_zr.forward, u: &u.forward, sense, direction };
        let EncoderScan { h, u, r, rh, h_tilde } = &mut scan;
        let mut kept = ScanStates { h, u, r, rh, h_tilde };
        scan::scan(&unit, &x, t_x, b, live, &mut kept, &mut scratch);
        scan
    }

    /// From dh [t_x, b, n] (the gradient of the state after word t) to the weights' gradient (added) and de [t_x * b,
    /// m] (added).
    pub fn backward(&self, pass: &mut ShardPass<'_>, scan: &EncoderScan<'_>, e: &[f32], dh: &[f32], de: &mut [f32]) {
        let Shard { b, t_x, .. } = *pass.shard;
        let (n, rows) = (pass.model.config.hidden, t_x * b);
        let mut dx = pass.buffers.take(rows * 3 * n);
        let mut running = pass.buffers.zeros(b * n);
        let mut next = pass.buffers.take(b * n);
        let mut drh = pass.buffers.take(b * n);
        for t in self.direction.order(t_x, true) {
            let (from, _) = self.direction.slots(t);
            let at = t * b * n..(t + 1) * b * n;
            let h = &scan.h[from * b * n..(from + 1) * b * n];
            add(&dh[at.clone()], &mut running);
            let dx = &mut dx[t * b * 3 * n..(t + 1) * b * 3 * n];
            let u = &scan.u[at.clone()];
            gru::update_back(self.sense, n, &running, u, &scan.h_tilde[at.clone()], h, dx, &mut next);
            self.packs.u.back.apply(b, &dx[2 * n..], 3 * n, &mut drh, n, false);
            gru::reset_back(n, &drh, &scan.r[at], h, dx, &mut next);
            self.packs.u_zr.back.apply(b, dx, 3 * n, &mut next, n, true);
            std::mem::swap(&mut running, &mut next);
        }
        // in both directions word t is read from the slot `from`: 0.. forward, 1.. backward
        let first = if self.direction == Direction::Forward { 0 } else { b * n };
        pass.unit_back(self.prefix, &dx, &scan.h[first..], &scan.rh);
        pass.gates(self.prefix).back(rows, &dx, e, de, pass.gradient);
    }
}
