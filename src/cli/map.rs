//! `interlinear map`: words or phrases in the plane (Cho et al. 2014, figures 4 and 5).

use std::path::PathBuf;

use clap::{ArgMatches, Args, FromArgMatches as _};
use clap::{builder::PossibleValuesParser, parser::ValueSource};
use serde_json::json;

use crate::vectors::{VectorArgs, Vectors};
use crate::{args::TableFormat, args::number, columns::TextTable, output::LineOutput, progress::ProgressLine};
use engine::analysis::map::{METHODS, MapLayout, Method};
use engine::analysis::{map, tsne::TsneOptions};
use engine::error::{Error, Result};
use engine::text::{tsv, tsv::TsvCell};
use engine::{models::Model, ticket::CancellationToken};

const STEPS: u64 = 1000;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Words are mapped by their rows of the embedding matrix, the lines of FILE by the context vector c of
an RNN Encoder-Decoder and by the mean of the annotations h_j of the other models. t-SNE looks at the first 50
principal components and runs on one thread, so that the same input gives the same map.

Formats:
  text  the table, in columns
  tsv   x, y, the id of the word or the line of the phrase, its length, and itself
  json  one JSON object: model, vector, method, explained (shares of variance along x and y) or perplexity,
        and points with x, y, id or line, length (letters or words) and text",
    mut_arg("side", |side| side.conflicts_with("file")),
    mut_arg("pretokenized", |pretokenized| pretokenized.requires("file"))
)]
pub struct MapArgs {
    /// Phrases, one a line, packed (gzip, zstandard) or not; `-` is stdin. Without it words are mapped
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    vectors: VectorArgs,
    /// How many words, the most frequent first
    #[arg(long, value_name = "N", default_value_t = 2000, conflicts_with = "file",
          value_parser = clap::value_parser!(u32).range(2..=100_000))]
    words: u32,
    /// How to lay out: principal components or t-SNE
    #[arg(long, value_name = "NAME", default_value = METHODS[0].name,
          value_parser = PossibleValuesParser::new(METHODS.iter().map(|entry| entry.name)))]
    method: String,
    /// About how many neighbours count for a point in t-SNE
    #[arg(long, value_name = "P", default_value_t = TsneOptions::default().perplexity, value_parser = perplexity)]
    perplexity: f32,
    /// Steps of t-SNE
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    epochs: u32,
    /// Start t-SNE at random places of this seed instead of the principal components
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// What to write
    #[arg(long, value_enum, default_value_t = TableFormat::Tsv)]
    format: TableFormat,
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let args = MapArgs::from_arg_matches(matches)?;
    refuse_idle_options(&args, matches)?;
    let (runtime, model) = args.vectors.open()?;
    let vectors = args.vectors.read(&runtime, &model, args.file.as_deref(), args.words as usize)?;
    let layout = lay_out(&args, &vectors)?;
    let number = if args.file.is_some() { "line" } else { "id" };
    let head = ["x", "y", number, "length", "text"];
    let rows = layout.places.iter().zip(&vectors.entries).map(|([x, y], entry)| {
        let numbers = [x.to_string(), y.to_string(), entry.number.to_string(), entry.length.to_string()];
        (numbers, &entry.text)
    });
    let mut output = LineOutput::stdout();
    match args.format {
        TableFormat::Text => {
            let mut table = TextTable::new(head);
            rows.for_each(|(numbers, text)| table.row(numbers.into_iter().chain([text.clone()])));
            output.text(&table.text())?;
        }
        TableFormat::Tsv => {
            let cells =
                rows.map(|(numbers, text)| numbers.into_iter().map(TsvCell::Plain).chain([text.into()]).collect());
            output.text(&tsv::text(&head, cells))?;
        }
        TableFormat::Json => output.json(&record(&args, &model, &vectors, &layout, number))?,
    }
    output.finish()
}

fn lay_out(args: &MapArgs, vectors: &Vectors) -> anyhow::Result<MapLayout> {
    let method = Method::from_name(&args.method).unwrap_or_default();
    let options = TsneOptions { perplexity: args.perplexity, epochs: args.epochs as usize, seed: args.seed };
    let shared = std::io::IsTerminal::is_terminal(&std::io::stdout());
    let mut progress = ProgressLine::new(method.entry().title, Some(STEPS), shared);
    let mut on_progress = |share: f32, _: &[f32]| progress.add(0, 0, (share * STEPS as f32) as u64);
    // One thread, in whose hands t-SNE repeats itself bit for bit.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let ticket = CancellationToken::forever();
    let layout =
        pool.install(|| map::layout(&vectors.rows, vectors.dimension, method, &options, &ticket, &mut on_progress));
    progress.finish();
    Ok(layout?)
}

fn record(args: &MapArgs, model: &Model, vectors: &Vectors, layout: &MapLayout, key: &str) -> serde_json::Value {
    let points: Vec<_> = layout
        .places
        .iter()
        .zip(&vectors.entries)
        .map(|([x, y], entry)| json!({"x": x, "y": y, key: entry.number, "length": entry.length, "text": entry.text}))
        .collect();
    json!({
        "model": model.config.name, "vector": vectors.kind, "method": args.method, "explained": layout.explained,
        "perplexity": layout.perplexity, "points": points,
    })
}

fn refuse_idle_options(args: &MapArgs, matches: &ArgMatches) -> Result<()> {
    let tsne = METHODS.iter().find(|entry| entry.method == Method::Tsne).map_or("", |entry| entry.name);
    let given = |id: &&&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    match ["perplexity", "epochs", "seed"].iter().find(given) {
        Some(option) if args.method != tsne => {
            let method = &args.method;
            Err(Error::Input(format!(
                "--{option} is of {tsne} and --method is {method}; leave it out or add --method {tsne}"
            )))
        }
        _ => Ok(()),
    }
}

fn perplexity(text: &str) -> Result<f32> {
    number(text, |number| (1.0..=1000.0).contains(&number), "write a number from 1 to 1000, such as 30")
}
