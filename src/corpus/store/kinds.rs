//! What may leave a workspace, and what is asked for. A leaf beside the measures.

use std::{path::PathBuf, sync::Arc};

use crate::judgements::judge::{Judges, METRIC};
use crate::query::line::parts;
use crate::{query::column::TableColumn, store::corpus::CorpusTable};
use engine::aligner::bundled::AlignerChoice;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    Tsv,
    Jsonl,
    Arrays,
    Matrices,
    Pharaoh(usize, LinkRule),
    Gold,
    OutputGold(usize),
    Judgements,
    JudgementTable,
    /// Marks of people as a table of the WMT (MQM), which Marot shows.
    Mqm,
    /// The same of what a metric marked.
    Suggestions,
    Pearmut,
    /// Who judges which sentence of the campaign, and what is done.
    Tasks,
    Report,
    Figures(usize, AttentionFormat),
}

/// How links are read off alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkRule {
    Greatest,
    /// All with at least so many hundredths.
    Above(u8),
    /// The greatest of each row and of each column, combined by this line of [`SYMMETRIZATIONS`].
    Symmetrised(usize),
}

/// Formats of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttentionFormat {
    Svg,
    Pdf,
    Png,
}

impl AttentionFormat {
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
    pub path: PathBuf,
    pub kind: ExportFormat,
    pub rows: Arc<Vec<u32>>,
    /// The columns of numbers; empty: all.
    pub columns: Vec<TableColumn>,
    pub chosen: String,
    /// Of a report: how many sentences have pictures, the first ones.
    pub pictures: usize,
    /// Whether links in Pharaoh's notation count the words of the corpus, in place of what stands between spaces.
    pub link_tokens: bool,
    /// Links references that nobody has linked; none: they stay without links.
    pub aligner: Option<AlignerChoice>,
    /// Of a report; empty: the name of the corpus.
    pub title: String,
}

/// The sentences of a report that have pictures, unless others are asked for.
pub const MOST_PICTURES: usize = 100;
/// The most figures that are drawn into a folder at once.
pub const MOST_FIGURES: usize = 500;

/// The columns of numbers that are written.
pub fn columns(out: &Out, corpus: &CorpusTable) -> Vec<TableColumn> {
    if out.columns.is_empty() { all_columns(corpus) } else { out.columns.clone() }
}

/// Every column that is not a difference.
pub fn all_columns(corpus: &CorpusTable) -> Vec<TableColumn> {
    let sentences = (0..corpus.of_sentences().count()).map(TableColumn::Sentence);
    let systems = 0..corpus.systems.len();
    let outputs =
        systems.clone().flat_map(|system| (0..corpus.measures.len()).map(move |at| TableColumn::Output(at, system)));
    let errors = systems.clone().map(TableColumn::Errors);
    // They tell nothing more where there are none.
    let mut weights = Vec::new();
    weights.extend((corpus.counts.errors_judged > 0).then_some(Judges::People));
    weights.extend(corpus.counts.annotators.contains_key(METRIC).then_some(Judges::Metric));
    let weights = weights.into_iter();
    let weights = weights.flat_map(|of| systems.clone().map(move |system| TableColumn::Weight(of, system)));
    let ratings = systems.clone().map(TableColumn::Rating);
    let own = [TableColumn::Stars, TableColumn::Marks].into_iter().chain(errors).chain(weights).chain(ratings);
    sentences.chain(outputs).chain(own).collect()
}

/// The line with one more condition, which holds whatever the line has; the same line where it has it already.
pub fn with_condition(line: &str, condition: &str) -> String {
    let line = line.trim();
    let parts = parts(line).unwrap_or_default();
    let is_either = parts.iter().any(|part| part == "OR");
    if condition.is_empty() || !is_either && parts.iter().any(|part| part == condition) {
        return line.to_owned();
    }
    match line {
        "" => condition.to_owned(),
        _ if is_either => format!("({line}) {condition}"),
        _ => format!("{line} {condition}"),
    }
}

/// A word or several as conditions have them, in quotation marks where that is needed.
pub fn quoted(words: &str) -> String {
    if words.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\\')) {
        format!("\"{}\"", words.replace('"', "\\\""))
    } else {
        words.to_owned()
    }
}
