//! `interlinear import`: a model of another toolkit becomes a model folder, or one of ours a smaller one.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};

use engine::models::choice::{ModelChoice, ModelSpec};
use engine::models::disk::{CARD_FILE, CONFIG_FILE, SOURCE_FILE, TARGET_FILE, WEIGHTS_FILE};
use engine::models::origins::{self, ORIGINS};
use engine::models::{Model, fused::head::AlignmentHead, fused::head::HEAD_FILE};
use engine::text::write::{folder_of, write_inside};
use engine::{error::Error, nn::device::Device, text::tokenizer::Tokenizers};

/// As typed.
#[derive(Args, Clone, Debug)]
pub struct ImportArgs {
    /// The model of another toolkit: its folder, or the file with its weights
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The model folder that is written; it must not be there yet
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Bits of each number that is written: 32, 16, or 8 with a scale for each row of a matrix. 7 to 4 round tables of words to so
    /// many bits and the rest to one more: a file of 8 bits that packs smaller. With it PATH may also be a model folder, of which a
    /// smaller copy is made
    #[arg(long, value_name = "BITS", value_parser = PossibleValuesParser::new(["4", "5", "6", "7", "8", "16", "32"])
        .map(|bits| bits.parse::<u32>().unwrap_or(32)))]
    bits: Option<u32>,
}

/// Reads the model whole before anything is written.
pub fn run(args: &ImportArgs) -> anyhow::Result<()> {
    let ImportArgs { path, output, bits } = args;
    let own = path.join(CONFIG_FILE).is_file() && origins::find(path).is_none() && bits.is_some();
    let (texts, model) = if own { copied(path)? } else { foreign(path)? };
    if output.symlink_metadata().is_ok() {
        let message = "is there already, and nothing is written over it; name another folder";
        return Err(Error::file(output, message).into());
    }
    // The folder is whole or not there: it gets its name when all is written.
    let failed = |error: std::io::Error| Error::io(output, &error);
    let drafts = tempfile::Builder::new().prefix(".import-").tempdir_in(folder_of(output)).map_err(failed)?;
    let draft = drafts.path().join("model");
    std::fs::create_dir(&draft).map_err(failed)?;
    for (name, bytes) in &texts {
        write_inside(&draft.join(name), |file| std::io::Write::write_all(file, bytes))?;
    }
    let weights = draft.join(WEIGHTS_FILE);
    match *bits {
        Some(bits @ ..=8) => {
            model.weights.save_in_8_bits(&weights, bits)?;
            let head = path.join(HEAD_FILE);
            if own && head.is_file() {
                AlignmentHead::shorten(&head, &draft.join(HEAD_FILE), &model.config, &model.weights, bits)?;
            }
        }
        Some(16) => model.weights.save(&weights, true)?,
        _ => model.weights.save(&weights, false)?,
    }
    model.config.save(&draft.join(CONFIG_FILE))?;
    std::fs::rename(&draft, output).map_err(failed)?;
    Ok(())
}

type Beside = (&'static str, Vec<u8>);

fn foreign(path: &PathBuf) -> anyhow::Result<(Vec<Beside>, Model)> {
    let origin = origins::find(path).ok_or_else(|| unknown(path))?;
    let foreign = (origin.read)(path).map_err(|error| origins::why(path, true, error))?;
    let mut texts = vec![(SOURCE_FILE, foreign.source.clone()), (TARGET_FILE, foreign.target.clone())];
    let model = Model::of_foreign(foreign, path, &Device::cpu(), &Tokenizers::default())?;
    texts.push((CARD_FILE, model.card().into_bytes()));
    Ok((texts, model))
}

fn copied(path: &Path) -> anyhow::Result<(Vec<Beside>, Model)> {
    let model = Model::load(path, &Device::cpu())?;
    let mut texts = Vec::new();
    for name in [SOURCE_FILE, TARGET_FILE, CARD_FILE, HEAD_FILE] {
        let file = path.join(name);
        if file.is_file() {
            texts.push((name, std::fs::read(&file).map_err(|error| Error::io(&file, &error))?));
        }
    }
    Ok((texts, model))
}

fn unknown(path: &PathBuf) -> Error {
    let ModelSpec { folder: bare, choice } = path.into();
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
    let known: Vec<&str> = ORIGINS.iter().map(|origin| origin.name).collect();
    let message = format!("is no model of another toolkit that is read; those are {}", known.join(", "));
    origins::why(path, false, Error::file(path, message))
}
