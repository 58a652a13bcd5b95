//! A concordance of a workspace, in steps, so that a lane can do other things between, and as a table.

use std::path::Path;

use crate::query::linked::{LinkChoice, LinkFinder, parsed};
use crate::store::{corpus::CorpusTable, file::Workspace, rules::SideRules};
use engine::analysis::concordance::{ConcordanceLine, ConcordanceQuery, ConcordanceSentence};
use engine::text::{tsv, tsv::TsvCell};
use engine::{aligner::bundled::AlignerChoice, error::Result};

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
        query: &str, folder: &Path, links: LinkChoice, rows: Vec<u32>,
        (aligner, rules): (Option<&AlignerChoice>, SideRules),
    ) -> Result<Self> {
        let (query, finder) = (parsed(query, folder)?, LinkFinder::new(&[links], aligner, rules)?);
        let (by_parts, by_target, has_links, incomplete) = (false, false, false, Vec::new());
        Ok(Self { query, links, by_parts, by_target, finder, rows, next: 0, has_links, incomplete })
    }

    /// The same over parts of speech in place of the source words, and of those of the text; sentences without them are skipped.
    #[must_use]
    pub fn by_parts(self, by_parts: bool, by_target: bool) -> Self {
        Self { by_parts, by_target, ..self }
    }

    pub fn is_done(&self) -> bool {
        self.next >= self.rows.len()
    }

    /// Whether the query asks for links, and there was none in any sentence.
    pub fn lacks_links(&self) -> bool {
        self.query.asks_for_links() && !self.has_links
    }

    pub fn done(&self) -> usize {
        self.next
    }

    /// Looks through some more sentences.
    pub fn step(&mut self, corpus: &CorpusTable, workspace: &Workspace, count: usize) -> Result<Vec<ConcordanceLine>> {
        let end = (self.next + count).min(self.rows.len());
        let mut lines = Vec::new();
        for at in &self.rows[self.next..end] {
            let place = *at as usize;
            let Some((output, links)) = self.finder.find((corpus, workspace), place, self.links)? else { continue };
            self.has_links |= links.is_some();
            if links.is_none() && self.query.asks_for_links() {
                continue;
            }
            let text = corpus.sources.get(place).unwrap_or_default();
            let (source, links) = (corpus.rules.source.owned(text), links.unwrap_or_default());
            let sentence = ConcordanceSentence { source: &source, output: &output, links: &links, chunks: None };
            let parts = self.by_parts.then(|| workspace.parts(place, text));
            let target = || workspace.target_parts(place, self.links.text(corpus, place).unwrap_or_default());
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
