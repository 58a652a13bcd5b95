//! Parallel text as ids, in memory: four bytes a word.

use crate::aligner::vocabulary::{AlignerVocabulary, AlignerWordCounter};

/// The sentences of one side, one after the other.
#[derive(Clone, Debug, Default)]
pub struct AlignerSentences {
    ids: Vec<u32>,
    ends: Vec<usize>,
}

impl AlignerSentences {
    pub fn get(&self, s: usize) -> &[u32] {
        let start = if s == 0 { 0 } else { self.ends[s - 1] };
        &self.ids[start..self.ends[s]]
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn push(&mut self, ids: impl Iterator<Item = u32>) {
        self.ids.extend(ids);
        self.ends.push(self.ids.len());
    }
}

/// A parallel text to learn from.
#[derive(Clone, Debug, Default)]
pub struct AlignerText {
    pub source_words: AlignerVocabulary,
    pub target_words: AlignerVocabulary,
    pub source: AlignerSentences,
    pub target: AlignerSentences,
}

/// A parallel text while it is read.
#[derive(Debug, Default)]
pub struct CorpusBuilder {
    source: AlignerSide,
    target: AlignerSide,
    /// Pairs with an empty or a very long side.
    pub left_out: usize,
}

#[derive(Debug, Default)]
struct AlignerSide {
    words: AlignerWordCounter,
    sentences: AlignerSentences,
}

impl AlignerSide {
    fn push<S: AsRef<str>>(&mut self, sentence: &[S]) {
        self.sentences.push(sentence.iter().map(|word| self.words.add(word.as_ref())));
    }

    fn finish(mut self, rare: u32) -> (AlignerVocabulary, AlignerSentences) {
        let (words, places) = self.words.finish(rare);
        self.sentences.ids.iter_mut().for_each(|id| *id = places[*id as usize]);
        (words, self.sentences)
    }
}

/// Longest sentence that is learned from, in words: the time goes with the square of the length.
pub const MOST_WORDS: usize = 200;

/// Words that occur less often share entries by their first letters, unless something else is asked for.
pub const RARE: u32 = 8;

impl CorpusBuilder {
    /// Adds a pair. A pair with an empty or a very long side teaches nothing and is counted as left out.
    pub fn push<S: AsRef<str>>(&mut self, source: &[S], target: &[S]) {
        let fits = |words: &[S]| (1..=MOST_WORDS).contains(&words.len());
        if !fits(source) || !fits(target) {
            self.left_out += 1;
            return;
        }
        self.source.push(source);
        self.target.push(target);
    }

    pub fn len(&self) -> usize {
        self.source.sentences.len()
    }

    pub fn is_empty(&self) -> bool {
        self.source.sentences.is_empty()
    }

    /// The corpus, where words that occur less than `rare` times share entries by their first letters.
    pub fn finish(self, rare: u32) -> AlignerText {
        let ((source_words, source), (target_words, target)) = (self.source.finish(rare), self.target.finish(rare));
        AlignerText { source_words, target_words, source, target }
    }
}
