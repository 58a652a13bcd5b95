//! Barnes-Hut t-SNE (van der Maaten 2014), through the library `bhtsne`.
//!
//! It starts from the first two principal components unless a seed is given, so nothing is drawn by chance. The
//! library adds up numbers in the order in which the threads of the current pool deliver them: in a pool of one
//! thread the same input gives the same map, bit for bit. Imports `nn`.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use bhtsne::Neighbor;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};
use crate::{nn::fused::Precision, ticket::CancellationToken};

/// Fewest points that have neighbours enough.
pub const FEWEST: usize = 4;
/// Accuracy of the repulsive forces: cells that look smaller than this angle act as one point.
const THETA: f32 = 0.5;
const BLOCK: usize = 128;
const SEARCH: usize = 100;

/// How to embed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TsneOptions {
    /// About how many neighbours count for a point; lowered where there are too few points.
    pub perplexity: f32,
    pub epochs: usize,
    /// Starts at random places of this seed; `None`: from the first two columns of the input.
    pub seed: Option<u64>,
}

impl Default for TsneOptions {
    fn default() -> Self {
        Self { perplexity: 30.0, epochs: 1000, seed: None }
    }
}

/// How far it is: `done` of `total` steps, and the points as they lie now (empty before the first).
pub struct TsneProgress<'a> {
    pub done: usize,
    pub total: usize,
    pub points: &'a [f32],
}

/// Unwinds out of the library when the ticket is stale; it has no other way out of its loop.
struct Stop;

/// Places of `rows` (each `dimension` numbers, by falling variance) in the plane.
pub fn embed(
    rows: &[f32], dimension: usize, options: &TsneOptions, ticket: &CancellationToken,
    progress: &mut dyn FnMut(TsneProgress<'_>),
) -> Result<Vec<[f32; 2]>> {
    let points: Vec<&[f32]> = rows.chunks_exact(dimension.max(1)).collect();
    if points.len() < FEWEST {
        return Err(Error::Input(format!("t-SNE needs at least {FEWEST} points; map more of them or choose PCA")));
    }
    let perplexity = lowered(options.perplexity, points.len());
    let total = SEARCH + options.epochs;
    let near = neighbours(rows, dimension, (3.0 * perplexity) as usize, ticket, &mut |share| {
        progress(TsneProgress { done: (SEARCH as f32 * share) as usize, total, points: &[] });
    })?;
    let start = options.seed.map(|seed| scattered(points.len(), seed)).or_else(|| first_two(&points));
    // Points that all start in one place could not tell which way to go.
    let start = start.unwrap_or_else(|| scattered(points.len(), 0));
    let mut tsne: bhtsne::tSNE<'_, f32, &[f32], 2> = bhtsne::tSNE::new(&points);
    tsne.perplexity(perplexity).epochs(options.epochs).initial_embedding(start).epoch_callback(|epoch, y| {
        if ticket.is_stale() {
            resume_unwind(Box::new(Stop));
        }
        progress(TsneProgress { done: SEARCH + epoch + 1, total, points: y });
    });
    match catch_unwind(AssertUnwindSafe(|| tsne.barnes_hut_with_neighbors(THETA, &near).embedding())) {
        Ok(places) => Ok(places.as_chunks::<2>().0.to_vec()),
        Err(panic) if panic.is::<Stop>() => Err(Error::Stale),
        Err(panic) => resume_unwind(panic),
    }
}

/// The perplexity that so many points allow: three times as many neighbours must exist.
pub fn lowered(perplexity: f32, points: usize) -> f32 {
    let most = (points.saturating_sub(1) / 3) as f32;
    if perplexity.is_finite() { perplexity.min(most).max(1.0) } else { most.max(1.0) }
}

fn neighbours(
    rows: &[f32], dimension: usize, k: usize, ticket: &CancellationToken, progress: &mut dyn FnMut(f32),
) -> Result<Vec<Vec<Neighbor<f32>>>> {
    let count = rows.len() / dimension;
    let squares: Vec<f32> = rows.chunks_exact(dimension).map(|row| row.iter().map(|x| x * x).sum()).collect();
    let mut all = Vec::with_capacity(count);
    let mut products = vec![0.0; BLOCK * count];
    for block in rows.chunks(BLOCK * dimension) {
        ticket.check()?;
        progress(all.len() as f32 / count as f32);
        let m = block.len() / dimension;
        Precision::F32.matmul_nt(m, count, dimension, block, rows, &mut products[..m * count], false);
        for products in products[..m * count].chunks_exact(count) {
            let own = all.len();
            let apart = |j: usize| (squares[own] + squares[j] - 2.0 * products[j]).max(0.0);
            let mut row: Vec<Neighbor<f32>> =
                (0..count).filter(|j| *j != own).map(|j| Neighbor { index: j, distance: apart(j) }).collect();
            let order =
                |a: &Neighbor<f32>, b: &Neighbor<f32>| a.distance.total_cmp(&b.distance).then(a.index.cmp(&b.index));
            row.select_nth_unstable_by(k - 1, order);
            row.truncate(k);
            row.sort_unstable_by(order);
            for near in &mut row {
                near.distance = near.distance.sqrt();
            }
            all.push(row);
        }
    }
    Ok(all)
}

fn first_two(points: &[&[f32]]) -> Option<Vec<f32>> {
    let column = |d: usize| points.iter().map(move |point| point.get(d).copied().unwrap_or(0.0));
    let spread = (column(0).map(|x| x * x).sum::<f32>() / points.len() as f32).sqrt();
    let small = 1e-4 / spread;
    small.is_normal().then(|| column(0).zip(column(1)).flat_map(|(x, y)| [x * small, y * small]).collect())
}

fn scattered(count: usize, seed: u64) -> Vec<f32> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..2 * count).map(|_| (random.random::<f32>() - 0.5) * 3.5e-4).collect()
}
