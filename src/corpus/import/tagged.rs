//! Floor 7: parts of speech that come into a corpus from CoNLL-U. A sentence of the file gives them to those of the corpus that have
//! the same letters as it is written, else as it is cut; a word that the file cuts further has that of its longest
//! piece.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::Path;

use crate::corpus::import::places::{SentencePlaces, is_same};
use crate::corpus::import::report::ImportReport;
use crate::corpus::store::file::Workspace;
use crate::error::{Error, Result};
use crate::figure::interlinear::GlossedSentence;
use crate::figure::interlinear::conllu;
use crate::text::cut::WordRule;
use crate::text::words::WordPlaces;
use crate::ticket::CancellationToken;

/// What says nothing.
const NONE: &str = "_";
/// Parts of speech of words that mean something by themselves, of which one that is written for several words has one.
const OPEN: [&str; 6] = ["ADJ", "ADV", "NOUN", "NUM", "PROPN", "VERB"];

/// Takes in the parts of speech of a file.
///
/// # Errors
/// A sentence about the file; [`Error::Stale`] as soon as the ticket is stale.
pub fn import(workspace: &mut Workspace, path: &Path, ticket: &CancellationToken) -> Result<ImportReport> {
    let (sentences, rule) = (conllu::read_file(path)?, workspace.rules().source);
    let (mut report, mut found, mut own) = (ImportReport::default(), BTreeMap::new(), BTreeMap::new());
    let (known, mut seen, mut strange) = (SentencePlaces::read(workspace)?, HashMap::new(), 0);
    for (n, sentence) in sentences.iter().enumerate() {
        ticket.check()?;
        let [written, cut] = units(sentence).map(|units| units.iter().map(|(form, _)| *form).collect::<String>());
        // All with the same letters, once; the sentence of the same place has its own.
        let is_it = |source: &str| is_same(source, &written) || is_same(source, &cut);
        let stored = workspace.sentence(n)?.filter(|stored| is_it(&stored.source));
        let parts = stored.and_then(|stored| parts_of(sentence, (&stored.source, rule)));
        let mut is_there = parts.is_some();
        own.extend(parts.map(|parts| (n, parts)));
        let other = Some(cut).filter(|cut| !is_same(cut, &written));
        for text in std::iter::once(written).chain(other) {
            if let Some(before) = seen.get(&text) {
                is_there |= *before;
                continue;
            }
            let mut has_parts = false;
            for stored in known.of(workspace, &text) {
                let (at, stored) = stored?;
                let parts = parts_of(sentence, (&stored.source, rule));
                has_parts |= parts.is_some();
                found.extend(parts.map(|parts| (at, parts)));
            }
            seen.insert(text, has_parts);
            is_there |= has_parts;
        }
        if !is_there {
            strange += 1;
            let (line, name) = sentence.written.as_ref().map_or((n + 1, ""), |own| (own.line, own.id.as_str()));
            let message = format!("begins a sentence that the corpus has not: {name:.80} `{:.80}`", sentence.text());
            report.warn(path, line, &message);
        }
    }
    found.extend(own);
    let found = Vec::from_iter(found);
    if found.is_empty() {
        let why = "has parts of speech for no sentence of the corpus; bring its source text in first, and choose a file with the same words";
        return Err(Error::file(path, why));
    }
    if strange > 0 {
        report.facts.push(tr!("{n} sentence of the file is not in the corpus."
            | "{n} sentences of the file are not in the corpus." % strange));
    }
    report.tagged = found.len();
    workspace.set_parts(&found)?;
    Ok(report)
}

/// What is written as one and the words that it is, and each word alone, as a corpus that is cut so has it.
fn units(sentence: &GlossedSentence) -> [Vec<(&str, Range<usize>)>; 2] {
    let cut: Vec<_> = sentence.words.iter().enumerate().map(|(j, word)| (word.as_str(), j..j + 1)).collect();
    let own = sentence.written.as_ref().map(|own| &own.units);
    let written = own.map(|own| own.iter().map(|(form, words)| (form.as_str(), words.clone())).collect());
    [written.unwrap_or_else(|| cut.clone()), cut]
}

/// One for each word of a source; `None` where the file has none.
fn parts_of(sentence: &GlossedSentence, (source, rule): (&str, WordRule)) -> Option<String> {
    let tier = |name: &str| sentence.tiers.iter().find(|tier| tier.name == name);
    let tier = tier("pos").or_else(|| tier("xpos"))?;
    let placed = |units: &Vec<(&str, Range<usize>)>| {
        let forms: Vec<&str> = units.iter().map(|(form, _)| *form).collect();
        WordPlaces::of_parts(&forms, source, rule)
    };
    let (places, units) = units(sentence).into_iter().find_map(|units| Some((placed(&units)?, units)))?;
    let long = |text: &str| text.chars().count();
    // `au` has that of `à`, `vámonos` that of `vamos`
    let of_unit = |words: &Range<usize>| -> Option<&String> {
        let has_meaning = |j: &usize| tier.cells.get(*j).is_some_and(|cell| OPEN.contains(&cell.as_str()));
        let best = words.clone().filter(has_meaning).max_by_key(|j| (long(&sentence.words[*j]), usize::MAX - j));
        tier.cells.get(best.unwrap_or(words.start))
    };
    let part = |word: usize| {
        let longest = places.parts_of(word).max_by_key(|unit| (long(units[*unit].0), usize::MAX - unit));
        let cell = longest.and_then(|unit| of_unit(&units[unit].1)).map_or("", String::as_str);
        if cell.is_empty() { NONE.to_owned() } else { cell.replace(char::is_whitespace, "_") }
    };
    Some((0..rule.count(source)).map(part).collect::<Vec<_>>().join(" "))
}
