//! Floor 5: pure functions of alignments and texts: what is read off a matrix, and how good a translation is;
//! and of vectors: what lies near each other. Imports `text`, `decoding::trace` and the kernels of `nn::fused`;
//! no candle, no files.
//!
//! [`METRICS`] names every figure that is computed for a translated corpus.

/// Counts that have `add` can be summed, borrowed or not.
macro_rules! sums_by_add {
    ($counts:ty) => {
        impl std::iter::Sum for $counts {
            fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
                counts.fold(Self::default(), |mut sum, counts| {
                    sum.add(&counts);
                    sum
                })
            }
        }

        impl<'a> std::iter::Sum<&'a Self> for $counts {
            fn sum<I: Iterator<Item = &'a Self>>(counts: I) -> Self {
                counts.copied().sum()
            }
        }
    };
}

pub mod aer;
pub mod alignment;
pub mod bleu;
pub mod bootstrap;
pub mod buckets;
pub mod chrf;
pub mod coverage;
pub mod entropy;
pub mod extract;
pub mod hard;
pub mod map;
pub mod mteval;
pub mod neighbours;
pub mod ngrams;
pub mod pca;
pub mod phrases;
pub mod pooled;
pub mod reading;
pub mod symmetrize;
pub mod tsne;
pub mod unknown;
pub mod words;

use crate::analysis::alignment::Alignment;
use crate::text::links::Links;

/// A translated corpus, as far as it is known: sentence by sentence in the same order, or an empty slice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome<'a> {
    /// The translations as normal text.
    pub hypotheses: &'a [&'a str],
    /// The references as normal text.
    pub references: &'a [&'a str],
    /// The alignments, target words x source words; empty for models that have none.
    pub alignments: &'a [Alignment<'a>],
    /// The links that annotators drew between the same words.
    pub gold: &'a [Links],
}

/// A figure of a corpus.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its short name.
    pub name: &'static str,
    /// What it says, in a sentence.
    pub about: &'static str,
    /// Whether more is better; `None` where neither is.
    pub higher_is_better: Option<bool>,
    /// Computes it; `None` where the outcome lacks what it needs.
    pub measure: fn(&Outcome<'_>) -> Option<f64>,
}

/// All figures. A new one is one line here.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "bleu",
        about: "BLEU from 0 to 100, as sacreBLEU computes it with its 13a tokenizer.",
        higher_is_better: Some(true),
        measure: |outcome| has_texts(outcome).then(|| bleu::corpus(outcome.hypotheses, outcome.references).score),
    },
    Metric {
        name: "chrf2",
        about: "chrF2 from 0 to 100, as sacreBLEU computes it.",
        higher_is_better: Some(true),
        measure: |outcome| has_texts(outcome).then(|| chrf::corpus(outcome.hypotheses, outcome.references)),
    },
    Metric {
        name: "aer",
        about: "Alignment error rate from 0 to 1, one source word of greatest alpha for each target word.",
        higher_is_better: Some(false),
        measure: |outcome| link_rates(outcome)?.aer,
    },
    Metric {
        name: "precision",
        about: "Share of the links found that annotators hold possible.",
        higher_is_better: Some(true),
        measure: |outcome| link_rates(outcome)?.precision,
    },
    Metric {
        name: "recall",
        about: "Share of the links that annotators are sure of which were found.",
        higher_is_better: Some(true),
        measure: |outcome| link_rates(outcome)?.recall,
    },
    Metric {
        name: "entropy",
        about: "Mean entropy of the alignment of a target word, in bits; 0 where each looks at a single source word.",
        higher_is_better: None,
        measure: |outcome| mean(outcome.alignments.iter().flat_map(|alignment| entropy::entropies(alignment))),
    },
    Metric {
        name: "uncovered",
        about: "Share of the source words that receive less than half a target word of attention in all.",
        higher_is_better: Some(false),
        measure: |outcome| mean(outcome.alignments.iter().flat_map(uncovered_words)),
    },
];

/// The metric of a name.
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

/// Whether every hypothesis has its reference.
fn has_texts(outcome: &Outcome<'_>) -> bool {
    !outcome.hypotheses.is_empty() && outcome.hypotheses.len() == outcome.references.len()
}

/// The rates of the hard alignment against the annotators'; `None` where either is missing.
fn link_rates(outcome: &Outcome<'_>) -> Option<aer::Rates> {
    let both = !outcome.gold.is_empty() && outcome.gold.len() == outcome.alignments.len();
    let pairs = outcome.alignments.iter().zip(outcome.gold);
    let counts = |(alignment, gold): (&Alignment<'_>, &Links)| aer::Counts::of(&hard::links(alignment), gold);
    both.then(|| pairs.map(counts).sum::<aer::Counts>().rates())
}

/// 1 for each source word that is left uncovered, else 0.
fn uncovered_words(alignment: &Alignment<'_>) -> Vec<f32> {
    coverage::coverage(alignment).iter().map(|sum| f32::from(u8::from(*sum < 0.5))).collect()
}

/// The mean; `None` of nothing.
fn mean(values: impl Iterator<Item = f32>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + f64::from(value), count + 1));
    (count > 0).then(|| sum / count as f64)
}
