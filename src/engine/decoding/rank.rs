//! What finished hypotheses are ranked by: log p, corrected for length and for coverage.
//!
//! Wu et al. 2016 (GNMT, section 7), equation 14:
//!
//! ```text
//! s(Y, X) = log p(Y | X) / lp(Y) + cp(X; Y)
//! lp(Y) = (5 + |Y|)^alpha / (5 + 1)^alpha
//! cp(X; Y) = beta * sum_j log(min(sum_i alpha_ij, 1))
//! ```
//!
//! The search itself goes by log p alone, as in that paper: normalised scores are compared among whole
//! hypotheses only. |Y| counts `</s>`, i runs over all target words and j over all source words, `</s>` included.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A source word that receives less than this in all counts as if it received so much. Local attention gives words
/// outside its windows exactly 0, and the logarithm of that would make all hypotheses equal.
const LEAST_COVERAGE: f64 = 1e-6;

/// How log p is corrected for length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum LengthRule {
    /// log p / |y|^A; 0 ranks by log p.
    Power(f32),
    /// log p / lp(Y) with the alpha of Wu et al. 2016, equation 14; 0 ranks by log p.
    Wu(f32),
}

impl Default for LengthRule {
    fn default() -> Self {
        Self::Power(0.0)
    }
}

impl LengthRule {
    /// What the log p of a hypothesis of `length` words, `</s>` included, is divided by.
    pub fn divisor(self, length: usize) -> f64 {
        let length = length as f64;
        match self {
            Self::Power(a) => length.powf(f64::from(a)),
            Self::Wu(alpha) => ((5.0 + length) / 6.0).powf(f64::from(alpha)),
        }
    }

    pub fn normalises(self) -> bool {
        let (Self::Power(a) | Self::Wu(a)) = self;
        a != 0.0
    }
}

impl fmt::Display for LengthRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Power(a) => write!(f, "power:{a}"),
            Self::Wu(alpha) => write!(f, "wu:{alpha}"),
        }
    }
}

impl FromStr for LengthRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let rule = text.split_once(':').and_then(|(name, number)| {
            let number: f32 = number.parse().ok().filter(|number: &f32| number.is_finite())?;
            match name {
                "power" => Some(Self::Power(number)),
                "wu" => Some(Self::Wu(number)),
                _ => None,
            }
        });
        rule.ok_or_else(|| Error::Input("write wu:0.6 (Wu et al. 2016) or power:1 (log p / length)".to_owned()))
    }
}

/// The rule by which hypotheses are ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// What becomes of log p.
    pub length: LengthRule,
    /// beta of the coverage penalty; 0 is off. Needs a model that aligns.
    pub coverage: f32,
}

impl Ranking {
    /// log p / |y|^A.
    pub fn power(a: f32) -> Self {
        Self { length: LengthRule::Power(a), coverage: 0.0 }
    }

    /// s(Y, X) of a hypothesis of `length` words. `rows` are its alpha_i; asked for only where coverage counts.
    pub fn score<'a>(self, log_p: f64, length: usize, rows: impl FnOnce() -> Vec<&'a [f32]>) -> f64 {
        let score = log_p / self.length.divisor(length);
        if self.coverage == 0.0 { score } else { score + f64::from(self.coverage) * penalty(&rows()) }
    }
}

/// sum_j log(min(sum_i alpha_ij, 1)) of rows alpha_i: 0 where every source word is covered.
pub fn penalty(rows: &[&[f32]]) -> f64 {
    let t_x = rows.first().map_or(0, |row| row.len());
    let sum = |j: usize| rows.iter().filter_map(|row| row.get(j)).map(|&alpha| f64::from(alpha)).sum::<f64>();
    (0..t_x).map(|j| sum(j).clamp(LEAST_COVERAGE, 1.0).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_written() {
        for (text, rule) in [
            ("wu:0.6", Some(LengthRule::Wu(0.6))),
            ("power:1", Some(LengthRule::Power(1.0))),
            ("power:-0.5", Some(LengthRule::Power(-0.5))),
            ("wu", None),
            ("wu:", None),
            ("wu:inf", None),
            ("lp:1", None),
            ("0.6", None),
        ] {
            assert_eq!(text.parse::<LengthRule>().ok(), rule, "{text}");
            assert!(rule.is_none_or(|rule| rule.to_string() == text));
        }
    }

    #[test]
    fn scores_are_those_of_the_paper() {
        let near = |got: f64, wanted: f64| assert!((got - wanted).abs() < 1e-9, "{got} instead of {wanted}");
        near(LengthRule::Wu(0.2).divisor(1), 1.0);
        near(LengthRule::Wu(1.0).divisor(13), 3.0);
        near(LengthRule::Wu(0.5).divisor(19), 2.0);
        near(LengthRule::Power(2.0).divisor(3), 9.0);
        // Three target words over three source words, covered 1.5 (counts 1), 0.5 and not at all.
        let rows: [&[f32]; 3] = [&[0.75, 0.25, 0.0], &[0.5, 0.25, 0.0], &[0.25, 0.0, 0.0]];
        near(penalty(&rows), 0.5_f64.ln() + LEAST_COVERAGE.ln());
        let ranking = Ranking { length: LengthRule::Wu(1.0), coverage: 0.5 };
        near(ranking.score(-6.0, 7, || rows.map(|row| &row[..2]).to_vec()), -3.0 + 0.5 * 0.5_f64.ln());
        near(Ranking::power(1.0).score(-6.0, 3, || unreachable!("no coverage is asked for")), -2.0);
    }
}
