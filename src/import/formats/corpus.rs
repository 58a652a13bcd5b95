//! The JSON lines of a corpus, "everything": an object for each sentence with references, outputs, alignments and
//! scores. Its judgements are read apart.

use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;

use crate::facts::{Facts, ImportColumn, ImportFact, Warnings};
use crate::format::{FileSample, FormatReader, LineParser};
use crate::formats::jsonl::{Matrix, log_p};
use crate::formats::links;
use crate::input::{ImportInput, TextLines};
use crate::options::{Base, ColumnRole, ImportOptions, Orientation};
use crate::record::{ImportedOutput, ImportedText, Record};
use engine::{error::Result, text::cut::WordRule};

pub const NAME: &str = "corpus";

/// An object with a number, a source and judgements.
pub fn sniff(sample: &FileSample<'_>) -> u8 {
    let first = sample.first();
    let has = |key: &str| first.contains(key);
    if first.starts_with('{') && has("\"judgements\":") && has("\"number\":") && has("\"gold\":") { 95 } else { 0 }
}

pub fn open(input: &ImportInput, _: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    facts.orientation = ImportFact::known(Orientation::TargetRows, "as this program writes them");
    let first = input.head().lines().find_map(|line| serde_json::from_str::<Line>(line).ok());
    let numbers = first.into_iter().flat_map(|line| line.measures.unwrap_or_default().into_keys());
    facts.columns = numbers.map(|name| ImportColumn { name, role: ColumnRole::Number }).collect();
    Ok(Box::new(CorpusReader(input.lines()?)))
}

#[derive(Deserialize)]
struct Line {
    words: Option<Words>,
    source: String,
    reference: Option<String>,
    references: Option<Vec<Option<String>>>,
    systems: BTreeMap<String, Said>,
    gold: Option<String>,
    measures: Option<Numbers>,
    parts: Option<String>,
    #[serde(default)]
    target_parts: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Words {
    source: WordRule,
    target: WordRule,
}

type Numbers = BTreeMap<String, Option<f32>>;

#[derive(Deserialize)]
struct Said {
    number: usize,
    text: String,
    source: Vec<String>,
    target: Vec<String>,
    log_p: Option<f32>,
    #[serde(default)]
    token_count: usize,
    word_log_p: Vec<Option<f32>>,
    alpha: Option<Matrix>,
    links: Option<String>,
    #[serde(default)]
    links_given: bool,
    measures: Option<Numbers>,
}

struct CorpusReader(TextLines);

struct Parser;

impl FormatReader for CorpusReader {
    fn apart(&mut self) -> Option<(&mut TextLines, Arc<dyn LineParser>)> {
        Some((&mut self.0, Arc::new(Parser)))
    }
}

impl LineParser for Parser {
    fn record(&self, number: usize, line: &str, warnings: &mut Warnings) -> Option<Record> {
        match serde_json::from_str::<Line>(line) {
            Ok(line) => Some(record(number, line, warnings)),
            Err(error) => {
                let why = error.to_string().replace(" at line 1 column", ", column");
                warnings.add(number, format!("is no line of `analyse --format jsonl` ({why}); it is left out"));
                None
            }
        }
    }
}

fn record(number: usize, line: Line, warnings: &mut Warnings) -> Record {
    let mut record = Record { sentence: number, line: number, ..Record::default() };
    let mut references = line.references.unwrap_or_default().into_iter().map(Option::unwrap_or_default).skip(1);
    record.further = references.by_ref().collect();
    record.parts = line.parts.map(|parts| (None, parts)).into_iter().collect();
    record.parts.extend(line.target_parts.into_iter().map(|(text, parts)| (Some(text), parts)));
    record.reference = line.reference.map(ImportedText::plain);
    record.source = Some(ImportedText::plain(line.source));
    let mut linked = |text: Option<String>| match links::cell(&text?, Base::Zero) {
        Ok(links) => Some(links),
        Err(why) => {
            warnings.add(number, format!("has links that are left out: {why}"));
            None
        }
    };
    // a line that does not say it counts words between spaces
    record.words = Some(line.words.map_or([WordRule::Spaces; 2], |words| [words.source, words.target]));
    record.gold = linked(line.gold);
    let numbers = |all: Option<Numbers>| all.unwrap_or_default().into_iter().filter_map(|(name, n)| Some((name, n?)));
    record.extra.extend(numbers(line.measures).map(|(name, n)| (name, n.to_string())));
    let mut systems: Vec<(String, Said)> = line.systems.into_iter().collect();
    systems.sort_by_key(|(_, said)| said.number);
    for (name, said) in systems {
        let alpha = said.alpha.and_then(|Matrix(alpha)| alpha);
        let links = linked(said.links.filter(|_| said.links_given || alpha.is_none()));
        record.extra.extend(numbers(said.measures).map(|(of, n)| (format!("{of}.{name}"), n.to_string())));
        record.outputs.push(ImportedOutput {
            tokens: said.target,
            source: Some(said.source),
            log_p: said.log_p,
            token_count: said.token_count,
            token_log_p: log_p(said.word_log_p),
            alpha,
            links: links.map(|links| links.all().into_iter().map(|(link, _)| link).collect()),
            ..ImportedOutput::plain(&name, said.text)
        });
    }
    record
}
