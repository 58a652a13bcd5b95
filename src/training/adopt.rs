//! Floor 6: going on from a model with another vocabulary: words that both have keep their rows, new ones start as
//! configured.

use std::path::Path;

use crate::error::{Error, Result};
use crate::models;
use crate::models::checkpoint::{Array, Weights};
use crate::models::config::Config;
use crate::text::tokenizer::Tokenizer;
use crate::training::vocabularies::TrainingTokenizers;

/// Tensors with a row, or a number, for each target word; `source_embedding` has one for each source word.
const OF_TARGET: &[&str] = &["target_embedding", "readout.W_o", "readout.G", "readout.G_l", "readout.b_w", "W_s"];

/// The weights of the model in `from` where they fit, `fresh` ones for the words that it does not know; and how many
/// source and target words both have.
///
/// # Errors
/// A sentence that names the first tensor that differs by more than its vocabulary.
pub fn adopt(
    from: &Path,
    config: &Config,
    tokenizers: &TrainingTokenizers,
    mut fresh: Weights,
) -> Result<(Weights, [usize; 2])> {
    let file = from.join("model.safetensors");
    let old_config = Config::load(&from.join("config.json"))?;
    let old = Weights::load(&file, &models::shapes(&old_config))?;
    let before = TrainingTokenizers::load(from)?;
    let source = known(&tokenizers.source, &before.source, old_config.source_vocabulary);
    let target = known(&tokenizers.target, &before.target, old_config.target_vocabulary);
    for (name, shape) in models::shapes(config) {
        let array = old.get(&name)?;
        let rows = match name.as_str() {
            "source_embedding" => Some(&source),
            name => OF_TARGET.contains(&name).then_some(&target),
        };
        let kept = usize::from(rows.is_some());
        if array.shape.len() != shape.len() || array.shape[kept..] != shape[kept..] {
            let message = format!(
                "is {:?} there and {shape:?} in the configuration; a run that starts from a model may change the \
                 vocabulary only",
                array.shape
            );
            return Err(Error::tensor(&file, name, message));
        }
        let data = match rows {
            None => array.data.clone(),
            Some(rows) => mixed(rows, &array.data, fresh.get(&name)?.data.clone()),
        };
        fresh.insert(name, Array { shape, data });
    }
    Ok((fresh, [source, target].map(|rows| rows.iter().flatten().count())))
}

/// For each word its id in the older vocabulary of `size`, where it has one.
fn known(now: &Tokenizer, before: &Tokenizer, size: usize) -> Vec<Option<usize>> {
    let id = |id| before.id(now.token(id)?).map(|id| id as usize).filter(|id| *id < size);
    (0..now.len() as u32).map(id).collect()
}

/// `fresh` with the rows of known words taken from `old`.
fn mixed(rows: &[Option<usize>], old: &[f32], mut fresh: Vec<f32>) -> Vec<f32> {
    let width = fresh.len() / rows.len().max(1);
    for (row, before) in fresh.chunks_exact_mut(width.max(1)).zip(rows) {
        if let Some(before) = before {
            row.copy_from_slice(&old[before * width..(before + 1) * width]);
        }
    }
    fresh
}
