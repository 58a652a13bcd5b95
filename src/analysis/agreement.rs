//! Floor 5: how far a soft alignment agrees with links: of how many target words the greatest alpha lies on a link.
//! Imports `text`.

use crate::text::links::{Link, Links};

/// Target words counted, `</s>` and words without a row left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlignmentAgreement {
    /// Their greatest alpha lies on a link, sure or possible.
    pub on_link: usize,
    /// They have a link.
    pub linked: usize,
    /// All of them.
    pub words: usize,
}

impl AlignmentAgreement {
    /// Counts a word: the source word of its greatest alpha, and the links of all words.
    pub fn add(&mut self, target: usize, greatest: usize, links: &Links) {
        self.words += 1;
        self.linked += usize::from(links.has_target(target));
        self.on_link += usize::from(links.is_possible(Link { source: greatest, target }));
    }

    /// Of all of them, how many look at a link most, from 0 to 1.
    pub fn share(&self) -> f32 {
        self.on_link as f32 / self.words.max(1) as f32
    }

    /// `11 of 14 on links`.
    pub fn text(&self) -> String {
        format!("{} of {} on links", self.on_link, self.words)
    }
}
