//! Page Corpus, a campaign while it is planned. A leaf.

/// The plan of a campaign as it is typed.
pub struct PlanDraft {
    /// Who judges; none: the one who is here.
    pub names: Option<String>,
    /// How many judge each sentence.
    pub each: usize,
    pub seed: u64,
    pub is_blind: bool,
    pub rates: bool,
    pub in_stars: bool,
    pub ratings_only: Option<bool>,
}

impl Default for PlanDraft {
    fn default() -> Self {
        let (each, is_blind, rates) = (usize::MAX, true, true);
        Self { names: None, each, seed: 1, is_blind, rates, in_stars: false, ratings_only: None }
    }
}
