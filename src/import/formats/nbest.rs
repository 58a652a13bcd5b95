//! N-best lists as Moses writes them, and Marian and `translate --nbest` after it: `id ||| text ||| .. ||| score |||
//! ..`, ids from 0. Features, the score, the scores of words, and alignments, hard or soft, are where each toolkit
//! has them: Moses puts links behind the score, Marian before it.

use std::collections::HashSet;

use crate::facts::{Behind, Facts, ImportFact, Warnings};
use crate::format::{FileSample, FormatReader, system};
use crate::formats::marian::{Field, ROWS, fields, said, take};
use crate::input::{ImportInput, TextLines};
use crate::matrix::{MOST_ID, number};
use crate::options::{ImportOptions, Orientation};
use crate::record::{ImportedOutput, Record};
use engine::error::{Error, Result};

/// Lines with a number, bars, and what is known behind the text.
pub fn sniff(sample: &FileSample<'_>) -> u8 {
    let is_candidate = |line: &str| {
        let fields = fields(line);
        let kinds = kinds(&fields);
        fields[0].parse::<usize>().is_ok()
            && kinds.first().is_some_and(|first| *first != Field::Other)
            && kinds.iter().any(|kind| !matches!(kind, Field::Blank | Field::Other))
    };
    let mut lines = sample.lines().take(20).peekable();
    if lines.peek().is_some() && lines.all(is_candidate) { 85 } else { 0 }
}

/// What the fields behind the text hold. Numbers before features are weights of a source without words.
fn kinds(fields: &[&str]) -> Vec<Field> {
    let mut kinds: Vec<Field> = fields.iter().skip(2).map(|field| Field::of(field)).collect();
    let named = kinds.iter().position(|kind| matches!(kind, Field::Features | Field::WordScores)).unwrap_or(0);
    for kind in &mut kinds[..named] {
        *kind = if matches!(kind, Field::Number | Field::Numbers) { Field::Soft } else { *kind };
    }
    kinds
}

/// Starts to read n-best lists.
pub fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    facts.notes.push("The best of each list is what the system says.".to_owned());
    let head = input.head();
    let has = |kind: Field| head.lines().any(|line| kinds(&fields(line)).contains(&kind));
    let is_aligned = has(Field::Soft) || has(Field::Hard);
    if is_aligned {
        facts.behind = Behind::Padding;
    } else if has(Field::Phrases) {
        facts
            .notes
            .push("What is written `0-1=0-1` says where phrases come from; these are no links of words.".to_owned());
    }
    if has(Field::Soft) {
        facts.orientation = ImportFact::known(Orientation::TargetRows, ROWS);
    }
    let (first, last) = lists(input)?;
    // of a whole corpus, counted from 1
    let from = usize::from(first == 2 && last == options.beside.0.len() + 1);
    facts.sentences = Some(last - from);
    if from > 0 {
        facts.notes.push("Ids count from 1, for else the last list had no sentence.".to_owned());
    } else if first > 1 {
        facts.notes.push(format!("Ids count from 0; the first list is that of sentence {first}."));
    }
    Ok(Box::new(NbestReader { lines: input.lines()?, is_aligned, from, system: system(input, options), waiting: None }))
}

fn id(line: &str) -> Option<usize> {
    let (id, _) = line.split_once("|||")?;
    id.trim().parse().ok().filter(|id| *id < MOST_ID)
}

/// The numbers, from 1, of the first and last list; refuses a list that continues after others.
fn lists(input: &ImportInput) -> Result<(usize, usize)> {
    let (mut lines, mut unheard) = (input.lines()?, Warnings::new(input.path()));
    let (mut known, mut last) = (HashSet::new(), None);
    // Damage is told when it is reached in earnest.
    while let Ok(Some(line)) = lines.next(&mut unheard) {
        let Some(id) = line.text.as_deref().and_then(id) else { continue };
        if last != Some(id) && !known.insert(id) {
            let message = format!(
                "begins a list of sentence {id} (from 0), which had one before others; if these are several files one behind the other, \
                 cut them apart and read each by itself"
            );
            return Err(Error::line(input.path(), line.number, message));
        }
        last = Some(id);
    }
    Ok((known.iter().min().map_or(0, |first| first + 1), known.iter().max().map_or(0, |last| last + 1)))
}

/// A line: the number of its sentence from 1, its own, and the candidate.
type NbestLine = (usize, usize, ImportedOutput);

struct NbestReader {
    lines: TextLines,
    is_aligned: bool,
    /// What ids count from.
    from: usize,
    system: String,
    waiting: Option<NbestLine>,
}

impl NbestReader {
    fn line(&mut self, warnings: &mut Warnings) -> Result<Option<NbestLine>> {
        if self.waiting.is_some() {
            return Ok(self.waiting.take());
        }
        while let Some(line) = self.lines.next(warnings)? {
            let Some(text) = line.text.filter(|text| !text.trim().is_empty()) else { continue };
            let Some(id) = id(&text) else {
                warnings.add(line.number, "is no `id ||| text ||| score`; it is left out".to_owned());
                continue;
            };
            let fields = fields(&text);
            let kinds = kinds(&fields);
            // Marian counts pieces of words; what Moses writes are words.
            let is_cut =
                self.is_aligned && !matches!(kinds.first(), Some(Field::Features | Field::Number | Field::Numbers));
            let mut output = if is_cut {
                said(&self.system, fields[1])
            } else {
                ImportedOutput::plain(&self.system, fields[1].to_owned())
            };
            let score = kinds.iter().rposition(|kind| *kind == Field::Number);
            output.score = score.and_then(|at| number(fields[at + 2]));
            for (at, kind) in kinds.into_iter().enumerate().filter(|(at, _)| Some(*at) != score) {
                match (kind, fields[at + 2]) {
                    (Field::Features | Field::Number | Field::Numbers, field) => {
                        output.features.extend(features(field));
                    }
                    field => take(field, &mut output, line.number, warnings),
                }
            }
            return Ok(Some((id + 1 - self.from, line.number, output)));
        }
        Ok(None)
    }
}

/// `LM0= -12.5 TM0= -1.2 -0.5`: several numbers of one name are `TM0.1`, `TM0.2`; those without a name are called by their places.
fn features(field: &str) -> Vec<(String, f32)> {
    let mut named: Vec<(String, Vec<f32>)> = Vec::new();
    for word in field.split_ascii_whitespace() {
        let (name, value) = word.split_once('=').map_or((None, word), |(name, value)| (Some(name), value));
        if let Some(name) = name {
            named.push((name.to_owned(), Vec::new()));
        }
        let Some(value) = number(value) else { continue };
        match named.last_mut() {
            Some((_, values)) => values.push(value),
            None => named.push((String::new(), vec![value])),
        }
    }
    let mut all = Vec::new();
    for (name, values) in named {
        let is_one = values.len() == 1 && !name.is_empty();
        for (n, value) in values.into_iter().enumerate() {
            let name = match (is_one, name.is_empty()) {
                (true, _) => name.clone(),
                (false, true) => (n + 1).to_string(),
                (false, false) => format!("{name}.{}", n + 1),
            };
            all.push((name, value));
        }
    }
    all
}

impl FormatReader for NbestReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        let Some((sentence, line, first)) = self.line(warnings)? else { return Ok(None) };
        let id = Some((sentence - 1 + self.from).to_string());
        let mut record = Record { sentence, line, id, outputs: vec![first], ..Record::default() };
        while let Some(next) = self.line(warnings)? {
            if next.0 != sentence {
                self.waiting = Some(next);
                break;
            }
            record.outputs.push(next.2);
        }
        Ok(Some(record))
    }
}
