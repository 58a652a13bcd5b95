//! RNNsearch from few large nodes.

use candle_core::Tensor;

use crate::card::kernels::AdditiveLook;
use crate::card::recurrent::{Decoder, Recurrent, read};
use crate::card::tensors::{CardHidden, CardTensors, GATES};
use engine::error::Result;
use engine::models::{batch::Batch, loss::Regularizer};
use engine::nn::linear::affine;
use engine::nn::{bidirectional::Direction, maxout::DeepOutput};

fn recurrent(own: &CardTensors, unit: &str) -> Result<Recurrent> {
    Ok(Recurrent { gates: own.stacked(unit, "U", &GATES[..2])?, proposal: own.get(&format!("{unit}.U"))? })
}

/// W e + b, [t, b, 3n].
fn input(own: &CardTensors, unit: &str, e: &Tensor) -> Result<Tensor> {
    affine(&own.stacked(unit, "W", &GATES)?, &own.stacked(unit, "b", &GATES)?, e)
}

/// t of the deep output and alpha.
pub fn hidden(own: &CardTensors, source: &Batch, target: &Batch, regularizer: &mut Regularizer) -> Result<CardHidden> {
    let e = regularizer.drop(&own.source(source)?)?; // [t_x, b, m]
    let mask = source.time_mask(e.dtype(), e.device())?;
    let one = |unit: &str, direction| read(&input(own, unit, &e)?, &recurrent(own, unit)?, mask.as_ref(), direction);
    let (forward, backward) =
        (one("encoder.forward", Direction::Forward)?, one("encoder.backward", Direction::Backward)?);
    let start = affine(&own.get("decoder.W_s")?, &own.get("decoder.b_s")?, &backward.get(0)?)?.tanh()?;
    let h = Tensor::cat(&[forward, backward], 2)?.transpose(0, 1)?.contiguous()?; // [b, t_x, 2n]
    let e = regularizer.drop(&own.target(target, None)?)?; // [t_y, b, m]
    let decoder = Decoder {
        u: recurrent(own, "decoder")?,
        c: own.stacked("decoder", "C", &GATES)?,
        w_a: own.get("attention.W_a")?,
        look: AdditiveLook {
            keys: affine(&own.get("attention.U_a")?, &own.get("attention.b_a")?, &h)?,
            v: own.get("attention.v_a")?,
            mask: source.mask(h.dtype(), h.device())?,
        },
        start,
    };
    let decoded = decoder.decode(&input(own, "decoder", &e)?, &h)?;
    let readout = DeepOutput::find(&own.at("readout"), ["U_o", "V_o", "C_o"])?;
    Ok(CardHidden { t: readout.t(&decoded.s_prev, &e, &decoded.c)?, alpha: Some(decoded.alpha) })
}
