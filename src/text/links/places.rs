//! Floor 1: from a model's own tokens to the words of a gold alignment.
//!
//! A gold file counts the words between its spaces; a model cuts the same sentence its own way (`l' heure` or `l'heure`,
//! `well-known` in two). Both are places in the same run of visible characters, so they are compared by the
//! characters that they cover, whitespace not counted. The convention: a token stands for every word of which it
//! covers a character, and two words are linked when any token of the one is linked to any token of the other.

use std::ops::Range;

use crate::text::links::Link;
use crate::text::sentence::Sentence;

/// The words of a line as alignment files count them: what stands between spaces and tabs. No-break spaces do not
/// part words.
pub fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split_ascii_whitespace()
}

/// For each token of `sentence` the words of `line` that it covers, as a range; empty for `</s>`. `None` when
/// the two are not the same text, spaces aside.
pub fn places(sentence: &Sentence, line: &str) -> Option<Vec<Range<usize>>> {
    if !visible(&sentence.text).eq(visible(line)) {
        return None;
    }
    // Ends of the words, counted in visible characters.
    let mut end = 0;
    let mut ends = Vec::new();
    for word in words(line) {
        end += visible(word).count();
        ends.push(end);
    }
    let counted = counts(&sentence.text);
    let count = |byte: usize| counted.get(byte).copied().unwrap_or(end);
    Some(sentence.spans.iter().map(|span| covered(&ends, count(span.start), count(span.end))).collect())
}

/// Links between tokens as links between words, sorted, each once; `source` and `target` are what [`places`] gave.
pub fn to_words(links: &[Link], source: &[Range<usize>], target: &[Range<usize>]) -> Vec<Link> {
    let mut found = Vec::new();
    for link in links {
        let (Some(sources), Some(targets)) = (source.get(link.source), target.get(link.target)) else { continue };
        for source in sources.clone() {
            found.extend(targets.clone().map(|target| Link { source, target }));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn visible(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|c| !c.is_whitespace())
}

/// For each byte of the text, and its end, how many visible characters start before it.
fn counts(text: &str) -> Vec<usize> {
    let mut counts = Vec::with_capacity(text.len() + 1);
    let mut so_far = 0;
    for c in text.chars() {
        counts.push(so_far);
        so_far += usize::from(!c.is_whitespace());
        counts.extend(std::iter::repeat_n(so_far, c.len_utf8() - 1));
    }
    counts.push(so_far);
    counts
}

/// The words with a character among `from..to`, where word w covers the characters from `ends[w - 1]` to `ends[w]`.
fn covered(ends: &[usize], from: usize, to: usize) -> Range<usize> {
    let first = ends.partition_point(|end| *end <= from);
    if from >= to {
        return first..first;
    }
    let last = ends.partition_point(|end| *end < to);
    first..(last + 1).min(ends.len())
}
