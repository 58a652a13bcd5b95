//! Neighbours made one, the best pair first (Sennrich et al. 2016). Imports nothing of ours.

use std::{cmp::Reverse, collections::BinaryHeap, ops::Range};

/// In which order pairs of one rank are made one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ties {
    /// From the left, one at a time: a better pair that comes about goes first. So does SentencePiece.
    Single,
    /// All that a text has before any new pair counts. So does subword-nmt.
    Together,
}

struct Symbol {
    range: Range<usize>,
    before: Option<usize>,
    after: Option<usize>,
}

struct Row<F> {
    symbols: Vec<Symbol>,
    /// Rank, left and right symbol, and their length when they were ranked.
    pairs: BinaryHeap<(i64, Reverse<usize>, usize, usize)>,
    rank: F,
}

/// Merges neighbours of `parts`, places in a text without gaps, as long as `rank` (the greatest first) gives a pair
/// one.
pub(super) fn merge<F>(parts: Vec<Range<usize>>, ties: Ties, rank: F) -> Vec<Range<usize>>
where
    F: FnMut(&Range<usize>, &Range<usize>) -> Option<i64>,
{
    let last = parts.len().wrapping_sub(1);
    let symbol =
        |(i, range): (usize, _)| Symbol { range, before: i.checked_sub(1), after: (i != last).then_some(i + 1) };
    let symbols = parts.into_iter().enumerate().map(symbol).collect();
    let mut row = Row { symbols, pairs: BinaryHeap::new(), rank };
    for i in 0..row.symbols.len() {
        row.offer(Some(i), row.symbols[i].after);
    }
    let mut merged = Vec::new();
    while let Some((rank, Reverse(left), right, length)) = row.pairs.pop() {
        if row.unite(left, right, length) {
            merged.push(left);
        }
        let goes_on = ties == Ties::Together && row.pairs.peek().is_some_and(|pair| pair.0 == rank);
        if !goes_on {
            for left in merged.drain(..) {
                row.offer(row.symbols[left].before, Some(left));
                row.offer(Some(left), row.symbols[left].after);
            }
        }
    }
    row.symbols.into_iter().map(|symbol| symbol.range).filter(|range| !range.is_empty()).collect()
}

impl<F: FnMut(&Range<usize>, &Range<usize>) -> Option<i64>> Row<F> {
    fn offer(&mut self, left: Option<usize>, right: Option<usize>) {
        let (Some(left), Some(right)) = (left, right) else { return };
        let (a, b) = (&self.symbols[left].range, &self.symbols[right].range);
        if let Some(rank) = (self.rank)(a, b).filter(|_| !a.is_empty() && !b.is_empty()) {
            self.pairs.push((rank, Reverse(left), right, a.len() + b.len()));
        }
    }

    fn unite(&mut self, left: usize, right: usize, length: usize) -> bool {
        let (a, b) = (&self.symbols[left].range, &self.symbols[right].range);
        if a.is_empty() || b.is_empty() || a.len() + b.len() != length {
            return false;
        }
        let end = b.end;
        let after = self.symbols[right].after;
        self.symbols[right].range = end..end;
        self.symbols[left].range.end = end;
        self.symbols[left].after = after;
        if let Some(after) = after {
            self.symbols[after].before = Some(left);
        }
        true
    }
}
