//! Floor 6: alignments of Nematus as JSON: for each sentence a list of `[target, source, weight, sid, tid]`, target word
//! by target word, `</s>` on both sides; the lists follow each other. Imports its room.

use std::io::BufRead;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::StreamDeserializer;
use serde_json::de::IoRead;

use crate::analysis::alignment::Alignment;
use crate::error::{Error, Result};
use crate::import::facts::{Facts, ImportFact, ImportReported, Warnings};
use crate::import::format::{FileSample, FormatReader, system};
use crate::import::input::ImportInput;
use crate::import::matrix::weight;
use crate::import::options::{ImportOptions, Orientation};
use crate::import::record::{ImportedOutput, ImportedText, Record};
use crate::text::sentence::EOS;

/// A list of lists that begin with two words.
pub fn sniff(sample: &FileSample<'_>) -> u8 {
    let start: String = sample.head.chars().filter(|c| !c.is_whitespace()).take(3).collect();
    if start == "[[\"" { 90 } else { 0 }
}

/// Starts to read.
pub fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    facts.orientation = ImportFact::known(Orientation::TargetRows, "every weight names its words");
    let lists = serde_json::Deserializer::from_reader(input.text()?).into_iter();
    Ok(Box::new(JsonReader { path: input.path().into(), lists, system: system(input, options), count: 0 }))
}

/// `[target, source, weight, sid, tid]`
#[derive(Debug, Deserialize)]
struct Entry(String, String, Number, #[serde(default)] serde::de::IgnoredAny, #[serde(default)] serde::de::IgnoredAny);

/// Nematus writes weights in quotation marks.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Number {
    Bare(f32),
    Quoted(String),
}

impl Number {
    fn weight(&self) -> ImportReported<f32> {
        match self {
            Self::Bare(value) => Ok(*value),
            Self::Quoted(text) => weight(text),
        }
    }
}

type Lists = StreamDeserializer<'static, IoRead<Box<dyn BufRead + Send>>, Vec<Entry>>;

struct JsonReader {
    path: PathBuf,
    lists: Lists,
    system: String,
    count: usize,
}

impl FormatReader for JsonReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        let Some(list) = self.lists.next() else { return Ok(None) };
        let entries = list.map_err(|error| {
            let message =
                format!("is no list of `[target, source, weight, ..]` ({error}); what comes before it was read");
            Error::line(&self.path, error.line().max(1), message)
        })?;
        self.count += 1;
        let number = self.count;
        let mut record = Record { sentence: number, line: number, ..Record::default() };
        match sentence(&entries) {
            Ok((source, target, alpha)) => {
                record.source = Some(ImportedText::cut(source));
                record.outputs.push(ImportedOutput { alpha: Some(alpha), ..ImportedOutput::cut(&self.system, target) });
            }
            Err(message) => warnings.add(number, format!("{message}; sentence {number} is left out")),
        }
        Ok(Some(record))
    }
}

/// Source tokens, target tokens and alpha of a sentence.
fn sentence(entries: &[Entry]) -> ImportReported<(Vec<String>, Vec<String>, Alignment)> {
    let columns = columns(entries).ok_or_else(|| "has weights that are no whole matrix".to_owned())?;
    let weights: Vec<f32> = entries.iter().map(|entry| entry.2.weight()).collect::<ImportReported<_>>()?;
    let source = entries[..columns].iter().map(|entry| entry.1.clone()).collect();
    let target = entries.iter().step_by(columns).map(|entry| entry.0.clone()).collect();
    let alpha = Alignment::new(weights, columns).ok_or_else(|| "has weights that are no whole matrix".to_owned())?;
    Ok((source, target, alpha))
}

/// How many source words each target word has: up to the first `</s>`, else the fewest that repeat all through.
fn columns(entries: &[Entry]) -> Option<usize> {
    let ended = entries.iter().position(|entry| entry.1 == EOS).map(|end| end + 1);
    let fits = |columns: &usize| {
        entries.len().is_multiple_of(*columns)
            && entries.chunks(*columns).all(|row| {
                row.iter().zip(entries).all(|(one, first)| one.1 == first.1) && row.iter().all(|one| one.0 == row[0].0)
            })
    };
    ended.filter(fits).or_else(|| (1..=entries.len()).find(fits))
}
