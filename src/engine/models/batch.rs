//! Sentences of ids as padded tensors, and rows of embeddings.

use candle_core::{DType, Device, Tensor};

use crate::error::{Error, Result};

/// A batch of b sentences, padded to the longest, time-major as the recurrent layers read it.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Ids, position by position: t_x * b; padding is id 0.
    pub ids: Vec<u32>,
    pub lengths: Vec<usize>,
    pub longest: usize,
}

impl Batch {
    pub fn new(sentences: &[&[u32]]) -> Result<Self> {
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len()).collect();
        let Some(&longest) = lengths.iter().max() else {
            return Err(Error::Internal("a batch must have at least one sentence".into()));
        };
        if lengths.contains(&0) {
            return Err(Error::Internal("a batch must not have an empty sentence".into()));
        }
        let ids = (0..longest)
            .flat_map(|t| sentences.iter().map(move |sentence| sentence.get(t).copied().unwrap_or(0)))
            .collect();
        Ok(Self { ids, lengths, longest })
    }

    pub fn sentences(&self) -> usize {
        self.lengths.len()
    }

    pub fn is_padded(&self) -> bool {
        self.lengths.iter().any(|length| *length < self.longest)
    }

    /// Rows `table[id]` of all positions, [t_x, b, m].
    pub fn embed(&self, table: &Tensor) -> Result<Tensor> {
        Ok(embed(table, &self.ids)?.reshape((self.longest, self.sentences(), ()))?)
    }

    /// 1 at words and 0 at padding, [b, t_x].
    pub fn mask(&self, dtype: DType, device: &Device) -> Result<Tensor> {
        let mask: Vec<f32> = self
            .lengths
            .iter()
            .flat_map(|length| (0..self.longest).map(move |t| if t < *length { 1.0 } else { 0.0 }))
            .collect();
        Ok(Tensor::from_vec(mask, (self.sentences(), self.longest), device)?.to_dtype(dtype)?)
    }

    /// The mask for the recurrent layers, [t_x, b, 1]; `None` where nothing is padded.
    pub fn time_mask(&self, dtype: DType, device: &Device) -> Result<Option<Tensor>> {
        if !self.is_padded() {
            return Ok(None);
        }
        Ok(Some(self.mask(dtype, device)?.t()?.contiguous()?.unsqueeze(2)?))
    }

    /// Where the real words are among the t_x * b positions, and their ids.
    pub fn words(&self) -> (Vec<u32>, Vec<u32>) {
        let b = self.sentences();
        (0..self.ids.len()).filter(|i| i / b < self.lengths[i % b]).map(|i| (i as u32, self.ids[i])).unzip()
    }

    /// Of [t_x * b, ..] the rows where words are, [words, ..].
    pub fn rows_of_words(&self, tensor: &Tensor) -> Result<Tensor> {
        if self.is_padded() { embed(tensor, &self.words().0) } else { Ok(tensor.clone()) }
    }
}

/// Rows `table[id]`, [rows, m].
pub fn embed(table: &Tensor, ids: &[u32]) -> Result<Tensor> {
    let ids = Tensor::from_slice(ids, ids.len(), table.device())?;
    Ok(table.index_select(&ids, 0)?)
}

/// Rows `table[y_{i-1}]`, or zeros for y_0, [rows, m].
pub fn embed_previous(table: &Tensor, y_prev: Option<&[u32]>, rows: usize) -> Result<Tensor> {
    match y_prev {
        None => Ok(Tensor::zeros((rows, table.dim(1)?), table.dtype(), table.device())?),
        Some(ids) if ids.len() == rows => embed(table, ids),
        Some(ids) => Err(Error::Internal(format!("{} words were given for {rows} rows", ids.len()))),
    }
}

/// The embeddings that a decoder reads when its target is given: y_0 (`start`, else zeros), then y_1 .. y_{T-1},
/// [t_y, b, m].
pub fn embed_shifted(table: &Tensor, target: &Batch, start: Option<u32>) -> Result<Tensor> {
    shifted(table, target, start, embed)
}

pub fn shifted(
    table: &Tensor, target: &Batch, start: Option<u32>, embed: impl Fn(&Tensor, &[u32]) -> Result<Tensor>,
) -> Result<Tensor> {
    let b = target.sentences();
    let before = &target.ids[..target.ids.len() - b];
    let rows = match start {
        Some(start) => embed(table, &[&vec![start; b], before].concat())?,
        None if before.is_empty() => embed_previous(table, None, b)?, // [b, m]
        None => Tensor::cat(&[embed_previous(table, None, b)?, embed(table, before)?], 0)?,
    };
    Ok(rows.reshape((target.longest, b, ()))?)
}
