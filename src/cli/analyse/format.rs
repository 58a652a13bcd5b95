//! `interlinear analyse --format`: what is printed of the sentences.

use clap::ValueEnum;

use crate::analyse::links::LinkArgs;
use corpus::export::out::ExportFormat;

/// What to print.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Format {
    /// A row for each sentence
    #[default]
    Tsv,
    /// Everything, an object for each sentence
    #[value(alias = "json")]
    Jsonl,
    /// Alignments as arrays of numpy
    Npz,
    /// Alignments as tables, into the folder of --save
    Matrices,
    /// Links of a system
    Links,
    /// Links by hand
    Gold,
    /// Stars, tags, notes, marks and links, an object for each sentence
    Judgements,
    /// The same as a table
    JudgementTable,
    /// Marks as a table of the WMT
    Mqm,
    /// What a metric marked, the same way
    Suggestions,
    /// Ratings and marks as JSON lines of Pearmut
    Pearmut,
    /// Who judges what
    Tasks,
    /// The scheme of errors
    Scheme,
    /// Nothing
    None,
}

impl Format {
    pub(super) fn kind(self, (system, is_named): (usize, bool), links: &LinkArgs) -> Option<ExportFormat> {
        Some(match self {
            Self::Tsv => ExportFormat::Tsv,
            Self::Jsonl => ExportFormat::Jsonl,
            Self::Links => ExportFormat::Pharaoh(system, links.plan()),
            Self::Npz => ExportFormat::Arrays,
            Self::Matrices => ExportFormat::Matrices,
            Self::Gold if is_named => ExportFormat::OutputGold(system),
            Self::Gold => ExportFormat::Gold,
            Self::Judgements => ExportFormat::Judgements,
            Self::JudgementTable => ExportFormat::JudgementTable,
            Self::Mqm => ExportFormat::Mqm,
            Self::Suggestions => ExportFormat::Suggestions,
            Self::Pearmut => ExportFormat::Pearmut,
            Self::Tasks => ExportFormat::Tasks,
            Self::Scheme | Self::None => return None,
        })
    }
}
