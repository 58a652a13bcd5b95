//! What the rows of a step have in common. Hypotheses of a beam often extend the same parent, and those of a
//! batch often end in the same word, so what depends on the state or on the word alone is computed once for each.

use std::{collections::HashMap, sync::Arc};

use crate::error::{Error, Result};
use crate::models::{checkpoint::Weights, stepper::StepRow};

/// The different things that rows need, each once.
#[derive(Debug, Default)]
pub struct Distinct {
    pub first: Vec<usize>,
    pub of: Vec<usize>,
    places: HashMap<(usize, usize), usize>,
}

impl Distinct {
    pub fn parents(&mut self, rows: &[StepRow]) {
        self.find(rows.iter().map(|row| (row.sentence, row.parent)));
    }

    pub fn words(&mut self, rows: &[StepRow]) {
        self.find(rows.iter().map(|row| row.y_prev.map_or((0, 0), |word| (1, word as usize))));
    }

    /// The contexts that rows mix: one a parent, one more for each row with another alpha [rows, t_x] than its first.
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

    pub fn len(&self) -> usize {
        self.first.len()
    }
}

/// A table of embeddings [K, m], read where it lies.
#[derive(Debug)]
pub struct RowTable {
    weights: Arc<Weights>,
    name: &'static str,
}

impl RowTable {
    pub fn new(weights: &Arc<Weights>, name: &'static str) -> Result<Self> {
        weights.rows(name)?;
        Ok(Self { weights: Arc::clone(weights), name })
    }

    /// Rows of width m; a row of zeros where there is no id.
    pub fn gather(&self, m: usize, ids: impl Iterator<Item = Option<u32>>, out: &mut Vec<f32>) -> Result<()> {
        let (rows, mut buffer) = (self.weights.rows(self.name)?, Vec::new());
        out.clear();
        for id in ids {
            match id {
                None => out.resize(out.len() + m, 0.0),
                Some(id) if (id as usize) < rows.count => out.extend_from_slice(rows.get(id as usize, &mut buffer)),
                Some(id) => {
                    let words = rows.count;
                    let message = format!("word id {id} is outside the vocabulary of {words} words");
                    return Err(Error::Input(message));
                }
            }
        }
        Ok(())
    }
}
