//! What beads cost by their words, too: for each word y of a bead ln((1 - u) sum_x t(y | x) / (n p(y)) + u), where n is the number of
//! words of the other side, p(y) the frequency of y in its document and u the share of words that nobody translates: above 0 where
//! a word is likelier as a translation than by itself. A bead has the mean of both directions.

use std::{collections::HashMap, ops::Range};

use crate::aligner::lexicon::{Lexicon, NONE};
use crate::aligner::sentences::beads::{Bead, DocumentSide, MOST_OF_SIDE};
use crate::aligner::vocabulary::{AlignerVocabulary, fold};
use crate::aligner::{learned::Learned, sentences::lengths::Lengths, sentences::search::BeadCosts};

/// A lexicon, and how far it is trusted.
#[derive(Clone, Copy, Debug)]
pub struct TrustedLexicon<'a> {
    pub learned: &'a Learned,
    /// u: the share of words that are not translated by any word, or by none that the lexicon knows.
    pub free: f32,
}
/// t of two words that are written alike.
const ALIKE: f32 = 0.3;
/// How much the probability of the lengths counts beside that of words.
const OF_LENGTH: f32 = 0.5;

#[derive(Clone, Copy, Debug)]
struct Known {
    spelling: u32,
    id: Option<u32>,
    frequency: f32,
}

/// Sums of t for the words of a pair of sentences: of each target word, then of each source word.
type Sums = Box<[f32]>;

/// The words of both documents.
pub struct Lexical<'a> {
    lengths: Lengths<'a>,
    lexicon: &'a Lexicon,
    free: f32,
    source: Vec<Vec<Known>>,
    target: Vec<Vec<Known>>,
    /// Of the last source sentences that a bead joins: the first target sentence, and the sums of each from there.
    rows: [(usize, Vec<Sums>); MOST_OF_SIDE],
    row: usize,
}

impl<'a> Lexical<'a> {
    /// Looks the words of two documents up.
    pub fn new(source: &'a DocumentSide, target: &'a DocumentSide, lexicon: TrustedLexicon<'a>) -> Self {
        let TrustedLexicon { learned, free } = lexicon;
        let mut spellings = HashMap::new();
        Self {
            lengths: Lengths::new(source, target),
            lexicon: &learned.lexicon,
            free,
            source: known(source, &learned.source_words, &mut spellings),
            target: known(target, &learned.target_words, &mut spellings),
            rows: std::array::from_fn(|_| (0, Vec::new())),
            row: 0,
        }
    }

    fn sums(&self, i: usize, j: usize) -> Sums {
        let (source, target) = (&self.source[i], &self.target[j]);
        let mut sums = vec![0.0; target.len() + source.len()].into_boxed_slice();
        let (of_target, of_source) = sums.split_at_mut(target.len());
        for (x, of_x) in source.iter().zip(of_source) {
            for (y, of_y) in target.iter().zip(of_target.iter_mut()) {
                let pair = x.id.zip(y.id).map_or(NONE, |(x, y)| self.lexicon.find(x, y));
                let (mut forward, mut reverse) = (0.0, 0.0);
                if pair != NONE {
                    let entry = self.lexicon.pair(pair);
                    (forward, reverse) = (entry.forward, entry.reverse);
                }
                if x.spelling == y.spelling {
                    (forward, reverse) = (forward.max(ALIKE), reverse.max(ALIKE));
                }
                *of_y += forward;
                *of_x += reverse;
            }
        }
        sums
    }

    fn words<'s>(
        &self, source: &Range<usize>, target: &Range<usize>, sums: &dyn Fn(usize, usize) -> Option<&'s Sums>,
    ) -> (f32, usize) {
        let lengths =
            |side: &[Vec<Known>], range: &Range<usize>| side[range.clone()].iter().map(Vec::len).sum::<usize>();
        let (t_x, t_y) = (lengths(&self.source, source), lengths(&self.target, target));
        let (mut sum, mut count, free) = (0.0, 0, self.free);
        let mut add = |word: &Known, t: f32, others: usize| {
            // Of a word that nobody knows nothing can be said.
            if word.id.is_some() || t > 0.0 {
                sum += ((1.0 - free) * t / (others as f32 * word.frequency) + free).ln();
                count += 1;
            }
        };
        for j in target.clone() {
            for (n, word) in self.target[j].iter().enumerate() {
                add(word, source.clone().filter_map(|i| sums(i, j)).map(|sums| sums[n]).sum(), t_x);
            }
        }
        for i in source.clone() {
            for (n, word) in self.source[i].iter().enumerate() {
                let of = |j: usize| sums(i, j).map(|sums| sums[self.target[j].len() + n]);
                add(word, target.clone().filter_map(of).sum(), t_y);
            }
        }
        (sum, count)
    }

    pub fn score(&self, bead: &Bead) -> Option<f32> {
        if bead.source.is_empty() || bead.target.is_empty() {
            return None;
        }
        let all: HashMap<(usize, usize), Sums> = bead
            .source
            .clone()
            .flat_map(|i| bead.target.clone().map(move |j| (i, j)))
            .map(|(i, j)| ((i, j), self.sums(i, j)))
            .collect();
        let (sum, count) = self.words(&bead.source, &bead.target, &|i, j| all.get(&(i, j)));
        (count > 0).then(|| sum / count as f32)
    }
}

fn known(
    side: &DocumentSide, vocabulary: &AlignerVocabulary, spellings: &mut HashMap<Box<str>, u32>,
) -> Vec<Vec<Known>> {
    let mut counts: HashMap<u32, u32> = HashMap::new();
    let mut total = 0;
    let mut word = |word: &str| {
        let folded = fold(word);
        let next = spellings.len() as u32;
        let spelling = *spellings.entry(folded.as_ref().into()).or_insert(next);
        *counts.entry(spelling).or_default() += 1;
        total += 1;
        Known { spelling, id: vocabulary.id(&folded), frequency: 0.0 }
    };
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    let mut all: Vec<Vec<Known>> = side
        .words
        .iter()
        .map(|words| words.iter().map(|word| &**word).filter(is_word).map(&mut word).collect())
        .collect();
    for word in all.iter_mut().flatten() {
        word.frequency = counts[&word.spelling] as f32 / total as f32;
    }
    all
}

impl BeadCosts for Lexical<'_> {
    fn sizes(&self) -> (usize, usize) {
        (self.source.len(), self.target.len())
    }

    fn begin_row(&mut self, i: usize, columns: Range<usize>) {
        self.row = i;
        let Some(sentence) = i.checked_sub(1) else { return };
        let sums = columns.clone().map(|j| self.sums(sentence, j)).collect();
        self.rows[sentence % MOST_OF_SIDE] = (columns.start, sums);
    }

    fn cost(&self, source: Range<usize>, target: Range<usize>) -> f32 {
        let sums = |i: usize, j: usize| {
            let (start, row) = &self.rows[i % MOST_OF_SIDE];
            j.checked_sub(*start).and_then(|at| row.get(at))
        };
        let breaks = self.lengths.breaks(&source, &target);
        // What nobody translated has any length.
        if source.is_empty() || target.is_empty() {
            return breaks;
        }
        let words = self.words(&source, &target, &sums).0 / 2.0;
        OF_LENGTH * self.lengths.length(&source, &target) + breaks - words
    }
}
