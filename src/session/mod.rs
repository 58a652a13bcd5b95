//! Floor 9: the application without a window. Imports the worker and below; no egui, no candle, no thread.
//!
//! [`Session`] is the state, a [`Command`] what the user does, an [`Effect`] what that causes outside, and the
//! [`Driver`] carries effects out. The scene and its columns are shared by the pages; each page is a module of one
//! shape ([`pages::shape`]) with a line in the table [`PAGES`].
//!
//! Inside this room a file names others by their own path, never by this page, and none of them in a circle.

mod absorb;
mod claim;
pub mod column;
pub mod command;
mod common;
pub mod compare;
pub mod differences;
pub mod drawing;
pub mod driver;
pub mod effect;
pub mod export;
pub mod figures;
pub mod files;
pub mod gold;
pub mod hand;
pub mod history;
pub mod lessons;
pub mod lists;
pub mod measure;
pub mod new_training;
mod open_with;
pub mod page;
pub mod pages;
pub mod persist;
pub mod picture;
pub mod probes;
pub mod rewording;
mod rows;
pub mod saved_figure;
pub mod saved_interventions;
pub mod saved_variant;
pub mod scene;
pub mod settings;
mod share;
pub mod shared;
pub mod state;
pub mod table;
pub mod tree;
pub mod variant;

pub use crate::analysis::measures::MEASURES;
pub use crate::analysis::reading::{READINGS, Reading};
pub use crate::decoding::Said;
pub use crate::decoding::ensemble::{AVERAGES, AlignmentOf, Average, Mixing};
pub use crate::nn::device::DeviceChoice;
pub use crate::session::column::{Column, ColumnState};
pub use crate::session::command::{Command, Field, SettingsCommand, TaskCommand, TrainingCommand, WindowCommand};
pub use crate::session::drawing::Drawing;
pub use crate::session::driver::{Driver, OpenWith};
pub use crate::session::effect::{Effect, LaneCall, Question};
pub use crate::session::lessons::LessonCommand;
pub use crate::session::lists::{Example, ExampleGroup, ListSearch, Lists, MAX_TRANSLATED, OpenFile};
pub use crate::session::page::{Dropped, PAGES, Page};
pub use crate::session::pages::evaluation::command::{EvaluationCommand, TestCommand};
pub use crate::session::pages::maps::command::MapCommand;
pub use crate::session::pages::phrases::command::PhrasesCommand;
pub use crate::session::pages::sentence::command::{
    AlignmentFormat, ColumnCommand, Hover, InterveneCommand, List, ListCommand, ProbeCommand, RowEdit, SearchCommand,
    SelectCommand, SentenceCommand, SourceCommand, Taken, VariantCommand,
};
pub use crate::session::pages::steps::command::StepsCommand;
pub use crate::session::pages::workbench::command::WorkbenchCommand;
pub use crate::session::pages::workbench::whole::WholeCommand;
pub use crate::session::pages::{evaluation, maps, phrases, steps, workbench};
pub use crate::session::rewording::WordEdit;
pub use crate::session::scene::{CANDIDATES, Owned, Scene, SearchChange, SearchSettings, Variant};
pub use crate::session::settings::{DARK_PALETTE, LIGHT_PALETTE, Settings, Shown, Theme};
pub use crate::session::shared::{Neighbours, Notice, Selection, Shared, Task};
pub use crate::session::state::Session;
pub use crate::session::table::{AlignmentTable, GIVEN, LEFT_OUT, Matrix, SourceWord, TargetWord, Units};
pub use crate::session::tree::SearchTree;
pub use crate::session::variant::Told;
pub use crate::worker::corpus::CorpusEvent;
pub use crate::worker::interventions::{Ban, Interventions, Pin, Start, Touched, Word};
pub use crate::worker::protocol::{
    ColumnId, ColumnResult, EnsembleSpec, Event, HypothesisView, ModelFacts, Request, Shift, Untouched,
};
