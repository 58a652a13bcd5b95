//! What the user does on the sheet New training. A leaf.

use std::path::PathBuf;

/// Actions on the sheet New training.
#[derive(Clone, Debug, PartialEq)]
pub enum TrainingCommand {
    Set(Field, String),
    Save(PathBuf),
}

/// A field of a training plan, edited as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    Architecture,
    Attention,
    Score,
    Recipe,
    Sizes,
    Name,
    SourceLanguage,
    TargetLanguage,
    TrainSource,
    TrainTarget,
    DevelopmentSource,
    DevelopmentTarget,
    /// A model folder whose vocabularies are reused; empty: words are counted.
    Vocabulary,
    Output,
}
