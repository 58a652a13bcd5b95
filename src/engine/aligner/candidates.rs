//! Which pairs of words are looked at: those that occur in the same sentence pairs more often than chance would have
//! it. Most others could only collect noise, and they would fill the memory.

use crate::aligner::corpus::{AlignerSentences, AlignerText};
use crate::aligner::lexicon::{Lexicon, LexiconEntry};
use crate::{aligner::parallel::parallel, error::Result, ticket::CancellationToken};

const CHUNK: usize = 64;

struct Places {
    starts: Vec<u32>,
    sentences: Vec<u32>,
}

impl Places {
    fn new(sentences: &AlignerSentences, words: usize) -> Self {
        let mut starts = vec![0_u32; words + 1];
        let each = |visit: &mut dyn FnMut(u32, u32)| {
            let mut last = vec![u32::MAX; words];
            for s in 0..sentences.len() {
                for &word in sentences.get(s) {
                    if last[word as usize] != s as u32 {
                        last[word as usize] = s as u32;
                        visit(word, s as u32);
                    }
                }
            }
        };
        each(&mut |word, _| starts[word as usize + 1] += 1);
        for word in 0..words {
            starts[word + 1] += starts[word];
        }
        let mut next = starts.clone();
        let mut places = vec![0; starts[words] as usize];
        each(&mut |word, s| {
            places[next[word as usize] as usize] = s;
            next[word as usize] += 1;
        });
        Self { starts, sentences: places }
    }

    fn of(&self, word: usize) -> &[u32] {
        &self.sentences[self.starts[word] as usize..self.starts[word + 1] as usize]
    }
}

struct Together {
    counts: Vec<u32>,
    last: Vec<u32>,
    seen: Vec<u32>,
}

/// The pairs that occur together at least `association` times as often as chance would have it (0: all), with t in
/// proportion to the square of Dice's coefficient.
pub fn candidates(
    corpus: &AlignerText, association: f32, alike: &[u32], threads: usize, ticket: &CancellationToken,
) -> Result<Lexicon> {
    let (sources, targets) = (corpus.source_words.len(), corpus.target_words.len());
    let (source, target) = (Places::new(&corpus.source, sources), Places::new(&corpus.target, targets));
    let pairs = corpus.source.len() as f32;
    let state = || Together { counts: vec![0; targets], last: vec![u32::MAX; targets], seen: Vec::new() };
    let chunks = sources.div_ceil(CHUNK);
    let rows = parallel(chunks, threads, ticket, &mut |_| {}, &state, &|together: &mut Together, chunk| {
        let words = chunk * CHUNK..((chunk + 1) * CHUNK).min(sources);
        words
            .map(|word| {
                let own = source.of(word);
                together.count(own, corpus);
                let count = own.len() as f32;
                let seen = std::mem::take(&mut together.seen);
                let entry = |&other: &u32| {
                    let both = std::mem::take(&mut together.counts[other as usize]) as f32;
                    let others = target.of(other as usize).len() as f32;
                    let chance = both < 2.0 && count.min(others) >= 4.0;
                    let near = both * pairs > association * count * others && !chance;
                    let dice = 2.0 * both / (count + others);
                    let keep = association <= 0.0 || near || alike[word] == other;
                    keep.then_some(LexiconEntry { target: other, forward: dice * dice, reverse: dice * dice })
                };
                let row: Vec<LexiconEntry> = seen.iter().filter_map(entry).collect();
                row
            })
            .collect::<Vec<_>>()
    })?;
    let mut rows: Vec<Vec<LexiconEntry>> = rows.into_iter().flatten().collect();
    normalize(&mut rows, targets);
    let nulls = |sentences: &AlignerSentences, words: usize| {
        let mut counts = vec![0_u32; words];
        let mut total = 0;
        for s in 0..sentences.len() {
            let words = sentences.get(s);
            total += words.len();
            for &word in words {
                counts[word as usize] += 1;
            }
        }
        counts.iter().map(|&count| count as f32 / total as f32).collect()
    };
    Ok(Lexicon::new(&rows, nulls(&corpus.target, targets), nulls(&corpus.source, sources)))
}

impl Together {
    fn count(&mut self, sentences: &[u32], corpus: &AlignerText) {
        self.seen.clear();
        for &s in sentences {
            for &other in corpus.target.get(s as usize) {
                if self.counts[other as usize] == 0 {
                    self.seen.push(other);
                    self.last[other as usize] = s;
                    self.counts[other as usize] = 1;
                } else if self.last[other as usize] != s {
                    self.last[other as usize] = s;
                    self.counts[other as usize] += 1;
                }
            }
        }
    }
}

fn normalize(rows: &mut [Vec<LexiconEntry>], targets: usize) {
    let mut sums = vec![0.0; targets];
    for row in rows.iter_mut() {
        row.sort_unstable_by_key(|entry| entry.target);
        let sum: f32 = row.iter().map(|entry| entry.forward).sum();
        for entry in row {
            entry.forward /= sum;
            sums[entry.target as usize] += entry.reverse;
        }
    }
    for entry in rows.iter_mut().flatten() {
        entry.reverse /= sums[entry.target as usize];
    }
}
