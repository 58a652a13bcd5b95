//! Floor 13: `interlinear import`: a model of another toolkit becomes a model folder.

use std::path::PathBuf;

use clap::Args;

use crate::error::Error;
use crate::models::Model;
use crate::models::choice::{self, ModelChoice};
use crate::models::folder::{CARD_FILE, CONFIG_FILE, SOURCE_FILE, TARGET_FILE, WEIGHTS_FILE};
use crate::models::origins::{self, ORIGINS};
use crate::nn::device::Device;
use crate::text::tokenizer::Tokenizers;
use crate::text::write::write_inside;

/// As typed.
#[derive(Args, Clone, Debug)]
pub struct ImportArgs {
    /// The model of another toolkit: its folder, or the file with its weights
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The model folder that is written; it must not be there yet
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

/// Reads the model whole before anything is written.
pub fn run(low: &ImportArgs) -> anyhow::Result<()> {
    let ImportArgs { path, output } = low;
    let origin = origins::find(path).ok_or_else(|| unknown(path))?;
    let foreign = (origin.read)(path)?;
    let texts = [(SOURCE_FILE, foreign.source.clone()), (TARGET_FILE, foreign.target.clone())];
    let model = Model::of_foreign(foreign, path, &Device::cpu(), &Tokenizers::default())?;
    std::fs::create_dir(output).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Error::file(output, "is there already, and nothing is written over it; name another folder")
        }
        _ => Error::io(output, &error),
    })?;
    let write =
        |name: &str, bytes: &[u8]| write_inside(&output.join(name), |file| std::io::Write::write_all(file, bytes));
    for (name, bytes) in texts.iter().map(|(name, bytes)| (*name, bytes.as_slice())) {
        write(name, bytes)?;
    }
    write(CARD_FILE, model.card().as_bytes())?;
    model.weights.save(&output.join(WEIGHTS_FILE), false)?;
    // The last file makes the folder a model.
    model.config.save(&output.join(CONFIG_FILE))?;
    Ok(())
}

/// What is read, where a path is nothing of it.
fn unknown(path: &PathBuf) -> Error {
    let (bare, choice) = choice::split(path);
    if choice != ModelChoice::default() && bare.exists() {
        let message = format!(
            "is written whole, so `{choice}` has no place behind it; import {} and choose when the folder is used, as OUT{choice}",
            bare.display()
        );
        return Error::file(path, message);
    }
    if !path.exists() {
        return Error::file(path, "does not exist; check the path");
    }
    if let Some(error) = origins::refused(path) {
        return error;
    }
    let known: Vec<&str> = ORIGINS.iter().map(|origin| origin.name).collect();
    let message = format!("is no model of another toolkit that is read; those are {}", known.join(", "));
    Error::file(path, message)
}
