//! `interlinear inspect`: what a model folder holds.

pub mod import;

use std::fmt::Write as _;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::args;
use crate::output::LineOutput;
use engine::models::{Model, choice::ModelSpec, config::OWN_KEYS, origins};

use engine::nn::device::Device;

/// As typed.
#[derive(Args, Clone, Debug)]
pub struct InspectArgs {
    /// The model folder, the name of an installed model, or a model of another toolkit
    #[arg(value_name = "DIR", value_parser = args::folder())]
    folder: ModelSpec,
    /// List every tensor with its shape and its range
    #[arg(long)]
    tensors: bool,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
}

/// Prints what the folder holds.
pub fn run(args: &InspectArgs) -> anyhow::Result<()> {
    let model = Model::load(&args.folder, &Device::cpu())?;
    let facts = facts(&model);
    let tensors = if args.tensors { tensors(&model) } else { Vec::new() };
    let mut output = LineOutput::stdout();
    if args.json {
        let mut record: Map<String, Value> = facts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        if args.tensors {
            record.insert("tensors".into(), tensors.iter().map(Tensor::json).collect());
        }
        output.json(&record)?;
    } else {
        for (key, value) in facts {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            output.line(&format!("{:<19} {value}", key.replace('_', " ")))?;
        }
        output.text(&table(&tensors))?;
    }
    output.finish()
}

fn facts(model: &Model) -> Vec<(&'static str, Value)> {
    let config = &model.config;
    let citation = config.architecture.entry().citation;
    let mut facts = vec![
        ("name", json!(config.name)),
        ("architecture", json!(config.architecture.name())),
        ("paper", json!(citation)),
        ("source_language", json!(config.source_language)),
        ("target_language", json!(config.target_language)),
        ("source_vocabulary", json!(config.source_vocabulary)),
        ("target_vocabulary", json!(config.target_vocabulary)),
        ("eos", json!(config.eos)),
        ("unk", json!(config.unk)),
        ("source_eos", json!(config.source_eos)),
        ("embedding", json!(config.embedding)),
        ("hidden", json!(config.hidden)),
    ];
    facts.extend(OWN_KEYS.iter().filter_map(|(key, value)| Some((*key, value(config)?))));
    let languages: Vec<&str> = model.source.languages().collect();
    facts.extend((!languages.is_empty()).then(|| ("target_languages", json!(languages))));
    if let Some(origin) = origins::find(&model.folder) {
        facts.push(("origin", json!(origin.name)));
    }
    // The rows of a card's table say what the files of another toolkit did.
    let card = model.card();
    // `alignment` of some is n'
    let keys: &[&str] =
        if config.alignment > 0 { &["toolkit", "licence"] } else { &["toolkit", "licence", "alignment"] };
    for key in keys.iter().copied() {
        let row = card.lines().find_map(|line| line.strip_prefix("| ")?.strip_prefix(key)?.strip_prefix(" | "));
        facts.extend(row.and_then(|row| row.strip_suffix(" |")).map(|row| (key, json!(row))));
    }
    facts.extend(model.guided().map(|reading| ("guided", json!(reading))));
    facts.push(("parameters", json!(model.parameters())));
    facts.push(("digest", json!(format!("sha256:{}", model.digest()))));
    facts
}

struct Tensor {
    name: String,
    shape: Vec<usize>,
    least: f32,
    greatest: f32,
    mean: f64,
    deviation: f64,
}

impl Tensor {
    fn json(&self) -> Value {
        json!({"name": self.name, "shape": self.shape, "min": self.least, "max": self.greatest,
               "mean": self.mean, "deviation": self.deviation})
    }
}

fn tensors(model: &Model) -> Vec<Tensor> {
    let tensor = |(name, array): (&str, &engine::models::checkpoint::Array)| {
        let count = array.data.len().max(1) as f64;
        let mean = array.data.iter().map(|&x| f64::from(x)).sum::<f64>() / count;
        let variance = array.data.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / count;
        Tensor {
            name: name.to_owned(),
            shape: array.shape.clone(),
            least: array.data.iter().copied().fold(f32::INFINITY, f32::min),
            greatest: array.data.iter().copied().fold(f32::NEG_INFINITY, f32::max),
            mean,
            deviation: variance.sqrt(),
        }
    };
    model.weights.iter().map(tensor).collect()
}

fn table(tensors: &[Tensor]) -> String {
    let mut text = String::new();
    if tensors.is_empty() {
        return text;
    }
    let width = tensors.iter().map(|tensor| tensor.name.len()).max().unwrap_or(0);
    let _ = writeln!(
        text,
        "\n{:<width$}  {:<16} {:>9} {:>9} {:>9} {:>9}",
        "tensor", "shape", "min", "max", "mean", "deviation"
    );
    for tensor in tensors {
        let shape = format!("{:?}", tensor.shape);
        let _ = writeln!(
            text,
            "{:<width$}  {shape:<16} {:>9.4} {:>9.4} {:>9.5} {:>9.5}",
            tensor.name, tensor.least, tensor.greatest, tensor.mean, tensor.deviation
        );
    }
    text
}
