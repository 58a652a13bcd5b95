//! The numbers that a box of the machine shows, with their names.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use candle_core::Tensor;
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::Result;

/// A name that stands in a table of the program.
pub type Name = &'static str;

/// Keeps each name that arrives once; there are no more of them than the tables hold.
fn named<'de, D: Deserializer<'de>>(sent: D) -> std::result::Result<Name, D::Error> {
    static KNOWN: Mutex<BTreeSet<Name>> = Mutex::new(BTreeSet::new());
    let name = String::deserialize(sent)?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(same) = known.get(name.as_str()) {
        return Ok(same);
    }
    let name: Name = name.leak();
    known.insert(name);
    Ok(name)
}

/// The range of a quantity's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MachineSpan {
    /// From 0 to 1: what comes out of a logistic function, and shares.
    Gate,
    /// From -1 to 1: what comes out of tanh.
    Signed,
    #[default]
    Free,
}

/// A vector, or one for each source word.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// As the paper writes it, in the notation of [`figure::equation`].
    #[serde(deserialize_with = "named")]
    pub symbol: Name,
    #[serde(deserialize_with = "named")]
    pub name: Name,
    pub span: MachineSpan,
    pub width: usize,
    /// Row after row: one row, or one for each source word.
    pub values: Vec<f32>,
    /// Terms of its sum by source: `word` (with the bias), `state` (before maxout with the bias), `context`.
    pub terms: Vec<(String, Vec<f32>)>,
}

impl Quantity {
    pub fn count(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    pub fn row(&self, j: usize) -> &[f32] {
        self.values.get(j * self.width..(j + 1) * self.width).unwrap_or(&[])
    }
}

/// The numbers of a stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachinePart {
    #[serde(deserialize_with = "named")]
    pub key: Name,
    pub quantities: Vec<Quantity>,
}

/// A line of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equation {
    /// In the notation of [`figure::equation`].
    pub text: &'static str,
    pub source: &'static str,
}

pub(super) fn numbers(tensor: &Tensor) -> Result<Vec<f32>> {
    Ok(tensor.flatten_all()?.to_vec1()?)
}
