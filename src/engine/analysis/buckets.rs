//! Sentences by length, as in figure 2 of Bahdanau et al. 2015 and figure 6 of Luong et al. 2015.

use crate::error::{Error, Result};

/// Sentences of so many source words, `</s>` not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    pub name: String,
    pub from: usize,
    pub to: usize,
}

/// Buckets without gaps from 1 word on; the last has no end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets(Vec<Bucket>);

const USUAL: &[usize] = &[10, 20, 30, 40, 50, 60];

impl Default for Buckets {
    fn default() -> Self {
        Self::cut(USUAL)
    }
}

impl Buckets {
    /// Buckets that end with these lengths, and one for all that is longer.
    pub fn new(ends: &[usize]) -> Result<Self> {
        let rising = ends.first().is_none_or(|first| *first > 0) && ends.windows(2).all(|pair| pair[0] < pair[1]);
        if rising && ends.last() != Some(&usize::MAX) {
            return Ok(Self::cut(ends));
        }
        let names: Vec<String> = ends.iter().map(usize::to_string).collect();
        Err(Error::Input(format!("the bucket ends {} do not rise; write them as in 10,20,30", names.join(","))))
    }

    fn cut(ends: &[usize]) -> Self {
        let mut from = 1;
        let mut buckets = Vec::with_capacity(ends.len() + 1);
        for &to in ends {
            let name = if from == to { to.to_string() } else { format!("{from}-{to}") };
            buckets.push(Bucket { name, from, to });
            from = to + 1;
        }
        buckets.push(Bucket { name: format!("{from}+"), from, to: usize::MAX });
        Self(buckets)
    }

    pub fn all(&self) -> &[Bucket] {
        &self.0
    }

    /// The index of the bucket of a sentence of `words` source words; `None` for an empty one.
    pub fn bucket(&self, words: usize) -> Option<usize> {
        self.0.iter().position(|bucket| (bucket.from..=bucket.to).contains(&words))
    }
}
