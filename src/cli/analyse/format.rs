//! `interlinear analyse --format`: what is printed of the sentences.

use clap::{Args, ValueEnum};

use crate::args::one_of;
use corpus::export::out::{ExportFormat, LinkRule};
use engine::analysis::symmetrize::SYMMETRIZATIONS;

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

/// How links are read off alpha, as typed.
#[derive(Args, Clone, Debug)]
pub(super) struct LinkArgs {
    /// With --format links: all with alpha of at least this, rather than the greatest of each target word
    #[arg(long, value_name = "ALPHA", value_parser = hundredths, conflicts_with = "symmetrize")]
    threshold: Option<u8>,
    /// With --format links: the greatest of each row and of each column of alpha, put together as Moses does
    #[arg(long, value_name = "RULE", value_parser = one_of(SYMMETRIZATIONS.iter().enumerate().map(|(at, rule)| (rule.name, rule.about, at))))]
    symmetrize: Option<usize>,
}

impl LinkArgs {
    pub(super) fn plan(&self) -> LinkRule {
        match (self.threshold, self.symmetrize) {
            (Some(hundredths), _) => LinkRule::Above(hundredths),
            (None, Some(rule)) => LinkRule::Symmetrised(rule),
            (None, None) => LinkRule::Greatest,
        }
    }
}

fn hundredths(text: &str) -> std::result::Result<u8, String> {
    let share = text.parse::<f32>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.map(|share| (share * 100.0).round() as u8).ok_or_else(|| "write a number from 0 to 1, such as 0.2".to_owned())
}
