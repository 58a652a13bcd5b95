//! Acts of the user that concern no page: the source text, the window, what is set once for all columns, long work. A leaf.

use std::{path::PathBuf, sync::Arc};

use crate::app::settings::{RowSource, Shown, Theme};
use crate::app::{files::drawing::Drawing, layout::Layout, page::Page};
use engine::{
    aligner::bundled::AlignerFile, analysis::row_convention::RowConvention, lang::Language, models::choice::ModelSpec,
    models::transformer::heads::HeadKind, nn::device::DeviceChoice,
};
use figure::Figure;

/// A change of the source text.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceCommand {
    Edit(String),
    /// Replaces the whole text (paste over all, an example): one step of undo.
    Replace(String),
    Undo,
    /// Goes back to the sentence before this one.
    UndoSentence,
    Redo,
    /// Typing changed the translation that the user gives; `None` removes its field.
    Give(Option<String>),
    /// Stops the current work; the table stays.
    Stop,
}

/// A command for the window.
#[derive(Clone, Debug, PartialEq)]
pub enum WindowCommand {
    /// Opens what was chosen: a folder becomes a column, a text file a list.
    Open(PathBuf),
    Drop(PathBuf),
    KeepFigure(Arc<Figure<'static>>),
    /// Writes the picture that was kept, in the format that the name ends with.
    SaveFigure(PathBuf),
    OpenLink(String),
    LinkCopied,
    ShowPage(Page),
    DismissNotice(u64),
    SetLayout(Box<Layout>),
}

/// A setting of all columns.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsCommand {
    SetDevice(DeviceChoice),
    SetUnkReplacement(bool),
    SetShown(Shown),
    /// Which heads are shown where all are.
    SetHeads(HeadKind),
    /// Which word a row of an alignment belongs to, in models with a choice.
    SetReading(Option<RowConvention>),
    /// Whether rows show where models looked or where words come from, in models with an alignment head.
    SetAsked(RowSource),
    SetPieces(bool),
    SetLinks(bool),
    OpenAligner {
        path: PathBuf,
        /// For the model in this folder alone; `None`: for its languages.
        model: Option<ModelSpec>,
    },
    RemoveAligner(AlignerFile),
    SetPalette(String),
    SetTheme(Theme),
    SetLanguage(Option<Language>),
    SetDrawing(Drawing),
    /// Size of everything, from 0.5 to 3.
    SetZoom(f32),
}

/// A command for long work, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskCommand {
    /// Pauses (true) or resumes.
    Pause(u64, bool),
    Cancel(u64),
}
