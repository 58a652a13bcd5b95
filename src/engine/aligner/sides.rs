//! What a word is on both sides of a text, and links from the words of one rule to those of another.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::aligner::{learned::Directions, words::LineAligner};
use crate::text::cut::{WordExchange, WordRule};
use crate::text::links::{Link, Links};
use crate::text::words::WordPlaces;

/// The rules of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideRules {
    pub source: WordRule,
    pub target: WordRule,
}

impl Default for SideRules {
    fn default() -> Self {
        Self { source: WordRule::Tokens, target: WordRule::Tokens }
    }
}

impl SideRules {
    /// Words between spaces, as Pharaoh links count them.
    pub const SPACES: Self = Self { source: WordRule::Spaces, target: WordRule::Spaces };

    /// What links of lines count in a corpus: what stands between spaces, unless they are said to count its own words.
    pub fn of_lines(link_tokens: bool, own: Self) -> Self {
        if link_tokens || own.are_given() { own } else { Self::SPACES }
    }

    /// Whether the texts were cut when they came in.
    pub fn are_given(self) -> bool {
        self.source == WordRule::Given
    }

    /// The links of the statistical aligner between the words of two texts.
    pub fn aligned(self, aligner: &mut LineAligner, source: &str, target: &str) -> Directions {
        let ([from, to], (_, _, links)) = (aligner.rules(), aligner.words(source, target));
        let own = Self { source: from, target: to };
        let respread = |links: Vec<Link>| self.respread_links(&links, own, (source, target));
        let Directions { forward, reverse, likely } = links;
        Directions { forward: respread(forward), reverse: respread(reverse), likely: respread(likely) }
    }

    /// Links of words that other rules cut in the same two texts, as links of the words of these. A side that counts
    /// alike stays, also where its text is not known.
    pub fn respread(self, links: &Links, other: Self, texts: (&str, &str)) -> Links {
        let respread = |links: &[Link]| self.respread_links(links, other, texts);
        Links::new(respread(links.sure()), respread(links.possible()))
    }

    /// As [`SideRules::respread`], of links without kinds, in their order.
    pub fn respread_links(self, links: &[Link], other: Self, (source, target): (&str, &str)) -> Vec<Link> {
        let side = |text, from, to| (from != to).then(|| counterparts(text, from, to));
        let sources = side(source, other.source, self.source);
        spread(links, sources.as_deref(), side(target, other.target, self.target).as_deref())
    }
}

/// For each word that a rule cuts in a text, the words of another rule that it stands for.
pub fn counterparts(text: &str, from: WordRule, to: WordRule) -> Vec<Vec<usize>> {
    let own = from.words(text);
    match (from, to) {
        _ if from == to => (0..own.len()).map(|word| vec![word]).collect(),
        (WordRule::Spaces, to) if to.are_tokens() => {
            let exchange = WordExchange::of(text, to);
            let mut all = vec![Vec::new(); exchange.spaced];
            let places = exchange.places.iter().enumerate();
            places.for_each(|(word, place)| place.iter().for_each(|place| all[*place].push(word)));
            all
        }
        (from, WordRule::Spaces) if from.are_tokens() => {
            WordExchange::of(text, from).places.into_iter().map(|place| place.into_iter().collect()).collect()
        }
        _ => {
            let places = WordPlaces::of_parts(&own, text, to).map(|found| found.places).unwrap_or_default();
            places.into_iter().map(Iterator::collect).collect()
        }
    }
}

/// Links as those of all that their words stand for, of none that stands for nothing; `None`: the words of a side stay.
pub fn spread(links: &[Link], sources: Option<&[Vec<usize>]>, targets: Option<&[Vec<usize>]>) -> Vec<Link> {
    let of = |side: Option<&[Vec<usize>]>, word: usize| {
        side.map_or_else(|| vec![word], |side| side.get(word).cloned().unwrap_or_default())
    };
    let pairs = |link: &Link| {
        let targets = of(targets, link.target);
        let pair = move |source| targets.clone().into_iter().map(move |target| Link { source, target });
        of(sources, link.source).into_iter().flat_map(pair)
    };
    let mut seen = HashSet::new();
    links.iter().flat_map(pairs).filter(|link| seen.insert(*link)).collect()
}
