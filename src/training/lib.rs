//! Training. Imports floors 1 to 5.
//!
//! [`train`] reads a configuration, builds vocabularies and corpora, and runs the [`trainer`];
//! the CPU's gradients are the hand-written ones of [`fused`], those on NVIDIA's cards of [`card`].

#[macro_use]
extern crate engine;

pub mod adopt;
pub mod backend;
pub mod card;
pub mod curves;
pub mod data;
pub mod folder;
pub mod fused;
pub mod guide;
pub mod head;
pub mod layout;
pub mod linked;
pub mod log;
pub mod measure;
pub mod minibatch;
pub mod need;
pub mod optimizer;
pub mod plain;
pub mod reach;
pub mod recipe;
pub mod settings;
pub mod state;
pub mod trainer;
pub mod vocabularies;

use std::path::{Path, PathBuf};

use crate::backend::{Engine, FusedEngine};
use crate::settings::{StartSettings, TokenKind, TrainingSettings};
use crate::trainer::{Trainer, TrainingReport};
use crate::{
    fused::Fused, layout::ParameterLayout, optimizer::Optimizer, plain::PlainEngine, state::Checkpoint,
    vocabularies::TrainingTokenizers,
};
use engine::error::{Error, Result};
use engine::models::{checkpoint::Weights, config::Config, init};
use engine::nn::{device::TrainingDevice, fused::Precision};
use engine::text::vocab::{EOS_ID, UNK_ID};
use engine::ticket::CancellationToken;

/// Options of a run beside the configuration.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    pub resume: bool,
    /// Start from this model folder's weights and vocabularies.
    pub from: Option<PathBuf>,
    /// Starting from a model, do not take its vocabularies but those that the configuration asks for; words that both
    /// have keep their weights.
    pub new_vocabulary: bool,
    /// Bytes of memory that this machine has, where known; a model that needs more is refused.
    pub memory: Option<u64>,
    /// Shards a minibatch is cut into; a run's numbers depend on it, so a resumed one keeps its own.
    pub threads: usize,
    /// Train on this device, by candle's autograd or by hand ([`card`]), instead of with the fused CPU engine.
    pub plain: Option<candle_core::Device>,
}

/// Trains as a configuration file says.
pub fn train(
    path: &Path, options: &RunOptions, clock: &dyn Fn() -> f64, ticket: &CancellationToken,
    emit: &mut dyn FnMut(&TrainingReport),
) -> Result<()> {
    let settings = TrainingSettings::load(path)?;
    let checkpoint = folder::checkpoint_file(&settings.output);
    let there = folder::training_folder(&settings.output).exists();
    let mut lock = there.then(|| folder::lock(&settings.output)).transpose()?;
    check_output(&settings, options, &checkpoint)?;
    let tokenizers = tokenizers(&settings, options, ticket, emit)?;
    let config = settings.config(tokenizers.source.len(), tokenizers.target.len());
    // the start is made before anything is written: a start that fails leaves no half-made folder
    let read = || Checkpoint::load(&checkpoint, ParameterLayout::new(&config).total());
    let before = options.resume.then(read).transpose()?;
    let shards = shards(before.as_ref(), options, emit);
    let shards_now = shards.unwrap_or(options.threads);
    need::check(&config, &settings, shards_now, options.memory)?;
    let rounds_products = settings.schedule.precision != Precision::F32;
    let _ready = options.plain.as_ref().map(|device| TrainingDevice::begin(device, rounds_products));
    let engine = engine(&settings, &config, &tokenizers, options, shards_now, emit)?;
    if lock.is_none() {
        lock = Some(folder::lock(&settings.output)?);
        // another run may have begun meanwhile
        check_output(&settings, options, &checkpoint)?;
    }
    if !options.resume {
        tokenizers.save(&settings.output)?;
        config.save(&settings.output.join("config.json"))?;
    }
    emit(&TrainingReport::Note("reading the training text".into()));
    let training = data::training(&settings, &config, &tokenizers, options.memory, ticket)?;
    let half = options.memory.map_or(u64::MAX, |memory| memory / 2);
    let rules = data::rules(&settings.data.development, 10 * settings.data.max_length, half);
    let development = data::read(&settings.data.development, &rules, &tokenizers, ticket)?;
    let mut trainer = Trainer {
        settings: &settings,
        engine,
        training: &training.pairs,
        guide: training.guide.as_ref(),
        development: &development,
        bleu: measure::bleu(&settings, &config, &tokenizers, options.threads, ticket)?,
        keep: {
            let layout = ParameterLayout::new(&config);
            let file = settings.output.join("model.safetensors");
            let guided = guided(&settings, options);
            Box::new(move |weights, _| {
                let mut weights = layout.name(weights);
                weights.set_guided(guided.clone());
                weights.save(&file, true)
            })
        },
        clock,
        measured: Vec::new(),
        position: state::Position::default(),
    };
    if let Some(before) = before {
        trainer.resume(&checkpoint, before)?;
    }
    if let Some(guide) = &training.guide {
        emit(&TrainingReport::Note(guide.note()));
    }
    trainer.position.shards = shards;
    let ended = trainer.run(ticket, emit);
    drop(lock);
    ended
}

fn guided(settings: &TrainingSettings, options: &RunOptions) -> Option<String> {
    if let Some(guide) = &settings.guide {
        return Some(guide.reading.clone());
    }
    let before = if options.resume { Some(&settings.output) } else { options.from.as_ref() };
    before.and_then(|folder| Weights::guided_in(&folder.join("model.safetensors")))
}

fn check_output(settings: &TrainingSettings, options: &RunOptions, checkpoint: &Path) -> Result<()> {
    if options.resume {
        if checkpoint.exists() {
            return Ok(());
        }
        let message = "does not exist, so that there is no run to go on with; start without --resume";
        return Err(Error::file(checkpoint, message));
    }
    let place = |path: &Path| path.canonicalize().ok();
    if options.from.as_deref().and_then(place).is_some_and(|from| place(&settings.output) == Some(from)) {
        let message = "is both `output` and the model to start from; choose another `output`";
        return Err(Error::file(&settings.output, message));
    }
    if checkpoint.exists() {
        let message = "is there already; add --resume to go on from it, or choose another `output`";
        return Err(Error::file(checkpoint, message));
    }
    let model = settings.output.join("model.safetensors");
    if model.exists() {
        let message = "is a finished model, which would be written over; choose another `output`, or move it away";
        return Err(Error::file(&model, message));
    }
    Ok(())
}

fn shards(before: Option<&Checkpoint>, options: &RunOptions, emit: &mut dyn FnMut(&TrainingReport)) -> Option<usize> {
    let kept = before.and_then(|before| before.position.shards).filter(|shards| (1..=1024).contains(shards));
    if options.plain.is_some() {
        return kept;
    }
    if let Some(kept) = kept.filter(|kept| *kept != options.threads) {
        emit(&TrainingReport::Note(format!(
            "going on with {kept} threads, with which this run was begun and on which its numbers depend"
        )));
    }
    kept.or(Some(options.threads))
}

fn tokenizers(
    settings: &TrainingSettings, options: &RunOptions, ticket: &CancellationToken,
    emit: &mut dyn FnMut(&TrainingReport),
) -> Result<TrainingTokenizers> {
    if options.resume {
        return TrainingTokenizers::load(&settings.output);
    }
    if let Some(from) = &options.from {
        check_specials(&from.join("config.json"))?;
        if !changes_vocabulary(settings, options) {
            return TrainingTokenizers::load(from);
        }
    }
    if let Some(folder) = &settings.data.vocabulary {
        check_specials(&folder.join("config.json"))?;
        return TrainingTokenizers::load(folder);
    }
    let what = match settings.model.tokens {
        TokenKind::Words => "counting words",
        TokenKind::Bpe => "counting words and learning subwords",
    };
    emit(&TrainingReport::Note(what.into()));
    TrainingTokenizers::build(settings, ticket)
}

fn changes_vocabulary(settings: &TrainingSettings, options: &RunOptions) -> bool {
    options.new_vocabulary || settings.data.vocabulary.is_some()
}

/// Corpora are read with the ids that our own vocabularies give to `</s>` and `[UNK]`.
fn check_specials(path: &Path) -> Result<()> {
    let config = Config::load(path)?;
    if (config.eos, config.unk, config.source_eos) == (EOS_ID, UNK_ID, true) {
        return Ok(());
    }
    let message = format!(
        "is {}; vocabularies are taken from a model whose `eos` is {EOS_ID}, `unk` {UNK_ID} and `source_eos` true only",
        config.eos
    );
    Err(Error::key(path, "eos", message))
}

fn engine(
    settings: &TrainingSettings, config: &Config, tokenizers: &TrainingTokenizers, options: &RunOptions, shards: usize,
    emit: &mut dyn FnMut(&TrainingReport),
) -> Result<Box<dyn Engine>> {
    let fresh = || {
        let scheme = match settings.model.start {
            StartSettings::Papers => init::InitScheme::Paper,
            StartSettings::Scaled => init::InitScheme::Scaled,
            StartSettings::Uniform => init::InitScheme::Uniform,
        };
        init::initial_weights(config, scheme, settings.schedule.seed)
    };
    let weights = match &options.from {
        Some(from) if !options.resume => {
            let changed = changes_vocabulary(settings, options).then_some(tokenizers);
            let (weights, found) = adopt::adopt(from, config, changed, fresh())?;
            found.into_iter().for_each(|note| emit(&TrainingReport::Note(note)));
            weights
        }
        _ => fresh(),
    };
    let flat = ParameterLayout::new(config).flatten(&weights)?;
    let on_cpu = || (!fused::supports(config)).then_some(candle_core::Device::Cpu);
    if let Some(device) = options.plain.clone().or_else(on_cpu) {
        if settings.schedule.sampled_words.is_some() {
            let all = "here the loss is that of all words: only the processor's own training can sample them";
            emit(&TrainingReport::Note(format!("`schedule.sampled_words` does not count, {all}")));
        }
        if settings.schedule.precision != Precision::F32 && !device.is_cuda() {
            let all =
                "here all numbers are f32: only the processor's own training and NVIDIA's cards can round factors";
            emit(&TrainingReport::Note(format!("`schedule.precision` does not count, {all}")));
        }
        // where nothing would use the kernels they are not compiled
        let may = device.is_cuda() && card::model::has_large_nodes(config);
        let new = match may.then(|| card::launch::ready(&device)) {
            Some(Ok(())) => PlainEngine::by_hand,
            Some(Err(why)) => {
                emit(&TrainingReport::Note(format!(
                    "training goes step by step, five times as slow: no kernels here ({why})"
                )));
                PlainEngine::new
            }
            None => PlainEngine::new,
        };
        return Ok(Box::new(new(config, &flat, &settings.optimizer, &device)?));
    }
    let optimizer = Optimizer::new(&settings.optimizer, flat.len());
    let fused = Fused::new(config, shards)?.with_precision(settings.schedule.precision);
    let fused = fused.with_sample(settings.schedule.sampled_words);
    Ok(Box::new(FusedEngine::new(fused, flat, optimizer)))
}
