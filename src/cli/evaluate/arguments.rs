//! The arguments of `interlinear evaluate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args;
use crate::args::{BatchArgs, Choice, EnsembleArgs, ReplaceArgs, RunArgs, SearchArgs, one_of, tokenizers};
use crate::evaluate::gold::GoldArgs;
use engine::analysis::{bleu::Tokenization, bootstrap::PairedTests, buckets::Buckets};
use engine::error::{Error, Result};
use engine::{decoding::SystemSpec, models::choice::ModelSpec};

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "What the figures are:
  NLL         -log p of the first reference, in nats, a sentence and a word; perplexity is
              exp(NLL / words). Words are what stands between the spaces of the reference, and one `</s>`;
              figures by token of the model are in --format tsv and json. Unknown words count as [UNK]:
              models that read [UNK] in other references are not comparable, which is said
  BLEU        that of sacreBLEU with the signature that is printed: normal text against the
              references as they are. chrF2 and TER likewise
  without UNK the sentences whose source and references hold no word unknown to any of the models
  length      words between the spaces of the source
  paired      --paired-bs and --paired-ar, named as in sacreBLEU: the difference to the first model,
              where 95 % of the resamples lie, how often the model beats the first, and p. That of the
              bootstrap is two-sided and of these resamples, so that it is at most 0.05 exactly where
              the interval leaves 0 out; sacreBLEU's own is smaller. That of the randomisation is
              sacreBLEU's. --paired-ar alone draws as many resamples for the interval. Of several pairs
              each p is also corrected for their number (Holm 1979). Fewer than 30 sentences have no p
  AER         1 - (|A and S| + |A and P|) / (|A| + |S|) of the alignments of the first reference,
              which is forced: each word of the target with its source word of greatest alpha.
              The row and the column of `</s>` are left out. Words are those of `align`: links between
              tokens of the languages' rules are compared as links of the words between spaces, in
              which punctuation has no vote. Give --pretokenized for a gold set that is tokenised.
              A row of alpha belongs to the word that was predicted with it (`predicted`). With
              --by-input, RNNsearch and models of Luong et al. with a score that compares contents
              have a second reading, `input`: the word that was read just before. A model whose
              training guided that reading has it first. Beside the models stands the diagonal, each word of the
              target with the source word at its share of the sentence, and a statistical aligner: the one
              that comes with the program for the models' languages, or that of --statistical or
              --learned

The test set becomes a corpus in the folder for temporary files, and goes with the command; `analyse` keeps one. In memory are the
texts and, for each sentence and model, half a kilobyte of counts: a million lines come to about a gigabyte a model.

--output writes into the folder: figures.tsv, alignment.tsv, bootstrap.tsv and report.json, and for each model
NAME.sentences.tsv and NAME.sentences.jsonl, a sentence a line, and NAME.txt, the translations.")]
pub struct EvaluateArgs {
    /// A model folder, or the name of an installed model; once for each model. With --ensemble all of them are measured as
    /// one
    #[arg(long, value_name = "DIR", required = true, value_parser = args::folder())]
    pub model: Vec<ModelSpec>,
    #[command(flatten)]
    pub ensemble: EnsembleArgs,
    /// Measure each model of the ensemble by itself as well, before it
    #[arg(long, requires = "ensemble")]
    pub members: bool,
    /// Sentences of the source language, one a line, packed (gzip, zstandard) or not; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub source: PathBuf,
    /// Their translations, line by line; once for each reference. NLL and AER are those of the first
    #[arg(long, value_name = "FILE", required = true)]
    pub target: Vec<PathBuf>,
    /// The words are split by spaces already
    #[arg(long)]
    pub pretokenized: bool,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub batch: BatchArgs,
    /// Tell the figures by length of the source as well, in buckets that end with these lengths; or `none`
    #[arg(long, value_name = "ENDS", default_value = "10,20,30,40,50,60", value_parser = buckets)]
    pub buckets: Buckets,
    /// How BLEU cuts text into words. If it is not given, the language of the first model decides, else the script of the
    /// references: `zh` for Chinese, `char` for Japanese, Thai, Lao, Khmer and Burmese, else `13a`
    #[arg(long, value_name = "NAME", value_parser = tokenizers())]
    pub tokenize: Option<Tokenization>,
    /// Which translations to make, as to unknown words in the output
    #[arg(long, value_name = "UNK", default_value = "allow", value_parser = one_of(UNKS.iter().copied()))]
    pub unk: Unks,
    #[command(flatten)]
    pub replace: ReplaceArgs,
    /// Compare each model with the first by N resamples of the sentences (paired bootstrap), 10,000 or as many as Holm's
    /// correction needs if N is not given
    #[arg(long, alias = "bootstrap", value_name = "N", num_args = 0..=1,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub paired_bs: Option<Option<u32>>,
    /// Compare each model with the first by N exchanges of their outputs (approximate randomisation), as many as above if N is
    /// not given
    #[arg(long, value_name = "N", num_args = 0..=1,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub paired_ar: Option<Option<u32>>,
    /// What the resamples are drawn with
    #[arg(long, value_name = "N", default_value_t = 12345)]
    pub seed: u64,
    #[command(flatten)]
    pub gold: GoldArgs,
    /// Write figures and sentences into this folder as well
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    pub format: ReportFormat,
    #[command(flatten)]
    pub run: RunArgs,
}

impl EvaluateArgs {
    /// How so many pairs of models are compared, where that is wanted.
    pub fn tests(&self, pairs: usize) -> Option<PairedTests> {
        let usual = PairedTests { seed: self.seed, ..PairedTests::of_pairs(pairs) };
        let count = |asked: Option<u32>| asked.map_or(usual.bootstrap, |count| count as usize);
        let bootstrap = count(self.paired_bs.flatten());
        let tests = PairedTests { bootstrap, randomisation: self.paired_ar.map_or(0, count), ..usual };
        (self.paired_bs.is_some() || self.paired_ar.is_some()).then_some(tests)
    }

    /// Each system that is measured: every model, or all as one, perhaps behind every model.
    pub fn systems(&self) -> Vec<SystemSpec> {
        let members = if self.members && self.model.len() > 1 { self.model.as_slice() } else { &[] };
        members.iter().map(SystemSpec::from).chain(self.ensemble.systems(&self.model)).collect()
    }
}

/// Which translations are made: for each kind whether the search never emits `[UNK]`.
pub type Unks = &'static [bool];

const UNKS: &[Choice<Unks>] = &[
    ("allow", "[UNK] is a word like any other", &[false]),
    ("forbid", "The search never emits [UNK]", &[true]),
    ("both", "One after the other, as in table 1 of Bahdanau et al", &[false, true]),
    ("none", "No translations, hence no BLEU", &[]),
];

/// How the figures are written.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportFormat {
    /// For reading
    #[default]
    Table,
    /// For a spreadsheet; tables with other columns follow behind a blank line
    Tsv,
    /// For a program
    Json,
}

fn buckets(text: &str) -> Result<Buckets> {
    if text == "none" {
        return Buckets::new(&[]);
    }
    let ends: Option<Vec<usize>> = text.split(',').map(|end| end.trim().parse().ok()).collect();
    let wrong = || Error::Input("write the last length of each bucket, as in 10,20,30, or none".into());
    Buckets::new(&ends.ok_or_else(wrong)?)
}
