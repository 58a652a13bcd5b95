//! `interlinear neighbours`: what lies near a word or a phrase (Cho et al. 2014, section 4.4).

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::args::{TableFormat, count};
use crate::output::LineOutput;
use crate::vectors::{VectorArgs, VectorEntry, Vectors};
use engine::analysis::neighbours::{Neighbour, Space};
use engine::error::{Error, Result};
use engine::models::{Model, representations};
use engine::text::{tsv, tsv::TsvCell};
use host::runtime::Runtime;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Words are compared by their rows of the embedding matrix. Phrases are compared by the context
vector c of an RNN Encoder-Decoder, and by the mean of the annotations h_j of the other models.

Formats:
  text  each query, and below it its neighbours with their cosines
  tsv   query, neighbour, cosine, and the id of the word or the line of the phrase
  json  one JSON object a query: query, vector, neighbours with text, cosine, and id or line",
    mut_arg("side", |side| side.conflicts_with("phrases")),
    mut_arg("pretokenized", |pretokenized| pretokenized.requires("phrases"))
)]
pub struct NeighboursArgs {
    /// Words of the vocabulary; with --phrases, phrases, each in quotes
    #[arg(value_name = "WORD", required = true)]
    words: Vec<String>,
    #[command(flatten)]
    vectors: VectorArgs,
    /// Look among the lines of this file, one phrase a line, instead of the vocabulary
    #[arg(long, value_name = "FILE")]
    phrases: Option<PathBuf>,
    /// How many neighbours
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = count(100_000))]
    count: usize,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

/// Lists the neighbours of every query.
pub fn run(args: &NeighboursArgs) -> anyhow::Result<()> {
    let (runtime, model) = args.vectors.open()?;
    let vectors = args.vectors.read(&runtime, &model, args.phrases.as_deref(), usize::MAX)?;
    let space = vectors.space();
    let found = match &args.phrases {
        Some(_) => of_phrases(args, &runtime, &model, &space)?,
        None => of_words(args, &model, &vectors, &space)?,
    };
    let mut output = LineOutput::stdout();
    let number = if args.phrases.is_some() { "line" } else { "id" };
    let queries = args.words.iter().zip(&found);
    let entry = |near: &Neighbour| &vectors.entries[near.index];
    match args.format {
        TableFormat::Text => {
            for (query, near) in queries {
                output.line(query)?;
                for near in near {
                    output.line(&format!("  {:>6.3}  {}", near.cosine, entry(near).text))?;
                }
            }
        }
        TableFormat::Tsv => {
            let row = |query: &String, near: &Neighbour| {
                let VectorEntry { text, number, .. } = entry(near);
                vec![query.into(), text.into(), TsvCell::plain(&near.cosine), TsvCell::plain(number)]
            };
            let rows = queries.flat_map(|(query, near)| near.iter().map(move |near| row(query, near)));
            output.text(&tsv::text(&["query", "neighbour", "cosine", number], rows))?;
        }
        TableFormat::Json => {
            for (query, near) in queries {
                let record = |near: &Neighbour| {
                    let entry = entry(near);
                    json!({"text": entry.text, "cosine": near.cosine, number: entry.number})
                };
                let near: Vec<_> = near.iter().map(record).collect();
                output.json(&json!({"query": query, "vector": vectors.kind, "neighbours": near}))?;
            }
        }
    }
    output.finish()
}

fn of_words(args: &NeighboursArgs, model: &Model, vectors: &Vectors, space: &Space) -> Result<Vec<Vec<Neighbour>>> {
    let vocabulary = representations::tokenizer(model, args.vectors.side);
    let near = |word: &String| {
        let id = vocabulary.id(word).map(|id| id as usize);
        // Ids ascend, and only a few are left out.
        let row = id.and_then(|id| vectors.entries.binary_search_by_key(&id, |entry| entry.number).ok());
        let unknown = || {
            let (side, name) = (args.vectors.side.name(), &model.config.name);
            let words = vocabulary.len();
            let advice = if word.trim().contains(char::is_whitespace) {
                "give words one by one, or a file of phrases with --phrases"
            } else {
                "try another spelling"
            };
            Error::Input(format!("\"{word}\" is not among the {words} {side} words of {name}; {advice}"))
        };
        row.map(|row| space.nearest_to(row, args.count)).ok_or_else(unknown)
    };
    args.words.iter().map(near).collect()
}

fn of_phrases(args: &NeighboursArgs, runtime: &Runtime, model: &Model, space: &Space) -> Result<Vec<Vec<Neighbour>>> {
    let read = |phrase: &String| {
        if args.vectors.pretokenized {
            let words: Vec<&str> = phrase.split_whitespace().collect();
            model.source.encode_words(&words)
        } else {
            model.source.encode(phrase)
        }
    };
    let sentences: Vec<_> = args.words.iter().map(read).collect();
    if let Some(at) = sentences.iter().position(|sentence| sentence.words() == 0) {
        return Err(Error::Input(format!("\"{}\" has no words that the model could read", args.words[at])));
    }
    let sources: Vec<&[u32]> = sentences.iter().map(|sentence| sentence.ids.as_slice()).collect();
    let mut stepper = model.stepper(runtime.engine, runtime.threads)?;
    let read =
        representations::phrases(&model.config.name, &mut *stepper, &sources, model.source_eos(), &mut |_| Ok(()))?;
    Ok(read.rows.chunks_exact(read.dimension).map(|row| space.nearest(row, args.count)).collect())
}
