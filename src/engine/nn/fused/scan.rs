//! A gated layer over a whole sentence whose input part W e + b is already there:
//! each step multiplies only U. Used by training and by decoding.

use super::{gru, gru::Sense, pack::Packed};
use crate::nn::bidirectional::Direction;

/// The recurrent weights of a unit.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    pub n: usize,
    /// [U_z; U_r], n -> 2n.
    pub u_zr: &'a Packed,
    /// U, n -> n.
    pub u: &'a Packed,
    pub sense: Sense,
    pub direction: Direction,
}

/// States [t_x + 1, b, n] and what the backward pass needs, [t_x, b, n] each.
#[derive(Debug)]
pub struct ScanStates<'a> {
    pub h: &'a mut [f32],
    /// u = z or 1 - z.
    pub u: &'a mut [f32],
    pub r: &'a mut [f32],
    pub rh: &'a mut [f32],
    pub h_tilde: &'a mut [f32],
}

/// Reads x [t_x, b, 3n] = W e + b (z, r, candidate). `live` [t_x, b] says where words are;
/// elsewhere the state stays. `scratch` has 3 b n numbers.
pub fn scan(
    unit: &Unit<'_>, x: &[f32], t_x: usize, b: usize, live: &[bool], kept: &mut ScanStates<'_>, scratch: &mut [f32],
) {
    let n = unit.n;
    let (g, a) = scratch.split_at_mut(2 * b * n);
    let start = unit.direction.start(t_x) * b * n;
    kept.h[start..start + b * n].fill(0.0);
    for t in unit.direction.order(t_x, false) {
        let (from, to) = unit.direction.slots(t);
        let (h, out) = two_slots(kept.h, from, to, b * n);
        let at = t * b * n..(t + 1) * b * n;
        let x = &x[t * b * 3 * n..(t + 1) * b * 3 * n];
        unit.u_zr.apply(b, h, n, g, 2 * n, false);
        let live = Some(&live[t * b..(t + 1) * b]);
        let u = &mut kept.u[at.clone()];
        gru::gates(unit.sense, n, x, g, 2 * n, 0, h, live, u, &mut kept.r[at.clone()], &mut kept.rh[at.clone()]);
        unit.u.apply(b, &kept.rh[at.clone()], n, a, n, false);
        gru::update(n, x, a, h, u, &mut kept.h_tilde[at], out);
    }
}

/// Slots `from` (read) and `to` (written) of an array of states.
pub fn two_slots(states: &mut [f32], from: usize, to: usize, size: usize) -> (&[f32], &mut [f32]) {
    if from < to {
        let (left, right) = states.split_at_mut(to * size);
        (&left[from * size..(from + 1) * size], &mut right[..size])
    } else {
        let (left, right) = states.split_at_mut(from * size);
        (&right[..size], &mut left[to * size..(to + 1) * size])
    }
}
