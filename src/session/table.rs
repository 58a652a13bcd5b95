//! Floor 8: the view model of a column, made from one hypothesis: words and numbers, no pixels.

use std::ops::Range;

use crate::analysis::reading::Reading;
use crate::text::sentence::{EOS, Sentence};
use crate::worker::protocol::HypothesisView;

/// A source word x_j.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceWord {
    /// As typed; `</s>` for the end.
    pub text: String,
    /// Where it is in the typed text, in bytes; empty for `</s>`.
    pub span: Range<usize>,
    /// The model does not know it and reads `[UNK]`.
    pub is_unk: bool,
    /// It is `</s>`.
    pub is_eos: bool,
    /// Sum of alpha_ij over the target words so far; 0 without alignment.
    pub coverage: f32,
}

/// A target word y_i.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetWord {
    /// As the vocabulary writes it, `[UNK]` and `</s>` included.
    pub text: String,
    /// It is `[UNK]`.
    pub is_unk: bool,
    /// It is `</s>`.
    pub is_eos: bool,
    /// For `[UNK]` the typed word of greatest alpha.
    pub replaced: Option<String>,
    /// log p(y_i | y_<i, x).
    pub log_p: f32,
    /// p(y_i | y_<i, x), from 0 to 1.
    pub probability: f32,
    /// Not shared with the output of the first column that has one (there: with any other), by longest common subsequence.
    pub differs: bool,
    /// The best words at this position with their probabilities, best first.
    pub candidates: Vec<(String, f32)>,
}

/// Numbers by target row i and source column j.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Rows, T_y.
    pub rows: usize,
    /// Columns, T_x.
    pub columns: usize,
    /// Row after row, rows * columns.
    pub values: Vec<f32>,
}

/// What a column shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlignmentTable {
    /// Changes whenever anything here changes; textures may be kept by it.
    pub revision: u64,
    /// Along the top.
    pub source: Vec<SourceWord>,
    /// Down the side.
    pub target: Vec<TargetWord>,
    /// alpha_ij; `None` where the model has no alignment (never invented) and where it was left out.
    pub alpha: Option<Matrix>,
    /// e_ij, NaN at words that have none; `None` as alpha is.
    pub energies: Option<Matrix>,
    /// The aligned position p_t of each target word, in source words from 0, NaN at a word that has no row; `None`
    /// where the attention is not local.
    pub p_t: Option<Vec<f32>>,
    /// Which word a row belongs to, where there is a choice.
    pub reading: Option<Reading>,
    /// The model has an alignment here, but it was too large to keep (see [`LEFT_OUT`]).
    pub left_out: bool,
    /// The translation as normal text.
    pub text: String,
    /// log p(y | x).
    pub log_p: f32,
    /// log p / |y|^A.
    pub rank: f32,
    /// The hypothesis ends with `</s>`.
    pub finished: bool,
    /// Which hypothesis of the beam, from 0.
    pub hypothesis: usize,
}

/// What to say in place of an alignment that was left out.
pub const LEFT_OUT: &str =
    "The alignment of this hypothesis was too large to keep; a shorter text or a smaller beam shows it";

impl Matrix {
    /// From rows of equal length; ragged rows are an error of the caller and are cut or filled with 0.
    pub fn from_rows(rows: &[Vec<f32>], columns: usize) -> Self {
        let mut values = Vec::with_capacity(rows.len() * columns);
        for row in rows {
            values.extend(row.iter().copied().chain(std::iter::repeat(0.0)).take(columns));
        }
        Self { rows: rows.len(), columns, values }
    }

    /// The number for target word i and source word j; `None` outside.
    pub fn get(&self, i: usize, j: usize) -> Option<f32> {
        if j < self.columns { self.values.get(i * self.columns + j).copied() } else { None }
    }

    /// All numbers of target word i; empty outside.
    pub fn row(&self, i: usize) -> &[f32] {
        self.values.get(i * self.columns..(i + 1) * self.columns).unwrap_or(&[])
    }

    /// Least and greatest number; `None` for an empty matrix.
    pub fn range(&self) -> Option<(f32, f32)> {
        let mut values = self.values.iter().copied().filter(|value| value.is_finite());
        let first = values.next()?;
        Some(values.fold((first, first), |(low, high), value| (low.min(value), high.max(value))))
    }
}

/// The rows by the words that they belong to; a word without a row has `none` all along.
fn by_word(rows: &[Vec<f32>], columns: usize, reading: Reading, none: f32) -> Matrix {
    if reading == Reading::Predicted {
        return Matrix::from_rows(rows, columns);
    }
    let row = |i| reading.row(i, rows.len()).map_or_else(|| vec![none; columns], |t| rows[t].clone());
    Matrix::from_rows(&(0..rows.len()).map(row).collect::<Vec<_>>(), columns)
}

/// The view model of a hypothesis. `specials` are the ids of `</s>` and `[UNK]`; `reading` is how its rows are
/// read where there is a choice.
pub fn build(
    source: &Sentence,
    shown: &HypothesisView,
    hypothesis: usize,
    specials: Option<(u32, u32)>,
    reading: Option<Reading>,
    revision: u64,
) -> AlignmentTable {
    let t_x = source.len();
    let read = reading.unwrap_or_default();
    let alpha = shown.alpha.as_deref().map(|rows| by_word(rows, t_x, read, 0.0));
    let energies = shown.energies.as_deref().map(|rows| by_word(rows, t_x, read, f32::NAN));
    let of_word =
        |p_t: &Vec<f32>| (0..p_t.len()).map(|i| read.row(i, p_t.len()).map_or(f32::NAN, |t| p_t[t])).collect();
    AlignmentTable {
        revision,
        source: (0..t_x).map(|j| source_word(source, j, alpha.as_ref(), specials)).collect(),
        target: (0..shown.tokens.len()).map(|i| target_word(shown, i)).collect(),
        alpha,
        energies,
        p_t: shown.p_t.as_ref().map(of_word),
        reading: reading.filter(|_| shown.alpha.is_some()),
        left_out: shown.left_out,
        text: shown.text.clone(),
        log_p: shown.log_p,
        rank: shown.rank,
        finished: shown.finished,
        hypothesis,
    }
}

fn source_word(source: &Sentence, j: usize, alpha: Option<&Matrix>, specials: Option<(u32, u32)>) -> SourceWord {
    let span = source.spans.get(j).cloned().unwrap_or_default();
    let text = source.tokens.get(j).cloned().unwrap_or_default();
    SourceWord {
        is_unk: specials.is_some_and(|(_, unk)| source.ids[j] == unk),
        // Someone may type `</s>`; only the one that was added has no place in the text.
        is_eos: text == EOS && span.is_empty(),
        coverage: alpha.map_or(0.0, |alpha| (0..alpha.rows).filter_map(|i| alpha.get(i, j)).sum()),
        text,
        span,
    }
}

fn target_word(shown: &HypothesisView, i: usize) -> TargetWord {
    let text = shown.tokens[i].clone();
    let log_p = shown.token_log_p.get(i).copied().unwrap_or(f32::NEG_INFINITY);
    let candidates = shown.candidates.get(i).map_or(&[][..], Vec::as_slice);
    TargetWord {
        is_unk: shown.is_unk.get(i).copied().unwrap_or(false),
        is_eos: text == EOS,
        replaced: shown.replaced.get(i).cloned().flatten(),
        log_p,
        probability: log_p.exp(),
        differs: false,
        candidates: candidates.iter().map(|(word, log_p)| (word.clone(), log_p.exp())).collect(),
        text,
    }
}
