//! N-grams of a sequence of symbols, counted by sorting: the common ground of BLEU's words and chrF's characters.
//! Words by number besides. Imports nothing.

use std::collections::HashMap;

/// Most symbols that an n-gram may have.
pub const MAX_ORDER: usize = 6;

/// Bits of a symbol: six fit into 128 bits, and a `char` plus 1 into each.
const BITS: u32 = 21;

pub const MAX_SYMBOL: u32 = (1 << BITS) - 2;

/// All n-grams of a sequence up to some order: its suffixes, sorted, so that equal n-grams are neighbours for every n.
#[derive(Clone, Debug, Default)]
pub struct Ngrams {
    /// The first symbols of each suffix, each plus 1, from the highest bits down; 0 behind the end.
    suffixes: Vec<u128>,
}

impl Ngrams {
    /// The n-grams of `symbols`, none above [`MAX_SYMBOL`], up to `order` of them.
    pub fn new(symbols: &[u32], order: usize) -> Self {
        let order = order.min(MAX_ORDER);
        let suffix = |start: usize| {
            let symbols = symbols[start..].iter().map(|symbol| u128::from(*symbol) + 1);
            symbols.chain(std::iter::repeat(0)).take(order).fold(0, |packed, symbol| packed << BITS | symbol)
                << (BITS * (MAX_ORDER - order) as u32)
        };
        let mut suffixes: Vec<u128> = (0..symbols.len()).map(suffix).collect();
        suffixes.sort_unstable();
        Self { suffixes }
    }

    /// Each n-gram of `order` symbols with how often it occurs, in a fixed order of n-grams.
    pub fn counted(&self, order: usize) -> impl Iterator<Item = (u128, u64)> + '_ {
        let shift = BITS * (MAX_ORDER - order.clamp(1, MAX_ORDER)) as u32;
        let last = (1 << BITS) - 1;
        self.suffixes
            .chunk_by(move |a, b| a >> shift == b >> shift)
            .map(move |same| (same[0] >> shift, same.len() as u64))
            // Suffixes that are shorter than the order end in a 0.
            .filter(move |(ngram, _)| ngram & last != 0)
    }

    /// How many n-grams of `order` symbols there are, repeated ones included.
    pub fn total(&self, order: usize) -> u64 {
        (self.suffixes.len() + 1).saturating_sub(order) as u64
    }

    /// How many n-grams of `order` symbols any of `others` has too, each counted as often as in the one that has it
    /// most.
    pub fn shared(&self, others: &[Self], order: usize) -> u64 {
        let own: Vec<(u128, u64)> = self.counted(order).collect();
        let mut most = vec![0; own.len()];
        for other in others {
            let mut at = 0;
            for (ngram, count) in other.counted(order) {
                while own.get(at).is_some_and(|(own, _)| *own < ngram) {
                    at += 1;
                }
                if own.get(at).is_some_and(|(own, _)| *own == ngram) {
                    most[at] = count.max(most[at]);
                }
            }
        }
        own.iter().zip(&most).map(|((_, count), most)| count.min(most)).sum()
    }
}

/// Words or phrases by number, from 0.
#[derive(Clone, Debug, Default)]
pub struct Numbering {
    /// The number of each.
    pub known: HashMap<Box<str>, u32>,
    pub names: Vec<Box<str>>,
}

impl Numbering {
    /// The number of a name, a new one where it has none.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.known.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.known.insert(name.into(), number);
        self.names.push(name.into());
        number
    }
}
