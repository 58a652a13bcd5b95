//! One direction of a gated encoder, read over all sources on the CPU; the equations stand in `nn/gru.rs`.

use super::{Sources, pack, stack_gates};
use crate::error::Result;
use crate::models::{checkpoint::Weights, config::Config};
use crate::nn::fused::scan::{ScanStates, Unit};
use crate::nn::fused::{Onto, Packed, scan};
use crate::nn::{bidirectional::Direction, fused::gru::Sense};

/// One direction of a gated encoder, packed.
#[derive(Debug)]
pub struct Encoder {
    w: Packed,
    b: Vec<f32>,
    u_zr: Packed,
    u: Packed,
    sense: Sense,
    direction: Direction,
}

impl Encoder {
    pub fn new(
        config: &Config, weights: &Weights, prefix: &str, (sense, direction): (Sense, Direction),
    ) -> Result<Self> {
        let (n, m) = (config.hidden, config.embedding);
        let name = |tensor: &str| format!("{prefix}.{tensor}");
        Ok(Self {
            w: Packed::compact(&stack_gates(weights, prefix, "W")?, 3 * n, m),
            b: stack_gates(weights, prefix, "b")?,
            u_zr: pack(weights, &[&name("U_z"), &name("U_r")], n)?,
            u: pack(weights, &[&name("U")], n)?,
            sense,
            direction,
        })
    }

    /// The states of all sources, [t_x + 1, b, n], from their embeddings [t_x, b, m].
    pub fn read(&self, threads: usize, sources: &Sources, e: &[f32]) -> Vec<f32> {
        let (n, b, t_x) = (self.u.columns(), sources.lengths.len(), sources.t_x);
        let rows = t_x * b;
        let mut x = vec![0.0; rows * 3 * n];
        self.w.apply_on(threads, rows, e, e.len() / rows.max(1), &mut x, 3 * n, Onto::Row(&self.b));
        let mut h = vec![0.0; (t_x + 1) * b * n];
        let [mut u, mut r, mut rh, mut h_tilde] = [(); 4].map(|()| vec![0.0; rows * n]);
        let mut kept = ScanStates { h: &mut h, u: &mut u, r: &mut r, rh: &mut rh, h_tilde: &mut h_tilde };
        let unit = Unit { n, u_zr: &self.u_zr, u: &self.u, sense: self.sense, direction: self.direction };
        scan::scan(&unit, &x, t_x, b, &sources.live, &mut kept, &mut vec![0.0; 3 * b * n]);
        h
    }
}
