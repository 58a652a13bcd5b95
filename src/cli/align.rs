//! `interlinear align`: the word alignments of given pairs, one pair a line, streamed.
//!
//! Links are those of a model, or with `--statistical` of an aligner that learns from text alone.
//!
//! Links are read off between words as the rules of the languages cut them, so that two models with tokenizers of their own agree
//! on them, and written between what stands between the spaces of the lines, as other programs count.

mod arguments;
pub mod documents;
pub mod heads;
pub mod statistical;

use serde::Serialize;

use crate::input::InputFiles;
use crate::output::{LineOutput, provenance};
use crate::windows::{Doing, Growth, WindowItem};
use crate::{args, evaluate::opposite, windows};
use engine::analysis::row_convention::RowConvention;
use engine::error::{Error, Result};
use engine::evaluation::alignment::{Aligner, AlignerDirection, Extraction, Refused, WordPair};
use engine::models::{Model, Stepper};
use engine::text::{links::Link, words::words};
use engine::{
    aligner::learned::Directions, analysis::symmetrize::symmetrization, evaluation::rows::RowReader,
    models::choice::ModelSpec, ticket::CancellationToken,
};
use host::runtime::Runtime;
use training::settings::LinkWords;

pub use crate::align::arguments::{AlignArgs, LinkFormat, NO_MODEL};

/// Pairs whose matrices are written at once.
const WINDOW: usize = 16;

pub fn run(args: &AlignArgs) -> anyhow::Result<()> {
    let (is_statistical, votes) = (args.statistical.asked(), !args.vote.is_empty());
    let refuse = |what: &str| Err(Error::Input(what.to_owned()).into());
    if is_statistical && !votes && args.threshold.is_some() {
        return refuse("--threshold is for weights of a model; add --vote, or leave it out");
    }
    if is_statistical {
        return statistical::run(args);
    }
    if votes {
        return refuse("--vote is beside a statistical aligner; give --statistical or --learned");
    }
    if args.symmetrize == Some(AlignerDirection::Likely) {
        return refuse("--symmetrize posterior is of the statistical aligner; name another way");
    }
    let is_json = args.format == LinkFormat::Jsonl;
    if is_json && args.reading.reading.is_some_and(|reading| reading != RowConvention::default()) {
        return refuse("--reading is not for --format jsonl; leave it out");
    }
    if is_json && args.reverse_model.is_some() {
        return refuse("--format jsonl writes the matrix of one model; leave out --reverse-model");
    }
    let mut files = args.pairs.open()?;
    let (plan, mut steppers) = plan(args)?;
    let growth = if is_json { Growth::up_to(WINDOW) } else { Growth::new(args.batch.batch) };
    let mut output = LineOutput::stdout();
    let mut number = 0;
    let doing = Doing { name: "aligning", verb: "align" };
    let refused = windows::run(doing, &mut files, growth, &mut |files| plan.next(files), &mut |window| {
        if is_json {
            return matrices(&plan.forward, steppers.forward.as_mut(), window, &mut output);
        }
        for links in align_window(&plan, &mut steppers, window)? {
            number += 1;
            args.format.write(&mut output, number, links)?;
        }
        output.flush()?;
        Ok(0)
    })?;
    output.finish()?;
    windows::refused(refused)
}

#[derive(Serialize)]
struct Record<'a> {
    source: &'a [String],
    target: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    reading: Option<&'static str>,
    matrix: &'a [Vec<f32>],
}

/// Writes alpha of each pair, a line for each, not the links that are read off it; one that the model cannot read has empty ones.
fn matrices(
    model: &Model, stepper: &mut dyn Stepper, window: &[Result<Pair>], output: &mut LineOutput,
) -> anyhow::Result<usize> {
    let reading = RowReader::own(model.into()).name();
    let mut aligner = Aligner { system: model.into(), stepper };
    let mut target_words = 0;
    for pair in window {
        let pair = pair.as_ref().ok().map(|pair| &pair.forward);
        let alpha = pair.map(|pair| aligner.own_rows(pair, &CancellationToken::forever()));
        let matrix: Vec<Vec<f32>> = alpha.transpose()?.unwrap_or_default();
        let (source, target) = pair.map(WordPair::tokens).unwrap_or_default();
        target_words += matrix.len();
        output.json(&Record { source, target, reading, matrix: &matrix })?;
        output.flush()?;
    }
    Ok(target_words)
}

fn align_window(plan: &Plan<'_>, steppers: &mut Steppers, window: &[Result<Pair>]) -> Result<Vec<Vec<Link>>> {
    let align = |model: &Model, stepper: &mut dyn Stepper, pairs: &[&WordPair]| -> Result<Vec<Vec<Link>>> {
        let reading = RowReader::wanted(model.into(), plan.args.reading.reading).reading;
        let extraction = [Extraction { reading, threshold: plan.args.threshold }];
        let mut aligner = Aligner { system: model.into(), stepper };
        let (batch, ticket) = (plan.args.batch.batch, CancellationToken::forever());
        let links = aligner.links(pairs, &extraction, batch, &ticket, &mut |_, _| {})?;
        Ok(links.into_iter().map(|lists| lists.into_iter().next().unwrap_or_default()).collect())
    };
    let read: Vec<&Pair> = window.iter().filter_map(|pair| pair.as_ref().ok()).collect();
    let forward: Vec<&WordPair> = read.iter().map(|pair| &pair.forward).collect();
    let mut links = align(&plan.forward, steppers.forward.as_mut(), &forward)?;
    if let (Some(reverse), Some(stepper)) = (&plan.reverse, &mut steppers.reverse) {
        let pairs: Vec<&WordPair> = read.iter().filter_map(|pair| pair.reverse.as_ref()).collect();
        for (there, back) in links.iter_mut().zip(align(reverse, stepper.as_mut(), &pairs)?) {
            *there = plan.put_together(std::mem::take(there), back);
        }
    }
    let mut links = links.into_iter();
    Ok(window.iter().map(|pair| if pair.is_ok() { links.next().unwrap_or_default() } else { Vec::new() }).collect())
}

type Loaded = (Model, Box<dyn Stepper>);

struct Steppers {
    forward: Box<dyn Stepper>,
    reverse: Option<Box<dyn Stepper>>,
}

struct Plan<'a> {
    args: &'a AlignArgs,
    forward: Model,
    reverse: Option<Model>,
}

struct Pair {
    forward: WordPair,
    reverse: Option<WordPair>,
    words: usize,
}

/// Loads the models, and refuses what they cannot do.
fn plan(args: &AlignArgs) -> anyhow::Result<(Plan<'_>, Steppers)> {
    if args.symmetrize.is_some() && args.reverse_model.is_none() {
        let message = "--symmetrize needs two directions; give --reverse-model, or --statistical in place of a model";
        return Err(Error::Input(message.to_owned()).into());
    }
    let runtime = args.run.plan()?;
    let (forward, forward_stepper) = load(&runtime, args, &args::given_one(args.model.as_ref())?)?;
    let loaded = args.reverse_model.as_ref().map(|folder| load(&runtime, args, folder)).transpose()?;
    let (reverse, reverse_stepper) = loaded.unzip();
    if let Some(reverse) = &reverse {
        opposite(&forward, reverse)?;
    }
    let steppers = Steppers { forward: forward_stepper, reverse: reverse_stepper };
    let check = |model: &Model, stepper: &dyn Stepper| RowReader::chosen(model.into(), stepper, args.reading.reading);
    let there = check(&forward, &*steppers.forward);
    let back = reverse.as_ref().zip(steppers.reverse.as_ref()).map(|(model, stepper)| check(model, &**stepper));
    // Of alpha it is enough that one of both has such rows: those of the other belong to their own words.
    match back {
        Some(back) if args.reading.is_head() => there.and(back)?,
        Some(back) => there.or(back)?,
        None => there?,
    };
    Ok((Plan { args, forward, reverse }, steppers))
}

fn load(runtime: &Runtime, args: &AlignArgs, model: &ModelSpec) -> anyhow::Result<Loaded> {
    let model = args::load(model, runtime)?;
    provenance::fact("reading", args.reading.reading.map_or("", |reading| reading.name()));
    if args.reading.is_head() {
        let stepper = model.stepper_with_head(runtime.engine, runtime.threads)?;
        return Ok((model, stepper));
    }
    let mut stepper = model.stepper(runtime.engine, runtime.threads)?;
    Aligner { system: (&model).into(), stepper: stepper.as_mut() }.require_alignment()?;
    Ok((model, stepper))
}

impl WindowItem for Result<Pair> {
    fn facts(&self) -> (usize, Option<&Error>) {
        (self.as_ref().map_or(0, |pair| pair.words), self.as_ref().err())
    }
}

impl Plan<'_> {
    fn next(&self, files: &mut InputFiles) -> Result<Option<Result<Pair>>> {
        let Some((source, target)) = files.pair()? else { return Ok(None) };
        let read = source.map_err(|why| Refused { target: false, why }).and_then(|source| {
            let target = target.map_err(|why| Refused { target: true, why })?;
            self.read(&source, &target)
        });
        Ok(Some(read.map_err(|refused| files.side(refused.target).refuse(refused.why))))
    }

    fn read(&self, source: &str, target: &str) -> std::result::Result<Pair, Refused> {
        let pretokenized = self.args.pairs.pretokenized;
        let read = |model: &Model, pair| {
            let pair = WordPair::read(model, pair, pretokenized)?;
            Ok(if self.args.counted.link_words == LinkWords::Tokens { pair.by_words() } else { pair })
        };
        let forward = read(&self.forward, (source, target))?;
        let reverse = self.reverse.as_ref().map(|reverse| {
            // Here the target is what is translated from.
            read(reverse, (target, source)).map_err(|refused| Refused { target: !refused.target, ..refused })
        });
        let words = words(source).count() + words(target).count();
        Ok(Pair { forward, reverse: reverse.transpose()?, words })
    }

    fn put_together(&self, there: Vec<Link>, back: Vec<Link>) -> Vec<Link> {
        let back: Vec<Link> = back.into_iter().map(Link::turned).collect();
        let usual = || symmetrization("grow-diag-final-and").map_or(AlignerDirection::Forward, AlignerDirection::Both);
        let way = self.args.symmetrize.unwrap_or_else(usual);
        way.of(Directions { forward: there, reverse: back, ..Directions::default() })
    }
}
