//! Links between words that others have cut, such as those of a model: both are places in one text, so the links of what
//! the rules of the language cut are carried over by the letters that they share.

use std::collections::HashSet;
use std::ops::Range;

use crate::aligner::bundled::AlignerChoice;
use crate::aligner::learned::Learned;
use crate::aligner::pair::PairPosteriors;
use crate::error::Result;
use crate::text::join::join;
use crate::text::links::{Link, Links};
use crate::text::sentence::{EOS, UNK};
use crate::text::tokenizer::Tokenizer;
use crate::text::vocab;

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

    /// The words that share a letter with these bytes.
    fn over<'a>(&'a self, bytes: &'a Range<usize>) -> impl Iterator<Item = usize> + Clone + 'a {
        let first = self.spans.partition_point(|span| span.end <= bytes.start);
        let words = self.spans.iter().enumerate().skip(first).take_while(|(_, span)| span.start < bytes.end);
        words.filter(|(_, span)| !span.is_empty()).map(|(word, _)| word)
    }
}

/// An aligner for words at places of two texts.
#[derive(Debug)]
pub struct PlacedAligner {
    learned: Learned,
    source: Tokenizer,
    target: Tokenizer,
    room: PairPosteriors,
}

impl PlacedAligner {
    /// The aligner of two languages; `None` where there is none.
    pub fn chosen(choice: &AlignerChoice) -> Result<Option<Self>> {
        let Some(learned) = choice.learned() else { return Ok(None) };
        let learned = learned?;
        let rules = |language| vocab::build(language, std::iter::empty(), 0);
        let (source, target) = choice.tags(&learned);
        Ok(Some(Self { source: rules(source)?, target: rules(target)?, room: PairPosteriors::default(), learned }))
    }

    /// The links between the words of two texts; sure are the likely ones, possible those of one direction alone.
    pub fn links(&mut self, source: &PlacedWords, target: &PlacedWords) -> Links {
        let (x, y) = (cut(&self.source, &source.text), cut(&self.target, &target.text));
        let links = self.learned.directions_in(&mut self.room, &x.0, &y.0);
        let carry = |links: &[Link]| -> HashSet<Link> {
            let of = |link: &Link| {
                let targets = target.over(&y.1[link.target]);
                let both = move |source| targets.clone().map(move |target| Link { source, target });
                source.over(&x.1[link.source]).flat_map(both)
            };
            links.iter().flat_map(of).collect()
        };
        let [sure, forward, reverse] = [&links.likely, &links.forward, &links.reverse].map(|links| carry(links));
        Links::new(sure.into_iter().collect(), forward.union(&reverse).copied().collect())
    }
}

/// The words of a text as the rules fold them, and their places.
fn cut(rules: &Tokenizer, text: &str) -> (Vec<String>, Vec<Range<usize>>) {
    let typed = rules.encode_with(text, None);
    let folded = rules.words(text);
    (if folded.len() == typed.tokens.len() { folded } else { typed.tokens }, typed.spans)
}
