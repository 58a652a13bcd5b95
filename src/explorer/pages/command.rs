//! Every action of the user as a value, from menus, keys and the mouse. Pages have their own commands.

use crate::app::command::{SettingsCommand, SourceCommand, TaskCommand, WindowCommand};
#[cfg(not(target_family = "wasm"))]
use crate::jobs::corpus::thread::CorpusRequest;
use crate::pages::sentence::command::{
    ColumnCommand, HeadCommand, InterlinearCommand, InterveneCommand, ListCommand, ProbeCommand, SearchCommand,
    SelectCommand, SentenceCommand, VariantCommand,
};
#[cfg(not(target_family = "wasm"))]
use crate::pages::{
    corpus::command::ContrastCommand, corpus::command::CorpusCommand, corpus::command::LogCommand,
    corpus::documents::DocumentCommand, corpus::views::ExploreCommand,
};
use crate::pages::{
    lesson::LessonCommand, map::command::MapCommand, steps::command::StepsCommand, training::command::TrainingCommand,
};

/// Every action of the user.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Source(SourceCommand),
    Sentence(SentenceCommand),
    Map(MapCommand),
    Steps(StepsCommand),
    #[cfg(not(target_family = "wasm"))]
    Corpus(CorpusCommand),
    Training(TrainingCommand),
    Lesson(LessonCommand),
    Window(WindowCommand),
    Settings(SettingsCommand),
    Task(TaskCommand),
}

/// Implements `From` for a command of a page or of a group.
macro_rules! wrap {
    ($($command:ident => $page:ident $(($whole:ident::$group:ident))?;)*) => {
        $(impl From<$command> for Command {
            fn from(command: $command) -> Self {
                Self::$page(wrap!(@ command $($whole::$group)?))
            }
        })*
    };
    (@ $command:ident) => { $command };
    (@ $command:ident $whole:ident::$group:ident) => { $whole::$group($command) };
}

wrap! {
    SourceCommand => Source;
    SentenceCommand => Sentence;
    ColumnCommand => Sentence(SentenceCommand::Column);
    ListCommand => Sentence(SentenceCommand::List);
    SelectCommand => Sentence(SentenceCommand::Select);
    SearchCommand => Sentence(SentenceCommand::Search);
    InterveneCommand => Sentence(SentenceCommand::Intervene);
    ProbeCommand => Sentence(SentenceCommand::Probe);
    VariantCommand => Sentence(SentenceCommand::Variant);
    HeadCommand => Sentence(SentenceCommand::Head);
    InterlinearCommand => Sentence(SentenceCommand::Interlinear);
    MapCommand => Map;
    StepsCommand => Steps;
    TrainingCommand => Training;
    LessonCommand => Lesson;
    WindowCommand => Window;
    SettingsCommand => Settings;
    TaskCommand => Task;
}

#[cfg(not(target_family = "wasm"))]
wrap! {
    CorpusCommand => Corpus;
    CorpusRequest => Corpus(CorpusCommand::Corpus);
    ExploreCommand => Corpus(CorpusCommand::Explore);
    DocumentCommand => Corpus(CorpusCommand::Documents);
    ContrastCommand => Corpus(CorpusCommand::Contrast);
    LogCommand => Corpus(CorpusCommand::Log);
}
