//! The one unit of words, and how links of it are told to programs with another.
//!
//! **A word is a token as the rules of its language cut it**: punctuation, elisions (`l'` `homme`) and clitics (`don` `'t`) are
//! words of their own, scripts without spaces are cut by a dictionary. A text that somebody has cut keeps the words that stand
//! between its spaces. Other programs count what stands between spaces in any text: links are carried over to
//! those by [`WordExchange`].

use std::collections::{HashMap, HashSet};
use std::{cell::RefCell, ops::Range, sync::LazyLock};

use fancy_regex::Regex;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use crate::text::language::{habits, is_invisible, word_pattern};
use crate::text::{links::Link, unspaced};

/// Which words a text has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WordRule {
    /// What stands between spaces, whatever it is: the text is cut already.
    Given,
    /// What stands between spaces, or what a dictionary finds where a script sets none: what other programs count.
    Spaces,
    /// Tokens of a language whose apostrophes begin a word: `it` `'s`.
    #[default]
    Tokens,
    /// Tokens of a language whose apostrophes end a word: `l'` `homme`.
    Eliding,
}

/// Chunks that are remembered, a thread each.
const REMEMBERED: usize = 50_000;

impl WordRule {
    /// Of a language given by its BCP 47 tag, or of a text that is cut already.
    pub fn of(language: &str, pretokenized: bool) -> Self {
        match habits(language).elision {
            _ if pretokenized => Self::Given,
            true => Self::Eliding,
            false => Self::Tokens,
        }
    }

    pub fn are_tokens(self) -> bool {
        matches!(self, Self::Tokens | Self::Eliding)
    }

    /// The words of a text: pieces of it in its order, with nothing but whitespace between.
    pub fn words(self, text: &str) -> Vec<&str> {
        match self {
            Self::Given => text.split_ascii_whitespace().collect(),
            Self::Spaces => unspaced::words(text).collect(),
            Self::Tokens | Self::Eliding => {
                let mut words = Vec::new();
                unspaced::words(text).for_each(|chunk| self.cut_chunk(chunk, &mut words));
                words
            }
        }
    }

    pub fn owned(self, text: &str) -> Vec<String> {
        self.words(text).into_iter().map(str::to_owned).collect()
    }

    pub fn count(self, text: &str) -> usize {
        self.words(text).len()
    }

    /// Whether two texts have the same words.
    pub fn are_alike(self, one: &str, other: &str) -> bool {
        one == other || self.words(one) == self.words(other)
    }

    /// Adds the tokens of what stands between spaces.
    pub fn cut_chunk<'a>(self, chunk: &'a str, words: &mut Vec<&'a str>) {
        // letters and digits alone are a word: most chunks are, and need no expression
        if chunk.chars().all(|c| c < '\u{250}' && c.is_alphanumeric()) {
            words.push(chunk);
            return;
        }
        KNOWN.with_borrow_mut(|known| {
            let known = &mut known[usize::from(self == Self::Eliding)];
            if !known.contains_key(chunk) {
                if known.len() >= REMEMBERED {
                    known.clear();
                }
                known.insert(chunk.into(), self.ends(chunk).into_boxed_slice());
            }
            let mut start = 0;
            for end in &known[chunk] {
                let word = chunk[start..*end as usize].trim();
                words.extend((!word.is_empty()).then_some(word));
                start = *end as usize;
            }
        });
    }

    fn ends(self, chunk: &str) -> Vec<u32> {
        static RULES: [LazyLock<Regex>; 2] = [LazyLock::new(|| rule("en")), LazyLock::new(|| rule("fr"))];
        let (folded, from) = folded(chunk);
        let rule = &RULES[usize::from(self == Self::Eliding)];
        // a chunk that the expression gives up on is a word
        let starts = rule.find_iter(&folded).filter_map(Result::ok).map(|found| from[found.start()]);
        starts.skip(1).chain([chunk.len() as u32]).collect()
    }
}

fn rule(language: &str) -> Regex {
    Regex::new(&format!(r"\[UNK\]|{}", word_pattern(language))).expect("a rule of ours")
}

type KnownEnds = HashMap<Box<str>, Box<[u32]>>;

thread_local! {
    static KNOWN: RefCell<[KnownEnds; 2]> = RefCell::default();
}

/// A chunk as [`normalizer`](crate::text::language::normalizer) folds what parts words, and for each byte of it where
/// its character begins in the chunk.
fn folded(chunk: &str) -> (String, Vec<u32>) {
    let (mut folded, mut from) = (String::with_capacity(chunk.len()), Vec::with_capacity(chunk.len()));
    for (at, c) in chunk.char_indices() {
        let c = match c {
            '\u{2019}' | '\u{2018}' | '\u{2bc}' => '\'',
            '\u{201c}' | '\u{201d}' | '\u{201e}' => '"',
            '\u{a0}' | '\u{202f}' => ' ',
            c if c.is_control() => ' ',
            c if is_invisible(c) => continue,
            c => c,
        };
        folded.push(c);
        from.resize(folded.len(), at as u32);
    }
    (folded, from)
}

/// Where the words of a text begin, in bytes.
#[derive(Debug)]
pub struct WordStarts(HashSet<usize>);

impl WordStarts {
    /// Of the words of a rule.
    pub fn of(text: &str, rule: WordRule) -> Self {
        let place = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
        Self(rule.words(text).into_iter().map(place).collect())
    }

    /// Parts pieces that follow each other without a space, such as those of SentencePiece, where a word begins with
    /// one of them. `place` says where a piece begins in the text.
    pub fn part(&self, pieces: Range<usize>, place: impl Fn(usize) -> usize) -> Vec<Range<usize>> {
        let mut parts: Vec<Range<usize>> = Vec::new();
        for i in pieces {
            // several pieces have one place where they are bytes of one letter, or nothing is typed for one
            let begins = |i: usize| place(i) > place(i - 1) && self.0.contains(&place(i));
            match parts.last_mut() {
                Some(last) if !begins(i) => last.end = i + 1,
                _ => parts.push(i..i + 1),
            }
        }
        parts
    }
}

/// A word as vocabularies are counted: composed, its apostrophes straight, without what nobody sees.
pub fn normal(word: &str) -> String {
    let composed = word.nfc().collect::<String>();
    folded(&composed).0.trim().to_owned()
}

/// From the words of a text to what stands between its spaces, and back. **Punctuation has no part in it as long as its
/// word has a letter or digit**: `car.` is linked as `car` is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordExchange {
    /// For each word the word between spaces that it stands for, where it stands for any.
    pub places: Vec<Option<usize>>,
    pub spaced: usize,
}

impl WordExchange {
    pub fn of(text: &str, rule: WordRule) -> Self {
        let chunks: Vec<&str> = unspaced::words(text).collect();
        if !rule.are_tokens() {
            return Self::same(rule.count(text));
        }
        let (mut places, mut words) = (Vec::new(), Vec::new());
        for (at, chunk) in chunks.iter().enumerate() {
            words.clear();
            rule.cut_chunk(chunk, &mut words);
            let has_letter = has_letter(chunk);
            places.extend(words.iter().map(|word| (!has_letter || self::has_letter(word)).then_some(at)));
        }
        Self { places, spaced: chunks.len() }
    }

    /// Of a text whose links count its words.
    pub fn same(words: usize) -> Self {
        Self { places: (0..words).map(Some).collect(), spaced: words }
    }

    /// The words that stand for a word between spaces.
    pub fn words_of(&self, spaced: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.places.len()).filter(move |word| self.places[*word] == Some(spaced))
    }

    /// Links between words of two texts, as links between what stands between their spaces, in their order.
    pub fn carried(links: &[Link], source: &Self, target: &Self) -> Vec<Link> {
        let place = |side: &Self, word: usize| side.places.get(word).copied().flatten();
        let carry =
            |link: &Link| Some(Link { source: place(source, link.source)?, target: place(target, link.target)? });
        let mut known = HashSet::new();
        links.iter().filter_map(carry).filter(|link| known.insert(*link)).collect()
    }
}

/// Whether a word has a letter or a digit, and is not punctuation alone.
pub fn has_letter(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::vocab;

    const TEXTS: &[&str] = &[
        "He bought an old red car.",
        "Il a acheté une vieille voiture rouge.",
        "L\u{2019}homme n'est-elle pas l\u{e0}\u{a0}?",
        "Donne-le-moi, qu'il dit : \u{ab}\u{a0}l'\u{ab} Europe \u{bb}\u{a0}\u{bb}\u{2026}",
        "I don't -- can't! -- know 3.14, 10\u{202f}000 or 12:30 U.S. p.m.... (a-b) well-known",
        "co\u{ad}op \u{200b}x caf\u{65}\u{301} e\u{301}t\u{e9}, \u{1f469}\u{200d}\u{1f52c}! a\u{1}b l' \u{201e}so\u{201c}",
        "'t is O'Brien's; rock'n'roll, 90's l'",
        "",
        "\u{200b} ' -- .",
        "\u{6211}\u{7231}\u{4f60}\u{ff0c}Rust\u{3002}",
    ];

    #[test]
    fn words_are_those_of_the_rules_of_the_language() {
        for (language, rule) in [("en", WordRule::Tokens), ("fr", WordRule::Eliding), ("de", WordRule::of("de", false))]
        {
            let rules = vocab::build(language, std::iter::empty(), 0).expect("rules");
            for text in TEXTS {
                let expect: Vec<String> = unspaced::words(text).flat_map(|chunk| rules.words(chunk)).collect();
                let found: Vec<String> =
                    rule.words(text).into_iter().map(normal).filter(|word| !word.is_empty()).collect();
                assert_eq!(found, expect, "{language}: {text:?}");
            }
        }
    }

    #[test]
    fn an_unknown_word_is_one() {
        assert_eq!(WordRule::Eliding.words("l'[UNK], [UNK]."), ["l'", "[UNK]", ",", "[UNK]", "."]);
    }

    #[test]
    fn links_go_to_other_programs() {
        let link = |source, target| Link { source, target };
        // red car . / voiture rouge .
        let (x, y) = ("He bought a red car.", "Il a acheté l'voiture rouge.");
        let sides = |rule| (WordExchange::of(x, rule), WordExchange::of(y, WordRule::Eliding));
        let (source, target) = sides(WordRule::Tokens);
        assert_eq!((source.spaced, target.spaced), (5, 5));
        let tokens = [link(3, 5), link(4, 3), link(4, 4), link(5, 6), link(5, 4)];
        let carried = WordExchange::carried(&tokens, &source, &target);
        assert_eq!(carried, [link(3, 4), link(4, 3)], "the full stop has no vote");
        // a word that is punctuation alone is itself
        let dots = WordExchange::of("\u{ab} oui \u{bb} ...", WordRule::Eliding);
        assert_eq!((0..4).map(|at| dots.words_of(at).collect::<Vec<_>>()).collect::<Vec<_>>(), [[0], [1], [2], [3]]);
    }
}
