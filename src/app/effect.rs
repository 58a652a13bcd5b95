//! Floor 9: what a command or an event causes outside the session, and what comes back. A leaf: it knows no session.

use std::path::PathBuf;
use std::sync::Arc;

use crate::aligner::placed::Placed;
use crate::app::files::picture::PictureRequest;
use crate::app::page::{Dropped, Page};
use crate::evaluation::first_set::FirstSet;
use crate::figure::Figure;
use crate::figure::png::Pixels;
use crate::jobs::corpus::thread::CorpusRequest;
use crate::jobs::live::protocol::Request;
use crate::jobs::queue::QueueOrder;
use crate::jobs::steps::StepsRequest;
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
    TakeApart {
        /// Of the request.
        number: u64,
        /// What is wanted.
        request: Box<StepsRequest>,
    },
    /// Something for the workspace.
    Corpus(CorpusRequest),
    /// Work on files.
    Chore(FileJob),
    /// Follow these training logs, and no others.
    Follow(Vec<PathBuf>),
    /// Follow the texts of these folders, and no others.
    FollowTexts(Vec<PathBuf>),
}

/// What the corpus lane is to do.
#[derive(Clone, Debug, PartialEq)]
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
    Look {
        /// Where it is.
        path: PathBuf,
        /// On which page.
        on: Page,
    },
    /// Read a text file.
    Read(PathBuf),
    /// Read alignments by hand of a list and its translations.
    ReadGold {
        /// Where they are.
        path: PathBuf,
        /// The list.
        source: PathBuf,
        /// Its translations, line by line.
        target: PathBuf,
    },
    /// Find the training logs of a run, or of all runs in a folder.
    FindLogs(PathBuf),
    /// Write the configuration of a new training.
    SaveTraining {
        /// What it is to be.
        plan: Box<TrainingPlan>,
        /// Where to.
        path: PathBuf,
    },
    /// Align the words of a column.
    Align {
        /// Of the question.
        number: u64,
        /// What is asked.
        question: AlignQuestion,
    },
    /// Put the files of the first test set into a folder.
    PutFirstSet(PathBuf),
    /// Write what is exported.
    Write {
        /// Where to.
        path: PathBuf,
        /// What.
        text: String,
    },
    /// Write a picture that is drawn already.
    WriteFigure {
        /// Where to, and in which format.
        path: PathBuf,
        /// What.
        figure: Arc<Figure<'static>>,
    },
    /// Draw a picture and write it.
    Draw {
        /// Where to, and in which format.
        path: PathBuf,
        /// What.
        picture: Box<PictureRequest>,
    },
    /// Draw a picture for the clipboard.
    Paint(Box<PictureRequest>),
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
    /// BCP 47 tags of source and target.
    pub languages: (String, String),
    /// The source words.
    pub source: Placed,
    /// The words of the translation, `</s>` and `[UNK]` among them.
    pub target: Vec<String>,
}

/// What became of a [`FileJob`] or a save.
#[derive(Clone, Debug)]
pub enum FileEvent {
    /// What was opened or dropped.
    Opened {
        /// Where it is.
        path: PathBuf,
        /// What it is.
        what: Dropped,
        /// On which page.
        on: Page,
    },
    /// What was opened or dropped holds word links.
    Links {
        /// Where it is.
        path: PathBuf,
        /// On which page.
        on: Page,
    },
    /// Alignments by hand of a list were read.
    Gold {
        /// Where they are.
        path: PathBuf,
        /// The file of the list.
        list: PathBuf,
        /// The file of its translations.
        target: PathBuf,
        /// The links of each line.
        links: Arc<Vec<Links>>,
        /// How the file was read, in sentences.
        note: String,
    },
    /// Training logs were looked for.
    Logs {
        /// Where.
        path: PathBuf,
        /// What there is.
        found: Vec<PathBuf>,
    },
    /// A text file was read, or more of it than before.
    Read {
        /// Which.
        path: PathBuf,
        /// Its lines.
        lines: Arc<TextFile>,
    },
    /// A text file could not be read.
    ReadFailed {
        /// Which.
        path: PathBuf,
        /// A sentence for the user.
        message: String,
    },
    /// The configuration of a new training was to be written.
    TrainingSaved {
        /// Where to.
        path: PathBuf,
        /// Why it could not be, as a sentence for the user.
        trouble: Option<String>,
    },
    /// The files of the first test set are there.
    FirstSet(FirstSet),
    /// The words of a column were aligned.
    Aligned {
        /// Of the question.
        number: u64,
        /// The links between them.
        links: Links,
    },
    /// A picture for the clipboard was drawn.
    Painted(Arc<Pixels>),
    /// Something worth a line in the status bar.
    Notice {
        /// A sentence for the user.
        text: String,
        /// Something went wrong.
        is_error: bool,
    },
}
