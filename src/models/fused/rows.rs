//! Floor 3: what the rows of a step have in common. Hypotheses of a beam often extend the same parent, and those of a
//! batch often end in the same word, so what depends on the state or on the word alone is computed once for each.

use std::collections::HashMap;

use half::f16;
use half::slice::HalfFloatSliceExt as _;

use crate::error::{Error, Result};
use crate::models::stepper::StepRow;
use crate::nn::fused::pack;

/// The different things that rows need, each once.
#[derive(Debug, Default)]
pub struct Distinct {
    /// The first row that needs each.
    pub first: Vec<usize>,
    /// For each row, which of them it needs.
    pub of: Vec<usize>,
    places: HashMap<(usize, usize), usize>,
}

impl Distinct {
    /// The states that rows extend.
    pub fn parents(&mut self, rows: &[StepRow]) {
        self.find(rows.iter().map(|row| (row.sentence, row.parent)));
    }

    /// The words that rows follow.
    pub fn words(&mut self, rows: &[StepRow]) {
        self.find(rows.iter().map(|row| row.y_prev.map_or((0, 0), |word| (1, word as usize))));
    }

    /// The contexts that rows mix: one for each of `parents`, and one more for each row that was given another alpha
    /// [rows, t_x] than the first row of its parent.
    pub fn contexts(&mut self, parents: &Self, alpha: &[f32], t_x: usize) {
        self.first.clear();
        self.of.clear();
        let alpha = |row: usize| &alpha[row * t_x..(row + 1) * t_x];
        for (row, parent) in parents.of.iter().enumerate() {
            let first = parents.first[*parent];
            if first < row && alpha(row) == alpha(first) {
                self.of.push(self.of[first]);
            } else {
                self.of.push(self.first.len());
                self.first.push(row);
            }
        }
    }

    fn find(&mut self, keys: impl Iterator<Item = (usize, usize)>) {
        self.first.clear();
        self.of.clear();
        self.places.clear();
        for (row, key) in keys.enumerate() {
            let place = *self.places.entry(key).or_insert_with(|| {
                self.first.push(row);
                self.first.len() - 1
            });
            self.of.push(place);
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.first.len()
    }
}

/// A table of embeddings [K, m], as f16 where every number is one.
#[derive(Debug)]
pub enum RowTable {
    /// Rows as they are.
    Full(Vec<f32>),
    /// Rows that are widened when they are taken.
    Half(Vec<f16>),
}

impl RowTable {
    /// A table of these numbers.
    pub fn new(numbers: Vec<f32>) -> Self {
        pack::halves(&numbers).map_or(Self::Full(numbers), Self::Half)
    }

    /// Rows of width m; a row of zeros where there is no id.
    pub fn gather(&self, m: usize, ids: impl Iterator<Item = Option<u32>>, out: &mut Vec<f32>) -> Result<()> {
        out.clear();
        for id in ids {
            let from = out.len();
            out.resize(from + m, 0.0);
            let Some(id) = id else { continue };
            let at = id as usize * m..(id as usize + 1) * m;
            let found = match self {
                Self::Full(table) => table.get(at).map(|row| out[from..].copy_from_slice(row)),
                Self::Half(table) => table.get(at).map(|row| row.convert_to_f32_slice(&mut out[from..])),
            };
            if found.is_none() {
                return Err(Error::Input(format!(
                    "word id {id} is outside the vocabulary of {} words",
                    self.len() / m.max(1)
                )));
            }
        }
        Ok(())
    }

    fn len(&self) -> usize {
        match self {
            Self::Full(table) => table.len(),
            Self::Half(table) => table.len(),
        }
    }
}
