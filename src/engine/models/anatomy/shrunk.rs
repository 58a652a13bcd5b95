//! Stored matrices made small enough to be seen whole: blocks of neighbours, each with its mean and its ends.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::models::{anatomy::Diagram, checkpoint::Weights};

pub const MOST_BLOCKS: usize = 64;

/// Neighbours of a matrix as one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatrixBlock {
    pub mean: f32,
    pub least: f32,
    pub greatest: f32,
}

/// A stored matrix, small; a vector is one row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shrunk {
    pub name: String,
    pub size: (usize, usize),
    pub blocks: (usize, usize),
    pub values: Vec<MatrixBlock>,
}

impl Shrunk {
    pub fn of(weights: &Weights, name: &str, most: usize) -> Result<Self> {
        let rows = weights.rows(name)?;
        let size = (rows.count, rows.width);
        let blocks = (size.0.min(most), size.1.min(most));
        let mut small = Self { name: name.to_owned(), size, blocks, values: Vec::new() };
        let mut buffer = Vec::new();
        for row in 0..blocks.0 {
            let mut sums = vec![Sum::default(); blocks.1];
            for r in small.rows(row) {
                let numbers = rows.get(r, &mut buffer);
                sums.iter_mut().enumerate().for_each(|(column, sum)| sum.take(&numbers[small.columns(column)]));
            }
            small.values.extend(sums.iter().map(Sum::block));
        }
        Ok(small)
    }

    pub fn rows(&self, row: usize) -> Range<usize> {
        part(self.size.0, self.blocks.0, row)
    }

    pub fn columns(&self, column: usize) -> Range<usize> {
        part(self.size.1, self.blocks.1, column)
    }

    pub fn at(&self, row: usize, column: usize) -> Option<&MatrixBlock> {
        (column < self.blocks.1).then(|| self.values.get(row * self.blocks.1 + column))?
    }

    pub fn ends(&self) -> (f32, f32) {
        let least = self.values.iter().fold(f32::INFINITY, |least, block| least.min(block.least));
        (least, self.values.iter().fold(f32::NEG_INFINITY, |most, block| most.max(block.greatest)))
    }

    /// The largest absolute mean of a block.
    pub fn largest(&self) -> f32 {
        self.values.iter().fold(0.0, |most, block| block.mean.abs().max(most))
    }
}

pub fn shrunk(machine: &Diagram, weights: &Weights) -> Result<Vec<Shrunk>> {
    let mut all: Vec<Shrunk> = Vec::new();
    for (name, _) in machine.weights.iter().flatten() {
        if all.iter().all(|known| known.name != *name) {
            all.push(Shrunk::of(weights, name, MOST_BLOCKS)?);
        }
    }
    Ok(all)
}

pub fn vectors(machine: &Diagram, weights: &Weights) -> Result<Vec<(String, Vec<f32>)>> {
    let mut all: Vec<(String, Vec<f32>)> = Vec::new();
    for (name, _) in machine.weights.iter().flatten().filter(|(_, shape)| shape.len() == 1) {
        if all.iter().all(|(known, _)| known != name) {
            all.push((name.clone(), weights.numbers(name)?));
        }
    }
    Ok(all)
}

fn part(whole: usize, parts: usize, n: usize) -> Range<usize> {
    n * whole / parts.max(1)..(n + 1) * whole / parts.max(1)
}

#[derive(Clone)]
struct Sum {
    count: usize,
    total: f64,
    ends: (f32, f32),
}

impl Default for Sum {
    fn default() -> Self {
        Self { count: 0, total: 0.0, ends: (f32::INFINITY, f32::NEG_INFINITY) }
    }
}

impl Sum {
    fn take(&mut self, numbers: &[f32]) {
        self.count += numbers.len();
        for number in numbers {
            self.total += f64::from(*number);
            self.ends = (self.ends.0.min(*number), self.ends.1.max(*number));
        }
    }

    fn block(&self) -> MatrixBlock {
        MatrixBlock { mean: (self.total / self.count.max(1) as f64) as f32, least: self.ends.0, greatest: self.ends.1 }
    }
}
