//! The vectors that `neighbours` and `map` look at, from what was typed.

use std::path::Path;

use clap::Args;

use crate::args;
use crate::args::{Choice, RunArgs, one_of};
use crate::input::{InputLines, InputSide};
use crate::progress::ProgressLine;
use engine::models::{Model, representations};
use engine::models::{choice::ModelSpec, representations::VocabularySide};
use engine::{analysis::neighbours::Space, error::Error, text::sentence::Sentence};
use host::runtime::Runtime;

const SIDES: &[Choice<VocabularySide>] = &[
    ("source", "The language that is read", VocabularySide::Source),
    ("target", "The language that is written", VocabularySide::Target),
];

/// A model, and which of its vectors, as typed.
#[derive(Args, Clone, Debug)]
pub struct VectorArgs {
    /// The model folder, or the name of an installed model [default: the installed RNNsearch guided, or the first of
    /// `interlinear models`]
    #[arg(long, value_name = "DIR", value_parser = args::folder())]
    model: Option<ModelSpec>,
    /// Which vocabulary the words are of
    #[arg(long, default_value = "source", value_parser = one_of(SIDES.iter().copied()))]
    pub side: VocabularySide,
    /// The words of phrases are split by spaces already
    #[arg(long)]
    pub pretokenized: bool,
    #[command(flatten)]
    run: RunArgs,
}

impl VectorArgs {
    pub fn open(&self) -> engine::error::Result<(Runtime, Model)> {
        let runtime = self.run.plan()?;
        let model = args::load(&args::given_one(self.model.as_ref())?, &runtime)?;
        Ok((runtime, model))
    }

    /// The vectors of a file of phrases, or of the first `most` words.
    pub fn read(
        &self, runtime: &Runtime, model: &Model, phrases: Option<&Path>, most: usize,
    ) -> anyhow::Result<Vectors> {
        match phrases {
            Some(file) => Vectors::phrases(runtime, model, file, self.pretokenized),
            None => Ok(Vectors::words(model, self.side, most)?),
        }
    }
}

/// A word or a phrase.
#[derive(Clone, Debug)]
pub struct VectorEntry {
    /// As the vocabulary or the file writes it.
    pub text: String,
    /// A word's id, or a phrase's line from 1.
    pub number: usize,
    /// Letters of a word, words of a phrase.
    pub length: usize,
}

/// Entries and their vectors, row by row.
pub struct Vectors {
    pub entries: Vec<VectorEntry>,
    /// How many numbers a row has.
    pub dimension: usize,
    /// The rows, one after the other.
    pub rows: Vec<f32>,
    pub kind: String,
}

impl Vectors {
    /// The first `most` words of a side.
    pub fn words(model: &Model, side: VocabularySide, most: usize) -> engine::error::Result<Self> {
        let words = representations::words(model, side, most)?;
        let vocabulary = representations::tokenizer(model, side);
        let entry = |&id: &u32| {
            let text = vocabulary.token(id).unwrap_or_default().to_owned();
            VectorEntry { length: text.chars().count(), text, number: id as usize }
        };
        let entries = words.ids.iter().map(entry).collect();
        let kind = format!("{} embedding", side.name());
        Ok(Self { entries, dimension: words.dimension, rows: words.rows, kind })
    }

    /// The lines of a file, `-` being stdin; those without words are left out, those that are too long are reported.
    pub fn phrases(runtime: &Runtime, model: &Model, file: &Path, pretokenized: bool) -> anyhow::Result<Self> {
        let mut lines = InputLines::open(Some(file))?;
        let mut texts = Vec::new();
        while let Some(line) = lines.read()? {
            let read = InputSide { tokenizer: &model.source, pretokenized }.read(&lines, line);
            match read.refused {
                Some(why) => crate::output::notify(&why.to_string()),
                None if read.sentence.words() > 0 => texts.push((read.number, read.sentence)),
                None => {}
            }
        }
        if texts.is_empty() {
            return Err(Error::file(&lines.name, "has no line with words; write one phrase a line").into());
        }
        let sources: Vec<&[u32]> = texts.iter().map(|(_, sentence)| sentence.ids.as_slice()).collect();
        let mut stepper = model.stepper(runtime.engine, runtime.threads)?;
        let shared = std::io::IsTerminal::is_terminal(&std::io::stdout());
        let mut progress = ProgressLine::new("reading phrases", Some(sources.len() as u64), shared);
        let mut before = 0;
        let mut on_progress = |done: usize| {
            progress.add(done - before, 0, done as u64);
            before = done;
            Ok(())
        };
        let read =
            representations::phrases(&model.config.name, &mut *stepper, &sources, model.source_eos(), &mut on_progress);
        progress.finish();
        let read = read?;
        let entry = |(number, sentence): (usize, Sentence)| VectorEntry {
            number,
            length: sentence.words(),
            text: sentence.text,
        };
        let entries = texts.into_iter().map(entry).collect();
        Ok(Self { entries, dimension: read.dimension, rows: read.rows, kind: read.vector.name().to_owned() })
    }

    pub fn space(&self) -> Space {
        Space::new(self.dimension, self.rows.clone())
    }
}
