//! From lines of text to words and back: an aligner sees what the rules of a language cut, and links are told of what
//! stands between the spaces of a line, as alignment files count.

use std::collections::HashMap;

use crate::aligner::bundled::{AlignerChoice, AlignerFiles};
use crate::aligner::learned::{Directions, Learned};
use crate::aligner::pair::PairPosteriors;
use crate::error::Result;
use crate::text::links::Link;
use crate::text::tokenizer::Tokenizer;
use crate::text::vocab;
use crate::text::words::words;

/// Chunks whose words are remembered at most, some 100 MB.
const REMEMBERED: usize = 1_000_000;

/// The words of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineWords {
    /// As the rules of the language cut them.
    pub words: Vec<Box<str>>,
    /// Which of the line's chunks between spaces each word belongs to, from 0.
    pub chunks: Vec<usize>,
}

/// Cuts the lines of one language.
#[derive(Debug)]
pub struct Cutter {
    /// `None`: words are split by spaces already.
    rules: Option<Tokenizer>,
    known: HashMap<Box<str>, Box<[Box<str>]>>,
}

impl Cutter {
    /// By the rules of a language, given by its BCP 47 tag, or at spaces alone.
    pub fn new(language: &str, pretokenized: bool) -> Result<Self> {
        let rules = if pretokenized { None } else { Some(vocab::build(language, std::iter::empty(), 0)?) };
        Ok(Self { rules, known: HashMap::new() })
    }

    /// Cuts a line.
    pub fn cut(&mut self, line: &str) -> LineWords {
        let Some(rules) = &self.rules else {
            let words: Vec<Box<str>> = line.split_ascii_whitespace().map(Into::into).collect();
            return LineWords { chunks: (0..words.len()).collect(), words };
        };
        let mut cut = LineWords::default();
        for (at, chunk) in words(line).enumerate() {
            if !self.known.contains_key(chunk) {
                if self.known.len() >= REMEMBERED {
                    self.known.clear();
                }
                let words = rules.words(chunk).into_iter().map(String::into_boxed_str).collect();
                self.known.insert(chunk.into(), words);
            }
            let words = &self.known[chunk];
            cut.words.extend_from_slice(words);
            cut.chunks.extend(std::iter::repeat_n(at, words.len()));
        }
        cut
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
        let (from, to) = (Cutter::new(source, pretokenized)?, Cutter::new(target, pretokenized)?);
        Ok(Some(Self::new(learned, from, to)))
    }

    /// A pair of lines cut into words, and the links between those.
    pub fn words(&mut self, source: &str, target: &str) -> (LineWords, LineWords, Directions) {
        let (source, target) = (self.source.cut(source), self.target.cut(target));
        let links = self.learned.directions_in(&mut self.room, &source.words, &target.words);
        (source, target, links)
    }

    /// How likely what stands between the spaces of two lines belongs together, [target chunks, source chunks]: that of the
    /// likeliest of their words, by the mean of both directions.
    pub fn weights(&mut self, source: &str, target: &str) -> Vec<Vec<f32>> {
        let (source, target, _) = self.words(source, target);
        let chunks = |words: &LineWords| words.chunks.last().map_or(0, |last| last + 1);
        let mut weights = vec![vec![0.0_f32; chunks(&source)]; chunks(&target)];
        for (i, &row) in target.chunks.iter().enumerate() {
            for (j, &column) in source.chunks.iter().enumerate() {
                let weight = &mut weights[row][column];
                *weight = weight.max(self.room.mean(i, j));
            }
        }
        weights
    }

    /// The links between what stands between the spaces of two lines: two chunks are linked where words of theirs are.
    pub fn lines(&mut self, source: &str, target: &str) -> Directions {
        let (source, target, links) = self.words(source, target);
        let chunks = |links: Vec<Link>| {
            let of = |link: Link| Link { source: source.chunks[link.source], target: target.chunks[link.target] };
            let mut links: Vec<Link> = links.into_iter().map(of).collect();
            links.sort_unstable();
            links.dedup();
            links
        };
        let Directions { forward, reverse, likely } = links;
        Directions { forward: chunks(forward), reverse: chunks(reverse), likely: chunks(likely) }
    }
}
