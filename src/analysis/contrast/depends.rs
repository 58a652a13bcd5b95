//! Floor 5: what the choice between a good and a bad translation depends on: what interventions change, what is lost where the
//! source word that the model looks at is left out, and where the gradient lies. Imports nothing.

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
    /// Its alpha, the mean over the pieces of the critical word.
    pub alpha: f64,
    /// By how much ln p of both critical words falls where it is left out of their rows of alpha (Serrano and Smith 2019), where
    /// that was asked.
    pub lost: Option<[f64; 2]>,
}

/// Where the gradient of ln p(good word) - ln p(bad word) lies in the source, times the embeddings (Yin and Neubig 2022, Interpreting
/// Language Models with Contrastive Explanations).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContrastGradient {
    /// The source word that speaks most for the good one.
    pub word: String,
    /// g_j of it, nats.
    pub most: f64,
    /// |g_j| of the word that the model looks at, over the sum of all; `None` without an alignment.
    pub share: Option<f64>,
    /// Both are the same word.
    pub agrees: Option<bool>,
}

/// What stands beside the probabilities of a pair where it was asked for and the model has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairDependence {
    /// With interventions.
    pub changed: Option<ChangedPair>,
    pub looks_at: Option<LookedAt>,
    pub gradient: Option<ContrastGradient>,
}
