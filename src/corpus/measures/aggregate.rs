//! Floor 7: numbers of many sentences as one: corpus BLEU and chrF, means of the other measures.

use crate::analysis::bleu::{BleuCounts, BleuSettings};
use crate::analysis::bootstrap::{Paired, paired};
use crate::corpus::measures::scores::{ComparedScores, RESAMPLES, ScoreSums};
use crate::corpus::measures::table::MEASURES;
use crate::corpus::store::corpus::CorpusTable;

/// A system over some sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// Sentences with an output.
    pub sentences: usize,
    /// Corpus BLEU of those with a reference.
    pub bleu: Option<f64>,
    /// Corpus chrF2 of those with a reference.
    pub chrf: Option<f64>,
    /// The mean of each measure, in the order of [`MEASURES`].
    pub means: Vec<Option<f64>>,
}

/// One system over the sentences of some rows.
pub fn aggregate(corpus: &CorpusTable, system: usize, rows: &[u32]) -> Aggregate {
    let mut sums = ScoreSums::default();
    for (hypothesis, reference) in pairs(corpus, system, rows) {
        let counts = reference.map(|reference| ComparedScores::of(hypothesis, &[reference], &BleuSettings::default()));
        sums.add(&counts.map_or(ScoreSums { sentences: 1, ..ScoreSums::default() }, ScoreSums::compared));
    }
    let scores = sums.scores();
    Aggregate {
        sentences: scores.sentences,
        bleu: scores.bleu,
        chrf: scores.chrf,
        means: (0..MEASURES.len()).map(|measure| mean(corpus, system, measure, rows)).collect(),
    }
}

/// Outputs and references of some rows.
fn pairs<'a>(
    corpus: &'a CorpusTable,
    system: usize,
    rows: &'a [u32],
) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
    let column = corpus.systems.get(system);
    rows.iter().filter_map(move |&at| Some((column?.texts.get(at as usize)?, corpus.references.get(at as usize))))
}

fn mean(corpus: &CorpusTable, system: usize, measure: usize, rows: &[u32]) -> Option<f64> {
    let numbers = corpus.systems.get(system)?.numbers.get(measure)?;
    let (mut sum, mut count) = (0.0, 0_usize);
    for &at in rows {
        let number = numbers.get(at as usize);
        if !number.is_nan() {
            sum += f64::from(number);
            count += 1;
        }
    }
    (count > 0).then(|| sum / count as f64)
}

/// Whether one system is better than another by BLEU, over the rows where both say something and there is a reference
/// (paired bootstrap, Koehn 2004).
pub fn compare(corpus: &CorpusTable, first: usize, second: usize, rows: &[u32]) -> Option<Paired> {
    let (a, b) = (corpus.systems.get(first)?, corpus.systems.get(second)?);
    let (mut of_first, mut of_second) = (Vec::new(), Vec::new());
    for &at in rows {
        let at = at as usize;
        let (Some(one), Some(other), Some(reference)) = (a.texts.get(at), b.texts.get(at), corpus.references.get(at))
        else {
            continue;
        };
        of_first.push(BleuCounts::of(one, &[reference], &BleuSettings::default()));
        of_second.push(BleuCounts::of(other, &[reference], &BleuSettings::default()));
    }
    if of_first.is_empty() { None } else { paired(&of_first, &of_second, RESAMPLES.0, RESAMPLES.1) }
}
