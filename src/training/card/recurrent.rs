//! The recurrences of gated units over whole minibatches (Bahdanau et al. 2015, appendix A), each one node of the
//! graph: what does not depend on the step before is done for all steps at once, back too.

use candle_core::Tensor;

use crate::card::kernels::{AdditiveLook, UnitInput, gates, gates_back, propose, propose_back};
use crate::card::node::{by_hand, flat, pieces};
use engine::{error::Result, nn::bidirectional::Direction};

/// U of z and r, [2n, n], and of the proposal, [n, n].
#[derive(Clone, Debug)]
pub struct Recurrent {
    pub gates: Tensor,
    pub proposal: Tensor,
}

impl Recurrent {
    fn detached(&self) -> Self {
        Self { gates: self.gates.detach(), proposal: self.proposal.detach() }
    }

    /// U_z, U_r and zeros below, [3n, n]: the gradient of all that is read times it is that of s' through z and r.
    fn padded(&self) -> Result<Tensor> {
        Ok(Tensor::cat(&[&self.gates, &self.proposal.zeros_like()?], 0)?)
    }

    /// A step from s' to s.
    fn step(&self, input: UnitInput<'_>, s_prev: &Tensor, mask: Option<&Tensor>) -> Result<UnitStep> {
        let gates = gates(input, &s_prev.matmul(&self.gates.t()?)?, s_prev)?;
        let next = propose(input, &gates.get(2)?.matmul(&self.proposal.t()?)?, &gates, s_prev, mask)?;
        let (s, s_tilde) = (next.get(0)?, next.get(1)?);
        Ok(UnitStep { s_prev: s_prev.clone(), gates, s, s_tilde, mask: mask.cloned() })
    }

    /// The gradient of what a step read, [b, 3n], and the two parts of that of s', from the parts of that of s.
    fn back(&self, padded: &Tensor, unit: &UnitStep, d: [Option<&Tensor>; 4]) -> Result<(Tensor, [Tensor; 2])> {
        let back = propose_back(d, &unit.gates, &unit.s_tilde, &unit.s_prev, unit.mask.as_ref())?;
        let d_reset = back.get(1)?.matmul(&self.proposal)?;
        let (read, ds) = gates_back(&d_reset, &back, &unit.gates, &unit.s_prev)?;
        let through = read.matmul(padded)?;
        Ok((read, [ds, through]))
    }

    /// The gradients of both from those of what was read at the steps of these units, [steps, b, 3n], and s' of all of
    /// them, [steps * b, n].
    fn weights_back(read: &Tensor, s_prev: &Tensor, units: &[UnitStep]) -> Result<Self> {
        let n = read.dim(2)? / 3;
        let of = |first: usize, count: usize| -> Result<Tensor> {
            Ok(read.narrow(2, first * n, count * n)?.contiguous()?.flatten(0, 1)?.t()?)
        };
        let reset: Vec<Tensor> = units.iter().map(|unit| unit.gates.get(2)).collect::<candle_core::Result<_>>()?;
        Ok(Self { gates: of(0, 2)?.matmul(s_prev)?, proposal: of(2, 1)?.matmul(&Tensor::cat(&reset, 0)?)? })
    }
}

struct UnitStep {
    s_prev: Tensor,
    /// z, r and r * s', [3, b, n].
    gates: Tensor,
    s: Tensor,
    s_tilde: Tensor,
    /// 0 where there is padding, [b, 1].
    mask: Option<Tensor>,
}

/// The states after each position, [t_x, b, n], from `x` = W e + b, [t_x, b, 3n]; `mask` [t_x, b, 1] is 0 at padding.
pub fn read(x: &Tensor, u: &Recurrent, mask: Option<&Tensor>, direction: Direction) -> Result<Tensor> {
    let (t_x, b, _) = x.dims3()?;
    let (own, all) = (u.detached(), x.detach());
    let mut s = Tensor::zeros((b, own.proposal.dim(0)?), x.dtype(), x.device())?;
    let mut units: Vec<UnitStep> = Vec::with_capacity(t_x); // in reading order
    for t in direction.order(t_x, false) {
        let mask = mask.map(|mask| mask.get(t)).transpose()?;
        let unit = own.step(UnitInput { x: &all.get(t)?, c: None }, &s, mask.as_ref())?;
        s = unit.s.clone();
        units.push(unit);
    }
    let mut states: Vec<&Tensor> = units.iter().map(|unit| &unit.s).collect();
    if direction == Direction::Backward {
        states.reverse();
    }
    let states = Tensor::stack(&states, 0)?;
    by_hand(&states, [x, &u.gates, &u.proposal], move |d| {
        let (d, padded) = (d.contiguous()?, own.padded()?);
        let mut later: Option<[Tensor; 2]> = None;
        let mut read = Vec::with_capacity(t_x);
        for (unit, t) in units.iter().rev().zip(direction.order(t_x, true)) {
            let parts = later.as_ref();
            let of = [Some(&d.get(t)?), parts.map(|parts| &parts[0]), parts.map(|parts| &parts[1]), None];
            let (gradient, parts) = own.back(&padded, unit, of)?;
            read.push(gradient);
            later = Some(parts);
        }
        read.reverse(); // in reading order
        let all = Tensor::stack(&read, 0)?;
        let s_prev: Vec<&Tensor> = units.iter().map(|unit| &unit.s_prev).collect();
        let weights = Recurrent::weights_back(&all, &Tensor::cat(&s_prev, 0)?, &units)?;
        let x = if direction == Direction::Backward {
            read.reverse();
            Tensor::stack(&read, 0)?
        } else {
            all
        };
        Ok([Some(x), Some(weights.gates), Some(weights.proposal)])
    })
}

/// What the decoder has beside its recurrence.
#[derive(Clone, Debug)]
pub struct Decoder {
    pub u: Recurrent,
    /// C_z, C_r and C one above the other, [3n, 2n].
    pub c: Tensor,
    pub w_a: Tensor,
    /// v_a, the keys and where words are.
    pub look: AdditiveLook,
    pub start: Tensor,
}

/// What the decoder did at the steps of a minibatch.
#[derive(Debug)]
pub struct DecodedSteps {
    /// s_{i-1}, [t_y, b, n].
    pub s_prev: Tensor,
    /// c_i, [t_y, b, 2n].
    pub c: Tensor,
    /// alpha_i, [t_y, b, t_x].
    pub alpha: Tensor,
}

impl Decoder {
    fn detached(&self) -> Self {
        let look =
            AdditiveLook { keys: self.look.keys.detach(), v: self.look.v.detach(), mask: self.look.mask.clone() };
        let (c, w_a, start) = (self.c.detach(), self.w_a.detach(), self.start.detach());
        Self { u: self.u.detached(), c, w_a, look, start }
    }

    /// What has gradients, in one row of numbers: a node has three tensors at most.
    fn flat(&self) -> Result<Tensor> {
        let Self { u, c, w_a, look, start } = self;
        flat(&[&u.gates, &u.proposal, c, w_a, &look.v, &look.keys, start])
    }

    /// All steps, from `x` = W e + b of the words before, [t_y, b, 3n], and the annotations `h`, [b, t_x, 2n].
    pub fn decode(&self, x: &Tensor, h: &Tensor) -> Result<DecodedSteps> {
        let ((t_y, b, _), (_, t_x, two_n)) = (x.dims3()?, h.dims3()?);
        let (own, all, annotations) = (self.detached(), x.detach(), h.detach());
        let mut s = own.start.clone();
        let (mut units, mut steps) = (Vec::with_capacity(t_y), Vec::with_capacity(t_y));
        for i in 0..t_y {
            let query = s.matmul(&own.w_a.t()?)?;
            let alpha = own.look.look(&query)?;
            let c = alpha.unsqueeze(1)?.matmul(&annotations)?.squeeze(1)?;
            let s_prev = s.clone();
            if i + 1 < t_y {
                let of_context = c.matmul(&own.c.t()?)?;
                let unit = own.u.step(UnitInput { x: &all.get(i)?, c: Some(&of_context) }, &s, None)?;
                s = unit.s.clone();
                units.push(unit);
            }
            steps.push(LookStep { s_prev, query, alpha, c });
        }
        let done = DecodedSteps {
            s_prev: all_of(&steps, |step| &step.s_prev)?,
            c: all_of(&steps, |step| &step.c)?,
            alpha: all_of(&steps, |step| &step.alpha)?,
        };
        let value = flat(&[&done.s_prev, &done.c, &done.alpha])?;
        let n = two_n / 2;
        let shapes = [[t_y, b, n], [t_y, b, two_n], [t_y, b, t_x]];
        let node = by_hand(&value, [x, h, &self.flat()?], move |d| {
            let [ds, dc, dalpha] = pieces(d, &shapes)?;
            own.back((&units, &steps, &done), &annotations, [&ds, &dc, &dalpha])
        })?;
        let [s_prev, c, alpha] = pieces(&node, &shapes)?;
        Ok(DecodedSteps { s_prev, c, alpha })
    }

    fn back(
        &self, (units, steps, done): (&[UnitStep], &[LookStep], &DecodedSteps), h: &Tensor,
        [ds, dc, dalpha]: [&Tensor; 3],
    ) -> Result<[Option<Tensor>; 3]> {
        let (t_y, b, n) = ds.dims3()?;
        let (padded, h_t) = (self.u.padded()?, h.transpose(1, 2)?);
        let (mut reads, mut contexts, mut energies, mut queries) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        // of s_i, from the steps behind it
        let mut later: Vec<Tensor> = Vec::new();
        for i in (0..t_y).rev() {
            let (step, mut of_c, mut earlier) = (&steps[i], dc.get(i)?, Vec::with_capacity(3));
            if let Some(unit) = units.get(i) {
                let own = ds.get(i + 1)?;
                let parts = [Some(&own), later.first(), later.get(1), later.get(2)];
                let (read, [skipping, through]) = self.u.back(&padded, unit, parts)?;
                of_c = (of_c + read.matmul(&self.c)?)?;
                earlier.extend([skipping, through]);
                reads.push(read);
            }
            let of_alpha = of_c.unsqueeze(1)?.matmul(&h_t)?.squeeze(1)?;
            let (de, dq) = self.look.back(&step.query, &step.alpha, [&dalpha.get(i)?, &of_alpha])?;
            earlier.push(dq.matmul(&self.w_a)?);
            later = earlier;
            contexts.push(of_c);
            energies.push(de);
            queries.push(dq);
        }
        let mut start = ds.get(0)?;
        for part in &later {
            start = (start + part)?;
        }
        for all in [&mut reads, &mut contexts, &mut energies, &mut queries] {
            all.reverse();
        }
        let (contexts, energies, dq) =
            (Tensor::stack(&contexts, 0)?, Tensor::stack(&energies, 0)?, Tensor::cat(&queries, 0)?);
        let DecodedSteps { s_prev, c, alpha } = done;
        let (keys, v) = self.look.keys_back(&all_of(steps, |step| &step.query)?, &energies)?;
        let w_a = dq.t()?.matmul(&s_prev.flatten(0, 1)?)?;
        // of h_j through all contexts: sum_i alpha_ij dc_i
        let of_h = alpha.permute((1, 2, 0))?.contiguous()?.matmul(&contexts.transpose(0, 1)?.contiguous()?)?;
        // what the last step reads goes nowhere
        let nothing = Tensor::zeros((b, 3 * n), ds.dtype(), ds.device())?;
        let (weights, of_c) = if reads.is_empty() {
            (
                Recurrent { gates: self.u.gates.zeros_like()?, proposal: self.u.proposal.zeros_like()? },
                self.c.zeros_like()?,
            )
        } else {
            let all = Tensor::stack(&reads, 0)?;
            let steps = t_y - 1;
            let of_c = all.flatten(0, 1)?.t()?.matmul(&c.narrow(0, 0, steps)?.flatten(0, 1)?)?;
            (Recurrent::weights_back(&all, &s_prev.narrow(0, 0, steps)?.flatten(0, 1)?, units)?, of_c)
        };
        reads.push(nothing);
        let rest = flat(&[&weights.gates, &weights.proposal, &of_c, &w_a, &v, &keys, &start])?;
        Ok([Some(Tensor::stack(&reads, 0)?), Some(of_h), Some(rest)])
    }
}

struct LookStep {
    s_prev: Tensor,
    query: Tensor,
    alpha: Tensor,
    c: Tensor,
}

/// One tensor of all steps, [t_y, b, ..].
fn all_of(steps: &[LookStep], pick: impl Fn(&LookStep) -> &Tensor) -> Result<Tensor> {
    Ok(Tensor::stack(&steps.iter().map(pick).collect::<Vec<_>>(), 0)?)
}
