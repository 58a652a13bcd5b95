//! Outputs of Marian and Amun with `--alignment`, and of its scorer: `translation ||| alignment`, from the scorer
//! `score ||| alignment`; `WordScores= ..` may follow. Soft alignments are groups `w,w,w`, one for each target token,
//! mostly with `</s>`, padded with zeros to the longest source of the batch; hard ones and those above a threshold
//! are links `s-t`, those of `</s>` among them. The source is a separate file, and so is the target of the scorer.
//! With `--n-best` they are [`nbest`](super::nbest), whose fields are distinguished here as well.

use crate::facts::{Behind, Facts, ImportFact, ImportReported, Warnings};
use crate::format::{FileSample, FormatReader, system};
use crate::input::{ImportInput, TextLines};
use crate::matrix::{PEEKED, number, weight};
use crate::options::{ImportOptions, Orientation};
use crate::record::{ImportedOutput, Record};
use engine::text::links::read::{LinkEntry, line_entries};
use engine::text::{links::Link, readable::tokens, sentence::EOS};
use engine::{analysis::alignment::Alignment, error::Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Blank,
    Hard,
    /// Groups of weights with commas between.
    Soft,
    /// Spans of phrases that Moses has put into another's place: `0-1=0-1 2=2`.
    Phrases,
    WordScores,
    Features,
    Number,
    /// Several, which may be weights of a source without words.
    Numbers,
    Other,
}

impl Field {
    /// By the first of its words, for the last field of a sample may be cut.
    pub(super) fn of(field: &str) -> Self {
        let mut words = field.split_ascii_whitespace();
        let Some(first) = words.next() else { return Self::Blank };
        let is_float = |part: &str| part.parse::<f32>().is_ok();
        let is_span = |side: &str| side.split('-').all(|part| part.parse::<usize>().is_ok());
        match first.split_once('=') {
            Some(("WordScores", _)) => Self::WordScores,
            Some((from, to)) if is_span(from) && is_span(to) => Self::Phrases,
            Some(_) => Self::Features,
            None if line_entries(first).is_ok() => Self::Hard,
            None if first.contains(',') && first.split(',').all(is_float) => Self::Soft,
            None if is_float(first) => {
                if words.next().is_none() {
                    Self::Number
                } else {
                    Self::Numbers
                }
            }
            None => Self::Other,
        }
    }
}

pub(super) fn fields(line: &str) -> Vec<&str> {
    line.split("|||").map(str::trim).collect()
}

/// Groups of weights with commas between.
pub fn sniff_soft(sample: &FileSample<'_>) -> u8 {
    sniff(sample, Field::Soft)
}

pub fn sniff_hard(sample: &FileSample<'_>) -> u8 {
    sniff(sample, Field::Hard)
}

fn alignment(fields: &[&str]) -> Field {
    let Some(field) = fields.get(1) else { return Field::Other };
    let (kind, count) = (Field::of(field), field.split_ascii_whitespace().count());
    // A source without words has weights of `</s>` alone.
    let is_of_end = matches!(kind, Field::Number | Field::Numbers)
        && (count == tokens(fields[0]).len() || count == tokens(fields[0]).len() + 1)
        && field
            .split_ascii_whitespace()
            .all(|word| word.parse().is_ok_and(|weight: f32| (0.0..=1.0).contains(&weight)));
    if is_of_end { Field::Soft } else { kind }
}

fn sniff(sample: &FileSample<'_>, kind: Field) -> u8 {
    let lines: Vec<Vec<&str>> = sample.lines().take(20).map(fields).collect();
    let of = |kind: Field| lines.iter().filter(|fields| alignment(fields) == kind).count();
    if of(kind) > 0 && (of(kind) + of(Field::Blank)) * 2 > lines.len() { 80 } else { 0 }
}

pub(super) const ROWS: &str = "as Marian writes weights";

/// Starts to read soft alignments.
pub fn open_soft(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    facts.orientation = ImportFact::known(Orientation::TargetRows, ROWS);
    Ok(Box::new(MarianReader::open(input, options, facts, Field::Soft)?))
}

/// Starts to read links.
pub fn open_hard(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    Ok(Box::new(MarianReader::open(input, options, facts, Field::Hard)?))
}

pub(super) fn soft(field: &str) -> ImportReported<Option<Alignment>> {
    let (mut weights, mut columns) = (Vec::new(), 0);
    for group in field.split_ascii_whitespace() {
        let before = weights.len();
        for word in group.split(',') {
            weights.push(weight(word)?);
        }
        let count = weights.len() - before;
        if before > 0 && count != columns {
            return Err(format!("has a group of {count} weights behind one of {columns}"));
        }
        columns = count;
    }
    Ok(Alignment::new(weights, columns).filter(|matrix| matrix.rows() > 0))
}

pub(super) fn hard(field: &str) -> ImportReported<Vec<Link>> {
    let (_, entries) = line_entries(field).map_err(|word| format!("has `{word:.40}`, which is no link"))?;
    let mut links: Vec<Link> =
        entries.into_iter().map(|LinkEntry { first, second, .. }| Link { source: first, target: second }).collect();
    links.sort_unstable();
    links.dedup();
    Ok(links)
}

pub(super) fn take((kind, field): (Field, &str), output: &mut ImportedOutput, line: usize, warnings: &mut Warnings) {
    let mut left_out = |why: String| warnings.add(line, format!("{why}; its alignment is left out"));
    match kind {
        Field::Hard => output.links = hard(field).map_err(&mut left_out).ok(),
        Field::Soft => output.alpha = soft(field).map_err(&mut left_out).ok().flatten(),
        Field::WordScores => {
            output.token_log_p = field.split_ascii_whitespace().filter_map(number).collect();
            output.log_p = Some(output.token_log_p.iter().sum());
            output.token_count = output.token_log_p.len();
        }
        _ => {}
    }
}

struct MarianReader {
    lines: TextLines,
    kind: Field,
    is_scored: bool,
    system: String,
}

impl MarianReader {
    fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts, kind: Field) -> Result<Self> {
        facts.behind = Behind::Padding;
        let head = input.head();
        let first: Vec<&str> =
            head.lines().filter(|line| !line.trim().is_empty()).take(PEEKED).map(|line| fields(line)[0]).collect();
        let is_scored =
            first.iter().any(|text| text.contains(['.', '-'])) && first.iter().all(|text| text.parse::<f32>().is_ok());
        if is_scored {
            facts.notes.push("The file is of Marian's scorer, which writes scores in the place of texts.".into());
        }
        let (lines, system) = (input.lines()?, system(input, options));
        Ok(Self { lines, kind, is_scored, system })
    }

    fn output(&self, number: usize, line: &str, warnings: &mut Warnings) -> ImportedOutput {
        let fields = fields(line);
        let mut output = if self.is_scored {
            let log_p = self::number(fields[0]);
            ImportedOutput { log_p, score: log_p, ..ImportedOutput::plain(&self.system, String::new()) }
        } else {
            said(&self.system, fields[0])
        };
        match fields.get(1) {
            Some(field) => take((self.kind, field), &mut output, number, warnings),
            None => warnings.add(number, "has no `|||` and no alignment behind it"),
        }
        for field in fields.iter().skip(2) {
            take((Field::of(field), field), &mut output, number, warnings);
        }
        output
    }
}

/// What a system says, cut into tokens. One without words has its end alone: it says something, which is nothing.
pub(super) fn said(system: &str, text: &str) -> ImportedOutput {
    let tokens = tokens(text);
    ImportedOutput::cut(system, if tokens.is_empty() { vec![EOS.to_owned()] } else { tokens })
}

impl FormatReader for MarianReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        while let Some(line) = self.lines.next(warnings)? {
            let Some(text) = line.text else { continue };
            let outputs = vec![self.output(line.number, &text, warnings)];
            return Ok(Some(Record { sentence: line.number, line: line.number, outputs, ..Record::default() }));
        }
        Ok(None)
    }
}
