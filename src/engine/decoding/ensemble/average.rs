//! How the members of an ensemble are averaged.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is averaged over the members. Of a file, a name that is not known is the usual one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Average {
    /// log p = sum_m log p_m / M - log Z: the geometric mean, normalised.
    LogProbability,
    /// p = sum_m p_m / M.
    #[default]
    #[serde(other)]
    Probability,
}

/// Everything that can be averaged.
pub const AVERAGES: [Average; 2] = [Average::Probability, Average::LogProbability];

impl fmt::Display for Average {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Probability => "probability",
            Self::LogProbability => "log-probability",
        })
    }
}
