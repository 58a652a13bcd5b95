//! In which numbers products are made while a model learns.

use serde::{Deserialize, Serialize};

use super::pairs;

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
    /// The precision that this processor supports: this one, or `F32`.
    pub fn here(self) -> Self {
        if pairs::multiplied() { self } else { Self::F32 }
    }
}
