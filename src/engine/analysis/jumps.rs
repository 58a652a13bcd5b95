//! Where an alignment jumps: how far the source word of a target word lies behind that of the target word before
//! it, as hidden Markov models of alignment have it (Vogel, Ney, Tillmann 1996). Imports `text`.

use crate::text::links::Link;

/// Farther jumps count as so far.
pub const FARTHEST: i32 = 30;

/// The jumps of a sentence, by target words: 1 goes on to the next source word, 0 stays, below 0 it goes back. Target
/// words without a link are passed over; one with several is at the middle of its source words.
pub fn jumps(links: &[Link]) -> Vec<i32> {
    let mut links: Vec<(usize, usize)> = links.iter().map(|link| (link.target, link.source)).collect();
    links.sort_unstable();
    let middle = |of: &[(usize, usize)]| {
        let sum: usize = of.iter().map(|(_, source)| source).sum();
        (sum as f64 / of.len() as f64).round() as i32
    };
    let places: Vec<i32> = links.chunk_by(|a, b| a.0 == b.0).map(middle).collect();
    places.windows(2).map(|pair| (pair[1] - pair[0]).clamp(-FARTHEST, FARTHEST)).collect()
}

/// Which jumps a sentence has, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JumpSet(u64);

impl JumpSet {
    pub fn of(jumps: &[i32]) -> Self {
        Self(jumps.iter().fold(0, |set, jump| set | 1 << (jump + FARTHEST)))
    }

    /// Whether one lies within these bounds; those beyond [`FARTHEST`] are taken for it.
    pub fn has(self, low: i32, high: i32) -> bool {
        let (low, high) = (low.clamp(-FARTHEST, FARTHEST), high.clamp(-FARTHEST, FARTHEST));
        (low..=high).any(|jump| self.0 >> (jump + FARTHEST) & 1 == 1)
    }
}
