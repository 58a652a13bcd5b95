//! References on their way in: which of the references of a sentence those of a file are, and whether gold links
//! are links of the first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::import::{counted::Counted, report::ImportReport};
use crate::store::read::{MOST_REFERENCES, StoredSentence};
use crate::store::{file::Workspace, rules::spread};
use engine::error::{Error, Result};
use engine::text::links::{Link, Links};
use import::{ImportedText, Record};

pub(super) struct Known {
    pub(super) sentences: BTreeMap<usize, StoredSentence>,
    pub(super) golds: BTreeMap<usize, Links>,
}

impl Known {
    pub(super) fn read(workspace: &Workspace, places: &BTreeSet<usize>) -> Result<Self> {
        let places: Vec<usize> = places.iter().copied().collect();
        let (mut sentences, mut golds) = (BTreeMap::new(), BTreeMap::new());
        // Neighbours are read together.
        for run in places.chunk_by(|a, b| a + 1 == *b) {
            let range = run[0]..run[0] + run.len();
            sentences.extend(range.clone().zip(workspace.sentences(range.clone())?));
            golds.extend(workspace.golds_of(range)?);
        }
        Ok(Self { sentences, golds })
    }
}

/// The numbers, from 0, that the file's references have in the workspace: by equal texts, else the next free one.
pub(super) fn slots(
    workspace: &Workspace, (path, replaces): (&Path, bool), window: &[(usize, Record)], report: &mut ImportReport,
) -> Result<Vec<usize>> {
    let width = window.iter().map(|(_, record)| 1 + record.further.len()).max().unwrap_or_default();
    let is_there = window.iter().any(|(_, record)| (0..width).any(|n| record.reference(n).is_some()));
    if !is_there {
        return Ok(Vec::new());
    }
    let known = Known::read(workspace, &window.iter().map(|(at, _)| *at).collect())?;
    let mut slots: Vec<usize> = Vec::new();
    for n in 0..width {
        // How many texts are those of the reference with a number, and how many are others.
        let count = |slot: usize| {
            let both = window
                .iter()
                .filter_map(|(at, record)| Some((record.reference(n)?, known.sentences.get(at)?.reference(slot)?)));
            let both = both.filter(|(new, old)| !new.trim().is_empty() && !old.trim().is_empty());
            both.fold(
                (0, 0),
                |(same, other), (new, old)| if new == old { (same + 1, other) } else { (same, other + 1) },
            )
        };
        let counts: Vec<(usize, (usize, usize))> =
            (0..MOST_REFERENCES).filter(|slot| !slots.contains(slot)).map(|slot| (slot, count(slot))).collect();
        let there = counts.iter().filter(|(_, (same, other))| same + other > 0);
        let nearest = there.max_by_key(|(slot, (same, _))| (*same, std::cmp::Reverse(*slot)));
        let fits = counts.iter().find(|(_, (_, other))| *other == 0);
        let Some((slot, _)) = nearest.filter(|(_, (same, other))| replaces || same > other).or(fits) else {
            let message = format!("has another reference, and a workspace keeps {MOST_REFERENCES} of a sentence");
            return Err(Error::file(path, message));
        };
        slots.push(*slot);
    }
    let numbers = slots.iter().zip(0..).filter(|(slot, n)| *slot != n).map(|(slot, _)| (slot + 1).to_string());
    let numbers: Vec<String> = numbers.collect();
    if !numbers.is_empty() {
        report.facts.push(format!("Kept as reference {}.", numbers.join(", ")));
    }
    Ok(slots)
}

pub(super) fn new_references(
    (at, record): (usize, &Record), sentence: &StoredSentence, (slots, replaces): (&[usize], bool),
    report: &mut ImportReport,
) -> Vec<(usize, usize, String)> {
    let mut new = Vec::new();
    for slot in slots {
        let Some(text) = reference(record, slots, *slot) else { continue };
        let before = sentence.reference(*slot);
        // A blank line says nothing where there is a text, and is none of several.
        let is_blank = text.trim().is_empty() && (*slot > 0 || before.is_some());
        if is_blank || before == Some(text) {
            continue;
        }
        let is_free = before.is_none_or(|before| before.trim().is_empty());
        if is_free || report.replaces(format!("texts of reference {}", slot + 1), replaces) {
            new.push((*slot, at, text.to_owned()));
        }
    }
    new
}

pub(super) fn fitting(
    (path, gold, counted): (&Path, &Links, Counted), (at, record): (usize, &Record), sentence: &StoredSentence,
    slots: &[usize], report: &mut ImportReport,
) -> Option<Links> {
    if slots.first().is_some_and(|slot| *slot > 0) {
        report.warn(path, record.line, "has links of another reference than the first; they are left out");
        return None;
    }
    let first = reference(record, slots, 0).or(sentence.reference(0));
    let counted = counted.of(record);
    let sources = counted.source(own_words(record.source.as_ref()), &sentence.source);
    // without a reference its words are not known
    let targets = first.map(|first| counted.target(own_words(record.reference.as_ref()), first));
    let why = match (&sources, &targets) {
        (Some(sources), None | Some(Some(_))) => {
            let targets = targets.as_ref().and_then(Option::as_ref).map(Vec::len);
            beyond(gold, sources.len(), targets).map(|words| format!("beyond {words}"))
        }
        _ => Some("of other words than those".to_owned()),
    };
    if let Some(why) = why {
        let message = format!("has links {why} of sentence {}; they are left out", at + 1);
        report.warn(path, record.line, &message);
        return None;
    }
    let targets = targets.flatten();
    let respread = |links: &[Link]| spread(links, sources.as_deref(), targets.as_deref());
    Some(Links::new(respread(gold.sure()), respread(gold.possible())))
}

pub(super) fn check_golds(
    workspace: &Workspace, base: usize, (path, counted): (&Path, Counted), window: &[Record],
) -> Result<()> {
    let place = |record: &Record| base + record.sentence.saturating_sub(1);
    let known = Known::read(workspace, &window.iter().map(place).collect())?;
    let mut unfit = ImportReport::default();
    let golds =
        window.iter().filter_map(|record| Some((record, record.gold.as_ref().filter(|gold| !gold.all().is_empty())?)));
    let mut all = 0;
    for (record, gold) in golds {
        let at = place(record);
        let Some(sentence) = known.sentences.get(&at) else { continue };
        all += 1;
        fitting((path, gold, counted), (at, record), sentence, &[], &mut unfit);
    }
    match unfit.warnings.first() {
        Some(first) if unfit.warned * 2 > all => Err(Error::Input(format!(
            "{first}. So are {} of the first {all}, and nothing is imported; check `--gold-base` and the texts",
            unfit.warned
        ))),
        _ => Ok(()),
    }
}

/// The tokens that a file has of a text, none where it does not cut it, and the text as it has it.
fn own_words(text: Option<&ImportedText>) -> (&[String], &str) {
    text.map_or((&[], ""), |text| (text.tokens.as_deref().unwrap_or_default(), &text.text))
}

pub(super) fn reference<'a>(record: &'a Record, slots: &[usize], n: usize) -> Option<&'a str> {
    record.reference(slots.iter().position(|slot| *slot == n)?)
}

/// Whether links name words that the sentence or its reference does not have.
pub(crate) fn beyond(links: &Links, source: usize, target: Option<usize>) -> Option<String> {
    let most = target.unwrap_or(usize::MAX);
    let is_beyond = links.all().iter().any(|(link, _)| link.source >= source || link.target >= most);
    let target = target.map_or_else(String::new, |target| format!(" and {target}"));
    is_beyond.then(|| format!("the {source}{target} words"))
}
