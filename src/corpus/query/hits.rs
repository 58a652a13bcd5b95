//! Floor 7: a concordance of a workspace, in steps, so that a lane can do other things between, and as a table.

use std::borrow::Cow;
use std::path::Path;

use crate::aligner::bundled::AlignerChoice;
use crate::analysis::concordance::{ConcordanceLine, ConcordanceQuery, ConcordanceSentence};
use crate::analysis::hard::links_above;
use crate::analysis::lexical::cut;
use crate::corpus::query::linked::{LinkChoice, LinkFinder, LinkOrigin, parsed};
use crate::corpus::store::corpus::CorpusTable;
use crate::corpus::store::file::Workspace;
use crate::corpus::store::output::SystemOutput;
use crate::error::Result;
use crate::text::links::Link;
use crate::text::tsv;
use crate::text::tsv::TsvCell;
use crate::text::words::words;

/// Words on each side of a hit in a table.
const WIDTH: usize = 8;
/// The most sentences with more hits than are told whose numbers are kept.
const MOST_NOTED: usize = 20;

/// A query on its way through some sentences.
pub struct Searching {
    query: ConcordanceQuery,
    links: LinkChoice,
    by_parts: bool,
    by_target: bool,
    finder: LinkFinder,
    rows: Vec<u32>,
    next: usize,
    has_links: bool,
    /// Sentences, from 0, with more hits than are told: the first few.
    pub incomplete: Vec<u32>,
}

impl Searching {
    /// A query over a text and its links in some rows. Lists of words lie in `folder`.
    pub fn new(
        query: &str,
        folder: &Path,
        links: LinkChoice,
        rows: Vec<u32>,
        aligner: Option<&AlignerChoice>,
    ) -> Result<Self> {
        let (query, finder) = (parsed(query, folder)?, LinkFinder::new(&[links], aligner)?);
        let (by_parts, by_target, has_links, incomplete) = (false, false, false, Vec::new());
        Ok(Self { query, links, by_parts, by_target, finder, rows, next: 0, has_links, incomplete })
    }

    /// The same over parts of speech in place of the source words, and of those of the text; sentences without them are skipped.
    #[must_use]
    pub fn by_parts(self, by_parts: bool, by_target: bool) -> Self {
        Self { by_parts, by_target, ..self }
    }

    /// Whether all sentences were looked through.
    pub fn is_done(&self) -> bool {
        self.next >= self.rows.len()
    }

    /// Whether the query asks for links, and there was none in any sentence.
    pub fn lacks_links(&self) -> bool {
        self.query.asks_for_links() && !self.has_links
    }

    /// How many sentences were looked through.
    pub fn done(&self) -> usize {
        self.next
    }

    /// Looks through some more sentences.
    pub fn step(&mut self, corpus: &CorpusTable, workspace: &Workspace, count: usize) -> Result<Vec<ConcordanceLine>> {
        let end = (self.next + count).min(self.rows.len());
        let mut lines = Vec::new();
        for at in &self.rows[self.next..end] {
            let (place, choice) = (*at as usize, self.links);
            let found = read(&mut self.finder, (corpus, workspace), place, choice, self.by_parts || self.by_target)?;
            let Some((source, output, links)) = found else { continue };
            self.has_links |= links.is_some();
            let links = links.unwrap_or_default();
            let sentence = ConcordanceSentence { source: &source, output: &output, links: &links };
            let parts = self.by_parts.then(|| workspace.parts(place, corpus.sources.get(place).unwrap_or_default()));
            let target = || workspace.target_parts(place, choice.text(corpus, place).unwrap_or_default());
            let target = self.by_target.then(target);
            let (Some(source), Some(output)) = (
                parts.as_ref().map_or(Some(&source), Option::as_ref),
                target.as_ref().map_or(Some(&output), Option::as_ref),
            ) else {
                continue;
            };
            let found = self.query.find(&ConcordanceSentence { source, output, ..sentence });
            if !found.is_complete && self.incomplete.len() < MOST_NOTED {
                self.incomplete.push(*at);
            }
            lines.extend(found.hits.iter().map(|hit| ConcordanceLine::of(*at, hit, &sentence)));
        }
        self.next = end;
        Ok(lines)
    }
}

/// The words of both sides, and the links between them; `None` where a sentence has no such text. A system's own words are looked through
/// where the links are its own, unless they have parts of speech, which are of the words between spaces.
#[expect(clippy::type_complexity, reason = "source, output, links")]
fn read(
    finder: &mut LinkFinder,
    (corpus, workspace): (&CorpusTable, &Workspace),
    at: usize,
    choice: LinkChoice,
    by_parts: bool,
) -> Result<Option<(Vec<String>, Vec<String>, Option<Vec<Link>>)>> {
    let source = corpus.sources.get(at).unwrap_or_default();
    let (Some(system), LinkOrigin::Own | LinkOrigin::Above(_), false) = (choice.system, choice.by, by_parts) else {
        let found = finder.find((corpus, workspace), at, choice)?;
        return Ok(found.map(|(output, links)| (words(source).map(str::to_owned).collect(), output, links)));
    };
    let Some(column) = corpus.systems.get(system).filter(|column| column.texts.get(at).is_some()) else {
        return Ok(None);
    };
    // A damaged one is told of where it is shown, and stops nothing here.
    let Some(said) = workspace.output(column.system.id, at).ok().flatten() else { return Ok(None) };
    let [source, output] = sides(&said, source).map(Cow::into_owned);
    let links = match choice.by {
        LinkOrigin::Above(hundredths) if said.links.is_none() => {
            said.alignment().map(|alignment| links_above(&alignment, f32::from(hundredths) / 100.0))
        }
        _ => said.hard_links(),
    };
    Ok(Some((source, output, links)))
}

/// The words of both sides as the system counts them; those of a plain text are cut, so that a full stop is no part of
/// a word, except where links count the words between spaces.
fn sides<'a>(said: &'a SystemOutput, source: &str) -> [Cow<'a, [String]>; 2] {
    let is_plain = said.alpha.is_none() && said.links.is_none() && said.word_log_p.is_empty();
    if is_plain {
        let words = |text: &str| cut(text).split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        return [Cow::Owned(words(source)), Cow::Owned(words(&said.text))];
    }
    let side = |own: &'a [String], text: &str| {
        if own.is_empty() { Cow::Owned(words(text).map(str::to_owned).collect()) } else { Cow::Borrowed(own) }
    };
    [side(said.source_words(), source), side(said.words(), &said.text)]
}

/// The lines of a concordance, in this order, as a table: a row for each hit.
pub fn tsv(lines: &[ConcordanceLine], order: &[u32], corpus: &CorpusTable, links: LinkChoice) -> String {
    let text = |at: u32| links.text(corpus, at as usize).unwrap_or_default();
    let row = |line: &ConcordanceLine| {
        let [left, hit, right] = line.parts();
        let (left, right) = (&left[left.len().saturating_sub(WIDTH)..], &right[..right.len().min(WIDTH)]);
        let linked = line.linked_words().join(" ");
        let cells = [left.join(" "), hit.join(" "), right.join(" "), linked, text(line.at).to_owned()];
        std::iter::once(TsvCell::plain(&(line.at + 1))).chain(cells.iter().map(TsvCell::from)).collect()
    };
    let head = ["sentence", "left", "hit", "right", "linked", "output"];
    tsv::text(&head, order.iter().filter_map(|place| lines.get(*place as usize)).map(row))
}
