//! From the products of some rows with a panel to l^: their part of the sum of powers, and a look at what may be among
//! the best.

use super::{ROWS, Rounded, Sieve, WIDTH, Words};
#[cfg(target_arch = "x86_64")]
use crate::nn::fused::Level;
use crate::nn::fused::level;

/// What rows from `row` on of `rounded` come to.
pub(super) struct Products<'a> {
    pub of: &'a [[i32; WIDTH]; ROWS],
    pub rounded: &'a Rounded,
    pub row: usize,
}

impl Products<'_> {
    /// What is taken off the sums of row `r`, and their scale.
    fn finish(&self, r: usize) -> (i32, f32) {
        let at = self.row + r;
        (self.rounded.sums[at], self.rounded.scales[at])
    }
}

/// 2^f for f from -1/2 to 1/2, the highest power first, relative error below 3e-6.
const POWER: [f32; 5] = [0.009_560_51, 0.055_917_04, 0.240_249_81, 0.693_121_97, 0.999_999_2];

/// 2^x for x from -126 to 127.
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

#[inline(always)]
fn settle_rows<const FUSED: bool>(words: &Words<'_>, products: &Products<'_>, sieves: &mut [Sieve]) {
    for (r, sieve) in sieves.iter_mut().enumerate() {
        let (less, scale) = products.finish(r);
        let (mut values, mut most) = ([0.0f32; WIDTH], [f32::NEG_INFINITY; 16]);
        for l in 0..WIDTH {
            let (q, c, b) = ((products.of[r][l] - less) as f32, words.scales[l] * scale, words.bias[l]);
            values[l] = if FUSED { q.mul_add(c, b) } else { q * c + b };
            most[l % 16] = if values[l] > most[l % 16] { values[l] } else { most[l % 16] };
        }
        let most = most.iter().fold(f32::NEG_INFINITY, |most, &v| if v > most { v } else { most });
        if most > sieve.alarm {
            let above = |(l, value): (usize, &f32)| u32::from(*value > sieve.floor) << l;
            let above = values.iter().enumerate().map(above).fold(0, |all, one| all | one);
            sieve.look(words, &values, above, most);
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
fn settle_wide(words: &Words<'_>, products: &Products<'_>, sieves: &mut [Sieve]) {
    use std::arch::x86_64::{
        _CMP_GT_OQ, _MM_FROUND_NO_EXC, _MM_FROUND_TO_NEAREST_INT, _mm512_add_ps, _mm512_cmp_ps_mask,
        _mm512_cvtepi32_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_max_ps, _mm512_mul_ps,
        _mm512_reduce_max_ps, _mm512_roundscale_ps, _mm512_scalef_ps, _mm512_set1_epi32, _mm512_set1_ps,
        _mm512_storeu_ps, _mm512_sub_epi32, _mm512_sub_ps,
    };
    const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    // written out twice: a closure is a call, and there the numbers leave the registers
    macro_rules! both {
        (|$l:ident| $value:expr) => {
            [
                {
                    let $l = 0;
                    $value
                },
                {
                    let $l = 1;
                    $value
                },
            ]
        };
    }
    // SAFETY: every load and store stays within one of the arrays of 16 or 32 numbers.
    unsafe {
        let c = both!(|l| _mm512_loadu_ps(words.scales.as_ptr().add(16 * l)));
        let b = both!(|l| _mm512_loadu_ps(words.bias.as_ptr().add(16 * l)));
        for (r, sieve) in sieves.iter_mut().enumerate() {
            let (less, scale) = products.finish(r);
            let (less, scale) = (_mm512_set1_epi32(less), _mm512_set1_ps(scale));
            let q = both!(|l| {
                let sum = _mm512_loadu_si512(products.of[r].as_ptr().add(16 * l).cast());
                _mm512_cvtepi32_ps(_mm512_sub_epi32(sum, less))
            });
            let v = both!(|l| _mm512_fmadd_ps(q[l], _mm512_mul_ps(c[l], scale), b[l]));
            let most = _mm512_max_ps(v[0], v[1]);
            if _mm512_cmp_ps_mask::<_CMP_GT_OQ>(most, _mm512_set1_ps(sieve.alarm)) != 0 {
                let mut values = [0.0f32; WIDTH];
                _mm512_storeu_ps(values.as_mut_ptr(), v[0]);
                _mm512_storeu_ps(values.as_mut_ptr().add(16), v[1]);
                let floor = _mm512_set1_ps(sieve.floor);
                let above = both!(|l| u32::from(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(v[l], floor)));
                sieve.look(words, &values, above[0] | above[1] << 16, _mm512_reduce_max_ps(most));
            }
            let reference = _mm512_set1_ps(sieve.reference);
            let powers = both!(|l| {
                let x = _mm512_sub_ps(v[l], reference);
                let whole = _mm512_roundscale_ps::<NEAREST>(x);
                let f = _mm512_sub_ps(x, whole);
                let mut power = _mm512_set1_ps(POWER[0]);
                for c in &POWER[1..] {
                    power = _mm512_fmadd_ps(power, f, _mm512_set1_ps(*c));
                }
                _mm512_scalef_ps(power, whole)
            });
            let sums = sieve.sums.as_mut_ptr();
            let sum = _mm512_add_ps(_mm512_loadu_ps(sums), _mm512_add_ps(powers[0], powers[1]));
            _mm512_storeu_ps(sums, sum);
        }
    }
}

pub(super) fn settle(words: &Words<'_>, products: &Products<'_>, sieves: &mut [Sieve]) {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn avx2(words: &Words<'_>, products: &Products<'_>, sieves: &mut [Sieve]) {
        settle_rows::<true>(words, products, sieves);
    }
    match level() {
        // SAFETY: `level` saw these features on this processor; the body is safe code.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { settle_wide(words, products, sieves) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2(words, products, sieves) },
        _ => settle_rows::<false>(words, products, sieves),
    }
}
