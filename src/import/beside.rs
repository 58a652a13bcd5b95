//! How many words the sentences that a file tells of have in the corpus, where its links and weights belong.

use std::sync::Arc;

/// For each sentence the number of source and target words; `None` for a side without text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sides(pub Arc<[[Option<u32>; 2]]>);

impl Sides {
    /// The words of both sides of sentence `n`, from 1, without end where one side alone is known.
    pub fn bounds(&self, n: usize) -> Option<(usize, usize)> {
        let sides = self.0.get(n.checked_sub(1)?)?;
        let [source, target] = sides.map(|words| words.map_or(usize::MAX, |words| words as usize));
        (source.min(target) < usize::MAX).then_some((source, target))
    }

    /// The words of both sides of sentence `n`, from 1, where both are known.
    pub fn words(&self, n: usize) -> Option<(usize, usize)> {
        let [source, target] = *self.0.get(n.checked_sub(1)?)?;
        Some((source? as usize, target? as usize))
    }
}
