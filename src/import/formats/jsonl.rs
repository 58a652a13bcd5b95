//! JSON lines of this program: `translate --format jsonl` and `score`. Where tokens are pieces of words and the line
//! says of which word, what comes in is of words.

use std::path::{Path, PathBuf};
use std::{ops::Range, sync::Arc};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};

use crate::facts::{Facts, ImportFact, Warnings};
use crate::format::{FileSample, FormatReader, LineParser, system};
use crate::input::{ImportInput, TextLines};
use crate::options::{ImportOptions, Orientation};
use crate::record::{ImportedOutput, ImportedText, Record};
use engine::analysis::alignment::Alignment;
use engine::analysis::words::{merge_alpha, merge_log_p};
use engine::error::{Error, Result};
use engine::text::{join::join, pieces::PieceMarks, readable::readable};

/// An object with hypotheses.
pub fn sniff_translate(sample: &FileSample<'_>) -> u8 {
    if sample.first().starts_with('{') && sample.first().contains("\"hypotheses\"") { 95 } else { 0 }
}

/// An object with a source and a target.
pub fn sniff_score(sample: &FileSample<'_>) -> u8 {
    let first = sample.first();
    let has = |key: &str| first.contains(key);
    if first.starts_with('{') && has("\"source\"") && has("\"target\"") { 90 } else { 0 }
}

/// Starts to read either.
pub fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    facts.orientation = ImportFact::known(Orientation::TargetRows, "as this program writes them");
    let parser =
        Parser { path: input.path().into(), system: system(input, options), languages: options.languages.clone() };
    Ok(Box::new(JsonlReader { lines: input.lines()?, parser: Arc::new(parser) }))
}

#[derive(Deserialize)]
struct Line {
    id: Option<String>,
    source: Vec<String>,
    words: Option<Words>,
    hypotheses: Option<Vec<Hypothesis>>,
    target: Option<Vec<String>>,
    log_p: Option<f32>,
    token_log_p: Option<Vec<Option<f32>>>,
    alpha: Option<Matrix>,
}

#[derive(Deserialize)]
struct Hypothesis {
    tokens: Vec<String>,
    words: Option<Vec<[usize; 2]>>,
    text: Option<String>,
    log_p: Option<f32>,
    token_log_p: Option<Vec<Option<f32>>>,
    alpha: Option<Matrix>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    Source(Vec<[usize; 2]>),
    Both { source: Vec<[usize; 2]>, target: Vec<[usize; 2]> },
}

/// Rows of numbers, read into one list, for a million small lists take their time; nothing where there are none.
pub(super) struct Matrix(pub(super) Option<Alignment>);

impl<'de> Deserialize<'de> for Matrix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_seq(Rows)
    }
}

struct Rows;

impl<'de> Visitor<'de> for Rows {
    type Value = Matrix;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("rows of weights or null")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> std::result::Result<Matrix, A::Error> {
        let (mut weights, mut columns) = (Vec::new(), None);
        while let Some(count) = rows.next_element_seed(Row(&mut weights))? {
            if *columns.get_or_insert(count) != count {
                return Err(A::Error::custom("the rows of alpha differ in length"));
            }
        }
        Ok(Matrix(Alignment::new(weights, columns.unwrap_or(0)).filter(|alpha| alpha.rows() > 0)))
    }
}

struct Row<'a>(&'a mut Vec<f32>);

impl<'de> DeserializeSeed<'de> for Row<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<usize, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a row of weights")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut row: A) -> std::result::Result<usize, A::Error> {
        let before = self.0.len();
        while let Some(weight) = row.next_element::<f32>()? {
            self.0.push(weight);
        }
        Ok(self.0.len() - before)
    }
}

struct JsonlReader {
    lines: TextLines,
    parser: Arc<Parser>,
}

struct Parser {
    path: PathBuf,
    system: String,
    languages: (Option<String>, Option<String>),
}

impl FormatReader for JsonlReader {
    fn apart(&mut self) -> Option<(&mut TextLines, Arc<dyn LineParser>)> {
        let parser: Arc<dyn LineParser> = Arc::<Parser>::clone(&self.parser);
        Some((&mut self.lines, parser))
    }
}

impl LineParser for Parser {
    fn record(&self, number: usize, line: &str, warnings: &mut Warnings) -> Option<Record> {
        if line.trim().is_empty() {
            warnings.add(number, "is blank; its sentence is left out");
            return None;
        }
        match parse(&self.path, number, line) {
            Ok(parsed) => Some(self.said(number, parsed, warnings)),
            Err(error) => {
                warnings.note(number, &error);
                None
            }
        }
    }
}

fn parse(path: &Path, number: usize, text: &str) -> Result<Line> {
    serde_json::from_str(text).map_err(|error| {
        // serde_json counts lines within the text, which is one.
        let message = error.to_string().replace(" at line 1 column", ", column");
        Error::line(
            path,
            number,
            format!("is no line of `translate --format jsonl` or `score` ({message}); it is left out"),
        )
    })
}

impl Parser {
    fn said(&self, number: usize, line: Line, warnings: &mut Warnings) -> Record {
        let (x, y) = match line.words {
            None => (None, None),
            Some(Words::Source(source)) => (Some(source), None),
            Some(Words::Both { source, target }) => (Some(source), Some(target)),
        };
        let source = Side::new(line.source, x, number, warnings);
        let scored = line.target.map(|tokens| Hypothesis {
            tokens,
            words: y,
            text: None,
            log_p: line.log_p,
            token_log_p: line.token_log_p,
            alpha: line.alpha,
        });
        let hypotheses = line.hypotheses.unwrap_or_default().into_iter().chain(scored);
        let outputs: Vec<ImportedOutput> = hypotheses.map(|one| self.output(one, &source, number, warnings)).collect();
        if outputs.is_empty() && source.width > 1 {
            warnings.add(number, "has no translation");
        }
        let text = spoken(self.languages.0.as_deref(), &source.words);
        let source = Some(ImportedText { text, tokens: Some(source.words) });
        Record { sentence: number, line: number, id: line.id, source, outputs, ..Record::default() }
    }

    fn output(&self, one: Hypothesis, source: &Side, number: usize, warnings: &mut Warnings) -> ImportedOutput {
        let Hypothesis { tokens, words, text, log_p: whole, token_log_p, alpha } = one;
        let alpha = alpha.and_then(|Matrix(alpha)| alpha);
        let (height, width) = (tokens.len(), source.width);
        let fits = |alpha: &Alignment| (alpha.rows(), alpha.columns()) == (height, width);
        if let Some(alpha) = alpha.as_ref().filter(|alpha| !fits(alpha)) {
            let (rows, columns) = (alpha.rows(), alpha.columns());
            warnings.add(
                number,
                format!(
                    "has alpha of {rows} by {columns} for {height} target and {width} source tokens, or weights that are no numbers; it is left out"
                ),
            );
        }
        let token_log_p: Vec<f32> = token_log_p.map(log_p).unwrap_or_default();
        let target = Side::new(tokens, words, number, warnings);
        ImportedOutput {
            system: Some(self.system.clone()),
            text: text.unwrap_or_else(|| spoken(self.languages.1.as_deref(), &target.words)),
            log_p: whole,
            token_count: if whole.is_some() { token_log_p.len() } else { 0 },
            token_log_p: if token_log_p.len() == height {
                merge_log_p(&token_log_p, &target.pieces)
            } else {
                token_log_p
            },
            alpha: alpha.filter(fits).map(|alpha| merge_alpha(&alpha, &source.pieces, &target.pieces)),
            tokens: target.words,
            ..ImportedOutput::default()
        }
    }
}

/// JSON has no infinity: a word of probability 0 comes as null.
pub(super) fn log_p(all: Vec<Option<f32>>) -> Vec<f32> {
    all.into_iter().map(|one| one.unwrap_or(f32::NEG_INFINITY)).collect()
}

struct Side {
    words: Vec<String>,
    width: usize,
    pieces: Vec<Range<usize>>,
}

impl Side {
    fn new(tokens: Vec<String>, words: Option<Vec<[usize; 2]>>, number: usize, warnings: &mut Warnings) -> Self {
        let width = tokens.len();
        let singles = || (0..width).map(|i| i..i + 1).collect();
        let Some(words) = words else { return Self { words: tokens, width, pieces: singles() } };
        let pieces: Vec<Range<usize>> = words.into_iter().map(|[start, end]| start..end).collect();
        let mut next = 0;
        let follow = pieces.iter().all(|word| word.start == std::mem::replace(&mut next, word.end) && !word.is_empty());
        if !follow || next != width {
            warnings.add(number, format!("has words that are not made of its {width} tokens; they are left out"));
            return Self { words: tokens, width, pieces: singles() };
        }
        let marks = PieceMarks::seen(&tokens);
        let words = pieces.iter().map(|word| marks.word(&tokens[word.clone()])).collect();
        Self { words, width, pieces }
    }
}

fn spoken(language: Option<&str>, tokens: &[String]) -> String {
    language.map_or_else(|| readable(tokens), |language| join(language, tokens))
}
