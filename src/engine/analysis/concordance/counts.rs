//! What links say of source words, counted: fertility, words without a link, links that cross; and two kinds of links of
//! the same words against each other. Imports its room and `text`.

use crate::analysis::contrast::minimal::{mcnemar, paired_difference};
use crate::text::{cut::WordExchange, links::Link};

/// What links say of a source word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordLinks {
    /// The words that it is linked to, in their order.
    pub targets: Vec<usize>,
    /// One of its links crosses one of another word: the earlier of both leads to the later target word.
    pub crosses: bool,
}

/// Of each of `t_x` source words what links say.
pub fn linked_words(links: &[Link], t_x: usize) -> Vec<WordLinks> {
    let mut words = vec![WordLinks::default(); t_x];
    for link in links.iter().filter(|link| link.source < t_x) {
        words[link.source].targets.push(link.target);
    }
    for word in &mut words {
        word.targets.sort_unstable();
        word.targets.dedup();
    }
    // A link crosses where an earlier word leads behind it, or a later one before it.
    let ends = |word: &WordLinks| word.targets.first().copied().zip(word.targets.last().copied());
    let (mut furthest, mut nearest) = (None::<usize>, None::<usize>);
    for j in 0..t_x {
        let Some((first, last)) = ends(&words[j]) else { continue };
        words[j].crosses = furthest.is_some_and(|before| before > first);
        furthest = furthest.max(Some(last));
    }
    for j in (0..t_x).rev() {
        let Some((first, last)) = ends(&words[j]) else { continue };
        words[j].crosses |= nearest.is_some_and(|behind| behind < last);
        nearest = Some(nearest.map_or(first, |known| known.min(first)));
    }
    words
}

/// The same of links that counted what stands between spaces: the tokens of one such word have its links, and none of
/// these crosses another of the same.
pub fn linked_chunks(links: &[Link], t_x: usize, [source, target]: &[WordExchange; 2]) -> Vec<WordLinks> {
    let chunks = linked_words(&WordExchange::carried(links, source, target), source.spaced);
    let mut words = linked_words(links, t_x);
    for (word, place) in words.iter_mut().zip(&source.places) {
        word.crosses &= place.and_then(|at| chunks.get(at)).is_some_and(|chunk| chunk.crosses);
    }
    words
}

/// Counts of source words of one kind, beside those that the first links say of the same words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    pub words: u64,
    pub links: u64,
    pub unaligned: u64,
    pub crossing: u64,
    unaligned_apart: [u64; 2],
    crossing_apart: [u64; 2],
}

impl LinkCounts {
    /// Counts a word, with what the first links say of it.
    pub fn add(&mut self, word: &WordLinks, first: &WordLinks) {
        let is_bare = |word: &WordLinks| word.targets.is_empty();
        self.words += 1;
        self.links += word.targets.len() as u64;
        self.unaligned += u64::from(is_bare(word));
        self.crossing += u64::from(word.crosses);
        note(&mut self.unaligned_apart, is_bare(first), is_bare(word));
        note(&mut self.crossing_apart, first.crosses, word.crosses);
    }

    pub fn fertility(&self) -> f64 {
        self.links as f64 / self.words.max(1) as f64
    }

    pub fn unaligned_share(&self) -> f64 {
        self.unaligned as f64 / self.words.max(1) as f64
    }

    pub fn crossing_share(&self) -> f64 {
        self.crossing as f64 / self.words.max(1) as f64
    }

    /// p of McNemar's exact test against the first links: of words without a link, and of those that cross.
    pub fn tests(&self) -> [f64; 2] {
        [self.unaligned_apart, self.crossing_apart].map(|[first, own]| mcnemar(first, own))
    }

    /// Where the shares less those of the first links lie with a confidence of 95 %: of words without a link, and of
    /// those that cross.
    pub fn differences(&self) -> [Option<(f64, f64)>; 2] {
        [(self.unaligned, self.unaligned_apart), (self.crossing, self.crossing_apart)]
            .map(|(share, [first, own])| paired_difference(self.words, share, own, first))
    }
}

fn note(apart: &mut [u64; 2], first: bool, own: bool) {
    apart[0] += u64::from(first && !own);
    apart[1] += u64::from(own && !first);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_are_those_of_all_pairs_of_links() {
        let mut state = 7_u32;
        for _ in 0..200 {
            let mut next = |below: u32| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                ((state >> 16) % below) as usize
            };
            let links: Vec<Link> = (0..next(9)).map(|_| Link { source: next(6), target: next(6) }).collect();
            let words = linked_words(&links, 6);
            for (j, word) in words.iter().enumerate() {
                let own = links.iter().filter(|link| link.source == j);
                let crosses = |one: &Link, other: &Link| {
                    (one.source < other.source && one.target > other.target)
                        || (one.source > other.source && one.target < other.target)
                };
                let expected = own.clone().any(|one| links.iter().any(|other| crosses(one, other)));
                assert_eq!(word.crosses, expected, "{links:?}, word {j}");
                assert_eq!(word.targets.is_empty(), own.count() == 0);
            }
        }
    }
}
