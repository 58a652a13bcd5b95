//! The cheapest beads of two documents: dynamic programming within a corridor.

use std::ops::Range;

use crate::aligner::sentences::beads::{BEAD_KINDS, Bead, MOST_OF_SIDE};
use crate::{error::Result, ticket::CancellationToken};

/// What beads cost, -ln p.
pub trait BeadCosts {
    /// Sentences of source and target.
    fn sizes(&self) -> (usize, usize);

    /// Beads that end behind source sentence `i - 1` are asked about next, and target sentences of `columns`; rows come
    /// in order.
    fn begin_row(&mut self, i: usize, columns: Range<usize>);

    /// What the bead of these sentences costs, its kind aside; those of the source end where the row does.
    fn cost(&self, source: Range<usize>, target: Range<usize>) -> f32;
}

/// Where beads may end: for every number of source sentences a range of numbers of target sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corridor {
    rows: Vec<Range<usize>>,
    target: usize,
    width: usize,
}

const NARROW: usize = 24;

impl Corridor {
    /// Around the straight line from start to end, the wider the longer the documents are.
    pub fn diagonal(sizes: (usize, usize)) -> Self {
        let width = 4 * NARROW + sizes.0.max(sizes.1) / 10;
        Self::new(sizes, width, |i| i * sizes.1 / sizes.0.max(1))
    }

    pub fn around(sizes: (usize, usize), beads: &[Bead]) -> Self {
        Self::near(sizes, NARROW, beads)
    }

    fn near(sizes: (usize, usize), width: usize, beads: &[Bead]) -> Self {
        let mut ends = vec![0; sizes.0 + 1];
        for bead in beads {
            for end in &mut ends[bead.source.start + 1..=bead.source.end] {
                *end = bead.target.end;
            }
            ends[bead.source.end] = bead.target.end;
        }
        Self::new(sizes, width, |i| ends[i])
    }

    fn new((source, target): (usize, usize), width: usize, middle: impl Fn(usize) -> usize) -> Self {
        let mut rows: Vec<Range<usize>> =
            (0..=source).map(|i| middle(i).saturating_sub(width)..(middle(i) + width).min(target) + 1).collect();
        rows[0].start = 0;
        rows[source].end = target + 1;
        // Each row begins and ends no later than the next, or nothing would lead on.
        for i in (0..source).rev() {
            rows[i].start = rows[i].start.min(rows[i + 1].start);
            rows[i].end = rows[i].end.max((rows[i + 1].start + 1).min(target + 1));
        }
        Self { rows, target, width }
    }

    /// Whether beads end at its edge, where there is more beyond it.
    pub fn is_touched(&self, beads: &[Bead]) -> bool {
        beads.iter().any(|bead| {
            let (row, end) = (&self.rows[bead.source.end], bead.target.end);
            end == row.start && end > 0 || end + 1 == row.end && end < self.target
        })
    }

    /// Makes it twice as wide, around what was found.
    pub fn widen(&mut self, beads: &[Bead]) {
        *self = Self::near((self.rows.len() - 1, self.target), 2 * self.width, beads);
    }
}

/// The cheapest beads from start to end, without scores.
pub fn search(costs: &mut dyn BeadCosts, corridor: &Corridor, ticket: &CancellationToken) -> Result<Vec<Bead>> {
    let (source, target) = costs.sizes();
    // Costs of this row and those before it that a bead reaches; by which kind of bead each place is reached.
    let mut rows: Vec<Vec<f32>> = Vec::new();
    let mut reached: Vec<Vec<u8>> = Vec::with_capacity(source + 1);
    for i in 0..=source {
        ticket.check()?;
        let columns = corridor.rows[i].clone();
        costs.begin_row(i, columns.start.saturating_sub(MOST_OF_SIDE)..columns.end - 1);
        let mut row = vec![f32::INFINITY; columns.len()];
        let mut ways = vec![0; columns.len()];
        for j in columns.clone() {
            let place = j - columns.start;
            if (i, j) == (0, 0) {
                row[place] = 0.0;
            }
            for (way, kind) in BEAD_KINDS.iter().enumerate() {
                let (Some(from_i), Some(from_j)) = (i.checked_sub(kind.source), j.checked_sub(kind.target)) else {
                    continue;
                };
                let before = if from_i == i { &row } else { &rows[from_i] };
                let at = from_j.checked_sub(corridor.rows[from_i].start);
                let Some(before) = at.and_then(|at| before.get(at)).filter(|cost| cost.is_finite()) else { continue };
                let cost = before + kind.cost + costs.cost(from_i..i, from_j..j);
                if cost < row[place] {
                    row[place] = cost;
                    ways[place] = way as u8;
                }
            }
        }
        if let Some(old) = i.checked_sub(MOST_OF_SIDE) {
            rows[old] = Vec::new();
        }
        rows.push(row);
        reached.push(ways);
    }
    let (mut i, mut j, mut beads) = (source, target, Vec::new());
    while (i, j) != (0, 0) {
        let kind = &BEAD_KINDS[usize::from(reached[i][j - corridor.rows[i].start])];
        let (from_i, from_j) = (i - kind.source, j - kind.target);
        beads.push(Bead { source: from_i..i, target: from_j..j, score: None });
        (i, j) = (from_i, from_j);
    }
    beads.reverse();
    Ok(beads)
}
