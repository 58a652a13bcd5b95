//! Where a query is met in a sentence. Imports its room and `text`.

use std::{collections::BTreeSet, ops::Range};

use crate::analysis::concordance::parse::{ConcordanceQuery, QueryItem, Token};
use crate::text::unspaced::{LONGEST_RUN, may_join};
use crate::text::{cut::WordExchange, links::Link};

/// A sentence with its translation.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConcordanceSentence<'a> {
    pub source: &'a [String],
    pub output: &'a [String],
    pub links: &'a [Link],
    /// The words between spaces, where links counted those.
    pub chunks: Option<&'a [WordExchange; 2]>,
}

/// A place where a query is met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConcordanceHit {
    pub source: Vec<usize>,
    /// For each item an output word that it is linked to, where the query asks for links.
    pub linked: Vec<Option<usize>>,
    pub output: Vec<usize>,
}

/// The hits of a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConcordanceHits {
    /// In the order of their source words.
    pub hits: Vec<ConcordanceHit>,
    /// False where the sentence had too many ways to try them all.
    pub is_complete: bool,
}

const MOST_HITS: usize = 100;
/// The most words that are tried in a sentence: any word, any distance, any word, .. grows beyond all bounds.
const MOST_TRIED: usize = 100_000;

impl ConcordanceQuery {
    pub fn asks_for_links(&self) -> bool {
        self.crossing || self.source.iter().any(|item| item.linked.is_some() || item.unlinked.is_some())
    }

    /// Where a sentence meets the query.
    pub fn find(&self, sentence: &ConcordanceSentence<'_>) -> ConcordanceHits {
        let mut tried = MOST_TRIED;
        let mut found = ConcordanceHits { is_complete: true, ..ConcordanceHits::default() };
        let outputs = places(&self.output, sentence.output, 1, &mut tried);
        // The first place on the output side is shown with each of the source.
        let output = match outputs.into_iter().next() {
            Some(output) => all(output),
            None if self.output.is_empty() => Vec::new(),
            None => return ConcordanceHits { is_complete: tried > 0, ..found },
        };
        if self.source.is_empty() {
            found.hits = places(&self.output, sentence.output, MOST_HITS, &mut tried)
                .into_iter()
                .map(|output| ConcordanceHit { output: all(output), ..ConcordanceHit::default() })
                .collect();
        } else {
            let candidates = places(&self.source, sentence.source, usize::MAX, &mut tried);
            let hits = candidates.into_iter().filter_map(|source| {
                let linked = self.linked(&source, sentence)?;
                Some(ConcordanceHit { source: all(source), linked, output: output.clone() })
            });
            found.hits = hits.take(MOST_HITS).collect();
        }
        found.is_complete = tried > 0 && found.hits.len() < MOST_HITS;
        found
    }

    /// Each hit with each output word behind the bar that is there anywhere, for what links cannot say: the source
    /// words, and the output word.
    pub fn pairs(&self, sentence: &ConcordanceSentence<'_>) -> Vec<(Vec<usize>, usize)> {
        let mut tried = MOST_TRIED;
        let found = places(&self.output, sentence.output, MOST_HITS, &mut tried);
        let outputs: BTreeSet<usize> = found.into_iter().flatten().flatten().collect();
        let hits = self.find(sentence).hits.into_iter();
        hits.flat_map(|hit| outputs.iter().map(move |i| (hit.source.clone(), *i))).collect()
    }

    fn linked(&self, source: &[Range<usize>], sentence: &ConcordanceSentence<'_>) -> Option<Vec<Option<usize>>> {
        let choices: Vec<Vec<usize>> =
            self.source.iter().zip(source).map(|(item, run)| targets(item.linked.as_ref(), run, sentence)).collect();
        let is_met = |(item, choices): (&QueryItem, &Vec<usize>)| item.linked.is_none() || !choices.is_empty();
        let is_apart = |(item, run): (&QueryItem, &Range<usize>)| {
            item.unlinked.as_ref().is_none_or(|token| targets(Some(token), run, sentence).is_empty())
        };
        if !self.source.iter().zip(&choices).all(is_met) || !self.source.iter().zip(source).all(is_apart) {
            return None;
        }
        let mut linked: Vec<Option<usize>> = self
            .source
            .iter()
            .zip(&choices)
            .map(|(item, all)| item.linked.as_ref().and_then(|_| all.first().copied()))
            .collect();
        if self.crossing {
            let (i, j, first, second) = crossing(source, &choices, sentence.chunks)?;
            (linked[i], linked[j]) = (Some(first), Some(second));
        }
        Some(linked)
    }
}

fn all(found: Vec<Range<usize>>) -> Vec<usize> {
    found.into_iter().flatten().collect()
}

fn targets(wanted: Option<&Token>, run: &Range<usize>, sentence: &ConcordanceSentence<'_>) -> Vec<usize> {
    let own = sentence.links.iter().filter(|link| run.contains(&link.source)).map(|link| link.target);
    // A word that was cut may be linked by any of its pieces.
    let is = |token: &Token, i: usize| {
        let Some(words) = sentence.output.get(..=i) else { return false };
        let before = words.windows(2).rev().take(LONGEST_RUN).take_while(|pair| may_join(&pair[0], &pair[1])).count();
        (i - before..=i).any(|k| token.runs(&sentence.output[k..]).any(|count| k + count > i))
    };
    let mut targets: Vec<usize> = own.filter(|i| wanted.is_none_or(|token| is(token, *i))).collect();
    targets.sort_unstable();
    targets
}

fn crossing(
    source: &[Range<usize>], choices: &[Vec<usize>], chunks: Option<&[WordExchange; 2]>,
) -> Option<(usize, usize, usize, usize)> {
    // tokens of one word between spaces have the same links, which do not cross
    let place =
        |side: usize, word: usize| chunks.map_or(Some(word), |both| both[side].places.get(word).copied().flatten());
    for (i, earlier) in choices.iter().enumerate() {
        for (j, later) in choices.iter().enumerate().skip(i + 1) {
            if let (Some(first), Some(second)) = (earlier.last(), later.first())
                && place(1, *first) > place(1, *second)
                && place(0, source[i].start) != place(0, source[j].start)
            {
                return Some((i, j, *first, *second));
            }
        }
    }
    None
}

fn places(items: &[QueryItem], words: &[String], most: usize, tried: &mut usize) -> Vec<Vec<Range<usize>>> {
    let mut found = Vec::new();
    if items.is_empty() {
        return found;
    }
    let mut chosen = Vec::with_capacity(items.len());
    extend(items, words, 0..words.len(), most, &mut chosen, &mut found, tried);
    found
}

fn extend(
    items: &[QueryItem], words: &[String], range: Range<usize>, most: usize, chosen: &mut Vec<Range<usize>>,
    found: &mut Vec<Vec<Range<usize>>>, tried: &mut usize,
) {
    let Some(item) = items.get(chosen.len()) else {
        found.push(chosen.clone());
        return;
    };
    for place in range {
        if *tried == 0 || found.len() >= most {
            return;
        }
        *tried -= 1;
        for behind in item.token.runs(&words[place..]).map(|length| place + length) {
            chosen.push(place..behind);
            let gap = items.get(chosen.len()).map_or(0, |next| next.gap);
            let end = behind.saturating_add(gap).saturating_add(1).min(words.len());
            extend(items, words, behind..end.max(behind), most, chosen, found, tried);
            chosen.pop();
        }
    }
}
