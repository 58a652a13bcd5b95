//! Alignments as links, read sentence by sentence: Pharaoh, talp and HLT-NAACL 2003, as
//! [`text::links::read`](engine::text::links::read) knows them.
//!
//! Where words are counted from and which side comes first is found out in a first pass over the file; with the words
//! of the corpus' sentences no link may lie outside its sentence.

use std::collections::BTreeMap;

use crate::facts::{Facts, ImportReported, Warnings};
use crate::format::{FileSample, FormatReader, system};
use crate::input::{ImportInput, TextLines};
use crate::options::{Base, ImportOptions, Role};
use crate::record::{ImportedOutput, Record};
use crate::{beside::Sides, matrix::MOST_ID};
use engine::text::links::guess::{LinkCensus, LinkGuess, LinkLayout, Notation};
use engine::text::links::read::{LinkEntry, MOST_WORDS, line_entries, naacl_entry, no_link};
use engine::{error::Result, text::links::Links};

pub fn sniff_pharaoh(sample: &FileSample<'_>) -> u8 {
    sniff(sample, |line| line_entries(line).is_ok())
}

/// The same in a file whose name says so.
pub fn sniff_talp(sample: &FileSample<'_>) -> u8 {
    let pharaoh = sniff_pharaoh(sample);
    // Of equally likely formats the first is taken, so this one is a little likelier.
    if sample.has_extension(&["talp"]) && pharaoh > 0 { pharaoh + 5 } else { 0 }
}

/// Lines of three numbers or more.
pub fn sniff_naacl(sample: &FileSample<'_>) -> u8 {
    sniff(sample, |line| naacl_entry(line).is_ok())
}

/// How many of the first lines are of a notation: half of them are enough, for a file may be damaged.
fn sniff(sample: &FileSample<'_>, is: impl Fn(&str) -> bool) -> u8 {
    let lines: Vec<&str> = sample.lines().take(20).collect();
    let good = lines.iter().filter(|line| is(line)).count();
    match good {
        0 => 0,
        good if good == lines.len() => 85,
        good if good * 2 >= lines.len() => 60,
        _ => 0,
    }
}

/// The links of a cell in Pharaoh's notation, words counted from `base`, the source first.
pub fn cell(text: &str, base: Base) -> ImportReported<Links> {
    let (_, entries) = line_entries(text).map_err(|word| no_link(&word))?;
    let (links, outside) = LinkGuess { base, ..LinkGuess::default() }.links(&entries, None);
    if outside.is_empty() { Ok(links) } else { Err("has a position 0, but words are counted from 1".to_owned()) }
}

struct Reading {
    guess: LinkGuess,
    system: Option<String>,
    sides: Sides,
}

impl Reading {
    fn new(input: &ImportInput, options: &ImportOptions, census: &LinkCensus, facts: &mut Facts) -> Self {
        let asked = LinkLayout { notation: None, base: options.base, order: options.order };
        (facts.base, facts.order) = census.found(&asked);
        let is_systems = matches!(options.role, Some(Role::Output(_)));
        Self {
            guess: census.guess((&facts.base, &facts.order)),
            system: is_systems.then(|| system(input, options)),
            sides: options.beside.clone(),
        }
    }

    fn record(&self, sentence: usize, (entries, lines): (&[LinkEntry], &[usize]), warnings: &mut Warnings) -> Record {
        let line = lines.first().copied().unwrap_or(sentence);
        // Of gold links the corpus leaves out the whole sentence, for what is left would be another alignment.
        let lengths = self.sides.words(sentence).filter(|_| self.system.is_some());
        let (links, outside) = self.guess.links(entries, lengths);
        for at in outside {
            let LinkEntry { first, second, .. } = entries[at];
            let which = lengths.map_or_else(
                || format!(", and {}", self.guess.base.name()),
                |(s, t)| format!(", which has {s} source and {t} target words"),
            );
            let message =
                format!("links words {first} and {second} of sentence {sentence}{which}; the link is left out");
            warnings.add(lines[at], message);
        }
        let mut record = Record { sentence, line, ..Record::default() };
        if let Some(system) = &self.system {
            let all = links.all().into_iter().map(|(link, _)| link).collect();
            record.outputs.push(ImportedOutput { links: Some(all), ..ImportedOutput::plain(system, String::new()) });
        } else {
            record.gold = Some(links);
        }
        record
    }
}

/// Starts to read Pharaoh's notation.
pub fn open_pharaoh(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    open_lines(input, options, facts, Notation::Pharaoh)
}

/// Starts to read the talp notation.
pub fn open_talp(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    open_lines(input, options, facts, Notation::Talp)
}

fn open_lines(
    input: &ImportInput, options: &ImportOptions, facts: &mut Facts, notation: Notation,
) -> Result<Box<dyn FormatReader>> {
    let mut census = LinkCensus::new(notation);
    let (mut lines, mut unheard) = (input.lines()?, Warnings::new(input.path()));
    // Damage is told when it is reached in earnest.
    while let Ok(Some(line)) = lines.next(&mut unheard) {
        let text = line.text.unwrap_or_default();
        if let Ok((_, entries)) = line_entries(&text) {
            census.add(&entries, options.beside.bounds(line.number));
        }
    }
    let reading = Reading::new(input, options, &census, facts);
    Ok(Box::new(PharaohReader { reading, lines: input.lines()? }))
}

struct PharaohReader {
    reading: Reading,
    lines: TextLines,
}

impl FormatReader for PharaohReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        while let Some(line) = self.lines.next(warnings)? {
            let Some(text) = line.text else { continue };
            match line_entries(&text) {
                Ok((id, entries)) => {
                    let lines = vec![line.number; entries.len()];
                    let mut record = self.reading.record(line.number, (&entries, &lines), warnings);
                    record.id = id.map(str::to_owned);
                    return Ok(Some(record));
                }
                Err(word) => warnings.add(line.number, format!("{}; the line is left out", no_link(&word))),
            }
        }
        Ok(None)
    }
}

/// Starts to read the notation of HLT-NAACL 2003. Such files are small and are held in memory, as their lines have any order.
pub fn open_naacl(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    let mut warnings = Warnings::new(input.path());
    let (mut sentences, mut lines): (Sentences, TextLines) = (BTreeMap::new(), input.lines()?);
    while let Some(line) = lines.next(&mut warnings)? {
        let text = line.text.unwrap_or_default();
        match naacl_entry(&text) {
            Ok((0, _)) => {
                warnings.add(line.number, "is of sentence 0, but sentences are counted from 1; it is left out");
            }
            Ok((sentence, entry)) if sentence < MOST_ID && entry.first.max(entry.second) < MOST_WORDS => {
                let (entries, lines) = sentences.entry(sentence).or_default();
                entries.push(entry);
                lines.push(line.number);
            }
            Ok(_) => warnings.add(line.number, "names a sentence or a word far beyond any text; it is left out"),
            Err(_) if text.trim().is_empty() => {}
            Err(message) => warnings.add(line.number, message),
        }
    }
    let mut census = LinkCensus::new(Notation::Naacl);
    for (sentence, (entries, _)) in &sentences {
        census.add(entries, options.beside.bounds(*sentence));
    }
    facts.sentences = sentences.last_key_value().map(|(last, _)| *last);
    let reading = Reading::new(input, options, &census, facts);
    Ok(Box::new(NaaclReader { reading, sentences, early: Some(warnings) }))
}

/// The links of each sentence, and their lines.
type Sentences = BTreeMap<usize, (Vec<LinkEntry>, Vec<usize>)>;

struct NaaclReader {
    reading: Reading,
    sentences: Sentences,
    early: Option<Warnings>,
}

impl FormatReader for NaaclReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        if let Some(early) = self.early.take() {
            *warnings = early;
        }
        let Some((sentence, (entries, lines))) = self.sentences.pop_first() else { return Ok(None) };
        Ok(Some(self.reading.record(sentence, (&entries, &lines), warnings)))
    }
}
