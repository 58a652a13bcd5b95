//! Links between words that others have cut, such as those of a model: both are places in one text, so the links of what
//! the rules of the language cut are carried over by the letters that they share.

use std::{collections::HashSet, ops::Range};

use crate::aligner::{bundled::AlignerChoice, words::LineAligner};
use crate::error::Result;
use crate::text::cut::{WordRule, has_letter};
use crate::text::links::{Link, Links};
use crate::text::sentence::{EOS, UNK};
use crate::text::{join::join, words::place};

/// A word that no text has stands for `[UNK]`, whose marks would be cut off as words.
const UNKNOWN: &str = "unk";

/// A text and the places of its words, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedWords {
    pub text: String,
    /// The bytes of each word in it; empty where a word, as `</s>`, has none.
    pub spans: Vec<Range<usize>>,
}

impl PlacedWords {
    /// The text that these words make in a language.
    pub fn joined<T: AsRef<str>>(language: &str, words: &[T]) -> Self {
        let known = |word: &T| if word.as_ref() == UNK { UNKNOWN.to_owned() } else { word.as_ref().to_owned() };
        let words: Vec<String> = words.iter().map(known).collect();
        let text = join(language, &words);
        let mut at = 0;
        let spans = words.iter().map(|word| {
            // joining adds nothing but spaces
            let found = text[at..].find(word.as_str()).filter(|_| word != EOS);
            let span = found.map_or(at..at, |place| at + place..at + place + word.len());
            at = span.end;
            span
        });
        let spans = spans.collect();
        Self { text, spans }
    }

    /// For each word of a rule those that share a letter with it; punctuation has no part in a word with a letter or
    /// digit.
    fn shared(&self, rule: WordRule) -> Vec<Vec<usize>> {
        let over = |word: &str| {
            let bytes = place(&self.text, word);
            let first = self.spans.partition_point(|span| span.end <= bytes.start);
            let spans = self.spans.iter().enumerate().skip(first).take_while(|(_, span)| span.start < bytes.end);
            let has_part = |span: &Range<usize>| {
                !span.is_empty() && (has_letter(word) || !self.text.get(span.clone()).is_some_and(has_letter))
            };
            spans.filter(|(_, span)| has_part(span)).map(|(own, _)| own).collect()
        };
        rule.words(&self.text).into_iter().map(over).collect()
    }
}

/// An aligner for words at places of two texts.
#[derive(Debug)]
pub struct PlacedAligner(LineAligner);

impl PlacedAligner {
    /// The aligner of two languages; `None` where there is none.
    pub fn chosen(choice: &AlignerChoice) -> Result<Option<Self>> {
        Ok(LineAligner::chosen(choice, false)?.map(Self))
    }

    /// The links between the words of two texts; sure are the likely ones, possible those of one direction alone.
    pub fn links(&mut self, source: &PlacedWords, target: &PlacedWords) -> Links {
        let [from, to] = self.0.rules();
        let (x, y) = (source.shared(from), target.shared(to));
        let (_, _, links) = self.0.words(&source.text, &target.text);
        let carry = |links: &[Link]| -> HashSet<Link> {
            let of = |link: &Link| {
                let targets = &y[link.target];
                x[link.source]
                    .iter()
                    .flat_map(move |&source| targets.iter().map(move |&target| Link { source, target }))
            };
            links.iter().flat_map(of).collect()
        };
        let [sure, forward, reverse] = [&links.likely, &links.forward, &links.reverse].map(|links| carry(links));
        Links::new(sure.into_iter().collect(), forward.union(&reverse).copied().collect())
    }
}
