//! `interlinear align`: the word alignments of given pairs, one pair a line, streamed.
//!
//! Links are those of a model, or with `--statistical` of an aligner that learns from text alone.
//!
//! Links are read off between words as the rules of the languages cut them, so that two models with tokenizers of their own agree
//! on them, and written between what stands between the spaces of the lines, as other programs count.

pub mod documents;
pub mod heads;
mod matrix;
pub mod statistical;

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};

use crate::args;
use crate::args::links::LinkWordsArgs;
use crate::args::{BatchArgs, PairArgs, ReadingArgs, RunArgs, count, one_of, threshold};
use crate::evaluate::opposite;
use crate::input::InputFiles;
use crate::output::{LineOutput, provenance};
use crate::statistical::StatisticalArgs;
use crate::windows;
use crate::windows::{Doing, Growth, WindowItem};
use engine::aligner::learned::Directions;
use engine::analysis::hard;
use engine::analysis::symmetrize::symmetrization;
use engine::error::{Error, Result};
use engine::evaluation::alignment::{Aligner, AlignerDirection, Extraction, Refused, WordPair};
use engine::evaluation::rows::ReadRows;
use engine::models::choice::ModelSpec;
use engine::models::{Model, Stepper};
use engine::text::links;
use engine::text::links::{Link, Links};
use engine::text::words::words;
use engine::ticket::CancellationToken;
use host::runtime::Runtime;
use training::settings::LinkWords;

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
    /// The model folder, or the name of an installed model
    #[arg(long, value_name = "DIR", required_unless_present_any = ["statistical", "learned"], conflicts_with_all = NO_MODEL, value_parser = args::folder())]
    model: Option<ModelSpec>,
    #[command(flatten)]
    pairs: PairArgs,
    #[command(flatten)]
    statistical: StatisticalArgs,
    /// Keep what the aligner learned in this file
    #[arg(
        long,
        value_name = "FILE",
        requires = "statistical",
        conflicts_with_all = ["learned", "model"],
        help_heading = "Statistical aligner"
    )]
    save: Option<PathBuf>,
    /// Most pairs of words that are kept; half a million take about 2 megabytes
    #[arg(long, value_name = "N", default_value_t = 500_000, requires = "save", value_parser = count(u32::MAX), help_heading = "Statistical aligner")]
    save_pairs: usize,
    /// Accepted so that scripts can pass it; nothing here is random
    #[arg(long, value_name = "N", requires = "statistical", help_heading = "Statistical aligner")]
    seed: Option<u64>,
    /// A model of the other direction, whose links are put together with those of the model
    #[arg(long, value_name = "DIR", requires = "model", value_parser = args::folder())]
    reverse_model: Option<ModelSpec>,
    /// How two directions become one [default: posterior, of models grow-diag-final-and]
    #[arg(long, value_name = "NAME", value_parser = way())]
    symmetrize: Option<AlignerDirection>,
    /// A model whose alignment head has a vote beside both directions of the statistical aligner; once for each. It reads
    /// both sides of every pair, and may translate in either direction
    #[arg(long, value_name = "DIR", conflicts_with_all = ["model", "symmetrize", "link_words"], value_parser = args::folder(), help_heading = "Statistical aligner")]
    vote: Vec<ModelSpec>,
    /// All links with an alpha of at least T, in place of the greatest; with --vote all that are so likely on the mean
    /// [default with --vote: 0.4]
    #[arg(long, value_name = "T", value_parser = threshold)]
    threshold: Option<f32>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    format: LinkFormat,
    #[command(flatten)]
    counted: LinkWordsArgs,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// What needs no model.
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
    fn write(self, output: &mut LineOutput, number: usize, links: Vec<Link>) -> anyhow::Result<()> {
        match self {
            Self::Pharaoh | Self::Jsonl => output.line(&hard::pharaoh(&links)),
            Self::Naacl => output.text(&links::naacl(number, &Links::new(links, Vec::new()))),
        }
    }
}

/// A model that is loaded, and what runs it.
type Loaded = (Model, Box<dyn Stepper>);

/// What runs the models.
struct Steppers {
    forward: Box<dyn Stepper>,
    reverse: Option<Box<dyn Stepper>>,
}

struct High<'a> {
    low: &'a AlignArgs,
    forward: Model,
    reverse: Option<Model>,
}

/// A pair as both models read it.
struct Pair {
    forward: WordPair,
    reverse: Option<WordPair>,
    /// Words of both sides.
    words: usize,
}

/// Aligns.
pub fn run(low: &AlignArgs) -> anyhow::Result<()> {
    let (is_statistical, votes) = (low.statistical.asked(), !low.vote.is_empty());
    let refuse = |what: &str| Err(Error::Input(what.to_owned()).into());
    if is_statistical && !votes && low.threshold.is_some() {
        return refuse("--threshold is for weights of a model; add --vote, or leave it out");
    }
    if is_statistical {
        return statistical::run(low);
    }
    if votes {
        return refuse("--vote is beside a statistical aligner; give --statistical or --learned");
    }
    if low.symmetrize == Some(AlignerDirection::Likely) {
        return refuse("--symmetrize posterior is of the statistical aligner; name another way");
    }
    if low.format == LinkFormat::Jsonl {
        return matrix::run(low);
    }
    let mut files = low.pairs.open()?;
    let (high, mut steppers) = high(low)?;
    let growth = Growth::new(low.batch.high());
    let mut output = LineOutput::stdout();
    let mut number = 0;
    let doing = Doing { name: "aligning", verb: "align" };
    let refused = windows::run(doing, &mut files, growth, &mut |files| high.next(files), &mut |window| {
        for links in align_window(&high, &mut steppers, window)? {
            number += 1;
            low.format.write(&mut output, number, links)?;
        }
        output.flush()?;
        Ok(0)
    })?;
    output.finish()?;
    windows::refused(refused)
}

fn high(low: &AlignArgs) -> anyhow::Result<(High<'_>, Steppers)> {
    if low.symmetrize.is_some() && low.reverse_model.is_none() {
        let message = "--symmetrize needs two directions; give --reverse-model, or --statistical in place of a model";
        return Err(Error::Input(message.to_owned()).into());
    }
    let runtime = low.run.high()?;
    let (forward, forward_stepper) = load(&runtime, low, &low.model.clone().unwrap_or_default())?;
    let loaded = low.reverse_model.as_ref().map(|folder| load(&runtime, low, folder)).transpose()?;
    let (reverse, reverse_stepper) = loaded.unzip();
    if let Some(reverse) = &reverse {
        opposite(&forward, reverse)?;
    }
    let steppers = Steppers { forward: forward_stepper, reverse: reverse_stepper };
    let check = |model: &Model, stepper: &dyn Stepper| ReadRows::chosen(model.into(), stepper, low.reading.reading);
    let there = check(&forward, &*steppers.forward);
    let back = reverse.as_ref().zip(steppers.reverse.as_ref()).map(|(model, stepper)| check(model, &**stepper));
    // Of alpha it is enough that one of both has such rows: those of the other belong to their own words.
    match back {
        Some(back) if low.reading.is_head() => there.and(back)?,
        Some(back) => there.or(back)?,
        None => there?,
    };
    Ok((High { low, forward, reverse }, steppers))
}

fn load(runtime: &Runtime, low: &AlignArgs, model: &ModelSpec) -> anyhow::Result<Loaded> {
    let model = args::load(model, runtime)?;
    provenance::fact("reading", low.reading.reading.map_or("", |reading| reading.name()));
    if low.reading.is_head() {
        let stepper = model.stepper_with_head(runtime.engine, runtime.threads)?;
        return Ok((model, stepper));
    }
    let mut stepper = model.stepper(runtime.engine, runtime.threads)?;
    Aligner { system: (&model).into(), stepper: stepper.as_mut() }.require_alignment()?;
    Ok((model, stepper))
}

impl WindowItem for Result<Pair> {
    fn weight(&self) -> usize {
        self.as_ref().map_or(0, |pair| pair.words)
    }

    fn refused(&self) -> Option<&Error> {
        self.as_ref().err()
    }
}

impl High<'_> {
    /// The next pair of lines, as both models read it, or why one of them does not.
    fn next(&self, files: &mut InputFiles) -> Result<Option<Result<Pair>>> {
        let Some((source, target)) = files.pair()? else { return Ok(None) };
        let read = source.map_err(|why| Refused { target: false, why }).and_then(|source| {
            let target = target.map_err(|why| Refused { target: true, why })?;
            self.read(&source, &target)
        });
        Ok(Some(read.map_err(|refused| files.side(refused.target).refuse(refused.why))))
    }

    fn read(&self, source: &str, target: &str) -> std::result::Result<Pair, Refused> {
        let pretokenized = self.low.pairs.pretokenized;
        let read = |model: &Model, pair| {
            let pair = WordPair::read(model, pair, pretokenized)?;
            Ok(if self.low.counted.link_words == LinkWords::Tokens { pair.by_words() } else { pair })
        };
        let forward = read(&self.forward, (source, target))?;
        let reverse = self.reverse.as_ref().map(|reverse| {
            // Here the target is what is translated from.
            read(reverse, (target, source)).map_err(|refused| Refused { target: !refused.target, ..refused })
        });
        let words = words(source).count() + words(target).count();
        Ok(Pair { forward, reverse: reverse.transpose()?, words })
    }

    /// Links with those of the other direction.
    fn put_together(&self, there: Vec<Link>, back: Vec<Link>) -> Vec<Link> {
        let back: Vec<Link> = back.into_iter().map(Link::turned).collect();
        let way = self.low.symmetrize.unwrap_or_else(default_way);
        way.of(Directions { forward: there, reverse: back, ..Directions::default() })
    }
}

/// The links of every pair of a window, none for those that were refused.
fn align_window(high: &High<'_>, steppers: &mut Steppers, window: &[Result<Pair>]) -> Result<Vec<Vec<Link>>> {
    let align = |model: &Model, stepper: &mut dyn Stepper, pairs: &[&WordPair]| -> Result<Vec<Vec<Link>>> {
        let reading = ReadRows::wanted(model.into(), high.low.reading.reading).reading;
        let extraction = [Extraction { reading, threshold: high.low.threshold }];
        let mut aligner = Aligner { system: model.into(), stepper };
        let (batch, ticket) = (high.low.batch.high(), CancellationToken::forever());
        let links = aligner.links(pairs, &extraction, batch, &ticket, &mut |_, _| {})?;
        Ok(links.into_iter().map(|lists| lists.into_iter().next().unwrap_or_default()).collect())
    };
    let read: Vec<&Pair> = window.iter().filter_map(|pair| pair.as_ref().ok()).collect();
    let forward: Vec<&WordPair> = read.iter().map(|pair| &pair.forward).collect();
    let mut links = align(&high.forward, steppers.forward.as_mut(), &forward)?;
    if let (Some(reverse), Some(stepper)) = (&high.reverse, &mut steppers.reverse) {
        let pairs: Vec<&WordPair> = read.iter().filter_map(|pair| pair.reverse.as_ref()).collect();
        for (there, back) in links.iter_mut().zip(align(reverse, stepper.as_mut(), &pairs)?) {
            *there = high.put_together(std::mem::take(there), back);
        }
    }
    let mut links = links.into_iter();
    Ok(window.iter().map(|pair| if pair.is_ok() { links.next().unwrap_or_default() } else { Vec::new() }).collect())
}

/// Takes a direction, or a way to put both together.
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

/// How two directions of models are put together by default.
fn default_way() -> AlignerDirection {
    symmetrization("grow-diag-final-and").map_or(AlignerDirection::Forward, AlignerDirection::Both)
}
