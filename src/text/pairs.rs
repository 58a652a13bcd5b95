//! Floor 1: a phrase table in memory, to look things up in. Imports floor 0 and [`super::phrases`].

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::text::phrases::PhraseTable;

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    start: u32,
    length: u32,
}

/// The pairs of a phrase table, in its order, each source phrase kept once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    path: PathBuf,
    text: String,
    /// Distinct source phrases in the order of their first pair.
    sources: Vec<Piece>,
    known: HashMap<Box<str>, u32>,
    /// Of each pair: its source phrase and its target phrase.
    both: Vec<(u32, Piece)>,
    /// Of each pair its features, `features` many.
    values: Vec<f32>,
    features: usize,
    /// The pairs of source phrase s are `order[starts[s]..starts[s + 1]]`.
    starts: Vec<u32>,
    order: Vec<u32>,
    /// `source TAB target NEWLINE` of every pair in lower case, and where each begins.
    lower: String,
    lower_starts: Vec<u32>,
    is_cut: bool,
}

/// Text kept at most, bytes; places in it are 32 bits wide.
const MOST_BYTES: usize = 1 << 30;

impl Pairs {
    /// Reads a table, at most `most` pairs of it. `progress` hears now and then how far it is, and may end the
    /// reading with an error.
    ///
    /// # Errors
    /// Sentences that name the file and line; a table without any pair; what `progress` returns.
    pub fn read(
        mut table: PhraseTable,
        most: usize,
        progress: &mut dyn FnMut(&PhraseTable, usize) -> Result<()>,
    ) -> Result<Self> {
        let mut pairs = Self { path: table.path().to_owned(), ..Self::default() };
        while let Some(entry) = table.next() {
            let entry = entry?;
            if pairs.len() >= most || pairs.lower.len() > MOST_BYTES {
                pairs.is_cut = true;
                break;
            }
            pairs.push(entry.source(), entry.target(), entry.features());
            if pairs.len().is_multiple_of(4096) {
                progress(&table, pairs.len())?;
            }
        }
        pairs.features = table.features().unwrap_or(0);
        if pairs.is_empty() {
            return Err(Error::file(table.path(), "is empty; give a phrase table with at least one pair"));
        }
        pairs.arrange();
        Ok(pairs)
    }

    fn push(&mut self, source: &str, target: &str, features: impl Iterator<Item = f64>) {
        let number = if let Some(&number) = self.known.get(source) {
            number
        } else {
            let number = self.sources.len() as u32;
            self.known.insert(source.into(), number);
            let piece = self.keep(source);
            self.sources.push(piece);
            number
        };
        let target_piece = self.keep(target);
        self.both.push((number, target_piece));
        self.values.extend(features.map(|value| value as f32));
        self.lower_starts.push(self.lower.len() as u32);
        self.lower.extend([&source.to_lowercase(), "\t", &target.to_lowercase(), "\n"]);
    }

    fn keep(&mut self, phrase: &str) -> Piece {
        let piece = Piece { start: self.text.len() as u32, length: phrase.len() as u32 };
        self.text.push_str(phrase);
        piece
    }

    /// Puts the pairs of each source side by side, in the order of the table.
    fn arrange(&mut self) {
        self.starts = vec![0; self.sources.len() + 1];
        for (source, _) in &self.both {
            self.starts[*source as usize + 1] += 1;
        }
        for s in 0..self.sources.len() {
            self.starts[s + 1] += self.starts[s];
        }
        let mut next = self.starts.clone();
        self.order = vec![0; self.both.len()];
        for (pair, (source, _)) in self.both.iter().enumerate() {
            let place = &mut next[*source as usize];
            self.order[*place as usize] = pair as u32;
            *place += 1;
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.both.len()
    }

    /// True without any.
    pub fn is_empty(&self) -> bool {
        self.both.is_empty()
    }

    /// The table has more pairs than were read.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// How many features a pair has.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Number of different source phrases.
    pub fn sources(&self) -> usize {
        self.sources.len()
    }

    fn piece(&self, piece: Piece) -> &str {
        &self.text[piece.start as usize..(piece.start + piece.length) as usize]
    }

    /// A source phrase by its number.
    pub fn source_phrase(&self, source: usize) -> &str {
        self.sources.get(source).map_or("", |piece| self.piece(*piece))
    }

    /// The number of the source phrase of a pair.
    pub fn source_of(&self, pair: usize) -> usize {
        self.both.get(pair).map_or(0, |pair| pair.0 as usize)
    }

    /// The source phrase of a pair.
    pub fn source(&self, pair: usize) -> &str {
        self.source_phrase(self.source_of(pair))
    }

    /// The target phrase of a pair.
    pub fn target(&self, pair: usize) -> &str {
        self.both.get(pair).map_or("", |pair| self.piece(pair.1))
    }

    /// Feature `n` of a pair, counted from 1; `None` where there is none.
    pub fn feature(&self, pair: usize, n: usize) -> Option<f32> {
        let index = n.checked_sub(1).filter(|index| *index < self.features)?;
        self.values.get(pair * self.features + index).copied()
    }

    /// The pairs of a source phrase, in the order of the table.
    pub fn of_source(&self, source: usize) -> &[u32] {
        match self.starts.get(source..source + 2) {
            Some(ends) => &self.order[ends[0] as usize..ends[1] as usize],
            None => &[],
        }
    }

    /// The number of a source phrase as the table writes it.
    pub fn find_source(&self, phrase: &str) -> Option<usize> {
        self.known.get(phrase).map(|number| *number as usize)
    }

    /// The source phrases with most targets, at most `most`, those of several words first; of equal ones the earlier.
    pub fn largest(&self, most: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.sources.len()).collect();
        let key = |source: &usize| {
            let is_word = !self.source_phrase(*source).contains(' ');
            (is_word, std::cmp::Reverse(self.of_source(*source).len()), *source)
        };
        if most < order.len() {
            order.select_nth_unstable_by_key(most, key);
            order.truncate(most);
        }
        order.sort_by_key(key);
        order
    }

    /// Source phrases that begin with `start`, letter case aside, then others that hold it; at most `most`.
    pub fn suggest(&self, start: &str, most: usize) -> Vec<usize> {
        let start = start.to_lowercase();
        let (mut begins, mut holds) = (Vec::new(), Vec::new());
        if start.is_empty() {
            return begins;
        }
        for source in 0..self.sources.len() {
            let first = self.starts.get(source).and_then(|at| self.order.get(*at as usize));
            let Some(&first) = first else { continue };
            let phrase = self.lower_source(first as usize);
            if phrase.starts_with(&start) {
                begins.push(source);
                if begins.len() == most {
                    break;
                }
            } else if holds.len() < most && phrase.contains(&start) {
                holds.push(source);
            }
        }
        begins.extend(holds);
        begins.truncate(most);
        begins
    }

    /// The source phrase of a pair in lower case.
    fn lower_source(&self, pair: usize) -> &str {
        let rest = &self.lower[self.lower_starts[pair] as usize..];
        rest.split_once('\t').map_or("", |(source, _)| source)
    }

    /// The pairs whose source or target phrase holds `needle`, letter case aside, in the order of the table.
    pub fn search(&self, needle: &str) -> Vec<u32> {
        let needle = needle.to_lowercase();
        let mut found: Vec<u32> = Vec::new();
        if needle.is_empty() {
            return found;
        }
        for (at, _) in self.lower.match_indices(&needle) {
            let pair = self.lower_starts.partition_point(|start| *start as usize <= at) as u32 - 1;
            if found.last() != Some(&pair) {
                found.push(pair);
            }
        }
        found
    }
}
