//! How far beads agree with beads that somebody made: strict and lax precision, recall and F1 as Bleualign (Sennrich and Volk 2010)
//! and Vecalign (Thompson and Koehn 2019, `score.py`) have them. Imports nothing.

use std::{collections::HashSet, ops::Range};

/// What one side of a bead has of its document, as ranges of letters in order, no two of which touch; none: nothing.
pub type BeadLetters = Vec<Range<usize>>;

/// Both sides of a bead.
pub type BeadPlaces = [BeadLetters; 2];

/// Ranges that touch made one; empty ones left out.
pub fn joined(mut ranges: BeadLetters) -> BeadLetters {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    let mut all: BeadLetters = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}

/// Precision, recall and F1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BeadRates {
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
}

type BeadCounts = [u64; 3];

/// Counts over documents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BeadAgreement {
    found: BeadCounts,
    made: BeadCounts,
}

impl BeadAgreement {
    /// Of the beads of a document. A bead is strictly right where the others have the same, and laxly where they have
    /// one that shares something with it on both sides. Beads with an empty side count for precision alone.
    pub fn of(found: &[BeadPlaces], made: &[BeadPlaces]) -> Self {
        let whole = |beads: &[BeadPlaces]| -> Vec<BeadPlaces> {
            beads.iter().filter(|bead| bead.iter().all(|side| !side.is_empty())).cloned().collect()
        };
        Self { found: count(found, made), made: count(&whole(made), &whole(found)) }
    }

    /// By the strict measure, then by the lax one.
    pub fn rates(&self) -> [BeadRates; 2] {
        [0, 1].map(|measure| {
            let share = |counts: &BeadCounts| counts[measure] as f64 / counts[2].max(1) as f64;
            let (precision, recall) = (share(&self.found), share(&self.made));
            let sum = precision + recall;
            BeadRates { precision, recall, f1: if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 } }
        })
    }
}

fn count(beads: &[BeadPlaces], others: &[BeadPlaces]) -> BeadCounts {
    let mut counts = [0; 3];
    let same: HashSet<&BeadPlaces> = others.iter().collect();
    // Documents have thousands of beads: only those near in the source are compared.
    let mut sources: Vec<(&Range<usize>, &BeadPlaces)> =
        others.iter().flat_map(|other| other[0].iter().map(move |range| (range, other))).collect();
    sources.sort_by_key(|(range, _)| range.start);
    let longest = sources.iter().map(|(range, _)| range.len()).max().unwrap_or(0);
    for bead in beads.iter().filter(|bead| bead.iter().any(|side| !side.is_empty())) {
        let is_same = same.contains(bead);
        let is_near = || {
            bead[0].iter().any(|range| {
                let first = sources.partition_point(|(other, _)| other.start + longest <= range.start);
                let near = sources[first..].iter().take_while(|(other, _)| other.start < range.end);
                near.filter(|(other, _)| range.start < other.end).any(|(_, other)| meet(&bead[1], &other[1]))
            })
        };
        counts[0] += u64::from(is_same);
        counts[1] += u64::from(is_same || is_near());
        counts[2] += 1;
    }
    counts
}

fn meet(one: &[Range<usize>], other: &[Range<usize>]) -> bool {
    one.iter().any(|one| other.iter().any(|other| one.start < other.end && other.start < one.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beads(all: &[(&[usize], &[usize])]) -> Vec<BeadPlaces> {
        let side = |side: &[usize]| joined(side.iter().map(|at| *at..at + 1).collect());
        all.iter().map(|(source, target)| [side(source), side(target)]).collect()
    }

    #[test]
    fn strict_and_lax_are_those_of_vecalign() {
        let gold = beads(&[(&[0], &[0, 1]), (&[1], &[2]), (&[2, 3], &[3]), (&[4], &[]), (&[5], &[4, 6])]);
        let found = beads(&[(&[0], &[0, 1]), (&[1, 2], &[2]), (&[3], &[3]), (&[4], &[]), (&[], &[4]), (&[5], &[5])]);
        let [strict, lax] = BeadAgreement::of(&found, &gold).rates();
        let near = |rates: BeadRates, wanted: [f64; 3]| {
            let all = [rates.precision, rates.recall, rates.f1];
            assert!(all.iter().zip(wanted).all(|(one, other)| (one - other).abs() < 1e-4), "{all:?}, not {wanted:?}");
        };
        near(strict, [0.3333, 0.25, 0.2857]);
        near(lax, [0.6667, 0.75, 0.7059]);
    }
}
