//! Word alignments: the links of a sentence pair, sure and possible (Och and Ney 2003), written as Pharaoh or as in the
//! HLT-NAACL 2003 shared task, and carried from a model's own tokens to the words of a file. Imports floor 0.

pub mod guess;
pub mod read;

use std::fmt::Write as _;
use std::ops::Range;

/// Which words a file of links counts.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize, serde::Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum LinkWords {
    /// What stands between the spaces of a line, as everywhere in files of alignments.
    #[default]
    Spaces,
    /// The words that the rules of the language cut, which are the tokens of a vocabulary of whole words.
    Tokens,
}

/// A link between a source word and a target word, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    pub source: usize,
    pub target: usize,
}

impl Link {
    /// The link of the other direction of translation.
    pub fn turned(self) -> Self {
        Self { source: self.target, target: self.source }
    }
}

/// The links of a sentence pair as annotators drew them: sure ones S and possible ones P, where S counts as P too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    sure: Vec<Link>,
    possible: Vec<Link>,
}

impl Links {
    /// Links in any order; one that is in both lists is sure.
    pub fn new(mut sure: Vec<Link>, mut possible: Vec<Link>) -> Self {
        sure.sort_unstable();
        sure.dedup();
        possible.retain(|link| sure.binary_search(link).is_err());
        possible.sort_unstable();
        possible.dedup();
        Self { sure, possible }
    }

    /// S, sorted by source word.
    pub fn sure(&self) -> &[Link] {
        &self.sure
    }

    /// P without S, sorted by source word.
    pub fn possible(&self) -> &[Link] {
        &self.possible
    }

    /// Whether a link is in S.
    pub fn is_sure(&self, link: Link) -> bool {
        self.sure.binary_search(&link).is_ok()
    }

    pub fn is_possible(&self, link: Link) -> bool {
        self.is_sure(link) || self.possible.binary_search(&link).is_ok()
    }

    pub fn has_target(&self, target: usize) -> bool {
        self.sure.iter().chain(&self.possible).any(|link| link.target == target)
    }

    /// P with S, sorted by source word, each with whether it is sure.
    pub fn all(&self) -> Vec<(Link, bool)> {
        let sure = self.sure.iter().map(|link| (*link, true));
        let mut all: Vec<(Link, bool)> = sure.chain(self.possible.iter().map(|link| (*link, false))).collect();
        all.sort_unstable();
        all
    }

    /// Links between words as links between all that each of them has, such as its pieces.
    #[must_use]
    pub fn spread(&self, sources: &[Range<usize>], targets: &[Range<usize>]) -> Self {
        let all = |links: &[Link]| -> Vec<Link> {
            let of = |link: &Link| {
                let sources = sources.get(link.source).cloned().unwrap_or_default();
                let targets = targets.get(link.target).cloned().unwrap_or_default();
                sources.flat_map(move |source| targets.clone().map(move |target| Link { source, target }))
            };
            links.iter().flat_map(of).collect()
        };
        Self::new(all(&self.sure), all(&self.possible))
    }

    pub fn turned(&self) -> Self {
        let turn = |links: &[Link]| links.iter().map(|link| link.turned()).collect();
        Self::new(turn(&self.sure), turn(&self.possible))
    }
}

/// One sentence pair in Pharaoh's notation, from 0, source first: `0-0 1?2`, where `?` marks what is only possible.
pub fn pharaoh(links: &Links) -> String {
    links.all().iter().enumerate().fold(String::new(), |mut text, (n, (link, sure))| {
        let space = if n == 0 { "" } else { " " };
        let mark = if *sure { '-' } else { '?' };
        let _ = write!(text, "{space}{}{mark}{}", link.source, link.target);
        text
    })
}

/// Sentence pair `sentence`, counted from 1, in the notation of the HLT-NAACL 2003 shared task: a line for each link,
/// `sentence source-position target-position S|P`, positions from 1.
pub fn naacl(sentence: usize, links: &Links) -> String {
    links.all().iter().fold(String::new(), |mut text, (link, sure)| {
        let mark = if *sure { 'S' } else { 'P' };
        let _ = writeln!(text, "{sentence} {} {} {mark}", link.source + 1, link.target + 1);
        text
    })
}
