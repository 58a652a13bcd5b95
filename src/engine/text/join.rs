//! Words back to normal text: what [`crate::text::language::word_pattern`] cut is put together again. Imports floor 0.

use crate::text::language::{Typography, habits};
use crate::text::{sentence::EOS, unspaced::meet};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Touch {
    left: bool,
    right: bool,
}

const APART: Touch = Touch { left: false, right: false };
const LEFT: Touch = Touch { left: true, right: false };
const RIGHT: Touch = Touch { left: false, right: true };
const BOTH: Touch = Touch { left: true, right: true };

/// The normal text of `tokens` of a language (BCP 47). `</s>` is dropped, `[UNK]` printed as it is.
pub fn join<T: AsRef<str>>(language: &str, tokens: &[T]) -> String {
    let habits = habits(language);
    let words: Vec<&str> = tokens.iter().map(AsRef::as_ref).filter(|word| *word != EOS).collect();
    let mut marks = Marks::new(habits, &words);
    let mut text = String::new();
    let mut touched = true;
    for (i, word) in words.iter().enumerate() {
        let before = i.checked_sub(1).and_then(|i| words.get(i)).copied().unwrap_or_default();
        let after = words.get(i + 1).copied().unwrap_or_default();
        let touch = marks.touch(before, word, after);
        if !(touched || touch.left || habits.unspaced && meet(before, word)) {
            text.push(' ');
        }
        text.push_str(word);
        touched = touch.right;
    }
    text
}

struct Marks {
    habits: Typography,
    double_open: bool,
    single_open: bool,
    /// Single quotation marks come in pairs here; otherwise they are apostrophes at the end of words.
    single_paired: bool,
}

impl Marks {
    fn new(habits: Typography, words: &[&str]) -> Self {
        let singles = words.iter().filter(|word| **word == "'").count();
        Self { habits, double_open: false, single_open: false, single_paired: singles % 2 == 0 }
    }

    fn touch(&mut self, before: &str, word: &str, after: &str) -> Touch {
        let mut chars = word.chars();
        let (first, second) = (chars.next().unwrap_or(' '), chars.next());
        match word {
            "\"" => return turn(&mut self.double_open),
            "'" if self.single_paired => return turn(&mut self.single_open),
            "'" => return LEFT,
            "-" if is_range(before, after) => return BOTH,
            _ => {}
        }
        if second.is_none() {
            return mark(first, self.habits);
        }
        let Some(second) = second else { return APART };
        let joins_left = second.is_alphabetic() && (first == '-' || (is_apostrophe(first) && !self.habits.elision));
        let ends_open = word.ends_with(is_apostrophe) && self.habits.elision;
        Touch { left: joins_left || word == "...", right: ends_open }
    }
}

fn mark(mark: char, habits: Typography) -> Touch {
    match mark {
        ',' | '.' | ')' | ']' | '}' | '…' | '°' => LEFT,
        '(' | '[' | '{' => RIGHT,
        '/' => BOTH,
        '?' | '!' | ';' | ':' | '%' | '»' | '$' | '£' | '€' if habits.spaced_marks => APART,
        '?' | '!' | ';' | ':' | '%' | '»' => LEFT,
        '«' if habits.spaced_marks => APART,
        '«' | '$' | '£' | '€' | '#' => RIGHT,
        _ => APART,
    }
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

fn turn(open: &mut bool) -> Touch {
    *open = !*open;
    if *open { RIGHT } else { LEFT }
}

/// 2000-2006, mid-1990, COVID-19: a hyphen before a number and behind a letter or number.
fn is_range(before: &str, after: &str) -> bool {
    before.chars().last().is_some_and(char::is_alphanumeric) && after.chars().next().is_some_and(char::is_numeric)
}
