//! Which target word a row of an alignment belongs to (Luong et al. 2015, footnote 14).
//!
//! In Luong's models the alignment vector of step t is made from h_t, which has just read the word y_{t-1},
//! and it helps to predict y_t. With scores that compare h_t with the source one may read row t either way.
//!
//! RNNsearch makes alpha_i from s_{i-1}, which has read y_{i-2} and not yet y_{i-1} (Bahdanau et al. 2015, appendix
//! A.2.2). The first row whose state has read y_i is therefore i + 2. The last words have one where steps are taken
//! behind `</s>`, as for pairs that are given and for models that were trained so.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::analysis::{alignment::Alignment, hard};
use crate::text::links::Link;

/// Which word row t belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RowConvention {
    /// Row t belongs to y_t.
    #[default]
    Predicted,
    /// Row t belongs to y_{t-1}.
    Input,
    /// The rows are not those of alpha but of an alignment head, which belong to their words already.
    Head,
}

/// One line of [`READINGS`].
#[derive(Clone, Copy, Debug)]
pub struct ReadingEntry {
    pub reading: RowConvention,
    pub name: &'static str,
    pub about: &'static str,
}

/// Every reading, in the order of [`RowConvention`], the usual one first.
pub const READINGS: &[ReadingEntry] = &[
    ReadingEntry {
        reading: RowConvention::Predicted,
        name: id!("predicted"),
        about: id!("A row belongs to the word that was predicted with it, y_t."),
    },
    ReadingEntry {
        reading: RowConvention::Input,
        name: id!("input"),
        about: id!("A row belongs to the word that the decoder had just read when the row was computed, y_{t-1}."),
    },
    ReadingEntry {
        reading: RowConvention::Head,
        name: id!("head"),
        about: id!(
            "A row is not alpha but says where the word comes from, by an alignment head that was learned on the finished model \
                and is asked once the word has been read; it explains the alignment and not the choice of the word."
        ),
    },
];

/// The readings of a model's own alpha.
pub const OF_ALPHA: &[ReadingEntry] = READINGS.split_at(2).0;

impl RowConvention {
    pub fn name(self) -> &'static str {
        READINGS[self as usize].name
    }

    pub fn about(self) -> &'static str {
        READINGS[self as usize].about
    }

    pub fn from_name(name: &str) -> Option<Self> {
        READINGS.iter().find(|entry| entry.name == name).map(|entry| entry.reading)
    }

    /// Which word a row belongs to, in few words.
    pub fn row_text(self) -> &'static str {
        match self {
            Self::Predicted => id!("word predicted"),
            Self::Input => id!("word read"),
            Self::Head => id!("origin of the word"),
        }
    }

    /// The links of an alignment of words, `</s>` cut off, by target word: the source word of greatest weight. A head
    /// was taught that words without a source word look at `</s>`, so where what a row lacks of 1 is more than its
    /// greatest weight there is no link.
    pub fn links(self, words: &Alignment) -> Vec<Link> {
        let mut links = hard::links(words);
        if self == Self::Head {
            links.retain(|link| {
                let row = words.row(link.target);
                1.0 - row.iter().sum::<f32>() <= row[link.source]
            });
        }
        links
    }

    /// Which of `rows` rows belongs to target word `i`; `None` for words that have none. As an input word, word i has
    /// the row of the first step whose state has read it, `delay` rows after the one that predicted it; so the last
    /// words, `</s>` among them, have none, and the first rows belong to no word.
    pub fn row_after(self, delay: usize, i: usize, rows: usize) -> Option<usize> {
        let row = match self {
            Self::Predicted | Self::Head => i,
            Self::Input => i + delay,
        };
        (row < rows).then_some(row)
    }

    /// Of some rows those that belong to words, from the first word on; words behind the last of them have none.
    pub fn read_after<T>(self, delay: usize, rows: &[T]) -> &[T] {
        match self {
            Self::Predicted | Self::Head => rows,
            Self::Input => rows.get(delay..).unwrap_or_default(),
        }
    }

    /// The rows by the word that they belong to, as many as before; zeros for a word that has none, which links it to
    /// nothing. As an input word, a word has the row `delay` rows after its own. Assign the rows before `</s>` is cut
    /// off: the last words have the rows behind it.
    pub fn assign_after(self, delay: usize, alpha: &[Vec<f32>]) -> Cow<'_, [Vec<f32>]> {
        if self != Self::Input {
            return Cow::Borrowed(alpha);
        }
        let columns = alpha.last().map_or(0, Vec::len);
        let row =
            |i| self.row_after(delay, i, alpha.len()).map_or_else(|| vec![0.0; columns], |row| alpha[row].clone());
        (0..alpha.len()).map(row).collect()
    }
}
