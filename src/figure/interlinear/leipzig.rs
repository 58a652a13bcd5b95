//! The Leipzig glossing rules (Comrie, Haspelmath and Bickel 2015): a gloss has as many parts as its word, and labels of grammar
//! are set in small capitals and listed.

use crate::svg::escaped;

/// A label of grammar, and what it means.
pub type Abbreviation = (&'static str, &'static str);

/// The standard abbreviations of the rules.
pub const ABBREVIATIONS: &[Abbreviation] = &[
    ("1", "first person"),
    ("2", "second person"),
    ("3", "third person"),
    ("A", "agent-like argument"),
    ("ABL", "ablative"),
    ("ABS", "absolutive"),
    ("ACC", "accusative"),
    ("ADJ", "adjective"),
    ("ADV", "adverb(ial)"),
    ("AGR", "agreement"),
    ("ALL", "allative"),
    ("ANTIP", "antipassive"),
    ("APPL", "applicative"),
    ("ART", "article"),
    ("AUX", "auxiliary"),
    ("BEN", "benefactive"),
    ("CAUS", "causative"),
    ("CLF", "classifier"),
    ("COM", "comitative"),
    ("COMP", "complementizer"),
    ("COMPL", "completive"),
    ("COND", "conditional"),
    ("COP", "copula"),
    ("CVB", "converb"),
    ("DAT", "dative"),
    ("DECL", "declarative"),
    ("DEF", "definite"),
    ("DEM", "demonstrative"),
    ("DET", "determiner"),
    ("DIST", "distal"),
    ("DISTR", "distributive"),
    ("DU", "dual"),
    ("DUR", "durative"),
    ("ERG", "ergative"),
    ("EXCL", "exclusive"),
    ("F", "feminine"),
    ("FOC", "focus"),
    ("FUT", "future"),
    ("GEN", "genitive"),
    ("IMP", "imperative"),
    ("INCL", "inclusive"),
    ("IND", "indicative"),
    ("INDF", "indefinite"),
    ("INF", "infinitive"),
    ("INS", "instrumental"),
    ("INTR", "intransitive"),
    ("IPFV", "imperfective"),
    ("IRR", "irrealis"),
    ("LOC", "locative"),
    ("M", "masculine"),
    ("N", "neuter"),
    ("NEG", "negation, negative"),
    ("NMLZ", "nominalizer/nominalization"),
    ("NOM", "nominative"),
    ("OBJ", "object"),
    ("OBL", "oblique"),
    ("P", "patient-like argument"),
    ("PASS", "passive"),
    ("PFV", "perfective"),
    ("PL", "plural"),
    ("POSS", "possessive"),
    ("PRED", "predicative"),
    ("PRF", "perfect"),
    ("PRS", "present"),
    ("PROG", "progressive"),
    ("PROH", "prohibitive"),
    ("PROX", "proximal/proximate"),
    ("PST", "past"),
    ("PTCP", "participle"),
    ("PURP", "purposive"),
    ("Q", "question particle/marker"),
    ("QUOT", "quotative"),
    ("RECP", "reciprocal"),
    ("REFL", "reflexive"),
    ("REL", "relative"),
    ("RES", "resultative"),
    ("S", "single argument"),
    ("SBJ", "subject"),
    ("SBJV", "subjunctive"),
    ("SG", "singular"),
    ("TOP", "topic"),
    ("TR", "transitive"),
    ("VOC", "vocative"),
];

const LONGEST: usize = 5;

/// A gloss in pieces, each with whether it is a label: a standard one, or two to five capitals beside other parts of a gloss. A
/// single letter is one only behind a number or beside such parts: `M.PL`, and not `M.` of a name. Numbers of persons stay apart:
/// `3SG` is `3` and `SG`.
pub fn labelled(gloss: &str) -> Vec<(&str, bool)> {
    let kind = |c: char| if c.is_alphabetic() { 0 } else { 1 + u8::from(c.is_numeric()) };
    let (mut pieces, mut start) = (Vec::new(), 0);
    let mut letters = gloss.char_indices().peekable();
    while let Some((at, c)) = letters.next() {
        if letters.peek().is_none_or(|(_, next)| kind(*next) != kind(c)) {
            pieces.push(&gloss[start..at + c.len_utf8()]);
            start = at + c.len_utf8();
        }
    }
    let is_long = |piece: &str| piece.chars().nth(1).is_some();
    let is_part = |piece: &str| is_long(piece) && is_standard(piece) || piece.starts_with(char::is_lowercase);
    let is_person = |piece: &str| PERSONS.contains(&piece);
    let parts = pieces.iter().filter(|piece| is_part(piece)).count();
    let is_label = |at: usize| {
        let piece = pieces[at];
        let is_beside = || at > 0 && is_person(pieces[at - 1]) || parts > usize::from(is_part(piece));
        let is_free = is_long(piece) && piece.len() <= LONGEST && piece.bytes().all(|c| c.is_ascii_uppercase());
        !is_person(piece) && is_standard(piece) && (is_long(piece) || is_beside()) || is_free && is_beside()
    };
    (0..pieces.len()).map(|at| (pieces[at], is_label(at))).collect()
}

const PERSONS: [&str; 3] = ["1", "2", "3"];

fn is_standard(piece: &str) -> bool {
    ABBREVIATIONS.iter().any(|(label, _)| *label == piece)
}

/// The standard labels that glosses use, in the order of the alphabet.
pub fn used<'a>(glosses: impl Iterator<Item = &'a str>) -> Vec<Abbreviation> {
    let mut found: Vec<&str> = Vec::new();
    for gloss in glosses {
        let pieces = labelled(gloss);
        let has_label = pieces.iter().any(|(_, is_label)| *is_label);
        let is_used = |(piece, is_label): &(&str, bool)| *is_label || has_label && PERSONS.contains(piece);
        found.extend(pieces.into_iter().filter(is_used).map(|(piece, _)| piece));
    }
    ABBREVIATIONS.iter().filter(|(label, _)| found.contains(label)).copied().collect()
}

/// What parts the pieces of a word: rules 2, 2A and 10.
const SEPARATORS: [char; 3] = ['-', '=', '~'];

/// Whether a word and what stands under it have the same hyphens, equals signs and tildes, so that their parts belong together.
pub fn fits(word: &str, gloss: &str) -> bool {
    let marks = |text: &str| text.chars().filter(|c| SEPARATORS.contains(c)).collect::<String>();
    // Punctuation such as a dash has no parts.
    let is_word = |text: &str| text.chars().any(char::is_alphanumeric);
    gloss.is_empty() || !is_word(word) || marks(word) == marks(gloss)
}

/// What labels mean, as a line.
pub fn text(known: &[Abbreviation]) -> String {
    format!("{}\n", known.iter().map(|(label, meaning)| format!("{label} {meaning}")).collect::<Vec<_>>().join(", "))
}

/// The same for a page.
pub fn html(known: &[Abbreviation]) -> String {
    let one = |(label, meaning): &Abbreviation| format!("<small>{}</small> {}", label.to_lowercase(), escaped(meaning));
    format!("<p>{}</p>\n", known.iter().map(one).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_told_from_words() {
        let labels = |gloss: &str| -> Vec<String> {
            let pieces = labelled(gloss);
            assert_eq!(pieces.iter().map(|(piece, _)| *piece).collect::<String>(), gloss);
            pieces.into_iter().filter(|(_, is_label)| *is_label).map(|(piece, _)| piece.to_owned()).collect()
        };
        assert_eq!(labels("see-PST.3SG"), ["PST", "SG"]);
        assert_eq!(labels("I"), [""; 0]);
        assert_eq!(labels("F=house~RED"), ["F", "RED"]);
        let known: Vec<&str> = used(["see-PST.3SG", "XX", "dog"].into_iter()).iter().map(|(label, _)| *label).collect();
        assert_eq!(known, ["3", "PST", "SG"]);
        assert!(
            fits("abur-u-n", "they-OBL-GEN") && !fits("abur-u", "they-OBL-GEN") && fits("-", "dash") && fits("a-b", "")
        );
    }
}
