//! Floor 7: parts of speech that come into a corpus from CoNLL-U. A sentence of the file gives them to those of the corpus that have
//! the same letters; a word between spaces that the file cuts (`maison,`) has that of its longest piece.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::corpus::import::places::{SentencePlaces, is_same};
use crate::corpus::import::report::ImportReport;
use crate::corpus::store::file::Workspace;
use crate::error::{Error, Result};
use crate::figure::interlinear::GlossedSentence;
use crate::figure::interlinear::conllu;
use crate::text::words::{WordPlaces, words};
use crate::ticket::CancellationToken;

/// What says nothing.
const NONE: &str = "_";

/// Takes in the parts of speech of a file.
///
/// # Errors
/// A sentence about the file; [`Error::Stale`] as soon as the ticket is stale.
pub fn import(workspace: &mut Workspace, path: &Path, ticket: &CancellationToken) -> Result<ImportReport> {
    let sentences = conllu::read_file(path)?;
    let (mut report, mut found) = (ImportReport::default(), BTreeMap::new());
    let (known, mut seen, mut strange) = (SentencePlaces::read(workspace)?, HashMap::new(), 0);
    for (n, sentence) in sentences.iter().enumerate() {
        ticket.check()?;
        let text = sentence.words.concat();
        let mut give = |at: usize, source: &str| found.extend(parts_of(sentence, source).map(|parts| (at, parts)));
        // The sentence of the same place, else all with the same letters, once.
        if let Some(stored) = workspace.sentence(n)?.filter(|stored| is_same(&stored.source, &text)) {
            give(n, &stored.source);
            continue;
        }
        let is_there = if let Some(is_there) = seen.get(&text) {
            *is_there
        } else {
            let mut is_there = false;
            for found in known.of(workspace, &text, 0) {
                let (at, stored) = found?;
                give(at, &stored.source);
                is_there = true;
            }
            seen.insert(text, is_there);
            is_there
        };
        strange += usize::from(!is_there);
    }
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

/// One for each word of a source; `None` where the file has none.
fn parts_of(sentence: &GlossedSentence, source: &str) -> Option<String> {
    let tier = |name: &str| sentence.tiers.iter().find(|tier| tier.name == name);
    let tier = tier("pos").or_else(|| tier("xpos"))?;
    let places = WordPlaces::of_parts(&sentence.words, source)?;
    let part = |word: usize| {
        let longest =
            places.parts_of(word).max_by_key(|piece| (sentence.words[*piece].chars().count(), usize::MAX - piece));
        let cell = longest.and_then(|piece| tier.cells.get(piece)).map_or("", String::as_str);
        if cell.is_empty() { NONE.to_owned() } else { cell.replace(char::is_whitespace, "_") }
    };
    Some((0..words(source).count()).map(part).collect::<Vec<_>>().join(" "))
}
