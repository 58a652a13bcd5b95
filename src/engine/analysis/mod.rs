//! Pure functions of alignments and texts: what is read off a matrix, and how good a translation is; and of vectors:
//! what lies near each other. Imports `text`, `decoding` and the kernels of `nn::fused`; no candle, no files.

/// Counts whose fields add up, numbers or `each` of an array, can be summed, borrowed or not.
#[macro_export]
macro_rules! sums {
    ($counts:ty: $($number:ident),*; each $($numbers:ident),*) => {
        impl std::ops::AddAssign for $counts {
            fn add_assign(&mut self, other: Self) {
                $(self.$number += other.$number;)*
                $(self.$numbers.iter_mut().zip(other.$numbers).for_each(|(sum, other)| *sum += other);)*
            }
        }

        impl std::iter::Sum for $counts {
            fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
                counts.fold(Self::default(), |mut sum, counts| {
                    sum += counts;
                    sum
                })
            }
        }

        impl<'a> std::iter::Sum<&'a Self> for $counts {
            fn sum<I: Iterator<Item = &'a Self>>(counts: I) -> Self {
                counts.copied().sum()
            }
        }
    };
}

#[cfg(not(target_family = "wasm"))]
pub use sums;

pub mod ablation;
pub mod aer;
pub mod alignment;
pub mod bleu;
pub mod bootstrap;
pub mod buckets;
pub mod chrf;
pub mod concordance;
pub mod confidence;
pub mod contrast;
pub mod correlation;
pub mod divergence;
pub mod hard;
pub mod kappa;
pub mod lexical;
pub mod map;
pub mod measures;
pub mod mteval;
pub mod neighbours;
pub mod ngrams;
pub mod omission;
pub mod pca;
pub mod row_convention;
pub mod symmetrize;
pub mod ter;
pub mod tsne;
pub mod unknown;
pub mod words;
