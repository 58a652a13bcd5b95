//! Floor 7: the numbers of a column as a histogram, of all sentences and of those that are shown, and some sentences as
//! lines through several columns. A column is put into bins once; then a million rows are counted in a moment.

use std::sync::Arc;

use crate::corpus::query::column::TableColumn;
use crate::corpus::store::corpus::CorpusTable;

/// Bins of a histogram.
const BINS: usize = 40;
/// The most lines through several columns that are drawn at once.
pub const MOST_LINES: usize = 2000;
/// The bin of a sentence without a number.
const NONE: u8 = u8::MAX;

/// A column in bins.
#[derive(Clone, Debug)]
pub struct Binned {
    column: TableColumn,
    low: f32,
    high: f32,
    /// The bin of each sentence.
    bins: Vec<u8>,
    all: Arc<Vec<u32>>,
}

/// What is drawn of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Of which.
    pub column: TableColumn,
    /// Where the first bin begins.
    pub low: f32,
    /// Where the last bin ends.
    pub high: f32,
    /// How many sentences of all are in each bin.
    pub all: Arc<Vec<u32>>,
    /// How many of those that are shown.
    pub shown: Vec<u32>,
    /// Sentences without a number.
    pub missing: usize,
}

/// What is drawn of several columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DistributionPicture {
    /// A histogram for each column that has numbers.
    pub histograms: Vec<Histogram>,
    /// Columns that have none at all.
    pub without: Vec<TableColumn>,
    /// Numbers of some of all sentences: in each line one for each column.
    pub all: Vec<Vec<f32>>,
    /// The same of some of those that are shown.
    pub shown: Vec<Vec<f32>>,
    /// How many sentences are shown.
    pub of: usize,
}

impl Binned {
    /// Puts a column into bins: whole numbers into a bin each, where they are few.
    pub fn of(column: TableColumn, corpus: &CorpusTable) -> Self {
        let values = || (0..corpus.len()).map(|at| column.value(corpus, at));
        let known = || values().filter(|value| value.is_finite());
        let (mut low, mut high) = (known().fold(f32::INFINITY, f32::min), known().fold(f32::NEG_INFINITY, f32::max));
        let is_whole = known().all(|value| value.fract() == 0.0);
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let mut bins = BINS;
        if is_whole {
            let step = ((high - low + 1.0) / BINS as f32).ceil().max(1.0);
            bins = ((high - low + 1.0) / step).ceil().max(1.0) as usize;
            (low, high) = (low - 0.5, low - 0.5 + step * bins as f32);
        } else if low == high {
            (low, high) = (low - 0.5, high + 0.5);
        }
        let scale = bins as f32 / (high - low);
        let bin = |value: f32| {
            if value.is_finite() { (((value - low) * scale) as usize).min(bins - 1) as u8 } else { NONE }
        };
        let places: Vec<u8> = values().map(bin).collect();
        let mut all = vec![0; bins];
        for bin in &places {
            if let Some(count) = all.get_mut(usize::from(*bin)) {
                *count += 1;
            }
        }
        Self { column, low, high, bins: places, all: Arc::new(all) }
    }

    /// Which column it is.
    pub fn column(&self) -> TableColumn {
        self.column
    }

    /// Whether no sentence has a number.
    pub fn is_empty(&self) -> bool {
        self.all.iter().all(|count| *count == 0)
    }

    /// The histogram of all sentences and of some.
    pub fn histogram(&self, rows: &[u32]) -> Histogram {
        let mut shown = vec![0; self.all.len()];
        for at in rows {
            let bin = self.bins.get(*at as usize).copied().unwrap_or(NONE);
            if let Some(count) = shown.get_mut(usize::from(bin)) {
                *count += 1;
            }
        }
        let there: usize = self.all.iter().map(|count| *count as usize).sum();
        Histogram {
            column: self.column,
            low: self.low,
            high: self.high,
            all: Arc::clone(&self.all),
            shown,
            missing: self.bins.len() - there,
        }
    }
}

impl Histogram {
    /// Where a number stands, from 0 to 1.
    pub fn share(&self, value: f32) -> f32 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// The number that stands there.
    pub fn value(&self, share: f32) -> f32 {
        self.low + share.clamp(0.0, 1.0) * (self.high - self.low)
    }

    /// Width of a bin.
    pub fn step(&self) -> f32 {
        (self.high - self.low) / self.all.len().max(1) as f32
    }
}

/// At most so many of some places, spread evenly.
pub fn spread(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let taken = count.min(most);
    (0..taken).map(move |n| (n as u64 * count as u64 / taken.max(1) as u64) as usize)
}

/// Some sentences as lines through columns.
pub fn lines(columns: &[TableColumn], rows: impl Iterator<Item = usize>, corpus: &CorpusTable) -> Vec<Vec<f32>> {
    rows.map(|at| columns.iter().map(|column| column.value(corpus, at)).collect()).collect()
}
