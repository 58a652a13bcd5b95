//! A hard alignment read off the soft one: for every target word its source word of greatest alpha
//! (Bahdanau et al. 2015, section 5.2.1), or all source words above a threshold; in Pharaoh's notation; and how far it
//! agrees with links. Imports `text`.

use std::fmt::Write as _;

use crate::analysis::alignment::Alignment;

use crate::text::links::Links;

pub use crate::text::links::Link;

/// The links of an alignment of words, by target word. Cut `</s>` off first, with [`Alignment::words`]: a target word
/// that looks mostly at `</s>` is linked to the word that it looks at most. One that looks at no word has no link.
pub fn links(alignment: &Alignment) -> Vec<Link> {
    (0..alignment.rows())
        .filter_map(|target| alignment.greatest(target).map(|source| Link { source, target }))
        .collect()
}

/// The links of an alignment of words with alpha_ij of at least `theta`, by target word: a target word may have several
/// links, or none. An alpha of 0 never links, whatever `theta` is.
pub fn links_above(alignment: &Alignment, theta: f32) -> Vec<Link> {
    let linked = |alpha: f32| alpha >= theta && alpha > 0.0;
    let row = |(target, alpha_i): (usize, &[f32])| -> Vec<Link> {
        let linked = alpha_i.iter().enumerate().filter(|(_, alpha)| linked(**alpha));
        linked.map(|(source, _)| Link { source, target }).collect()
    };
    alignment.iter().enumerate().flat_map(row).collect()
}

/// The links as `i-j` pairs, source first, with spaces between.
pub fn pharaoh(links: &[Link]) -> String {
    links.iter().enumerate().fold(String::new(), |mut text, (n, link)| {
        let space = if n == 0 { "" } else { " " };
        let _ = write!(text, "{space}{}-{}", link.source, link.target);
        text
    })
}

/// Target words counted, `</s>` and words without a row left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlignmentAgreement {
    /// Their greatest alpha lies on a link, sure or possible.
    pub on_link: usize,
    /// They have a link.
    pub linked: usize,
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
