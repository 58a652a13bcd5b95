//! What the choice between a good and a bad translation depends on: what interventions change, and what is lost where
//! the source word that the model looks at is left out. Imports nothing.

/// What a model says of a pair with interventions; the good translation is first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangedPair {
    /// ln p(y given x) of both.
    pub log_p: [f64; 2],
    /// ln p of the words in which they differ first.
    pub word_log_p: [f64; 2],
}

/// The source word that a model looks at most where it predicts the good critical word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LookedAt {
    /// As the source has it.
    pub word: String,
    pub alpha: f64,
    /// By how much ln p of both critical words falls where it is left out of their rows of alpha (Serrano and Smith
    /// 2019).
    pub lost: [f64; 2],
}

/// What stands beside the probabilities of a pair where it was asked for and the model has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairDependence {
    pub changed: Option<ChangedPair>,
    pub looks_at: Option<LookedAt>,
}
