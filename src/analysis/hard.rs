//! Floor 5: a hard alignment read off the soft one: for every target word its source word of greatest alpha
//! (Bahdanau et al. 2015, section 5.2.1), in Pharaoh's notation.

use std::fmt::Write as _;

use crate::analysis::alignment::Alignment;

/// A link between a source word and a target word, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// Its source word j.
    pub source: usize,
    /// Its target word i.
    pub target: usize,
}

/// The links of an alignment of words, by target word. Cut `</s>` off first, with [`Alignment::words`]: a target
/// word that looks mostly at `</s>` is linked to the word that it looks at most. One that looks at no word has no link.
#[must_use]
pub fn links(alignment: &Alignment<'_>) -> Vec<Link> {
    (0..alignment.rows())
        .filter_map(|target| alignment.greatest(target).map(|source| Link { source, target }))
        .collect()
}

/// The links as `i-j` pairs, source first, with spaces between.
#[must_use]
pub fn pharaoh(links: &[Link]) -> String {
    links.iter().enumerate().fold(String::new(), |mut text, (n, link)| {
        let space = if n == 0 { "" } else { " " };
        let _ = write!(text, "{space}{}-{}", link.source, link.target);
        text
    })
}
