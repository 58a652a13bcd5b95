//! RNNencdec from few large nodes (Cho et al. 2014, appendix A).

use candle_core::Tensor;

use crate::card::kernels::{cho_step, cho_step_back};
use crate::card::node::{by_hand, flat};
use crate::card::recurrent::{Recurrent, read};
use crate::card::tensors::{CardHidden, CardTensors, GATES};
use engine::error::Result;
use engine::models::{batch::Batch, loss::Regularizer};
use engine::nn::linear::{affine, apply};
use engine::nn::{bidirectional::Direction, maxout::DeepOutput};

/// Cho's z is what stays of the old state, where [`read`] has what enters of the new one: 1 - sigm(a) = sigm(-a).
fn turned(own: &CardTensors, letter: &str, gates: &[&str]) -> Result<Tensor> {
    let z = own.get(&format!("encoder.{letter}_z"))?.neg()?;
    Ok(Tensor::cat(&[z, own.stacked("encoder", letter, &gates[1..])?], 0)?)
}

/// t of the deep output.
pub fn hidden(own: &CardTensors, source: &Batch, target: &Batch, regularizer: &mut Regularizer) -> Result<CardHidden> {
    let e = regularizer.drop(&own.source(source)?)?; // [t_x, b, m]
    let mask = source.time_mask(e.dtype(), e.device())?;
    let x = affine(&turned(own, "W", &GATES)?, &turned(own, "b", &GATES)?, &e)?;
    let u = Recurrent { gates: turned(own, "U", &GATES[..2])?, proposal: own.get("encoder.U")? };
    let h_n = read(&x, &u, mask.as_ref(), Direction::Forward)?.get(source.longest - 1)?; // [b, n]
    let c = affine(&own.get("encoder.V")?, &own.get("encoder.b_c")?, &h_n)?.tanh()?;
    let start = affine(&own.get("decoder.V")?, &own.get("decoder.b_s")?, &c)?.tanh()?;
    let e = regularizer.drop(&own.target(target, None)?)?; // [t_y, b, m]
    let x = affine(&own.stacked("decoder", "W", &GATES)?, &own.stacked("decoder", "b", &GATES)?, &e)?;
    let from_context = apply(&own.stacked("decoder", "C", &GATES)?, &c)?; // [b, 3n]
    let s = decode(&x, &own.stacked("decoder", "U", &GATES)?, &from_context, &start)?;
    let readout = DeepOutput::find(&own.at("readout"), ["O_h", "O_y", "O_c"])?;
    Ok(CardHidden { t: readout.t(&s, &e, &c)?, alpha: None })
}

/// h'_t of all steps, [t_y, b, n], from `x` = W e + b, [t_y, b, 3n], U of z, r and the proposal, [3n, n], C c, [b, 3n],
/// and h'_0.
fn decode(x: &Tensor, u: &Tensor, from_context: &Tensor, start: &Tensor) -> Result<Tensor> {
    let t_y = x.dim(0)?;
    let (all, u_own, c, mut s) = (x.detach(), u.detach(), from_context.detach(), start.detach());
    let u_t = u_own.t()?;
    let (mut before, mut steps) = (Vec::with_capacity(t_y), Vec::with_capacity(t_y));
    for t in 0..t_y {
        before.push(s.clone());
        let step = cho_step(&all.get(t)?, &s.matmul(&u_t)?, &c, &s)?;
        s = step.get(0)?;
        steps.push(step);
    }
    let states = steps.iter().map(|step| step.get(0)).collect::<candle_core::Result<Vec<_>>>()?;
    by_hand(&Tensor::stack(&states, 0)?, [x, u, &flat(&[from_context, start])?], move |d| {
        let d = d.contiguous()?;
        let (mut of_x, mut of_a) = (Vec::with_capacity(t_y), Vec::with_capacity(t_y));
        let mut later: Option<[Tensor; 2]> = None;
        for t in (0..t_y).rev() {
            let parts = [Some(&d.get(t)?), later.as_ref().map(|l| &l[0]), later.as_ref().map(|l| &l[1])];
            let back = cho_step_back(parts, &steps[t], &before[t])?;
            later = Some([back.skipping, back.a.matmul(&u_own)?]);
            of_x.push(back.x);
            of_a.push(back.a);
        }
        of_x.reverse();
        of_a.reverse();
        let of_a = Tensor::stack(&of_a, 0)?; // [t_y, b, 3n]
        let of_u = of_a.flatten(0, 1)?.t()?.matmul(&Tensor::cat(&before, 0)?)?;
        let of_c = of_a.sum(0)?;
        // a batch has at least one step
        let of_start = later.map(|[skipping, through]| skipping + through).transpose()?;
        Ok([
            Some(Tensor::stack(&of_x, 0)?),
            Some(of_u),
            of_start.map(|of_start| flat(&[&of_c, &of_start])).transpose()?,
        ])
    })
}
