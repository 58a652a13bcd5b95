//! Floor 5: sentences by length, as in figure 2 of Bahdanau et al. 2015.

/// Sentences of so many source words, `</s>` not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The name: `1-10`.
    pub name: &'static str,
    /// Fewest words.
    pub from: usize,
    /// Most words.
    pub to: usize,
}

/// The buckets, without gaps from 1 word on.
pub const BUCKETS: &[Bucket] = &[
    Bucket { name: "1-10", from: 1, to: 10 },
    Bucket { name: "11-20", from: 11, to: 20 },
    Bucket { name: "21-30", from: 21, to: 30 },
    Bucket { name: "31-40", from: 31, to: 40 },
    Bucket { name: "41-50", from: 41, to: 50 },
    Bucket { name: "51-60", from: 51, to: 60 },
    Bucket { name: "61+", from: 61, to: usize::MAX },
];

/// The index in [`BUCKETS`] of a sentence of `words` source words; `None` for an empty one.
#[must_use]
pub fn bucket(words: usize) -> Option<usize> {
    BUCKETS.iter().position(|bucket| (bucket.from..=bucket.to).contains(&words))
}

/// The sentences of each bucket, by their index in `lengths` (source words).
#[must_use]
pub fn by_length(lengths: &[usize]) -> Vec<Vec<usize>> {
    let mut sentences = vec![Vec::new(); BUCKETS.len()];
    for (sentence, words) in lengths.iter().enumerate() {
        if let Some(bucket) = bucket(*words) {
            sentences[bucket].push(sentence);
        }
    }
    sentences
}
