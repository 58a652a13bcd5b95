//! Floor 6: translation memories, TMX 1.4: a unit with a variant for each language. Codes of other programs within a
//! segment (`bpt`, `ept`, `it`, `ph`, `ut`) are left out, what they mark stays. Imports its room.

use crate::error::{Error, Result};
use crate::import::facts::{Facts, Warnings};
use crate::import::format::{FileSample, FormatReader};
use crate::import::formats::xml::{Happens, Tag, Xml, is_language};
use crate::import::input::ImportInput;
use crate::import::options::{ImportOptions, Role};
use crate::import::record::Record;

/// Elements that hold codes.
const CODES: &[&str] = &["bpt", "ept", "it", "ph", "ut"];
/// Units that are looked at before the first is given out.
const PEEKED: usize = 64;

/// The root element.
pub fn sniff(sample: &FileSample<'_>) -> u8 {
    if sample.first().trim_start().starts_with('<') && sample.head.contains("<tmx") { 95 } else { 0 }
}

/// Starts to read.
pub fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    let mut peeked = Units { xml: Xml::open(input)?, header: None };
    let (mut found, mut unheard): (Vec<String>, Warnings) = (Vec::new(), Warnings::new(input.path()));
    let mut damage = None;
    for _ in 0..PEEKED {
        match peeked.next(&mut unheard) {
            Ok(Some(unit)) => note_languages(&unit, &mut found),
            Ok(None) => break,
            Err(error) => {
                damage = Some(error);
                break;
            }
        }
    }
    // Damage behind the first units is told when it is reached in earnest.
    if let Some(error) = damage.filter(|_| found.is_empty()) {
        return Err(error);
    }
    let (asked_source, asked_target) = &options.languages;
    let declared = peeked.header.filter(|language| language != "*all*");
    let source = asked_source.clone().or(declared).or_else(|| found.first().cloned());
    let source = source.ok_or_else(|| Error::file(input.path(), "has no translation units"))?;
    let other = found.iter().find(|language| !is_language(&source, language) && !is_language(language, &source));
    let Some(target) = asked_target.clone().or_else(|| other.cloned()) else {
        return Err(Error::file(input.path(), format!("has no language but {source}; a translation needs two")));
    };
    let others: Vec<&str> = found
        .iter()
        .map(String::as_str)
        .filter(|one| !is_language(&source, one) && !is_language(&target, one))
        .collect();
    if !others.is_empty() {
        facts.notes.push(format!("Other languages are kept beside: {}.", others.join(", ")));
    }
    facts.languages = Some((source.clone(), target.clone()));
    let units = Units { xml: Xml::open(input)?, header: None };
    Ok(Box::new(TmxReader { units, source, target, role: options.target_role(), count: 0 }))
}

/// Notes the languages of a unit that are new.
fn note_languages(unit: &Unit, found: &mut Vec<String>) {
    for (language, _) in &unit.variants {
        if !found.iter().any(|known| known.eq_ignore_ascii_case(language)) {
            found.push(language.clone());
        }
    }
}

/// A translation unit.
#[derive(Debug, Default)]
struct Unit {
    line: usize,
    id: Option<String>,
    /// Language and text.
    variants: Vec<(String, String)>,
    extra: Vec<(String, String)>,
}

struct Units {
    xml: Xml,
    /// The source language of the header.
    header: Option<String>,
}

impl Units {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Unit>> {
        loop {
            self.xml.begin();
            match self.xml.advance()? {
                Happens::Start(tag) | Happens::Empty(tag) if tag.name == "header" => {
                    self.header = tag.get("srclang").map(str::to_owned);
                }
                Happens::Start(tag) if tag.name == "tu" => return self.unit(&tag, warnings).map(Some),
                Happens::Eof => return Ok(None),
                _ => {}
            }
        }
    }

    fn unit(&mut self, tag: &Tag, warnings: &mut Warnings) -> Result<Unit> {
        let mut unit = Unit { line: self.xml.line(), id: tag.get("tuid").map(str::to_owned), ..Unit::default() };
        let mut language = None;
        loop {
            match self.xml.advance()? {
                Happens::Start(tag) if tag.name == "tuv" => {
                    language = Some(tag.get("xml:lang").or_else(|| tag.get("lang")).unwrap_or_default().to_owned());
                }
                Happens::Start(tag) if tag.name == "seg" => {
                    let text = self.xml.text("seg", CODES, warnings)?;
                    unit.variants.push((language.take().unwrap_or_default(), text));
                }
                Happens::Start(tag) if tag.name == "prop" || tag.name == "note" => {
                    let text = self.xml.text(&tag.name, &[], warnings)?;
                    unit.extra.push((tag.get("type").unwrap_or(&tag.name).to_owned(), text));
                }
                Happens::End(name) if name == "tu" => return Ok(unit),
                Happens::Eof => {
                    let line = self.xml.line();
                    let message = "is the last, within a translation unit; the file may be truncated";
                    return Err(Error::line(self.xml.path(), line, message));
                }
                _ => {}
            }
        }
    }
}

struct TmxReader {
    units: Units,
    source: String,
    target: String,
    /// Of the target side.
    role: Role,
    count: usize,
}

impl FormatReader for TmxReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        let Some(unit) = self.units.next(warnings)? else { return Ok(None) };
        self.count += 1;
        let line = unit.line;
        let mut record = Record { sentence: self.count, line, id: unit.id, extra: unit.extra, ..Record::default() };
        for (language, text) in unit.variants {
            if record.source.is_none() && is_language(&self.source, &language) {
                record.put(&Role::Source, text);
            } else if is_language(&self.target, &language) && record.reference.is_none() && record.outputs.is_empty() {
                record.put(&self.role, text);
            } else {
                record.extra.push((language, text));
            }
        }
        if record.source.is_none() {
            warnings.add(line, format!("begins a unit without {}", self.source));
        }
        if record.reference.is_none() && record.outputs.is_empty() {
            warnings.add(line, format!("begins a unit without {}", self.target));
        }
        Ok(Some(record))
    }
}
