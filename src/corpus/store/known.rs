//! Floor 7: what a workspace has of the sentences that a file tells of. A leaf.

use std::collections::BTreeMap;

use crate::corpus::store::file::Workspace;
use crate::corpus::store::read::StoredSentence;
use crate::error::Result;
use crate::text::links::Links;

/// What the workspace has of the sentences of a window.
pub(crate) struct Known {
    /// Sentences by their places.
    pub(crate) sentences: BTreeMap<usize, StoredSentence>,
    /// Their links by hand.
    pub(crate) golds: BTreeMap<usize, Links>,
}

impl Known {
    /// Reads it.
    pub(crate) fn read(workspace: &Workspace, places: impl Iterator<Item = usize>) -> Result<Self> {
        let mut places: Vec<usize> = places.collect();
        places.sort_unstable();
        places.dedup();
        let (mut sentences, mut golds) = (BTreeMap::new(), BTreeMap::new());
        // Neighbours are read together.
        for run in places.chunk_by(|a, b| a + 1 == *b) {
            let range = run[0]..run[0] + run.len();
            sentences.extend(range.clone().zip(workspace.sentences(range.clone())?));
            golds.extend(workspace.golds_of(range)?);
        }
        Ok(Self { sentences, golds })
    }
}
