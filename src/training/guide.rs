//! Where alpha is to look: links between words, from a file, as places of tokens.
//!
//! A word that the vocabulary cuts into pieces has the links of the word on every piece. Where a word has its row only
//! behind `</s>`, as the last one that RNNsearch reads, the target has as many `</s>` more, so that this row is there.

use std::{collections::HashMap, ops::Range, path::Path};

use crate::settings::{LinkWords, TextPair, TrainingSettings, Unlinked};
use crate::{minibatch::GuidedLink, vocabularies::TrainingTokenizers};
use engine::error::{Error, Result};
use engine::text::corpus::{PairRules, ParallelText, SentencePair};
use engine::text::tokenizer::{CorpusEncoder, Tokenizer};
use engine::text::words::{place, words};
use engine::text::{
    cut::WordRule, links::Link, links::read::pharaoh_line, parallel::ParallelReader, reader::LineReader,
};
use engine::ticket::CancellationToken;

/// Where alpha is to look in each pair of a corpus.
#[derive(Clone, Debug, Default)]
pub struct Guide {
    looks: Vec<GuidedLink>,
    /// Those of pair k are `looks[ends[k - 1]..ends[k]]`.
    ends: Vec<usize>,
}

impl Guide {
    pub fn push(&mut self, looks: &[GuidedLink]) {
        self.looks.extend_from_slice(looks);
        self.ends.push(self.looks.len());
    }

    pub fn of(&self, k: usize) -> &[GuidedLink] {
        let start = k.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        start.zip(self.ends.get(k)).map_or(&[], |(start, end)| &self.looks[start..*end])
    }

    pub fn note(&self) -> String {
        let guided = (0..self.ends.len()).filter(|k| !self.of(*k).is_empty()).count();
        format!("attention is guided in {guided} of {} pairs", self.ends.len())
    }
}

/// A text whose links guide attention, as ids and places. `delay` is that of the row that belongs to a word.
pub fn read(
    text: &TextPair, links: &Path, settings: &TrainingSettings, tokenizers: &TrainingTokenizers,
    (delay, rules): (usize, &PairRules), ticket: &CancellationToken,
) -> Result<(ParallelText, Guide)> {
    let languages = (settings.model.source_language.as_str(), settings.model.target_language.as_str());
    let unlinked = settings.guide.as_ref().map(|guide| guide.unlinked).unwrap_or_default();
    let mut reader = GuidedReader::new(text.link_words, languages, (&tokenizers.source, &tokenizers.target));
    reader.read_linked((&text.source, &text.target), links, (delay, unlinked), rules, ticket)
}

/// The links of a pair of lines with its number from 0, and the file that is to blame where they do not fit.
pub type LinksOf<'a, 'p> = dyn FnMut(usize, (&str, &str)) -> Result<(&'p Path, Vec<Link>)> + 'a;

/// Reads pairs of lines with their links.
pub struct GuidedReader<'a> {
    source: Side<'a>,
    target: Side<'a>,
}

impl<'a> GuidedReader<'a> {
    /// For texts in these languages, read by these tokenizers, whose links count words so.
    pub fn new(words: LinkWords, (source, target): (&str, &str), tokenizers: (&'a Tokenizer, &'a Tokenizer)) -> Self {
        Self { source: Side::new(words, source, tokenizers.0), target: Side::new(words, target, tokenizers.1) }
    }

    /// A text as ids, with where each row is to look by the links of a file.
    pub fn read_linked(
        &mut self, files: (&Path, &Path), links: &Path, looks: (usize, Unlinked), rules: &PairRules,
        ticket: &CancellationToken,
    ) -> Result<(ParallelText, Guide)> {
        let mut lines = LineReader::open(links)?;
        let found = self.read(files, looks, rules, ticket, &mut |number, _| {
            let Some(line) = lines.next().transpose()? else { return Err(short(links, number, files.0)) };
            Ok((links, pharaoh_line(links, number + 1, &line)?))
        })?;
        if rules.max_pairs.is_none_or(|most| found.0.len() < most) && lines.next().transpose()?.is_some() {
            let message = format!("goes on after the last pair of {}; {A_LINE_EACH}", files.0.display());
            return Err(Error::line(links, lines.line(), message));
        }
        Ok(found)
    }

    /// A text as ids, with where each row is to look.
    pub fn read(
        &mut self, (source, target): (&Path, &Path), (delay, unlinked): (usize, Unlinked), rules: &PairRules,
        ticket: &CancellationToken, links: &mut LinksOf<'_, '_>,
    ) -> Result<(ParallelText, Guide)> {
        let (mut corpus, mut guide) = (ParallelText::default(), Guide::default());
        let mut pair = SentencePair::default();
        let files = [(source.to_owned(), target.to_owned())];
        for (number, pairs) in ParallelReader::new(&files).learned_from().enumerate() {
            if rules.max_pairs.is_some_and(|most| corpus.len() >= most) {
                break;
            }
            if number % 1000 == 0 {
                ticket.check()?;
            }
            let (source_line, target_line) = pairs?;
            let (file, links) = links(number, (&source_line, &target_line))?;
            self.source.read(&source_line, &mut pair.source);
            self.target.read(&target_line, &mut pair.target);
            let mut looks = looks((file, number + 1), links, (&self.source, &self.target), delay)?;
            look_elsewhere(&mut looks, (pair.source.len(), pair.target.len()), delay, unlinked);
            let behind = delay.saturating_sub(1);
            let rows = pair.target.len() + 1 + behind;
            if corpus.push_words(&mut pair, rules) {
                (0..behind).for_each(|_| corpus.lengthen_last(rules.eos));
                let looks: Vec<GuidedLink> = looks.into_iter().filter(|look| usize::from(look.i) < rows).collect();
                guide.push(&looks);
                corpus.check_size(std::iter::once(source), rules)?;
            }
        }
        Ok((corpus, guide))
    }
}

const A_LINE_EACH: &str = "a file of links has a line for each line of the text, blank ones included";

fn short(links: &Path, line: usize, source: &Path) -> Error {
    Error::line(links, line, format!("ends here, but {} goes on; {A_LINE_EACH}", source.display()))
}

fn looks(
    (path, number): (&Path, usize), links: Vec<Link>, (source, target): (&Side<'_>, &Side<'_>), delay: usize,
) -> Result<Vec<GuidedLink>> {
    let mut found = Vec::new();
    for link in links {
        let (Some(sources), Some(targets)) = (source.words.get(link.source), target.words.get(link.target)) else {
            let message = format!(
                "the link {}-{} lies outside the pair, which has {} source and {} target words{}; mend the line, or \
                 say by `link_words` which words are counted",
                link.source,
                link.target,
                source.words.len(),
                target.words.len(),
                if source.rule.are_tokens() { "" } else { " between spaces" },
            );
            return Err(Error::line(path, number, message));
        };
        for i in targets.clone() {
            // what lies beyond 65535 is longer than any sentence that is trained on
            let look = |j: usize| Some(GuidedLink { i: u16::try_from(i + delay).ok()?, j: u16::try_from(j).ok()? });
            found.extend(sources.clone().filter_map(look));
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Adds where tokens without links are to look. `looks` is in order; `</s>` is none of the tokens.
fn look_elsewhere(looks: &mut Vec<GuidedLink>, (t_x, t_y): (usize, usize), delay: usize, unlinked: Unlinked) {
    let linked = looks.clone();
    let of = |i: usize| {
        let row = |look: &GuidedLink| usize::from(look.i).cmp(&(i + delay));
        let start = linked.partition_point(|look| row(look).is_lt());
        let end = linked.partition_point(|look| row(look).is_le());
        &linked[start..end]
    };
    let nearest = |i: usize| {
        let sides = |k: usize| [Some(i + k), i.checked_sub(k)].into_iter().flatten().filter(|i| *i < t_y);
        (1..t_y.max(1)).flat_map(sides).map(of).find(|looks| !looks.is_empty()).unwrap_or_default()
    };
    for i in (0..t_y).filter(|&i| of(i).is_empty()) {
        let Ok(row) = u16::try_from(i + delay) else { break };
        match unlinked {
            Unlinked::Free => return,
            Unlinked::End => looks.extend(u16::try_from(t_x).ok().map(|j| GuidedLink { i: row, j })),
            Unlinked::Nearest => looks.extend(nearest(i).iter().map(|look| GuidedLink { i: row, ..*look })),
        }
    }
    looks.sort_unstable();
}

const REMEMBERED: usize = 2_000_000;

struct Side<'a> {
    tokenizer: &'a Tokenizer,
    encoder: CorpusEncoder<'a>,
    rule: WordRule,
    known: HashMap<String, Box<[Range<usize>]>>,
    words: Vec<Range<usize>>,
}

impl<'a> Side<'a> {
    fn new(words: LinkWords, language: &str, tokenizer: &'a Tokenizer) -> Self {
        let rule = match words {
            LinkWords::Spaces => WordRule::Spaces,
            LinkWords::Tokens => WordRule::of(language, false),
        };
        let encoder = CorpusEncoder::new(tokenizer);
        Self { tokenizer, encoder, rule, known: HashMap::new(), words: Vec::new() }
    }

    fn read(&mut self, line: &str, ids: &mut Vec<u32>) {
        ids.clear();
        self.words.clear();
        for word in words(line) {
            let first = ids.len();
            if !self.rule.are_tokens() {
                self.encoder.extend(word, ids);
                self.words.push(first..ids.len());
                continue;
            }
            for chunk in word.split_whitespace() {
                let first = ids.len();
                self.encoder.extend(chunk, ids);
                self.cut(chunk, first);
            }
        }
    }

    fn cut(&mut self, chunk: &str, first: usize) {
        let shift = |tokens: &Range<usize>| first + tokens.start..first + tokens.end;
        if let Some(known) = self.known.get(chunk) {
            self.words.extend(known.iter().map(shift));
            return;
        }
        let tokens = self.tokenizer.encode_with(chunk, None).spans;
        let mut words = Vec::new();
        self.rule.cut_chunk(chunk, &mut words);
        let new: Box<[Range<usize>]> = words.iter().map(|word| covering(&tokens, &place(chunk, word))).collect();
        self.words.extend(new.iter().map(shift));
        if self.known.len() < REMEMBERED {
            self.known.insert(chunk.to_owned(), new);
        }
    }
}

fn covering(tokens: &[Range<usize>], word: &Range<usize>) -> Range<usize> {
    let first = tokens.partition_point(|token| token.end <= word.start);
    let end = tokens.partition_point(|token| token.start < word.end);
    first..end.max(first)
}
