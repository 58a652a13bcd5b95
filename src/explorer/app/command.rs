//! Acts of the user that concern no page: the source text, the window, what is set once for all columns, long work. A leaf.

use std::path::PathBuf;
use std::sync::Arc;

use crate::app::files::drawing::Drawing;
use crate::app::layout::Layout;
use crate::app::page::Page;
use crate::app::settings::{RowSource, Shown, Theme};
use engine::aligner::bundled::AlignerFile;
use engine::analysis::row_convention::RowConvention;
use engine::lang::Language;
use engine::models::choice::ModelSpec;
use engine::nn::device::DeviceChoice;
use figure::Figure;

/// What is done with the source text.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceCommand {
    /// The text changed by typing.
    Edit(String),
    /// The text is replaced as a whole (paste over all, an example); one step of undo.
    Replace(String),
    /// Takes back the last edit.
    Undo,
    /// Takes back all that was done to the sentence: to the one before it.
    UndoSentence,
    Redo,
    /// The translation that the user gives changed by typing; `None` takes its field away.
    Give(Option<String>),
    /// Stops the work under way; the table stays.
    Stop,
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
    /// Shows what a link shows.
    OpenLink(String),
    /// The link was copied.
    LinkCopied,
    ShowPage(Page),
    /// Takes a notice away, by its id.
    DismissNotice(u64),
    /// The window is laid out otherwise.
    SetLayout(Box<Layout>),
}

/// What is set once for all columns.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsCommand {
    SetDevice(DeviceChoice),
    /// Show the source word of greatest alpha in place of `[UNK]`.
    SetUnkReplacement(bool),
    SetShown(Shown),
    /// Which word a row of an alignment belongs to, in models where there is a choice.
    SetReading(Option<RowConvention>),
    /// Where models looked, or where words come from, in models with an alignment head.
    SetAsked(RowSource),
    /// Show the pieces of words, in models whose vocabulary has them.
    SetPieces(bool),
    /// Show the links of a statistical aligner, where one comes with the program.
    SetLinks(bool),
    /// Take an aligner file in the place of what comes with the program.
    OpenAligner {
        path: PathBuf,
        /// For the model in this folder alone; `None`: for its languages.
        model: Option<ModelSpec>,
    },
    /// Let this aligner file go: its languages, or its model, have what comes with the program again.
    RemoveAligner(AlignerFile),
    /// Colour map, by name.
    SetPalette(String),
    /// Light, dark or as the system.
    SetTheme(Theme),
    /// The language of the window; `None`: as the system.
    SetLanguage(Option<Language>),
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
    Cancel(u64),
}
