//! What the page keeps: questions that are asked, and what was found.

use crate::pages::sentence::asked::{AskedProbe, HeadPlan, Neighbours, PersuadedWord};

/// The page.
#[derive(Clone, Debug, Default)]
pub struct SentencePage {
    pub(super) near: Option<Neighbours>,
    /// Questions about columns that are under way.
    pub(super) probes: Vec<AskedProbe>,
    /// Rows that were found to make a model say a word, oldest first.
    pub(super) persuaded: Vec<PersuadedWord>,
    /// An alignment head that is to be learned.
    pub(super) head: HeadPlan,
}

impl SentencePage {
    /// What the sheet has of the alignment head that is to be learned.
    pub fn head(&self) -> &HeadPlan {
        &self.head
    }

    /// The neighbours that were asked for last.
    pub fn neighbours(&self) -> Option<&Neighbours> {
        self.near.as_ref()
    }
}
