//! The two gated hidden units, Cho et al. 2014 (appendix A.1) and Bahdanau et al. 2015 (A.1.1).
//!
//! They are two cells, and neither is the `GRU` of candle or cuDNN:
//! - **Sense of z.** In Bahdanau's unit z is how much of the *proposal* enters: s = (1-z) s' + z s~.
//!   In Cho's unit z is how much of the *old state* stays: h = z h' + (1-z) h~.
//! - **Place of r.** The reset gate acts on the state before the recurrent product, U (r * s'), in
//!   Bahdanau's unit and in Cho's encoder. Only in Cho's decoder does it act after it, and there it
//!   covers the context too: r * (U h' + C c). Page Steps shows what becomes of it elsewhere.

use candle_core::Tensor;
pub use candle_nn::ops::sigmoid;

use crate::nn::linear::{Parameters, affine, apply, positions};
use crate::{error::Result, nn::trace::Trace};

/// Something for each of the update gate z, the reset gate r and the proposal (the candidate state).
#[derive(Clone, Debug)]
pub struct GruGates {
    pub z: Tensor,
    pub r: Tensor,
    pub proposal: Tensor,
}

impl GruGates {
    fn find(parameters: &Parameters<'_>, letter: &str) -> Result<Self> {
        let get = |gate: &str| parameters.get(&format!("{letter}{gate}"));
        Ok(Self { z: get("_z")?, r: get("_r")?, proposal: get("")? })
    }

    fn map(&self, f: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Self> {
        Ok(Self { z: f(&self.z)?, r: f(&self.r)?, proposal: f(&self.proposal)? })
    }

    pub fn positions(&self) -> Result<Vec<Self>> {
        let of_gates = positions(&self.z)?.into_iter().zip(positions(&self.r)?).zip(positions(&self.proposal)?);
        Ok(of_gates.map(|((z, r), proposal)| Self { z, r, proposal }).collect())
    }
}

/// W [n, m], U [n, n], b [n] and, in a decoder, C [n, |c|], each three times.
#[derive(Clone, Debug)]
pub struct Matrices {
    w: GruGates,
    u: GruGates,
    b: GruGates,
    c: Option<GruGates>,
    moves_reset: bool,
    pub trace: Trace,
}

impl Matrices {
    pub fn encoder(parameters: &Parameters<'_>) -> Result<Self> {
        let find = |letter| GruGates::find(parameters, letter);
        let (moves_reset, trace) = (parameters.moves_reset(), parameters.trace());
        Ok(Self { w: find("W")?, u: find("U")?, b: find("b")?, c: None, moves_reset, trace })
    }

    pub fn decoder(parameters: &Parameters<'_>) -> Result<Self> {
        Ok(Self { c: Some(GruGates::find(parameters, "C")?), ..Self::encoder(parameters)? })
    }

    pub fn hidden(&self) -> Result<usize> {
        Ok(self.u.z.dim(0)?)
    }

    /// W e + b of all positions at once: `e` [.., m] gives [.., n] for each gate.
    pub fn input(&self, e: &Tensor) -> Result<GruGates> {
        let (w, b) = (&self.w, &self.b);
        Ok(GruGates {
            z: affine(&w.z, &b.z, e)?,
            r: affine(&w.r, &b.r, e)?,
            proposal: affine(&w.proposal, &b.proposal, e)?,
        })
    }

    /// C c: `c` [rows, |c|] gives [rows, n] for each gate; `None` where the unit has no context.
    pub fn context(&self, c: &Tensor) -> Result<Option<GruGates>> {
        self.c.as_ref().map(|matrices| matrices.map(|matrix| apply(matrix, c))).transpose()
    }

    /// The gates, alike in both papers, each [rows, n]:
    /// z = sigm(W_z e + U_z s' + C_z c + b_z), r = sigm(W_r e + U_r s' + C_r c + b_r).
    fn z_and_r(&self, x: &GruGates, context: Option<&GruGates>, s_prev: &Tensor) -> Result<(Tensor, Tensor)> {
        let z = self.sum("z", &x.z, &apply(&self.u.z, s_prev)?, context.map(|c| &c.z))?;
        let r = self.sum("r", &x.r, &apply(&self.u.r, s_prev)?, context.map(|c| &c.r))?;
        let (z, r) = (sigmoid(&z)?, sigmoid(&r)?);
        self.trace.note("z", &z);
        self.trace.note("r", &r);
        Ok((z, r))
    }

    fn sum(&self, name: &str, x: &Tensor, state: &Tensor, c: Option<&Tensor>) -> Result<Tensor> {
        self.trace.note_sum(name, [("word", Some(x)), ("state", Some(state)), ("context", c)]);
        let sum = (x + state)?;
        Ok(match c {
            None => sum,
            Some(c) => sum.broadcast_add(c)?,
        })
    }

    fn reset(&self, r: &Tensor, s_prev: &Tensor) -> Result<Tensor> {
        let u = &self.u.proposal;
        if self.moves_reset { Ok((r * apply(u, s_prev)?)?) } else { apply(u, &(r * s_prev)?) }
    }
}

/// A gated unit: state in, state out.
pub trait GatedCell {
    fn matrices(&self) -> &Matrices;

    /// The next state [rows, n] from `x` = W e + b, `context` = C c and the state before.
    fn step(&self, x: &GruGates, context: Option<&GruGates>, s_prev: &Tensor) -> Result<Tensor>;
}

/// The unit of Bahdanau et al. 2015, appendix A.1.1 (encoder) and A.2.2 (decoder).
#[derive(Clone, Debug)]
pub struct BahdanauUnit(pub Matrices);

impl GatedCell for BahdanauUnit {
    fn matrices(&self) -> &Matrices {
        &self.0
    }

    fn step(&self, x: &GruGates, context: Option<&GruGates>, s_prev: &Tensor) -> Result<Tensor> {
        let (z, r) = self.0.z_and_r(x, context, s_prev)?;
        // s~ = tanh(W e + U (r * s') + C c + b)
        let reset = self.0.reset(&r, s_prev)?;
        let s_tilde = self.0.sum("proposal", &x.proposal, &reset, context.map(|c| &c.proposal))?.tanh()?; // [rows, n]
        self.0.trace.note("proposal", &s_tilde);
        // s = (1 - z) * s' + z * s~  =  s' + z * (s~ - s')
        Ok((s_prev + (z * (s_tilde - s_prev)?)?)?) // [rows, n]
    }
}

/// The unit of Cho et al. 2014, appendix A.1 (encoder) and A.2 (decoder, where there is a context).
#[derive(Clone, Debug)]
pub struct ChoUnit(pub Matrices);

impl GatedCell for ChoUnit {
    fn matrices(&self) -> &Matrices {
        &self.0
    }

    fn step(&self, x: &GruGates, context: Option<&GruGates>, h_prev: &Tensor) -> Result<Tensor> {
        let (z, r) = self.0.z_and_r(x, context, h_prev)?;
        let recurrent = match context {
            // Encoder: h~ = tanh(W e + U (r * h') + b)
            None => self.0.reset(&r, h_prev)?,
            // Decoder: h~ = tanh(W e + r * (U h' + C c) + b)
            Some(c) if !self.0.moves_reset => (r * apply(&self.0.u.proposal, h_prev)?.broadcast_add(&c.proposal)?)?,
            // Not the paper's: h~ = tanh(W e + U (r * h') + C c + b)
            Some(c) => apply(&self.0.u.proposal, &(r * h_prev)?)?.broadcast_add(&c.proposal)?,
        };
        self.0.trace.note_sum("proposal", [("word", Some(&x.proposal)), ("state", Some(&recurrent))]);
        let h_tilde = (&x.proposal + recurrent)?.tanh()?; // [rows, n]
        self.0.trace.note("proposal", &h_tilde);
        // h = z * h' + (1 - z) * h~  =  h~ + z * (h' - h~)
        Ok((&h_tilde + (z * (h_prev - &h_tilde)?)?)?) // [rows, n]
    }
}
