//! Floor 3: the gated unit of Cho et al. 2014 and Bahdanau et al. 2015 with all that it computes on the way.

use crate::error::{Error, Result};
use crate::models::anatomy::matrix::{Matrix, product, sigmoid, sum, tanh};
use crate::models::checkpoint::Weights;

/// The tensors of a decoder's gates.
pub(super) const GATES: &[&str] = &[
    "decoder.W_z",
    "decoder.U_z",
    "decoder.C_z",
    "decoder.b_z",
    "decoder.W_r",
    "decoder.U_r",
    "decoder.C_r",
    "decoder.b_r",
];

/// Where the reset gate acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reset {
    /// U (r ∘ s'), the context beside it.
    Before,
    /// r ∘ (U s'), the context beside it.
    After,
    /// r ∘ (U s' + C c).
    AfterBoth,
}

/// What z lets in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    /// The proposal: s = (1 - z) ∘ s' + z ∘ s~.
    Bahdanau,
    /// The old state: h = z ∘ h' + (1 - z) ∘ h~.
    Cho,
}

/// A unit.
pub(super) struct Unit {
    gates: [Gate; 3],
    pub(super) reset: Reset,
    pub(super) sense: Sense,
}

/// The matrices of z, of r or of the proposal.
struct Gate {
    w: Matrix,
    u: Matrix,
    b: Vec<f32>,
    c: Option<Matrix>,
}

/// A step of a unit.
pub(super) struct Moved {
    pub(super) z: Vec<f32>,
    pub(super) r: Vec<f32>,
    pub(super) proposal: Vec<f32>,
    pub(super) s: Vec<f32>,
}

impl Gate {
    /// W e + b + C c, without what is recurrent.
    fn outside(&self, e: &[f32], c: Option<&[f32]>) -> Vec<f32> {
        let x = sum([&self.w.times(e), &self.b]);
        self.of_context(c).map_or_else(|| x.clone(), |c| sum([&x, &c]))
    }

    fn of_context(&self, c: Option<&[f32]>) -> Option<Vec<f32>> {
        Some(self.c.as_ref()?.times(c?))
    }

    fn opened(&self, e: &[f32], c: Option<&[f32]>, s_prev: &[f32]) -> Vec<f32> {
        sigmoid(&sum([&self.outside(e, c), &self.u.times(s_prev)]))
    }
}

impl Unit {
    /// The unit below `prefix`; with a context where it has one.
    pub(super) fn find(weights: &Weights, prefix: &str, context: bool, reset: Reset, sense: Sense) -> Result<Self> {
        let gate = |suffix: &str| {
            let find = |letter: &str| Matrix::find(weights, &format!("{prefix}.{letter}{suffix}"));
            Ok::<_, Error>(Gate {
                w: find("W")?,
                u: find("U")?,
                b: weights.numbers(&format!("{prefix}.b{suffix}"))?,
                c: context.then(|| find("C")).transpose()?,
            })
        };
        Ok(Self { gates: [gate("_z")?, gate("_r")?, gate("")?], reset, sense })
    }

    /// One step from `s_prev` with the input `e` and, in a decoder, the context `c`.
    pub(super) fn step(&self, e: &[f32], c: Option<&[f32]>, s_prev: &[f32]) -> Moved {
        let [z, r, proposal] = &self.gates;
        let (z, r) = (z.opened(e, c, s_prev), r.opened(e, c, s_prev));
        let recurrent = match self.reset {
            Reset::Before => proposal.u.times(&product(&r, s_prev)),
            Reset::After => product(&r, &proposal.u.times(s_prev)),
            Reset::AfterBoth => {
                let inner = proposal.u.times(s_prev);
                let inner = proposal.of_context(c).map_or_else(|| inner.clone(), |c| sum([&inner, &c]));
                product(&r, &inner)
            }
        };
        let beside = if self.reset == Reset::AfterBoth { None } else { c };
        let proposal = tanh(&sum([&proposal.outside(e, beside), &recurrent]));
        let mixed = |(k, z): (usize, &f32)| match self.sense {
            Sense::Bahdanau => (1.0 - z) * s_prev[k] + z * proposal[k],
            Sense::Cho => z * s_prev[k] + (1.0 - z) * proposal[k],
        };
        let s = z.iter().enumerate().map(mixed).collect();
        Moved { z, r, proposal, s }
    }

    /// The state after each word, from zeros, indexed by word whichever way it is read.
    pub(super) fn read(&self, e: &[Vec<f32>], backwards: bool) -> Vec<Vec<f32>> {
        let mut s = vec![0.0; self.gates[0].b.len()];
        let mut states = vec![Vec::new(); e.len()];
        for step in 0..e.len() {
            let j = if backwards { e.len() - 1 - step } else { step };
            s = self.step(&e[j], None, &s).s;
            states[j].clone_from(&s);
        }
        states
    }
}
