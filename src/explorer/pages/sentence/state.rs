//! What the page keeps: questions that are asked, and what was found.

use crate::pages::sentence::asked::{AskedProbe, HeadPlan, Neighbours, PersuadedWord};

/// The state of the Sentence page.
#[derive(Clone, Debug, Default)]
pub struct SentencePage {
    pub(super) near: Option<Neighbours>,
    pub(super) probes: Vec<AskedProbe>,
    pub(super) persuaded: Vec<PersuadedWord>,
    pub(super) head: HeadPlan,
}

impl SentencePage {
    pub fn head(&self) -> &HeadPlan {
        &self.head
    }

    pub fn neighbours(&self) -> Option<&Neighbours> {
        self.near.as_ref()
    }
}
