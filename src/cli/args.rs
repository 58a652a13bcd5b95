//! The arguments that several commands share, as typed (low) and as meant (high).

pub mod apart;

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, RangedI64ValueParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::{input::InputFiles, output, output::provenance};
use engine::analysis::mteval::{NOT_HERE, TOKENIZATIONS, Tokenization};
use engine::analysis::row_convention::{READINGS, RowConvention};
use engine::decoding::ensemble::{AlignmentOf, Average, Mixing};
use engine::decoding::{Ensemble, LengthRule, Ranking, SearchOptions, SystemSpec};
use engine::error::{Error, Result};
use engine::models::{Kernels, Model, Stepper};
use engine::text::links::read::{Base, LinkLayout, LinkOrder, Notation};
use engine::text::{dictionary::Dictionary, parallel::ParallelReader};
use engine::{
    analysis::unknown::Replacing, evaluation::rows::RowReader, models::choice::ModelSpec, nn::device::DeviceChoice,
};
use host::bundled;
use host::runtime::{Runtime, physical_cores};
use training::settings::LinkWords;

/// Where to compute, as typed.
#[derive(Args, Clone, Debug, Default)]
pub struct RunArgs {
    /// CPU threads, by default one a physical core; another number may change the last digits of a probability
    #[arg(long, value_name = "N", value_parser = count(1024))]
    pub threads: Option<usize>,
    /// Where to compute: auto, cpu, cuda, cuda:1 or metal
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub device: DeviceChoice,
    /// The kernels of the CPU: fast ones, or the readable ones that they are checked against
    #[arg(long, default_value = "fused", hide = true, value_parser = one_of(ENGINES.iter().copied()))]
    engine: Kernels,
}

const ENGINES: &[Choice<Kernels>] =
    &[("fused", "The fast one", Kernels::Fused), ("plain", "The readable one", Kernels::Plain)];

/// What may be typed, what it is, and what is meant.
pub type Choice<T> = (&'static str, &'static str, T);

/// Takes the names of a table, each with what its line says.
pub fn one_of<T: Clone + Send + Sync + 'static>(
    lines: impl Iterator<Item = (&'static str, impl Into<String>, T)>,
) -> impl TypedValueParser<Value = T> {
    let (values, meant): (Vec<_>, Vec<_>) =
        lines.map(|(name, what, meant)| (PossibleValue::new(name).help(what.into()), (name, meant))).unzip();
    let known = move |name: String| meant.iter().find(|(known, _)| *known == name).map(|(_, meant)| meant.clone());
    PossibleValuesParser::new(values).try_map(move |name| known(name).ok_or("a name without a line in its table"))
}

/// Takes the names of tokenizers of BLEU.
pub fn tokenizers() -> impl TypedValueParser<Value = Tokenization> {
    let known = TOKENIZATIONS.iter().map(|(one, about)| PossibleValue::new(one.name()).help(*about));
    let not_here = NOT_HERE.iter().map(|(name, _)| PossibleValue::new(*name).hide(true));
    PossibleValuesParser::new(known.chain(not_here)).try_map(|name| {
        let why = NOT_HERE.iter().find(|(other, _)| *other == name).map_or("", |(_, why)| why);
        let found = TOKENIZATIONS.iter().find(|(one, _)| one.name() == name);
        found.map(|(one, _)| *one).ok_or_else(|| format!("sacreBLEU's {name} is not available: {why}"))
    })
}

/// Takes the numbers from 1 to `most`.
pub fn count(most: u32) -> RangedI64ValueParser<usize> {
    RangedI64ValueParser::new().range(1..=i64::from(most))
}

impl RunArgs {
    /// Finds the device; the threads of everything that shares the global pool are set as well.
    pub fn plan(&self) -> Result<Runtime> {
        let runtime = Runtime::new(self.device, self.threads, self.engine)?;
        runtime.device.notice.iter().for_each(|notice| output::notify(notice));
        Ok(runtime)
    }

    /// How many threads, for work without a device.
    pub fn cores(&self) -> usize {
        self.threads.unwrap_or_else(physical_cores)
    }
}

/// Loads a model onto the device, and notes it for what is written.
pub fn load(model: &ModelSpec, runtime: &Runtime) -> Result<Model> {
    Model::load(model, &runtime.device).inspect(provenance::model)
}

/// The models that are given, or the usual installed one, which is reported.
pub fn given(models: &[ModelSpec]) -> Result<Vec<ModelSpec>> {
    if !models.is_empty() {
        return Ok(models.to_vec());
    }
    let usual = bundled::usual().ok_or_else(|| {
        Error::Input(format!("--model is missing and no model is installed. {}", bundled::how_to_get()))
    })?;
    let name = usual.file_name().unwrap_or_default().to_string_lossy().into_owned();
    output::notify(&format!("no --model, so the installed {name}"));
    Ok(vec![ModelSpec::from(usual)])
}

/// The same for a command of one model.
pub fn given_one(model: Option<&ModelSpec>) -> Result<ModelSpec> {
    Ok(given(model.cloned().as_slice())?.remove(0))
}

/// A model as an argument: a path, or the name of an installed model, with what is chosen of it.
pub fn folder() -> impl TypedValueParser<Value = ModelSpec> {
    PathBufValueParser::new().try_map(bundled::model_of)
}

/// One model, or several that translate as one, as typed.
#[derive(Args, Clone, Debug)]
pub struct ModelArgs {
    /// The model folder, or the name of an installed model, or a model of another toolkit; `MODEL@fra` translates into one of
    /// its target languages, `MODEL@6.1` aligns by head 1 of layer 6; several make an ensemble, with --ensemble [default: the
    /// installed RNNsearch guided, or the first of `interlinear models`]
    #[arg(long, value_name = "DIR", value_parser = folder())]
    model: Vec<ModelSpec>,
    #[command(flatten)]
    ensemble: EnsembleArgs,
}

impl ModelArgs {
    /// Loads the model or the ensemble onto the device.
    pub fn load(&self, runtime: &Runtime) -> Result<Ensemble> {
        if self.model.len() > 1 && !self.ensemble.ensemble {
            let count = self.model.len();
            return Err(Error::Input(format!(
                "--model is there {count} times; add --ensemble to translate with all together, or give it once"
            )));
        }
        EnsembleArgs::load(&self.ensemble.of(&given(&self.model)?), runtime)
    }

    /// Loads every model by itself, or the ensemble.
    pub fn load_each(&self, runtime: &Runtime) -> Result<Vec<Ensemble>> {
        self.ensemble.systems(&given(&self.model)?).iter().map(|system| EnsembleArgs::load(system, runtime)).collect()
    }
}

/// How several models translate as one, as typed.
#[derive(Args, Clone, Debug)]
pub struct EnsembleArgs {
    /// Translate with all models together: their distributions of each next word are averaged. They must have the same
    /// target vocabulary
    #[arg(long)]
    pub ensemble: bool,
    /// What an ensemble averages
    #[arg(long, value_name = "WHAT", default_value = "probability", requires = "ensemble", value_parser = one_of(AVERAGES.iter().copied()))]
    ensemble_average: Average,
    /// Whose alignment an ensemble has: mean, of the models that have one, or the number of a --model, from 1
    #[arg(long, value_name = "N|mean", default_value_t, requires = "ensemble")]
    alignment_of: AlignmentOf,
}

const AVERAGES: &[Choice<Average>] = &[
    ("probability", "Probabilities", Average::Probability),
    ("log-probability", "Their logarithms; normalised again", Average::LogProbability),
];

impl EnsembleArgs {
    /// Loads a model, or several as one.
    pub fn load(system: &SystemSpec, runtime: &Runtime) -> Result<Ensemble> {
        let loaded = Ensemble::load(system, &runtime.device)?;
        loaded.members().iter().for_each(provenance::model);
        Ok(loaded)
    }

    fn of(&self, models: &[ModelSpec]) -> SystemSpec {
        let mixing = Mixing { average: self.ensemble_average, alignment: self.alignment_of };
        SystemSpec { members: models.to_vec(), mixing }
    }

    /// What is evaluated or compared one after the other: every model alone, or all as one.
    pub fn systems(&self, models: &[ModelSpec]) -> Vec<SystemSpec> {
        if self.ensemble { vec![self.of(models)] } else { models.iter().map(SystemSpec::from).collect() }
    }
}

/// How to search, as typed.
#[derive(Args, Clone, Debug)]
pub struct SearchArgs {
    /// Hypotheses kept at every step; 1 is greedy search
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = count(1000))]
    beam: usize,
    /// Rank by log p divided by the length to the power of A; 0 ranks by log p
    #[arg(long, value_name = "A", default_value_t = 0.0, value_parser = not_negative, allow_negative_numbers = true)]
    length_normalization: f32,
    /// Rank by log p corrected for length: wu:ALPHA, by ((5 + length) / 6)^ALPHA (Wu et al. 2016, equation 14), or
    /// power:A, the same as --length-normalization A
    #[arg(long, value_name = "RULE", conflicts_with = "length_normalization")]
    length_penalty: Option<LengthRule>,
    /// Weight of the coverage penalty in the ranking (Wu et al. 2016, equation 14); 0 is off
    #[arg(long, value_name = "BETA", default_value_t = 0.0, value_parser = not_negative)]
    coverage: f32,
    #[command(flatten)]
    bounds: BoundArgs,
}

impl SearchArgs {
    /// The options of the search.
    pub fn plan(&self) -> SearchOptions {
        let Self { beam, coverage, bounds: BoundArgs { max_length, forbid_unk, allow_unk }, .. } = *self;
        let length = self.length_penalty.unwrap_or(LengthRule::Power(self.length_normalization));
        let ranking = Ranking { length, coverage };
        let options = SearchOptions { beam, max_length, ranking, forbid_unk, allow_unk, ..SearchOptions::default() };
        provenance::fact("search", &options.to_string());
        options
    }
}

/// Sentences decoded together.
#[derive(Args, Clone, Copy, Debug)]
pub struct BatchArgs {
    /// Sentences decoded together; another number may change the last digits of a probability
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = count(4096))]
    pub batch: usize,
}

/// What is written for a line of input.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineFormat {
    /// For reading
    #[default]
    Text,
    /// Everything, an object a line
    #[value(alias = "json")]
    Jsonl,
    /// Word alignments, `i-j`
    Pharaoh,
}

/// How scores are written: of pairs, or of the top targets of a phrase table.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreFormat {
    /// For reading
    Text,
    /// Everything, an object a line
    #[value(alias = "json")]
    Jsonl,
    /// Word alignments, `i-j`
    Pharaoh,
    /// For a spreadsheet
    Tsv,
}

/// How a table is written.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableFormat {
    /// For reading
    #[default]
    #[value(alias = "table")]
    Text,
    /// For a spreadsheet
    Tsv,
    /// For a program
    #[value(alias = "jsonl")]
    Json,
}

/// Sentences, and the model that reads them, as typed.
#[derive(Args, Clone, Debug)]
pub struct SentenceArgs {
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// A text file, one sentence a line, packed (gzip, zstandard) or not; by default stdin
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// The words are already split by spaces, and stay so in the output
    #[arg(long)]
    pub(super) pretokenized: bool,
    #[command(flatten)]
    pub(super) batch: BatchArgs,
    #[command(flatten)]
    pub(super) run: RunArgs,
}

/// How far a translation goes, as typed.
#[derive(Args, Clone, Copy, Debug)]
pub struct BoundArgs {
    /// Most target words of a translation, its end included, by default twice the source and ten more
    #[arg(long, value_name = "N", value_parser = count(100_000))]
    pub max_length: Option<usize>,
    /// Never emit an unknown word
    #[arg(long)]
    pub forbid_unk: bool,
    /// Let models of Marian and OPUS-MT emit an unknown word, which they do not by default, as in Marian
    #[arg(long, conflicts_with = "forbid_unk")]
    pub allow_unk: bool,
}

/// Whose rows are read, as typed.
#[derive(Args, Clone, Copy, Debug)]
pub struct ReadingArgs {
    /// Which word a row of alpha belongs to, or the rows of the model's alignment head; input is for RNNsearch, and models of Luong
    /// et al. that compare contents [default: as the model was trained, predicted for all that were not guided; in a dictionary
    /// and a phrase table head, where the model has one]
    #[arg(long, value_name = "NAME", value_parser = one_of(READINGS.iter().map(|entry| (entry.name, entry.about, entry.reading))))]
    pub reading: Option<RowConvention>,
}

impl ReadingArgs {
    /// The stepper of a system, with its alignment head where that is asked for, or where it `may` be used, is there and nothing
    /// else is asked for.
    pub fn open(self, system: &Ensemble, runtime: &Runtime, may: bool) -> Result<(RowReader, Box<dyn Stepper>)> {
        let with_head = self.is_head() || may && self.reading.is_none();
        let make = if with_head { Ensemble::stepper_with_head } else { Ensemble::stepper };
        let stepper = make(system, runtime.engine, runtime.threads)?;
        let rows = RowReader::chosen(system.into(), &*stepper, self.reading)?;
        // what has rows of a head has them as `head`, beside its own
        let reading = rows.name().filter(|_| !self.is_head()).unwrap_or_default();
        provenance::fact("reading", reading);
        Ok((rows, stepper))
    }

    /// The rows of an alignment head are asked for.
    pub fn is_head(self) -> bool {
        self.reading == Some(RowConvention::Head)
    }
}

/// What becomes of unknown words, as typed.
#[derive(Args, Clone, Debug)]
pub struct ReplaceArgs {
    /// In the text, show the source word of greatest alpha for an unknown word (Luong et al. 2015b), of the model's alignment head
    /// where it has one
    #[arg(long)]
    pub replace_unk: bool,
    /// Show what this dictionary has for that source word, where it has anything: lines of SOURCE, TARGET and a count
    /// or probability, with tabs between
    #[arg(long, value_name = "FILE", requires = "replace_unk")]
    dictionary: Option<PathBuf>,
}

impl ReplaceArgs {
    /// Reads the dictionary, if unknown words are replaced at all.
    pub fn plan(&self) -> Result<Option<Replacing>> {
        if !self.replace_unk {
            return Ok(None);
        }
        let dictionary = self.dictionary.as_deref().map(Dictionary::open).transpose()?;
        Ok(Some(Replacing { dictionary }))
    }
}

/// A pair of parallel files.
#[derive(Args, Clone, Debug)]
pub struct PairArgs {
    /// Sentences of the source language, one a line, packed (gzip, zstandard) or not
    #[arg(long, value_name = "FILE")]
    pub source: PathBuf,
    /// Their translations, line by line
    #[arg(long, value_name = "FILE")]
    pub target: PathBuf,
    /// The words are split by spaces already
    #[arg(long)]
    pub pretokenized: bool,
}

impl PairArgs {
    /// Both sides, line by line.
    pub fn open(&self) -> Result<InputFiles> {
        InputFiles::open(Some(&self.source), Some(&self.target))
    }

    /// Both sides, held in memory.
    pub fn read(&self) -> Result<Vec<(String, String)>> {
        ParallelReader::new(&[(self.source.clone(), self.target.clone())]).held().learned_from().collect()
    }
}

/// Which words written links count, by the names that a training configuration has for them.
pub const LINK_WORDS: &[Choice<LinkWords>] = &[
    ("spaces", "What stands between spaces, as other programs count", LinkWords::Spaces),
    (
        "tokens",
        "Words as the rules of the language cut them, as `link_words = \"tokens\"` of a training configuration reads them",
        LinkWords::Tokens,
    ),
];

/// As typed.
#[derive(Args, Clone, Copy, Debug)]
pub struct LinkWordsArgs {
    /// Which words the written links count; those between spaces have the links of their letters and digits, not of punctuation
    #[arg(long, value_name = "WORDS", default_value = "spaces", value_parser = one_of(LINK_WORDS.iter().copied()))]
    pub link_words: LinkWords,
}

/// As typed.
#[derive(Args, Clone, Debug)]
pub struct GoldLayoutArgs {
    /// How files of links are written
    #[arg(long, default_value = "auto", value_parser = one_of(LINK_FORMATS.iter().copied()), help_heading = LINK_FILES)]
    pub gold_format: Detected<Notation>,
    /// Which side a link names first
    #[arg(long, default_value = "auto", value_parser = one_of(LINK_ORDERS.iter().copied()), help_heading = LINK_FILES)]
    pub gold_order: Detected<LinkOrder>,
    /// From where files of links count words
    #[arg(long, default_value = "auto", value_parser = one_of(LINK_BASES.iter().copied()), help_heading = LINK_FILES)]
    pub gold_base: Detected<Base>,
}

const LINK_FILES: &str = "Files of links";

/// `None` where the file decides. Under this name clap reads the whole value, not an argument that may be missing.
type Detected<T> = Option<T>;

const LINK_FORMATS: &[Choice<Detected<Notation>>] = &[
    ("auto", "As the file looks", None),
    (
        Notation::Pharaoh.name(),
        "A line for each sentence: `0-0 1?2`, `?` or `p` for a possible link",
        Some(Notation::Pharaoh),
    ),
    (Notation::Talp.name(), "The same, counted from 1 unless it has a 0", Some(Notation::Talp)),
    (
        Notation::Naacl.name(),
        "A line for each link, as in the HLT-NAACL 2003 shared task: `1 1 1 S`",
        Some(Notation::Naacl),
    ),
];

const LINK_ORDERS: &[Choice<Detected<LinkOrder>>] = &[
    ("auto", "The source, unless links lie outside their sentences then", None),
    ("source", "The source", Some(LinkOrder::SourceFirst)),
    ("target", "The target", Some(LinkOrder::TargetFirst)),
];

const LINK_BASES: &[Choice<Detected<Base>>] =
    &[("auto", "As the file looks", None), ("0", "From 0", Some(Base::Zero)), ("1", "From 1", Some(Base::One))];

impl GoldLayoutArgs {
    pub fn plan(&self) -> LinkLayout {
        LinkLayout { notation: self.gold_format, base: self.gold_base, order: self.gold_order }
    }
}

/// A number as typed, or `wrong` where it is none or not right.
pub fn number(text: &str, is_right: impl Fn(f32) -> bool, wrong: impl Into<String>) -> Result<f32> {
    let number: Option<f32> = text.parse().ok();
    number.filter(|number| is_right(*number)).ok_or_else(|| Error::Input(wrong.into()))
}

/// A number from 0, as typed.
pub fn not_negative(text: &str) -> Result<f32> {
    number(text, |number| number.is_finite() && number >= 0.0, "write a number such as 0.2")
}

/// A bound on alpha as typed.
pub fn threshold(text: &str) -> Result<f32> {
    number(text, |number| number > 0.0 && number <= 1.0, "write a number above 0 and at most 1, such as 0.2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_finite() {
        assert_eq!(not_negative("0.5").ok(), Some(0.5));
        assert!(["NaN", "inf", "", "-0.5"].iter().all(|text| not_negative(text).is_err()));
    }
}
