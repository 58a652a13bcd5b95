//! `interlinear align --format jsonl`: alpha of each pair, not the links that are read off it.

use serde::Serialize;

use crate::align::models::{Plan, plan};
use crate::windows::{Doing, Growth};
use crate::{align::arguments::AlignArgs, output::LineOutput, windows};
use engine::evaluation::alignment::{Aligner, WordPair};
use engine::{
    analysis::row_convention::RowConvention, error::Error, evaluation::rows::RowReader, ticket::CancellationToken,
};

const WINDOW: usize = 16;

#[derive(Serialize)]
struct Record<'a> {
    source: &'a [String],
    target: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    reading: Option<&'static str>,
    matrix: &'a [Vec<f32>],
}

/// Writes a line for each pair; one that the model cannot read has empty ones.
pub fn run(args: &AlignArgs) -> anyhow::Result<()> {
    if args.reading.reading.is_some_and(|reading| reading != RowConvention::default()) {
        return Err(Error::Input("--reading is not for --format jsonl; leave it out".into()).into());
    }
    if args.reverse_model.is_some() {
        let message = "--format jsonl writes the matrix of one model; leave out --reverse-model";
        return Err(Error::Input(message.into()).into());
    }
    let mut files = args.pairs.open()?;
    let (plan, mut steppers) = plan(args)?;
    let Plan { forward: model, .. } = &plan;
    let mut output = LineOutput::stdout();
    let reading = RowReader::own(model.into()).name();
    let doing = Doing { name: "aligning", verb: "align" };
    let refused =
        windows::run(doing, &mut files, Growth::up_to(WINDOW), &mut |files| plan.next(files), &mut |window| {
            let mut target_words = 0;
            for pair in window {
                let pair = pair.as_ref().ok().map(|pair| &pair.forward);
                let mut aligner = Aligner { system: model.into(), stepper: steppers.forward.as_mut() };
                let mut alpha = |pair| aligner.own_rows(pair, &CancellationToken::forever());
                let matrix: Vec<Vec<f32>> = pair.map(&mut alpha).transpose()?.unwrap_or_default();
                let (source, target) = pair.map(WordPair::tokens).unwrap_or_default();
                target_words += matrix.len();
                output.json(&Record { source, target, reading, matrix: &matrix })?;
                output.flush()?;
            }
            Ok(target_words)
        })?;
    output.finish()?;
    windows::refused(refused)
}
