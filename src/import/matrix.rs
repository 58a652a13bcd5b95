//! Matrices of other toolkits: which side their rows are, whether `</s>` has a row and a column, what is padding.

use crate::facts::{Behind, ImportFact, ImportReported};
use crate::options::Orientation;
use engine::analysis::alignment::Alignment;
use engine::text::{sentence::EOS, words::without_end};

pub use engine::text::links::read::MOST_WORDS;

/// How far a sum may be from 1.
const NEAR: f64 = 0.02;
/// How many matrices are looked at before the first is given out.
pub const PEEKED: usize = 64;

/// A matrix as its file has it, and how many words both sides have where that is known.
#[derive(Clone, Debug)]
pub struct FileMatrix {
    /// Row by row as in the file.
    pub matrix: Alignment,
    pub source: Option<usize>,
    pub target: Option<usize>,
}

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

    fn winner(self) -> Option<Orientation> {
        let pass = |count: usize| count * 10 >= self.all * 9 && self.all > 0;
        match (pass(self.target_rows), pass(self.source_rows)) {
            (true, false) => Some(Orientation::TargetRows),
            (false, true) => Some(Orientation::SourceRows),
            _ => None,
        }
    }
}

/// Which side the rows belong to: as asked, else the axis whose slices sum to 1 is the target, else by word counts, else `usual`.
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

fn is_length(size: usize, words: Option<usize>) -> bool {
    words.is_none_or(|words| size == words || size == words + 1)
}

/// Fits a matrix (a row for each target token) to the words of its sentence: cuts padding off and adds `</s>`. In a file that
/// fits its texts (`is_theirs`) the last source words may lack weights if each target word has one source word.
pub fn fit(
    alpha: &Alignment, (behind, is_theirs): (Behind, bool), target: &mut Vec<String>, source: &mut Vec<String>,
) -> ImportReported<Alignment> {
    let (t, s) = (without_end(target).len(), without_end(source).len());
    let mut alpha = alpha.clone();
    if let Behind::Decoder { .. } = behind {
        alpha = alpha.words(t, alpha.columns());
        if alpha.columns() < s && alpha.trimmed().columns() == alpha.columns() {
            alpha = alpha.resized(alpha.rows(), s, 0.0);
        }
    }
    let mut used = if behind == Behind::Nothing { alpha.clone() } else { alpha.trimmed() };
    let is_single = |row: &[f32]| row.iter().filter(|weight| **weight != 0.0).count() <= 1;
    if is_theirs && used.rows() > 0 && alpha.iter().all(is_single) {
        used = used.resized(used.rows(), used.columns().max(s.min(alpha.columns())), 0.0);
    }
    let has_end = behind != Behind::Decoder { has_end: false };
    let rows = side((alpha.rows(), used.rows()), t, (true, "target"))?;
    let columns = side((alpha.columns(), used.columns()), s, (has_end, "source"))?;
    let fitted = alpha.words(rows, columns);
    if behind != Behind::Nothing {
        damage(&fitted)?;
    }
    end(target, t, rows);
    end(source, s, columns);
    Ok(fitted)
}

const CUT: &str = "import the texts cut into tokens as the system cuts them";

fn side((size, used): (usize, usize), words: usize, (has_end, name): (bool, &str)) -> ImportReported<usize> {
    // A padded axis that ends before the words is of a shorter text.
    let is_short = size < words || (size > words + 1 && used < words);
    if is_short || used > words + usize::from(has_end) {
        let count = if size < words { size } else { used };
        let plural = if words == 1 { "" } else { "s" };
        return Err(format!("has weights for {count} {name} tokens where the text has {words} word{plural}; {CUT}"));
    }
    Ok(used.max(words))
}

/// Puts `</s>` behind so many words when there are more tokens, and takes it away when there are not.
fn end(tokens: &mut Vec<String>, words: usize, size: usize) {
    tokens.truncate(words);
    if words < size {
        tokens.push(EOS.to_owned());
    }
}

/// No file has so many sentences.
pub const MOST_ID: usize = 1 << 32;

/// A number that is one.
pub fn number(text: &str) -> Option<f32> {
    text.parse::<f32>().ok().filter(|number| number.is_finite())
}

/// Parses a weight; the error ends a sentence.
pub fn weight(word: &str) -> ImportReported<f32> {
    word.parse::<f32>().map_err(|_| format!("has `{word:.40}`, which is no weight"))
}

/// What shows that the numbers of a fitted matrix are no weights: what is no number, is below 0 or sums to more than 1.
fn damage(alpha: &Alignment) -> ImportReported<()> {
    if let Some(weight) = alpha.weights().iter().find(|weight| !weight.is_finite()) {
        return Err(format!("has the weight {weight}; write the dump again"));
    }
    if let Some(weight) = alpha.weights().iter().find(|weight| **weight < 0.0) {
        return Err(format!(
            "has the weight {weight}, which is below 0; write weights behind the softmax, not energies"
        ));
    }
    let over = alpha.row_sums().into_iter().enumerate().find(|(_, sum)| *sum > 1.0 + NEAR);
    over.map_or(Ok(()), |(row, sum)| {
        let advice = "write one head or their mean";
        Err(format!("has weights for target token {} that sum to {sum:.2}, not to 1; {advice}", row + 1))
    })
}
