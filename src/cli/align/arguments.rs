//! `interlinear align`, as typed.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};

use crate::args::{BatchArgs, LinkWordsArgs, PairArgs, ReadingArgs, RunArgs, count, one_of, threshold};
use crate::{args, output::LineOutput, statistical::StatisticalArgs};
use engine::text::links::{Link, Links};
use engine::{analysis::hard, evaluation::alignment::AlignerDirection, models::choice::ModelSpec, text::links};

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Each pair is forced through the model, and each word of the target gets the source word of
greatest alpha, or with --threshold all source words with so great an alpha. `</s>` is left out on both sides. Words
are tokens as the rules of the languages cut them, punctuation apart; where the model cuts them further, alpha is summed over the
pieces of a source word and averaged over those of a target word. Written links count what stands between the spaces of the lines:
`car.` has the links of `car`, for punctuation has no vote as long as its word has a letter or digit. --link-words tokens counts the
tokens themselves; with --pretokenized both are the same.

Formats:
  pharaoh  a line for each pair: `i-j` for source word i and target word j, counted from 0
  naacl    a line for each link, as in the HLT-NAACL 2003 shared task: `PAIR I J S`, all counted from 1
  jsonl    a JSON object for each pair: source, target and matrix, alpha, with a row for each target token and a column for
           each source token

With --statistical no model is needed: IBM model 1 and a hidden Markov model are learned in both directions from the pairs
themselves and the corpora; upper and lower case count as the same. Nothing is random: the same text gives the same links, whatever
the seed and the number of threads. All text that is learned from is kept in memory:
4 bytes a word and about 3 kilobytes a pair for the words that occur together. Links learned from little text are poor; use
at least ten thousand pairs. `--save FILE` keeps what was learned in a few megabytes, and `--learned FILE` aligns with
it at once, streamed.

A pair that a model cannot read (too long, or without source words where it reads no `</s>`) has no links: an empty
line or none, a sentence on stderr, and exit code 2 at the end."
)]
pub struct AlignArgs {
    /// The model folder, or the name of an installed model [default: the installed RNNsearch guided, or the first of
    /// `interlinear models`]
    #[arg(long, value_name = "DIR", conflicts_with_all = NO_MODEL, value_parser = args::folder())]
    pub(super) model: Option<ModelSpec>,
    #[command(flatten)]
    pub(super) pairs: PairArgs,
    #[command(flatten)]
    pub(super) statistical: StatisticalArgs,
    /// Keep what the aligner learned in this file
    #[arg(
        long,
        value_name = "FILE",
        requires = "statistical",
        conflicts_with_all = ["learned", "model"],
        help_heading = "Statistical aligner"
    )]
    pub(super) save: Option<PathBuf>,
    /// Most pairs of words that are kept; half a million take about 2 megabytes
    #[arg(long, value_name = "N", default_value_t = 500_000, requires = "save", value_parser = count(u32::MAX), help_heading = "Statistical aligner")]
    pub(super) save_pairs: usize,
    /// Accepted so that scripts can pass it; nothing here is random
    #[arg(long, value_name = "N", requires = "statistical", help_heading = "Statistical aligner")]
    pub(super) seed: Option<u64>,
    /// A model of the other direction, whose links are put together with those of the model
    #[arg(long, value_name = "DIR", requires = "model", value_parser = args::folder())]
    pub(super) reverse_model: Option<ModelSpec>,
    /// How two directions become one [default: posterior, of models grow-diag-final-and]
    #[arg(long, value_name = "NAME", value_parser = way())]
    pub(super) symmetrize: Option<AlignerDirection>,
    /// A model whose alignment head has a vote beside both directions of the statistical aligner; once for each. It reads
    /// both sides of every pair, and may translate in either direction
    #[arg(long, value_name = "DIR", conflicts_with_all = ["model", "symmetrize", "link_words"], value_parser = args::folder(), help_heading = "Statistical aligner")]
    pub(super) vote: Vec<ModelSpec>,
    /// All links with an alpha of at least T, in place of the greatest; with --vote all that are so likely on the mean
    /// [default with --vote: 0.4]
    #[arg(long, value_name = "T", value_parser = threshold)]
    pub(super) threshold: Option<f32>,
    #[command(flatten)]
    pub(super) reading: ReadingArgs,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: LinkFormat,
    #[command(flatten)]
    pub(super) counted: LinkWordsArgs,
    #[command(flatten)]
    pub(super) batch: BatchArgs,
    #[command(flatten)]
    pub(super) run: RunArgs,
}

pub const NO_MODEL: [&str; 4] = ["statistical", "learned", "corpus_source", "corpus_target"];

/// How links are written.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkFormat {
    /// A line for each pair
    #[default]
    Pharaoh,
    /// A line for each link
    Naacl,
    /// The matrix of each pair, an object a line
    #[value(alias = "json")]
    Jsonl,
}

impl LinkFormat {
    /// Writes the links of a pair; matrices are written where they are measured.
    pub(super) fn write(self, output: &mut LineOutput, number: usize, links: Vec<Link>) -> anyhow::Result<()> {
        match self {
            Self::Pharaoh | Self::Jsonl => output.line(&hard::pharaoh(&links)),
            Self::Naacl => output.text(&links::naacl(number, &Links::new(links, Vec::new()))),
        }
    }
}

fn way() -> impl TypedValueParser<Value = AlignerDirection> {
    let about = |way: &AlignerDirection| match way {
        AlignerDirection::Both(rule) => rule.about,
        AlignerDirection::Forward | AlignerDirection::Reverse => "That direction alone.",
        AlignerDirection::Likely => {
            "Links that are likelier than not by the mean of both directions of a statistical aligner."
        }
    };
    one_of(AlignerDirection::of_aligner().map(move |way| (way.name(), about(&way), way)))
}
