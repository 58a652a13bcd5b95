//! Right-to-left text on one line. egui shapes words but lays runs from left to right: [`visual`] puts the words of a
//! line into visual order (Unicode's bidirectional algorithm) and leaves their letters to the shaper.

use std::{borrow::Cow, ops::Range};

use unicode_bidi::{BidiClass, BidiInfo, bidi_class};

pub use figure::measure::starts_right;

/// The line in visual order from left to right; the same line if it has no text from the right.
pub fn visual(line: &str) -> Cow<'_, str> {
    if !has_right(line) {
        return Cow::Borrowed(line);
    }
    Cow::Owned(pieces(line).into_iter().map(|(_, text)| text).collect())
}

pub fn has_right(line: &str) -> bool {
    // Most labels, every frame: nothing below U+0580 runs from the right, and its bytes are below 0xD6.
    !line.bytes().all(|byte| byte < 0xD6) && line.chars().any(is_right_to_left)
}

/// The pieces of a line in visual order: byte range in the line, and what is drawn.
pub fn pieces(line: &str) -> Vec<(Range<usize>, Cow<'_, str>)> {
    let info = BidiInfo::new(line, None);
    let mut out = Vec::new();
    for paragraph in &info.paragraphs {
        let (levels, runs) = info.visual_runs(paragraph, paragraph.range.clone());
        for run in runs {
            if levels[run.start].is_rtl() {
                push_reversed(line, run, &mut out);
            } else {
                out.push((run.clone(), Cow::Borrowed(&line[run])));
            }
        }
    }
    out
}

/// A word for a line from the right: single brackets are mirrored.
pub fn turned(word: &str) -> Cow<'_, str> {
    if word.chars().any(|c| mirrored(c) != c) && !word.chars().any(char::is_alphanumeric) {
        Cow::Owned(word.chars().rev().map(mirrored).collect())
    } else {
        Cow::Borrowed(word)
    }
}

fn is_right_to_left(c: char) -> bool {
    matches!(bidi_class(c), BidiClass::R | BidiClass::AL)
}

/// Reverses words and separators; a word's letters keep their order for the shaper.
fn push_reversed<'a>(line: &'a str, run: Range<usize>, out: &mut Vec<(Range<usize>, Cow<'a, str>)>) {
    let mut end = run.end;
    while end > run.start {
        let start = run.start + chunk_start(&line[run.start..end]);
        let chunk = &line[start..end];
        let text = if chunk.chars().any(is_right_to_left) {
            Cow::Borrowed(chunk)
        } else {
            Cow::Owned(chunk.chars().rev().map(mirrored).collect())
        };
        out.push((start..end, text));
        end = start;
    }
}

/// Start of the last chunk (letters with their marks, or everything else).
fn chunk_start(run: &str) -> usize {
    let is_word = |c: char| is_right_to_left(c) || bidi_class(c) == BidiClass::NSM;
    let last = run.chars().next_back().is_some_and(is_word);
    run.char_indices().rev().take_while(|(_, c)| is_word(*c) == last).last().map_or(0, |(at, _)| at)
}

fn mirrored(c: char) -> char {
    match c {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '<' => '>',
        '>' => '<',
        '\u{ab}' => '\u{bb}',
        '\u{bb}' => '\u{ab}',
        other => other,
    }
}
