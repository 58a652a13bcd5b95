//! A checkpoint, everything that a run needs to go on as if it had never stopped.
//!
//! One safetensors file, written whole or not at all: the weights and the optimizer's two
//! memories in `f32`, the position in the data and the best measure in its metadata.

use std::io::Write as _;
use std::{collections::HashMap, path::Path};

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use crate::optimizer::OptimizerMemory;
use crate::settings::{BestSettings, Rule};
use engine::error::{Error, Result};
use engine::text::{reader::read_file, write::write_inside};

/// Sums over the updates since the last line of the log. Kept, so that the next line of a resumed run is a mean over
/// the same updates.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(default)]
pub struct Tally {
    #[serde(deserialize_with = "number")]
    pub nll: f64,
    #[serde(deserialize_with = "number")]
    pub smoothed: f64,
    pub words: u64,
    #[serde(deserialize_with = "number")]
    pub norm: f64,
    pub updates: u64,
    #[serde(deserialize_with = "number")]
    pub guide: f64,
    pub guided: u64,
    pub seconds: f64,
}

/// JSON has no NaN and no infinity; they are written as null.
fn number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// Where a run stands.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(default)]
pub struct Position {
    pub update: u64,
    pub epoch: u64,
    /// Minibatches of this epoch that are done.
    pub batch: usize,
    pub words: u64,
    pub sentences: u64,
    pub seconds: f64,
    pub best: Option<f64>,
    pub best_update: u64,
    /// Since the last line of the log.
    pub tally: Tally,
    /// Whose memories the checkpoint holds.
    pub rule: Option<Rule>,
    pub measured_by: Option<BestSettings>,
    pub order: Option<SentenceOrder>,
    /// Shards a minibatch is cut into by the fused engine.
    pub shards: Option<usize>,
    pub measured_at: Option<u64>,
}

/// What the order of the sentences depends on: batch `k` of epoch `e` means something else with another.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
pub struct SentenceOrder {
    pub batch: usize,
    #[serde(default)]
    pub batch_words: usize,
    pub sorted: usize,
    pub seed: u64,
    pub pairs: usize,
}

impl SentenceOrder {
    /// The first of its numbers that is another one now: its name, what it was, what it is.
    pub fn change(&self, now: &Self) -> Option<(&'static str, u64, u64)> {
        let numbers = [
            ("`schedule.batch`", self.batch as u64, now.batch as u64),
            ("`schedule.batch_words`", self.batch_words as u64, now.batch_words as u64),
            ("`schedule.sorted`", self.sorted as u64, now.sorted as u64),
            ("`schedule.seed`", self.seed, now.seed),
            ("the number of pairs of training text", self.pairs as u64, now.pairs as u64),
        ];
        numbers.into_iter().find(|(_, was, is)| was != is)
    }
}

impl Position {
    /// What `best` was measured by; `None` while nothing was measured. BLEU is kept negative.
    pub fn measure(&self) -> Option<BestSettings> {
        self.best.and(self.measured_by)
    }
}

/// Weights, memories, position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    pub weights: Vec<f32>,
    pub memory: OptimizerMemory,
    /// The weights of the last measurements, oldest first, where their mean is measured.
    pub measured: Vec<Vec<f32>>,
    pub position: Position,
}

const POSITION: &str = "position";

fn measured(k: usize) -> String {
    format!("measured.{k}")
}

fn bytes(data: &[f32]) -> Vec<u8> {
    data.iter().flat_map(|v| v.to_le_bytes()).collect()
}

impl Checkpoint {
    pub fn save(&self, path: &Path) -> Result<()> {
        let broken = |e: String| Error::file(path, format!("could not be written: {e}"));
        let OptimizerMemory { first, second } = &self.memory;
        let fixed = [("weights".to_owned(), &self.weights), ("first".into(), first), ("second".into(), second)];
        let measured = self.measured.iter().enumerate().map(|(k, weights)| (measured(k), weights));
        let parts: Vec<(String, Vec<u8>)> = fixed.into_iter().chain(measured).map(|(n, d)| (n, bytes(d))).collect();
        let mut views = Vec::new();
        for (name, data) in &parts {
            let view = TensorView::new(Dtype::F32, vec![data.len() / 4], data).map_err(|e| broken(e.to_string()))?;
            views.push((name.clone(), view));
        }
        let position = serde_json::to_string(&self.position).map_err(|e| broken(e.to_string()))?;
        let metadata = HashMap::from([(POSITION.to_owned(), position)]);
        let file = safetensors::serialize(views, Some(metadata)).map_err(|e| broken(e.to_string()))?;
        write_inside(path, |w| w.write_all(&file))
    }

    /// Reads a file for a model of `parameters` numbers.
    pub fn load(path: &Path, parameters: usize) -> Result<Self> {
        // weights and two memories in f32; one of another, larger model is told by its number of parameters below
        let most = 4 * 12 * parameters as u64 + (1 << 20);
        let file = read_file(path, most)?;
        let damaged =
            |what: String| Error::file(path, format!("is no training checkpoint ({what}); start without --resume"));
        let (_, metadata) = SafeTensors::read_metadata(&file).map_err(|e| damaged(e.to_string()))?;
        let position =
            metadata.metadata().as_ref().and_then(|m| m.get(POSITION)).ok_or_else(|| damaged("no position".into()))?;
        let position = serde_json::from_str(position).map_err(|e| damaged(e.to_string()))?;
        let tensors = SafeTensors::deserialize(&file).map_err(|e| damaged(e.to_string()))?;
        let get = |name: &str| -> Result<Vec<f32>> {
            let view = tensors.tensor(name).map_err(|e| damaged(e.to_string()))?;
            let (chunks, _) = view.data().as_chunks::<4>();
            Ok(chunks.iter().map(|c| f32::from_le_bytes(*c)).collect())
        };
        let names = tensors.names();
        let known = (0..).map(measured).take_while(|name| names.contains(&name.as_str()));
        let measured = known.map(|name| get(&name)).collect::<Result<Vec<_>>>()?;
        let weights = get("weights")?;
        let memory = OptimizerMemory { first: get("first")?, second: get("second")? };
        let checkpoint = Self { weights, memory, measured, position };
        let wrong = |weights: &&Vec<f32>| weights.len() != parameters;
        if let Some(weights) = checkpoint.measured.iter().chain([&checkpoint.weights]).find(wrong) {
            let found = weights.len();
            let message =
                format!("holds {found} parameters, the configuration describes {parameters}; start without --resume");
            return Err(Error::file(path, message));
        }
        Ok(checkpoint)
    }
}
