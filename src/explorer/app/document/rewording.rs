//! Variants of a text: a word replaced, dropped, inserted or swapped so that spaces and signs stay well formed,
//! and what two texts differ in, in words. Pure.

use std::ops::Range;

use crate::app::document::history::{common_prefix, common_suffix};
use crate::app::files::common::common;
use engine::text::unspaced::{self, is_unspaced, meet};

const MOST_NAMED: usize = 4;
const MOST_LETTERS: usize = 28;

/// What is done with a source word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordEdit {
    Replace(String),
    Drop,
    /// These words stand before it; before `</s>`, at the end.
    Insert(String),
    /// It and the next word change places; signs between them stay.
    Swap,
}

/// The text after an edit of word j; `spans` are its words, an empty one is `</s>`.
/// `None` if the edit makes no sense, changes nothing or leaves no text.
pub fn reworded(text: &str, spans: &[Range<usize>], j: usize, edit: &WordEdit) -> Option<String> {
    let span = spans.get(j)?.clone();
    let word = text.get(span.clone())?;
    if word.is_empty() && !matches!(edit, WordEdit::Insert(_)) {
        return None;
    }
    let out = match edit {
        WordEdit::Replace(words) if words.trim().is_empty() => dropped(text, span),
        WordEdit::Replace(words) => put(text, span, words.trim()),
        WordEdit::Drop => dropped(text, span),
        WordEdit::Insert(words) => inserted(text, span.start, words.trim()),
        WordEdit::Swap => swapped(text, span, next_word(text, spans, j)?),
    };
    (out != text && !out.trim().is_empty()).then_some(out)
}

pub fn next_word(text: &str, spans: &[Range<usize>], j: usize) -> Option<Range<usize>> {
    let end = spans.get(j).filter(|span| !span.is_empty())?.end;
    let is_word = |span: &&Range<usize>| span.start >= end && text.get((*span).clone()).is_some_and(has_letters);
    spans.get(j + 1..)?.iter().find(is_word).cloned()
}

fn has_letters(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

fn put(text: &str, at: Range<usize>, words: &str) -> String {
    format!("{}{words}{}", &text[..at.start], &text[at.end..])
}

fn dropped(text: &str, span: Range<usize>) -> String {
    let (before, behind) = (&text[..span.start], &text[span.end..]);
    let (kept, rest) = (before.trim_end(), behind.trim_start());
    if kept.is_empty() {
        return rest.to_owned();
    }
    if kept.len() < before.len() {
        return format!("{kept}{behind}");
    }
    let opens = kept.ends_with(|sign: char| "([{\u{ab}\u{201c}\u{2018}\"'\u{bf}\u{a1}".contains(sign));
    if opens { format!("{kept}{rest}") } else { format!("{before}{behind}") }
}

/// With these words before this place. Signs that close a passage stand against the word before them.
fn inserted(text: &str, at: usize, words: &str) -> String {
    let (before, behind) = (&text[..at], &text[at..]);
    if words.is_empty() {
        return text.to_owned();
    }
    if words.chars().all(|sign| ",.;:!?)]}\u{2026}".contains(sign)) && !before.trim_end().is_empty() {
        let kept = before.trim_end();
        return format!("{kept}{words}{}{behind}", &before[kept.len()..]);
    }
    let is_free = |side: Option<char>| side.is_none_or(char::is_whitespace);
    if is_free(before.chars().next_back()) {
        let gap = if behind.is_empty() || behind.starts_with(char::is_whitespace) { "" } else { " " };
        return format!("{before}{words}{gap}{behind}");
    }
    let (last, mut next) = (before.chars().next_back(), behind.chars());
    let (first, second) = (next.next(), next.next());
    let has = |letter: Option<char>, is: fn(char) -> bool| letter.is_some_and(is);
    if has(last, is_unspaced) && first.is_none_or(is_unspaced) {
        return format!("{before}{words}{behind}");
    }
    // inside a word there is a space on both sides; a sign that opens keeps the word behind it, one that closes stands
    // where it stood
    let ends_word = has(last, char::is_alphanumeric);
    if has(first, char::is_alphanumeric) && !ends_word {
        format!("{before}{words} {behind}")
    } else if ends_word && (has(first, char::is_alphanumeric) || has(second, char::is_alphanumeric)) {
        format!("{before} {words} {behind}")
    } else {
        format!("{before} {words}{behind}")
    }
}

fn swapped(text: &str, first: Range<usize>, second: Range<usize>) -> String {
    let (one, other, between) = (&text[first.clone()], &text[second.clone()], &text[first.end..second.start]);
    format!("{}{other}{between}{one}{}", &text[..first.start], &text[second.end..])
}

/// What a variant differs in from the original, a phrase for each passage; empty where it is the same.
pub fn differs(original: &str, variant: &str) -> Vec<String> {
    if original == variant {
        return Vec::new();
    }
    let (a, b) = (words(original), words(variant));
    let Some(pairs) = common(&a, &b) else { return vec![tr!("other words").to_owned()] };
    if let Some(swap) = swap(&a, &b) {
        return vec![swap];
    }
    let mut named = Vec::new();
    let (mut i, mut j) = (0, 0);
    for (to_i, to_j) in pairs.into_iter().chain([(a.len(), b.len())]) {
        named.extend(passage(&a[i..to_i], &b[j..to_j]));
        (i, j) = (to_i + 1, to_j + 1);
    }
    if named.is_empty() {
        return vec![tr!("other spaces").to_owned()];
    }
    let more = named.len().saturating_sub(MOST_NAMED);
    named.truncate(MOST_NAMED);
    if more > 0 {
        named.push(tr!("and {more} more", more));
    }
    named
}

fn passage(before: &[&str], after: &[&str]) -> Option<String> {
    match (before, after) {
        ([], []) => None,
        (_, []) => Some(tr!("without {}", quoted(before))),
        ([], _) => Some(tr!("with {}", quoted(after))),
        (_, _) => Some(tr!("{} for {}", quoted(after), quoted(before))),
    }
}

fn swap(a: &[&str], b: &[&str]) -> Option<String> {
    let from = a.iter().zip(b).position(|(x, y)| x != y)?;
    let to = a.iter().zip(b).rposition(|(x, y)| x != y)?;
    let is_swap = a.len() == b.len() && from < to && a[from] == b[to] && a[to] == b[from];
    let is_same = is_swap && a[from + 1..to] == b[from + 1..to];
    is_same.then(|| tr!("{} and {} swapped", quoted(&a[from..=from]), quoted(&a[to..=to])))
}

fn quoted(words: &[&str]) -> String {
    let mut text = String::new();
    for word in words {
        if !text.is_empty() && !meet(&text, word) {
            text.push(' ');
        }
        text.push_str(word);
    }
    match text.char_indices().nth(MOST_LETTERS) {
        Some((at, _)) => format!("\"{}\u{2026}\"", text[..at].trim_end()),
        None => format!("\"{text}\""),
    }
}

fn words(text: &str) -> Vec<&str> {
    unspaced::words(text).flat_map(str::split_whitespace).flat_map(apart).collect()
}

fn apart(chunk: &str) -> Vec<&str> {
    let inner = chunk.trim_matches(is_sign);
    let start = inner.as_ptr() as usize - chunk.as_ptr() as usize;
    let letters = |part| -> Vec<&str> { str::split_inclusive(part, |_: char| true).collect() };
    let mut out = letters(&chunk[..start]);
    if !inner.is_empty() {
        out.push(inner);
    }
    out.extend(letters(&chunk[start + inner.len()..]));
    out
}

/// A sign that belongs to no word; combining marks belong to theirs.
fn is_sign(c: char) -> bool {
    let is_mark = ('\u{300}'..'\u{2010}').contains(&c) && !"\u{60c}\u{61b}\u{61f}\u{964}\u{965}\u{589}".contains(c);
    !c.is_alphanumeric() && !is_mark
}

/// The variant of a text after typing went on elsewhere in the text; `None` where it was typed in what the variant changes.
pub fn carried(before: &str, after: &str, variant: &str) -> Option<String> {
    let (typed, with) = change(before, after);
    let (own, new) = change(before, variant);
    let is_apart = |sign: Option<char>| sign.is_some_and(|sign| !sign.is_alphanumeric());
    if typed.end < own.start || typed.end == own.start && is_apart(after[with.clone()].chars().next_back()) {
        return Some(put(variant, typed, &after[with]));
    }
    if own.end < typed.start || own.end == typed.start && is_apart(after[with.clone()].chars().next()) {
        let shifted = |at: usize| at - own.end + new.end;
        return Some(put(variant, shifted(typed.start)..shifted(typed.end), &after[with]));
    }
    None
}

fn change(before: &str, after: &str) -> (Range<usize>, Range<usize>) {
    let prefix = common_prefix(before, after);
    let suffix = common_suffix(before, after, prefix);
    (prefix..before.len() - suffix, prefix..after.len() - suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Vec<Range<usize>> {
        let place = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
        let of = |word: &str| place(word)..place(word) + word.len();
        words(text).into_iter().map(of).chain(std::iter::once(text.len()..text.len())).collect()
    }

    #[test]
    fn spaces_and_signs_stay_well_formed() {
        let replace = |words: &str| WordEdit::Replace(words.to_owned());
        let insert = |words: &str| WordEdit::Insert(words.to_owned());
        for (text, j, edit, wanted) in [
            ("the old, red shoe.", 1, WordEdit::Drop, Some("the, red shoe.")),
            ("the old red shoe.", 2, WordEdit::Drop, Some("the old shoe.")),
            ("The shoe  is red.", 0, WordEdit::Drop, Some("shoe  is red.")),
            ("The shoe is red.", 4, WordEdit::Drop, Some("The shoe is red")),
            ("the shoe (old red)", 3, WordEdit::Drop, Some("the shoe (red)")),
            ("the \u{ab} old \u{bb} shoe", 2, WordEdit::Drop, Some("the \u{ab} \u{bb} shoe")),
            ("shoe", 0, WordEdit::Drop, None),
            ("the red shoe", 3, WordEdit::Drop, None),
            ("the red shoe", 1, replace(" dark blue "), Some("the dark blue shoe")),
            ("the red shoe", 1, replace(""), Some("the shoe")),
            ("the red shoe", 1, replace("red"), None),
            ("the red shoe", 3, replace("blue"), None),
            ("the red shoe.", 1, insert("very"), Some("the very red shoe.")),
            ("the red shoe.", 3, insert("here"), Some("the red shoe here.")),
            ("the red shoe.", 4, insert("Yes."), Some("the red shoe. Yes.")),
            ("the red shoe", 3, insert("here"), Some("the red shoe here")),
            ("the red shoe", 2, insert(","), Some("the red, shoe")),
            ("the (red) shoe", 2, insert("very"), Some("the (very red) shoe")),
            ("红裤", 1, insert("大"), Some("红大裤")),
            ("红鞋", 1, insert("大"), Some("红鞋大")),
            ("the red shoe", 0, insert("  "), None),
            ("the old, red shoe", 1, WordEdit::Swap, Some("the red, old shoe")),
            ("the old red shoe.", 3, WordEdit::Swap, None),
            ("\u{e9}t\u{e9} d'or", 0, WordEdit::Swap, Some("d'or \u{e9}t\u{e9}")),
            ("the red shoe", 9, WordEdit::Drop, None),
        ] {
            assert_eq!(reworded(text, &spans(text), j, &edit).as_deref(), wanted, "{text}, {j}, {edit:?}");
        }
    }

    #[test]
    fn differences_are_said_in_words() {
        for (original, variant, wanted) in [
            ("the red shoe", "the red shoe", &[][..]),
            ("the red shoe.", "the blue shoe.", &["\"blue\" for \"red\""]),
            ("the old, red shoe", "the, red shoe", &["without \"old\""]),
            ("the red shoe", "the very red shoe", &["with \"very\""]),
            ("the old, red shoe", "the red, old shoe", &["\"old\" and \"red\" swapped"]),
            ("the red shoe is old", "a red shoe is new", &["\"a\" for \"the\"", "\"new\" for \"old\""]),
            ("the red  shoe", "the red shoe", &["other spaces"]),
            (
                "a b c d e f g h i j k",
                "A b C d E f G h I j K",
                &["\"A\" for \"a\"", "\"C\" for \"c\"", "\"E\" for \"e\"", "\"G\" for \"g\"", "and 2 more"],
            ),
            ("\u{7ea2}\u{978b}", "\u{84dd}\u{978b}", &["\"\u{84dd}\u{978b}\" for \"\u{7ea2}\u{978b}\""]),
            ("我喜欢红色的书。", "我喜欢蓝色的书。", &["\"蓝色\" for \"红色\""]),
            ("เรากินข้าว", "เรากินปลา", &["\"ปลา\" for \"ข้าว\""]),
        ] {
            assert_eq!(differs(original, variant), wanted, "{original}: {variant}");
        }
    }

    #[test]
    fn a_variant_goes_with_what_is_typed_elsewhere() {
        for (before, after, variant, wanted) in [
            ("the red shoe", "the red shoes", "the blue shoe", Some("the blue shoes")),
            ("the red shoe", "that red shoe", "the blue shoe", Some("that blue shoe")),
            ("the red shoe", "the red shoe ", "the red boot", Some("the red boot ")),
            ("the red shoe", "the red shoes", "the red boot", None),
            ("the red shoe", "the reddish shoe", "the blue shoe", None),
            ("the red shoe", "", "the blue shoe", None),
        ] {
            assert_eq!(carried(before, after, variant).as_deref(), wanted, "{before}: {after}: {variant}");
        }
    }
}
