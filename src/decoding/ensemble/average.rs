//! Floor 4: how the members of an ensemble are averaged.

use std::fmt;

/// What is averaged over the members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Average {
    /// p = sum_m p_m / M.
    #[default]
    Probability,
    /// log p = sum_m log p_m / M - log Z: the geometric mean, normalised.
    LogProbability,
}

/// Everything that can be averaged.
pub const AVERAGES: [Average; 2] = [Average::Probability, Average::LogProbability];

impl Average {
    /// The average of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        AVERAGES.into_iter().find(|average| average.to_string() == name)
    }
}

impl fmt::Display for Average {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Probability => "probability",
            Self::LogProbability => "log-probability",
        })
    }
}
