//! Floor 9: alignments by hand of the sentence that is shown, as rows of alpha. Pure.
//!
//! Annotators count the words between spaces of a line and its reference; models cut both otherwise. What they have in
//! common are the letters in their order, spaces left aside, so a link goes from the letters of a word to the tokens
//! that have them.

use std::ops::Range;

use crate::app::document::column::Column;
use crate::text::links::Links;
use crate::text::sentence::{EOS, Sentence};

/// Links by hand between a sentence and its reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gold {
    /// The sentence.
    pub source: String,
    /// Its reference.
    pub reference: String,
    /// Links of the words between spaces.
    pub links: Links,
}

/// Why gold does not fit what a column says.
pub const OTHER_WORDS: &str = "The alignment by hand belongs to the sentence and its reference, and this column reads or says something else; let it say the reference first";

/// Words as the letters that they have of a text.
struct Lettered {
    letters: String,
    words: Vec<Range<usize>>,
}

impl Lettered {
    /// Of words one after the other.
    fn of<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut out = Self { letters: String::new(), words: Vec::new() };
        for word in words {
            let from = out.letters.len();
            out.letters.extend(word.chars().filter(|c| !c.is_whitespace()).flat_map(folded));
            out.words.push(from..out.letters.len());
        }
        out
    }

    /// The words that share a letter with these.
    fn over(&self, letters: &Range<usize>) -> impl Iterator<Item = usize> {
        let shares = |word: &Range<usize>| word.start < letters.end && letters.start < word.end;
        let found: Vec<usize> = (0..self.words.len()).filter(|n| shares(&self.words[*n])).collect();
        found.into_iter()
    }
}

/// Without what vocabularies write in more than one way.
fn folded(c: char) -> impl Iterator<Item = char> {
    (if c == '\u{2019}' { '\'' } else { c }).to_lowercase()
}

fn shown_words(column: &Column) -> Vec<&str> {
    let Some(shown) = column.shown() else { return Vec::new() };
    let words = shown.pieces.as_ref().map_or(&shown.tokens, |pieces| &pieces.words);
    words.iter().map(|word| if word == EOS { "" } else { word.as_str() }).collect()
}

impl Gold {
    /// Whether a column says the reference.
    pub fn fits(&self, column: &Column) -> bool {
        let shown = Lettered::of(shown_words(column).into_iter());
        let letters = |text: &str| Lettered::of(text.split_whitespace()).letters;
        letters(&column.source.text) == letters(&self.source)
            && !shown.letters.is_empty()
            && shown.letters == Lettered::of(self.reference.split_whitespace()).letters
    }

    /// The row of word i of what a column says: every source word that it is surely linked with has the same weight, or
    /// every one that it is possibly linked with where none is sure. Tokens of a word share its weight.
    ///
    /// # Errors
    /// A sentence that says why there is none.
    pub fn row(&self, column: &Column, i: usize) -> Result<Vec<f32>, &'static str> {
        if !self.fits(column) {
            return Err(OTHER_WORDS);
        }
        let shown = Lettered::of(shown_words(column).into_iter());
        let reference = Lettered::of(self.reference.split_whitespace());
        let letters = shown.words.get(i).ok_or("There is no such word")?;
        let targets: Vec<usize> = reference.over(letters).collect();
        let sources = |links: &[crate::text::links::Link]| -> Vec<usize> {
            let mut sources: Vec<usize> =
                links.iter().filter(|link| targets.contains(&link.target)).map(|link| link.source).collect();
            sources.sort_unstable();
            sources.dedup();
            sources
        };
        let sure = sources(self.links.sure());
        let linked = if sure.is_empty() { sources(self.links.possible()) } else { sure };
        let row = self.weights(&linked, &column.source);
        if row.iter().all(|weight| *weight == 0.0) {
            return Err("The alignment by hand links this word with none");
        }
        Ok(row)
    }

    /// The same weight for each of these words of the line, shared by its tokens.
    fn weights(&self, words: &[usize], source: &Sentence) -> Vec<f32> {
        let line = Lettered::of(self.source.split_whitespace());
        let tokens = source.spans.iter().map(|span| source.text.get(span.clone()).unwrap_or_default());
        let tokens = Lettered::of(tokens);
        let of = |word: &usize| line.words.get(*word).map(|letters| tokens.over(letters).collect::<Vec<_>>());
        let words: Vec<Vec<usize>> = words.iter().filter_map(of).filter(|tokens| !tokens.is_empty()).collect();
        let mut row = vec![0.0; source.len()];
        for tokens in &words {
            for j in tokens {
                row[*j] += 1.0 / (words.len() * tokens.len()) as f32;
            }
        }
        row
    }
}
