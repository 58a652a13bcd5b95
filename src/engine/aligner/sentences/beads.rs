//! Sentences of two documents, and the beads that join them. Imports nothing.

use std::ops::Range;

/// Sentences of one document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentSide {
    pub words: Vec<Vec<Box<str>>>,
    pub letters: Vec<usize>,
    /// Which begin a paragraph.
    pub begins: Vec<bool>,
}

impl DocumentSide {
    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

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
    /// How much more probable its words are as translations of each other than by themselves, in nats a word; `None`
    /// where nothing is known of them, or a side is empty.
    pub score: Option<f32>,
}

/// What joins the sentences of both sides: how many of each, and -ln of its probability to that of one and one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeadKind {
    pub source: usize,
    pub target: usize,
    pub cost: f32,
}

/// What a bead of three and one costs, which Gale and Church do not have: in books about one in sixty of those of one
/// and one.
const MANY: f32 = 4.5;
/// The most sentences of a side.
pub const MOST_OF_SIDE: usize = 3;

/// Every kind, with the probabilities of Gale and Church (table 5).
pub const BEAD_KINDS: &[BeadKind] = &[
    BeadKind { source: 1, target: 1, cost: 0.0 },
    BeadKind { source: 1, target: 0, cost: 4.5 },
    BeadKind { source: 0, target: 1, cost: 4.5 },
    BeadKind { source: 2, target: 1, cost: 2.3 },
    BeadKind { source: 1, target: 2, cost: 2.3 },
    BeadKind { source: 2, target: 2, cost: 4.4 },
    BeadKind { source: 3, target: 1, cost: MANY },
    BeadKind { source: 1, target: 3, cost: MANY },
];
