//! Floor 11: page Corpus, how often tags were given, and kinds and severities of marks. A leaf.

use std::collections::BTreeMap;

use crate::corpus::store::corpus::Corpus;

/// All tags, each with how often it was given.
pub fn tags(corpus: &Corpus) -> BTreeMap<String, usize> {
    let mut tags = BTreeMap::new();
    for tag in corpus.judgements.values().flat_map(BTreeMap::values).flat_map(|judgement| &judgement.tags) {
        *tags.entry(tag.clone()).or_insert(0) += 1;
    }
    tags
}

/// Kinds and severities of marks, each with how many have it; a kind and a severity may be called the same.
#[derive(Clone, Debug, Default)]
pub struct Used {
    /// Kinds.
    pub kinds: BTreeMap<String, usize>,
    /// Severities.
    pub severities: BTreeMap<String, usize>,
}

/// Counts them.
pub fn used(corpus: &Corpus) -> Used {
    let mut used = Used::default();
    for mark in corpus.judgements.values().flat_map(BTreeMap::values).flat_map(|judgement| &judgement.marks) {
        *used.kinds.entry(mark.category.clone()).or_insert(0) += 1;
        *used.severities.entry(mark.severity.clone()).or_insert(0) += 1;
    }
    used
}
