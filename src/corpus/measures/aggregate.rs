//! Floor 7: numbers of many sentences as one: corpus BLEU and chrF, means of the other measures.

use crate::analysis::bleu::{BleuCounts, BleuSettings};
use crate::analysis::bootstrap::{MeanCounts, Paired};
use crate::corpus::measures::scores::{ComparedScores, PairedTests, SystemScores};
use crate::corpus::query::column::TableColumn;
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

/// The numbers of two systems of the rows where both have one.
pub fn paired_numbers(
    corpus: &CorpusTable,
    (first, second): (TableColumn, TableColumn),
    rows: &[u32],
) -> (Vec<MeanCounts>, Vec<MeanCounts>) {
    let score = |column: TableColumn, at: u32| MeanCounts::of(column.value(corpus, at as usize));
    rows.iter().filter_map(|&at| Some((score(first, at)?, score(second, at)?))).unzip()
}

/// Whether one system is better than another by BLEU, over the rows where both say something and there is a reference.
/// `None` where a reference that was forced is one of them: it translates nothing.
pub fn compare(corpus: &CorpusTable, first: usize, second: usize, rows: &[u32]) -> Option<Paired> {
    if [first, second].iter().any(|at| corpus.systems.get(*at).is_none_or(|column| column.system.is_forced())) {
        return None;
    }
    let counts = |(text, references): (&str, Vec<&str>)| BleuCounts::of(text, &references, &BleuSettings::default());
    let both = |&at: &u32| Some((pair(corpus, first, at)?, pair(corpus, second, at)?));
    // Resamples are drawn by place: the same sentences give the same p, however they are sorted.
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    let both = rows.iter().filter_map(both).map(|(one, other)| (counts(one), counts(other)));
    let (first, second): (Vec<_>, Vec<_>) = both.unzip();
    PairedTests::default().compare(&first, &second)
}
