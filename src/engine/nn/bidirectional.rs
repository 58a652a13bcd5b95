//! A gated unit read over sentences, in one direction or both, time-major, [t_x, b, ..]. At padding the previous state
//! stays, so a backward reader still holds zeros when it meets the last real word of a shorter sentence.

use candle_core::Tensor;

use crate::error::Result;
use crate::nn::gru::{BahdanauUnit, GatedCell};

/// Which way a sentence is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Backward,
}

impl Direction {
    /// Slots of the state before and after reading word t: forward t -> t + 1, backward t + 1 -> t.
    pub fn slots(self, t: usize) -> (usize, usize) {
        match self {
            Self::Forward => (t, t + 1),
            Self::Backward => (t + 1, t),
        }
    }

    pub fn order(self, t_x: usize, reversed: bool) -> impl Iterator<Item = usize> {
        let falling = (self == Self::Forward) == reversed;
        (0..t_x).map(move |t| if falling { t_x - 1 - t } else { t })
    }

    pub fn start(self, t_x: usize) -> usize {
        if self == Self::Forward { 0 } else { t_x }
    }
}

/// States after each position, t_x of [b, n], by position; `e` [t_x, b, m]; `mask` [t_x, b, 1] is 0 at padding.
pub fn read(cell: &dyn GatedCell, e: &Tensor, mask: Option<&Tensor>, direction: Direction) -> Result<Vec<Tensor>> {
    let (t_x, b, _) = e.dims3()?;
    let x = cell.matrices().input(e)?.positions()?; // t_x times 3 x [b, n]
    let mut s = Tensor::zeros((b, cell.matrices().hidden()?), e.dtype(), e.device())?; // [b, n]
    let mut states = Vec::with_capacity(t_x);
    for t in direction.order(t_x, false) {
        let next = cell.step(&x[t], None, &s)?;
        s = match mask {
            None => next,
            // mask * next + (1 - mask) * s
            Some(mask) => (&s + (next - &s)?.broadcast_mul(&mask.get(t)?)?)?,
        };
        states.push(s.clone());
    }
    if direction == Direction::Backward {
        states.reverse();
    }
    for s_t in &states {
        cell.matrices().trace.note("states", s_t);
    }
    Ok(states)
}

/// The bidirectional encoder of Bahdanau et al. 2015, appendix A.2.1.
#[derive(Clone, Debug)]
pub struct Bidirectional {
    pub forward: BahdanauUnit,
    pub backward: BahdanauUnit,
}

impl Bidirectional {
    /// h_j = [->h_j; <-h_j], [b, t_x, 2n]. Arguments as for [`read`].
    pub fn annotate(&self, e: &Tensor, mask: Option<&Tensor>) -> Result<Tensor> {
        let h_fwd = Tensor::stack(&read(&self.forward, e, mask, Direction::Forward)?, 1)?; // [b, t_x, n]
        let h_bwd = Tensor::stack(&read(&self.backward, e, mask, Direction::Backward)?, 1)?; // [b, t_x, n]
        Ok(Tensor::cat(&[h_fwd, h_bwd], 2)?) // [b, t_x, 2n]
    }
}
