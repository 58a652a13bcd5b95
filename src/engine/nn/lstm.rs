//! The long short-term memory of Zaremba et al. 2015, as Luong et al. 2015 stack it.
//!
//! i, f, o = sigm(W x + U h' + b), g = tanh(W x + U h' + b), c = f * c' + i * g, h = o * tanh(c): no
//! peepholes, and no constant is added to the bias of the forget gate. Dropout, as Zaremba et al. apply it,
//! falls on the input x of a layer alone and never on what goes from one step to the next.
//!
//! Batches are time-major, [t_x, b, ..]. Where there is padding the previous state stays; a backward reader
//! therefore still holds zeros when it meets the last real word of a shorter sentence.

use candle_core::Tensor;
use candle_nn::ops::sigmoid;

use crate::error::Result;
use crate::nn::linear::{Parameters, affine, apply, positions};
use crate::nn::{bidirectional::Direction, trace::Trace};

/// Something for each of the input, forget and output gates i, f, o and the proposal g.
#[derive(Clone, Debug)]
pub struct LstmGates {
    pub i: Tensor,
    pub f: Tensor,
    pub o: Tensor,
    pub g: Tensor,
}

impl LstmGates {
    fn find(parameters: &Parameters<'_>, letter: &str) -> Result<Self> {
        let get = |gate: &str| parameters.get(&format!("{letter}_{gate}"));
        Ok(Self { i: get("i")?, f: get("f")?, o: get("o")?, g: get("g")? })
    }

    fn map(&self, f: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Self> {
        Ok(Self { i: f(&self.i)?, f: f(&self.f)?, o: f(&self.o)?, g: f(&self.g)? })
    }

    pub fn positions(&self) -> Result<Vec<Self>> {
        let i_and_f = positions(&self.i)?.into_iter().zip(positions(&self.f)?);
        let o_and_g = positions(&self.o)?.into_iter().zip(positions(&self.g)?);
        Ok(i_and_f.zip(o_and_g).map(|((i, f), (o, g))| Self { i, f, o, g }).collect())
    }

    /// W x for each W: `x` [.., d] gives [.., n].
    pub fn apply(&self, x: &Tensor) -> Result<Self> {
        self.map(|w| apply(w, x))
    }

    pub fn plus(&self, other: &Self) -> Result<Self> {
        let (a, b) = (self, other);
        Ok(Self { i: (&a.i + &b.i)?, f: (&a.f + &b.f)?, o: (&a.o + &b.o)?, g: (&a.g + &b.g)? })
    }
}

/// What a layer keeps from one step to the next.
#[derive(Clone, Debug)]
pub struct LstmState {
    /// The state that others see, h, [rows, n].
    pub h: Tensor,
    /// The memory cell, c, [rows, n].
    pub c: Tensor,
}

/// One layer: W [n, d], U [n, n] and b [n], each four times.
#[derive(Clone, Debug)]
pub struct Lstm {
    w: LstmGates,
    u: LstmGates,
    b: LstmGates,
    trace: Trace,
}

impl Lstm {
    /// From `W_{g}`, `U_{g}`, `b_{g}` for g in i, f, o, g.
    pub fn find(parameters: &Parameters<'_>) -> Result<Self> {
        let find = |letter| LstmGates::find(parameters, letter);
        Ok(Self { w: find("W")?, u: find("U")?, b: find("b")?, trace: parameters.trace() })
    }

    pub fn stack(parameters: &Parameters<'_>, layers: usize) -> Result<Vec<Self>> {
        (0..layers).map(|k| Self::find(&parameters.at(&k.to_string()))).collect()
    }

    /// W x + b of all positions at once: `x` [.., d] gives [.., n] for each gate.
    pub fn input(&self, x: &Tensor) -> Result<LstmGates> {
        let (w, b) = (&self.w, &self.b);
        Ok(LstmGates {
            i: affine(&w.i, &b.i, x)?,
            f: affine(&w.f, &b.f, x)?,
            o: affine(&w.o, &b.o, x)?,
            g: affine(&w.g, &b.g, x)?,
        })
    }

    /// W [e; fed] + b = (W_e e + b) + W_fed fed: the layer that reads e, of length `m`, and W_fed.
    pub fn split(&self, m: usize) -> Result<(Self, LstmGates)> {
        let columns = |from: usize, to: Option<usize>| {
            self.w.map(|w| Ok(w.narrow(1, from, to.unwrap_or(w.dim(1)?) - from)?.contiguous()?))
        };
        Ok((Self { w: columns(0, Some(m))?, ..self.clone() }, columns(m, None)?))
    }

    /// The next state from `x` = W x + b and the state before.
    pub fn step(&self, x: &LstmGates, before: &LstmState) -> Result<LstmState> {
        let u = self.u.apply(&before.h)?;
        for (name, word, state) in [("i", &x.i, &u.i), ("f", &x.f, &u.f), ("o", &x.o, &u.o), ("g", &x.g, &u.g)] {
            self.trace.note_sum(name, [("word", Some(word)), ("state", Some(state))]);
        }
        let a = x.plus(&u)?; // 4 x [rows, n]
        let (i, f, o, g) = (sigmoid(&a.i)?, sigmoid(&a.f)?, sigmoid(&a.o)?, a.g.tanh()?);
        // c = f * c' + i * g, h = o * tanh(c)
        let c = ((&f * &before.c)? + (&i * &g)?)?; // [rows, n]
        let h = (&o * c.tanh()?)?;
        let all = [("i", &i), ("f", &f), ("o", &o), ("g", &g), ("c", &c), ("h", &h)];
        for (name, value) in all {
            self.trace.note(name, value);
        }
        Ok(LstmState { h, c })
    }

    /// Reads sentences from zeros: h by position, t_x of [b, n], and the state after the last word read.
    /// `x` [t_x, b, d]; `mask` [t_x, b, 1] is 0 at padding.
    pub fn read(&self, x: &Tensor, mask: Option<&Tensor>, direction: Direction) -> Result<(Vec<Tensor>, LstmState)> {
        let (t_x, b, _) = x.dims3()?;
        let input = self.input(x)?.positions()?; // t_x times 4 x [b, n]
        let zeros = Tensor::zeros((b, self.u.i.dim(0)?), x.dtype(), x.device())?;
        let mut memory = LstmState { h: zeros.clone(), c: zeros }; // [b, n]
        let mut states = Vec::with_capacity(t_x);
        for t in direction.order(t_x, false) {
            let next = self.step(&input[t], &memory)?;
            memory = match mask {
                None => next,
                Some(mask) => {
                    let mask = mask.get(t)?; // [b, 1]
                    LstmState { h: stay(&mask, &memory.h, &next.h)?, c: stay(&mask, &memory.c, &next.c)? }
                }
            };
            states.push(memory.h.clone());
        }
        if direction == Direction::Backward {
            states.reverse();
        }
        for h_t in &states {
            self.trace.note("states", h_t);
        }
        Ok((states, memory))
    }
}

/// mask * next + (1 - mask) * before.
fn stay(mask: &Tensor, before: &Tensor, next: &Tensor) -> Result<Tensor> {
    Ok((before + (next - before)?.broadcast_mul(mask)?)?)
}
