//! What the models of a card share: their parameters by name, and nodes for rows of them.

use std::collections::HashMap;

use candle_core::{Device, Tensor};

use crate::card::{kernels::scatter, node::by_hand};
use engine::error::Result;
use engine::models::batch::{Batch, shifted};
use engine::{models::config::Config, nn::linear::Parameters};

/// What the names of a gated unit's parameters end with: z, r and the proposal.
pub const GATES: [&str; 3] = ["_z", "_r", ""];

/// What a model computes before its output layer.
#[derive(Debug)]
pub struct CardHidden {
    /// Of all places, [t_y, b, l].
    pub t: Tensor,
    /// alpha, [t_y, b, t_x]; `None` where the model does not align.
    pub alpha: Option<Tensor>,
}

/// Tensors by the names of [`engine::models::shapes`].
pub struct CardTensors {
    /// Variables stay variables.
    pub all: HashMap<String, Tensor>,
    pub config: Config,
}

impl CardTensors {
    pub fn at(&self, unit: &str) -> Parameters<'_> {
        Parameters::new(&self.all).at(unit)
    }

    pub fn get(&self, name: &str) -> Result<Tensor> {
        Parameters::new(&self.all).get(name)
    }

    /// The tensors of these gates one above the other: `unit.letter` and the gate.
    pub fn stacked(&self, unit: &str, letter: &str, gates: &[&str]) -> Result<Tensor> {
        let all = gates.iter().map(|gate| self.get(&format!("{unit}.{letter}{gate}")));
        Ok(Tensor::cat(&all.collect::<Result<Vec<_>>>()?, 0)?)
    }

    /// The embeddings of the source, [t_x, b, m].
    pub fn source(&self, source: &Batch) -> Result<Tensor> {
        let e = rows(&self.get("source_embedding")?, &source.ids)?;
        Ok(e.reshape((source.longest, source.sentences(), ()))?)
    }

    /// The embeddings of the words before, [t_y, b, m].
    pub fn target(&self, target: &Batch, start: Option<u32>) -> Result<Tensor> {
        shifted(&self.get("target_embedding")?, target, start, rows)
    }
}

/// The sum of all rows, [n], of x [rows, n].
pub fn sum_of_rows(x: &Tensor) -> Result<Tensor> {
    Ok(Tensor::ones((1, x.dim(0)?), x.dtype(), x.device())?.matmul(x)?.squeeze(0)?)
}

pub fn ids(all: &[u32], device: &Device) -> Result<Tensor> {
    Ok(Tensor::from_slice(all, all.len(), device)?)
}

/// Rows of `table` by their numbers, [numbers, m].
pub fn rows(table: &Tensor, numbers: &[u32]) -> Result<Tensor> {
    let (numbers, count) = (ids(numbers, table.device())?, table.dim(0)?);
    let value = table.detach().index_select(&numbers, 0)?;
    by_hand(&value, [table, table, table], move |d| Ok([Some(scatter(count, &numbers, &d.contiguous()?)?), None, None]))
}
