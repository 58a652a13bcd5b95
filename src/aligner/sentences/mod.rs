//! Which sentences of two documents translate which: by their lengths (Gale and Church 1993), then by their words, too, with a
//! lexicon that was learned before or is learned from what the lengths have found, as hunalign does (Varga et al. 2005). What
//! words say is IBM model 1 against the frequency of words (Moore 2002).

pub mod lengths;
pub mod lexical;
pub mod search;

use std::ops::Range;

use crate::aligner::learned::Learned;
use crate::aligner::sentences::lengths::Lengths;
use crate::aligner::sentences::lexical::Lexical;
use crate::aligner::sentences::search::{BeadCosts, Corridor, search};
use crate::error::Result;
use crate::ticket::CancellationToken;

/// Sentences of one document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentSide {
    /// The words of each sentence.
    pub words: Vec<Vec<Box<str>>>,
    /// How many letters each has.
    pub letters: Vec<usize>,
    /// Which begin a paragraph.
    pub begins: Vec<bool>,
}

impl DocumentSide {
    /// Number of sentences.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// True without any.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Adds a sentence.
    pub fn push(&mut self, text: &str, words: Vec<Box<str>>, begins: bool) {
        self.letters.push(text.chars().filter(|c| !c.is_whitespace()).count());
        self.words.push(words);
        self.begins.push(begins);
    }
}

/// Sentences that translate each other; either side may be empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bead {
    pub source: Range<usize>,
    pub target: Range<usize>,
    /// How much more probable its words are as translations of each other than by themselves, in nats a word; `None` where nothing
    /// is known of them, or a side is empty.
    pub score: Option<f32>,
}

/// What joins the sentences of both sides: how many of each, and -ln of its probability to that of one and one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeadKind {
    pub source: usize,
    pub target: usize,
    pub cost: f32,
}

/// Every kind, with the probabilities of Gale and Church (table 5).
pub const BEAD_KINDS: &[BeadKind] = &[
    BeadKind { source: 1, target: 1, cost: 0.0 },
    BeadKind { source: 1, target: 0, cost: 4.5 },
    BeadKind { source: 0, target: 1, cost: 4.5 },
    BeadKind { source: 2, target: 1, cost: 2.3 },
    BeadKind { source: 1, target: 2, cost: 2.3 },
    BeadKind { source: 2, target: 2, cost: 4.4 },
];

/// Aligns by lengths alone.
///
/// # Errors
/// [`Error::Stale`](crate::error::Error::Stale) as soon as the ticket is stale.
pub fn by_length(source: &DocumentSide, target: &DocumentSide, ticket: &CancellationToken) -> Result<Vec<Bead>> {
    let mut lengths = Lengths::new(source, target);
    let mut corridor = Corridor::diagonal((source.len(), target.len()));
    find(&mut lengths, &mut corridor, ticket)
}

/// Aligns by lengths and words, near beads that are known about.
///
/// # Errors
/// As [`by_length`].
pub fn by_words(
    (source, target): (&DocumentSide, &DocumentSide),
    learned: &Learned,
    near: &[Bead],
    ticket: &CancellationToken,
) -> Result<Vec<Bead>> {
    let mut costs = Lexical::new(source, target, learned);
    let mut corridor = Corridor::around((source.len(), target.len()), near);
    let mut beads = find(&mut costs, &mut corridor, ticket)?;
    for bead in &mut beads {
        bead.score = costs.score(bead);
    }
    Ok(beads)
}

/// The best beads; where they go along the edge of the corridor it is made wider.
fn find(costs: &mut dyn BeadCosts, corridor: &mut Corridor, ticket: &CancellationToken) -> Result<Vec<Bead>> {
    loop {
        let beads = search(costs, corridor, ticket)?;
        if !corridor.is_touched(&beads) {
            return Ok(beads);
        }
        corridor.widen(&beads);
    }
}
