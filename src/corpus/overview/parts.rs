//! What becomes of source words by their part of speech, in a corpus that knows it: links, crossings, and what is not
//! as in the reference.

use std::collections::BTreeMap;

use crate::import::aligned::WordFate;
use engine::analysis::concordance::counts::{LinkCounts, linked_words};
use engine::text::cells::{CellTable, TableCell};
use engine::text::links::Link;

#[derive(Clone, Debug, Default)]
struct PartCounts {
    links: LinkCounts,
    judged: u64,
    wrong: u64,
    fate: WordFate,
}

/// Counts, sentence by sentence.
#[derive(Clone, Debug, Default)]
pub struct PartTally {
    by: BTreeMap<String, Vec<PartCounts>>,
}

/// A sentence of a system: its place, its links, and the fate of each source word if there is a reference.
pub struct TaggedOutput<'a> {
    pub system: (usize, usize),
    pub links: &'a [Link],
    pub fates: &'a [WordFate],
}

impl PartTally {
    /// Counts the words of a sentence, each of this part of speech.
    pub fn add(&mut self, parts: &[String], output: &TaggedOutput<'_>) {
        let read = linked_words(output.links, parts.len());
        let (system, systems) = output.system;
        for (n, part) in parts.iter().enumerate() {
            if !self.by.contains_key(part) {
                self.by.insert(part.clone(), vec![PartCounts::default(); systems]);
            }
            let Some(counts) = self.by.get_mut(part).and_then(|all| all.get_mut(system)) else { continue };
            counts.links.add(&read[n], &read[n]);
            if let Some(fate) = output.fates.get(n).filter(|fate| fate.said + fate.wanted > 0) {
                counts.judged += 1;
                counts.wrong += u64::from(fate.is_wrong());
                counts.fate += *fate;
            }
        }
    }

    /// A row for each part of speech and system, the most frequent first.
    pub fn table(&self, names: &[&str]) -> CellTable {
        let mut all: Vec<_> = self.by.iter().collect();
        let words = |counts: &[PartCounts]| counts.iter().map(|one| one.links.words).max().unwrap_or_default();
        all.sort_by_key(|(_, counts)| std::cmp::Reverse(words(counts)));
        let rate = |part: u64, of: u64| TableCell::Number((of > 0).then(|| part as f64 / of as f64));
        let row = |part: &str, name: &str, counts: &PartCounts| {
            let (links, fate) = (&counts.links, &counts.fate);
            vec![
                TableCell::from(part),
                TableCell::from(name),
                TableCell::Count(links.words),
                TableCell::Number(Some(links.fertility())),
                TableCell::Number(Some(links.unaligned_share())),
                TableCell::Number(Some(links.crossing_share())),
                TableCell::Count(counts.judged),
                TableCell::Count(counts.wrong),
                rate(counts.wrong, counts.judged),
                rate(fate.right, fate.said),
                rate(fate.found, fate.wanted),
            ]
        };
        let of_part = |(part, counts): (&String, &Vec<PartCounts>)| -> Vec<Vec<TableCell>> {
            let seen = counts.iter().zip(names).filter(|(one, _)| one.links.words > 0);
            seen.map(|(one, name)| row(part, name, one)).collect()
        };
        CellTable { head: HEAD.to_vec(), rows: all.into_iter().flat_map(of_part).collect() }
    }
}

pub const HEAD: &[&str] = &[
    "part", "system", "words", "fertility", "unaligned", "crossing", "judged", "wrong", "error", "precision", "recall",
];
