//! Floor 5: BLEU (Papineni et al. 2002) with the numbers of sacreBLEU (Post 2018): corpus level, mixed case,
//! exponential smoothing, its tokenizer 13a (that of mteval-v13a) or none. Imports nothing.

use std::collections::HashMap;

/// Longest n-grams that count.
pub const MAX_ORDER: usize = 4;

/// How [`corpus`] computes, in sacreBLEU's notation.
pub const SIGNATURE: &str =
    concat!("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:interlinear-", env!("CARGO_PKG_VERSION"));

/// How text is cut into tokens before n-grams are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tokenization {
    /// As mteval-v13a: for detokenised text.
    #[default]
    Mteval13a,
    /// At whitespace alone: for text that is tokenised already.
    None,
}

/// The signature of other settings, in sacreBLEU's notation.
#[must_use]
pub fn signature(references: usize, tokenization: Tokenization) -> String {
    let tokenizer = match tokenization {
        Tokenization::Mteval13a => "tok:13a",
        Tokenization::None => "tok:none",
    };
    SIGNATURE.replace("nrefs:1", &format!("nrefs:{references}")).replace("tok:13a", tokenizer)
}

/// A BLEU score and what it was made of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bleu {
    /// BLEU, from 0 to 100.
    pub score: f64,
    /// n-gram precisions for n = 1..4, in per cent, smoothed.
    pub precisions: [f64; MAX_ORDER],
    /// Brevity penalty, at most 1.
    pub brevity_penalty: f64,
    /// What was counted.
    pub counts: Counts,
}

/// What BLEU counts; counts of sentences add up to those of the corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tokens of the hypotheses.
    pub hypothesis_tokens: u64,
    /// Tokens of the references, of each sentence the one closest in length.
    pub reference_tokens: u64,
    /// n-grams of the hypotheses that a reference has too.
    pub correct: [u64; MAX_ORDER],
    /// n-grams of the hypotheses.
    pub total: [u64; MAX_ORDER],
}

/// BLEU of a corpus with one reference for each sentence, detokenised text on both sides.
/// Sentences without a partner on the other side do not count.
#[must_use]
pub fn corpus<H: AsRef<str>, R: AsRef<str>>(hypotheses: &[H], references: &[R]) -> Bleu {
    let mut counts = Counts::default();
    for (hypothesis, reference) in hypotheses.iter().zip(references) {
        counts.add(&Counts::of(hypothesis.as_ref(), &[reference.as_ref()], Tokenization::Mteval13a));
    }
    counts.bleu()
}

impl Counts {
    /// Counts one sentence against its references.
    #[must_use]
    pub fn of(hypothesis: &str, references: &[&str], tokenization: Tokenization) -> Self {
        let hypothesis = tokenize(hypothesis, tokenization);
        let hypothesis = words(&hypothesis);
        let references: Vec<String> = references.iter().map(|text| tokenize(text, tokenization)).collect();
        let references: Vec<Vec<&str>> = references.iter().map(|text| words(text)).collect();
        let most = most_in_any(&references);
        let mut counts = Self {
            hypothesis_tokens: hypothesis.len() as u64,
            reference_tokens: closest(hypothesis.len(), references.iter().map(Vec::len)) as u64,
            ..Self::default()
        };
        for (ngram, count) in ngrams(&hypothesis) {
            let order = ngram.len() - 1;
            counts.total[order] += count;
            counts.correct[order] += count.min(most.get(ngram).copied().unwrap_or(0));
        }
        counts
    }

    /// Adds the counts of other sentences.
    pub fn add(&mut self, other: &Self) {
        self.hypothesis_tokens += other.hypothesis_tokens;
        self.reference_tokens += other.reference_tokens;
        for order in 0..MAX_ORDER {
            self.correct[order] += other.correct[order];
            self.total[order] += other.total[order];
        }
    }

    /// BLEU = BP exp(1/4 sum_n log p_n); precisions of 0 are smoothed to 1/(2^k total) for the k-th of them.
    #[must_use]
    pub fn bleu(&self) -> Bleu {
        let mut bleu = Bleu { brevity_penalty: self.brevity_penalty(), counts: *self, ..Bleu::default() };
        if self.correct.iter().all(|correct| *correct == 0) {
            return bleu;
        }
        let mut smoothing = 1.0;
        for order in 0..MAX_ORDER {
            if self.total[order] == 0 {
                break;
            }
            let total = self.total[order] as f64;
            bleu.precisions[order] = if self.correct[order] == 0 {
                smoothing *= 2.0;
                100.0 / (smoothing * total)
            } else {
                100.0 * self.correct[order] as f64 / total
            };
        }
        // A corpus without any 4-gram has a last precision of 0, hence BLEU 0: ln 0 is -inf and exp of that 0.
        let mean = bleu.precisions.iter().map(|precision| precision.ln()).sum::<f64>() / MAX_ORDER as f64;
        bleu.score = bleu.brevity_penalty * mean.exp();
        bleu
    }

    /// BP = exp(1 - r/c) where the hypotheses are shorter than the references, else 1.
    fn brevity_penalty(&self) -> f64 {
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

type Ngrams<'a, 't> = HashMap<&'a [&'t str], u64>;

/// How often each n-gram occurs, n = 1..4.
fn ngrams<'a, 't>(tokens: &'a [&'t str]) -> Ngrams<'a, 't> {
    let mut counts = HashMap::new();
    for ngram in (1..=MAX_ORDER).flat_map(|order| tokens.windows(order)) {
        *counts.entry(ngram).or_insert(0) += 1;
    }
    counts
}

/// For each n-gram the greatest count in any reference.
fn most_in_any<'a, 't>(references: &'a [Vec<&'t str>]) -> Ngrams<'a, 't> {
    let mut most = HashMap::new();
    for (ngram, count) in references.iter().flat_map(|reference| ngrams(reference)) {
        let so_far = most.entry(ngram).or_insert(0);
        *so_far = count.max(*so_far);
    }
    most
}

/// The length closest to `length`, the shorter of two equally close ones.
fn closest(length: usize, lengths: impl Iterator<Item = usize>) -> usize {
    lengths.min_by_key(|other| (other.abs_diff(length), *other)).unwrap_or(0)
}

/// Python's whitespace, by which sacreBLEU splits: four more control characters than Rust's.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

fn words(text: &str) -> Vec<&str> {
    text.split(is_space).filter(|word| !word.is_empty()).collect()
}

/// `text` with spaces between its tokens.
#[must_use]
pub fn tokenize(text: &str, tokenization: Tokenization) -> String {
    let text = text.trim_end_matches(is_space);
    match tokenization {
        Tokenization::None => text.to_owned(),
        Tokenization::Mteval13a => words(&mteval_13a(text)).join(" "),
    }
}

/// The rules of mteval-v13a in their order, on one line.
fn mteval_13a(text: &str) -> String {
    let mut text = text.replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    for (entity, mark) in [("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] {
        if text.contains(entity) {
            text = text.replace(entity, mark);
        }
    }
    let line: Vec<char> = std::iter::once(' ').chain(text.chars()).chain(std::iter::once(' ')).collect();
    // Marks apart, but not ' , - .
    let line: Vec<char> = line.into_iter().flat_map(|c| if is_mark(c) { vec![' ', c, ' '] } else { vec![c] }).collect();
    // Full stops and commas apart unless a digit comes before, or after; hyphens behind a digit apart.
    let is_stop = |c: char| c == '.' || c == ',';
    let line = pairs(&line, |a, b| !a.is_ascii_digit() && is_stop(b), |a, b| [a, ' ', b, ' ']);
    let line = pairs(&line, |a, b| is_stop(a) && !b.is_ascii_digit(), |a, b| [' ', a, ' ', b]);
    let line = pairs(&line, |a, b| a.is_ascii_digit() && b == '-', |a, b| [a, ' ', b, ' ']);
    line.into_iter().collect()
}

/// `[\{-\~\[-\` -\&\(-\+\:-\@\/]` of mteval-v13a.
fn is_mark(c: char) -> bool {
    matches!(c, '{'..='~' | '['..='`' | ' '..='&' | '('..='+' | ':'..='@' | '/')
}

/// Replaces pairs of characters from left to right; a replaced pair is not looked at again, as in a regular expression.
fn pairs(line: &[char], matches: impl Fn(char, char) -> bool, replace: impl Fn(char, char) -> [char; 4]) -> Vec<char> {
    let mut replaced = Vec::with_capacity(line.len() + 16);
    let mut i = 0;
    while let Some(&a) = line.get(i) {
        match line.get(i + 1) {
            Some(&b) if matches(a, b) => {
                replaced.extend(replace(a, b));
                i += 2;
            }
            _ => {
                replaced.push(a);
                i += 1;
            }
        }
    }
    replaced
}
