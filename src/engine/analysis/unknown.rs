//! What stands for `[UNK]` in a translation: the source word of greatest alpha, through a dictionary where
//! it knows the word, else copied as it was typed (Luong et al. 2015b; Jean et al. 2015, section 3.3). And how systems spell
//! an unknown word, which every count of words takes for one word. Imports `text`.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;

use crate::analysis::alignment::{Alignment, greatest};
use crate::text::{dictionary::Dictionary, sentence::Sentence};

/// How systems spell an unknown word: `[UNK]` (Interlinear, BERT), `<unk>` (Marian, OpenNMT, fairseq; `<<unk>>` in its
/// references), U+2047 (SentencePiece), and `UNK` as a whole word (GroundHog, Nematus).
static SPELLED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i:\[unk\]|<<unk>>|<unk>|&lt;unk&gt;)|\x{2047}|\bUNK\b").expect("a pattern that is tested")
});

/// How many unknown words a text has, however they are spelled.
pub fn count(text: &str) -> usize {
    SPELLED.find_iter(text).count()
}

/// The text before, between and behind its unknown words: one part more than these.
pub fn parts(text: &str) -> impl Iterator<Item = &str> {
    SPELLED.split(text)
}

/// What unknown words give way to.
#[derive(Clone, Debug, Default)]
pub struct Replacing {
    /// Translates the source words that it knows; the others are copied.
    pub dictionary: Option<Dictionary>,
}

/// The source word that a target word looks at most, `</s>` left aside; `None` where it looks at no word. `alpha` has a
/// row for each target word.
pub fn attended(alpha: &Alignment, i: usize, source: &Sentence) -> Option<usize> {
    let alpha_i = alpha.row(i);
    greatest(&alpha_i[..source.words().min(alpha_i.len())])
}

/// What stands for an unknown word that goes with a source word.
pub fn stand_in<'a>(word: &'a str, dictionary: Option<&'a Dictionary>) -> Cow<'a, str> {
    dictionary.and_then(|dictionary| dictionary.translate(word)).unwrap_or(Cow::Borrowed(word))
}

/// The words of a translation with those replaced that are `unknown`; where there is no alignment all stay.
pub fn replace<'a>(
    words: &[&'a str], unknown: impl Fn(usize) -> bool, alpha: Option<&Alignment>, source: &'a Sentence,
    dictionary: Option<&'a Dictionary>,
) -> Vec<Cow<'a, str>> {
    let known = |(i, &word): (usize, &&'a str)| {
        let alpha = alpha.filter(|_| unknown(i));
        let place = alpha.and_then(|alpha| attended(alpha, i, source));
        place.map_or(Cow::Borrowed(word), |j| stand_in(&source.tokens[j], dictionary))
    };
    words.iter().enumerate().map(known).collect()
}
