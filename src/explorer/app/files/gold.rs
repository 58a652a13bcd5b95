//! Alignments by hand of the sentence that is shown, as rows of alpha. Pure.
//!
//! Files count what stands between the spaces of a line and its reference, corpora their own words; a column counts its
//! own ([`engine::text::cut`]), and a link goes from a word to the tokens that cover it ([`engine::text::words`]).

use std::collections::BTreeSet;

use crate::app::{document::column::Column, document::table};
use crate::jobs::live::protocol::HypothesisView;
use engine::text::links::{Link, Links};
use engine::text::sentence::{EOS, Sentence, UNK};
use engine::text::words::{WordPlaces, folded, words};
use engine::{aligner::sides::SideRules, lang, text::cut::WordRule};

/// Links by hand between a sentence and its reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gold {
    pub source: String,
    pub reference: String,
    pub links: Links,
    /// Which words of both texts the links count.
    pub rules: [WordRule; 2],
}

pub const OTHER_WORDS: &str = id!(
    "The alignment by hand belongs to the sentence and its reference, and this column reads or says something else; let it say the reference first"
);

/// The words that the parts of a text cover; `None` if the parts make up another text.
fn covered<'a>(parts: impl Iterator<Item = &'a str>, text: &str, rule: WordRule) -> Option<WordPlaces> {
    WordPlaces::of_parts(&parts.map(folded).collect::<Vec<_>>(), &folded(text), rule)
}

fn shown_words(column: &Column) -> Vec<&str> {
    let Some(shown) = column.shown() else { return Vec::new() };
    let words = shown.pieces.as_ref().map_or(&shown.tokens, |pieces| &pieces.words);
    words.iter().map(|word| if word == EOS { "" } else { word.as_str() }).collect()
}

impl Gold {
    /// Its links between the words of other rules.
    pub(crate) fn links_of(&self, rules: [WordRule; 2]) -> Links {
        let [to, from] = [rules, self.rules].map(|[source, target]| SideRules { source, target });
        to.respread(&self.links, from, (&self.source, &self.reference))
    }

    /// Its links between the shown words or pieces of a translation; `None` if that is not the reference.
    pub fn shown(&self, source: &Sentence, shown: &HypothesisView, pieces: bool) -> Option<Links> {
        // unknown words of what is read are `[UNK]`
        let is_same = |(own, other): (&str, &str)| own.contains(UNK) || folded(own) == folded(other);
        let same = |own: &str, other: &str| {
            words(own).count() == words(other).count() && words(own).zip(words(other)).all(is_same)
        };
        if !same(&source.text, &self.source) || !same(&shown.text, &self.reference) {
            return None;
        }
        let (x, y) = table::sides(source, shown)?;
        let links = table::of_vocabulary(&self.links_of(shown.rules), &x, &y);
        Some(match shown.pieces.as_ref().filter(|_| pieces) {
            Some(pieces) => links.spread(&pieces.source, &pieces.target),
            None => links,
        })
    }

    pub fn fits(&self, column: &Column) -> bool {
        self.places(column).is_some()
    }

    fn places(&self, column: &Column) -> Option<(WordPlaces, WordPlaces)> {
        let (Sentence { text, spans, .. }, rules) = (&column.source, column.shown()?.rules);
        // What is no part of a token goes with the next.
        let from = std::iter::once(0).chain(spans.iter().map(|span| span.end));
        let tokens = from.zip(spans).map(|(from, span)| text.get(from..span.end).unwrap_or_default());
        let rest = spans.last().and_then(|last| text.get(last.end..));
        let mut source = covered(tokens.chain(rest), &self.source, rules[0])?;
        source.places.truncate(spans.len());
        let target = covered(shown_words(column).into_iter(), &self.reference, rules[1])?;
        (target.words > 0).then_some((source, target))
    }

    /// Equal weights on the words that word i is surely, else possibly, linked with. Error: why there are none.
    pub fn row(&self, column: &Column, i: usize) -> Result<Vec<f32>, &'static str> {
        let (source, target) = self.places(column).ok_or(lang::text(OTHER_WORDS))?;
        let targets = target.places.get(i).ok_or(tr!("There is no such word"))?;
        let links = self.links_of(column.shown().map(|shown| shown.rules).unwrap_or_default());
        let sources = |links: &[Link]| -> BTreeSet<usize> {
            links.iter().filter(|link| targets.contains(&link.target)).map(|link| link.source).collect()
        };
        let sure = sources(links.sure());
        let linked = if sure.is_empty() { sources(links.possible()) } else { sure };
        let words = linked.into_iter().map(|word| source.parts_of(word).collect::<Vec<_>>());
        let words: Vec<Vec<usize>> = words.filter(|tokens| !tokens.is_empty()).collect();
        if words.is_empty() {
            return Err(tr!("The alignment by hand links this word with none"));
        }
        let mut row = vec![0.0; source.places.len()];
        for tokens in &words {
            for j in tokens {
                row[*j] += 1.0 / (words.len() * tokens.len()) as f32;
            }
        }
        Ok(row)
    }
}
