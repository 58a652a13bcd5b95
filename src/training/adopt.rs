//! Going on from a model with another vocabulary or with fewer units: words that both have keep their rows, new
//! ones start as configured. A wider model begins with the translations of the narrow one: units that are new read like
//! fresh ones, and the old ones read them with weights of 0 (Net2Net, of Chen, Goodfellow and Shlens 2016, keeps the function in
//! another way).

use std::path::Path;

use crate::vocabularies::TrainingTokenizers;
use engine::error::{Error, Result};
use engine::models::checkpoint::{Array, Weights};
use engine::models::{self, Architecture};
use engine::{models::config::Config, text::tokenizer::Tokenizer};

/// Tensors with a row, or a number, for each target word; `source_embedding` has one for each source word.
const OF_TARGET: &[&str] = &["target_embedding", "readout.W_o", "readout.G", "readout.G_l", "readout.b_w", "W_s"];

/// Matrices that read h_j: a column for each number of ->h_j, then one for each of <-h_j.
const OF_BOTH_DIRECTIONS: &[&str] = &["decoder.C", "decoder.C_z", "decoder.C_r", "attention.U_a", "readout.C_o"];

/// The weights of the model in `from` where they fit, `fresh` ones for the words and units that it does not know; and
/// what there is to report. `tokenizers` are the new ones, `None` where the words are those of the model.
pub fn adopt(
    from: &Path, config: &Config, tokenizers: Option<&TrainingTokenizers>, mut fresh: Weights,
) -> Result<(Weights, Vec<String>)> {
    let file = from.join("model.safetensors");
    let old_config = Config::load(&from.join("config.json"))?;
    if config.architecture != old_config.architecture {
        let (was, is) = (old_config.architecture.name(), config.architecture.name());
        let message =
            format!("is {was} there and {is} in the configuration; start from a model of the same architecture");
        return Err(Error::key(from.join("config.json"), "architecture", message));
    }
    let old = Weights::load(&file, &models::shapes(&old_config))?;
    let (mut source, mut target, mut notes) = (None, None, Vec::new());
    if let Some(now) = tokenizers {
        let before = TrainingTokenizers::load(from)?;
        let words = [
            known(&now.source, &before.source, old_config.source_vocabulary),
            known(&now.target, &before.target, old_config.target_vocabulary),
        ];
        let [of_source, of_target] = words.each_ref().map(|words| words.iter().flatten().count());
        notes.push(format!(
            "{of_source} of {} source words and {of_target} of {} target words go on from the model",
            config.source_vocabulary, config.target_vocabulary
        ));
        [source, target] = words.map(Some);
    }
    let wider = config.architecture == Architecture::RNN_SEARCH;
    for (name, shape) in models::shapes(config) {
        let array = old.get(&name)?;
        let rows = match name.as_str() {
            "source_embedding" => source.as_ref(),
            name if OF_TARGET.contains(&name) => target.as_ref(),
            _ => None,
        };
        let kept = usize::from(rows.is_some());
        let holds = |(is, was): (&usize, &usize)| is == was || (wider && is > was);
        if array.shape.len() != shape.len() || !shape[kept..].iter().zip(&array.shape[kept..]).all(holds) {
            let message = format!(
                "is {:?} there and {shape:?} in the configuration; a run that starts from a model may change the \
                 vocabulary only, or, of RNNsearch, have more units",
                array.shape
            );
            return Err(Error::tensor(&file, name, message));
        }
        // v_a weighs units, as a row of a matrix does
        let height = |shape: &[usize]| if name == "attention.v_a" { 1 } else { shape[0] };
        let (now, before) = (height(&shape), height(&array.shape));
        let rows = rows.cloned().unwrap_or_else(|| (0..now).map(|k| Some(k).filter(|k| *k < before)).collect());
        let halves = if OF_BOTH_DIRECTIONS.contains(&name.as_str()) { 2 } else { 1 };
        let mut data = fresh.get(&name)?.data.clone();
        let (width, width_before) = (data.len() / now.max(1), array.data.len() / before.max(1));
        for (row, k) in data.chunks_exact_mut(width.max(1)).zip(rows) {
            let Some(k) = k else { continue };
            if !name.ends_with("_embedding") {
                row.fill(0.0);
            }
            let old = array.data[k * width_before..(k + 1) * width_before].chunks(width_before.div_ceil(halves));
            for (row, old) in row.chunks_mut(width.div_ceil(halves)).zip(old) {
                row[..old.len()].copy_from_slice(old);
            }
        }
        fresh.insert(name, Array { shape, data });
    }
    if config.hidden > old_config.hidden {
        let (old, new) = (old_config.hidden, config.hidden - old_config.hidden);
        notes.push(format!("{old} hidden units go on from the model, {new} are new"));
    }
    Ok((fresh, notes))
}

fn known(now: &Tokenizer, before: &Tokenizer, size: usize) -> Vec<Option<usize>> {
    let id = |id| before.id(now.token(id)?).map(|id| id as usize).filter(|id| *id < size);
    (0..now.len() as u32).map(id).collect()
}
