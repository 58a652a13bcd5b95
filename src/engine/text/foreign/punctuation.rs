//! Punctuation as the makers of OPUS-MT fold it before SentencePiece: marks of Chinese and Japanese and curved
//! quotation marks in ASCII, controls as spaces, single spaces. Imports nothing of ours.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::foreign::normal::Normal;

/// What becomes of a letter. That ONE becomes a quotation mark is a slip of theirs, which their models have learned.
const FOLDED: &[(char, &str)] = &[
    ('，', ","),
    ('。', ". "),
    ('、', ","),
    ('”', "\""),
    ('“', "\""),
    ('∶', ":"),
    ('：', ":"),
    ('？', "?"),
    ('《', "\""),
    ('》', "\""),
    ('）', ")"),
    ('！', "!"),
    ('（', "("),
    ('；', ";"),
    ('１', "\""),
    ('」', "\""),
    ('「', "\""),
    ('０', "0"),
    ('３', "3"),
    ('２', "2"),
    ('５', "5"),
    ('６', "6"),
    ('９', "9"),
    ('７', "7"),
    ('８', "8"),
    ('４', "4"),
    ('．', ". "),
    ('～', "~"),
    ('’', "'"),
    ('…', "..."),
    ('━', "-"),
    ('〈', "<"),
    ('〉', ">"),
    ('【', "["),
    ('】', "]"),
    ('％', "%"),
];

/// Controls, letters without width, and what Unicode has not assigned.
static OTHER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{C}$").ok());

/// The text with its punctuation folded.
pub(super) fn fold(text: &str) -> Normal {
    let mut folded = Normal::default();
    for (place, c) in text.char_indices() {
        let mut letter = [0; 4];
        let letter = &*c.encode_utf8(&mut letter);
        let plain = c.is_ascii_graphic() || c.is_alphanumeric() && !('０'..='９').contains(&c);
        let other = || OTHER.as_ref().is_some_and(|other| other.is_match(letter));
        let known = FOLDED.iter().find(|(from, _)| *from == c && !plain).map(|(_, to)| *to);
        let content = known.unwrap_or(if !plain && other() { " " } else { letter });
        let (mark, spaced) = content.strip_suffix(' ').map_or((content, false), |mark| (mark, true));
        folded.push(mark, place);
        if spaced && !(folded.text.is_empty() || folded.text.ends_with(' ')) {
            // A space that was not typed stands behind the mark.
            folded.push(" ", if mark.is_empty() { place } else { place + c.len_utf8() });
        }
    }
    let end = folded.trim_end(" ").unwrap_or(text.len());
    folded.end(end)
}
