//! Floor 9: every act of the user, as a value. Menus, keys and the mouse all make one of these. They are nested by
//! page; each handler matches all of its own, so that a new one does not compile until it is handled.

use std::path::PathBuf;
use std::sync::Arc;

use crate::analysis::reading::Reading;
use crate::app::files::drawing::Drawing;
use crate::app::page::Page;
use crate::app::settings::{Shown, Theme};
use crate::figure::Figure;
use crate::jobs::corpus::thread::CorpusRequest;
use crate::nn::device::DeviceChoice;
use crate::pages::corpus::command::WorkbenchCommand;
use crate::pages::corpus::whole::WholeCommand;
use crate::pages::evaluation::command::{EvaluationCommand, TestCommand};
use crate::pages::map::command::MapCommand;
use crate::pages::phrases::command::PhrasesCommand;
use crate::pages::sentence::command::{
    ColumnCommand, InterveneCommand, ListCommand, ProbeCommand, SearchCommand, SelectCommand, SentenceCommand,
    SourceCommand, VariantCommand,
};
use crate::pages::steps::command::StepsCommand;
use crate::session::lessons::command::LessonCommand;

/// Every act of the user.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Something on page Sentence.
    Sentence(SentenceCommand),
    /// Something on page Evaluation.
    Evaluation(EvaluationCommand),
    /// Something on page Map.
    Map(MapCommand),
    /// Something on page Phrases.
    Phrases(PhrasesCommand),
    /// Something on page Steps.
    Steps(StepsCommand),
    /// Something on page Corpus.
    Workbench(WorkbenchCommand),
    /// Something on the sheet New training.
    Training(TrainingCommand),
    /// Something with lessons.
    Lesson(LessonCommand),
    /// Something about the window.
    Window(WindowCommand),
    /// Something about the devices, the picture and its colours.
    Settings(SettingsCommand),
    /// Something about long work.
    Task(TaskCommand),
}

/// What concerns the window as a whole.
#[derive(Clone, Debug, PartialEq)]
pub enum WindowCommand {
    /// Opens what was chosen: a folder becomes a column, a text file a list.
    Open(PathBuf),
    /// A file or folder was dropped on the page that is shown.
    Drop(PathBuf),
    /// Keeps this picture of a plot or a map for [`WindowCommand::SaveFigure`].
    KeepFigure(Arc<Figure<'static>>),
    /// Writes the picture that was kept, in the format that the name ends with.
    SaveFigure(PathBuf),
    /// Shows a page.
    ShowPage(Page),
    /// Takes a notice away, by its id.
    DismissNotice(u64),
    /// Any number that the window wants to find again at the next start (panel sizes, cell size, open panels).
    SetLayout {
        /// A name of the window's choice.
        key: String,
        /// Its value.
        value: f32,
    },
}

/// What is set once for all columns.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsCommand {
    /// Where models compute.
    SetDevice(DeviceChoice),
    /// Show the source word of greatest alpha in place of `[UNK]`.
    SetUnkReplacement(bool),
    /// alpha or energies.
    SetShown(Shown),
    /// Which word a row of an alignment belongs to, in models where there is a choice.
    SetReading(Option<Reading>),
    /// Show the pieces of words, in models whose vocabulary has them.
    SetPieces(bool),
    /// Show the links of a statistical aligner, where one comes with the program.
    SetLinks(bool),
    /// Colour map, by name.
    SetPalette(String),
    /// Light, dark or as the system.
    SetTheme(Theme),
    /// How figures are drawn.
    SetDrawing(Drawing),
    /// Size of everything, from 0.5 to 3.
    SetZoom(f32),
}

/// What is done with long work, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskCommand {
    /// Holds it up, or lets it go on.
    Pause(u64, bool),
    /// Ends it.
    Cancel(u64),
}

/// What is done on the sheet New training.
#[derive(Clone, Debug, PartialEq)]
pub enum TrainingCommand {
    /// Changes a part of the plan.
    Set(Field, String),
    /// Writes the configuration to this file.
    Save(PathBuf),
}

/// A part of the plan of a training, written as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// A name of `MODELS`.
    Architecture,
    /// A name of `KINDS`.
    Attention,
    /// A name of `ATTENTIONS`.
    Score,
    /// A name of `RECIPES`.
    Recipe,
    /// A name of `SIZES`.
    Sizes,
    /// Of the model.
    Name,
    /// BCP 47.
    SourceLanguage,
    /// BCP 47.
    TargetLanguage,
    /// Source sentences of the training text.
    TrainSource,
    /// Their translations.
    TrainTarget,
    /// Source sentences of the development text.
    DevelopmentSource,
    /// Their translations.
    DevelopmentTarget,
    /// A model folder whose vocabularies are taken; empty: words are counted.
    Vocabulary,
    /// Folder of the finished model.
    Output,
}

/// A command of a group is a command.
macro_rules! wrap {
    ($($group:ty => $wrap:expr;)*) => {
        $(impl From<$group> for Command {
            fn from(command: $group) -> Self {
                $wrap(command)
            }
        })*
    };
}

wrap! {
    SentenceCommand => Command::Sentence;
    SourceCommand => |command| Command::Sentence(SentenceCommand::Source(command));
    ColumnCommand => |command| Command::Sentence(SentenceCommand::Column(command));
    ListCommand => |command| Command::Sentence(SentenceCommand::List(command));
    SelectCommand => |command| Command::Sentence(SentenceCommand::Select(command));
    SearchCommand => |command| Command::Sentence(SentenceCommand::Search(command));
    InterveneCommand => |command| Command::Sentence(SentenceCommand::Intervene(command));
    ProbeCommand => |command| Command::Sentence(SentenceCommand::Probe(command));
    VariantCommand => |command| Command::Sentence(SentenceCommand::Variant(command));
    EvaluationCommand => Command::Evaluation;
    TestCommand => |command| Command::Evaluation(EvaluationCommand::Test(command));
    MapCommand => Command::Map;
    PhrasesCommand => Command::Phrases;
    StepsCommand => Command::Steps;
    WorkbenchCommand => Command::Workbench;
    CorpusRequest => |request| Command::Workbench(WorkbenchCommand::Corpus(request));
    WholeCommand => |command| Command::Workbench(WorkbenchCommand::Whole(command));
    TrainingCommand => Command::Training;
    LessonCommand => Command::Lesson;
    WindowCommand => Command::Window;
    SettingsCommand => Command::Settings;
    TaskCommand => Command::Task;
}
