//! Kinds of links of the same words against each other, as tables that grow sentence by sentence: of all words and of
//! each, and of what the hits of a query are linked to. Imports its room and `text`.

use std::collections::{BTreeMap, HashMap};

use crate::analysis::concordance::counts::{LinkCounts, WordLinks, linked_chunks, linked_words};
use crate::analysis::concordance::{ConcordanceLine, ConcordanceQuery, ConcordanceSentence};
use crate::analysis::contrast::minimal::{mcnemar, paired_difference};
use crate::text::cells::{CellTable, TableCell};
use crate::text::{cut::WordExchange, links::Link, words::folded};

const SHOWN: usize = 5;

/// The words of a text, their links, and the words between spaces where links counted those.
pub type TalliedText = (Vec<String>, Vec<Link>, Option<[WordExchange; 2]>);

/// A sentence with its texts.
#[derive(Clone, Copy, Debug)]
pub struct TalliedSentence<'a> {
    /// What each source word counts as.
    pub keys: &'a [String],
    /// What a query looks through: the source words, or their keys.
    pub source: &'a [String],
    /// For each kind of links, all in the same order.
    pub texts: &'a [TalliedText],
}

#[derive(Clone, Default)]
struct WordCounts {
    counts: LinkCounts,
    targets: HashMap<String, u64>,
}

#[derive(Default)]
struct HitCounts {
    hits: u64,
    met: Vec<bool>,
    linked: HashMap<(String, String), u64>,
}

/// What is counted, sentence by sentence.
pub struct LinkTally {
    names: Vec<String>,
    is_by: bool,
    query: Option<ConcordanceQuery>,
    words: BTreeMap<Option<String>, Vec<WordCounts>>,
    hits: Vec<HitCounts>,
}

impl LinkTally {
    pub fn new(names: Vec<String>, query: Option<ConcordanceQuery>, is_by: bool) -> Self {
        let hits = names.iter().map(|_| HitCounts::default()).collect();
        Self { names, is_by, query, words: BTreeMap::new(), hits }
    }

    pub fn add(&mut self, at: u32, sentence: TalliedSentence<'_>) -> Vec<Vec<ConcordanceLine>> {
        if self.query.is_some() {
            return self.add_hits(at, sentence);
        }
        self.add_words(sentence);
        Vec::new()
    }

    /// What was counted; of each word those that are there as often as `least`.
    pub fn table(&self, least: usize) -> CellTable {
        if self.query.is_some() { self.table_of_hits() } else { self.table_of_words(least) }
    }

    fn add_words(&mut self, sentence: TalliedSentence<'_>) {
        let read = |(_, links, chunks): &TalliedText| match chunks {
            Some(chunks) => linked_chunks(links, sentence.keys.len(), chunks),
            None => linked_words(links, sentence.keys.len()),
        };
        let read: Vec<Vec<WordLinks>> = sentence.texts.iter().map(read).collect();
        // punctuation has no part in links of words between spaces, and they do not know whether it has links
        let is_known = |j: usize| {
            sentence
                .texts
                .iter()
                .filter_map(|(.., chunks)| chunks.as_ref())
                .all(|[own, _]| own.places.get(j).is_some_and(Option::is_some))
        };
        for (j, key) in sentence.keys.iter().enumerate().filter(|(j, _)| is_known(*j)) {
            let own = self.is_by.then(|| Some(key.clone())).filter(|_| !key.is_empty());
            for kind in [Some(None), own].into_iter().flatten() {
                let is_all = kind.is_none();
                let all = self.words.entry(kind).or_insert_with(|| vec![WordCounts::default(); self.names.len()]);
                for ((counts, words), (text, ..)) in all.iter_mut().zip(&read).zip(sentence.texts) {
                    counts.counts.add(&words[j], &read[0][j]);
                    for word in words[j].targets.iter().filter_map(|i| text.get(*i)).filter(|_| !is_all) {
                        *counts.targets.entry(folded(word)).or_default() += 1;
                    }
                }
            }
        }
    }

    fn table_of_words(&self, least: usize) -> CellTable {
        const HEAD: &str = "word links words fertility unaligned diff_unaligned_low diff_unaligned_high p_unaligned crossing \
                            diff_crossing_low diff_crossing_high p_crossing targets";
        let mut kinds: Vec<_> = self.words.iter().collect();
        kinds.retain(|(kind, counts)| kind.is_none() || counts[0].counts.words >= least as u64);
        kinds.sort_by_key(|(kind, counts)| (kind.is_some(), std::cmp::Reverse(counts[0].counts.words)));
        let row = |kind: Option<&str>, n: usize, WordCounts { counts, targets }: &WordCounts| {
            let mut cells = vec![
                TableCell::from(kind.unwrap_or("(all)")),
                TableCell::from(self.names[n].as_str()),
                TableCell::Count(counts.words),
                TableCell::Number(Some(counts.fertility())),
            ];
            let shares = [counts.unaligned_share(), counts.crossing_share()];
            for ((share, span), p) in shares.into_iter().zip(counts.differences()).zip(counts.tests()) {
                cells.extend(compared(share, Some((span, p)).filter(|_| n > 0), counts.words));
            }
            cells.push(TableCell::Text(most(targets)));
            cells
        };
        let of_kind = |(kind, all): &(&Option<String>, &Vec<WordCounts>)| -> Vec<Vec<TableCell>> {
            all.iter().enumerate().map(|(n, counts)| row(kind.as_deref(), n, counts)).collect()
        };
        let head = HEAD.split_ascii_whitespace().collect();
        CellTable { head, rows: kinds.iter().flat_map(of_kind).collect() }
    }

    fn add_hits(&mut self, at: u32, sentence: TalliedSentence<'_>) -> Vec<Vec<ConcordanceLine>> {
        let Some(query) = &self.query else { return Vec::new() };
        let mut all = Vec::with_capacity(self.hits.len());
        for (counts, (output, links, chunks)) in self.hits.iter_mut().zip(sentence.texts) {
            let read = ConcordanceSentence { source: sentence.source, output, links, chunks: chunks.as_ref() };
            let found = query.find(&read);
            let lines: Vec<_> = found.hits.iter().map(|hit| ConcordanceLine::of(at, hit, &read)).collect();
            counts.met.push(!lines.is_empty());
            counts.hits += lines.len() as u64;
            for line in &lines {
                let hit = folded(&line.parts()[1].join(" "));
                *counts.linked.entry((hit, folded(&line.linked_words().join(" ")))).or_default() += 1;
            }
            all.push(lines);
        }
        all
    }

    fn table_of_hits(&self) -> CellTable {
        let mut rows = Vec::new();
        for (n, counts) in self.hits.iter().enumerate() {
            let met = |n: usize| &self.hits[n].met;
            let apart = |one: usize, other: usize| {
                met(one).iter().zip(met(other)).filter(|(one, other)| **one && !**other).count() as u64
            };
            let (all, only, first_only) = (counts.met.len() as u64, apart(n, 0), apart(0, n));
            let sentences = counts.met.iter().filter(|met| **met).count() as u64;
            let test = (paired_difference(all, sentences, only, first_only), mcnemar(first_only, only));
            let row = |hit: &str, linked: &str, count: u64, share: f64, test| {
                let texts = [self.names[n].as_str(), hit, linked].map(TableCell::from);
                texts.into_iter().chain([TableCell::Count(count)]).chain(compared(share, test, all)).collect()
            };
            rows.push(row(
                "(sentences)",
                "",
                sentences,
                sentences as f64 / all.max(1) as f64,
                Some(test).filter(|_| n > 0),
            ));
            let linked = by_count(&counts.linked);
            let share = |count: u64| count as f64 / counts.hits as f64;
            rows.extend(linked.iter().map(|((hit, to), count)| row(hit, to, **count, share(**count), None)));
        }
        CellTable { head: vec!["links", "hit", "linked", "count", "share", "diff_low", "diff_high", "p"], rows }
    }
}

fn compared(share: f64, test: Option<(Option<(f64, f64)>, f64)>, pairs: u64) -> [TableCell; 4] {
    let (low, high) = test.and_then(|(span, _)| span).unzip();
    let [share, low, high] = [Some(share), low, high].map(TableCell::Number);
    [share, low, high, TableCell::P(test.map(|(_, p)| p), pairs)]
}

fn by_count<K: Ord>(counts: &HashMap<K, u64>) -> Vec<(&K, &u64)> {
    let mut all: Vec<_> = counts.iter().collect();
    all.sort_by(|(one, of_one), (other, of_other)| of_other.cmp(of_one).then(one.cmp(other)));
    all
}

fn most(targets: &HashMap<String, u64>) -> String {
    by_count(targets).iter().take(SHOWN).map(|(word, count)| format!("{word} {count}")).collect::<Vec<_>>().join(", ")
}

/// Every hit by each kind of links.
pub fn hits(lines: &[Vec<ConcordanceLine>], names: &[String]) -> CellTable {
    let row = |n: usize, line: &ConcordanceLine| {
        let [left, hit, right] = line.parts().map(|words| words.join(" "));
        let texts = [names[n].clone(), left, hit, right, line.linked_words().join(" ")].map(TableCell::Text);
        std::iter::once(TableCell::Count(u64::from(line.at) + 1)).chain(texts).collect()
    };
    let rows = lines.iter().enumerate().flat_map(|(n, lines)| lines.iter().map(move |line| row(n, line))).collect();
    CellTable { head: vec!["sentence", "links", "left", "hit", "right", "linked"], rows }
}
