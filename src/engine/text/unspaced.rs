//! Words of scripts that set no spaces between them: Chinese and Japanese by a dictionary, Thai, Lao, Khmer and
//! Burmese by small recurrent networks, both of `icu_segmenter`. Imports nothing of ours.
//!
//! A line that somebody has cut already keeps the words between its spaces. A browser has neither dictionary nor networks,
//! which would add two fifths to what it fetches: there each Chinese character or kana is a word, and the other scripts
//! are cut at spaces.

#[cfg(not(target_family = "wasm"))]
use std::sync::LazyLock;

#[cfg(not(target_family = "wasm"))]
use icu_segmenter::options::WordBreakInvariantOptions;
#[cfg(not(target_family = "wasm"))]
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};
use unicode_normalization::char::is_combining_mark;

/// The most words that [`runs_of`] puts together, less one.
pub(crate) const LONGEST_RUN: usize = 15;

/// The words of a line: what stands between spaces and tabs, or what is found in scripts without spaces. No-break
/// spaces do not part words.
pub fn words(line: &str) -> impl Iterator<Item = &str> {
    let found = cut(line);
    let spaced = found.is_none().then(|| line.split_ascii_whitespace());
    spaced.into_iter().flatten().chain(found.into_iter().flatten())
}

/// The words of a line in such a script, or `None` where they stand between its spaces. They are pieces of the line in
/// its order; between them is nothing but whitespace.
pub fn cut(line: &str) -> Option<Vec<&str>> {
    // no letter of these scripts is shorter than three bytes, or among the dashes and signs before U+2E80
    let is_of_them = |bytes: &[u8]| bytes[0] >= 0xe0 && (bytes[0] != 0xe2 || bytes[1] >= 0xba);
    if !line.as_bytes().windows(2).any(is_of_them) || !is_written_so(line.trim_ascii()) {
        return None;
    }
    let (mut words, mut chunks) = (Vec::new(), Chunks::default());
    let all: Vec<&str> = line.split_ascii_whitespace().collect();
    // numbers are set apart in lines that nobody has cut, too: `2023 年 5 月`
    let is_number = |at: usize| all.get(at).is_some_and(|chunk| chunk.bytes().all(|byte| byte.is_ascii_digit()));
    for (at, chunk) in all.iter().enumerate() {
        let first = words.len();
        cut_chunk(chunk, &mut words);
        if !is_number(at + 1) && !at.checked_sub(1).is_some_and(is_number) {
            chunks.count(chunk, &words[first..]);
        }
    }
    let is_cut = touch(line).is_some_and(|is_thai| chunks.are_words(is_thai));
    (!is_cut).then_some(words)
}

/// Whether no space stands between two words, since the script of one sets none; nothing meets nothing.
pub fn meet(before: &str, behind: &str) -> bool {
    before.chars().next_back().zip(behind.chars().next()).is_some_and(|(left, right)| {
        is_han_or_kana(left) || is_han_or_kana(right) || is_south_east_asian(left) && is_south_east_asian(right)
    })
}

/// Whether two words may be one as it is typed: [`meet`], or one of them has a sign where the rules of a language cut,
/// as `don` and `'t`, `l'` and `homme`.
pub fn may_join(before: &str, behind: &str) -> bool {
    let has_sign = |word: &str| word.contains(|c: char| !c.is_alphanumeric());
    meet(before, behind) || has_sign(behind) || has_sign(before)
}

pub fn runs_of<T: AsRef<str>>(words: &[T], is: impl Fn(&str) -> bool) -> impl Iterator<Item = usize> {
    let meeting = words.windows(2).take(LONGEST_RUN).take_while(|pair| may_join(pair[0].as_ref(), pair[1].as_ref()));
    let most = words.len().min(1 + meeting.count());
    let mut run = String::new();
    (1..=most).filter(move |count| {
        if *count == 1 {
            return is(words[0].as_ref());
        }
        if run.is_empty() {
            run.push_str(words[0].as_ref());
        }
        run.push_str(words[count - 1].as_ref());
        is(&run)
    })
}

pub fn is_unspaced(c: char) -> bool {
    is_han_or_kana(c) || is_south_east_asian(c)
}

fn is_han_or_kana(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{2fdf}' | '\u{3001}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}'
        | '\u{ff61}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

fn is_south_east_asian(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

/// What belongs to the letter before: combining marks, voiced sounds, long vowels, and characters without width.
fn is_mark(c: char) -> bool {
    is_combining_mark(c)
        || matches!(c, '\u{309b}' | '\u{309c}' | '\u{30fc}' | '\u{ff70}' | '\u{ff9e}' | '\u{ff9f}' | '\u{ad}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Whether a line is in such a script, and not in another with a word or name of it. One letter of these stands for
/// some three of others.
fn is_written_so(line: &str) -> bool {
    let own = line.chars().filter(|c| is_unspaced(*c)).count();
    let is_whole = !line.bytes().any(|byte| byte.is_ascii_whitespace());
    let others = || line.chars().filter(|c| c.is_alphabetic() && !is_unspaced(*c)).count();
    own > 0 && (is_whole || 3 * own >= others())
}

#[derive(Default)]
struct Chunks {
    all: usize,
    /// Those that are one word by the dictionary, without punctuation beside it.
    single: usize,
    letters: usize,
}

impl Chunks {
    fn count(&mut self, chunk: &str, words: &[&str]) {
        let is_letter = |c: char| is_unspaced(c) && c.is_alphanumeric();
        let written = words.iter().filter(|word| word.chars().any(is_letter)).count();
        // who cuts words parts them from punctuation, too
        let is_sign = |c: char| {
            !c.is_alphanumeric()
                && !is_mark(c)
                && (is_unspaced(c) || matches!(c, '.' | ',' | '!' | '?' | ';' | ':' | '(' | ')'))
        };
        let has_sign = chunk.starts_with(is_sign) || chunk.ends_with(is_sign);
        self.all += usize::from(written > 0);
        self.single += usize::from(written == 1 && !has_sign);
        self.letters += chunk.chars().filter(|c| is_letter(*c)).count();
    }

    /// Whether what stands between the spaces are words: they are short, and half of them are words by the dictionary,
    /// too, which cuts names of strangers into syllables. Of few chunks, and in Thai, which sets spaces between
    /// phrases, more than half must be.
    fn are_words(&self, is_thai: bool) -> bool {
        let (few, long) = if is_thai { (usize::MAX, 10) } else { (3, 4) };
        let least = if self.all <= few { self.all / 2 + 1 } else { self.all.div_ceil(2) };
        self.single >= least && self.letters <= long * self.all
    }
}

/// Whether a space stands between two letters of these scripts, which it does not where only numbers or words of other
/// scripts are set apart; and whether one stands between letters of Thai or its like.
fn touch(line: &str) -> Option<bool> {
    let mut found = None;
    let mut before = None;
    for chunk in line.split_ascii_whitespace() {
        let (first, last) = (chunk.chars().next(), chunk.chars().next_back());
        if let Some((left, right)) = before.zip(first).filter(|&(a, b)| is_unspaced(a) && is_unspaced(b)) {
            let is_thai = is_south_east_asian(left) && is_south_east_asian(right);
            found = Some(found.unwrap_or(false) || is_thai);
        }
        before = last;
    }
    found
}

fn cut_chunk<'a>(chunk: &'a str, words: &mut Vec<&'a str>) {
    if !chunk.chars().any(is_unspaced) {
        words.push(chunk);
        return;
    }
    let mut start = 0;
    for end in boundaries(chunk).filter(|at| parts(chunk, *at)).chain([chunk.len()]) {
        let word = &chunk[start..end];
        if word.chars().any(|c| !c.is_whitespace()) {
            words.push(word);
        }
        start = end;
    }
}

fn parts(chunk: &str, at: usize) -> bool {
    let (before, behind) = chunk.split_at(at);
    let Some((left, right)) = before.chars().next_back().zip(behind.chars().next()) else { return false };
    let letter = before.chars().rev().find(|c| !is_mark(*c)).unwrap_or(left);
    !is_mark(right) && (is_unspaced(letter) || is_unspaced(right))
}

#[cfg(not(target_family = "wasm"))]
fn boundaries(chunk: &str) -> impl Iterator<Item = usize> {
    static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
        LazyLock::new(|| WordSegmenter::new_auto(WordBreakInvariantOptions::default()));
    SEGMENTER.segment_str(chunk)
}

/// Where words may end: at each Chinese character and kana.
#[cfg(target_family = "wasm")]
fn boundaries(chunk: &str) -> impl Iterator<Item = usize> {
    let mut before = None;
    chunk.char_indices().filter_map(move |(at, c)| {
        let is_end = before.is_some_and(is_han_or_kana) || is_han_or_kana(c);
        before = if is_mark(c) { before } else { Some(c) };
        is_end.then_some(at)
    })
}
/// Where a line of text may be broken (UAX 14), in bytes from its beginning; the last is its end. In a browser behind
/// spaces alone.
pub fn line_breaks(text: &str) -> Vec<usize> {
    #[cfg(not(target_family = "wasm"))]
    return icu_segmenter::LineSegmenter::new_auto(icu_segmenter::options::LineBreakOptions::default())
        .segment_str(text)
        .skip(1)
        .collect();
    #[cfg(target_family = "wasm")]
    text.match_indices(' ').map(|(at, _)| at + 1).filter(|at| *at < text.len()).chain([text.len()]).collect()
}
