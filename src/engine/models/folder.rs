//! A model folder, loaded and checked as a whole.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::{collections::BTreeMap, io::ErrorKind};

use sha2::{Digest as _, Sha256};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::models::choice::{ModelChoice, ModelSpec};
use crate::models::disk::{CARD_FILE, CONFIG_FILE, SOURCE_FILE, TARGET_FILE, WEIGHTS_FILE};
use crate::models::fused::head::{AlignmentHead, HEAD_FILE, HeadStepper};
use crate::models::shortlist::{Shortlist, Shortlisted};
use crate::models::transformer::sizes::{AlignmentReason, TransformerSizes};
use crate::models::{
    checkpoint::Weights, config::Config, entry::shapes, fused::PackedModel, header::Shapes, loss::trainable, origins,
    origins::foreign::Foreign, plain::PlainStepper, readable::TranslationModel, stepper::Stepper,
};
use crate::models::{disk, fused};
use crate::nn::device::Device;
use crate::text::sentence::{EOS, UNK};
use crate::text::tokenizer::{Tokenizer, Tokenizers};

/// How the steps are computed; the numbers are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kernels {
    #[default]
    Fused,
    Plain,
}

/// A loaded model folder.
#[derive(Clone, Debug)]
pub struct Model {
    pub folder: PathBuf,
    pub config: Config,
    pub source: Tokenizer,
    pub target: Tokenizer,
    pub weights: Arc<Weights>,
    pub device: Device,
    shortlist: Option<Arc<Shortlist>>,
    /// The weights file and the card of another toolkit's model.
    origin: Option<Arc<(PathBuf, String)>>,
    digest: Arc<OnceLock<String>>,
    packed: Arc<OnceLock<Arc<dyn PackedModel>>>,
    head: Arc<Mutex<Option<Arc<AlignmentHead>>>>,
}

impl Model {
    /// Loads a model by its specification; an error names the file, key or tensor.
    pub fn load(model: impl Into<ModelSpec>, device: &Device) -> Result<Self> {
        let ModelSpec { folder, choice } = model.into();
        Self::load_with(&folder, device, &Tokenizers::default(), &mut |_| {})?.choosing(&choice)
    }

    /// Loads a folder; tokenizers are shared with models loaded with `known`; `progress` gets shares from 0 to 1.
    pub fn load_with(
        folder: &Path, device: &Device, known: &Tokenizers, progress: &mut (dyn FnMut(f32) + Send),
    ) -> Result<Self> {
        progress(0.0);
        let origin = origins::find(folder);
        let model = match origin {
            Some(origin) => (origin.read)(folder).and_then(|read| Self::of_foreign(read, folder, device, known)),
            None => load_config(folder).and_then(|config| Self::load_rest(config, folder, device, known, progress)),
        };
        model.map_err(|error| origins::why(folder, origin.is_some(), error))
    }

    /// The same model with other alignment heads, target language or shortlist; what is in memory is shared.
    pub fn choosing(&self, chosen: &ModelChoice) -> Result<Self> {
        let mut model = self.clone();
        if let Some(heads) = &chosen.heads {
            let Some(sizes) = self.config.transformer() else {
                let message = format!("has one alignment; only of a Transformer is there an @{heads}");
                return Err(Error::file(&self.folder, message));
            };
            model.config.own = heads.of(&self.folder, sizes)?.into();
        }
        if let Some(language) = &chosen.language {
            let source = self.source.clone().into_language(language);
            model.source = source.ok_or_else(|| self.no_such_language(language))?;
            model.config.target_language.clone_from(language);
        }
        if chosen.shortlist {
            model.shortlist = Some(Arc::new(self.listed()?));
        }
        if *chosen != ModelChoice::default() {
            model.config.name = chosen.named(&self.config.name);
        }
        Ok(model)
    }

    fn listed(&self) -> Result<Shortlist> {
        let file = self.origin.as_ref().map_or_else(|| self.folder.join(WEIGHTS_FILE), |origin| origin.0.clone());
        let sizes = [self.source.len(), self.target.len()];
        let is_shared =
            sizes[0] == sizes[1] && (0..sizes[0] as u32).all(|id| self.source.token(id) == self.target.token(id));
        Shortlist::read(&Shortlist::next_to(&file)?, sizes, is_shared)
    }

    fn no_such_language(&self, language: &str) -> Error {
        let message = match self.source.languages().next() {
            None => format!("translates into one language alone, so there is no @{language}"),
            Some(_) => format!("does not translate into {language}, but into {}", self.source.language_list()),
        };
        Error::file(&self.folder, message)
    }

    pub fn of_foreign(foreign: Foreign, folder: &Path, device: &Device, known: &Tokenizers) -> Result<Self> {
        foreign.check()?;
        let Foreign { config, weights, source, target, card, file } = foreign;
        let sides = sides_of(&config, known, [(&file, &source), (&file, &target)])?;
        let origin = Some(Arc::new((file, card)));
        Ok(Self { origin, ..Self::of_parts(config, sides, weights.at_rest(), folder, device) })
    }

    fn of_parts(
        config: Config, (source, target): (Tokenizer, Tokenizer), weights: Weights, folder: &Path, device: &Device,
    ) -> Self {
        let source = source.of_source(most(&config)).of_language(&config.source_language);
        let target = target.of_language(&config.target_language);
        Self {
            folder: folder.into(),
            config,
            source,
            target,
            weights: Arc::new(weights),
            device: device.clone(),
            shortlist: None,
            origin: None,
            digest: Arc::default(),
            packed: Arc::default(),
            head: Arc::default(),
        }
    }

    pub fn load_rest(
        config: Config, folder: &Path, device: &Device, known: &Tokenizers, progress: &mut (dyn FnMut(f32) + Send),
    ) -> Result<Self> {
        let side = |file: &str, key: &str, size: usize| load_tokenizer(known, &folder.join(file), &config, key, size);
        let path = folder.join(WEIGHTS_FILE);
        let weights = || Weights::load_with(&path, &shapes(&config), &mut |share| progress(0.9 * share));
        let (weights, (source, target)) = rayon::join(weights, || {
            rayon::join(
                || side(SOURCE_FILE, "source_vocabulary", config.source_vocabulary),
                || side(TARGET_FILE, "target_vocabulary", config.target_vocabulary),
            )
        });
        let sides = (source?.ending(config.source_eos), target?);
        progress(1.0);
        Ok(Self::of_parts(config, sides, weights?, folder, device))
    }

    /// Loads a folder whose files are in memory, by name; errors name `folder`.
    pub fn from_files(folder: &Path, files: &BTreeMap<String, Vec<u8>>, known: &Tokenizers) -> Result<Self> {
        let file = |name: &str| -> Result<(PathBuf, &[u8])> {
            let path = folder.join(name);
            match files.get(name) {
                Some(bytes) => Ok((path, bytes)),
                None => Err(Error::file(path, "is missing; the model is not whole")),
            }
        };
        let text = |name: &str| String::from_utf8_lossy(files.get(name).map_or(&[], Vec::as_slice)).into_owned();
        let config = Config::from_json(&file(CONFIG_FILE)?.0, &text(CONFIG_FILE))?;
        let weights = |name: &str, shapes: &Shapes| {
            let (path, bytes) = file(name)?;
            Weights::read_from(&path, (bytes, bytes.len() as u64), shapes, &mut |_| ())
        };
        let ((source, source_json), (target, target_json)) = (file(SOURCE_FILE)?, file(TARGET_FILE)?);
        let sides = sides_of(&config, known, [(&source, source_json), (&target, target_json)])?;
        let own = weights(WEIGHTS_FILE, &shapes(&config))?;
        let origin = Some(Arc::new((folder.join(WEIGHTS_FILE), text(CARD_FILE))));
        let model = Self { origin, ..Self::of_parts(config, sides, own, folder, &Device::cpu()) };
        if files.contains_key(HEAD_FILE) {
            let head = AlignmentHead::read(&model.config, &model.weights, &|shapes| weights(HEAD_FILE, shapes))?;
            *model.head.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(head));
        }
        Ok(model)
    }

    /// `threads` holds for the fused kernels; candle keeps its own pool.
    pub fn stepper(&self, kernels: Kernels, threads: usize) -> Result<Box<dyn Stepper>> {
        let full = self.full_stepper(kernels, threads)?;
        Ok(match &self.shortlist {
            Some(list) => Box::new(Shortlisted::new(full, Arc::clone(list))),
            None => full,
        })
    }

    fn full_stepper(&self, kernels: Kernels, threads: usize) -> Result<Box<dyn Stepper>> {
        if self.is_fused(kernels) {
            return Ok(self.packed()?.stepper(&self.config, threads));
        }
        let mut stepper = PlainStepper::new(self.plain()?);
        stepper.most = most(&self.config);
        Ok(Box::new(stepper))
    }

    /// A stepper that also finds where each word comes from, if the model has an alignment head.
    pub fn stepper_with_head(&self, kernels: Kernels, threads: usize) -> Result<Box<dyn Stepper>> {
        let stepper = self.stepper(kernels, threads)?;
        Ok(match self.head(kernels)? {
            Some(head) => Box::new(HeadStepper::new(stepper, head, threads)),
            None => stepper,
        })
    }

    /// Its alignment head; `None` if it has none or this form keeps no vector of each source word.
    pub fn head(&self, kernels: Kernels) -> Result<Option<Arc<AlignmentHead>>> {
        if (self.config.architecture.entry().one_context)(&self.config) && !self.is_fused(kernels) {
            return Ok(None);
        }
        let mut known = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            *known = AlignmentHead::of_file(&self.head_file(), &self.config, &self.weights)?.map(Arc::new);
        }
        Ok(known.clone())
    }

    /// Reads the alignment head again when it is next needed.
    pub fn forget_head(&self) {
        *self.head.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn is_fused(&self, kernels: Kernels) -> bool {
        kernels == Kernels::Fused && self.device.is_cpu() && fused::supports(&self.config)
    }

    /// The path of its alignment head: in its folder, or next to its one file.
    pub fn head_file(&self) -> PathBuf {
        match self.folder.file_name().filter(|_| self.folder.is_file()) {
            Some(name) => self.folder.with_file_name(format!("{}.{HEAD_FILE}", name.to_string_lossy())),
            None => self.folder.join(HEAD_FILE),
        }
    }

    fn packed(&self) -> Result<Arc<dyn PackedModel>> {
        if let Some(packed) = self.packed.get() {
            return Ok(Arc::clone(packed));
        }
        let packed = fused::packed(&self.config, &self.weights)?;
        Ok(Arc::clone(self.packed.get_or_init(|| packed)))
    }

    pub fn plain(&self) -> Result<Box<dyn TranslationModel>> {
        readable(&self.config, &self.weights, &self.device.candle)
    }

    pub fn card(&self) -> String {
        self.origin.as_ref().map_or_else(|| card(&self.folder), |origin| origin.1.clone())
    }

    pub fn digest(&self) -> String {
        self.digest_while(&|| true).unwrap_or_default()
    }

    /// `None` if `goes_on`, asked again and again, returns false before it is known.
    pub fn digest_while(&self, goes_on: &dyn Fn() -> bool) -> Option<String> {
        if self.digest.get().is_none() {
            let read = self.origin.as_ref().and_then(|origin| disk::read(&origin.0, u64::MAX).ok());
            let digest = digest(goes_on, &mut |add| match &read {
                Some(bytes) => add(bytes),
                None => self.weights.each_part(add),
            })?;
            return Some(self.digest.get_or_init(|| digest).clone());
        }
        self.digest.get().cloned()
    }

    pub fn parameters(&self) -> usize {
        self.weights.parameters()
    }

    /// The rows whose attention training guided by links, `predicted` or `input`.
    pub fn guided(&self) -> Option<&str> {
        let sizes = self.config.transformer();
        match sizes.map(|sizes| sizes.alignment_reason) {
            // a Transformer's rows belong to the words that they predict
            Some(AlignmentReason::Guided) => Some("predicted"),
            Some(_) => None,
            None => self.weights.guided(),
        }
    }

    pub fn specials(&self) -> (u32, u32) {
        (self.config.eos, self.config.unk)
    }

    pub fn source_eos(&self) -> Option<u32> {
        self.config.source_eos.then_some(self.config.eos)
    }
}

fn most(config: &Config) -> usize {
    config.transformer().map_or(usize::MAX, TransformerSizes::most)
}

/// The readable form on a device; no gradients are recorded.
pub fn readable(config: &Config, weights: &Weights, device: &candle_core::Device) -> Result<Box<dyn TranslationModel>> {
    Ok(trainable(config, &weights.tensors(device)?)?)
}

/// A stepper for weights without a folder: fused if there are kernels.
pub fn stepper(config: &Config, weights: &Arc<Weights>, threads: usize) -> Result<Box<dyn Stepper>> {
    if fused::supports(config) {
        return fused::stepper(config, weights, threads);
    }
    Ok(Box::new(PlainStepper::new(readable(config, weights, &candle_core::Device::Cpu)?)))
}

/// The model card of a folder; empty without a readable one.
pub fn card(folder: &Path) -> String {
    let bytes = disk::read(&folder.join(CARD_FILE), disk::CARD_LIMIT);
    bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn load_config(folder: &Path) -> Result<Config> {
    let path = folder.join(CONFIG_FILE);
    let missing = |path: &Path| matches!(path.metadata(), Err(error) if error.kind() == ErrorKind::NotFound);
    if missing(folder) {
        return Err(Error::file(folder, "does not exist; give the path of a model folder"));
    }
    if folder.is_file() {
        let message = "is no model that is known here: neither Marian's .npz or .bin, nor an .argosmodel, nor a folder";
        return Err(Error::file(folder, message));
    }
    if missing(&path) {
        let others =
            "nor what another toolkit writes, such as model.npz, model.bin or an .argosmodel that is named itself";
        let message = format!("is not a model folder, since it has no {CONFIG_FILE}, {others}");
        return Err(Error::file(folder, message));
    }
    Config::load(&path)
}

fn load_tokenizer(known: &Tokenizers, path: &Path, config: &Config, key: &str, expected: usize) -> Result<Tokenizer> {
    disk::check(path, disk::TOKENIZER_LIMIT)?;
    check_tokenizer(known.from_file(path)?, path, config, key, expected)
}

fn sides_of(config: &Config, known: &Tokenizers, files: [(&Path, &[u8]); 2]) -> Result<(Tokenizer, Tokenizer)> {
    let side = |(path, json): (&Path, &[u8]), key: &str, size: usize| {
        check_tokenizer(known.from_json(path, json)?, path, config, key, size)
    };
    let source = side(files[0], "source_vocabulary", config.source_vocabulary)?.ending(config.source_eos);
    Ok((source, side(files[1], "target_vocabulary", config.target_vocabulary)?))
}

fn check_tokenizer(
    tokenizer: Tokenizer, path: &Path, config: &Config, key: &str, expected: usize,
) -> Result<Tokenizer> {
    if tokenizer.len() != expected {
        let message = format!(
            "has {} words, but `{key}` in {CONFIG_FILE} is {expected}; the files belong to different models",
            tokenizer.len()
        );
        return Err(Error::file(path, message));
    }
    for (name, id, word) in [("eos", config.eos, EOS), ("unk", config.unk, UNK)] {
        let found = tokenizer.token(id).unwrap_or_default();
        if found != word {
            let message = format!("has \"{found}\" at id {id}, where `{name}` in {CONFIG_FILE} expects \"{word}\"");
            return Err(Error::file(path, message));
        }
    }
    Ok(tokenizer)
}

type TakesBytes<'a> = dyn FnMut(&[u8]) -> bool + 'a;

fn digest(goes_on: &dyn Fn() -> bool, give: &mut dyn FnMut(&mut TakesBytes<'_>) -> bool) -> Option<String> {
    /// Bytes that take less than a frame.
    const PART: usize = 1 << 20;
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        bytes.chunks(PART).all(|part| {
            let goes_on = goes_on();
            if goes_on {
                hash.update(part);
            }
            goes_on
        })
    };
    give(&mut add).then(|| hexadecimal(&hash.finalize()))
}

pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
