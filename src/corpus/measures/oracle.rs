//! Floor 7: n-best lists: which candidate comes nearest to the references, the oracle of what a system could have said, and where
//! it stands.

use crate::analysis::bleu::{BleuCounts, BleuSettings};
use crate::analysis::chrf;
use crate::import::OracleBy;

impl OracleBy {
    /// The score of a candidate, from 0 to 100.
    pub fn score(self, text: &str, references: &[&str]) -> f64 {
        match self {
            Self::Bleu => BleuCounts::of(text, references, &BleuSettings::default()).sentence(),
            Self::Chrf => chrf::ChrfCounts::of(text, references, false).score(),
        }
    }

    /// The place of the best candidate, from 0; the first of equals. `None` without candidates or references.
    pub fn oracle<'a>(self, candidates: impl IntoIterator<Item = &'a str>, references: &[&str]) -> Option<usize> {
        if references.is_empty() {
            return None;
        }
        greatest(candidates.into_iter().map(|text| self.score(text, references)))
    }
}

/// The place of the greatest number, from 0; the first of equals. NaN is never it.
pub fn greatest(numbers: impl IntoIterator<Item = f64>) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (n, number) in numbers.into_iter().enumerate().filter(|(_, number)| !number.is_nan()) {
        if best.is_none_or(|(_, other)| number > other) {
            best = Some((n, number));
        }
    }
    best.map(|(n, _)| n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oracle_is_the_first_of_the_best() {
        let references = ["le vieux moulin tourne"];
        for (candidates, wanted) in [
            (&["un moulin", "le vieux moulin tourne", "le vieux moulin tourne"][..], Some(1)),
            (&["le vieux moulin tourne"][..], Some(0)),
            (&[][..], None),
        ] {
            for by in [OracleBy::Bleu, OracleBy::Chrf] {
                assert_eq!(by.oracle(candidates.iter().copied(), &references), wanted, "{by:?}");
            }
        }
        assert_eq!(OracleBy::Chrf.oracle(["a"], &[]), None);
        assert_eq!(greatest([f64::NAN, -2.0, -1.0, -1.0]), Some(2));
    }
}
