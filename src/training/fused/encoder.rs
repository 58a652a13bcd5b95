//! Floor 6: one recurrent layer over a whole sentence, forward and backward, in either direction.
//! The input part W e + b is one product; each step multiplies only U. The equations are in `nn/gru.rs`.

use crate::nn::fused::elementwise::add;
use crate::nn::fused::gru::Sense;
use crate::nn::fused::scan::{ScanDirection, ScanStates, Unit};
use crate::nn::fused::{gru, scan};
use crate::training::fused::TrainingScratch;
use crate::training::fused::affine::Affine;
use crate::training::fused::both::Both;
use crate::training::fused::parts::FusedParts;

/// U of one unit packed both ways.
#[derive(Debug, Default)]
pub struct UnitPacks {
    u_zr: Both,
    u: Both,
}

impl UnitPacks {
    /// Packs `prefix.U_z`, `U_r`, `U` again.
    pub fn repack(&mut self, model: &FusedParts<'_>, prefix: &str) {
        let n = model.config.hidden;
        let u = model.joined(&format!("{prefix}.U_z"), 3 * n * n);
        let (zr, u) = u.split_at(2 * n * n);
        self.u_zr.repack(model.precision, zr, 2 * n, n);
        self.u.repack(model.precision, u, n, n);
    }
}

/// What the forward pass keeps.
#[derive(Debug, Default)]
pub struct EncoderScan {
    /// States, [t_x + 1, b, n]; see [`ScanDirection`] for the slots.
    pub h: Vec<f32>,
    u: Vec<f32>,
    r: Vec<f32>,
    rh: Vec<f32>,
    h_tilde: Vec<f32>,
}

impl EncoderScan {
    /// Gives all buffers back.
    pub fn release(self, workspace: &mut TrainingScratch) {
        workspace.put_all([self.h, self.u, self.r, self.rh, self.h_tilde]);
    }
}

/// One layer of gated units named `prefix`.
#[derive(Clone, Copy, Debug)]
pub struct EncoderLayer<'a> {
    /// Sizes and weights.
    pub model: FusedParts<'a>,
    /// `encoder`, `encoder.forward` or `encoder.backward`.
    pub prefix: &'a str,
    /// U packed.
    pub packs: &'a UnitPacks,
    /// Which paper's z.
    pub sense: Sense,
    /// Which way.
    pub direction: ScanDirection,
}

impl EncoderLayer<'_> {
    fn name(&self, tensor: &str) -> String {
        format!("{}.{tensor}", self.prefix)
    }

    /// W e + b of all three gates.
    fn input(&self) -> Affine<'_> {
        let FusedParts { config, .. } = self.model;
        Affine::new(self.model, (&self.name("W_z"), &self.name("b_z")), 3 * config.hidden, config.embedding)
    }

    /// Reads e [t_x * b, m]; `live` [t_x, b] says where words are.
    pub fn forward(
        &self,
        e: &[f32],
        t_x: usize,
        b: usize,
        live: &[bool],
        workspace: &mut TrainingScratch,
    ) -> EncoderScan {
        let (n, rows) = (self.model.config.hidden, t_x * b);
        let mut x = workspace.take(rows * 3 * n);
        self.input().forward(rows, e, &mut x);
        let mut scan = EncoderScan {
            h: workspace.take((t_x + 1) * b * n),
            u: workspace.take(rows * n),
            r: workspace.take(rows * n),
            rh: workspace.take(rows * n),
            h_tilde: workspace.take(rows * n),
        };
        let mut scratch = workspace.take(3 * b * n);
        let unit = Unit {
            n,
            u_zr: &self.packs.u_zr.forward,
            u: &self.packs.u.forward,
            sense: self.sense,
            direction: self.direction,
        };
        let mut kept =
            ScanStates { h: &mut scan.h, u: &mut scan.u, r: &mut scan.r, rh: &mut scan.rh, h_tilde: &mut scan.h_tilde };
        scan::scan(&unit, &x, t_x, b, live, &mut kept, &mut scratch);
        workspace.put_all([x, scratch]);
        scan
    }

    /// From dh [t_x, b, n] (the gradient of the state after word t) to the weights' gradient
    /// (added) and de [t_x * b, m] (added).
    #[allow(clippy::too_many_arguments, reason = "a backward pass names its sizes and buffers one by one")]
    pub fn backward(
        &self,
        scan: &EncoderScan,
        e: &[f32],
        t_x: usize,
        b: usize,
        dh: &[f32],
        de: &mut [f32],
        gradient: &mut [f32],
        workspace: &mut TrainingScratch,
    ) {
        let (n, rows) = (self.model.config.hidden, t_x * b);
        let mut dx = workspace.take(rows * 3 * n);
        let mut running = workspace.zeros(b * n);
        let mut next = workspace.take(b * n);
        let mut drh = workspace.take(b * n);
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
        let first = if self.direction == ScanDirection::Forward { 0 } else { b * n };
        let at = self.model.layout.at(&self.name("U_z"));
        self.model.precision.matmul_tn(
            2 * n,
            n,
            rows,
            &dx,
            3 * n,
            &scan.h[first..],
            n,
            &mut gradient[at..at + 2 * n * n],
            true,
        );
        let u = &mut gradient[at + 2 * n * n..at + 3 * n * n];
        self.model.precision.matmul_tn(n, n, rows, &dx[2 * n..], 3 * n, &scan.rh, n, u, true);
        self.input().back(rows, &dx, e, de, gradient);
        workspace.put_all([dx, running, next, drh]);
    }
}
