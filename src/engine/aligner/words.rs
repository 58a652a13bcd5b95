//! From lines of text to words and back: an aligner sees what the rules of a language cut, and links are told of what
//! stands between the spaces of a line, as alignment files count.

use std::collections::HashMap;

use crate::aligner::bundled::{AlignerChoice, AlignerFiles};
use crate::aligner::learned::{Directions, Learned};
use crate::text::cut::{WordExchange, WordRule, normal};
use crate::{aligner::pair::PairPosteriors, error::Result, text::links::Link};

/// Words that are remembered at most, some 100 MB.
const REMEMBERED: usize = 1_000_000;

/// The words of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineWords {
    /// As the rules of the language cut them.
    pub words: Vec<Box<str>>,
    /// Which words between spaces they stand for.
    pub exchange: WordExchange,
}

/// Cuts the lines of one language.
#[derive(Debug)]
pub struct Cutter {
    rule: WordRule,
    known: HashMap<Box<str>, Box<str>>,
}

impl Cutter {
    pub fn new(language: &str, pretokenized: bool) -> Self {
        Self { rule: WordRule::of(language, pretokenized), known: HashMap::new() }
    }

    pub fn cut(&mut self, line: &str) -> LineWords {
        let words = self.rule.words(line).into_iter().map(|word| self.normal(word)).collect();
        LineWords { words, exchange: WordExchange::of(line, self.rule) }
    }

    fn normal(&mut self, word: &str) -> Box<str> {
        if word.is_ascii() || self.rule == WordRule::Given {
            return word.into();
        }
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.known.entry(word.into()).or_insert_with(|| normal(word).into()).clone()
    }
}

/// Aligns lines with what was learned.
#[derive(Debug)]
pub struct LineAligner {
    pub learned: Learned,
    source: Cutter,
    target: Cutter,
    room: PairPosteriors,
}

impl LineAligner {
    /// Lines are cut as `source` and `target` do.
    pub fn new(learned: Learned, source: Cutter, target: Cutter) -> Self {
        Self { learned, source, target, room: PairPosteriors::default() }
    }

    /// What comes with the program for two languages, given by their BCP 47 tags; `None` where nothing does.
    pub fn bundled(source: &str, target: &str, pretokenized: bool) -> Result<Option<Self>> {
        Self::chosen(
            &AlignerChoice::new((source.to_owned(), target.to_owned()), &AlignerFiles::default()),
            pretokenized,
        )
    }

    /// As [`LineAligner::bundled`], or the user's file.
    pub fn chosen(choice: &AlignerChoice, pretokenized: bool) -> Result<Option<Self>> {
        let Some(learned) = choice.learned() else { return Ok(None) };
        let learned = learned?;
        let (source, target) = choice.tags(&learned);
        let (from, to) = (Cutter::new(source, pretokenized), Cutter::new(target, pretokenized));
        Ok(Some(Self::new(learned, from, to)))
    }

    /// A pair of lines cut into words, and the links between those.
    pub fn words(&mut self, source: &str, target: &str) -> (LineWords, LineWords, Directions) {
        let (source, target) = (self.source.cut(source), self.target.cut(target));
        let links = self.learned.directions_in(&mut self.room, &source.words, &target.words);
        (source, target, links)
    }

    /// How likely what stands between the spaces of two lines belongs together, [target words, source words]: that of
    /// the likeliest of the tokens that stand for them, by the mean of both directions.
    pub fn weights(&mut self, source: &str, target: &str) -> Vec<Vec<f32>> {
        let (source, target, _) = self.words(source, target);
        let (source, target) = (source.exchange, target.exchange);
        let mut weights = vec![vec![0.0_f32; source.spaced]; target.spaced];
        for (i, row) in target.places.iter().enumerate() {
            for (j, column) in source.places.iter().enumerate() {
                if let (Some(row), Some(column)) = (*row, *column) {
                    let weight = &mut weights[row][column];
                    *weight = weight.max(self.room.mean(i, j));
                }
            }
        }
        weights
    }

    pub fn rules(&self) -> [WordRule; 2] {
        [self.source.rule, self.target.rule]
    }

    /// The links between what stands between the spaces of two lines.
    pub fn lines(&mut self, source: &str, target: &str) -> Directions {
        let (source, target, links) = self.words(source, target);
        let carried = |links: Vec<Link>| {
            let mut links = WordExchange::carried(&links, &source.exchange, &target.exchange);
            links.sort_unstable();
            links
        };
        let Directions { forward, reverse, likely } = links;
        Directions { forward: carried(forward), reverse: carried(reverse), likely: carried(likely) }
    }
}
