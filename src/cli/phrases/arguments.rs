//! What is asked of a phrase table, as typed, and what scores it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args;
use crate::args::{BatchArgs, RunArgs, TableFormat, count};
use engine::models::{Model, Stepper};
use engine::{decoding::phrases::PhraseOptions, models::choice::ModelSpec, text::phrases};

pub(super) const WINDOW_LINES: usize = 20_000;

/// What `interlinear score` does with a phrase table, as typed.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct PhrasesPlan {
    /// A phrase table as Moses writes it, packed (gzip, zstandard) or not, instead of --source and --target; it
    /// comes out with the model's score of each pair as one further feature, everything else byte for byte
    #[arg(long, value_name = "FILE", conflicts_with_all = ["source", "target"], help_heading = PHRASES)]
    pub(super) phrase_table: Option<PathBuf>,
    /// Where the table goes, packed as its name says (.gz, .zst); else to stdout
    #[arg(long, value_name = "FILE", requires = "phrase_table", conflicts_with = "top", help_heading = PHRASES)]
    pub(super) output: Option<PathBuf>,
    /// What the further feature is. A Moses that takes the logarithm of its features itself wants probabilities
    #[arg(long, value_enum, default_value_t, requires = "phrase_table", help_heading = PHRASES)]
    pub(super) feature: Feature,
    /// Show the K best targets of each source phrase instead, by the model and by the table
    #[arg(long, value_name = "K", requires = "phrase_table", value_parser = count(65_535), help_heading = PHRASES)]
    pub(super) top: Option<usize>,
    /// Which feature of the table is p(target | source), from 1; Moses writes p(s | t), its lexical weight, p(t | s)
    /// and its lexical weight
    #[arg(long, value_name = "N", default_value_t = phrases::DIRECT, value_parser = count(65_535), requires = "top", help_heading = PHRASES)]
    pub(super) table_feature: usize,
    /// Source phrases to show the top targets of; without any, all of the table
    #[arg(value_name = "SOURCE PHRASE", requires = "top", help_heading = PHRASES)]
    pub(super) phrases: Vec<String>,
}

const PHRASES: &str = "Phrase tables";

/// What the further feature is.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Feature {
    /// The natural logarithm of the probability.
    #[default]
    LogProbability,
    /// The probability itself.
    Probability,
}

pub(super) struct Scorer {
    pub(super) model: Model,
    pub(super) stepper: Box<dyn Stepper>,
    pub(super) options: PhraseOptions,
}

/// The arguments of `interlinear phrases`.
#[derive(Args, Clone, Debug)]
pub struct PhrasesArgs {
    /// A model folder, or the name of an installed model [default: the installed RNNsearch guided, or the first of
    /// `interlinear models`]
    #[arg(long, value_name = "DIR", value_parser = args::folder())]
    pub(super) model: Vec<ModelSpec>,
    /// A phrase table as Moses writes it, packed (gzip, zstandard) or not
    #[arg(long, value_name = "FILE")]
    pub(super) phrase_table: PathBuf,
    /// How many targets of each source phrase
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = count(65_535))]
    pub(super) top: usize,
    /// Which feature of the table is p(target | source), from 1
    #[arg(long, value_name = "N", default_value_t = phrases::DIRECT, value_parser = count(65_535))]
    pub(super) table_feature: usize,
    /// Source phrases; without any, all of the table
    #[arg(value_name = "SOURCE PHRASE")]
    pub(super) phrases: Vec<String>,
    /// How the targets are written
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: TableFormat,
    /// Phrases are cut into words at spaces alone
    #[arg(long)]
    pub(super) pretokenized: bool,
    #[command(flatten)]
    pub(super) batch: BatchArgs,
    #[command(flatten)]
    pub(super) run: RunArgs,
}
