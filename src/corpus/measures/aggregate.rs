//! Floor 7: numbers of many sentences as one: corpus BLEU and chrF, means of the other measures.

use crate::analysis::bleu::BleuSettings;
use crate::corpus::measures::scores::{ComparedScores, SystemScores};
use crate::corpus::store::corpus::CorpusTable;

/// An output of a system and its references; `None` where either is missing.
fn pair(corpus: &CorpusTable, system: usize, at: u32) -> Option<(&str, Vec<&str>)> {
    let references = corpus.references_of(at as usize);
    let text = corpus.systems.get(system)?.texts.get(at as usize)?;
    (!references.is_empty()).then_some((text, references))
}

/// The scores of a system over the outputs of some rows; BLEU and chrF2 of those with a reference, none of references
/// that were forced.
pub fn scores(corpus: &CorpusTable, system: usize, rows: &[u32]) -> SystemScores {
    let Some(column) = corpus.systems.get(system) else { return SystemScores::default() };
    let counts =
        |(text, references): (&str, Vec<&str>)| ComparedScores::of(text, &references, &BleuSettings::default());
    let is_compared = |_: &_| !column.system.is_forced();
    let said = rows.iter().filter(|at| column.texts.get(**at as usize).is_some());
    said.map(|&at| SystemScores::of(pair(corpus, system, at).filter(is_compared).map(counts))).sum()
}

/// The mean of a measure of a system, by its place among [`CorpusTable::measures`].
pub fn mean(corpus: &CorpusTable, system: usize, measure: usize, rows: &[u32]) -> Option<f64> {
    let numbers = corpus.systems.get(system)?.numbers.get(measure)?;
    let known = rows.iter().map(|&at| numbers.get(at as usize)).filter(|number| !number.is_nan());
    let (sum, count) = known.fold((0.0, 0_usize), |(sum, count), number| (sum + f64::from(number), count + 1));
    (count > 0).then(|| sum / count as f64)
}
