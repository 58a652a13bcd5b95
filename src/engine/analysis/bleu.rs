//! BLEU (Papineni et al. 2002) with the numbers of sacreBLEU 2.x (Post 2018): its tokenizers, corpus level with
//! exponential smoothing, sentence level with effective order besides. Imports its room.

use std::collections::HashMap;

use crate::analysis::mteval::{tokenize, words};
use crate::analysis::ngrams::{MAX_SYMBOL, Ngrams};

pub use crate::analysis::mteval::Tokenization;

/// Longest n-grams that count.
pub const MAX_ORDER: usize = 4;

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BleuSettings {
    pub tokenization: Tokenization,
    pub lowercase: bool,
}

impl BleuSettings {
    /// The signature of corpus-level BLEU in sacreBLEU's notation. `references` is how many each sentence has, `None`
    /// where that varies.
    pub fn signature(&self, references: Option<usize>) -> String {
        let references = references.map_or_else(|| "var".to_owned(), |count| count.to_string());
        let (case, tok) = (if self.lowercase { "lc" } else { "mixed" }, self.tokenization.name());
        let version = env!("CARGO_PKG_VERSION");
        format!("nrefs:{references}|case:{case}|eff:no|tok:{tok}|smooth:exp|version:interlinear-{version}")
    }
}

/// A BLEU score and what it was made of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bleu {
    pub score: f64,
    /// n-gram precisions for n = 1..4, in per cent, smoothed.
    pub precisions: [f64; MAX_ORDER],
    /// Brevity penalty, at most 1.
    pub brevity_penalty: f64,
    pub counts: BleuCounts,
}

/// What BLEU counts; counts of sentences add up to those of the corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BleuCounts {
    /// Tokens of the hypotheses.
    pub hypothesis_tokens: u64,
    /// Tokens of the references, of each sentence the one closest in length.
    pub reference_tokens: u64,
    /// n-grams of the hypotheses that a reference has too.
    pub correct: [u64; MAX_ORDER],
    /// n-grams of the hypotheses.
    pub total: [u64; MAX_ORDER],
}

/// BLEU of a corpus with one reference for each sentence, detokenised text on both sides. Sentences without a partner
/// on the other side do not count.
pub fn corpus<H: AsRef<str>, R: AsRef<str>>(hypotheses: &[H], references: &[R], settings: &BleuSettings) -> Bleu {
    let one = |(hypothesis, reference): (&H, &R)| BleuCounts::of(hypothesis.as_ref(), &[reference.as_ref()], settings);
    hypotheses.iter().zip(references).map(one).sum::<BleuCounts>().bleu()
}

impl BleuCounts {
    /// Counts one sentence against its references.
    pub fn of(hypothesis: &str, references: &[&str], settings: &BleuSettings) -> Self {
        let mut ids = Ids::default();
        let hypothesis = ids.of(hypothesis, *settings);
        let references: Vec<Vec<u32>> = references.iter().map(|text| ids.of(text, *settings)).collect();
        let mut counts = Self {
            hypothesis_tokens: hypothesis.len() as u64,
            reference_tokens: closest(hypothesis.len(), references.iter().map(Vec::len)) as u64,
            ..Self::default()
        };
        let hypothesis = Ngrams::new(&hypothesis, MAX_ORDER);
        let references: Vec<Ngrams> = references.iter().map(|ids| Ngrams::new(ids, MAX_ORDER)).collect();
        for n in 1..=MAX_ORDER {
            counts.total[n - 1] = hypothesis.total(n);
            counts.correct[n - 1] = hypothesis.shared(&references, n);
        }
        counts
    }

    /// BLEU = BP exp(1/4 sum_n log p_n); precisions of 0 are smoothed to 1/(2^k total) for the k-th of them.
    pub fn bleu(&self) -> Bleu {
        let mut bleu = Bleu { brevity_penalty: self.brevity_penalty(), counts: *self, ..Bleu::default() };
        bleu.precisions = self.precisions();
        // A corpus without any 4-gram has a last precision of 0, hence BLEU 0: ln 0 is -inf and exp of that 0.
        bleu.score = bleu.brevity_penalty * geometric_mean(&bleu.precisions);
        bleu
    }

    /// BLEU of a single sentence, from 0 to 100, with effective order: as [`BleuCounts::bleu`], but the mean goes over
    /// those n alone for which the hypothesis has n-grams.
    pub fn sentence(&self) -> f64 {
        let orders = self.total.iter().take_while(|total| **total > 0).count();
        if orders == 0 { 0.0 } else { self.brevity_penalty() * geometric_mean(&self.precisions()[..orders]) }
    }

    fn precisions(&self) -> [f64; MAX_ORDER] {
        let mut precisions = [0.0; MAX_ORDER];
        if self.correct.iter().all(|correct| *correct == 0) {
            return precisions;
        }
        let mut smoothing = 1.0;
        for order in 0..MAX_ORDER {
            if self.total[order] == 0 {
                break;
            }
            let total = self.total[order] as f64;
            precisions[order] = if self.correct[order] == 0 {
                smoothing *= 2.0;
                100.0 / (smoothing * total)
            } else {
                100.0 * self.correct[order] as f64 / total
            };
        }
        precisions
    }

    /// Tokens of the hypotheses for each token of the references; `None` without these.
    pub fn ratio(&self) -> Option<f64> {
        (self.reference_tokens > 0).then(|| self.hypothesis_tokens as f64 / self.reference_tokens as f64)
    }

    /// BP = exp(1 - r/c) where the hypotheses are shorter than the references, else 1.
    pub fn brevity_penalty(&self) -> f64 {
        let (c, r) = (self.hypothesis_tokens as f64, self.reference_tokens as f64);
        if c >= r {
            1.0
        } else if c > 0.0 {
            (1.0 - r / c).exp()
        } else {
            0.0
        }
    }
}

impl Bleu {
    /// What sacreBLEU prints behind the score: `66.7/40.0/25.0/16.7 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len =
    /// 6)`.
    pub fn details(&self) -> String {
        let precisions: Vec<String> = self.precisions.iter().map(|precision| format!("{precision:.1}")).collect();
        let (c, r) = (self.counts.hypothesis_tokens, self.counts.reference_tokens);
        let ratio = self.counts.ratio().unwrap_or_default();
        let penalty = self.brevity_penalty;
        format!("{} (BP = {penalty:.3} ratio = {ratio:.3} hyp_len = {c} ref_len = {r})", precisions.join("/"))
    }
}

sums!(BleuCounts: hypothesis_tokens, reference_tokens; each correct, total);

#[derive(Default)]
struct Ids(HashMap<String, u32>);

impl Ids {
    fn of(&mut self, text: &str, settings: BleuSettings) -> Vec<u32> {
        let text = if settings.lowercase {
            tokenize(&text.to_lowercase(), settings.tokenization)
        } else {
            tokenize(text, settings.tokenization)
        };
        let mut id = |word: &str| {
            if let Some(id) = self.0.get(word) {
                return *id;
            }
            let id = (self.0.len() as u32).min(MAX_SYMBOL);
            self.0.insert(word.to_owned(), id);
            id
        };
        words(&text).map(&mut id).collect()
    }
}

fn geometric_mean(precisions: &[f64]) -> f64 {
    (precisions.iter().map(|precision| precision.ln()).sum::<f64>() / precisions.len() as f64).exp()
}

/// The length closest to `length`, the shorter of two equally close ones.
fn closest(length: usize, lengths: impl Iterator<Item = usize>) -> usize {
    lengths.min_by_key(|other| (other.abs_diff(length), *other)).unwrap_or(0)
}
