//! What is asked of the corpus thread and what it tells. A leaf.

use std::mem::discriminant;
use std::path::PathBuf;
use std::sync::Arc;

use crate::jobs::queue::JobProgress;
use corpus::export::out::Out;
use corpus::import::importer::ImportReport;
use corpus::judgements::agreement::Agreement;
use corpus::judgements::campaign::Campaign;
use corpus::judgements::change::Change;
use corpus::judgements::judge::{ByAnnotator, Judgement};
use corpus::judgements::scheme::{ErrorScheme, Renamed};
use corpus::overview::compute::{Overview, OverviewOptions};
use corpus::query::column::TableColumn;
use corpus::query::linked::{LinkChoice, TallyOrder};
use corpus::store::corpus::CorpusTable;
use corpus::store::look::FileVersion;
use corpus::store::output::SystemOutput;
use corpus::store::read::StoredSentence;
use engine::aligner::bundled::AlignerChoice;
use engine::analysis::bleu::Tokenization;
use engine::analysis::concordance::ConcordanceLine;
use engine::text::cells::CellTable;
use engine::text::links::Links;
use import;

/// What is asked of the corpus thread.
#[derive(Clone, Debug, PartialEq)]
pub enum CorpusRequest {
    /// Open this workspace, or make it; what was open is closed.
    Open(PathBuf),
    /// Open an empty corpus, which goes when it is closed.
    Begin,
    /// Keep what is open in this new file, and go on with that.
    SaveAs(PathBuf),
    /// Close what is open.
    Close,
    Import(PathBuf, import::ImportOptions),
    /// Stop all imports, now; what came stays.
    Stop,
    /// Put in the small test set that comes with the program, with German translations or with French ones.
    Fill {
        is_german: bool,
    },
    /// Put in sentences with their references; the first says where they come from.
    Add(String, Arc<Vec<[String; 2]>>),
    /// Choose and sort the rows.
    Show {
        /// As typed; see [`Filter`](corpus::query::filter::Filter).
        filter: String,
        /// As [`Sorting::named`](corpus::query::table::Sorting::named) reads it; empty: as they came.
        sorting: String,
    },
    /// Read the texts of these sentences, and their numbers of these columns: they are in view.
    See(Vec<u32>, Vec<TableColumn>),
    /// Everything about a sentence, from 0.
    Detail(usize),
    Judge(usize, String, Judgement),
    /// Set the links by hand of a sentence, in an annotator's name.
    SetGold(usize, String, Option<Links>),
    /// Set those of an output of a sentence, by its text.
    SetOutputGold(usize, String, Option<Links>),
    /// Set the links of the statistical aligner for source and target languages, in an annotator's name.
    Align(usize, String, AlignerChoice),
    /// Begin a campaign by this plan with the sentences that are shown; `None`: end the one that there is.
    Plan(Option<Box<Campaign>>),
    /// Compare two annotators, now and after each judgement; `None`: no longer.
    Compare(Option<(String, String)>),
    /// Set the scheme of errors, and which names of it are new.
    SetScheme(Box<ErrorScheme>, Renamed),
    /// Measure all outputs with another tokenizer of BLEU.
    SetTokenizer(Tokenization),
    /// Set the scheme of a file.
    OpenScheme(PathBuf),
    /// Write the scheme into a file.
    SaveScheme(PathBuf),
    /// Take back what was judged last.
    Undo,
    Redo,
    /// Remove a system and all it said.
    Remove(i64),
    /// Write the rows into a file.
    Write(Box<Out>),
    /// Keep how the workspace is looked at.
    Keep(Box<FileVersion>),
    /// Find costly conditions out with the frequencies of a file, and the aligner of source and target languages.
    Means(Option<PathBuf>, Option<AlignerChoice>),
    /// Count the rows that are shown; `None` stops it.
    Count(Option<OverviewOptions>),
    /// Look for a query in the rows that are shown; `None` stops it.
    Find(Option<Find>),
    /// Count kinds of links in the rows that are shown; `None` stops it.
    Tally(Option<TallyOrder>),
    /// Write hits as a table.
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
    /// Of which text, and by which links.
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
    /// No more will come.
    pub is_over: bool,
    /// What is left out, as a sentence.
    pub note: Option<String>,
}

/// Everything about a sentence.
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
    /// What people say of it.
    pub judgements: Arc<ByAnnotator>,
}

impl CorpusNews {
    /// That it is busy with this, by its id, and so far, from 0 to 1.
    pub(crate) fn busy(what: impl Into<String>, share: f32) -> Self {
        Self::Busy { progress: JobProgress::of_share(what, share), is_import: false }
    }

    /// The same of an import.
    pub(crate) fn importing(what: impl Into<String>, share: f32) -> Self {
        Self::Busy { progress: JobProgress::of_share(what, share), is_import: true }
    }
}

/// What the corpus thread tells.
#[derive(Clone, Debug)]
pub enum CorpusNews {
    /// The workspace as it is now, in a copy that never reads the file.
    Corpus(PathBuf, Arc<CorpusTable>),
    /// A corpus of what was measured, or one that was saved, is opened; it lies here.
    Made {
        path: PathBuf,
        is_saved: bool,
    },
    /// The rows that were asked for; why there are none, as a sentence.
    Rows(std::result::Result<Arc<Vec<u32>>, String>),
    /// What was in view is in memory.
    Seen,
    /// Everything about a sentence.
    Detail(Box<Detail>),
    /// Something was judged: what is new.
    Judged(Arc<Change>),
    /// How far the two agree who are compared; `None`: one of them judged nothing.
    Compared(Option<Arc<Agreement>>),
    /// What it is doing and how far it is; whether that is an import, which [`CorpusRequest::Stop`] ends.
    Busy {
        progress: JobProgress,
        is_import: bool,
    },
    /// It is done with that.
    Idle,
    /// A file was imported in.
    Imported(PathBuf, Box<ImportReport>),
    /// A file was written.
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
    /// Something could not be done, as a sentence.
    Failed(String),
}
