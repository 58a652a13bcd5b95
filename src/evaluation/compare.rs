//! Floor 6: whether one model is better than another on the same test set: paired bootstrap (Koehn 2004).

use crate::analysis::bootstrap::{Paired, paired};
use crate::analysis::{bleu, chrf};
use crate::evaluation::{Report, Translation, Unk};

/// Two models, by each figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Which translations.
    pub unk: Unk,
    /// By BLEU.
    pub bleu: Paired,
    /// By chrF2, over the same resamples.
    pub chrf: Paired,
}

/// Compares the models of two reports of the same test set, all sentences, for each kind of translation that both
/// have. The same seed gives the same answer.
pub fn compare(first: &Report, second: &Report, resamples: usize, seed: u64) -> Vec<Comparison> {
    let kinds = first.unk.iter().enumerate();
    let same = kinds.filter_map(|(at, unk)| Some((at, *unk, second.unk.iter().position(|other| other == unk)?)));
    same.filter_map(|(in_first, unk, in_second)| {
        let bleu: fn(&Translation) -> bleu::Counts = |translation| translation.counts;
        let chrf: fn(&Translation) -> chrf::Counts = |translation| translation.chrf;
        let (of, to) = ((first, in_first), (second, in_second));
        Some(Comparison {
            unk,
            bleu: paired(&counts(of, bleu), &counts(to, bleu), resamples, seed)?,
            chrf: paired(&counts(of, chrf), &counts(to, chrf), resamples, seed)?,
        })
    })
    .collect()
}

fn counts<C>((report, at): (&Report, usize), of: fn(&Translation) -> C) -> Vec<C> {
    report.records.iter().filter_map(|record| record.translations.get(at)).map(of).collect()
}
