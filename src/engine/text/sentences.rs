//! A paragraph as sentences: the rules of Unicode (UAX 29, by `icu_segmenter`), and what they do not know: abbreviations,
//! initials, ordinal numbers and what goes on in a small letter. Imports its room.

use std::sync::LazyLock;

use icu_segmenter::options::SentenceBreakInvariantOptions;
use icu_segmenter::{SentenceSegmenter, SentenceSegmenterBorrowed};

use crate::text::language::primary;

struct Abbreviations {
    language: &'static str,
    /// Followed by more of the sentence, whatever it begins with.
    always: &'static [&'static str],
    /// Followed by a number: `No. 5`.
    numbered: &'static [&'static str],
    /// Words that begin a sentence, behind letters with full stops: `in the U.S. The`.
    starters: &'static [&'static str],
}

const TABLE: &[Abbreviations] = &[
    Abbreviations {
        language: "*",
        always: &["dr", "prof", "st", "vs", "cf", "dipl", "ing"],
        numbered: &["no", "nos", "nr", "n", "p", "pp", "art", "fig", "vol", "cap", "par"],
        starters: &[],
    },
    Abbreviations {
        language: "en",
        always: &[
            "mr", "mrs", "ms", "messrs", "mt", "rev", "hon", "gen", "col", "capt", "lt", "sgt", "cpl", "maj", "cmdr",
            "gov", "sen", "rep", "pres", "supt", "esq", "e.g", "i.e", "viz", "approx", "adm", "fr", "ft",
        ],
        numbered: &[
            "ch", "sec", "eq", "pt", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov",
            "dec",
        ],
        starters: &[
            "the", "a", "an", "he", "she", "it", "they", "we", "you", "i", "this", "that", "these", "those", "there",
            "in", "on", "at", "but", "and", "so", "if", "when", "as", "his", "her", "their", "our", "what", "who",
            "why", "how", "yet", "then", "now", "no",
        ],
    },
    Abbreviations {
        language: "fr",
        always: &["m", "mm", "mgr", "ste", "gén", "lt", "col", "bd", "env", "p.ex", "c.-à-d", "éd"],
        numbered: &["chap", "t", "janv", "févr", "avr", "juil", "sept", "oct", "nov", "déc", "tél"],
        starters: &[
            "le", "la", "les", "l", "un", "une", "des", "il", "elle", "ils", "elles", "on", "nous", "vous", "je", "j",
            "ce", "c", "cette", "ces", "mais", "et", "en", "dans", "à", "si", "quand", "son", "sa", "ses", "leur",
            "pour", "qui", "que",
        ],
    },
    Abbreviations {
        language: "de",
        always: &[
            "hr", "fr", "frl", "z", "d", "u", "o", "z.b", "d.h", "u.a", "bzw", "ca", "vgl", "sog", "geb", "str",
            "inkl", "evtl", "ggf", "mio", "mrd", "allg", "bes", "hl", "abt", "dgl", "i.d.r",
        ],
        numbered: &["kap", "abs", "bd", "s", "jan", "feb", "mär", "apr", "aug", "sept", "okt", "nov", "dez", "tel"],
        starters: &[
            "der", "die", "das", "ein", "eine", "er", "sie", "es", "wir", "ihr", "ich", "dies", "diese", "dieser",
            "in", "im", "am", "aber", "und", "doch", "wenn", "als", "so", "da", "dann", "nun", "sein", "seine", "was",
            "wer", "wie",
        ],
    },
];

/// Languages in which a number with a full stop is an ordinal: `am 3. Oktober`.
const ORDINALS: &[&str] = &["de", "cs", "da", "fi", "hu", "nb", "no", "pl", "sk", "sl", "hr", "et", "lv", "is", "tr"];

/// The sentences of a paragraph in a language given by its BCP 47 tag, spaces around each left out. All that is not
/// space is in one of them, in its order.
pub fn sentences<'a>(paragraph: &'a str, language: &str) -> Vec<&'a str> {
    static SEGMENTER: LazyLock<SentenceSegmenterBorrowed<'static>> =
        LazyLock::new(|| SentenceSegmenter::new(SentenceBreakInvariantOptions::default()));
    let language = primary(language);
    let (mut found, mut start) = (Vec::new(), 0);
    for end in SEGMENTER.segment_str(paragraph).chain([paragraph.len()]) {
        let end = end + closing(&paragraph[end..]);
        if end <= start {
            continue;
        }
        let goes_on = end < paragraph.len() && goes_on(&paragraph[start..end], &paragraph[end..], &language);
        let sentence = paragraph[start..end].trim();
        if !goes_on && !sentence.is_empty() {
            found.push(sentence);
            start = end;
        }
    }
    found
}

fn goes_on(before: &str, behind: &str, language: &str) -> bool {
    let (before, behind) = (before.trim(), behind.trim_start());
    let has_words = |text: &str| text.chars().any(char::is_alphanumeric);
    let own = behind.split_whitespace().next().unwrap_or_default();
    // a number in a list, a dash that begins a speech
    if !has_words(before) || is_number(before.trim_end_matches('.')) {
        return true;
    }
    let next = behind.chars().find(|c| c.is_alphanumeric());
    if behind.chars().next().is_some_and(char::is_lowercase) {
        return true;
    }
    let last = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let Some(word) = last.strip_suffix('.') else { return false };
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    // l'art., d'éd.
    let bare = word.rsplit(['\'', '\u{2019}']).next().unwrap_or_default();
    let is_digit = next.is_some_and(|c| c.is_ascii_digit());
    let known = || TABLE.iter().filter(|line| line.language == "*" || line.language == language);
    if known().any(|line| line.always.contains(&bare) || is_digit && line.numbered.contains(&bare)) {
        return true;
    }
    if is_number(&word) {
        return ORDINALS.contains(&language) && word.len() <= 2;
    }
    // J. R. R. Tolkien; `So do I.` ends.
    let letters = word.chars().count();
    let is_initial = letters == 1 && last.chars().any(char::is_uppercase) && !(language == "en" && word == "i");
    let first =
        own.split(|c: char| !c.is_alphanumeric()).find(|part| !part.is_empty()).unwrap_or_default().to_lowercase();
    let starts = known().any(|line| line.starters.contains(&first.as_str()));
    is_initial || word.contains('.') && word.split('.').all(|part| part.chars().count() == 1) && !starts
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// How far marks go that close what stands before them, and that spaces part from it: `pars. »`
fn closing(behind: &str) -> usize {
    let closes = |c: char| matches!(c, '\u{201d}' | '\u{2019}' | '»' | ')' | ']' | '!' | '?' | '\u{2026}');
    let first = behind.split_whitespace().next().filter(|first| first.chars().all(closes));
    first.map_or(0, |first| behind.len() - behind.trim_start().len() + first.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_stop_ends_a_sentence_or_a_word() {
        for (language, text, count) in [
            ("en", "Mr. Hill met Dr. Stone. They left at once.", 2),
            ("en", "It was no. 5 on the list. No. I do not know.", 3),
            ("en", "He lived in the U.S. Army base. She came from the U.S. The ship was late.", 3),
            ("en", "\"Why?\" he asked. \"Go away!\" J. R. Brown said nothing.", 3),
            ("en", "So do I. You know it.", 2),
            ("en", "It cost 3.50 pounds, i.e. Too much for us... But we paid!", 2),
            ("fr", "M. Roux arrive. « Non ! dit-il. Je pars. » Elle rit.", 4),
            ("fr", "Voir l'art. 5 et la p. 12. C'est tout.", 2),
            ("de", "Am 3. Oktober kam Hr. Bauer, z. B. Mit dem Zug. Das war 1989. Dann ging er.", 3),
            ("zh", "天下雨了。我们回家吧！好吗？", 3),
            ("en", "1. First of all. 2. Then.", 2),
        ] {
            let found = sentences(text, language);
            assert_eq!(found.len(), count, "{language}: {found:?}");
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(bare(&found.concat()), bare(text));
        }
        assert!(sentences(" \u{a0} ", "en").is_empty());
    }
}
