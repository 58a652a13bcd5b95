//! Floor 9: `interlinear neighbours`: what lies near a word or a phrase (Cho et al. 2014, section 4.4).

use std::path::PathBuf;

use clap::{ArgMatches, Args, FromArgMatches as _, ValueEnum};
use serde_json::json;

use crate::analysis::neighbours::{Neighbour, Space};
use crate::cli::Context;
use crate::cli::args::{RunArgs, Runtime};
use crate::cli::output::Output;
use crate::cli::vectors::{Entry, SideArg, Vectors, cell};
use crate::error::Error;
use crate::models::{Model, representations};

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Words are compared by their rows of the embedding matrix. Phrases are compared by the context
vector c of an RNN Encoder-Decoder, and by the mean of the annotations h_j of the other models.

Formats:
  text  each query, and below it its neighbours with their cosines
  tsv   query, neighbour, cosine, and the id of the word or the line of the phrase
  json  one JSON object a query: query, vector, neighbours with text, cosine, and id or line"
)]
pub struct Low {
    /// Words of the vocabulary; with --phrases, phrases, each in quotes
    #[arg(value_name = "WORD", required = true)]
    words: Vec<String>,
    /// The model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Which vocabulary the words are of
    #[arg(long, value_enum, default_value_t, conflicts_with = "phrases")]
    side: SideArg,
    /// Look among the lines of this file, one phrase a line, instead of the vocabulary
    #[arg(long, value_name = "FILE")]
    phrases: Option<PathBuf>,
    /// The words of phrases are split by spaces already
    #[arg(long, requires = "phrases")]
    pretokenized: bool,
    /// How many neighbours
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    run: RunArgs,
}

/// How the list is written.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For reading.
    #[default]
    Text,
    /// For a spreadsheet.
    Tsv,
    /// For a program.
    Json,
}

/// Its arguments.
pub fn arguments(command: clap::Command) -> clap::Command {
    Low::augment_args(command)
}

/// Lists the neighbours of every query.
pub fn run(matches: &ArgMatches, _: Context) -> anyhow::Result<()> {
    let low = Low::from_arg_matches(matches)?;
    let runtime = low.run.high()?;
    let model = runtime.load(&low.model)?;
    let vectors = match &low.phrases {
        Some(file) => Vectors::phrases(&runtime, &model, file, low.pretokenized)?,
        None => Vectors::words(&model, low.side.high(), usize::MAX)?,
    };
    let space = vectors.space();
    let found = match &low.phrases {
        Some(_) => of_phrases(&low, &runtime, &model, &space)?,
        None => of_words(&low, &model, &vectors, &space)?,
    };
    let mut output = Output::stdout();
    if low.format == Format::Tsv {
        output.line(if low.phrases.is_some() {
            "query\tneighbour\tcosine\tline"
        } else {
            "query\tneighbour\tcosine\tid"
        })?;
    }
    for (query, near) in low.words.iter().zip(&found) {
        write(&mut output, &low, query, near, &vectors)?;
    }
    output.finish()
}

fn of_words(low: &Low, model: &Model, vectors: &Vectors, space: &Space) -> crate::error::Result<Vec<Vec<Neighbour>>> {
    let vocabulary = representations::tokenizer(model, low.side.high());
    let near = |word: &String| {
        let id = vocabulary.id(word).map(|id| id as usize);
        // Ids ascend, and only a few are left out.
        let row = id.and_then(|id| vectors.entries.binary_search_by_key(&id, |entry| entry.number).ok());
        let unknown = || {
            let (side, name) = (low.side.high().name(), &model.config.name);
            let words = vocabulary.len();
            let advice = if word.trim().contains(char::is_whitespace) {
                "give words one by one, or a file of phrases with --phrases"
            } else {
                "try another spelling"
            };
            Error::Input(format!("\"{word}\" is not among the {words} {side} words of {name}; {advice}"))
        };
        row.map(|row| space.nearest_to(row, low.count as usize)).ok_or_else(unknown)
    };
    low.words.iter().map(near).collect()
}

fn of_phrases(low: &Low, runtime: &Runtime, model: &Model, space: &Space) -> crate::error::Result<Vec<Vec<Neighbour>>> {
    let read = |phrase: &String| {
        if low.pretokenized {
            let words: Vec<&str> = phrase.split_whitespace().collect();
            model.source.encode_words(&words)
        } else {
            model.source.encode(phrase)
        }
    };
    let sentences: Vec<_> = low.words.iter().map(read).collect();
    if let Some(at) = sentences.iter().position(|sentence| sentence.words() == 0) {
        return Err(Error::Input(format!("\"{}\" has no words that the model could read", low.words[at])));
    }
    let sources: Vec<&[u32]> = sentences.iter().map(|sentence| sentence.ids.as_slice()).collect();
    let mut stepper = model.stepper(runtime.engine, runtime.threads)?;
    let read =
        representations::phrases(&model.config.name, &mut *stepper, &sources, model.source_eos(), &mut |_| Ok(()))?;
    Ok(read.rows.chunks_exact(read.dimension).map(|row| space.nearest(row, low.count as usize)).collect())
}

fn write(output: &mut Output, low: &Low, query: &str, near: &[Neighbour], vectors: &Vectors) -> anyhow::Result<()> {
    let entry = |near: &Neighbour| -> &Entry { &vectors.entries[near.index] };
    match low.format {
        Format::Text => {
            output.line(query)?;
            for near in near {
                output.line(&format!("  {:>6.3}  {}", near.cosine, entry(near).text))?;
            }
        }
        Format::Tsv => {
            for near in near {
                let (Entry { text, number, .. }, cosine) = (entry(near), near.cosine);
                output.line(&format!("{}\t{}\t{cosine}\t{number}", cell(query), cell(text)))?;
            }
        }
        Format::Json => {
            let key = if low.phrases.is_some() { "line" } else { "id" };
            let record =
                |near: &Neighbour| json!({"text": entry(near).text, "cosine": near.cosine, key: entry(near).number});
            let near: Vec<_> = near.iter().map(record).collect();
            output.json(&json!({"query": query, "vector": vectors.kind, "neighbours": near}))?;
        }
    }
    Ok(())
}
