//! Which tokens of a model make up the words of a text, as [`crate::text::cut`] counts them.
//!
//! A model cuts the same text its own way (`l' heure` or `l'heure`, `well-known` in two), in two steps: its vocabulary has words
//! ([`vocabulary_words`]), which are one token or several pieces, and these cover words of the text ([`WordPlaces`]). Both
//! are places in the same run of visible characters, so they are compared by the characters that they cover, whitespace not
//! counted: a token stands for every word of which it covers a character.
//! What becomes of alpha on the way says [`crate::analysis::words`]. Imports its room.

use std::{borrow::Cow, ops::Range};

use unicode_normalization::{UnicodeNormalization as _, is_nfc};

use crate::text::cut::{WordExchange, WordRule, WordStarts, has_letter};
use crate::text::sentence::{EOS, Sentence, UNK, is_language};
use crate::text::tokenizer::Tokenizer;

pub use crate::text::unspaced::words;

/// For each part of a side the words of a text that it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordPlaces {
    /// Of each part; empty for `</s>` and a target language that was chosen.
    pub places: Vec<Range<usize>>,
    /// Words of the text.
    pub words: usize,
}

impl WordPlaces {
    /// Of the tokens of a sentence. `None` when it and the line are not the same text, spaces aside.
    pub fn of_sentence(sentence: &Sentence, line: &str, rule: WordRule) -> Option<Self> {
        let (ends, own) = (&ends(rule.words(line)), &own(line, rule));
        if !visible(&sentence.text).eq(visible(line)) {
            return None;
        }
        let end = ends.last().copied().unwrap_or(0);
        let counted = counts(&sentence.text);
        let count = |byte: usize| counted.get(byte).copied().unwrap_or(end);
        let places =
            sentence.spans.iter().map(|span| covered((ends, own), count(span.start), count(span.end))).collect();
        Some(Self { places, words: ends.len() })
    }

    /// Of parts that follow each other in a text. `None` when they make up another one.
    pub fn of_parts<T: AsRef<str>>(parts: &[T], text: &str, rule: WordRule) -> Option<Self> {
        if !parts.iter().flat_map(|part| visible(part.as_ref())).eq(visible(text)) {
            return None;
        }
        let (ends, own) = (ends(rule.words(text)), own(text, rule));
        let mut at = 0;
        let place = |part: &T| {
            let from = at;
            at += visible(part.as_ref()).count();
            covered((&ends, &own), from, at)
        };
        Some(Self { places: parts.iter().map(place).collect(), words: ends.len() })
    }

    /// Of the words of a text among those between its spaces; of punctuation that has no part in them nothing.
    pub fn of_exchange(exchange: &WordExchange) -> Self {
        let place = |spaced: &Option<usize>| spaced.map_or(0..0, |spaced| spaced..spaced + 1);
        Self { places: exchange.places.iter().map(place).collect(), words: exchange.spaced }
    }

    /// The parts that cover a word.
    pub fn parts_of(&self, word: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.places.len()).filter(move |part| self.places[*part].contains(&word))
    }

    pub fn of_ranges(words: &[Range<usize>]) -> Self {
        let places = words.iter().enumerate().flat_map(|(n, word)| word.clone().map(move |_| n..n + 1));
        Self { places: places.collect(), words: words.len() }
    }
}

/// One side of a pair: from its tokens to the words of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideWords {
    /// The tokens of each word of the vocabulary.
    pub words: Vec<Range<usize>>,
    /// The words of the text that each of these covers.
    pub places: WordPlaces,
}

impl SideWords {
    /// Of a sentence that a model reads. `None` when it and the line are not the same text, spaces aside.
    pub fn of_sentence(tokenizer: &Tokenizer, sentence: &Sentence, line: &str, pretokenized: bool) -> Option<Self> {
        let words = vocabulary_words(tokenizer, sentence, pretokenized);
        let places = WordPlaces::of_sentence(&whole_words(sentence, &words), line, tokenizer.rule(pretokenized))?;
        Some(Self { words, places })
    }

    /// Of a translation without `</s>`. `None` when it and the text are not the same, spaces aside.
    pub fn of_translation(tokenizer: &Tokenizer, ids: &[u32], text: &str, pretokenized: bool) -> Option<Self> {
        let (ranges, words) = translated(tokenizer, ids);
        Some(Self { words: ranges, places: WordPlaces::of_parts(&words, text, tokenizer.rule(pretokenized))? })
    }
}

/// Words without the `</s>` at the end.
pub fn without_end(words: &[String]) -> &[String] {
    match words.split_last() {
        Some((last, words)) if last == EOS => words,
        _ => words,
    }
}

/// Which tokens of a translation make up each word of the vocabulary, `</s>` being one, and the words.
pub fn translated(tokenizer: &Tokenizer, ids: &[u32]) -> (Vec<Range<usize>>, Vec<String>) {
    let tokens: Vec<&str> = ids.iter().map(|id| tokenizer.token(*id).unwrap_or(UNK)).collect();
    let ranges = tokenizer.word_ranges(ids);
    let words = ranges.iter().map(|word| tokenizer.marks().word(&tokens[word.clone()])).collect();
    (ranges, words)
}

/// Which tokens of a sentence make up each word of the vocabulary, `</s>` being one. Words that were split by spaces
/// are what stands between them.
pub fn vocabulary_words(tokenizer: &Tokenizer, sentence: &Sentence, pretokenized: bool) -> Vec<Range<usize>> {
    let singles = (0..sentence.len()).map(|i| i..i + 1);
    if !tokenizer.marks().has_pieces() {
        return singles.collect();
    }
    if pretokenized {
        return by_spaces(sentence);
    }
    // The ids of an ensemble's sentence are not those of the vocabulary.
    let ids = tokenizer.encode_with(&sentence.text, None).ids;
    let mut words = tokenizer.marks().chunks(&tokenizer.tokens(&ids));
    if sentence.is_led() {
        for word in &mut words {
            *word = word.start + 1..word.end + 1;
        }
        words.insert(0, 0..1);
    }
    let ids = ids.len() + usize::from(sentence.is_led());
    // `</s>`, where the sentence ends with it.
    words.extend((ids..sentence.len()).map(|i| i..i + 1));
    let fits = words.last().is_none_or(|last| last.end == sentence.len());
    if !fits {
        return singles.collect();
    }
    let starts = WordStarts::of(&sentence.text, tokenizer.rule(false));
    words.into_iter().flat_map(|word| starts.part(word, |i| sentence.spans[i].start)).collect()
}

fn by_spaces(sentence: &Sentence) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for i in 0..sentence.len() {
        let first = usize::from(sentence.is_led());
        let touches = i > first && sentence.spans[i - 1].end == sentence.spans[i].start && sentence.tokens[i] != EOS;
        match words.last_mut() {
            Some(word) if touches => word.end = i + 1,
            _ => words.push(i..i + 1),
        }
    }
    words
}

/// A sentence whose tokens are words; their ids are those of their first pieces.
pub fn whole_words(sentence: &Sentence, words: &[Range<usize>]) -> Sentence {
    let mut whole = Sentence { text: sentence.text.clone(), ..Sentence::default() };
    for word in words {
        let (first, last) = (word.start, word.end.saturating_sub(1).max(word.start));
        let span = sentence.spans[first].start..sentence.spans[last].end;
        let token = &sentence.tokens[first];
        let is_added = span.is_empty() && (token == EOS || is_language(token));
        whole.tokens.push(if is_added { token.clone() } else { sentence.text[span.clone()].to_owned() });
        whole.spans.push(span);
        whole.ids.push(sentence.ids[first]);
    }
    whole
}

fn ends(words: Vec<&str>) -> Vec<usize> {
    let add = |end: &mut usize, word: &str| {
        *end += visible(word).count();
        Some(*end)
    };
    words.into_iter().scan(0, add).collect()
}

/// The characters of a text that are no spaces, as they are compared: marks apart from their letters, apostrophes
/// straight.
pub fn visible(text: &str) -> impl Iterator<Item = char> + '_ {
    let straight = |c| if c == '\u{2019}' { '\'' } else { c };
    text.chars().filter(|c| !c.is_whitespace()).nfd().map(straight)
}

/// A text as it is looked for with its case: marks with their letters (NFC), apostrophes straight.
pub fn composed(text: &str) -> Cow<'_, str> {
    match (is_nfc(text), text.contains('\u{2019}')) {
        (true, false) => Cow::Borrowed(text),
        (true, true) => Cow::Owned(text.replace('\u{2019}', "'")),
        _ => Cow::Owned(text.nfc().map(|c| if c == '\u{2019}' { '\'' } else { c }).collect()),
    }
}

/// A regular expression that is to match texts as [`composed`] has them; a curly apostrophe may be written by its
/// number.
pub fn composed_rule(rule: &str) -> String {
    let numbers = ["\\u{2019}", "\\x{2019}", "\\u2019"];
    numbers.iter().fold(composed(rule).into_owned(), |rule, number| rule.replace(number, "'"))
}

/// A text as it is looked for: small letters, marks with their letters, apostrophes straight.
pub fn folded(text: &str) -> String {
    composed(text).to_lowercase()
}

/// For each byte of the text, and its end, how many visible characters start before it.
fn counts(text: &str) -> Vec<usize> {
    let mut counts = Vec::with_capacity(text.len() + 1);
    let mut so_far = 0;
    for c in text.chars() {
        counts.push(so_far);
        so_far +=
            if c.is_ascii() { usize::from(!c.is_whitespace()) } else { visible(c.encode_utf8(&mut [0; 4])).count() };
        counts.extend(std::iter::repeat_n(so_far, c.len_utf8() - 1));
    }
    counts.push(so_far);
    counts
}

fn own(text: &str, rule: WordRule) -> Vec<bool> {
    rule.words(text).into_iter().map(|word| !rule.are_tokens() || has_letter(word)).collect()
}

/// The words with a character among `from..to`, where word w covers the characters from `ends[w - 1]` to `ends[w]`.
fn covered((ends, own): (&[usize], &[bool]), from: usize, to: usize) -> Range<usize> {
    let first = ends.partition_point(|end| *end <= from);
    if from >= to {
        return first..first;
    }
    let last = ends.partition_point(|end| *end < to);
    let all = first..(last + 1).min(ends.len());
    let is_own = |word: &usize| own[*word];
    match (all.clone().find(is_own), all.clone().rfind(is_own)) {
        (Some(first), Some(last)) => first..last + 1,
        _ => all,
    }
}

/// Where words of a text stand, from the first to before the last, in bytes; of none the room before them.
pub fn place_of(text: &str, rule: WordRule, (first, behind): (usize, usize)) -> Option<Range<usize>> {
    let all: Vec<Range<usize>> = rule.words(text).into_iter().map(|word| place(text, word)).collect();
    if first < behind {
        return Some(all.get(first)?.start..all.get(behind - 1).or(all.last())?.end);
    }
    match (first.checked_sub(1).and_then(|before| all.get(before)), all.get(first)) {
        (Some(before), Some(word)) => Some(before.end..word.start),
        // Before the first and behind the last there is no room.
        (None, Some(word)) => {
            Some(word.start..word.start + text[word.clone()].chars().next().map_or(0, char::len_utf8))
        }
        (Some(last), None) => {
            Some(last.end - text[last.clone()].chars().next_back().map_or(0, char::len_utf8)..last.end)
        }
        (None, None) => None,
    }
}

/// The words of a text from the first to before the last as they stand in it; of none nothing.
pub fn words_of(text: &str, rule: WordRule, span: (usize, usize)) -> &str {
    let place = place_of(text, rule, span).filter(|_| span.0 < span.1);
    place.map_or("", |place| &text[place])
}

/// Where a word of a text stands, in bytes.
pub fn place(text: &str, word: &str) -> Range<usize> {
    let at = word.as_ptr() as usize - text.as_ptr() as usize;
    at..at + word.len()
}

/// Where letters of words stand, in bytes: `place` is that of the words in the text, and letters are counted from its
/// first.
pub fn letters_at(text: &str, place: &Range<usize>, (first, behind): (usize, usize)) -> Range<usize> {
    let within = &text[place.clone()];
    let byte = |letter: usize| within.char_indices().nth(letter).map_or(within.len(), |(at, _)| at);
    place.start + byte(first)..place.start + byte(behind.max(first))
}

/// Words of a text, the first and the one behind the last, and letters of these where not all are meant.
pub type LetterSpan = ((usize, usize), Option<(usize, usize)>);

/// The words of a place in a text, in letters from 0, as [`letters_at`] finds it again. Where the place has no letter
/// but spaces, or lies behind the text, words are missing there.
pub fn span_of(text: &str, rule: WordRule, place: Range<usize>) -> LetterSpan {
    let byte = |letter: usize| text.char_indices().nth(letter).map_or(text.len(), |(at, _)| at);
    let (from, to) = (byte(place.start), byte(place.end.max(place.start)));
    let within = &text[from..to];
    let from = from + (within.len() - within.trim_start().len());
    let to = from + within.trim().len();
    let all: Vec<Range<usize>> = rule.words(text).into_iter().map(|word| self::place(text, word)).collect();
    let first = all.partition_point(|word| word.end <= from);
    if from >= to {
        return ((first, first), None);
    }
    let behind = all.partition_point(|word| word.start < to).max(first);
    let Some(whole) = place_of(text, rule, (first, behind)).filter(|_| first < behind) else {
        return ((first, first), None);
    };
    if (from, to) == (whole.start, whole.end) {
        return ((first, behind), None);
    }
    let letter = |at: usize| text[whole.start..at.clamp(whole.start, whole.end)].chars().count();
    ((first, behind), Some((letter(from), letter(to))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_words_is_theirs_and_of_missing_ones_the_room_before() {
        let text = " le  moulin \u{e0} vent\u{e9}";
        for (span, expect) in [
            ((0, 1), Some("le")),
            ((1, 3), Some("moulin \u{e0}")),
            ((3, 9), Some("vent\u{e9}")),
            ((1, 1), Some("  ")),
            ((0, 0), Some("l")),
            ((4, 4), Some("\u{e9}")),
            ((4, 5), None),
            ((9, 9), None),
        ] {
            assert_eq!(place_of(text, WordRule::Spaces, span).map(|place| &text[place]), expect, "{span:?}");
        }
        assert_eq!(place_of("", WordRule::Spaces, (0, 0)), None);
    }

    #[test]
    fn letters_are_words_and_a_part_of_them() {
        let text = "le  moulin vent\u{e9}.";
        for (letters, expect) in [
            (0..2, ((0, 1), None)),
            (4..10, ((1, 2), None)),
            (3..16, ((1, 3), Some((0, 12)))),
            (15..16, ((2, 3), Some((4, 5)))),
            (6..8, ((1, 2), Some((2, 4)))),
            (2..4, ((1, 1), None)),
            (17..17, ((3, 3), None)),
            (90..99, ((3, 3), None)),
        ] {
            let (words, part) = span_of(text, WordRule::Spaces, letters.clone());
            assert_eq!((words, part), expect, "{letters:?}");
            if let (Some(part), Some(place)) = (part, place_of(text, WordRule::Spaces, words)) {
                let found = &text[letters_at(text, &place, part)];
                let meant: String = text.chars().skip(letters.start).take(letters.len()).collect();
                assert_eq!(found, meant.trim(), "{letters:?}");
            }
        }
    }
}
