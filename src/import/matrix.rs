//! Floor 6: matrices of other toolkits: which side their rows are, whether `</s>` has a row and a column, what is
//! padding. Imports its room.

use crate::analysis::alignment::Alignment;
use crate::import::facts::{ImportFact, ImportReported, Warnings};
use crate::import::options::Orientation;
use crate::import::record::Record;
use crate::text::sentence::EOS;

pub use crate::text::links::read::MOST_WORDS;

/// How far a sum may be from 1.
const NEAR: f64 = 0.02;
/// How many matrices are looked at before the first is given out.
pub const PEEKED: usize = 64;

/// A matrix as its file has it, and how many words both sides have where that is known.
#[derive(Clone, Debug)]
pub struct FileMatrix {
    /// Row by row as in the file.
    pub matrix: Alignment,
    /// Source words.
    pub source: Option<usize>,
    /// Target words.
    pub target: Option<usize>,
}

/// Shares of matrices that pass for one orientation and for the other.
#[derive(Clone, Copy, Default)]
struct Votes {
    target_rows: usize,
    source_rows: usize,
    all: usize,
}

impl Votes {
    fn add(&mut self, target_rows: bool, source_rows: bool) {
        self.target_rows += usize::from(target_rows);
        self.source_rows += usize::from(source_rows);
        self.all += 1;
    }

    /// The orientation for which nine in ten pass, where it is one alone.
    fn winner(self) -> Option<Orientation> {
        let pass = |count: usize| count * 10 >= self.all * 9 && self.all > 0;
        match (pass(self.target_rows), pass(self.source_rows)) {
            (true, false) => Some(Orientation::TargetRows),
            (false, true) => Some(Orientation::SourceRows),
            _ => None,
        }
    }
}

/// Which side the rows belong to: what was asked for; else the axis whose slices sum to 1 is the target's; else what fits
/// the numbers of words; else it stays open, and `usual` is used.
pub fn orientation(seen: &[FileMatrix], asked: Option<Orientation>, usual: Orientation) -> ImportFact<Orientation> {
    if let Some(asked) = asked {
        return ImportFact::known(asked, "as was asked");
    }
    if seen.is_empty() {
        return ImportFact::None;
    }
    let (mut sums, mut shapes) = (Votes::default(), Votes::default());
    for one in seen {
        sums.add(sum_to_1(&one.matrix.row_sums()), sum_to_1(&one.matrix.column_sums()));
        let (rows, columns) = (one.matrix.rows(), one.matrix.columns());
        let fits = |target: usize, source: usize| is_length(target, one.target) && is_length(source, one.source);
        shapes.add(fits(rows, columns), fits(columns, rows));
    }
    if let Some(found) = sums.winner() {
        let axis = if found == Orientation::TargetRows { "rows" } else { "columns" };
        return ImportFact::known(found, format!("the {axis} sum to 1, as the weights of a target token do"));
    }
    if let Some(found) = shapes.winner() {
        return ImportFact::known(found, "only so do the matrices fit the numbers of words");
    }
    let both = if sums.target_rows == 0 { "neither rows nor columns sum to 1" } else { "rows and columns sum to 1" };
    ImportFact::Ask { used: usual, other: usual.other(), why: format!("{both}, and the numbers of words do not tell") }
}

/// Whether all sums are 1, but for those of padding, which are 0.
fn sum_to_1(sums: &[f64]) -> bool {
    let mut used = sums.iter().filter(|sum| **sum != 0.0).peekable();
    used.peek().is_some() && used.all(|sum| (sum - 1.0).abs() <= NEAR)
}

/// Whether an axis may be that of so many words: with `</s>` or without.
fn is_length(size: usize, words: Option<usize>) -> bool {
    words.is_none_or(|words| size == words || size == words + 1)
}

/// A matrix of a file as a row for each target token, without padding; `</s>` is put behind the tokens of a side where
/// the matrix has a row or column for it.
///
/// # Errors
/// What does not fit, as the end of a sentence.
pub fn fit(
    matrix: Alignment,
    orientation: Orientation,
    target: &mut Vec<String>,
    source: Option<&mut Vec<String>>,
) -> ImportReported<Alignment> {
    let alpha = if orientation == Orientation::TargetRows { matrix } else { matrix.turned() };
    let rows = side(alpha.rows(), target.len(), "target", || is_zero(alpha.row(target.len())))?;
    let columns = match &source {
        None => alpha.columns(),
        Some(source) => side(alpha.columns(), source.len(), "source", || {
            alpha.iter().all(|row| is_zero(&row[source.len()..=source.len()]))
        })?,
    };
    let fitted = alpha.unpadded(rows, columns).ok_or_else(|| {
        let (given, words) = (alpha.rows() * alpha.columns(), rows * columns);
        format!("the matrix has {given} weights, of which more than the {words} for these words are not 0 ({CUT})")
    })?;
    end(target, rows);
    if let Some(source) = source {
        end(source, columns);
    }
    Ok(fitted)
}

fn is_zero(weights: &[f32]) -> bool {
    weights.iter().all(|alpha| *alpha == 0.0)
}

/// What mostly helps.
const CUT: &str = "the texts must be cut into tokens as the system cuts them";

/// How much of an axis is not padding: the words, or one more for `</s>`. `unused` tells whether that one is zeros.
fn side(size: usize, words: usize, name: &str, unused: impl Fn() -> bool) -> ImportReported<usize> {
    match size.cmp(&words) {
        std::cmp::Ordering::Less => Err(format!("the matrix has {size} of the {words} {name} words ({CUT})")),
        std::cmp::Ordering::Equal => Ok(words),
        std::cmp::Ordering::Greater => Ok(if unused() { words } else { words + 1 }),
    }
}

/// Puts `</s>` behind tokens that are one fewer than `size`.
fn end(tokens: &mut Vec<String>, size: usize) {
    if tokens.len() < size {
        tokens.push(EOS.to_owned());
    }
}

/// No file has so many sentences.
pub const MOST_ID: usize = 1 << 32;

/// A number that is one.
pub fn number(text: &str) -> Option<f32> {
    text.parse::<f32>().ok().filter(|number| number.is_finite())
}

/// A weight as files write them.
///
/// # Errors
/// What it is not, as the end of a sentence.
pub fn weight(word: &str) -> ImportReported<f32> {
    number(word).ok_or_else(|| format!("`{word:.40}` is no weight"))
}

/// What is wrong with the weights of a fitted matrix, as the end of a sentence: weights below 0, or rows above 1.
pub fn doubt(alpha: &Alignment) -> Option<String> {
    if let Some(weight) = alpha.weights().iter().find(|weight| **weight < 0.0) {
        return Some(format!("has the weight {weight}, which is below 0"));
    }
    let sums = alpha.row_sums();
    let (row, sum) = sums.iter().enumerate().find(|(_, sum)| **sum > 1.0 + NEAR)?;
    Some(format!("has weights for target token {} that sum to {sum:.2}, not to 1", row + 1))
}

/// A fitted matrix, where it fits; warnings about `line` tell what is wrong with it.
pub fn kept(fitted: Option<ImportReported<Alignment>>, line: usize, warnings: &mut Warnings) -> Option<Alignment> {
    match fitted? {
        Ok(alpha) => {
            if let Some(message) = doubt(&alpha) {
                warnings.add(line, message);
            }
            Some(alpha)
        }
        Err(message) => {
            warnings.add(line, format!("{message}; its alignment is left out"));
            None
        }
    }
}

/// Brings the outputs of a sentence together: `</s>` is put behind the source tokens where a matrix has a column for it,
/// and a matrix of another width than the others is told and left out.
pub fn settle(record: &mut Record, warnings: &mut Warnings) {
    let Some(tokens) = record.source.as_mut().and_then(|source| source.tokens.as_mut()) else { return };
    let widest = record.outputs.iter().filter_map(|output| output.alpha.as_ref()).map(Alignment::columns).max();
    end(tokens, widest.unwrap_or(0).min(tokens.len() + 1));
    for output in &mut record.outputs {
        let width = output.alpha.as_ref().map(Alignment::columns).filter(|width| *width != tokens.len());
        if let Some(width) = width {
            let message = format!("has a matrix of {width} columns for {} source tokens; it is left out", tokens.len());
            warnings.add(record.line, message);
            output.alpha = None;
        }
    }
}
