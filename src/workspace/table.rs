//! Floor 7: the rows of the table: which sentences, in which order.

use crate::error::Result;
use crate::workspace::column::Column;
use crate::workspace::corpus::Corpus;
use crate::workspace::filter::Filter;

/// How rows are put in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sorting {
    /// By which number.
    pub column: Column,
    /// The greatest first.
    pub is_descending: bool,
}

impl Sorting {
    /// `bleu.1-2`, or `-bleu.1-2` for the greatest first.
    ///
    /// # Errors
    /// As [`Column::named`].
    pub fn named(name: &str, corpus: &Corpus) -> Result<Self> {
        let (is_descending, name) = name.strip_prefix('-').map_or((false, name), |name| (true, name));
        Ok(Self { column: Column::named(name, corpus)?, is_descending })
    }
}

/// The places of the sentences that are shown, in order. Sentences without the number that they are sorted by come last;
/// equal ones keep their order in the workspace.
pub fn rows(corpus: &Corpus, filter: &Filter, sorting: Option<&Sorting>) -> Vec<u32> {
    let mut rows: Vec<u32> = if filter.is_empty() {
        (0..corpus.len() as u32).collect()
    } else {
        let shown = filter.shown(corpus);
        (0..corpus.len() as u32).filter(|at| shown[*at as usize]).collect()
    };
    if let Some(sorting) = sorting {
        let key = |at: &u32| u64::from(sorting.key(corpus, *at)) << 32 | u64::from(*at);
        let mut keyed: Vec<u64> = rows.iter().map(key).collect();
        // The place decides among equals, so no stable sort is needed.
        keyed.sort_unstable();
        rows = keyed.into_iter().map(|keyed| keyed as u32).collect();
    }
    rows
}

impl Sorting {
    /// A number whose order is that of the column; the greatest where there is none.
    fn key(&self, corpus: &Corpus, at: u32) -> u32 {
        let value = self.column.value(corpus, at as usize);
        if value.is_nan() {
            return u32::MAX;
        }
        // The order of IEEE 754 numbers as that of integers; -0 is 0.
        let bits = (value + 0.0).to_bits();
        let rising = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
        if self.is_descending { !rising } else { rising }
    }
}
