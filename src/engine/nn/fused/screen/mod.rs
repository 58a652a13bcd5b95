//! The output layer in 16-bit integers, to find the few words that are worth an exact product.
//!
//! l_v = w_v . t + b_v is needed exactly for the best words alone; of the others only their share in the sum of exp l_v
//! counts. So W is kept as 16-bit integers q_v = round(c_v w_v), each word with its own scale, and t as round(c t):
//! integers multiply twice as fast as floats, and sums of a few are exact, since the scales keep |q_v| |q| of every
//! [`CHUNK`] inputs below 2^31 (Cauchy and Schwarz). What was rounded off is bounded as well,
//!
//! |l_v - l^_v| <= |w_v - w^_v| |t| + |w^_v| |t - t^|,
//!
//! so every word that may be among the k best is known, and the caller multiplies those few exactly. The logits
//! are never written down: the maximum, the sum and the candidates of each row are kept while panels go by.
//!
//! W lies in panels of [`WIDTH`] words, pairs of inputs side by side as the instructions want them.

mod kernel;

use kernel::{Kind, block};
use rayon::prelude::*;

use super::pages::PagedNumbers;

/// Words of a panel.
const WIDTH: usize = 32;
/// Most rows that one pass over a panel serves.
const ROWS: usize = 6;
/// Inputs whose products are added up as integers.
const CHUNK: usize = 32;
/// Euclidean norm that a chunk of a rounded row has at most: the square, with room for rounding, is below 2^31.
const NORM: f64 = 45_000.0;
/// Weights of a panel that one more thread is worth.
const WORTHWHILE: usize = 1 << 18;
/// Most powers of two that rounding may come to: a row that loses more, since few of its numbers are all that counts,
/// is better multiplied as it is. Trained models stay below a quarter of it.
const UNCERTAIN: f64 = 0.1;
/// Powers of two above its reference at which a running sum gets another one.
const HEADROOM: f32 = 60.0;
/// Words at least this probable, log2, are kept whatever is asked for: the normaliser mostly consists of them.
const PROBABLE: f32 = -8.0;
/// The bias of what fills up the last panel.
const NOTHING: f32 = -1e30;

/// An output layer W [n, k] with its bias, rounded.
#[derive(Clone, Debug)]
pub struct IntegerLayer {
    n: usize,
    k: usize,
    /// Panels of [k / 2 rounded up, WIDTH, 2].
    panels: PagedNumbers<i16>,
    /// log2 e / c_v, [panels * WIDTH].
    scales: Vec<f32>,
    /// b_v log2 e, [panels * WIDTH].
    bias: Vec<f32>,
    /// The greatest |w_v - w^_v|.
    error: f64,
    norm: f64,
}

/// Rows t, rounded.
#[derive(Clone, Debug, Default)]
pub struct Rounded {
    rows: usize,
    /// [rows, k rounded up to pairs]
    t: Vec<i16>,
    /// 1 / c of each row.
    scales: Vec<f32>,
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
    /// Rounds W [n, k] with its bias [n] (empty: none); `None` when a number is not finite or so large that sums may
    /// overflow.
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
        let (padded, pairs) = (n.next_multiple_of(WIDTH), k.div_ceil(2));
        let mut screen = Self {
            n,
            k,
            panels: PagedNumbers::filled(padded * pairs * 2, 0),
            scales: vec![0.0; padded],
            bias: vec![NOTHING; padded],
            error: 0.0,
            norm: 0.0,
        };
        if n == 0 || k == 0 {
            return Some(screen);
        }
        let places = screen.scales.par_chunks_mut(WIDTH).zip(screen.bias.par_chunks_mut(WIDTH));
        let panels = screen.panels.par_chunks_exact_mut(WIDTH * pairs * 2).zip(places).enumerate().with_min_len(8);
        let rounded = panels.map(|(p, (panel, (scales, biases)))| {
            let (mut q, mut w, mut worst) = (vec![0; pairs * 2], vec![0.0; k], (0.0f64, 0.0f64));
            for (l, v) in (p * WIDTH..n).take(WIDTH).enumerate() {
                write(v, &mut w);
                let row = round(&w, &mut q)?;
                worst = (worst.0.max(row.error), worst.1.max(row.norm));
                scales[l] = row.scale * std::f32::consts::LOG2_E;
                biases[l] = bias.get(v).map_or(0.0, |b| b * std::f32::consts::LOG2_E);
                if !biases[l].is_finite() {
                    return None;
                }
                for (to, from) in panel[l * 2..].chunks_mut(2 * WIDTH).zip(q.as_chunks::<2>().0) {
                    to[..2].copy_from_slice(from);
                }
            }
            Some(worst)
        });
        let most = |a: Option<(f64, f64)>, b: Option<(f64, f64)>| Some((a?.0.max(b?.0), a?.1.max(b?.1)));
        (screen.error, screen.norm) = rounded.reduce(|| Some((0.0, 0.0)), most)?;
        Some(screen)
    }

    /// Rounds rows t [rows, k]; false when one holds what is no number, is too large or would lose too much.
    pub fn round(&self, rows: usize, t: &[f32], rounded: &mut Rounded) -> bool {
        let wide = self.k.next_multiple_of(2);
        rounded.rows = rows;
        rounded.t.resize(rows * wide, 0);
        rounded.scales.clear();
        rounded.margins.clear();
        for (t, q) in t.chunks_exact(self.k.max(1)).take(rows).zip(rounded.t.chunks_exact_mut(wide.max(1))) {
            let Some(row) = round(t, q) else { return false };
            let length = row.norm + row.error;
            // What rounding to 16 bits does, and what f32 does: here on the way to l^, there in adding up k products.
            let sixteen = self.error * length + self.norm * row.error;
            let float = (self.norm + self.error) * length * (self.k as f64 / 16.0 + 32.0) / f64::from(1u32 << 23);
            let margin = (2.0 * sixteen + 2.0 * float) * std::f64::consts::LOG2_E * 1.000_001;
            if margin > UNCERTAIN {
                return false;
            }
            rounded.scales.push(row.scale);
            rounded.margins.push(margin as f32);
        }
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
        super::team::chunks(threads, sieves, rows.max(1), &|part, sieves| {
            self.run(rounded, panels * part / parts, panels * (part + 1) / parts, sieves);
        });
        parts
    }

    fn run(&self, rounded: &Rounded, first: usize, last: usize, sieves: &mut [Sieve]) {
        let (pairs, kind) = (self.k.div_ceil(2), Kind::found());
        let mut tile = [[0.0f32; WIDTH]; ROWS];
        for p in first..last {
            let panel = &self.panels[p * WIDTH * pairs * 2..(p + 1) * WIDTH * pairs * 2];
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
                block(kind, rows, pairs, &rounded.t[row * pairs * 2..], panel, &mut tile);
                let scales = &rounded.scales[row..row + rows];
                settle(kind, &words, &tile[..rows], scales, &mut sieves[row..row + rows]);
                row += rows;
            }
        }
    }
}

struct Row {
    scale: f32,
    error: f64,
    norm: f64,
}

/// q = round(c x) with the greatest c that [`NORM`] and 16 bits allow; what is left of `q` becomes 0.
fn round(x: &[f32], q: &mut [i16]) -> Option<Row> {
    /// Adding it leaves the nearest whole number in the low bits.
    const MAGIC: f32 = 12_582_912.0;
    let most = x.iter().fold(0.0f32, |most, x| if x.abs() > most { x.abs() } else { most });
    let (mut square, mut chunk) = (0.0f64, 0.0f64);
    for x in x.chunks(CHUNK) {
        let mut lanes = [0.0f32; 8];
        x.iter().enumerate().for_each(|(i, x)| lanes[i % 8] += x * x);
        let one = f64::from(lanes.iter().sum::<f32>());
        square += one;
        chunk = if one > chunk { one } else { chunk };
    }
    let (norm, chunk) = (square.sqrt() * 1.000_001, chunk.sqrt() * 1.000_001);
    if !(norm < 1e15 && most < 1e15) {
        return None;
    }
    q[x.len()..].fill(0);
    if most < 1e-12 {
        // so little that squares of what is rounded off would get lost
        q.fill(0);
        return Some(Row { scale: 0.0, error: f64::from(most) * (x.len() as f64).sqrt(), norm: 0.0 });
    }
    let c = (NORM / chunk).min(32_766.0 / f64::from(most)) as f32;
    let scale = 1.0 / c;
    let mut square = 0.0f64;
    for (x, q) in x.chunks(64).zip(q.chunks_mut(64)) {
        let mut lanes = [0.0f32; 16];
        for (i, (x, q)) in x.iter().zip(q).enumerate() {
            let whole = x * c + MAGIC;
            *q = whole.to_bits() as i16;
            let off = x - (whole - MAGIC) * scale;
            lanes[i % 16] += off * off;
        }
        square += f64::from(lanes.iter().sum::<f32>());
    }
    let error = square.sqrt() * 1.000_01 + f64::from(most) * 1e-7 * (x.len() as f64).sqrt();
    Some(Row { scale, error, norm: norm + error })
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

    #[cold]
    #[inline(never)]
    fn look(&mut self, words: &Words<'_>, values: &[f32; WIDTH]) {
        let (mut above, mut most) = (0u32, [self.reference; 8]);
        for (l, &value) in values.iter().enumerate() {
            above |= u32::from(value > self.floor) << l;
            most[l % 8] = if value > most[l % 8] { value } else { most[l % 8] };
        }
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
        let most = most.iter().fold(self.reference, |most, &v| if v > most { v } else { most });
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
        let probable = self.reference + self.sums.iter().sum::<f32>().log2() + PROBABLE;
        self.floor = self.floor.max(if probable < certain { probable } else { certain });
        self.kept.retain(|kept| kept.0 > self.floor);
    }
}

/// What all words of a row come to.
#[derive(Clone, Debug, Default)]
pub struct Sifted {
    /// ln sum exp l^.
    pub log_sum: f64,
    /// Words that may be among the best, with l^ as in the sum; more than requested only if they are too close.
    pub words: Vec<(u32, f64)>,
}

/// Puts the parts of row `row` of [`IntegerLayer::sift`] together.
pub fn merge(sieves: &mut [Sieve], parts: usize, rows: usize, row: usize, sifted: &mut Sifted) {
    const LN_2: f64 = std::f64::consts::LN_2;
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
    sifted.log_sum = (f64::from(reference) + sum.log2()) * LN_2;
    sifted.words.clear();
    sifted.words.extend(sieves[row].kept.iter().map(|&(value, token)| (token, f64::from(value) * LN_2)));
}

/// 2^f for f from -1/2 to 1/2, the highest power first, relative error below 2e-7.
const POWER: [f32; 6] = [0.001_327_647_1, 0.009_675_541, 0.055_507_13, 0.240_221_2, 0.693_146_94, 1.000_000_1];

/// 2^x for x from -126 to 127, relative error below 2e-7.
#[inline(always)]
fn exp2<const FUSED: bool>(x: f32) -> f32 {
    /// 1.5 * 2^23 + 127: adding it rounds, and leaves the exponent in the low bits.
    const MAGIC: f32 = 12_583_039.0;
    let whole = x + MAGIC;
    let f = x - (whole - MAGIC);
    let mut p = POWER[0];
    for &c in &POWER[1..] {
        p = if FUSED { p.mul_add(f, c) } else { p * f + c };
    }
    p * f32::from_bits(whole.to_bits() << 23)
}

/// From the integers of some rows to l^: sums, and a look at what may be among the best.
#[inline(always)]
fn settle_rows<const FUSED: bool>(words: &Words<'_>, tile: &[[f32; WIDTH]], scales: &[f32], sieves: &mut [Sieve]) {
    for ((q, &scale), sieve) in tile.iter().zip(scales).zip(sieves) {
        let mut values = [0.0f32; WIDTH];
        let mut most = [f32::NEG_INFINITY; 16];
        for l in 0..WIDTH {
            let c = words.scales[l] * scale;
            values[l] = if FUSED { q[l].mul_add(c, words.bias[l]) } else { q[l] * c + words.bias[l] };
            most[l % 16] = if values[l] > most[l % 16] { values[l] } else { most[l % 16] };
        }
        if most.iter().any(|&most| most > sieve.alarm) {
            sieve.look(words, &values);
        }
        let reference = sieve.reference;
        for l in 0..16 {
            let [a, b] = [values[l], values[l + 16]].map(|v| {
                let x = v - reference;
                exp2::<FUSED>(if x > -126.0 { x } else { -126.0 })
            });
            sieve.sums[l] += a + b;
        }
    }
}

/// [`settle_rows`] with AVX-512's powers of two.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn settle_wide(words: &Words<'_>, tile: &[[f32; WIDTH]], scales: &[f32], sieves: &mut [Sieve]) {
    use std::arch::x86_64::{
        _CMP_GT_OQ, _MM_FROUND_NO_EXC, _MM_FROUND_TO_NEAREST_INT, _mm512_add_ps, _mm512_cmp_ps_mask, _mm512_fmadd_ps,
        _mm512_loadu_ps, _mm512_max_ps, _mm512_mul_ps, _mm512_roundscale_ps, _mm512_scalef_ps, _mm512_set1_ps,
        _mm512_storeu_ps, _mm512_sub_ps,
    };
    const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    // SAFETY: every load and store stays within one of the arrays of 16 or 32 numbers.
    unsafe {
        let half = |x: *const f32| [_mm512_loadu_ps(x), _mm512_loadu_ps(x.add(16))];
        let (c, b) = (half(words.scales.as_ptr()), half(words.bias.as_ptr()));
        let p = POWER.map(|c| _mm512_set1_ps(c));
        for ((q, &scale), sieve) in tile.iter().zip(scales).zip(sieves) {
            let scale = _mm512_set1_ps(scale);
            let q = half(q.as_ptr());
            let v = [0, 1].map(|l| _mm512_fmadd_ps(q[l], _mm512_mul_ps(c[l], scale), b[l]));
            let above = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(_mm512_max_ps(v[0], v[1]), _mm512_set1_ps(sieve.alarm));
            if above != 0 {
                let mut values = [0.0f32; WIDTH];
                _mm512_storeu_ps(values.as_mut_ptr(), v[0]);
                _mm512_storeu_ps(values.as_mut_ptr().add(16), v[1]);
                sieve.look(words, &values);
            }
            let reference = _mm512_set1_ps(sieve.reference);
            let powers = v.map(|v| {
                let x = _mm512_sub_ps(v, reference);
                let whole = _mm512_roundscale_ps::<NEAREST>(x);
                let f = _mm512_sub_ps(x, whole);
                let power = p[1..].iter().fold(p[0], |power, &c| _mm512_fmadd_ps(power, f, c));
                _mm512_scalef_ps(power, whole)
            });
            let sums = sieve.sums.as_mut_ptr();
            let sum = _mm512_add_ps(_mm512_loadu_ps(sums), _mm512_add_ps(powers[0], powers[1]));
            _mm512_storeu_ps(sums, sum);
        }
    }
}

fn settle(kind: Kind, words: &Words<'_>, tile: &[[f32; WIDTH]], scales: &[f32], sieves: &mut [Sieve]) {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn avx2(words: &Words<'_>, tile: &[[f32; WIDTH]], scales: &[f32], sieves: &mut [Sieve]) {
        settle_rows::<true>(words, tile, scales, sieves);
    }
    match kind {
        // SAFETY: `Kind::found` saw these features on this processor; the body is safe code.
        #[cfg(target_arch = "x86_64")]
        Kind::Vnni | Kind::Wide => unsafe { settle_wide(words, tile, scales, sieves) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2 => unsafe { avx2(words, tile, scales, sieves) },
        #[cfg(target_arch = "wasm32")]
        Kind::Simd128 => settle_rows::<false>(words, tile, scales, sieves),
        Kind::Portable => settle_rows::<false>(words, tile, scales, sieves),
    }
}
