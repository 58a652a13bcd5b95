//! Floor 7: the score of a system by the marks of people: the weights of its errors for each word of its translation.
//!
//! A translation counts once for each annotator who marked errors in it or said that it has none. What nobody judged has
//! no score: it is not taken for faultless because another system of the same sentence was marked.

use crate::corpus::judgements::judge::Judgement;
use crate::corpus::store::corpus::CorpusTable;

/// The score of a system over some sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Translations that were judged, each once for each annotator.
    pub judgements: usize,
    /// Words of the translations, each once for each annotator.
    pub words: usize,
    pub marks: usize,
    /// Their weights together.
    pub weight: f64,
}

impl Score {
    /// Weighted errors for each word; `None` without words.
    pub fn per_word(&self) -> Option<f64> {
        (self.words > 0).then(|| self.weight / self.words as f64)
    }

    fn add(&mut self, corpus: &CorpusTable, system: &str, words: usize, judgement: &Judgement) {
        self.judgements += 1;
        self.words += words;
        for mark in judgement.marks.iter().filter(|mark| mark.system == system) {
            self.marks += 1;
            self.weight += corpus.scheme.weight(&mark.category, &mark.severity);
        }
    }
}

/// A system by its place over some sentences, by theirs.
pub fn score(corpus: &CorpusTable, system: usize, rows: impl IntoIterator<Item = usize>) -> Score {
    let mut score = Score::default();
    let Some(column) = corpus.systems.get(system) else { return score };
    for at in rows {
        let (Some(by), Some(text)) = (corpus.judgements.get(&at), column.texts.get(at)) else { continue };
        let words = corpus.rules.target.count(text);
        for judgement in by.values().filter(|judgement| judgement.judges(&column.system.name)) {
            score.add(corpus, &column.system.name, words, judgement);
        }
    }
    score
}
