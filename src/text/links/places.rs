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
/// part words. In a line without spaces that is written in Chinese characters or kana, each of these is a word.
pub fn words(line: &str) -> impl Iterator<Item = &str> {
    let line_alone = line.trim_ascii();
    let is_whole = !line_alone.bytes().any(|byte| byte.is_ascii_whitespace());
    let by_letter = is_whole && line_alone.chars().any(stands_alone);
    line.split_ascii_whitespace().flat_map(move |word| Letters { rest: word, by_letter })
}

/// A word, or its letters where each stands for a word.
struct Letters<'a> {
    rest: &'a str,
    by_letter: bool,
}

impl<'a> Iterator for Letters<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let first = self.rest.chars().next()?;
        let is_end = |c: char| if stands_alone(first) { !is_mark(c) } else { stands_alone(c) };
        let mut behind = self.rest.char_indices().skip(1);
        let end = behind.find(|(_, c)| self.by_letter && is_end(*c)).map_or(self.rest.len(), |(at, _)| at);
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(word)
    }
}

/// Chinese characters, kana and their punctuation: scripts that set no spaces between words.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{20000}'..='\u{3ffff}')
}

/// Marks that belong to the letter before: voiced sounds, long vowels, variants.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{3099}'..='\u{309c}' | '\u{30fc}' | '\u{fe00}'..='\u{fe0f}')
}

/// For each token of `sentence` the words of `line` that it covers, as a range; empty for `</s>`. `None` when
/// the two are not the same text, spaces aside.
pub fn places(sentence: &Sentence, line: &str) -> Option<Vec<Range<usize>>> {
    if !visible(&sentence.text).eq(visible(line)) {
        return None;
    }
    let ends = ends(line);
    let end = ends.last().copied().unwrap_or(0);
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

/// Where the words of a line end, counted in visible characters.
pub fn ends(line: &str) -> Vec<usize> {
    let add = |end: &mut usize, word: &str| {
        *end += visible(word).count();
        Some(*end)
    };
    words(line).scan(0, add).collect()
}

/// The characters of a text that are no spaces.
pub fn visible(text: &str) -> impl Iterator<Item = char> + '_ {
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
pub fn covered(ends: &[usize], from: usize, to: usize) -> Range<usize> {
    let first = ends.partition_point(|end| *end <= from);
    if from >= to {
        return first..first;
    }
    let last = ends.partition_point(|end| *end < to);
    first..(last + 1).min(ends.len())
}
