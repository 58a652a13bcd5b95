//! Floor 9: what a command or an event causes outside the session, and what comes back. A leaf: it knows no session.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::aligner::bundled::{AlignerChoice, AlignerFile};
use crate::aligner::placed::PlacedWords;
use crate::app::files::picture::FigureRequest;
use crate::app::page::{Dropped, Page};
use crate::error::Error;
use crate::evaluation::first_set::FirstSet;
use crate::figure::Figure;
use crate::figure::interlinear::GlossedSentence;
use crate::figure::png::Pixels;
use crate::figure::provenance::Provenance;
#[cfg(not(target_family = "wasm"))]
use crate::jobs::corpus::thread::CorpusRequest;
use crate::jobs::live::protocol::Request;
use crate::jobs::queue::QueueOrder;
use crate::jobs::steps::StepsRequest;
use crate::models::choice::ModelSpec;
use crate::text::lines::TextFile;
use crate::text::links::Links;
use crate::training::recipe::TrainingPlan;

/// What the driver carries out, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Translate this, and nothing that was wanted before.
    Decode(Request),
    /// Something for the corpus lane.
    Lane(QueueCall),
    /// Take a translation apart, and nothing that was wanted before.
    TakeApart { number: u64, request: Box<StepsRequest> },
    /// Something for the workspace.
    #[cfg(not(target_family = "wasm"))]
    Corpus(CorpusRequest),
    /// Work on files.
    Chore(FileJob),
    /// Follow these training logs, and no others.
    Follow(Vec<PathBuf>),
    /// Follow the texts of these folders, and no others.
    FollowTexts(Vec<PathBuf>),
}

/// What the corpus lane is to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "an order is sent once and kept by no one here")]
pub enum QueueCall {
    /// A new order.
    Submit(u64, QueueOrder),
    /// This one is not wanted any more.
    Cancel(u64),
    /// Hold this one up, or let it go on.
    Pause(u64, bool),
}

/// Work on files, done off the window's thread.
#[derive(Clone, Debug, PartialEq)]
pub enum FileJob {
    /// Find out what was opened or dropped on this page.
    Look { path: PathBuf, on: Page },
    /// Read a text file.
    Read(PathBuf),
    /// Read alignments by hand of a list and its translations.
    ReadGold { path: PathBuf, source: PathBuf, target: PathBuf },
    /// Find out whether a file can be read.
    Check(PathBuf),
    /// Read an aligner file for its languages, or for the model in a folder.
    OpenAligner { path: PathBuf, model: Option<ModelSpec> },
    /// Find the training logs of a run, or of all runs in a folder.
    FindLogs(PathBuf),
    /// Write the configuration of a new training.
    SaveTraining { plan: Box<TrainingPlan>, path: PathBuf },
    /// Read a file in CoNLL-U.
    ReadAnnotated(PathBuf),
    /// Align the words of a column.
    Align { number: u64, question: AlignQuestion },
    /// Put the files of the first test set into a folder.
    PutFirstSet { folder: PathBuf, is_german: bool },
    /// Write what is exported.
    Write { path: PathBuf, text: String },
    /// Write what a table or links come from beside their file.
    WriteBeside { path: PathBuf, from: Provenance },
    /// Write a picture that is drawn already.
    WriteFigure { path: PathBuf, figure: Arc<Figure<'static>> },
    /// Draw a picture and write it.
    Draw { path: PathBuf, picture: Box<FigureRequest> },
    /// Draw a picture for the clipboard.
    Paint(Box<FigureRequest>),
    /// Write files in a way that the one who asks knows.
    Work(FileWork),
}

/// Work on files that only the one who asks for it knows; it says what came of it.
#[derive(Clone)]
pub struct FileWork(pub Arc<dyn Fn() -> FileEvent + Send + Sync>);

impl PartialEq for FileWork {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::fmt::Debug for FileWork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Work")
    }
}

/// What a statistical aligner is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlignQuestion {
    pub aligner: AlignerChoice,
    pub source: PlacedWords,
    /// The words of the translation, `</s>` and `[UNK]` among them.
    pub target: Vec<String>,
}

/// What became of a [`FileJob`] or a save.
#[derive(Clone, Debug)]
pub enum FileEvent {
    /// What was opened or dropped.
    Opened { path: PathBuf, what: Dropped, on: Page },
    /// Alignments by hand of a list were read.
    Gold { path: PathBuf, list: PathBuf, target: PathBuf, links: Arc<Vec<Links>>, note: String },
    /// Training logs were looked for.
    Logs { path: PathBuf, found: Vec<PathBuf> },
    /// A text file was read, or more of it than before.
    Read { path: PathBuf, lines: Arc<TextFile> },
    /// A text file could not be read.
    ReadFailed { path: PathBuf, message: String },
    /// A file that was chosen cannot be read, for this reason.
    Faulty { path: PathBuf, message: String },
    /// The configuration of a new training was to be written.
    TrainingSaved {
        path: PathBuf,
        /// Why it could not be, as a sentence for the user.
        trouble: Option<String>,
    },
    /// The files of the first test set are there.
    FirstSet(FirstSet),
    /// A file in CoNLL-U was read.
    Annotated { path: PathBuf, sentences: Arc<Vec<GlossedSentence>> },
    /// An aligner file was read, for its languages.
    Aligner(AlignerFile),
    /// The words of a column were aligned.
    Aligned { number: u64, links: Links },
    /// A picture for the clipboard was drawn.
    Painted(Arc<Pixels>),
    /// Something worth a line in the status bar.
    Notice { text: String, is_error: bool },
}

impl FileEvent {
    /// Something went wrong.
    pub(crate) fn failed(error: &Error) -> Self {
        Self::Notice { text: error.to_string(), is_error: true }
    }
}
