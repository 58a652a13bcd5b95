//! The scores of a system by the marks of people, or of a metric: the weights of its errors for each word of its
//! translation, and for each segment, as the WMT has it (MQM, Freitag et al. 2021).
//!
//! A translation counts once for each annotator who marked errors in it or said that it has none. What nobody judged
//! has no score: it is not taken for faultless because another system of the same sentence was marked.

use crate::judgements::judge::{Judgement, Judges};
use crate::store::corpus::CorpusTable;
use engine::analysis::bootstrap::{Interval, resampled_mean};

/// Where the random numbers of the interval of a mean begin.
pub const SEED: u64 = 12345;
pub const RESAMPLES: usize = 1000;

/// The score of a system over some sentences.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// Translations that were judged, each once for each annotator.
    pub judgements: usize,
    /// Words of the translations, each once for each annotator.
    pub words: usize,
    pub marks: usize,
    pub weight: f64,
    /// Of each sentence that was judged the mean of the weights that its annotators gave.
    pub segments: Vec<f64>,
}

impl Score {
    /// Weighted errors for each word; `None` without words.
    pub fn per_word(&self) -> Option<f64> {
        (self.words > 0).then(|| self.weight / self.words as f64)
    }

    /// MQM score: the mean over segments, less is better, with the 95 % interval of resamples; mt-metrics-eval negates it.
    pub fn mqm(&self) -> Option<Interval> {
        resampled_mean(&self.segments, RESAMPLES, SEED)
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
pub fn score(corpus: &CorpusTable, system: usize, rows: impl IntoIterator<Item = usize>, judges: Judges) -> Score {
    let mut score = Score::default();
    let Some(column) = corpus.systems.get(system) else { return score };
    let name = &column.system.name;
    for at in rows {
        let Some(by) = corpus.judgements.get(&at) else { continue };
        let mut said = judges.said(by).filter(|(_, judgement)| judgement.judges(name)).peekable();
        let Some(text) = said.peek().and_then(|_| column.texts.get(at)) else { continue };
        let (words, before, weight) = (corpus.rules.target.count(text), score.judgements, score.weight);
        said.for_each(|(_, judgement)| score.add(corpus, name, words, judgement));
        score.segments.push((score.weight - weight) / (score.judgements - before) as f64);
    }
    score
}
