//! Floor 7: what may leave a workspace, and what is asked for. A leaf beside the measures.

use std::path::PathBuf;
use std::sync::Arc;

use crate::corpus::measures::measures::{MEASURES, OF_SENTENCES};
use crate::corpus::query::column::Column;
use crate::corpus::store::corpus::Corpus;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A row for each sentence, a column for each text and number.
    Tsv,
    /// An object for each sentence, with words and alignments.
    Jsonl,
    /// The table as Parquet.
    Parquet,
    /// Alignments of all systems as arrays of numpy.
    Arrays,
    /// The same as tables, into a folder.
    Matrices,
    /// Links of a system by its place.
    Pharaoh(usize, Links),
    /// Links by hand.
    Gold,
    /// Stars, tags, notes and marks, an object for each sentence.
    Judgements,
    /// The same as a table, a row for each annotator and each mark.
    JudgementTable,
    /// A page of HTML with tables, figures and notes.
    Report,
    /// A figure of each sentence, of a system by its place, into a folder.
    Figures(usize, Format),
}

/// How links are read off alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// For each target word its source word of greatest alpha.
    Greatest,
    /// All with at least so many hundredths.
    Above(u8),
    /// The greatest of each row and the greatest of each column, put together by this line of
    /// [`SYMMETRIZATIONS`](crate::analysis::symmetrize::SYMMETRIZATIONS).
    Symmetrised(usize),
}

/// Formats of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Scalable vector graphics.
    Svg,
    /// Portable document format.
    Pdf,
    /// Pixels.
    Png,
}

impl Format {
    /// As files end.
    pub fn name(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Pdf => "pdf",
            Self::Png => "png",
        }
    }
}

/// What to write, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Out {
    /// The file, or the folder of figures.
    pub path: PathBuf,
    /// What.
    pub kind: Kind,
    /// The sentences, from 0, in order.
    pub rows: Arc<Vec<u32>>,
    /// The columns of numbers; empty: all.
    pub columns: Vec<Column>,
    /// How the rows were chosen and sorted, in words, for the report.
    pub chosen: String,
    /// Source and target: the aligner links references that nobody has linked; none: they stay without links.
    pub languages: Option<(String, String)>,
}

/// The most sentences of a report, and the most figures at once.
pub const MOST_IN_REPORT: usize = 500;

/// The columns of numbers that are written.
pub fn columns(out: &Out, corpus: &Corpus) -> Vec<Column> {
    if out.columns.is_empty() { all_columns(corpus) } else { out.columns.clone() }
}

/// Every column that is not a difference.
pub fn all_columns(corpus: &Corpus) -> Vec<Column> {
    let sentences = (0..OF_SENTENCES.len()).map(Column::Sentence);
    let systems = 0..corpus.systems.len();
    let outputs = systems.clone().flat_map(|system| (0..MEASURES.len()).map(move |at| Column::Output(at, system)));
    let errors = systems.map(Column::Errors);
    sentences.chain(outputs).chain([Column::Stars, Column::Marks]).chain(errors).collect()
}
