//! `interlinear align`: the word alignments of given pairs, one pair a line, streamed.
//!
//! Links are those of a model, or with `--statistical` of an aligner that learns from text alone.
//!
//! Links are read off between words as the rules of the languages cut them, so that two models with tokenizers of their own agree
//! on them, and written between what stands between the spaces of the lines, as other programs count.

mod arguments;
pub mod documents;
pub mod heads;
mod matrix;
mod models;
pub mod statistical;

use crate::align::models::{Pair, Plan, Steppers, plan};
use crate::output::LineOutput;
use crate::windows;
use crate::windows::{Doing, Growth};
use engine::error::{Error, Result};
use engine::evaluation::alignment::{Aligner, AlignerDirection, Extraction, WordPair};
use engine::models::{Model, Stepper};
use engine::{evaluation::rows::RowReader, text::links::Link, ticket::CancellationToken};

pub use crate::align::arguments::{AlignArgs, LinkFormat, NO_MODEL};

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
    if args.format == LinkFormat::Jsonl {
        return matrix::run(args);
    }
    let mut files = args.pairs.open()?;
    let (plan, mut steppers) = plan(args)?;
    let growth = Growth::new(args.batch.batch);
    let mut output = LineOutput::stdout();
    let mut number = 0;
    let doing = Doing { name: "aligning", verb: "align" };
    let refused = windows::run(doing, &mut files, growth, &mut |files| plan.next(files), &mut |window| {
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
