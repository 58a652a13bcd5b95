//! Floor 11: the page Sentence: the list, the source, the columns with their pictures, the inspector.

pub mod alignment;
pub mod beam;
pub mod change;
pub mod changes;
pub mod column;
pub mod columns;
pub mod context;
pub mod ensemble;
pub mod facts;
pub mod figure_sheet;
mod folding;
pub mod head_sheet;
pub mod heads;
mod inspector;
pub mod interlinear;
pub mod interventions;
pub mod links;
pub mod measured;
pub mod memory;
pub mod output;
pub mod picture_bar;
pub mod questions;
pub mod sentences;
pub mod source;
pub mod tree;
pub mod tree_memory;
pub mod variant;
pub mod what_if;

use crate::pages::sentence::SentencePage;
use crate::pages::sentence::command::SelectCommand;
use crate::pages::window::local::{AnyView, PageView, Window};

impl PageView for SentencePage {
    fn views(&self) -> &'static [&'static dyn AnyView] {
        &[
            &sentences::SentencesView,
            &inspector::Inspector,
            &source::SourceView,
            &picture_bar::PictureBar,
            &interventions::InterventionsView,
            &columns::ColumnsView,
            &figure_sheet::FigureSheet,
            &head_sheet::HeadSheet,
            &what_if::WhatIf,
        ]
    }

    fn escape(&self, window: &mut Window<'_>) {
        window.push(SelectCommand::Nothing);
    }

    fn presents(&self) -> bool {
        true
    }

    fn present_ui(&self, ui: &mut egui::Ui, window: &mut Window<'_>) {
        columns::presented_ui(ui, self, window);
    }
}
