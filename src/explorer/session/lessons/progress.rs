//! How far lessons were read, as it is kept between starts. A leaf.

use serde::{Deserialize, Serialize};

/// What a reader has chosen, typed and judged, each by page and part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answers {
    pub chosen: Vec<((usize, usize), usize)>,
    pub typed: Vec<((usize, usize), String)>,
    pub marked: Vec<((usize, usize), bool)>,
}

/// How far a lesson was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// The last page that was shown, from 0.
    pub page: usize,
    /// Whether its end was reached once.
    pub is_done: bool,
    /// Kept until the lesson is left at its end.
    #[serde(skip_serializing_if = "is_empty")]
    pub answers: Answers,
}

fn is_empty(answers: &Answers) -> bool {
    *answers == Answers::default()
}
