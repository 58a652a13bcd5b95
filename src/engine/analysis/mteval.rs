//! How text is cut into the words that BLEU counts: the tokenizers 13a, intl, zh, char and none of sacreBLEU 2.x,
//! of which the first two are those of NIST's mteval-v13a and mteval-v14. Imports `text`.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::text::language::{habits, primary};
use crate::text::unspaced::is_unspaced;

/// How text is cut into tokens before n-grams are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tokenization {
    /// As mteval-v14 with `--international-tokenization`: punctuation and symbols of all scripts apart.
    #[serde(rename = "intl")]
    International,
    /// Chinese characters and punctuation apart, the rest by the rules of mteval-v13a.
    #[serde(rename = "zh")]
    Chinese,
    #[serde(rename = "char")]
    Characters,
    /// At whitespace alone: for text that is tokenised already.
    #[serde(rename = "none")]
    None,
    /// As mteval-v13a: for detokenised text. In a file, any name that is not known is this.
    #[default]
    #[serde(rename = "13a", other)]
    Mteval13a,
}

/// All of them, with what each does.
pub const TOKENIZATIONS: &[(Tokenization, &str)] = &[
    (Tokenization::Mteval13a, id!("as mteval-v13a, for detokenised Western text")),
    (Tokenization::International, id!("as mteval-v14, punctuation and symbols of all scripts apart")),
    (Tokenization::Chinese, id!("at every Chinese character, the rest as 13a")),
    (Tokenization::Characters, id!("at every character")),
    (Tokenization::None, id!("at spaces alone, for text that is tokenised already")),
];

impl Tokenization {
    pub fn name(self) -> &'static str {
        match self {
            Self::Mteval13a => "13a",
            Self::International => "intl",
            Self::Chinese => "zh",
            Self::Characters => "char",
            Self::None => "none",
        }
    }

    /// The usual one of a target language: sacreBLEU's where it is here, characters for the other scripts without
    /// spaces.
    pub fn usual(language: &str) -> Self {
        match primary(language).as_str() {
            "zh" | "yue" => Self::Chinese,
            language if habits(language).unspaced => Self::Characters,
            _ => Self::default(),
        }
    }

    /// The usual one of a language; if that is not known (empty), of the script of a text.
    pub fn usual_of(language: &str, text: &str) -> Self {
        let letters = || text.chars().filter(|c| c.is_alphabetic());
        let unspaced = letters().filter(|c| is_unspaced(*c)).count();
        let chinese = letters().filter(|c| matches!(c, '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')).count();
        match language {
            // A letter of these scripts stands for some three of others.
            "" if unspaced == 0 || 4 * unspaced < letters().count() => Self::default(),
            "" if 10 * chinese >= 9 * unspaced => Self::Chinese,
            "" => Self::Characters,
            language => Self::usual(language),
        }
    }
}

/// Tokenizers of sacreBLEU that are not here, why, and what to take instead.
pub const NOT_HERE: &[(&str, &str)] = &[
    ("ja-mecab", "it needs MeCab's dictionary; Interlinear uses `char` for Japanese"),
    ("ko-mecab", "it needs MeCab's dictionary; Interlinear uses `13a` for Korean, or take `char`"),
    ("flores101", "it needs a SentencePiece model; cut the text with it and take `none`"),
    ("flores200", "it needs a SentencePiece model; cut the text with it and take `none`"),
];

/// Python's whitespace, by which sacreBLEU splits: four more control characters than Rust's.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// What stands between whitespace.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// `text` with spaces between its tokens.
pub fn tokenize(text: &str, tokenization: Tokenization) -> String {
    let text = text.trim_end_matches(is_space);
    match tokenization {
        Tokenization::None => text.to_owned(),
        Tokenization::Mteval13a => joined(&mteval_13a(text)),
        Tokenization::International => joined(&international(text)),
        Tokenization::Chinese => joined(&chinese(text)),
        Tokenization::Characters => joined(&text.chars().flat_map(|c| [c, ' ']).collect::<String>()),
    }
}

fn joined(text: &str) -> String {
    words(text).collect::<Vec<&str>>().join(" ")
}

/// The rules of mteval-v14 in their order: punctuation apart behind and before what is no number, symbols apart.
static INTERNATIONAL: LazyLock<[(Regex, &str); 3]> = LazyLock::new(|| {
    let rule = |pattern: &str| Regex::new(pattern).expect("the pattern is one of the three below, which are tested");
    [(rule(r"(\P{N})(\p{P})"), "$1 $2 "), (rule(r"(\p{P})(\P{N})"), " $1 $2"), (rule(r"(\p{S})"), " $1 ")]
});

/// As sacreBLEU has it: entities stay, and a full stop behind a number at the end of the line stays with it.
fn international(text: &str) -> String {
    INTERNATIONAL
        .iter()
        .fold(Cow::Borrowed(text), |text, (rule, apart)| Cow::Owned(rule.replace_all(&text, *apart).into_owned()))
        .into_owned()
}

fn mteval_13a(text: &str) -> String {
    let mut text = text.replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    for (entity, mark) in [("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] {
        if text.contains(entity) {
            text = text.replace(entity, mark);
        }
    }
    western(std::iter::once(' ').chain(text.chars()).chain(std::iter::once(' ')))
}

/// As sacreBLEU has it: entities stay, and so does a full stop or comma at either end of the line next to a digit or
/// none.
fn chinese(text: &str) -> String {
    let apart = |c: char| if is_chinese(c) { vec![' ', c, ' '] } else { vec![c] };
    western(text.trim_start_matches(is_space).chars().flat_map(apart))
}

/// The ranges that sacreBLEU in fact sets apart. The first comes of `\u20000` to `\u2a6d6`, which Python reads as four
/// digits and a letter behind: it has dashes, quotation marks and arrows, and extension B is left out.
fn is_chinese(c: char) -> bool {
    matches!(c, '\u{2001}'..='\u{2a6d}' | '\u{2e80}'..='\u{2fdf}' | '\u{2ff0}'..='\u{303f}' | '\u{3100}'..='\u{312f}'
        | '\u{31a0}'..='\u{31ef}' | '\u{3200}'..='\u{4db5}' | '\u{4e00}'..='\u{9fbb}' | '\u{f900}'..='\u{fa2d}'
        | '\u{fa30}'..='\u{fa6a}' | '\u{fa70}'..='\u{fad9}' | '\u{fe10}'..='\u{fe1f}' | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ffef}')
}

fn western(line: impl Iterator<Item = char>) -> String {
    // Marks apart, but not ' , - .
    let line: Vec<char> = line.flat_map(|c| if is_mark(c) { vec![' ', c, ' '] } else { vec![c] }).collect();
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
