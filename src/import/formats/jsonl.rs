//! Floor 6: JSON lines of this program: `translate --format jsonl` and `score`. Imports its room and `text`.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};

use crate::error::{Error, Result};
use crate::import::facts::{Fact, Facts, Warnings};
use crate::import::format::{Reader, Sample, system};
use crate::import::input::{Input, Lines};
use crate::import::options::{Options, Orientation};
use crate::import::record::{Alpha, Output, Record, Text};
use crate::text::join::join;
use crate::text::readable::readable;

/// An object with hypotheses.
pub fn sniff_translate(sample: &Sample<'_>) -> u8 {
    if sample.first().starts_with('{') && sample.first().contains("\"hypotheses\"") { 95 } else { 0 }
}

/// An object with a source and a target.
pub fn sniff_score(sample: &Sample<'_>) -> u8 {
    let first = sample.first();
    let has = |key: &str| first.contains(key);
    if first.starts_with('{') && has("\"source\"") && has("\"target\"") { 90 } else { 0 }
}

/// Starts to read either.
pub fn open(input: &Input, options: &Options, facts: &mut Facts) -> Result<Box<dyn Reader>> {
    facts.orientation = Fact::known(Orientation::TargetRows, "as this program writes them");
    Ok(Box::new(JsonlReader {
        path: input.path().into(),
        lines: input.lines()?,
        system: system(input, options),
        languages: options.languages.clone(),
    }))
}

/// A line of either command; whatever else it has is not needed here.
#[derive(Deserialize)]
struct Line {
    id: Option<String>,
    source: Vec<String>,
    hypotheses: Option<Vec<Hypothesis>>,
    target: Option<Vec<String>>,
    log_p: Option<f32>,
    token_log_p: Option<Vec<Option<f32>>>,
    #[serde(default)]
    alpha: Matrix,
}

#[derive(Deserialize)]
struct Hypothesis {
    tokens: Vec<String>,
    text: Option<String>,
    log_p: Option<f32>,
    token_log_p: Option<Vec<Option<f32>>>,
    #[serde(default)]
    alpha: Matrix,
}

/// Rows of numbers, or null.
#[derive(Default)]
struct Matrix(Option<Alpha>);

impl<'de> Deserialize<'de> for Matrix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_option(Rows)
    }
}

/// Reads rows into one list, for a million small lists take their time.
struct Rows;

impl<'de> Visitor<'de> for Rows {
    type Value = Matrix;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("rows of weights or null")
    }

    fn visit_none<E>(self) -> std::result::Result<Matrix, E> {
        Ok(Matrix(None))
    }

    fn visit_unit<E>(self) -> std::result::Result<Matrix, E> {
        Ok(Matrix(None))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Matrix, D::Error> {
        deserializer.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> std::result::Result<Matrix, A::Error> {
        let (mut weights, mut columns) = (Vec::new(), None);
        while let Some(count) = rows.next_element_seed(Row(&mut weights))? {
            if *columns.get_or_insert(count) != count {
                return Err(A::Error::custom("the rows of alpha differ in length"));
            }
        }
        Ok(Matrix(Alpha::new(weights, columns.unwrap_or(0)).filter(|alpha| alpha.rows() > 0)))
    }
}

/// Reads a row behind others and gives its length.
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
    path: PathBuf,
    lines: Lines,
    system: String,
    languages: (Option<String>, Option<String>),
}

impl Reader for JsonlReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        while let Some(line) = self.lines.next(warnings)? {
            let Some(text) = line.text else { continue };
            if text.trim().is_empty() {
                warnings.add(line.number, "is blank; its sentence is left out");
                continue;
            }
            match parse(&self.path, line.number, &text) {
                Ok(parsed) => return Ok(Some(self.record(line.number, parsed, warnings))),
                Err(error) => warnings.note(line.number, &error),
            }
        }
        Ok(None)
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

impl JsonlReader {
    fn record(&self, number: usize, line: Line, warnings: &mut Warnings) -> Record {
        let text = spoken(self.languages.0.as_deref(), &line.source);
        let width = line.source.len();
        let scored = line.target.map(|tokens| Hypothesis {
            tokens,
            text: None,
            log_p: line.log_p,
            token_log_p: line.token_log_p,
            alpha: line.alpha,
        });
        let hypotheses = line.hypotheses.unwrap_or_default().into_iter().chain(scored);
        let outputs: Vec<Output> = hypotheses.map(|one| self.output(one, width, number, warnings)).collect();
        if outputs.is_empty() && width > 1 {
            warnings.add(number, "has no translation");
        }
        let source = Some(Text { text, tokens: Some(line.source) });
        Record { sentence: number, line: number, id: line.id, source, outputs, ..Record::default() }
    }

    fn output(&self, one: Hypothesis, width: usize, number: usize, warnings: &mut Warnings) -> Output {
        let Hypothesis { tokens, text, log_p, token_log_p, alpha: Matrix(alpha) } = one;
        let height = tokens.len();
        let fits = |alpha: &Alpha| (alpha.rows(), alpha.columns()) == (height, width);
        if let Some(alpha) = alpha.as_ref().filter(|alpha| !fits(alpha)) {
            let (rows, columns) = (alpha.rows(), alpha.columns());
            warnings.add(
                number,
                format!(
                    "has alpha of {rows} by {columns} for {height} target and {width} source tokens, or weights that are no numbers; it is left out"
                ),
            );
        }
        Output {
            system: Some(self.system.clone()),
            text: text.unwrap_or_else(|| spoken(self.languages.1.as_deref(), &tokens)),
            log_p,
            // JSON has no infinity: a word of probability 0 comes as null.
            token_log_p: token_log_p
                .map(|all| all.into_iter().map(|one| one.unwrap_or(f32::NEG_INFINITY)).collect())
                .unwrap_or_default(),
            alpha: alpha.filter(fits),
            tokens,
            ..Output::default()
        }
    }
}

/// Tokens as text: put together as the language does, where it is known.
fn spoken(language: Option<&str>, tokens: &[String]) -> String {
    language.map_or_else(|| readable(tokens), |language| join(language, tokens))
}
