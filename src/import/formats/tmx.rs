//! Translation memories, TMX 1.4: a unit with a variant for each language. Codes of other programs within a segment
//! (`bpt`, `ept`, `it`, `ph`, `ut`) and the texts in them (`sub`) are left out, what they mark stays. A unit
//! goes from its `srclang`, else the file's, to the other language.

use std::collections::BTreeSet;

use crate::facts::{Facts, Warnings};
use crate::format::{FileSample, FormatReader};
use crate::formats::xml::{Tag, Xml, XmlEvent, likeness};
use crate::options::{ImportOptions, Role};
use crate::{input::ImportInput, record::Record};
use engine::error::{Error, Result};

const CODES: &[&str] = &["bpt", "ept", "it", "ph", "ut", "sub"];
/// What a header says whose units are of any language.
const ANY: &str = "*all*";
const PEEKED: usize = 1000;
const NAMED: usize = 10;

pub fn sniff(sample: &FileSample<'_>) -> u8 {
    if sample.first().trim_start().starts_with('<') && sample.head.contains("<tmx") { 95 } else { 0 }
}

pub fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    let mut peeked = Units { xml: Xml::open(input)?, header: None };
    let (mut units, mut unheard): (Vec<Unit>, Warnings) = (Vec::new(), Warnings::new(input.path()));
    let mut damage = None;
    while units.len() < PEEKED {
        match peeked.next(&mut unheard) {
            Ok(Some(unit)) => {
                // its texts are read again
                let variants = unit.variants.into_iter().map(|(language, _)| (language, String::new()));
                units.push(Unit { variants: variants.take(PEEKED).collect(), source: unit.source, ..Unit::default() });
            }
            Ok(None) => break,
            Err(error) => {
                damage = Some(error);
                break;
            }
        }
    }
    let (source, target) = options.languages.clone();
    let mut languages =
        Languages { asked: source, header: peeked.header, source: String::new(), target: target.unwrap_or_default() };
    // those of most units
    let mut pairs: Vec<(String, String, usize)> = Vec::new();
    for unit in &units {
        let (Some(source), Some(target)) = languages.sides(unit) else { continue };
        let name = |at: usize| unit.variants[at].0.as_str();
        let (source, target) = (languages.of(unit).unwrap_or_else(|| name(source)), name(target));
        match pairs.iter_mut().find(|(from, into, _)| likeness(from, source) * likeness(into, target) > 0) {
            Some((.., count)) => *count += 1,
            None => pairs.push((source.to_owned(), target.to_owned(), 1)),
        }
    }
    let found = pairs.into_iter().rev().max_by_key(|(.., count)| *count).map(|(source, target, _)| (source, target));
    let mut known: Vec<&str> = Vec::new();
    let names: BTreeSet<&str> = units.iter().flat_map(|unit| &unit.variants).map(|(name, _)| name.as_str()).collect();
    known.extend(names.iter().take(NAMED));
    let Some((source, target)) = found else {
        // Damage behind the first units is told when it is reached in earnest.
        let wanted = languages.asked.or(languages.header).unwrap_or_default();
        return Err(match (damage, &known[..]) {
            (Some(error), []) => error,
            (None, []) => Error::file(input.path(), "has no translation units"),
            (_, [one]) => Error::file(input.path(), format!("has no language but {one}; a translation needs two")),
            (_, known) => {
                let known = known.join(", ");
                let message = format!("has no unit with {wanted} and another language; it has {known}");
                Error::file(input.path(), format!("{message}; choose two of them, in `analyse` by --languages en-fr"))
            }
        });
    };
    let is_there = |asked: &String| names.iter().any(|name| likeness(asked, name) == 3);
    let target = options.languages.1.clone().filter(is_there).unwrap_or(target);
    (languages.source, languages.target) = (source.clone(), target.clone());
    known.retain(|one| likeness(&source, one) + likeness(&target, one) == 0);
    if !known.is_empty() {
        let more = if names.len() > NAMED { " and more" } else { "" };
        facts.notes.push(format!("Other languages are left out: {}{more}.", known.join(", ")));
    }
    if units.iter().any(|unit| languages.of(unit).is_some_and(|of| likeness(of, &source) == 0)) {
        facts.notes.push("Units that name another source language (`srclang`) are translated from it.".to_owned());
    }
    facts.languages = Some((source, target));
    let units = Units { xml: Xml::open(input)?, header: None };
    Ok(Box::new(TmxReader { units, languages, role: options.target_role(), count: 0 }))
}

/// Which variants of a unit are source and target.
struct Languages {
    asked: Option<String>,
    header: Option<String>,
    source: String,
    target: String,
}

impl Languages {
    /// What a unit is translated from, where the file or somebody says so.
    fn of<'a>(&'a self, unit: &'a Unit) -> Option<&'a str> {
        self.asked.as_deref().or(unit.source.as_deref()).or(self.header.as_deref()).filter(|language| *language != ANY)
    }

    fn sides(&self, unit: &Unit) -> (Option<usize>, Option<usize>) {
        let best = |language: &str, least: usize, but: Option<usize>| {
            let all = unit.variants.iter().enumerate().map(|(at, (of, _))| (likeness(language, of), at));
            let fit = all.filter(|(like, at)| *like >= least && Some(*at) != but);
            fit.max_by_key(|(like, at)| (*like, usize::MAX - at)).map(|(_, at)| at)
        };
        let (is_first, of) = (self.source.is_empty(), self.of(unit));
        let source = match of.unwrap_or(&self.source) {
            "" => (!unit.variants.is_empty()).then_some(0),
            of => best(of, 1, None),
        };
        if is_first && self.target.is_empty() {
            let name = of.or(source.map(|at| unit.variants[at].0.as_str())).unwrap_or_default();
            let others = || (0..unit.variants.len()).filter(|at| Some(*at) != source);
            return (
                source,
                others().find(|at| likeness(name, &unit.variants[*at].0) == 0).or_else(|| others().next()),
            );
        }
        // from one English into another, `en-GB` alone is not both
        let least = if likeness(of.unwrap_or(&self.source), &self.target) > 0 { 2 } else { 1 };
        let back = || best(&self.source, 1, source).filter(|_| !is_first && self.asked.is_none());
        (source, best(&self.target, least, source).or_else(back))
    }
}

#[derive(Debug, Default)]
struct Unit {
    line: usize,
    id: Option<String>,
    source: Option<String>,
    variants: Vec<(String, String)>,
    extra: Vec<(String, String)>,
}

struct Units {
    xml: Xml,
    header: Option<String>,
}

impl Units {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Unit>> {
        loop {
            self.xml.begin();
            match self.xml.advance()? {
                XmlEvent::Start(tag) | XmlEvent::Empty(tag) if tag.name == "header" => {
                    self.header = tag.get("srclang").map(str::to_owned);
                }
                XmlEvent::Start(tag) if tag.name == "tu" => return self.unit(&tag, warnings).map(Some),
                XmlEvent::Eof => return Ok(None),
                _ => {}
            }
        }
    }

    fn unit(&mut self, tag: &Tag, warnings: &mut Warnings) -> Result<Unit> {
        let own = |name: &str| tag.get(name).map(str::to_owned);
        let mut unit = Unit { line: self.xml.line(), id: own("tuid"), source: own("srclang"), ..Unit::default() };
        let mut language = None;
        loop {
            match self.xml.advance()? {
                XmlEvent::Start(tag) if tag.name == "tuv" => {
                    language = Some(tag.get("xml:lang").or_else(|| tag.get("lang")).unwrap_or_default().to_owned());
                }
                XmlEvent::Start(tag) if tag.name == "seg" => {
                    let text = self.xml.text("seg", CODES, warnings)?;
                    unit.variants.push((language.take().unwrap_or_default(), text));
                }
                XmlEvent::Start(tag) if tag.name == "prop" || tag.name == "note" => {
                    let text = self.xml.text(&tag.name, &[], warnings)?;
                    unit.extra.push((tag.get("type").unwrap_or(&tag.name).to_owned(), text));
                }
                XmlEvent::End(name) if name == "tu" => return Ok(unit),
                XmlEvent::Eof => {
                    let line = self.xml.line();
                    let message = "is the last, within a translation unit; the file may be truncated, and what comes before it was read";
                    return Err(Error::line(self.xml.path(), line, message));
                }
                _ => {}
            }
        }
    }
}

struct TmxReader {
    units: Units,
    languages: Languages,
    role: Role,
    count: usize,
}

impl FormatReader for TmxReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        while let Some(unit) = self.units.next(warnings)? {
            let (line, (source, target)) = (unit.line, self.languages.sides(&unit));
            let (Languages { source: from, target: into, .. }, of) = (&self.languages, self.languages.of(&unit));
            let Some(source) = source else {
                warnings.add(line, format!("begins a unit without {}; it is left out", of.unwrap_or(from)));
                continue;
            };
            if target.is_none() {
                warnings.add(line, format!("begins a unit without {into}"));
            }
            self.count += 1;
            let mut record = Record { sentence: self.count, line, id: unit.id, extra: unit.extra, ..Record::default() };
            for (at, (language, text)) in unit.variants.into_iter().enumerate() {
                match at {
                    at if at == source => record.put(&Role::Source, text),
                    at if Some(at) == target => record.put(&self.role, text),
                    _ => record.extra.push((language, text)),
                }
            }
            return Ok(Some(record));
        }
        Ok(None)
    }
}
