//! What the user does on the sheet New training. A leaf.

use std::path::PathBuf;

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
    /// A name of `TRAINED`.
    Architecture,
    /// A name of `KINDS`.
    Attention,
    /// A name of `ATTENTIONS`.
    Score,
    /// A name of `RECIPES`.
    Recipe,
    /// A name of `SIZES`.
    Sizes,
    Name,
    SourceLanguage,
    TargetLanguage,
    /// Source sentences of the training text.
    TrainSource,
    TrainTarget,
    /// Source sentences of the development text.
    DevelopmentSource,
    DevelopmentTarget,
    /// A model folder whose vocabularies are taken; empty: words are counted.
    Vocabulary,
    /// Folder of the finished model.
    Output,
}
