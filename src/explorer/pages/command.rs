//! Every action of the user as a value, from menus, keys and the mouse. Pages have their own commands.

use crate::app::command::{SettingsCommand, SourceCommand, TaskCommand, WindowCommand};
#[cfg(not(target_family = "wasm"))]
use crate::jobs::corpus::thread::CorpusRequest;
#[cfg(not(target_family = "wasm"))]
use crate::pages::corpus::command::{ContrastCommand, CorpusCommand, LogCommand};
#[cfg(not(target_family = "wasm"))]
use crate::pages::corpus::documents::DocumentCommand;
#[cfg(not(target_family = "wasm"))]
use crate::pages::corpus::views::ExploreCommand;
use crate::pages::sentence::command::{
    ColumnCommand, HeadCommand, InterlinearCommand, InterveneCommand, ListCommand, ProbeCommand, SearchCommand,
    SelectCommand, SentenceCommand, VariantCommand,
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
    ($($(#[$only:meta])? $command:ident => $page:ident $(($whole:ident::$group:ident))?;)*) => {
        $($(#[$only])?
        impl From<$command> for Command {
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
    #[cfg(not(target_family = "wasm"))]
    CorpusCommand => Corpus;
    #[cfg(not(target_family = "wasm"))]
    CorpusRequest => Corpus(CorpusCommand::Corpus);
    #[cfg(not(target_family = "wasm"))]
    ExploreCommand => Corpus(CorpusCommand::Explore);
    #[cfg(not(target_family = "wasm"))]
    DocumentCommand => Corpus(CorpusCommand::Documents);
    #[cfg(not(target_family = "wasm"))]
    ContrastCommand => Corpus(CorpusCommand::Contrast);
    #[cfg(not(target_family = "wasm"))]
    LogCommand => Corpus(CorpusCommand::Log);
    TrainingCommand => Training;
    LessonCommand => Lesson;
    WindowCommand => Window;
    SettingsCommand => Settings;
    TaskCommand => Task;
}
