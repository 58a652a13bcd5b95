//! The loss of RNNsearch as the readable form has it (`models::rnn_search`), from few large nodes.

use std::collections::HashMap;

use candle_core::{Device, Tensor};

use crate::card::kernels::{AdditiveLook, cross_entropy, cross_entropy_back, scatter};
use crate::card::node::by_hand;
use crate::card::recurrent::{Decoder, Recurrent, read};
use engine::error::Result;
use engine::models::batch::{Batch, shifted};
use engine::models::loss::{Loss, Regularizer, guide};
use engine::nn::linear::{Parameters, affine, apply};
use engine::nn::{bidirectional::Direction, maxout::DeepOutput};

/// RNNsearch over given tensors.
#[derive(Debug)]
pub struct Search {
    tensors: HashMap<String, Tensor>,
}

impl Search {
    /// Over tensors by the names of [`engine::models::shapes`]; variables stay variables.
    pub fn new(tensors: HashMap<String, Tensor>) -> Self {
        Self { tensors }
    }

    fn get(&self, name: &str) -> Result<Tensor> {
        Parameters::new(&self.tensors).get(name)
    }

    /// Those of z, r and the proposal one above the other.
    fn of_gates(&self, unit: &str, letter: &str) -> Result<Tensor> {
        let all = ["_z", "_r", ""].map(|gate| self.get(&format!("{unit}.{letter}{gate}")));
        Ok(Tensor::cat(&all.into_iter().collect::<Result<Vec<_>>>()?, 0)?)
    }

    fn recurrent(&self, unit: &str) -> Result<Recurrent> {
        let gates = Tensor::cat(&[self.get(&format!("{unit}.U_z"))?, self.get(&format!("{unit}.U_r"))?], 0)?;
        Ok(Recurrent { gates, proposal: self.get(&format!("{unit}.U"))? })
    }

    /// W e + b, [t, b, 3n].
    fn input(&self, unit: &str, e: &Tensor) -> Result<Tensor> {
        affine(&self.of_gates(unit, "W")?, &self.of_gates(unit, "b")?, e)
    }

    /// Both directions, [t_x, b, n] each.
    fn encode(&self, source: &Batch, regularizer: &mut Regularizer) -> Result<[Tensor; 2]> {
        let table = self.get("source_embedding")?;
        let e = rows(&table, &source.ids)?.reshape((source.longest, source.sentences(), ()))?;
        let e = regularizer.drop(&e)?; // [t_x, b, m]
        let mask = source.time_mask(e.dtype(), e.device())?;
        let one =
            |unit: &str, direction| read(&self.input(unit, &e)?, &self.recurrent(unit)?, mask.as_ref(), direction);
        Ok([one("encoder.forward", Direction::Forward)?, one("encoder.backward", Direction::Backward)?])
    }

    /// As [`engine::models::loss::Trainable::guided_loss`].
    pub fn loss(
        &self, source: &[&[u32]], target: &[&[u32]], links: Option<&Tensor>, regularizer: &mut Regularizer,
    ) -> Result<Loss> {
        let (source, target) = (Batch::new(source)?, Batch::new(target)?);
        let [forward, backward] = self.encode(&source, regularizer)?;
        let start = affine(&self.get("decoder.W_s")?, &self.get("decoder.b_s")?, &backward.get(0)?)?.tanh()?;
        let h = Tensor::cat(&[forward, backward], 2)?.transpose(0, 1)?.contiguous()?; // [b, t_x, 2n]
        let e = regularizer.drop(&shifted(&self.get("target_embedding")?, &target, None, rows)?)?; // [t_y, b, m]
        let decoder = Decoder {
            u: self.recurrent("decoder")?,
            c: self.of_gates("decoder", "C")?,
            w_a: self.get("attention.W_a")?,
            look: AdditiveLook {
                keys: affine(&self.get("attention.U_a")?, &self.get("attention.b_a")?, &h)?,
                v: self.get("attention.v_a")?,
                mask: source.mask(h.dtype(), h.device())?,
            },
            start,
        };
        let decoded = decoder.decode(&self.input("decoder", &e)?, &h)?;
        let readout = DeepOutput::find(&Parameters::new(&self.tensors).at("readout"), ["U_o", "V_o", "C_o"])?;
        let flat = |tensor: &Tensor| tensor.flatten(0, 1);
        let t = readout.t(&flat(&decoded.s_prev)?, &flat(&e)?, &flat(&decoded.c)?)?; // [t_y * b, l]
        let (places, y) = target.words();
        let t = if target.is_padded() { rows(&t, &places)? } else { t }; // [words, l]
        let (objective, nll) = self.losses(&regularizer.drop(&t)?, &y, regularizer.label_smoothing)?;
        let guide = links.map(|links| guide(links, &decoded.alpha)).transpose()?;
        Ok(Loss { objective, nll, words: y.len(), guide })
    }

    /// -log p(y) of all rows of t, [words, l], smoothed by epsilon, and as it is.
    fn losses(&self, t: &Tensor, y: &[u32], epsilon: f64) -> Result<(Tensor, Tensor)> {
        let (logits, bias) = (apply(&self.get("readout.W_o")?, t)?, self.get("readout.b_w")?); // [words, K_y]
        let y = ids(y, t.device())?;
        let (own, own_bias) = (logits.detach(), bias.detach());
        let found = cross_entropy(&own, &own_bias, &y)?;
        let (nll, uniform) = (found.get(0)?, (found.get(1)? - found.get(2)?)?);
        let smoothed = ((&nll * (1.0 - epsilon))? + (uniform * epsilon)?)?; // [words]
        let node = by_hand(&smoothed, [&logits, &bias, &bias], move |d| {
            let of_logits = cross_entropy_back([&own, &own_bias, &y], &found, &d.contiguous()?, epsilon)?;
            let ones = Tensor::ones((1, of_logits.dim(0)?), d.dtype(), d.device())?;
            let of_bias = ones.matmul(&of_logits)?.squeeze(0)?;
            Ok([Some(of_logits), Some(of_bias), None])
        })?;
        Ok((node.sum_all()?, nll.sum_all()?))
    }
}

fn ids(all: &[u32], device: &Device) -> Result<Tensor> {
    Ok(Tensor::from_slice(all, all.len(), device)?)
}

/// Rows of `table` by their numbers, [numbers, m].
fn rows(table: &Tensor, numbers: &[u32]) -> Result<Tensor> {
    let (numbers, count) = (ids(numbers, table.device())?, table.dim(0)?);
    let value = table.detach().index_select(&numbers, 0)?;
    by_hand(&value, [table, table, table], move |d| Ok([Some(scatter(count, &numbers, &d.contiguous()?)?), None, None]))
}
