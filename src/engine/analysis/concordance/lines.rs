//! Hits as key words in context, with what they are linked to on the other side, and their order. Imports its
//! room and `text`.

use crate::analysis::concordance::search::{ConcordanceHit, ConcordanceSentence};
use crate::text::{links::Link, words::folded};

/// A hit as a line of a concordance. A place has the number of its item, so that both sides can be coloured alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConcordanceLine {
    pub at: u32,
    /// The words of the side that was looked through: the source, or the output where the query is about it alone.
    pub words: Vec<String>,
    /// The words of the hit, by place, and which item each is.
    pub keys: Vec<(usize, usize)>,
    pub others: Vec<String>,
    /// Those that the words of the hit are linked to, by place, and which item each belongs to.
    pub linked: Vec<(usize, usize)>,
    /// Those that the query wants on the other side besides, linked or not; their items are counted on from those of
    /// the hit.
    pub besides: Vec<(usize, usize)>,
    /// The side that was looked through is the output.
    pub is_output: bool,
}

/// How the lines of a concordance are put in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConcordanceOrder {
    /// As the sentences stand.
    #[default]
    Place,
    /// By the words before the hit, from the nearest on.
    Left,
    /// By the words of the hit, then by those behind it.
    Hit,
    /// By the words behind the hit.
    Right,
}

impl ConcordanceLine {
    /// A hit of a sentence.
    pub fn of(at: u32, hit: &ConcordanceHit, sentence: &ConcordanceSentence<'_>) -> Self {
        let is_output = hit.source.is_empty();
        let numbered = |places: &[usize]| places.iter().copied().enumerate().map(|(n, place)| (place, n)).collect();
        let keys: Vec<(usize, usize)> = numbered(if is_output { &hit.output } else { &hit.source });
        let mut linked = Vec::new();
        for &(place, item) in &keys {
            let theirs = |link: &&Link| place == if is_output { link.target } else { link.source };
            let ends = sentence.links.iter().filter(theirs);
            linked.extend(ends.map(|link| (if is_output { link.source } else { link.target }, item)));
        }
        let besides = if is_output { &[][..] } else { &hit.output };
        let besides = besides.iter().enumerate().map(|(n, place)| (*place, keys.len() + n)).collect();
        let (words, others) =
            if is_output { (sentence.output, sentence.source) } else { (sentence.source, sentence.output) };
        linked.retain(|(place, _)| *place < others.len());
        linked.sort_unstable();
        linked.dedup_by_key(|(place, _)| *place);
        Self { at, words: words.to_vec(), keys, others: others.to_vec(), linked, besides, is_output }
    }

    pub fn span(&self) -> std::ops::Range<usize> {
        let places = || self.keys.iter().map(|(place, _)| *place);
        places().min().unwrap_or(0)..places().max().map_or(0, |last| last + 1)
    }

    /// Which item of the hit a word is.
    pub fn key(&self, place: usize) -> Option<usize> {
        self.keys.iter().find(|(key, _)| *key == place).map(|(_, item)| *item)
    }

    /// Which item a word of the other side belongs to: that of the hit that it is linked to, else the item behind the
    /// bar that it is.
    pub fn link(&self, place: usize) -> Option<usize> {
        self.linked.iter().chain(&self.besides).find(|(other, _)| *other == place).map(|(_, item)| *item)
    }

    pub fn parts(&self) -> [&[String]; 3] {
        let span = self.span();
        let (start, end) = (span.start.min(self.words.len()), span.end.min(self.words.len()));
        [&self.words[..start], &self.words[start..end], &self.words[end..]]
    }

    pub fn linked_words(&self) -> Vec<&str> {
        self.linked.iter().map(|(place, _)| self.others[*place].as_str()).collect()
    }

    fn key_words(&self, order: ConcordanceOrder) -> Vec<String> {
        let [left, hit, right] = self.parts();
        let small = |word: &String| folded(word);
        match order {
            ConcordanceOrder::Place => Vec::new(),
            ConcordanceOrder::Left => left.iter().rev().map(small).collect(),
            ConcordanceOrder::Hit => hit.iter().chain(right).map(small).collect(),
            ConcordanceOrder::Right => right.iter().map(small).collect(),
        }
    }
}

pub fn sorted(lines: &[ConcordanceLine], order: ConcordanceOrder) -> Vec<u32> {
    let mut places: Vec<u32> = (0..lines.len() as u32).collect();
    if order != ConcordanceOrder::Place {
        places.sort_by_cached_key(|place| lines[*place as usize].key_words(order));
    }
    places
}
