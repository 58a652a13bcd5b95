//! Floor 6: n-best lists as Moses writes them, and Marian and `translate --nbest` after it: `id ||| text ||| features ||| score`, ids from 0,
//! the features or the score left out where there are none. Lists with alignments are those of [`marian`](super::marian). Imports its room.

use crate::error::Result;
use crate::import::facts::{Facts, Warnings};
use crate::import::format::{FileSample, FormatReader, system};
use crate::import::input::{ImportInput, TextLines};
use crate::import::matrix::{MOST_ID, number};
use crate::import::options::ImportOptions;
use crate::import::record::{ImportedOutput, Record};
use crate::text::links::read::pharaoh_link;

/// Lines with a number, bars, and no alignment.
pub fn sniff(sample: &FileSample<'_>) -> u8 {
    let is_candidate = |line: &str| {
        let fields: Vec<&str> = line.split("|||").map(str::trim).collect();
        let aligns = |field: &&str| {
            let first = field.split_ascii_whitespace().next().unwrap_or_default();
            first.contains(',') || pharaoh_link(first).is_some()
        };
        fields.len() >= 3 && fields[0].parse::<usize>().is_ok() && !fields[2..].iter().any(aligns)
    };
    let mut lines = sample.lines().take(20).peekable();
    if lines.peek().is_some() && lines.all(is_candidate) { 85 } else { 0 }
}

/// Starts to read.
pub fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    facts.notes.push("The best of each list is what the system says.".to_owned());
    Ok(Box::new(NbestReader { lines: input.lines()?, system: system(input, options), waiting: None }))
}

/// A line: the number of its sentence from 1, its own, and the candidate.
type NbestLine = (usize, usize, ImportedOutput);

struct NbestReader {
    lines: TextLines,
    system: String,
    /// The line that begins the next list.
    waiting: Option<NbestLine>,
}

impl NbestReader {
    fn line(&mut self, warnings: &mut Warnings) -> Result<Option<NbestLine>> {
        if self.waiting.is_some() {
            return Ok(self.waiting.take());
        }
        while let Some(line) = self.lines.next(warnings)? {
            let Some(text) = line.text.filter(|text| !text.trim().is_empty()) else { continue };
            let fields: Vec<&str> = text.split("|||").map(str::trim).collect();
            let id = fields[0].parse().ok().filter(|id: &usize| *id < MOST_ID && fields.len() > 1);
            let Some(id) = id else {
                warnings.add(line.number, "is no `id ||| text ||| score`; it is left out".to_owned());
                continue;
            };
            let mut output = ImportedOutput::plain(&self.system, fields[1].to_owned());
            let mut rest = fields.get(2..).unwrap_or_default();
            if let Some((score, before)) = rest.split_last()
                && let Some(score) = number(score)
            {
                output.score = Some(score);
                rest = before;
            }
            output.features = rest.iter().flat_map(|field| features(field)).collect();
            return Ok(Some((id + 1, line.number, output)));
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
        let mut record = Record { sentence, line, outputs: vec![first], ..Record::default() };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_have_names() {
        let named = |field: &str| features(field).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(named("LM0= -12.5 TM0= -1.2 -0.5"), ["LM0", "TM0.1", "TM0.2"]);
        assert_eq!(named("F0=-1.5 Len= 3"), ["F0", "Len"]);
        assert_eq!(named("-1 -2"), ["1", "2"]);
        assert!(named("").is_empty() && named("words only").is_empty());
    }

    #[test]
    fn a_list_without_alignments_is_one() {
        let sample = |head| FileSample { name: "a.nbest", bytes: &[], head };
        for (head, is_one) in [
            ("0 ||| le bateau ||| LM0= -1 ||| -2.5\n", true),
            ("0 ||| le bateau ||| -2.5\n1 ||| la pluie ||| -1\n", true),
            ("0 ||| le bateau ||| 0-0 1-1 ||| F0= -1 ||| -2.5\n", false),
            ("0 ||| le bateau ||| 0.1,0.9 0.5,0.5 ||| F0= -1 ||| -2.5\n", false),
            ("le bateau ||| -2.5 ||| x\n", false),
            ("", false),
        ] {
            assert_eq!(sniff(&sample(head)) > 0, is_one, "{head}");
        }
    }
}
