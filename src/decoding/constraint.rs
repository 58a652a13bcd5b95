//! Floor 4: which words the search may take at a position.

use crate::decoding::{SearchOptions, Specials};

/// What may stand at one target position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Nothing but this word: the position lies in the forced prefix.
    Only(u32),
    /// Every word but this one.
    AllBut(u32),
    /// Every word.
    All,
}

impl Allowed {
    /// How many of the best words of a row must be known for the best `seen` allowed ones to be among them.
    pub fn best(self, seen: usize) -> usize {
        match self {
            Self::Only(_) => 0,
            Self::AllBut(_) => seen.saturating_add(1),
            Self::All => seen,
        }
    }
}

/// The forced prefix and the forbidden word of a search.
#[derive(Clone, Copy, Debug)]
pub struct Constraint<'a> {
    prefix: &'a [u32],
    forbidden: Option<u32>,
}

impl<'a> Constraint<'a> {
    /// What `options` demand.
    pub fn new(options: &'a SearchOptions, specials: Specials) -> Self {
        Self { prefix: &options.prefix, forbidden: options.forbid_unk.then_some(specials.unk) }
    }

    /// What may stand at position i, from 0. A prefix may contain `[UNK]` even where it is forbidden.
    pub fn at(&self, i: usize) -> Allowed {
        match (self.prefix.get(i), self.forbidden) {
            (Some(&token), _) => Allowed::Only(token),
            (None, Some(token)) => Allowed::AllBut(token),
            (None, None) => Allowed::All,
        }
    }
}
