//! Floor 6: the loss of RNNsearch as the readable form has it (`models::rnn_search`), from few large nodes.

use std::collections::HashMap;

use candle_core::{D, Device, Tensor};

use crate::error::{Error, Result};
use crate::models::batch::Batch;
use crate::models::loss::{Loss, Regularizer, guide};
use crate::nn::bidirectional::Direction;
use crate::nn::linear::{Parameters, affine, apply};
use crate::nn::maxout::DeepOutput;
use crate::training::card::kernels::{Look, cross_entropy, cross_entropy_back, scatter};
use crate::training::card::node::by_hand;
use crate::training::card::recurrent::{Decoder, Recurrent, read};

/// RNNsearch over given tensors.
#[derive(Debug)]
pub struct Search {
    tensors: HashMap<String, Tensor>,
}

impl Search {
    /// Over tensors by the names of [`crate::models::shapes`]; variables stay variables.
    pub fn new(tensors: HashMap<String, Tensor>) -> Self {
        Self { tensors }
    }

    fn get(&self, name: &str) -> Result<&Tensor> {
        self.tensors.get(name).ok_or_else(|| Error::Internal(format!("the tensor `{name}` was not given")))
    }

    /// Those of z, r and the proposal one above the other.
    fn of_gates(&self, unit: &str, letter: &str) -> Result<Tensor> {
        let all = [self.get(&format!("{unit}.{letter}_z"))?, self.get(&format!("{unit}.{letter}_r"))?];
        Ok(Tensor::cat(&[all[0], all[1], self.get(&format!("{unit}.{letter}"))?], 0)?)
    }

    fn recurrent(&self, unit: &str) -> Result<Recurrent> {
        let gates = Tensor::cat(&[self.get(&format!("{unit}.U_z"))?, self.get(&format!("{unit}.U_r"))?], 0)?;
        Ok(Recurrent { gates, proposal: self.get(&format!("{unit}.U"))?.clone() })
    }

    /// W e + b, [t, b, 3n].
    fn input(&self, unit: &str, e: &Tensor) -> Result<Tensor> {
        affine(&self.of_gates(unit, "W")?, &self.of_gates(unit, "b")?, e)
    }

    /// Both directions, [t_x, b, n] each.
    fn encode(&self, source: &Batch, regularizer: &mut Regularizer) -> Result<[Tensor; 2]> {
        let table = self.get("source_embedding")?;
        let e = rows(table, &source.ids)?.reshape((source.longest, source.sentences(), ()))?;
        let e = regularizer.drop(&e)?; // [t_x, b, m]
        let mask = source.time_mask(e.dtype(), e.device())?;
        let one =
            |unit: &str, direction| read(&self.input(unit, &e)?, &self.recurrent(unit)?, mask.as_ref(), direction);
        Ok([one("encoder.forward", Direction::Forward)?, one("encoder.backward", Direction::Backward)?])
    }

    /// As [`crate::models::loss::Trainable::guided_loss`], without label smoothing.
    ///
    /// # Errors
    /// What the device refuses.
    pub fn loss(
        &self,
        source: &[&[u32]],
        target: &[&[u32]],
        links: Option<&Tensor>,
        regularizer: &mut Regularizer,
    ) -> Result<Loss> {
        let (source, target) = (Batch::new(source)?, Batch::new(target)?);
        let [forward, backward] = self.encode(&source, regularizer)?;
        let start = affine(self.get("decoder.W_s")?, self.get("decoder.b_s")?, &backward.get(0)?)?.tanh()?;
        let h = Tensor::cat(&[forward, backward], 2)?.transpose(0, 1)?.contiguous()?; // [b, t_x, 2n]
        let e = regularizer.drop(&self.words_before(&target)?)?; // [t_y, b, m]
        let decoder = Decoder {
            u: self.recurrent("decoder")?,
            c: self.of_gates("decoder", "C")?,
            w_a: self.get("attention.W_a")?.clone(),
            look: Look {
                keys: affine(self.get("attention.U_a")?, self.get("attention.b_a")?, &h)?,
                v: self.get("attention.v_a")?.clone(),
                mask: source.mask(h.dtype(), h.device())?,
            },
            start,
        };
        let decoded = decoder.decode(&self.input("decoder", &e)?, &h)?;
        let readout = DeepOutput::find(&Parameters::new(&self.tensors).at("readout"), ["U_o", "V_o", "C_o"])?;
        let flat = |tensor: &Tensor| tensor.flatten(0, 1);
        let t = readout.t(&flat(&decoded.s)?, &flat(&e)?, &flat(&decoded.c)?)?; // [t_y * b, l]
        let (places, y) = target.words();
        let t = if target.is_padded() { rows(&t, &places)? } else { t };
        let nll = self.losses(&regularizer.drop(&t)?, &y)?.sum_all()?;
        let guide = links.map(|links| guide(links, &decoded.alpha)).transpose()?;
        Ok(Loss { objective: nll.clone(), nll, words: y.len(), guide })
    }

    /// The embeddings of zeros, y_1 .. y_{T-1}, [t_y, b, m].
    fn words_before(&self, target: &Batch) -> Result<Tensor> {
        let (table, b) = (self.get("target_embedding")?, target.sentences());
        let start = Tensor::zeros((b, table.dim(D::Minus1)?), table.dtype(), table.device())?;
        let before = &target.ids[..target.ids.len() - b];
        let all = if before.is_empty() { start } else { Tensor::cat(&[start, rows(table, before)?], 0)? };
        Ok(all.reshape((target.longest, b, ()))?)
    }

    /// -log p(y) of each row of t, [words].
    fn losses(&self, t: &Tensor, y: &[u32]) -> Result<Tensor> {
        let (logits, bias) = (apply(self.get("readout.W_o")?, t)?, self.get("readout.b_w")?); // [words, K_y]
        let y = ids(y, t.device())?;
        let (own, own_bias) = (logits.detach(), bias.detach());
        let both = cross_entropy(&own, &own_bias, &y)?;
        by_hand(&both.get(0)?, [&logits, bias, bias], move |d| {
            let of_logits = cross_entropy_back(&own, &own_bias, &y, &both, &d.contiguous()?)?;
            let ones = Tensor::ones((1, of_logits.dim(0)?), d.dtype(), d.device())?;
            let of_bias = ones.matmul(&of_logits)?.squeeze(0)?;
            Ok([Some(of_logits), Some(of_bias), None])
        })
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
