//! Floor 1: how text is folded, and what differs between languages when it is cut into words. One small table;
//! imports nothing of ours.
//!
//! The rules are those of the Moses tokeniser: in French, Italian and Catalan an apostrophe ends a
//! word (`l'`, `qu'`), elsewhere it begins one (`'s`, `'t`).

use serde_json::{Value, json};

/// How a language writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habits {
    /// The apostrophe belongs to the word before it: `l'` `homme`.
    pub elision: bool,
    /// A space stands before `? ! ; : %` and inside the quotation marks « ».
    pub spaced_marks: bool,
}

/// Languages that differ from [`OTHERS`].
const TABLE: &[(&str, Habits)] = &[
    ("fr", Habits { elision: true, spaced_marks: true }),
    ("it", Habits { elision: true, spaced_marks: false }),
    ("ca", Habits { elision: true, spaced_marks: false }),
];

/// All languages that the table does not name.
const OTHERS: Habits = Habits { elision: false, spaced_marks: false };

/// The habits of a language given by its BCP 47 tag; regions are ignored (`fr-CA` is `fr`).
pub fn habits(language: &str) -> Habits {
    let primary = language.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    TABLE.iter().find(|(name, _)| *name == primary).map_or(OTHERS, |(_, habits)| *habits)
}

/// Letters and their marks.
const LETTER: &str = r"[\p{L}\p{M}]";
/// What a word goes on with; the joiners occur inside words of Persian and of Indian scripts.
const INSIDE: &str = r"[\p{L}\p{M}\p{N}\x{200C}\x{200D}]";

/// The regular expression whose matches are the words of `language`.
///
/// Atomic groups `(?>..)` keep it linear: without them a megabyte of letters would be tried again from every end.
pub fn word_pattern(language: &str) -> String {
    // U.S., p.m.: single letters with full stops stay together.
    let acronym = r"(?<![\p{L}\p{M}\p{N}])(?>(?:\p{L}\.){2,})";
    // A hyphen begins the rest of a compound: a -t -il, well -known.
    let hyphen = format!(r"(?<={INSIDE})-(?={LETTER})(?>{INSIDE}+)");
    let number = format!(r"(?>\p{{N}}+(?:[.,:]\p{{N}}+)*{INSIDE}*)");
    let word = format!(r"(?>{LETTER}{INSIDE}*)");
    // Dots and dashes that people type in rows.
    let rows = r"\.\.\.|--+";
    // Any other mark alone, with its combining marks, so that emoji of several parts hold together.
    let other = r"[^\s\p{L}\p{N}](?:\p{M}|\x{200D}[^\s\p{L}\p{N}])*";
    if habits(language).elision {
        // Before a quotation mark, or a space that does not belong there, only the words that really elide: l'« Europe ».
        let quoted = r#"(?i:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)'(?=["«(\[]|$)"#;
        let elided = r"(?:'(?=[\p{L}\p{N}]))?";
        [acronym, quoted, &format!("{hyphen}{elided}"), &number, &format!("{word}{elided}"), rows, other].join("|")
    } else {
        let apostrophe = format!(r"(?<={INSIDE})'(?={LETTER})(?>{INSIDE}+)");
        [acronym, &hyphen, &apostrophe, &number, &word, rows, other].join("|")
    }
}

/// How text is folded before it is cut, as a tokenizer file says it: NFC; one kind of apostrophe, quotation mark and
/// space; invisible characters gone. No character becomes several, and none depends on what is beyond a space.
pub fn normalizer() -> Value {
    let replace =
        |pattern: &str, content: &str| json!({"type": "Replace", "pattern": {"Regex": pattern}, "content": content});
    json!({"type": "Sequence", "normalizers": [
        {"type": "NFC"},
        replace("[\u{2019}\u{2018}\u{2bc}]", "'"),
        replace("[\u{201c}\u{201d}\u{201e}]", "\""),
        replace(r"[\x{A0}\x{202F}\p{Cc}]", " "),
        // Soft hyphens, zero-width spaces, marks of direction: nothing that a reader sees.
        replace(r"[\x{AD}\x{200B}\x{200E}\x{200F}\x{202A}-\x{202E}\x{2060}\x{2066}-\x{2069}\x{FEFF}]", ""),
    ]})
}
