//! What the tiles of [`super::tile`] multiply: how a number of B is stored, what A holds for it, and the few
//! instructions that their product takes at each level.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256, __m512, __m512bh, _mm_loadu_si128, _mm256_and_ps, _mm256_castps_si256, _mm256_castsi256_ps,
    _mm256_cvtph_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_set1_epi32, _mm256_set1_ps,
    _mm256_slli_epi32, _mm512_castsi512_ps, _mm512_cvtph_ps, _mm512_dpbf16_ps, _mm512_fmadd_ps, _mm512_loadu_ps,
    _mm512_set1_epi32, _mm512_set1_ps,
};

use half::{bf16, f16};

use super::pairs;
use super::pairs::Pair;
use serde::{Deserialize, Serialize};

/// Four sums of `f32`; in a browser, one of its vectors.
#[cfg(target_arch = "wasm32")]
pub type Four = std::arch::wasm32::v128;
/// Four sums of `f32`.
#[cfg(all(test, not(target_arch = "wasm32")))]
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Four([f32; 4]);

/// How B is stored, and with what a number of it is multiplied.
pub trait Number: Copy + Send + Sync {
    /// What A holds for a row of B.
    type Line: Copy + Send + Sync;

    /// Whether products need the instructions for pairs of bf16.
    const PAIRS: bool = false;

    /// sum + x y.
    fn add_product(sum: f32, x: Self::Line, y: Self) -> f32;

    /// sums + x y of four numbers.
    ///
    /// # Safety
    /// They can be read at `y`.
    #[cfg(any(test, target_arch = "wasm32"))]
    #[inline(always)]
    unsafe fn add_products_4(sums: Four, x: Self::Line, y: *const Self) -> Four {
        // SAFETY: the caller's promise; four sums are four `f32`, whatever they are kept in.
        unsafe {
            let mut sums = std::mem::transmute::<Four, [f32; 4]>(sums);
            for (l, sum) in sums.iter_mut().enumerate() {
                *sum = Self::add_product(*sum, x, *y.add(l));
            }
            std::mem::transmute::<[f32; 4], Four>(sums)
        }
    }

    /// Sixteen times the same.
    ///
    /// # Safety
    /// The processor has AVX-512 F.
    #[cfg(target_arch = "x86_64")]
    unsafe fn all_sixteen(x: Self::Line) -> __m512;

    /// Sixteen numbers.
    ///
    /// # Safety
    /// They can be read at `p`, and the processor has AVX-512 F.
    #[cfg(target_arch = "x86_64")]
    unsafe fn sixteen(p: *const Self) -> __m512;

    /// sums + x y of what the two above return.
    ///
    /// # Safety
    /// The processor has AVX-512 F, for pairs also AVX-512 BF16.
    #[cfg(target_arch = "x86_64")]
    unsafe fn add_products_16(sums: __m512, x: __m512, y: __m512) -> __m512;

    /// Eight times the same.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    unsafe fn all_eight(x: Self::Line) -> __m256;

    /// Eight numbers.
    ///
    /// # Safety
    /// They can be read at `p`, and the processor has AVX2 and F16C.
    #[cfg(target_arch = "x86_64")]
    unsafe fn eight(p: *const Self) -> __m256;

    /// sums + x y of what the two above return.
    ///
    /// # Safety
    /// The processor has AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    unsafe fn add_products_8(sums: __m256, x: __m256, y: __m256) -> __m256;
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn bits(pair: Pair) -> u32 {
    u32::from(pair[0].to_bits()) | (u32::from(pair[1].to_bits()) << 16)
}

macro_rules! single_products {
    () => {
        type Line = f32;

        #[cfg(target_arch = "x86_64")]
        #[inline]
        #[target_feature(enable = "avx512f")]
        unsafe fn all_sixteen(x: f32) -> __m512 {
            _mm512_set1_ps(x)
        }

        #[cfg(target_arch = "x86_64")]
        #[inline]
        #[target_feature(enable = "avx512f")]
        unsafe fn add_products_16(sums: __m512, x: __m512, y: __m512) -> __m512 {
            _mm512_fmadd_ps(x, y, sums)
        }

        #[cfg(target_arch = "x86_64")]
        #[inline]
        #[target_feature(enable = "avx2,fma,f16c")]
        unsafe fn all_eight(x: f32) -> __m256 {
            _mm256_set1_ps(x)
        }

        #[cfg(target_arch = "x86_64")]
        #[inline]
        #[target_feature(enable = "avx2,fma,f16c")]
        unsafe fn add_products_8(sums: __m256, x: __m256, y: __m256) -> __m256 {
            _mm256_fmadd_ps(x, y, sums)
        }
    };
}

impl Number for f32 {
    single_products!();

    #[cfg(target_arch = "wasm32")]
    #[inline(always)]
    unsafe fn add_products_4(sums: Four, x: f32, y: *const f32) -> Four {
        use std::arch::wasm32::{f32x4_add, f32x4_mul, f32x4_splat, v128_load};
        // SAFETY: the caller's promise; no load asks for alignment.
        f32x4_add(sums, f32x4_mul(f32x4_splat(x), unsafe { v128_load(y.cast()) }))
    }

    #[inline(always)]
    fn add_product(sum: f32, x: f32, y: f32) -> f32 {
        // one instruction where every processor of the target has it; elsewhere the fused form is a slow call
        if cfg!(target_arch = "aarch64") { x.mul_add(y, sum) } else { x * y + sum }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn sixteen(p: *const f32) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_loadu_ps(p) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn eight(p: *const f32) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_loadu_ps(p) }
    }
}

impl Number for f16 {
    single_products!();

    #[inline(always)]
    fn add_product(sum: f32, x: f32, y: f16) -> f32 {
        f32::add_product(sum, x, y.to_f32())
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn sixteen(p: *const f16) -> __m512 {
        // SAFETY: the caller's promise; an f16 is its 16 bits.
        unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(p.cast())) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn eight(p: *const f16) -> __m256 {
        // SAFETY: the caller's promise; an f16 is its 16 bits.
        unsafe { _mm256_cvtph_ps(_mm_loadu_si128(p.cast())) }
    }
}

/// A pair is 32 bits, the first number in the lower half.
impl Number for Pair {
    type Line = Pair;

    const PAIRS: bool = true;

    #[inline(always)]
    fn add_product(sum: f32, x: Pair, y: Pair) -> f32 {
        let wide = |x: bf16| f32::from_bits(u32::from(x.to_bits()) << 16);
        sum + wide(x[0]) * wide(y[0]) + wide(x[1]) * wide(y[1])
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn all_sixteen(x: Pair) -> __m512 {
        _mm512_castsi512_ps(_mm512_set1_epi32(bits(x) as i32))
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn sixteen(p: *const Pair) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_loadu_ps(p.cast()) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bf16")]
    unsafe fn add_products_16(sums: __m512, x: __m512, y: __m512) -> __m512 {
        // SAFETY: both are 512 bits, and any bits are 32 numbers in bf16.
        let pairs = |x: __m512| unsafe { std::mem::transmute::<__m512, __m512bh>(x) };
        _mm512_dpbf16_ps(sums, pairs(x), pairs(y))
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn all_eight(x: Pair) -> __m256 {
        _mm256_castsi256_ps(_mm256_set1_epi32(bits(x) as i32))
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn eight(p: *const Pair) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_loadu_ps(p.cast()) }
    }

    /// The upper halves are `f32` as they stand once the lower ones are cleared, the lower ones once they are moved up.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn add_products_8(sums: __m256, x: __m256, y: __m256) -> __m256 {
        let first = |x: __m256| _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_castps_si256(x)));
        let mask = _mm256_castsi256_ps(_mm256_set1_epi32(0xffff_0000_u32 as i32));
        let second = |x: __m256| _mm256_and_ps(x, mask);
        _mm256_fmadd_ps(second(x), second(y), _mm256_fmadd_ps(first(x), first(y), sums))
    }
}

/// How exactly the factors of products are kept while a model learns; sums and weights are `f32` always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    #[default]
    F32,
    /// Rounded to bf16 ([`pairs`]), where the processor multiplies those faster; elsewhere as [`Precision::F32`].
    Bf16,
}

impl Precision {
    /// The precision that this processor has instructions for: this one, or `F32`.
    pub fn here(self) -> Self {
        if pairs::multiplied() { self } else { Self::F32 }
    }
}
