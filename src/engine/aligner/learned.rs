//! What was learned, and the links that it gives to any sentence pair.

use std::{borrow::Cow, collections::BTreeMap};

use crate::aligner::lexicon::{Lexicon, LexiconEntry};
use crate::aligner::vocabulary::{AlignerVocabulary, fold};
use crate::aligner::{jumps::Jumps, pair::PairPosteriors};
use crate::text::links::{Link, Links};

/// t of two words that are written alike and that are not known.
const ALIKE: f32 = 0.3;
/// Pairs that are less probable in both directions are left out of a lexicon through a third language.
const LEAST: f32 = 1e-3;

/// Two directions of a hidden Markov model.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    /// BCP 47 tags of source and target, by which text is cut into words; empty where words were split by spaces.
    pub languages: (String, String),
    pub source_words: AlignerVocabulary,
    pub target_words: AlignerVocabulary,
    pub lexicon: Lexicon,
    pub forward: Jumps,
    pub reverse: Jumps,
    /// The probability that a word comes from no word.
    pub p0: f32,
    /// t of pairs that were never seen.
    pub floor: f32,
}

/// The links of a sentence pair by direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directions {
    /// At most one source word for each target word.
    pub forward: Vec<Link>,
    /// At most one target word for each source word.
    pub reverse: Vec<Link>,
    /// Links that are likelier than not by the mean of both directions ([`PairPosteriors::mean`]): posterior decoding,
    /// as Liang, Taskar and Klein (2006) have it. Any number for each word.
    pub likely: Vec<Link>,
}

impl Learned {
    /// The links of both directions, in room that is used again.
    pub fn directions_in<S: AsRef<str>, T: AsRef<str>>(
        &self, pair: &mut PairPosteriors, source: &[S], target: &[T],
    ) -> Directions {
        let source: Vec<Cow<'_, str>> = source.iter().map(|word| fold(word.as_ref())).collect();
        let target: Vec<Cow<'_, str>> = target.iter().map(|word| fold(word.as_ref())).collect();
        let ids = (
            source.iter().map(|word| self.source_words.id(word)),
            target.iter().map(|word| self.target_words.id(word)),
        );
        let alike = |j: usize, i: usize| (source[j] == target[i]).then_some(ALIKE);
        pair.read(&self.lexicon, ids.0, ids.1, self.floor, &alike);
        pair.hmm(self.p0, (&self.forward, &self.reverse));
        decode(pair, source.len(), target.len())
    }

    /// The same for the other direction of translation.
    pub fn turned(self) -> Self {
        Self {
            languages: (self.languages.1, self.languages.0),
            source_words: self.target_words,
            target_words: self.source_words,
            lexicon: self.lexicon.turned(),
            forward: self.reverse,
            reverse: self.forward,
            ..self
        }
    }

    /// The lexicon of this side's source and the other's target, through the words that both have between them: t(y |
    /// x) = sum over them of t(z | x) t(y | z). Nothing is known of jumps.
    pub fn through(&self, other: &Self) -> Self {
        let between: Vec<Option<u32>> =
            self.target_words.words().iter().map(|word| other.source_words.id(word)).collect();
        let row = |x: usize| {
            let mut found: BTreeMap<u32, (f32, f32)> = BTreeMap::new();
            for to in self.lexicon.entries(x) {
                let Some(z) = between[to.target as usize] else { continue };
                for from in other.lexicon.entries(z as usize) {
                    let sum = found.entry(from.target).or_default();
                    *sum = (sum.0 + to.forward * from.forward, sum.1 + to.reverse * from.reverse);
                }
            }
            let entry = |(target, (forward, reverse))| LexiconEntry { target, forward, reverse };
            let is_likely = |entry: &LexiconEntry| entry.forward.max(entry.reverse) >= LEAST;
            found.into_iter().map(entry).filter(is_likely).collect()
        };
        let rows: Vec<Vec<LexiconEntry>> = (0..self.source_words.len()).map(row).collect();
        let nothing = |count: usize| vec![0.0; count];
        Self {
            languages: (self.languages.0.clone(), other.languages.1.clone()),
            source_words: self.source_words.clone(),
            target_words: other.target_words.clone(),
            lexicon: Lexicon::new(&rows, nothing(other.target_words.len()), nothing(self.source_words.len())),
            forward: Jumps::new(self.source_words.len()),
            reverse: Jumps::new(other.target_words.len()),
            p0: self.p0,
            floor: self.floor,
        }
    }

    /// The likely links as sure ones, those of one direction alone as possible ones.
    pub fn links<S: AsRef<str>, T: AsRef<str>>(&self, source: &[S], target: &[T]) -> Links {
        let found = self.directions_in(&mut PairPosteriors::default(), source, target);
        Links::new(found.likely, found.forward.into_iter().chain(found.reverse).collect())
    }
}

/// For each word of one side the word of the other that it most likely comes from, if that is likelier than none.
fn decode(pair: &PairPosteriors, t_x: usize, t_y: usize) -> Directions {
    let best = |places: usize, none: f32, p: &dyn Fn(usize) -> f32| {
        let greater = |best: (Option<usize>, f32), place| {
            let p = p(place);
            if p > best.1 { (Some(place), p) } else { best }
        };
        (0..places).fold((None, none), greater).0
    };
    let forward = |target: usize| {
        let source = best(t_x, pair.forward.null(target), &|j| pair.forward.posterior(target, j))?;
        Some(Link { source, target })
    };
    let reverse = |source: usize| {
        let target = best(t_y, pair.reverse.null(source), &|i| pair.reverse.posterior(source, i))?;
        Some(Link { source, target })
    };
    let cells = (0..t_y).flat_map(|target| (0..t_x).map(move |source| Link { source, target }));
    Directions {
        forward: (0..t_y).filter_map(forward).collect(),
        reverse: (0..t_x).filter_map(reverse).collect(),
        likely: cells.filter(|link| pair.mean(link.target, link.source) > 0.5).collect(),
    }
}
