//! What is asked of the corpus thread and what it tells. A leaf.

use std::{mem::discriminant, path::PathBuf, sync::Arc};

use crate::jobs::queue::JobProgress;
use corpus::judgements::judge::Judgement;
use corpus::judgements::scheme::{ErrorScheme, Renamed};
use corpus::judgements::{agreement::Agreement, campaign::Campaign, change::Change};
use corpus::overview::compute::{Overview, OverviewOptions};
use corpus::query::linked::{LinkChoice, TallyOrder};
use corpus::store::{corpus::CorpusTable, output::SystemOutput, parts::FileVersion, read::StoredSentence};
use corpus::{export::out::Out, import::importer::ImportReport, query::column::TableColumn};
use engine::aligner::bundled::AlignerChoice;
use engine::analysis::{bleu::Tokenization, concordance::ConcordanceLine};
use engine::text::{cells::CellTable, links::Links};
use import;

/// A request to the corpus thread.
#[derive(Clone, Debug, PartialEq)]
pub enum CorpusRequest {
    /// Open this workspace, or make it; what was open is closed.
    Open(PathBuf),
    /// Open an empty unsaved corpus.
    Begin,
    /// Keep what is open in this new file, and go on with that.
    SaveAs(PathBuf),
    Close,
    Import(PathBuf, import::ImportOptions),
    /// Stop all imports, now; what came stays.
    Stop,
    /// Add the bundled small test set, with German or French translations.
    Fill {
        is_german: bool,
    },
    /// Put in sentences with their references; the first says where they come from.
    Add(String, Arc<Vec<[String; 2]>>),
    /// Filter and sort the rows.
    Show {
        /// As typed; see [`Filter`](corpus::query::filter::Filter).
        filter: String,
        /// As [`Sorting::named`](corpus::query::table::Sorting::named) reads it; empty: as they came.
        sorting: String,
    },
    /// Read the texts of these sentences and these columns, which are in view.
    See(Vec<u32>, Vec<TableColumn>),
    /// All data of a sentence, from 0.
    Detail(usize),
    Judge(usize, String, Judgement),
    /// Sentence, annotator, gold links.
    SetGold(usize, String, Option<Links>),
    /// Sentence, text of the output, gold links.
    SetOutputGold(usize, String, Option<Links>),
    /// Store the links of the statistical aligner: sentence, annotator, aligner.
    Align(usize, String, AlignerChoice),
    /// Begin a campaign by this plan with the sentences that are shown; `None`: end the one that there is.
    Plan(Option<Box<Campaign>>),
    /// Compare two annotators, now and after each judgement; `None`: no longer.
    Compare(Option<(String, String)>),
    /// Set the scheme of errors, and which names of it are new.
    SetScheme(Box<ErrorScheme>, Renamed),
    SetTokenizer(Tokenization),
    OpenScheme(PathBuf),
    SaveScheme(PathBuf),
    Undo,
    Redo,
    Remove(i64),
    Write(Box<Out>),
    Keep(Box<FileVersion>),
    /// Resources of costly conditions: a file of frequencies, and an aligner.
    Means(Option<PathBuf>, Option<AlignerChoice>),
    /// Count the rows that are shown; `None` stops it.
    Count(Option<OverviewOptions>),
    /// Look for a query in the rows that are shown; `None` stops it.
    Find(Option<Find>),
    /// Count kinds of links in the rows that are shown; `None` stops it.
    Tally(Option<TallyOrder>),
    SaveHits {
        path: PathBuf,
        lines: Arc<Vec<ConcordanceLine>>,
        order: Arc<Vec<u32>>,
        links: LinkChoice,
    },
}

impl CorpusRequest {
    /// Whether an earlier request need not be answered any more.
    pub(crate) fn replaces(&self, earlier: &Self) -> bool {
        match self {
            Self::Stop => matches!(earlier, Self::Import(..) | Self::SetTokenizer(_)),
            Self::Show { .. }
            | Self::See(..)
            | Self::Detail(_)
            | Self::Compare(_)
            | Self::Keep(_)
            | Self::Means(..)
            | Self::Count(_)
            | Self::Tally(_)
            | Self::Find(_) => discriminant(self) == discriminant(earlier),
            _ => false,
        }
    }
}

/// A query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Find {
    /// Its number; its hits have it too.
    pub number: u64,
    pub query: String,
    pub links: LinkChoice,
    /// Over parts of speech in place of source words.
    pub by_parts: bool,
    /// Over parts of speech in place of the words of the text.
    pub by_target: bool,
}

/// Hits of a query.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    pub number: u64,
    pub lines: Vec<ConcordanceLine>,
    /// Sentences that were looked through.
    pub done: usize,
    pub is_over: bool,
    pub note: Option<String>,
}

/// All data of a sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Detail {
    /// Its place, from 0.
    pub at: usize,
    pub sentence: StoredSentence,
    /// What each system says, in the order of the corpus.
    pub outputs: Vec<Option<SystemOutput>>,
    pub gold: Option<Links>,
    /// Links by hand of each output: those of the reference where it says that.
    pub golds: Vec<Option<Links>>,
}

impl CorpusNews {
    /// That it is busy with this, by its id, and so far, from 0 to 1.
    pub(crate) fn busy(what: impl Into<String>, share: f32) -> Self {
        Self::Busy { progress: JobProgress::of_share(what, share), is_import: false }
    }

    pub(crate) fn importing(what: impl Into<String>, share: f32) -> Self {
        Self::Busy { progress: JobProgress::of_share(what, share), is_import: true }
    }
}

/// An event of the corpus thread.
#[derive(Clone, Debug)]
pub enum CorpusNews {
    /// The workspace as it is now, in a copy that never reads the file.
    Corpus(PathBuf, Arc<CorpusTable>),
    /// An unsaved or saved corpus was opened at this path.
    Made {
        path: PathBuf,
        is_saved: bool,
    },
    /// The rows that were asked for; why there are none, as a sentence.
    Rows(std::result::Result<Arc<Vec<u32>>, String>),
    /// What was in view is in memory.
    Seen,
    Detail(Box<Detail>),
    Judged(Arc<Change>),
    /// How far the two agree who are compared; `None`: one of them judged nothing.
    Compared(Option<Arc<Agreement>>),
    /// What it is doing and how far; an import can be stopped by [`CorpusRequest::Stop`].
    Busy {
        progress: JobProgress,
        is_import: bool,
    },
    Idle,
    Imported(PathBuf, Box<ImportReport>),
    Written(PathBuf),
    /// How the workspace was looked at last.
    Look(Box<FileVersion>),
    /// How far an overview is.
    Counting(JobProgress),
    Counted(Arc<Overview>),
    Hits(Hits),
    /// How far the counts of links of a number are, and at the end the table.
    Tallied(u64, JobProgress, Option<Arc<CellTable>>),
    /// Why a query, of this number, is none.
    Refused(u64, String),
    Failed(String),
}
