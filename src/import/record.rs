//! Floor 6: what every format comes to: a sentence with what its file says about it. Imports `text` and the view of a
//! matrix in `analysis`.

use crate::analysis::weights::Weights;
use crate::text::links::{Link, Links};

/// One sentence of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Its number in the corpus, from 1: files are joined by it. A sentence that a file lost or spoiled leaves a gap.
    pub sentence: usize,
    /// The line where it begins in the file, from 1; its number where the file has no lines.
    pub line: usize,
    /// What the file calls it.
    pub id: Option<String>,
    /// What is translated.
    pub source: Option<Text>,
    /// What people made of it.
    pub reference: Option<Text>,
    /// What systems made of it. Several of one system are an n-best list, best first.
    pub outputs: Vec<Output>,
    /// The links that annotators drew between the words of source and reference.
    pub gold: Option<Links>,
    /// Everything else that the file has, by name.
    pub extra: Vec<(String, String)>,
}

/// A sentence of one language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// As people read it.
    pub text: String,
    /// As the file cuts it, `</s>` at the end where an alignment has a column or row for it.
    pub tokens: Option<Vec<String>>,
}

impl Text {
    /// A text that nobody cut.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), tokens: None }
    }
}

/// What a system made of a sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The system's name; `None` where neither the file nor the caller gave one.
    pub system: Option<String>,
    /// As people read it.
    pub text: String,
    /// As the file cuts it, `</s>` at the end where alpha has a row for it; empty where the file does not cut it.
    pub tokens: Vec<String>,
    /// ln p(y given x), where the file has it.
    pub log_p: Option<f32>,
    /// What the system ranked it by, where that may be something else: a cost, or divided by the length.
    pub score: Option<f32>,
    /// The same for each token; empty where the file does not have it.
    pub token_log_p: Vec<f32>,
    /// The soft alignment.
    pub alpha: Option<Alpha>,
    /// Hard links between the words of the source and of this output, words from 0, `</s>` left out.
    pub links: Option<Vec<Link>>,
}

/// alpha_ij of one sentence pair, row by row: a row for each target token i, a column for each source token j.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alpha {
    weights: Vec<f32>,
    rows: usize,
    columns: usize,
}

impl Alpha {
    /// A matrix of `columns` columns from its numbers row by row; `None` where they do not fill whole rows.
    pub fn new(weights: Vec<f32>, columns: usize) -> Option<Self> {
        let rows = weights.len().checked_div(columns).unwrap_or(0);
        (rows * columns == weights.len()).then_some(Self { weights, rows, columns })
    }

    /// A matrix from its rows; `None` where they differ in length.
    pub fn from_rows(rows: &[Vec<f32>]) -> Option<Self> {
        let columns = rows.first().map_or(0, Vec::len);
        rows.iter().all(|row| row.len() == columns).then(|| Self { weights: rows.concat(), rows: rows.len(), columns })
    }

    /// Target tokens.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Source tokens.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All numbers, row by row.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// alpha_i, [columns].
    pub fn row(&self, i: usize) -> Option<&[f32]> {
        (i < self.rows).then(|| &self.weights[i * self.columns..(i + 1) * self.columns])
    }

    /// The rows apart, as JSON has them.
    pub fn to_rows(&self) -> Vec<Vec<f32>> {
        self.view().rows().map(<[f32]>::to_vec).collect()
    }

    /// For the measures of `analysis`.
    pub fn view(&self) -> Weights<'_> {
        Weights::new(&self.weights, self.columns)
    }

    /// Rows and columns exchanged.
    pub fn turned(&self) -> Self {
        let weights =
            (0..self.columns).flat_map(|j| (0..self.rows).map(move |i| self.weights[i * self.columns + j])).collect();
        Self { weights, rows: self.columns, columns: self.rows }
    }

    /// The first rows, at most so many.
    pub fn first_rows(mut self, rows: usize) -> Self {
        self.rows = self.rows.min(rows);
        self.weights.truncate(self.rows * self.columns);
        self
    }

    /// Without the last columns that are zeros throughout.
    pub fn trimmed_columns(&self) -> Self {
        self.unpadded(self.rows, self.trimmed().columns).unwrap_or_default()
    }

    /// Without the last rows and columns that are zeros throughout: what a batch padded, where nothing tells how much.
    pub fn trimmed(&self) -> Self {
        let used = |row: &[f32]| row.iter().rposition(|alpha| *alpha != 0.0).map_or(0, |last| last + 1);
        let rows = self.view().rows().rposition(|row| used(row) > 0).map_or(0, |last| last + 1);
        let columns = self.view().rows().map(used).max().unwrap_or(0);
        self.unpadded(rows, columns).unwrap_or_default()
    }

    /// The first rows and columns, when nothing but zeros is beyond them: what a batch padded.
    pub fn unpadded(&self, rows: usize, columns: usize) -> Option<Self> {
        if rows > self.rows || columns > self.columns {
            return None;
        }
        let (kept, rest) = self.weights.split_at(rows * self.columns);
        let beyond = |row: &[f32]| row[columns..].iter().all(|alpha| *alpha == 0.0);
        let is_padding = rest.iter().all(|alpha| *alpha == 0.0);
        let mut lines = kept.chunks_exact(self.columns.max(1));
        (is_padding && lines.all(beyond)).then(|| {
            let lines = kept.chunks_exact(self.columns.max(1));
            Self { weights: lines.flat_map(|row| &row[..columns]).copied().collect(), rows, columns }
        })
    }
}
