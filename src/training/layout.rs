//! All parameters of a model in one flat vector, ordered so that the fused kernels
//! find joined matrices (the gates z, r, candidate; i, f, o, g) side by side.

use std::{collections::HashMap, path::Path};

use engine::error::{Error, Result};
use engine::models::checkpoint::{Array, Weights};
use engine::models::config::Config;

/// One tensor's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutEntry {
    pub name: String,
    pub shape: Vec<usize>,
    pub offset: usize,
}

impl LayoutEntry {
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.len()
    }
}

/// Where each tensor lies.
#[derive(Clone, Debug)]
pub struct ParameterLayout {
    entries: Vec<LayoutEntry>,
    index: HashMap<String, usize>,
    total: usize,
}

/// Sorts W_z, W_r, W of one gated unit and W_i, W_f, W_o, W_g of one LSTM layer together, whatever order the file lists
/// them in.
fn rank(name: &str) -> (String, u8) {
    for (suffix, order) in [("_z", 0), ("_r", 1), ("_i", 0), ("_f", 1), ("_o", 2), ("_g", 3)] {
        // `readout.U_o` is no gate
        if let Some(stem) = name.strip_suffix(suffix)
            && (stem.starts_with("encoder.") || stem.starts_with("decoder."))
            && stem.rsplit('.').next().is_some_and(|last| ["W", "U", "C", "b"].contains(&last))
        {
            return (stem.to_owned(), order);
        }
    }
    (name.to_owned(), 2)
}

impl ParameterLayout {
    /// The layout of a model with this configuration.
    pub fn new(config: &Config) -> Self {
        let mut shapes = engine::models::shapes(config);
        shapes.sort_by_key(|(name, _)| rank(name));
        let mut total = 0;
        let mut entries = Vec::with_capacity(shapes.len());
        for (name, shape) in shapes {
            let entry = LayoutEntry { name, shape, offset: total };
            total += entry.len();
            entries.push(entry);
        }
        let index = entries.iter().enumerate().map(|(i, e)| (e.name.clone(), i)).collect();
        Self { entries, index, total }
    }

    pub fn total(&self) -> usize {
        self.total
    }

    pub fn entries(&self) -> &[LayoutEntry] {
        &self.entries
    }

    pub fn at(&self, name: &str) -> usize {
        self.range(name).start
    }

    /// The elements of a tensor.
    ///
    /// # Panics
    /// When the architecture has no such tensor, which is a defect of ours.
    pub fn range(&self, name: &str) -> std::ops::Range<usize> {
        let Some(&i) = self.index.get(name) else { panic!("the architecture has no tensor `{name}`") };
        self.entries[i].range()
    }

    /// Flattens a model's weights.
    pub fn flatten(&self, weights: &Weights) -> Result<Vec<f32>> {
        let mut flat = vec![0.0; self.total];
        for entry in &self.entries {
            let array = weights.get(&entry.name)?;
            if array.data.len() != entry.len() {
                let message = "has another size than the configuration says";
                return Err(Error::tensor(Path::new("weights"), &entry.name, message));
            }
            flat[entry.range()].copy_from_slice(&array.data);
        }
        Ok(flat)
    }

    /// The named tensors of a flat vector.
    pub fn name(&self, flat: &[f32]) -> Weights {
        let mut weights = Weights::default();
        for entry in &self.entries {
            let data = flat[entry.range()].to_vec();
            weights.insert(entry.name.clone(), Array { shape: entry.shape.clone(), data });
        }
        weights
    }
}
