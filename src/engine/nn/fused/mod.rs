//! Fused CPU kernels on plain `f32` slices, the fast twins of the readable cells in `nn/` and `attention/`. Matrices
//! are row-major; weights are [out, in]. The only code with `unsafe` (SIMD kernels, calls of `gemm`): every block has
//! its reason, and the tests compare each kernel with a plain loop on odd shapes.
#![allow(unsafe_code, reason = "SIMD kernels; each block says why it is sound")]
#![allow(clippy::too_many_arguments, reason = "a kernel names its sizes, strides and buffers one by one")]

pub mod attention;
pub mod elementwise;
pub mod focus;
pub mod gru;
pub mod heads;
pub mod integers;
pub mod lstm;
pub mod matmul;
pub mod number;
pub mod output;
pub mod pack;
mod pages;
pub mod pairs;
mod rounded;
pub mod scan;
pub mod screen;
mod sixteen;
pub mod team;
pub mod tile;
pub mod update;
pub mod vocabulary;
mod width;

pub use elementwise::{axpy, dot, fill_rows};
pub use number::Precision;
pub use pack::{LARGE, Packed};
pub use rounded::Factor;
pub use tile::Onto;

/// Which instructions the processor has, found once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Base,
    /// AVX2, FMA and F16C.
    Avx2,
    /// AVX-512 F, BW, DQ, VL.
    Avx512,
}

pub fn level() -> Level {
    use std::sync::OnceLock;
    static LEVEL: OnceLock<Level> = OnceLock::new();
    let found = *LEVEL.get_or_init(detect);
    #[cfg(debug_assertions)]
    let found = found.min(LIMIT.get());
    found
}

#[cfg(debug_assertions)]
thread_local! {
    static LIMIT: std::cell::Cell<Level> = const { std::cell::Cell::new(Level::Avx512) };
}

/// Runs `work` with kernels of at most this level on this thread, for tests; a release build only runs `work`.
#[doc(hidden)]
pub fn at_most<T>(level: Level, work: impl FnOnce() -> T) -> T {
    #[cfg(debug_assertions)]
    let before = LIMIT.replace(level);
    let result = work();
    #[cfg(debug_assertions)]
    LIMIT.set(before);
    #[cfg(not(debug_assertions))]
    let _ = level;
    result
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Level {
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    if avx2 && avx512 {
        Level::Avx512
    } else if avx2 {
        Level::Avx2
    } else {
        Level::Base
    }
}

/// Whether the processor adds up products of integers in one instruction of 512 bits.
#[cfg(target_arch = "x86_64")]
fn has_vnni() -> bool {
    is_x86_feature_detected!("avx512vnni")
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Level {
    Level::Base
}

/// Compiles a plain body of loops over slices, which the compiler vectorises, for each [`Level`]; chosen at run time.
macro_rules! per_level {
    ($(#[$meta:meta])* pub fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        pub fn $name($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn body($($arg: $ty),*) $(-> $ret)? $body
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
            fn avx512($($arg: $ty),*) $(-> $ret)? { body($($arg),*) }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $ty),*) $(-> $ret)? { body($($arg),*) }
            match $crate::nn::fused::level() {
                // SAFETY: `level` found these features on this processor; the body is safe code.
                #[cfg(target_arch = "x86_64")]
                $crate::nn::fused::Level::Avx512 => unsafe { avx512($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::nn::fused::Level::Avx2 => unsafe { avx2($($arg),*) },
                _ => body($($arg),*),
            }
        }
    };
}
pub(crate) use per_level;
