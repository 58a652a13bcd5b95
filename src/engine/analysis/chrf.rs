//! ChrF2 (Popović 2015) with the numbers of sacreBLEU 2.x (Post 2018): character n-grams up to 6, no word n-grams,
//! beta 2, whitespace removed, effective order instead of smoothing. Imports its room.

use crate::analysis::{mteval::is_space, ngrams::Ngrams};

/// Longest n-grams that count.
pub const MAX_ORDER: usize = 6;

/// beta^2: recall counts so many times as much as precision.
const BETA_SQUARED: f64 = 4.0;

/// What chrF counts for n = 1..6; counts of sentences add up to those of the corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChrfCounts {
    pub hypothesis: [u64; MAX_ORDER],
    /// n-grams of the references, of each sentence the one with the highest chrF.
    pub reference: [u64; MAX_ORDER],
    /// n-grams that both have.
    pub correct: [u64; MAX_ORDER],
}

/// The signature in sacreBLEU's notation; `references` as in [`crate::analysis::bleu::BleuSettings::signature`].
pub fn signature(references: Option<usize>, lowercase: bool) -> String {
    let references = references.map_or_else(|| "var".to_owned(), |count| count.to_string());
    let case = if lowercase { "lc" } else { "mixed" };
    let version = env!("CARGO_PKG_VERSION");
    format!("nrefs:{references}|case:{case}|eff:yes|nc:6|nw:0|space:no|version:interlinear-{version}")
}

impl ChrfCounts {
    /// Counts one sentence against the one of its references that gives the highest chrF, the first of equals.
    pub fn of(hypothesis: &str, references: &[&str], lowercase: bool) -> Self {
        let hypothesis = characters(hypothesis, lowercase);
        let mut best: Option<(Self, f64)> = None;
        for reference in references {
            let counts = Self::between(&hypothesis, &characters(reference, lowercase));
            let score = counts.score();
            if best.is_none_or(|(_, most)| score > most) {
                best = Some((counts, score));
            }
        }
        best.unwrap_or_default().0
    }

    fn between(hypothesis: &Ngrams, reference: &Ngrams) -> Self {
        let mut counts = Self::default();
        for n in 1..=MAX_ORDER {
            counts.reference[n - 1] = reference.total(n);
            if counts.reference[n - 1] > 0 {
                counts.hypothesis[n - 1] = hypothesis.total(n);
                counts.correct[n - 1] = hypothesis.shared(std::slice::from_ref(reference), n);
            }
        }
        counts
    }

    /// chrF2 = 100 (1 + beta^2) P R / (beta^2 P + R), from 0 to 100. P and R are the means over those n for which both
    /// sides have n-grams.
    pub fn score(&self) -> f64 {
        let (mut precision, mut recall, mut orders) = (0.0, 0.0, 0.0);
        for order in 0..MAX_ORDER {
            if self.hypothesis[order] > 0 && self.reference[order] > 0 {
                precision += self.correct[order] as f64 / self.hypothesis[order] as f64;
                recall += self.correct[order] as f64 / self.reference[order] as f64;
                orders += 1.0;
            }
        }
        if precision + recall == 0.0 {
            return 0.0;
        }
        let (precision, recall) = (precision / orders, recall / orders);
        100.0 * ((1.0 + BETA_SQUARED) * precision * recall / (BETA_SQUARED * precision + recall))
    }
}

sums!(ChrfCounts: ; each hypothesis, reference, correct);

fn characters(text: &str, lowercase: bool) -> Ngrams {
    let symbols = |text: &str| text.chars().filter(|c| !is_space(*c)).map(u32::from).collect::<Vec<u32>>();
    let symbols = if lowercase { symbols(&text.to_lowercase()) } else { symbols(text) };
    Ngrams::new(&symbols, MAX_ORDER)
}
