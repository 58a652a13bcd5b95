//! Floor 13: `interlinear align --importance NAME`: links and matrices by another definition of what matters than alpha.

use serde::Serialize;

use crate::analysis::reading::Reading;
use crate::cli::align::{AlignArgs, High, LinkFormat, Pair, Steppers, high};
use crate::cli::output::LineOutput;
use crate::cli::windows::{Doing, Growth};
use crate::cli::{windows, words};
use crate::decoding::importance::{ATTENTION, Importance};
use crate::error::{Error, Result};
use crate::evaluation::alignment::{Aligner, Important, WordPair};
use crate::evaluation::rows::ReadRows;
use crate::models::{Model, Stepper};
use crate::ticket::CancellationToken;

/// Pairs of a window: each takes long.
const WINDOW: usize = 16;

/// A line of `--format jsonl`.
#[derive(Serialize)]
struct Record<'a> {
    importance: &'a str,
    source: &'a [String],
    target: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    reading: Option<&'static str>,
    matrix: &'a [Vec<f32>],
}

/// Aligns by the definition that was asked for.
pub fn run(low: &AlignArgs, samples: usize) -> anyhow::Result<()> {
    if low.reading.reading.is_some_and(|reading| reading != Reading::default()) {
        return Err(Error::Input("--reading is not for --importance or --format jsonl; leave it out".into()).into());
    }
    if low.format == LinkFormat::Jsonl && low.reverse_model.is_some() {
        let message = "--format jsonl writes the matrix of one model; leave out --reverse-model";
        return Err(Error::Input(message.into()).into());
    }
    let mut files = low.pairs.open()?;
    let (high, mut steppers) = high(low)?;
    let mut output = LineOutput::stdout();
    let mut number = 0;
    let reading = ReadRows::own((&high.forward).into()).told().filter(|_| low.importance.name == ATTENTION);
    let doing = Doing { name: "aligning", verb: "align" };
    let refused =
        windows::run(doing, &mut files, Growth::up_to(WINDOW), &mut |files| high.next(files), &mut |window| {
            let mut target_words = 0;
            for pair in window {
                number += 1;
                let found = pair
                    .as_ref()
                    .ok()
                    .map(|pair| important(&high, (low.importance, samples), &mut steppers, pair))
                    .transpose()?;
                target_words += found.as_ref().map_or(0, |found| found.matrix.len());
                write((low, reading), &mut output, number, pair.as_ref().ok(), found)?;
                output.flush()?;
            }
            Ok(target_words)
        })?;
    output.finish()?;
    words::refused(refused)
}

/// What matters in a pair, in both directions where there is a model of the other.
fn important(
    high: &High<'_>,
    definition: (&Importance, usize),
    steppers: &mut Steppers,
    pair: &Pair,
) -> Result<Important> {
    let measure = |model: &Model, stepper: &mut dyn Stepper, pair: &WordPair| {
        let threshold = high.low.threshold;
        let mut aligner = Aligner { system: model.into(), stepper };
        let found =
            aligner.important_links(definition, &[pair], threshold, &CancellationToken::forever(), &mut |_| {})?;
        found.into_iter().next().ok_or_else(|| Error::Internal("a pair was not measured".into()))
    };
    let mut there = measure(&high.forward, steppers.forward.as_mut(), &pair.forward)?;
    if let (Some(reverse), Some(stepper), Some(pair)) = (&high.reverse, &mut steppers.reverse, &pair.reverse) {
        let back = measure(reverse, stepper.as_mut(), pair)?;
        there.links = high.put_together(there.links, back.links);
    }
    Ok(there)
}

fn write(
    (low, reading): (&AlignArgs, Option<&'static str>),
    output: &mut LineOutput,
    number: usize,
    pair: Option<&Pair>,
    found: Option<Important>,
) -> anyhow::Result<()> {
    let (links, matrix) = found.map(|found| (found.links, found.matrix)).unwrap_or_default();
    if low.format != LinkFormat::Jsonl {
        return low.format.write(output, number, links);
    }
    let (source, target) = pair.map(|pair| pair.forward.tokens()).unwrap_or_default();
    output.json(&Record { importance: low.importance.name, source, target, reading, matrix: &matrix })
}
