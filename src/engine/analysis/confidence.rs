//! What an alignment says of its translation without any reference: the confidence of Rikters, Fishel and Bojar
//! (2017), and simpler signs. Imports `text` and its room.
//!
//! A is alpha with rows t = 1..T of target tokens and columns s = 1..S of source tokens, `</s>` among them where it has a
//! row or column. ln is natural, 0 ln 0 is 0. A source token that nothing looks at (its column sums to 0) has no
//! distribution over the target: APin is the mean over the others, so that it is not scored as if it were certain, and
//! `unattended` counts it. Likewise T counts the rows that exist: an alignment head has none for the last token, which it
//! never read. Rows of local-p sum to less than 1 and are taken as they are.

use std::collections::HashSet;

use crate::analysis::{alignment::Alignment, divergence::entropy, row_convention::RowConvention};
use crate::text::links::{Link, Links};
use crate::text::{sentence::UNK, words::without_end};

/// A translation as the measures see it. What is not there is empty, and its measures have no value.
#[derive(Clone, Debug, Default)]
pub struct TranslationSigns<'a> {
    /// alpha, \[T, S\], or the rows of an alignment head.
    pub alpha: Alignment,
    /// How links are read off it.
    pub reading: RowConvention,
    /// Source tokens, with `</s>` at the end where alpha has a column for it.
    pub source: &'a [String],
    /// Target tokens, with `</s>` at the end where alpha has a row for it.
    pub target: &'a [String],
    /// Links to compare with, of words from 0: of the statistical aligner, or of annotators.
    pub links: Option<&'a Links>,
}

/// One line of [`CONFIDENCES`].
#[derive(Clone, Copy, Debug)]
pub struct ConfidenceEntry {
    /// What is typed, and the column of a table.
    pub name: &'static str,
    pub label: &'static str,
    pub formula: &'static str,
    /// Its value; `None` where the translation lacks what it needs.
    pub of: fn(&TranslationSigns<'_>) -> Option<f64>,
}

/// Every measure; the published ones first (Rikters et al. 2017).
pub const CONFIDENCES: &[ConfidenceEntry] = &[
    ConfidenceEntry {
        name: "confidence",
        label: id!("Confidence"),
        formula: id!("CDP + APout + APin (Rikters et al. 2017), at most 0"),
        of: |seen| aligned(seen).map(|alpha| cdp(&alpha) + ap_out(&alpha) + ap_in(&alpha)),
    },
    ConfidenceEntry {
        name: "cdp",
        label: id!("Coverage deviation penalty"),
        formula: id!("CDP = -1/S sum_s ln(1 + (1 - sum_t A_ts)^2)"),
        of: |seen| aligned(seen).map(|alpha| cdp(&alpha)),
    },
    ConfidenceEntry {
        name: "ap_out",
        label: id!("Absentmindedness, output"),
        formula: id!("APout = 1/T sum_t sum_s A_ts ln A_ts, over the T rows that exist"),
        of: |seen| aligned(seen).map(|alpha| ap_out(&alpha)),
    },
    ConfidenceEntry {
        name: "ap_in",
        label: id!("Absentmindedness, input"),
        formula: id!(
            "APin = 1/S sum_s sum_t B_ts ln B_ts, B_ts = A_ts / sum_t A_ts; columns of 0 are left out of the mean"
        ),
        of: |seen| aligned(seen).map(|alpha| ap_in(&alpha)),
    },
    ConfidenceEntry {
        name: "entropy",
        label: id!("Entropy (nats)"),
        formula: id!(
            "1/T sum_t H(A_t) in nats, over the T rows that exist: ln 2 = 0.69 looks at two source words alike. Rows of local \
                attention sum to less than 1 and are taken as they are"
        ),
        of: |seen| aligned(seen).and_then(|alpha| mean(alpha.iter().map(|row| f64::from(entropy(row))))),
    },
    ConfidenceEntry {
        name: "monotonicity",
        label: id!("Monotonicity"),
        formula: id!("share of steps from a target word to the next whose most attended source word does not go back"),
        of: |seen| mean(steps(seen).map(|(from, to)| if to >= from { 1.0 } else { 0.0 })),
    },
    ConfidenceEntry {
        name: "jump",
        label: id!("Distance of jumps"),
        formula: id!("mean distance between the most attended source words of neighbouring target words"),
        of: |seen| mean(steps(seen).map(|(from, to)| from.abs_diff(to) as f64)),
    },
    ConfidenceEntry {
        name: "unattended",
        label: id!("Unattended source words"),
        formula: id!("source words with sum_t A_ts below 0.2"),
        of: |seen| aligned(seen).map(|_| unattended(seen, UNATTENDED).len() as f64),
    },
    ConfidenceEntry {
        name: "eos_attention",
        label: id!("Attention on </s>"),
        formula: id!("mean of A_ts over target words, s the source's </s>"),
        of: eos_attention,
    },
    ConfidenceEntry {
        name: "disagreement",
        label: id!("Disagreement with links"),
        formula: id!("1 - share of the argmax links of target words that are among the given links"),
        of: disagreement,
    },
    ConfidenceEntry {
        name: "repetition",
        label: id!("Repetition"),
        formula: id!("1 - different bigrams of the output / bigrams of the output"),
        of: repetition,
    },
    ConfidenceEntry {
        name: "unk",
        label: id!("Unknown words"),
        formula: id!("output tokens that stand for an unknown word"),
        of: |seen| {
            (!seen.target.is_empty()).then(|| seen.target.iter().filter(|token| is_unknown(token)).count() as f64)
        },
    },
    ConfidenceEntry {
        name: "length_ratio",
        label: id!("Length ratio"),
        formula: id!("output words / source words"),
        of: |seen| {
            let (source, target) = (without_end(seen.source), without_end(seen.target));
            (!source.is_empty() && !seen.target.is_empty()).then(|| target.len() as f64 / source.len() as f64)
        },
    },
];

/// A source word is unattended below this sum of weights.
pub const UNATTENDED: f64 = 0.2;

/// The source words that hardly anything looks at: their places.
pub fn unattended(seen: &TranslationSigns<'_>, threshold: f64) -> Vec<usize> {
    let sums = seen.alpha.column_sums();
    (0..source_words(seen)).filter(|s| sums.get(*s).is_some_and(|sum| *sum < threshold)).collect()
}

fn aligned(seen: &TranslationSigns<'_>) -> Option<Alignment> {
    Some(seen.alpha.existing()).filter(|alpha| !alpha.is_empty())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

fn x_ln_x(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

fn cdp(alpha: &Alignment) -> f64 {
    let penalty = |sum: &f64| (1.0 - sum).powi(2).ln_1p();
    -alpha.column_sums().iter().map(penalty).sum::<f64>() / alpha.columns() as f64
}

fn ap_out(alpha: &Alignment) -> f64 {
    let all: f64 = alpha.iter().flatten().map(|a| x_ln_x(f64::from(*a))).sum();
    all / alpha.rows() as f64
}

fn ap_in(alpha: &Alignment) -> f64 {
    mean(alpha.turned().iter().filter_map(certainty)).unwrap_or(0.0)
}

/// sum_k b_k ln b_k with b the values divided by their sum; `None` where that is 0.
fn certainty(values: &[f32]) -> Option<f64> {
    let sum: f64 = values.iter().copied().map(f64::from).sum();
    (sum > 0.0).then(|| values.iter().map(|value| x_ln_x(f64::from(*value) / sum)).sum())
}

fn source_words(seen: &TranslationSigns<'_>) -> usize {
    let known = without_end(seen.source).len();
    if seen.source.is_empty() { seen.alpha.columns() } else { known.min(seen.alpha.columns()) }
}

fn target_words(seen: &TranslationSigns<'_>) -> usize {
    let known = without_end(seen.target).len();
    if seen.target.is_empty() { seen.alpha.rows() } else { known.min(seen.alpha.rows()) }
}

/// For each target word the source word that it looks at most; one that looks at no word, or that a head sends to
/// `</s>`, is left out.
pub fn argmax(seen: &TranslationSigns<'_>) -> Vec<Link> {
    seen.reading.links(&seen.alpha.words(target_words(seen), source_words(seen)))
}

fn steps(seen: &TranslationSigns<'_>) -> impl Iterator<Item = (usize, usize)> {
    let links = argmax(seen);
    let pairs: Vec<(usize, usize)> = links.windows(2).map(|pair| (pair[0].source, pair[1].source)).collect();
    pairs.into_iter()
}

fn eos_attention(seen: &TranslationSigns<'_>) -> Option<f64> {
    let end = without_end(seen.source).len();
    let has_end = end < seen.source.len() && end < seen.alpha.columns();
    let rows = seen.alpha.words(target_words(seen), seen.alpha.columns()).existing();
    if has_end { mean(rows.iter().map(|row| f64::from(row[end]))) } else { None }
}

fn disagreement(seen: &TranslationSigns<'_>) -> Option<f64> {
    let links = seen.links?;
    mean(argmax(seen).into_iter().map(|link| if links.is_possible(link) { 0.0 } else { 1.0 }))
}

fn repetition(seen: &TranslationSigns<'_>) -> Option<f64> {
    let pairs: Vec<&[String]> = without_end(seen.target).windows(2).collect();
    let different: HashSet<&[String]> = pairs.iter().copied().collect();
    (!pairs.is_empty()).then(|| 1.0 - different.len() as f64 / pairs.len() as f64)
}

/// How toolkits write an unknown word.
const UNKNOWNS: &[&str] = &[UNK, "<unk>", "UNK", "<UNK>", "⁇"];

fn is_unknown(token: &str) -> bool {
    UNKNOWNS.contains(&token)
}
