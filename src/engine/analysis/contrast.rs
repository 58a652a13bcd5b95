//! N-grams that one system gets right more often than another (compare-mt, Neubig et al. 2019, section 3).
//! An n-gram of an output is right as often as the reference has it too. Imports its room and `text`.

pub mod depends;
pub mod figures;
pub mod minimal;
pub mod pairs;

use std::collections::HashMap;

use crate::{analysis::ngrams::Numbering, text::unspaced::runs_of};

pub const LONGEST: usize = 4;
/// What is added to both counts, so that 1 against 0 does not count as much as 100 against 0.
pub const SMOOTHING: f64 = 1.0;

/// How often both systems have n-grams right.
#[derive(Clone, Debug, Default)]
pub struct Contrast {
    words: Numbering,
    /// By the numbers of the words plus 1, 0 behind the last: right in the first, in the second.
    counts: HashMap<[u32; LONGEST], [u32; 2]>,
}

/// An n-gram that one system has right more often.
#[derive(Clone, Debug, PartialEq)]
pub struct Ngram {
    pub words: String,
    pub one: u32,
    pub other: u32,
    /// (one + 1) / (one + other + 2)
    pub ratio: f64,
}

/// The n-grams of a text that is cut, up to [`LONGEST`] words, each with how often it is there.
pub fn counted(text: &str) -> HashMap<Vec<&str>, u32> {
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    let mut counts = HashMap::new();
    for length in 1..=LONGEST {
        for ngram in words.windows(length) {
            *counts.entry(ngram.to_vec()).or_insert(0) += 1;
        }
    }
    counts
}

/// How often a sequence of words stands in a text that is cut, perhaps some of them, too.
pub fn times(text: &str, ngram: &[&str]) -> usize {
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    let behind = |at: usize, word: &&str| Some(at + runs_of(&words[at..], |run| run == *word).next()?);
    let begins = |at: &usize| ngram.iter().try_fold(*at, behind).is_some();
    if ngram.is_empty() { 0 } else { (0..words.len()).filter(begins).count() }
}

impl Contrast {
    /// Counts a sentence: the reference and what both say, cut.
    pub fn add(&mut self, reference: &str, outputs: [&str; 2]) {
        let reference = counted(reference);
        for (system, output) in outputs.iter().enumerate() {
            for (ngram, count) in counted(output) {
                let right = reference.get(&ngram).map_or(0, |most| count.min(*most));
                if right > 0 {
                    let key = self.key(&ngram);
                    self.counts.entry(key).or_default()[system] += right;
                }
            }
        }
    }

    fn key(&mut self, ngram: &[&str]) -> [u32; LONGEST] {
        let mut key = [0; LONGEST];
        for (place, word) in key.iter_mut().zip(ngram) {
            *place = self.words.number(word) + 1;
        }
        key
    }

    /// The n-grams that system 0 or 1 has right more often, those of the greatest ratio first, at most so many.
    pub fn ranked(&self, system: usize, most: usize) -> Vec<Ngram> {
        let (one, other) = if system == 0 { (0, 1) } else { (1, 0) };
        let mut all: Vec<(&[u32; LONGEST], u32, u32)> =
            self.counts.iter().map(|(key, counts)| (key, counts[one], counts[other])).collect();
        all.retain(|(_, one, other)| one > other);
        let ratio = |one: u32, other: u32| (f64::from(one) + SMOOTHING) / (f64::from(one + other) + 2.0 * SMOOTHING);
        let length = |key: &[u32; LONGEST]| key.iter().filter(|number| **number > 0).count();
        let spelled = |key: &[u32; LONGEST]| {
            let numbers = key.iter().filter(|number| **number > 0);
            numbers.map(|number| &*self.words.names[*number as usize - 1]).collect::<Vec<_>>().join(" ")
        };
        // Of equal ones the longer says more; then the alphabet decides, for the map has no order.
        all.sort_by(|(a, a1, a2), (b, b1, b2)| {
            let by_ratio = ratio(*b1, *b2).total_cmp(&ratio(*a1, *a2));
            by_ratio.then(b1.cmp(a1)).then(length(b).cmp(&length(a))).then_with(|| spelled(a).cmp(&spelled(b)))
        });
        all.truncate(most);
        let ngram = |(key, one, other): (&[u32; LONGEST], u32, u32)| Ngram {
            words: spelled(key),
            one,
            other,
            ratio: ratio(one, other),
        };
        all.into_iter().map(ngram).collect()
    }
}
