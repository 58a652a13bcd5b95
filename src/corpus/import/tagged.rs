//! Parts of speech that come into a corpus from CoNLL-U. A sentence of the file gives them to the sources, or to the
//! references and outputs, that have the same letters as it is written, else as it is cut; a word that the file cuts
//! further has that of its longest piece.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::{ops::Range, path::Path};

use crate::import::places::{SentencePlaces, is_same, mixed};
use crate::{import::report::ImportReport, store::file::Workspace};
use engine::error::{Error, Result};
use engine::text::{cut::WordRule, words::WordPlaces};
use engine::ticket::CancellationToken;
use figure::interlinear::{GlossedSentence, conllu};

const NONE: &str = "_";
/// Parts of speech of words that mean something by themselves, of which one that is written for several words has one.
const OPEN: [&str; 6] = ["ADJ", "ADV", "NOUN", "NUM", "PROPN", "VERB"];

/// Imports the parts of speech of a file, for the sources or for references and outputs; whichever match more sentences.
pub fn import(workspace: &mut Workspace, path: &Path, ticket: &CancellationToken) -> Result<ImportReport> {
    let sentences = conllu::read_file(path)?;
    let mut report = ImportReport::default();
    let count = |are_there: &[bool]| are_there.iter().filter(|is_there| **is_there).count();
    let (found, mut are_there) = of_sources(workspace, &sentences, ticket)?;
    let mut targets = Vec::new();
    if count(&are_there) < sentences.len() {
        let (of_targets, are_targets) = of_targets(workspace, &sentences, ticket)?;
        if count(&are_targets) > count(&are_there) {
            (targets, are_there) = (of_targets, are_targets);
        }
    }
    let strange = sentences.iter().zip(&are_there).enumerate().filter(|(_, (_, is_there))| !**is_there);
    for (n, (sentence, _)) in strange {
        let (line, name) = sentence.written.as_ref().map_or((n + 1, ""), |own| (own.line, own.id.as_str()));
        let message = format!("begins a sentence that the corpus has not: {name:.80} `{:.80}`", sentence.text());
        report.warn(path, line, &message);
    }
    if found.is_empty() && targets.is_empty() {
        let why = "has parts of speech for no sentence of the corpus; bring its source text in first, and choose a file with the same words";
        return Err(Error::file(path, why));
    }
    let strange = sentences.len() - count(&are_there);
    if strange > 0 {
        report.facts.push(tr!("{n} sentence of the file is not in the corpus."
            | "{n} sentences of the file are not in the corpus." % strange));
    }
    if targets.is_empty() {
        report.tagged = found.len();
        workspace.set_parts(&found)?;
    } else {
        let places: BTreeSet<usize> = targets.iter().map(|(at, ..)| *at).collect();
        report.tagged = places.len();
        report.facts.push(tr!("The parts of speech are those of references and outputs.").to_owned());
        workspace.set_target_parts(&targets)?;
    }
    Ok(report)
}

#[expect(clippy::type_complexity, reason = "place and parts of each, and which sentences they are from")]
fn of_sources(
    workspace: &Workspace, sentences: &[GlossedSentence], ticket: &CancellationToken,
) -> Result<(Vec<(usize, String)>, Vec<bool>)> {
    let (mut found, mut own, mut are_there) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    let (known, mut seen, rule) = (SentencePlaces::read(workspace)?, HashMap::new(), workspace.rules().source);
    for (n, sentence) in sentences.iter().enumerate() {
        ticket.check()?;
        let [written, cut] = letters(sentence);
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
        are_there.push(is_there);
    }
    found.extend(own);
    Ok((Vec::from_iter(found), are_there))
}

#[expect(clippy::type_complexity, reason = "place, text and parts of each, and which sentences they are from")]
fn of_targets(
    workspace: &Workspace, sentences: &[GlossedSentence], ticket: &CancellationToken,
) -> Result<(Vec<(usize, String, String)>, Vec<bool>)> {
    let tagged = TaggedSentences::new(sentences);
    let (mut found, mut there) = (Vec::new(), HashSet::new());
    for (at, text) in workspace.targets(|at, text| tagged.of(at, text).is_some())? {
        ticket.check()?;
        let Some(n) = tagged.of(at, &text) else { continue };
        if let Some(parts) = parts_of(&sentences[n], (&text, workspace.rules().target)) {
            // All with the same letters are in the corpus where one is.
            there.insert(mixed(&text));
            found.push((at, text, parts));
        }
    }
    Ok((found, tagged.numbers.iter().map(|both| both.iter().any(|number| there.contains(number))).collect()))
}

/// The sentences of a file by their letters.
pub struct TaggedSentences {
    numbers: Vec<[u64; 2]>,
    first: HashMap<u64, usize>,
}

impl TaggedSentences {
    pub fn new(sentences: &[GlossedSentence]) -> Self {
        let numbers = sentences.iter().map(|sentence| letters(sentence).map(|text| mixed(&text)));
        let (numbers, mut first) = (numbers.collect::<Vec<_>>(), HashMap::new());
        for (n, both) in numbers.iter().enumerate() {
            for number in both {
                first.entry(*number).or_insert(n);
            }
        }
        Self { numbers, first }
    }

    /// That with the letters of a text: the one of the same place, else the first.
    pub fn of(&self, at: usize, text: &str) -> Option<usize> {
        let number = mixed(text);
        let own = self.numbers.get(at).filter(|both| both.contains(&number)).map(|_| at);
        own.or_else(|| self.first.get(&number).copied())
    }
}

fn letters(sentence: &GlossedSentence) -> [String; 2] {
    units(sentence).map(|units| units.iter().map(|(form, _)| *form).collect())
}

fn units(sentence: &GlossedSentence) -> [Vec<(&str, Range<usize>)>; 2] {
    let cut: Vec<_> = sentence.words.iter().enumerate().map(|(j, word)| (word.as_str(), j..j + 1)).collect();
    let own = sentence.written.as_ref().map(|own| &own.units);
    let written = own.map(|own| own.iter().map(|(form, words)| (form.as_str(), words.clone())).collect());
    [written.unwrap_or_else(|| cut.clone()), cut]
}

fn parts_of(sentence: &GlossedSentence, (text, rule): (&str, WordRule)) -> Option<String> {
    let words = rule.words(text);
    let parts = ["pos", "xpos"].into_iter().find_map(|tier| cells_of(sentence, tier, &words))?;
    let part = |cell: &str| if cell.is_empty() { NONE.to_owned() } else { cell.replace(char::is_whitespace, "_") };
    Some(parts.iter().map(|cell| part(cell)).collect::<Vec<_>>().join(" "))
}

/// The cells of a tier of a sentence for each of some words, which have its letters; `None` without such a tier.
pub fn cells_of(sentence: &GlossedSentence, tier: &str, words: &[&str]) -> Option<Vec<String>> {
    let line = |name: &str| sentence.tiers.iter().find(|tier| tier.name == name);
    let (tier, pos) = (line(tier)?, line("pos"));
    let placed = |units: &Vec<(&str, Range<usize>)>| {
        let forms: Vec<&str> = units.iter().map(|(form, _)| *form).collect();
        WordPlaces::of_parts(&forms, &words.join(" "), WordRule::Given)
    };
    let (places, units) = units(sentence).into_iter().find_map(|units| Some((placed(&units)?, units)))?;
    let long = |text: &str| text.chars().count();
    // `au` has that of `à`, `vámonos` that of `vamos`
    let of_unit = |own: &Range<usize>| -> Option<&String> {
        let has_meaning = |j: &usize| pos?.cells.get(*j).map(|cell| OPEN.contains(&cell.as_str()));
        let open = own.clone().filter(|j| has_meaning(j).unwrap_or_default());
        let best = open.max_by_key(|j| (long(&sentence.words[*j]), usize::MAX - j));
        tier.cells.get(best.unwrap_or(own.start))
    };
    let cell = |word: usize| {
        let longest = places.parts_of(word).max_by_key(|unit| (long(units[*unit].0), usize::MAX - unit));
        longest.and_then(|unit| of_unit(&units[unit].1)).cloned().unwrap_or_default()
    };
    Some((0..words.len()).map(cell).collect())
}
