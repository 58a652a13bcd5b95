//! Floor 11: every act of the user, as a value. Menus, keys and the mouse all make one of these. They are nested by
//! page; each handler matches all of its own, so that a new one does not compile until it is handled.

use crate::app::command::{SettingsCommand, TaskCommand, WindowCommand};
use crate::jobs::corpus::thread::CorpusRequest;
use crate::pages::corpus::command::CorpusCommand;
use crate::pages::corpus::whole::ExploreCommand;
use crate::pages::evaluation::command::{EvaluationCommand, TestCommand};
use crate::pages::lesson::LessonCommand;
use crate::pages::map::command::MapCommand;
use crate::pages::phrases::command::PhrasesCommand;
use crate::pages::sentence::command::{
    ColumnCommand, InterveneCommand, ListCommand, ProbeCommand, SearchCommand, SelectCommand, SentenceCommand,
    SourceCommand, VariantCommand,
};
use crate::pages::steps::command::StepsCommand;
use crate::pages::training::command::TrainingCommand;

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
    Workbench(CorpusCommand),
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
    CorpusCommand => Command::Workbench;
    CorpusRequest => |request| Command::Workbench(CorpusCommand::Corpus(request));
    ExploreCommand => |command| Command::Workbench(CorpusCommand::Whole(command));
    TrainingCommand => Command::Training;
    LessonCommand => Command::Lesson;
    WindowCommand => Command::Window;
    SettingsCommand => Command::Settings;
    TaskCommand => Command::Task;
}
