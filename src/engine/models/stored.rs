//! Where the numbers of a tensor lie that nobody changes: as the bytes of a file, as whole numbers, or packed for
//! decoding. There is one copy of them; `f32` are made of it where they are asked for.

use std::sync::Arc;

use half::slice::HalfFloatSliceExt as _;
use half::{bf16, f16};
use rayon::prelude::*;

use crate::models::header::NumberFormat;
use crate::nn::fused::Packed;
use crate::nn::fused::elementwise::{dot_short, dot_stored};
use crate::nn::fused::integers::{PackedIntegers, Rounding};

/// Numbers widened at a time: small enough for the first-level cache, large enough to share out.
pub(super) const BLOCK: usize = 4096;

/// A matrix that came in whole numbers: w = q / b.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegerMatrix {
    pub q: Vec<i8>,
    pub multiplier: f32,
    pub rounding: Rounding,
}

/// Numbers of a tensor; `Scaled` are whole numbers times one of `scales` a row, widened and never multiplied as they are.
#[derive(Debug)]
pub(super) enum Stored {
    Bytes { bytes: Vec<u8>, kind: NumberFormat },
    Wide(Vec<f32>),
    Scaled { q: Vec<u8>, scales: Vec<f32> },
    Integers(IntegerMatrix),
    Packed { pack: Arc<Packed>, first: usize, rows: usize },
    PackedIntegers { pack: Arc<PackedIntegers>, first: usize, rows: usize, rounding: Rounding },
}

impl Stored {
    pub(super) fn append_to(&self, all: &mut Vec<f32>) {
        match self {
            Self::Bytes { bytes, kind } => {
                let first = all.len();
                all.resize(first + bytes.len() / kind.size(), 0.0);
                let widen = kind.widen();
                let blocks = all[first..].par_chunks_mut(BLOCK).with_min_len(16);
                blocks.zip(bytes.par_chunks(BLOCK * kind.size())).for_each(|(numbers, bytes)| widen(numbers, bytes));
            }
            Self::Wide(numbers) => all.extend_from_slice(numbers),
            Self::Scaled { q, scales } => {
                let rows = q.chunks(q.len().div_ceil(scales.len().max(1)).max(1)).zip(scales);
                rows.for_each(|(q, scale)| all.extend(widen_scaled(q, *scale)));
            }
            Self::Integers(IntegerMatrix { q, multiplier, .. }) => {
                all.extend(q.iter().map(|q| f32::from(*q) / multiplier));
            }
            Self::Packed { pack, first, rows } => (*first..first + rows).for_each(|row| pack.append_row(row, all)),
            Self::PackedIntegers { pack, first, rows, .. } => {
                (*first..first + rows).for_each(|row| pack.append_row(row, all));
            }
        }
    }

    pub(super) fn row(&self, row: usize, width: usize, buffer: &mut Vec<f32>) {
        buffer.clear();
        match self {
            Self::Bytes { bytes, kind } => {
                buffer.resize(width, 0.0);
                let size = width * kind.size();
                kind.widen_some(buffer, &bytes[row * size..(row + 1) * size]);
            }
            Self::Wide(numbers) => buffer.extend_from_slice(&numbers[row * width..(row + 1) * width]),
            Self::Scaled { q, scales } => {
                buffer.extend(widen_scaled(&q[row * width..(row + 1) * width], scales[row]));
            }
            Self::Integers(IntegerMatrix { q, multiplier, .. }) => {
                buffer.extend(q[row * width..(row + 1) * width].iter().map(|q| f32::from(*q) / multiplier));
            }
            Self::Packed { pack, first, .. } => pack.append_row(first + row, buffer),
            Self::PackedIntegers { pack, first, .. } => pack.append_row(first + row, buffer),
        }
    }

    /// Row `row` times x [width]; `buffer` is what it may be widened into.
    pub(super) fn dot(&self, row: usize, x: &[f32], buffer: &mut Vec<f32>) -> f32 {
        if let Self::Bytes { bytes, kind: kind @ (NumberFormat::F16 | NumberFormat::F32) } = self {
            let size = kind.size() * x.len();
            if let Some(dot) = dot_stored(&bytes[row * size..(row + 1) * size], *kind == NumberFormat::F16, x) {
                return dot;
            }
        }
        self.row(row, x.len(), buffer);
        dot_short(buffer, x)
    }

    pub(super) fn rounding(&self) -> Option<Rounding> {
        match self {
            Self::Integers(IntegerMatrix { rounding, .. }) | Self::PackedIntegers { rounding, .. } => Some(*rounding),
            Self::Bytes { .. } | Self::Wide(_) | Self::Scaled { .. } | Self::Packed { .. } => None,
        }
    }

    pub(super) fn integers(&self) -> Option<IntegerMatrix> {
        match self {
            Self::Integers(matrix) => Some(matrix.clone()),
            Self::PackedIntegers { pack, first, rows, rounding } => Some(IntegerMatrix {
                q: (*first..first + rows).flat_map(|row| pack.row(row)).collect(),
                multiplier: pack.multiplier(*first),
                rounding: *rounding,
            }),
            Self::Bytes { .. } | Self::Wide(_) | Self::Scaled { .. } | Self::Packed { .. } => None,
        }
    }

    pub(super) fn bytes(&self, kind: NumberFormat) -> Vec<u8> {
        if let Self::Bytes { bytes, .. } = self {
            return bytes.clone();
        }
        let mut numbers = Vec::new();
        self.append_to(&mut numbers);
        match kind {
            NumberFormat::F32 | NumberFormat::I8 => numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
            NumberFormat::F16 => numbers.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect(),
            NumberFormat::Bf16 => numbers.iter().flat_map(|x| bf16::from_f32(*x).to_le_bytes()).collect(),
        }
    }
}

impl NumberFormat {
    pub(super) fn read(self, bytes: &[u8]) -> Vec<f32> {
        let mut numbers = vec![0.0; bytes.len() / self.size()];
        let blocks = numbers.chunks_mut(BLOCK).zip(bytes.chunks(BLOCK * self.size()));
        blocks.for_each(|(numbers, bytes)| self.widen()(numbers, bytes));
        numbers
    }

    fn widen(self) -> fn(&mut [f32], &[u8]) {
        match self {
            Self::Bf16 => widen_bf16,
            Self::F16 => widen_f16,
            Self::F32 => widen_f32,
            Self::I8 => |numbers, bytes| numbers.iter_mut().zip(widen_scaled(bytes, 1.0)).for_each(|(x, q)| *x = q),
        }
    }

    fn widen_some(self, numbers: &mut [f32], bytes: &[u8]) {
        match self {
            Self::F32 => widen_f32(numbers, bytes),
            Self::Bf16 | Self::I8 => self.widen()(numbers, bytes),
            Self::F16 => numbers.chunks_mut(64).zip(bytes.chunks(128)).for_each(|(x, bytes)| {
                let mut halves = [f16::ZERO; 64];
                let words = bytes.as_chunks::<2>().0.iter();
                halves.iter_mut().zip(words).for_each(|(half, word)| *half = f16::from_le_bytes(*word));
                halves[..x.len()].convert_to_f32_slice(x);
            }),
        }
    }

    /// Whether no number is infinite or NaN: those have all bits of the exponent set.
    pub(super) fn is_finite(self, bytes: &[u8]) -> bool {
        match self {
            Self::F16 | Self::Bf16 => {
                let exponent = if self == Self::F16 { 0x7c00 } else { 0x7f80 };
                let words = bytes.as_chunks::<2>().0.iter();
                words.fold(true, |finite, word| finite & (u16::from_le_bytes(*word) & exponent != exponent))
            }
            Self::I8 => true,
            Self::F32 => {
                let (words, _) = bytes.as_chunks::<4>();
                words.iter().fold(true, |finite, word| finite & f32::from_le_bytes(*word).is_finite())
            }
        }
    }
}

fn widen_scaled(q: &[u8], scale: f32) -> impl Iterator<Item = f32> {
    q.iter().map(move |q| f32::from(q.cast_signed()) * scale)
}

/// A matrix as whole numbers of 8 bits, and the scale of each of its rows. With 8 `bits` the greatest number of a row is 127;
/// with fewer all are multiples of one step, so that a file of them packs to about `bits` a number.
pub fn in_8_bits(numbers: &[f32], rows: usize, bits: u32) -> (Vec<u8>, Vec<f32>) {
    let width = (numbers.len() / rows.max(1)).max(1);
    let levels = (1 << (bits - 1)) - 1;
    let step = (127 / levels) as f32;
    let scale = |row: &[f32]| row.iter().fold(0.0, |most: f32, x| most.max(x.abs())) / (levels as f32 * step);
    let scales: Vec<f32> = numbers.chunks(width).map(scale).collect();
    let rounded = |x: f32, scale: f32| if scale > 0.0 { ((x / (scale * step)).round() * step) as i8 } else { 0 };
    let rows = numbers.chunks(width).zip(&scales);
    let q = rows.flat_map(|(row, scale)| row.iter().map(move |x| rounded(*x, *scale).cast_unsigned())).collect();
    (q, scales)
}

fn widen_f32(numbers: &mut [f32], bytes: &[u8]) {
    let (words, _) = bytes.as_chunks::<4>();
    for (number, word) in numbers.iter_mut().zip(words) {
        *number = f32::from_le_bytes(*word);
    }
}

fn widen_f16(numbers: &mut [f32], bytes: &[u8]) {
    let mut halves = [f16::ZERO; BLOCK];
    let (words, _) = bytes.as_chunks::<2>();
    for (half, word) in halves.iter_mut().zip(words) {
        *half = f16::from_le_bytes(*word);
    }
    halves[..numbers.len()].convert_to_f32_slice(numbers);
}

fn widen_bf16(numbers: &mut [f32], bytes: &[u8]) {
    let (words, _) = bytes.as_chunks::<2>();
    for (number, word) in numbers.iter_mut().zip(words) {
        *number = bf16::from_le_bytes(*word).to_f32();
    }
}
