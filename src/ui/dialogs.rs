//! Floor 10: everything that needs a path, and the system's file dialogs, which never block a frame.
//!
//! A dialog is a future; it is polled once a frame and wakes the window when it is done. Where the system has no
//! dialog it answers as if cancelled, so every [`Question`] can also be answered by a typed path on a sheet.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crate::app::files::export::AlignmentFormat;
use crate::corpus::export::out::Kind;
use crate::jobs::live::protocol::ColumnId;
use crate::jobs::queue::evaluate::Candidate;
use crate::pages::corpus::command::WorkbenchCommand;
use crate::pages::corpus::whole::WholeCommand;
use crate::pages::evaluation::FiguresFormat;
use crate::pages::evaluation::command::{EvaluationCommand, TestCommand};
use crate::pages::map as maps;
use crate::pages::map::command::MapCommand;
use crate::pages::phrases::command::PhrasesCommand;
use crate::pages::sentence::command::{ColumnCommand, ProbeCommand};
use crate::session::command::{Command, Field, TrainingCommand, WindowCommand};
use crate::session::lessons::LessonCommand;

/// What the answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// A model folder.
    Model,
    /// A text file.
    Text,
    /// The source sentences of a test set.
    TestSource,
    /// References of a test set.
    TestReference,
    /// Alignments by hand.
    Gold,
    /// A training log or the folder of a run.
    Log,
    /// A phrase table.
    PhraseTable,
    /// A workspace that is there.
    Workspace,
    /// A workspace that is to be made.
    NewWorkspace,
    /// A file for the workspace.
    Import,
    /// Where to write the rows of the workspace.
    WorkspaceOut(Kind),
    /// Interventions that models run with over the workspace.
    RunWith,
    /// A model folder that runs over the workspace; with true it aligns the references.
    RunModel(bool),
    /// A scheme of errors.
    Scheme,
    /// Where to write the scheme of errors.
    NewScheme,
    /// Where to write the hits of a query.
    Hits,
    /// How often words are.
    Frequencies,
    /// Where to write the scores of a phrase table.
    PhraseScores,
    /// Where to write figures.
    Figures(FiguresFormat),
    /// Where to write the shown alignment of a column.
    Alignment(ColumnId, AlignmentFormat),
    /// Where to write a sentence with what is set in a column.
    Interventions(ColumnId),
    /// Where to write a column's translation as a figure.
    Picture {
        /// Whose.
        column: ColumnId,
        /// The name of its kind.
        kind: &'static str,
        /// The name of its format.
        format: &'static str,
    },
    /// Where to write the picture that is kept.
    Figure,
    /// Where to write a lesson for the class.
    Handout,
    /// Where to write the neighbours of a point.
    Neighbours,
    /// Where to write the places of a map.
    Points,
    /// A path of a new training.
    Training(Field),
    /// Where to write the configuration of a new training.
    TrainingFile,
}

/// What kind of path a question wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// A folder that exists.
    Folder,
    /// A file that exists; the dialog offers those that end so first.
    File(&'static [&'static str]),
    /// A file to write, called so at first.
    NewFile(&'static str),
    /// A file to write, called at first by the kind and the format of a figure.
    NewFigure(&'static str, &'static str),
    /// A file to write, called at first after the picture that is kept.
    NewPicture,
}

const TEXTS: &[&str] = &["txt", "en", "fr", "de", "tsv", "json", "gz", "zst"];

const IMPORTS: &[&str] = &[
    "txt", "en", "fr", "de", "tsv", "csv", "tmx", "xlf", "xliff", "jsonl", "json", "npy", "gold", "links", "gz", "zst",
];

/// What a file of the rows of a workspace is called at first.
fn out_wants(kind: Kind) -> Wants {
    match kind {
        Kind::Tsv => Wants::NewFile("sentences.tsv"),
        Kind::Jsonl => Wants::NewFile("sentences.jsonl"),
        Kind::Pharaoh(..) => Wants::NewFile("alignment.txt"),
        Kind::Gold => Wants::NewFile("gold.txt"),
        Kind::Judgements => Wants::NewFile("judgements.jsonl"),
        Kind::JudgementTable => Wants::NewFile("judgements.tsv"),
        Kind::Report => Wants::NewFile("report.html"),
        Kind::Parquet => Wants::NewFile("sentences.parquet"),
        Kind::Arrays => Wants::NewFile("alignments.npz"),
        Kind::Figures(..) | Kind::Matrices => Wants::Folder,
    }
}

impl Question {
    /// The heading of its sheet and dialog.
    pub fn title(self) -> &'static str {
        match self {
            Self::Model => "Add a model",
            Self::Text => "Open a text file",
            Self::TestSource => "Source sentences of a test set",
            Self::TestReference => "References of a test set",
            Self::Gold => "Alignments by hand",
            Self::Log => "Open training logs",
            Self::PhraseTable => "Open a phrase table",
            Self::Workspace => "Open a workspace",
            Self::NewWorkspace => "New workspace",
            Self::Import => "Import into the workspace",
            Self::WorkspaceOut(Kind::Figures(..)) => "Save figures into a folder",
            Self::WorkspaceOut(Kind::Matrices) => "Save alignments into a folder",
            Self::WorkspaceOut(_) => "Save the sentences shown",
            Self::RunWith => "Run with interventions",
            Self::RunModel(false) => "Translate the workspace with a model",
            Self::RunModel(true) => "Align the references with a model",
            Self::Scheme => "Read a scheme of errors",
            Self::NewScheme => "Save the scheme of errors",
            Self::Hits => "Save the hits as TSV",
            Self::Frequencies => "Frequencies of words",
            Self::PhraseScores => "Export the scores as TSV",
            Self::Training(Field::Vocabulary) => "A model whose vocabularies are taken",
            Self::Training(Field::Output) => "Folder of the new model",
            Self::Training(_) => "Text for training",
            Self::TrainingFile => "Save the configuration",
            Self::Figures(FiguresFormat::Tsv) => "Save the figures as TSV",
            Self::Figures(FiguresFormat::Json) => "Save the figures as JSON",
            Self::Alignment(_, AlignmentFormat::Tsv) => "Save the alignment as TSV",
            Self::Alignment(_, AlignmentFormat::Json) => "Save the translations as JSON",
            Self::Alignment(_, AlignmentFormat::Pharaoh) => "Save the alignment as links",
            Self::Interventions(_) => "Save the sentence with what is set",
            Self::Picture { .. } | Self::Figure => "Save a picture",
            Self::Handout => "Print a lesson",
            Self::Neighbours => "Save the neighbours as TSV",
            Self::Points => "Save the map as TSV",
        }
    }

    /// What to know about it.
    pub fn note(self) -> &'static str {
        match self {
            Self::Model => {
                "A model is a folder with config.json, model.safetensors and two tokenizers. It can also be dropped on the window."
            }
            Self::Text => {
                "One sentence a line. Files can also be dropped on the window; a model folder opens as a model, a .json file as a sentence with what was set in it, and word links as the alignments by hand of the list that is shown."
            }
            Self::TestSource => "One sentence a line, packed with gzip or zstandard or not.",
            Self::TestReference => {
                "The translations of the source sentences, line by line. Several files are several references."
            }
            Self::Gold => {
                "For each line the links between words, sure and possible, in the Pharaoh or the NAACL 2003 format."
            }
            Self::Log => {
                "The log.jsonl of a run, the folder of a run, or a folder of several runs. A log is followed while it grows."
            }
            Self::PhraseTable => {
                "Lines as Moses writes them, source ||| target ||| features, packed with gzip or zstandard or not."
            }
            Self::Workspace | Self::NewWorkspace => {
                "One file that keeps sentences, outputs, alignments and judgements, by custom with the ending .ilws."
            }
            Self::Import => {
                "Text, TSV, TMX, XLIFF, JSON lines, alignments or dumps of attention, packed with gzip or zstandard or not. What it is is found out and told."
            }
            Self::WorkspaceOut(Kind::Matrices) => {
                "A table for each sentence that is shown and each system that has an alignment of it."
            }
            Self::WorkspaceOut(Kind::Arrays) => {
                "Arrays named by sentence and system: 12.1.alpha, 12.1.source and 12.1.target. numpy.load opens it."
            }
            Self::WorkspaceOut(Kind::Figures(..)) => "A file for each sentence that is shown and has an alignment.",
            Self::WorkspaceOut(_) => "All sentences that are shown, in their order.",
            Self::RunWith => {
                "A file as page Sentence saves it: one object for all sentences, or a line for each. Sentences that it does not fit are left out and told."
            }
            Self::RunModel(_) => {
                "A model is a folder with config.json, model.safetensors and two tokenizers. It runs without being opened on page Sentence."
            }
            Self::Scheme => {
                "A TOML or JSON file with categories, and severities with their weights; it takes the place of the scheme."
            }
            Self::NewScheme => {
                "TOML, or JSON where the name ends with .json; other workspaces and interlinear analyse --scheme read it."
            }
            Self::Hits => {
                "A row for each hit: what stands before it, the hit, what stands behind it, what it is linked to."
            }
            Self::Frequencies => {
                "Lines of a word and its count, or the training text itself, whose words are counted; packed or not."
            }
            Self::PhraseScores => {
                "Source, target and both scores of every pair, separated by tabs; packed where the name ends with .gz or .zst."
            }
            Self::Training(_) | Self::TrainingFile => "The sheet New training has a field for it.",
            Self::Figures(FiguresFormat::Tsv) => "A row for each model, set, kind of output and length.",
            Self::Figures(FiguresFormat::Json) => "All figures with how they were measured.",
            Self::Alignment(_, AlignmentFormat::Tsv) => {
                "alpha with the source words along the top and the target words down the side."
            }
            Self::Alignment(_, AlignmentFormat::Json) => {
                "All translations of the beam with their alignments, as interlinear translate writes them."
            }
            Self::Alignment(_, AlignmentFormat::Pharaoh) => {
                "A pair of places, source and target from 0, for each target word and the source word that it looks at most."
            }
            Self::Interventions(_) => {
                "One line of JSON. Open it here, drop it on the window, or give it to interlinear translate --interventions."
            }
            Self::Picture { .. } | Self::Figure => "SVG, PDF or PNG, as the name ends: .svg, .pdf or .png.",
            Self::Handout => {
                "HTML for the class, to be printed from a browser; the solutions go into a second file beside it."
            }
            Self::Neighbours => "A row for each neighbour with its cosine.",
            Self::Points => "A row for each point with its place, x and y.",
        }
    }

    /// On the button that answers.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Model => "Add",
            Self::Text | Self::Log | Self::PhraseTable | Self::Workspace | Self::Scheme => "Open",
            Self::NewWorkspace => "Make",
            Self::Import => "Import",
            Self::RunWith | Self::RunModel(_) => "Run",
            Self::WorkspaceOut(_) | Self::NewScheme | Self::Hits => "Save",
            Self::Frequencies => "Choose",
            Self::TestSource | Self::TestReference | Self::Gold | Self::Training(_) => "Choose",
            Self::Figures(_) | Self::PhraseScores | Self::Alignment(..) | Self::Picture { .. } => "Save",
            Self::Interventions(_) => "Save",
            Self::Figure | Self::Handout | Self::Neighbours | Self::Points | Self::TrainingFile => "Save",
        }
    }

    /// What kind of path it wants.
    pub fn wants(self) -> Wants {
        match self {
            Self::Model | Self::RunModel(_) | Self::Training(Field::Vocabulary | Field::Output) => Wants::Folder,
            Self::Training(_) => Wants::File(TEXTS),
            Self::TrainingFile => Wants::NewFile("train.toml"),
            Self::Text | Self::TestSource | Self::TestReference => Wants::File(TEXTS),
            Self::Gold => Wants::File(&["txt", "wa", "nonullalign", "align", "pharaoh", "naacl"]),
            Self::Log => Wants::File(&["jsonl"]),
            Self::PhraseTable => Wants::File(&["gz", "zst", "txt"]),
            Self::Workspace => Wants::File(&["ilws"]),
            Self::NewWorkspace => Wants::NewFile("corpus.ilws"),
            Self::Import => Wants::File(IMPORTS),
            Self::WorkspaceOut(kind) => out_wants(kind),
            Self::RunWith => Wants::File(&["json", "jsonl"]),
            Self::Scheme => Wants::File(&["toml", "json"]),
            Self::NewScheme => Wants::NewFile("scheme.toml"),
            Self::Hits => Wants::NewFile("hits.tsv"),
            Self::Frequencies => Wants::File(TEXTS),
            Self::PhraseScores => Wants::NewFile("phrases.tsv"),
            Self::Figures(FiguresFormat::Tsv) => Wants::NewFile("evaluation.tsv"),
            Self::Figures(FiguresFormat::Json) => Wants::NewFile("evaluation.json"),
            Self::Alignment(_, AlignmentFormat::Tsv) => Wants::NewFile("alignment.tsv"),
            Self::Alignment(_, AlignmentFormat::Json) => Wants::NewFile("alignment.json"),
            Self::Alignment(_, AlignmentFormat::Pharaoh) => Wants::NewFile("alignment.txt"),
            Self::Interventions(_) => Wants::NewFile("interventions.json"),
            Self::Picture { kind, format, .. } => Wants::NewFigure(kind, format),
            Self::Figure => Wants::NewPicture,
            Self::Handout => Wants::NewFile("lesson.html"),
            Self::Neighbours => Wants::NewFile("neighbours.tsv"),
            Self::Points => Wants::NewFile("map.tsv"),
        }
    }

    /// What the answer does.
    pub fn answered(self, path: PathBuf) -> Command {
        match self {
            Self::Model => ColumnCommand::Add(path).into(),
            Self::Text => WindowCommand::Open(path).into(),
            Self::Handout => LessonCommand::Print(path).into(),
            Self::TestSource => TestCommand::SetSource(Some(path)).into(),
            Self::TestReference => TestCommand::AddReference(path).into(),
            Self::Gold => TestCommand::SetGold(Some(path)).into(),
            Self::Log => EvaluationCommand::OpenLogs(path).into(),
            Self::PhraseTable => PhrasesCommand::Open(path).into(),
            Self::Workspace | Self::NewWorkspace => WorkbenchCommand::Open(path).into(),
            Self::Import => WorkbenchCommand::Import(path).into(),
            Self::WorkspaceOut(kind) => WorkbenchCommand::Save(kind, path).into(),
            Self::RunWith => WorkbenchCommand::RunWith(path).into(),
            Self::RunModel(forces) => WorkbenchCommand::RunOne(Candidate::Model(path), forces).into(),
            Self::Scheme => WorkbenchCommand::OpenScheme(path).into(),
            Self::NewScheme => WorkbenchCommand::SaveScheme(path).into(),
            Self::Hits => WholeCommand::SaveHits(path).into(),
            Self::Frequencies => WholeCommand::SetFrequencies(Some(path)).into(),
            Self::PhraseScores => PhrasesCommand::Export(path).into(),
            Self::Figures(format) => EvaluationCommand::Export { format, path }.into(),
            Self::Alignment(column, format) => ColumnCommand::Export { column, format, path }.into(),
            Self::Interventions(column) => ProbeCommand::Save { column, path }.into(),
            Self::Figure => WindowCommand::SaveFigure(path).into(),
            Self::Picture { column, kind, .. } => ColumnCommand::Draw { column, kind, path }.into(),
            Self::Neighbours => MapCommand::Save(maps::Table::Neighbours, path).into(),
            Self::Points => MapCommand::Save(maps::Table::Points, path).into(),
            Self::Training(field) => TrainingCommand::Set(field, path.to_string_lossy().into_owned()).into(),
            Self::TrainingFile => TrainingCommand::Save(path).into(),
        }
    }
}

type Answer = Pin<Box<dyn Future<Output = Option<rfd::FileHandle>>>>;

/// At most one dialog at a time.
#[derive(Default)]
pub struct Dialogs {
    open: Option<(Question, Answer)>,
    /// Where the last answer lay.
    folder: Option<PathBuf>,
    /// What a file of the picture that is kept is called at first.
    pub picture: String,
}

impl Dialogs {
    /// Opens the dialog, unless one is open already.
    pub fn ask(&mut self, question: Question) {
        if self.open.is_some() {
            return;
        }
        let mut dialog = rfd::AsyncFileDialog::new().set_title(question.title());
        if let Some(folder) = self.start(question.wants()) {
            dialog = dialog.set_directory(folder);
        }
        let answer: Answer = match question.wants() {
            Wants::Folder => Box::pin(dialog.pick_folder()),
            Wants::File(extensions) => {
                Box::pin(dialog.add_filter("Usual files", extensions).add_filter("All files", &["*"]).pick_file())
            }
            Wants::NewFile(name) => Box::pin(dialog.set_file_name(name).save_file()),
            Wants::NewFigure(kind, format) => Box::pin(dialog.set_file_name(format!("{kind}.{format}")).save_file()),
            Wants::NewPicture => Box::pin(dialog.set_file_name(&self.picture).save_file()),
        };
        self.open = Some((question, answer));
    }

    /// Where a dialog opens: where the last one ended; a new file lies among the user's documents at first.
    fn start(&self, wants: Wants) -> Option<PathBuf> {
        let documents = || {
            let user = directories::UserDirs::new()?;
            Some(user.document_dir().unwrap_or_else(|| user.home_dir()).to_path_buf())
        };
        self.folder.clone().or_else(|| {
            if matches!(wants, Wants::NewFile(_) | Wants::NewFigure(..) | Wants::NewPicture) {
                documents()
            } else {
                None
            }
        })
    }

    /// Whether a dialog is open.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The chosen path, once there is one.
    pub fn poll(&mut self, ctx: &egui::Context) -> Option<(Question, PathBuf)> {
        let (question, answer) = self.open.as_mut()?;
        let waker = Waker::from(Arc::new(Repaint(ctx.clone())));
        let Poll::Ready(chosen) = answer.as_mut().poll(&mut Context::from_waker(&waker)) else {
            return None;
        };
        let question = *question;
        self.open = None;
        if let Some(folder) = chosen.as_ref().and_then(|handle| handle.path().parent()) {
            self.folder = Some(folder.to_path_buf());
        }
        chosen.map(|handle| (question, handle.path().to_path_buf()))
    }
}

struct Repaint(egui::Context);

impl Wake for Repaint {
    fn wake(self: Arc<Self>) {
        self.0.request_repaint();
    }
}
