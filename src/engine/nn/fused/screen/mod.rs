//! The output layer in 8-bit integers, to find the few words that are worth an exact product.
//!
//! l_v = w_v . t + b_v is needed exactly for the best words alone; of the others only their share in the sum of exp l_v
//! counts. So W is kept as 8-bit integers q_v = round(c_v w_v), each word with its own scale, and t as round(c t):
//! that is a quarter of what `f32` would have to be read, and the sums are exact. What was rounded off is bounded,
//!
//! |l_v - l^_v| <= |w_v - w^_v| |t| + |w^_v| |t - t^|,
//!
//! so every word that may be among the k best is known, and the caller multiplies those few exactly, with all words
//! that are probable enough to count in the sum. Of the rest, rounding W moves each word by itself, which a sum evens
//! out, but rounding t moves many words together ([`Tail`]). The logits are never written down: the maximum, the sum
//! and the candidates of each row are kept while panels go by.
//!
//! W lies in panels of [`WIDTH`] words as [`super::integers`] multiplies them.

mod settle;

use half::f16;
use rayon::prelude::*;
use settle::{Products, settle};

use super::integers::{FOUR, ROWS, UP, WIDTH, block, greatest, round_row, write_row};
use super::{Onto, Packed, Precision, dot, pages::PagedNumbers};

/// Weights of a panel that one more thread is worth.
const WORTHWHILE: usize = 1 << 18;
/// Words, taken evenly, whose mean and covariance stand for those of all.
const SAMPLE: usize = 4096;
/// The greatest integer of a row.
const MOST: f32 = 127.0;
/// Most powers of two that rounding may come to: where it is more, since few numbers of a row are all that counts, too
/// many words might be among the best. Trained models stay below a quarter of it.
const UNCERTAIN: f64 = 16.0;
/// Powers of two above its reference at which a running sum gets another one.
const HEADROOM: f32 = 60.0;
/// Words at least this probable, log2, are kept whatever is asked for: the normaliser mostly consists of them.
const PROBABLE: f32 = -13.0;
/// But no more of them than this for being probable: of many, what rounding does to one counts for less.
const ENOUGH: usize = 128;
/// Words with a bias so far below the greatest one are never said.
const FORBIDS: f32 = 100.0;
/// The bias of what fills up the last panel.
const NOTHING: f32 = -1e30;

/// An output layer W [n, k] with its bias, rounded.
#[derive(Clone, Debug)]
pub struct IntegerLayer {
    n: usize,
    k: usize,
    /// Panels of [k / 4 rounded up, WIDTH, 4].
    panels: PagedNumbers<u8>,
    /// log2 e / c_v, [panels * WIDTH].
    scales: Vec<f32>,
    /// b_v log2 e, [panels * WIDTH].
    bias: Vec<f32>,
    words: Distribution,
    /// The greatest |w_v - w^_v|.
    error: f64,
    norm: f64,
}

/// How the rows w_v and biases b_v of all words are distributed.
#[derive(Clone, Debug, Default)]
struct Distribution {
    /// The mean of w_v, [k], and of b_v.
    mean: (Vec<f32>, f32),
    /// The covariance of w_v, [k, k].
    covariance: Packed,
    /// The covariance of w_v with b_v, [k], and the variance of b_v.
    with_bias: (Vec<f32>, f32),
    /// How many words no bias forbids.
    allowed: usize,
}

/// What rounding t did to the words of a row that are not multiplied exactly: each l_v lies w_v . (t - t^) above l^_v,
/// and their sum moves by that of the mean word, each as probable as it is. Were w_v and l_v distributed normally, the
/// mean w of words whose mean logit is l would be m + cov(w, l) (l - mean l) / var l; and n words with a sum of exp l_v
/// of z would have 2 (ln z - ln n - mean l) for l - mean l.
#[derive(Clone, Copy, Debug, Default)]
struct Tail {
    /// m . (t - t^).
    mean: f32,
    /// cov(w, l) . (t - t^) / var l.
    slope: f32,
    /// mean l and var l.
    logits: (f32, f32),
    /// Words that no bias forbids.
    count: usize,
}

impl Tail {
    /// What is to be added to l^ of `count` words, if ln sum exp l^ of them is `log_sum`.
    fn moved(&self, log_sum: f64, count: usize) -> f64 {
        let (mean, variance) = (f64::from(self.logits.0), f64::from(self.logits.1));
        let above = (2.0 * (log_sum - (count.max(1) as f64).ln() - mean)).clamp(0.0, variance);
        f64::from(self.mean) + f64::from(self.slope) * above
    }
}

/// Rows t, rounded.
#[derive(Clone, Debug, Default)]
pub struct Rounded {
    rows: usize,
    /// [rows, k rounded up to fours]
    q: Vec<i8>,
    /// 128 sum q of each row.
    sums: Vec<i32>,
    /// 1 / c of each row.
    scales: Vec<f32>,
    tails: Vec<Tail>,
    /// t - t^ and cov(w, l), each [rows, k].
    off: Vec<f32>,
    slopes: Vec<f32>,
    /// How far a word may at most lie below another and still be above it in truth, in powers of two.
    margins: Vec<f32>,
}

/// What one row keeps of the words that went by. All logits here are log2: l^ log2 e.
#[derive(Clone, Debug, Default)]
pub struct Sieve {
    count: usize,
    margin: f32,
    /// Words below are not among the `count` best.
    floor: f32,
    /// The lesser of the floor and what the sums can bear: below, nothing needs to be looked at.
    alarm: f32,
    /// sum of 2^(l^ - reference), in lanes.
    reference: f32,
    sums: [f32; 16],
    /// What may be among the best: l^ and the word.
    kept: Vec<(f32, u32)>,
    /// How many to keep before it is time to forget some.
    room: usize,
}

impl IntegerLayer {
    /// Rounds W [n, k] with its bias [n] (empty: none); `None` when a number is not finite or far too large.
    ///
    /// # Panics
    /// When the sizes do not fit.
    pub fn new(w: &[f32], bias: &[f32], n: usize, k: usize) -> Option<Self> {
        assert!(w.len() == n * k, "W [n, k]");
        Self::of_rows(&|v, row| row.copy_from_slice(&w[v * k..(v + 1) * k]), bias, n, k)
    }

    /// [`IntegerLayer::new`] of rows that `write` writes.
    ///
    /// # Panics
    /// When the sizes do not fit.
    pub fn of_rows(write: &(dyn Fn(usize, &mut [f32]) + Sync), bias: &[f32], n: usize, k: usize) -> Option<Self> {
        assert!(bias.is_empty() || bias.len() == n, "b [n]");
        let (padded, wide) = (n.next_multiple_of(WIDTH), k.next_multiple_of(FOUR));
        let mut screen = Self {
            n,
            k,
            panels: PagedNumbers::filled(padded * wide, UP as u8),
            scales: vec![0.0; padded],
            bias: vec![NOTHING; padded],
            words: Distribution::default(),
            error: 0.0,
            norm: 0.0,
        };
        if n == 0 || k == 0 {
            return Some(screen);
        }
        let places = screen.scales.par_chunks_mut(WIDTH).zip(screen.bias.par_chunks_mut(WIDTH));
        let panels = screen.panels.par_chunks_exact_mut(WIDTH * wide).zip(places).enumerate().with_min_len(8);
        let rounded = panels.map(|(p, (panel, (scales, biases)))| {
            let (mut q, mut w, mut off, mut worst) = (vec![0; wide], vec![0.0; k], vec![0.0; k], (0.0f64, 0.0f64));
            for (l, v) in (p * WIDTH..n).take(WIDTH).enumerate() {
                write(v, &mut w);
                let row = round(&w, &mut q, &mut off)?;
                worst = (worst.0.max(row.error), worst.1.max(row.norm));
                scales[l] = row.scale * std::f32::consts::LOG2_E;
                biases[l] = bias.get(v).map_or(0.0, |b| b * std::f32::consts::LOG2_E);
                if !biases[l].is_finite() {
                    return None;
                }
                write_row(&mut panel[l * FOUR..], &q);
            }
            Some(worst)
        });
        let most = |a: Option<(f64, f64)>, b: Option<(f64, f64)>| Some((a?.0.max(b?.0), a?.1.max(b?.1)));
        (screen.error, screen.norm) = rounded.reduce(|| Some((0.0, 0.0)), most)?;
        screen.words = Distribution::of(write, bias, n, k)?;
        Some(screen)
    }

    /// Rounds rows t [rows, k]; false when one holds what is no number, is too large or would lose too much.
    pub fn round(&self, threads: usize, rows: usize, t: &[f32], rounded: &mut Rounded) -> bool {
        let (k, wide) = (self.k, self.k.next_multiple_of(FOUR));
        let Rounded { q, sums, scales, tails, off, slopes, margins, .. } = rounded;
        rounded.rows = rows;
        q.resize(rows * wide, 0);
        for numbers in [&mut *off, &mut *slopes] {
            numbers.resize(rows * k, 0.0);
        }
        for numbers in [&mut *scales, &mut *margins] {
            numbers.clear();
        }
        sums.clear();
        tails.clear();
        let parts = q.chunks_exact_mut(wide.max(1)).zip(off.chunks_exact_mut(k.max(1)));
        for (t, (q, off)) in t.chunks_exact(k.max(1)).take(rows).zip(parts) {
            let Some(row) = round(t, q, off) else { return false };
            let length = row.norm + row.error;
            // What rounding to 8 bits does, and what f32 does: here on the way to l^, there in adding up k products.
            let eight = self.error * length + self.norm * row.error;
            let float = (self.norm + self.error) * length * (k as f64 / 16.0 + 32.0) / f64::from(1u32 << 23);
            let margin = (2.0 * eight + 2.0 * float) * std::f64::consts::LOG2_E * 1.000_001;
            if margin > UNCERTAIN {
                return false;
            }
            scales.push(row.scale);
            margins.push(margin as f32);
            sums.push(row.sum);
        }
        let Distribution { mean, covariance, with_bias, allowed } = &self.words;
        if k == 0 || self.n == 0 {
            tails.resize(rows, Tail::default());
            return true;
        }
        covariance.apply_on(threads, rows, t, k, slopes, k, Onto::Row(&with_bias.0));
        let moved = t.chunks_exact(k).zip(off.chunks_exact(k)).zip(slopes.chunks_exact(k)).take(rows);
        tails.extend(moved.map(|((t, off), slope)| {
            let variance = (dot(t, slope) + dot(t, &with_bias.0) + with_bias.1).max(1e-9);
            let logits = (dot(t, &mean.0) + mean.1, variance);
            Tail { mean: dot(off, &mean.0), slope: dot(off, slope) / variance, logits, count: *allowed }
        }));
        true
    }

    /// Sifts all words for the `count` best of each row. Returns the number of parts: row `r` of part `p` is
    /// `sieves[p * rows + r]`, to be read by [`merge`].
    pub fn sift(&self, threads: usize, rounded: &Rounded, count: usize, sieves: &mut Vec<Sieve>) -> usize {
        let (rows, panels) = (rounded.rows, self.n.div_ceil(WIDTH));
        let parts = threads.min(panels).min(self.panels.len() / WORTHWHILE + 1).max(1);
        sieves.resize_with((parts * rows).max(sieves.len()), Sieve::default);
        let sieves = &mut sieves[..parts * rows];
        for (at, sieve) in sieves.iter_mut().enumerate() {
            sieve.reset(count, rounded.margins[at % rows]);
        }
        // turn by turn, so that each part meets frequent words, after which few others are kept
        super::team::chunks(threads, sieves, rows.max(1), &|part, sieves| {
            self.run(rounded, (part..panels).step_by(parts), sieves);
        });
        parts
    }

    fn run(&self, rounded: &Rounded, panels: impl Iterator<Item = usize>, sieves: &mut [Sieve]) {
        let wide = self.k.next_multiple_of(FOUR);
        let mut products = [[0i32; WIDTH]; ROWS];
        for p in panels {
            let panel = &self.panels[p * WIDTH * wide..(p + 1) * WIDTH * wide];
            let words = Words {
                first: (p * WIDTH) as u32,
                count: WIDTH.min(self.n - p * WIDTH) as u32,
                scales: self.scales[p * WIDTH..].first_chunk().expect("panels are filled up"),
                bias: self.bias[p * WIDTH..].first_chunk().expect("panels are filled up"),
            };
            let mut row = 0;
            while row < rounded.rows {
                // the last two passes share the rows, so that neither is tiny
                let rest = rounded.rows - row;
                let rows = if rest > ROWS && rest < 2 * ROWS { rest.div_ceil(2) } else { rest.min(ROWS) };
                block(rows, wide / FOUR, &rounded.q[row * wide..], panel, &mut products);
                settle(&words, &Products { of: &products, rounded, row }, &mut sieves[row..row + rows]);
                row += rows;
            }
        }
    }
}

impl Distribution {
    /// Of all words, or of some taken evenly; words whose bias forbids them are left out. `None` where a number of it is
    /// too large.
    fn of(write: &(dyn Fn(usize, &mut [f32]) + Sync), bias: &[f32], n: usize, k: usize) -> Option<Self> {
        let bias = |v: usize| bias.get(v).copied().unwrap_or(0.0);
        let greatest = (0..n).map(bias).fold(f32::NEG_INFINITY, f32::max);
        let some: Vec<usize> = (0..n.min(SAMPLE)).map(|i| i * n / n.min(SAMPLE)).collect();
        let words: Vec<usize> = some.into_iter().filter(|v| bias(*v) > greatest - FORBIDS).collect();
        let count = words.len().max(1) as f32;
        let mut rows = vec![0.0; words.len() * k];
        rows.chunks_exact_mut(k).zip(&words).for_each(|(row, v)| write(*v, row));
        let mut mean = (vec![0.0; k], words.iter().map(|v| bias(*v)).sum::<f32>() / count);
        rows.chunks_exact(k).for_each(|row| super::axpy(1.0 / count, row, &mut mean.0));
        rows.chunks_exact_mut(k).for_each(|row| super::axpy(-1.0, &mean.0, row));
        let mut with_bias = (vec![0.0; k], 0.0);
        for (row, v) in rows.chunks_exact(k).zip(&words) {
            let off = bias(*v) - mean.1;
            super::axpy(off / count, row, &mut with_bias.0);
            with_bias.1 += off * off / count;
        }
        let mut covariance = vec![0.0; k * k];
        Precision::F32.matmul_tn(k, k, words.len(), &rows, k, &rows, k, &mut covariance, false);
        // half the bytes, and more digits than a sample has
        let half =
            |x: &f32| Some(f16::from_f32(*x / count).to_f32()).filter(|half| half.is_finite()).unwrap_or(*x / count);
        let covariance: Vec<f32> = covariance.iter().map(half).collect();
        let numbers = [&covariance[..], &mean.0, &with_bias.0, &[mean.1, with_bias.1]];
        let is_finite = numbers.into_iter().flatten().all(|x| x.is_finite());
        let allowed = (0..n).filter(|v| bias(*v) > greatest - FORBIDS).count();
        is_finite.then(|| Self { mean, covariance: Packed::compact(&covariance, k, k), with_bias, allowed })
    }
}

struct Row {
    scale: f32,
    error: f64,
    norm: f64,
    /// 128 sum q.
    sum: i32,
}

/// q = round(c x), the greatest 127; what is left of `q` becomes 0. `off` becomes what is rounded off x.
fn round(x: &[f32], q: &mut [i8], off: &mut [f32]) -> Option<Row> {
    let most = greatest(x);
    let norm = f64::from(dot(x, x)).sqrt() * 1.000_01;
    if !(norm < 1e15 && most < 1e15) {
        return None;
    }
    if most < 1e-12 {
        // so little that squares of what is rounded off would get lost
        q.fill(0);
        off.copy_from_slice(x);
        return Some(Row { scale: 0.0, error: f64::from(most) * (x.len() as f64).sqrt(), norm: 0.0, sum: 0 });
    }
    let (c, scale) = (MOST / most, most / MOST);
    let sum = round_row(x, c, q);
    off.iter_mut().zip(x).zip(&*q).for_each(|((off, x), q)| *off = x - f32::from(*q) * scale);
    let error = f64::from(dot(off, off)).sqrt() * 1.000_01 + f64::from(most) * 1e-7 * (x.len() as f64).sqrt();
    Some(Row { scale, error, norm: norm + error, sum })
}

struct Words<'a> {
    first: u32,
    count: u32,
    scales: &'a [f32; WIDTH],
    bias: &'a [f32; WIDTH],
}

impl Sieve {
    fn reset(&mut self, count: usize, margin: f32) {
        (self.count, self.margin) = (count, margin);
        (self.floor, self.alarm, self.reference) = (f32::NEG_INFINITY, f32::NEG_INFINITY, NOTHING);
        self.sums = [0.0; 16];
        self.kept.clear();
        self.room = 4 * count + 16;
    }

    /// Looks at values of which one is above the alarm; bit l of `above` says whether that of word l is above the floor.
    #[cold]
    #[inline(never)]
    fn look(&mut self, words: &Words<'_>, values: &[f32; WIDTH], mut above: u32, most: f32) {
        while above != 0 {
            let l = above.trailing_zeros();
            above &= above - 1;
            // the last panel is filled up with nothing
            if l < words.count {
                self.kept.push((values[l as usize], words.first + l));
            }
        }
        if self.kept.len() >= self.room {
            self.prune();
            self.room = (2 * self.kept.len()).max(4 * self.count + 16);
        }
        if most > self.reference + HEADROOM {
            let by = (self.reference - most).exp2();
            self.sums.iter_mut().for_each(|sum| *sum *= by);
            self.reference = most;
        }
        self.alarm = self.floor.min(self.reference + HEADROOM);
    }

    /// Forgets what cannot be among the best, once it is known that there are enough better ones, and is not probable.
    fn prune(&mut self) {
        if self.count == 0 || self.kept.len() < self.count {
            return;
        }
        let (_, last, _) = self.kept.select_nth_unstable_by(self.count - 1, |a, b| b.0.total_cmp(&a.0));
        let last = last.0;
        // what f32 does to the last digits of a large bias comes on top; equals stay, even of a last of 0 without a margin
        let certain = (last - self.margin - last.abs() * 4e-6).next_down();
        let mut probable = self.reference + self.sums.iter().sum::<f32>().log2() + PROBABLE;
        if self.kept.len() > ENOUGH {
            let (_, enough, _) = self.kept.select_nth_unstable_by(ENOUGH, |a, b| b.0.total_cmp(&a.0));
            probable = probable.max(enough.0);
        }
        self.floor = self.floor.max(if probable < certain { probable } else { certain });
        self.kept.retain(|kept| kept.0 > self.floor);
    }
}

/// What all words of a row come to.
#[derive(Clone, Debug, Default)]
pub struct Sifted {
    /// ln sum exp l^.
    rough: f64,
    /// Words that may be among the best, with l^ as in the sum; more than requested only if they are too close.
    pub words: Vec<(u32, f64)>,
    tail: Tail,
}

impl Sifted {
    /// ln sum exp l: with the exact logits of [`Sifted::words`], and l^ of the others moved by what rounding t did.
    pub fn log_sum(&self, exact: &[(u32, f32)]) -> f64 {
        let most = exact.iter().fold(self.rough, |most, &(_, l)| most.max(f64::from(l)));
        let power = |l: f64| (l - most).exp();
        let kept: f64 = self.words.iter().map(|&(_, rough)| power(rough)).sum();
        let sum: f64 = exact.iter().map(|&(_, l)| power(f64::from(l))).sum();
        let rest = (power(self.rough) - kept).max(f64::MIN_POSITIVE);
        let moved = self.tail.moved(rest.ln() + most, self.tail.count.saturating_sub(self.words.len()));
        most + (rest * moved.exp() + sum).ln()
    }
}

/// Puts the parts of row `row` of [`IntegerLayer::sift`] together.
pub fn merge(sieves: &mut [Sieve], rounded: &Rounded, parts: usize, row: usize, sifted: &mut Sifted) {
    const LN_2: f64 = std::f64::consts::LN_2;
    let rows = rounded.rows;
    let reference = (0..parts).fold(NOTHING, |most, part| most.max(sieves[part * rows + row].reference));
    let mut sum = 0.0;
    for part in 0..parts {
        let sieve = &sieves[part * rows + row];
        let lanes: f64 = sieve.sums.iter().map(|&x| f64::from(x)).sum();
        sum += lanes * (f64::from(sieve.reference) - f64::from(reference)).exp2();
    }
    for part in 1..parts {
        let kept = std::mem::take(&mut sieves[part * rows + row].kept);
        sieves[row].kept.extend_from_slice(&kept);
        sieves[part * rows + row].kept = kept;
    }
    let first = &mut sieves[row];
    (first.reference, first.sums) = (reference, [0.0; 16]);
    first.sums[0] = sum as f32;
    first.prune();
    (sifted.rough, sifted.tail) = ((f64::from(reference) + sum.log2()) * LN_2, rounded.tails[row]);
    sifted.words.clear();
    sifted.words.extend(sieves[row].kept.iter().map(|&(value, token)| (token, f64::from(value) * LN_2)));
}
