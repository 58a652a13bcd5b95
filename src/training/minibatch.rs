//! The data of one update: sentence pairs as ids, and the links that guide alpha.

/// Row `i` of alpha is to look at source position `j`, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GuidedLink {
    /// The row, a step of the decoder.
    pub i: u16,
    pub j: u16,
}

/// Sentence pairs that are trained on together.
#[derive(Clone, Copy, Debug)]
pub struct Minibatch<'a> {
    pub source: &'a [&'a [u32]],
    pub target: &'a [&'a [u32]],
    /// Where alpha is to look in each pair; empty without guidance.
    pub looks: &'a [&'a [GuidedLink]],
}

impl<'a> Minibatch<'a> {
    /// Pairs whose attention is not guided.
    pub fn new(source: &'a [&'a [u32]], target: &'a [&'a [u32]]) -> Self {
        Self { source, target, looks: &[] }
    }

    /// The same with guidance for each pair.
    pub fn guided(self, looks: &'a [&'a [GuidedLink]]) -> Self {
        Self { looks, ..self }
    }

    pub fn len(&self) -> usize {
        self.source.len()
    }

    pub fn is_empty(&self) -> bool {
        self.source.is_empty()
    }
}
