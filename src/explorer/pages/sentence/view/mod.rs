//! The page Sentence: the list, the source, the columns with their pictures, the inspector.

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
pub mod variant;
pub mod what_if;
mod words_sheet;

use crate::pages::shell::local::{PageView, Window};
use crate::pages::{sentence::SentencePage, sentence::command::SelectCommand};

impl PageView for SentencePage {
    fn edges_ui(&self, ui: &mut egui::Ui, window: &mut Window<'_>) {
        sentences::sentences_ui(ui, window);
        inspector::inspector_ui(ui, window);
    }

    fn middle_ui(&self, ui: &mut egui::Ui, window: &mut Window<'_>) {
        source::source_ui(ui, window);
        picture_bar::picture_bar_ui(ui, window);
        interventions::interventions_ui(ui, self, window);
        columns::columns_ui(ui, self, window);
    }

    fn over_ui(&self, ui: &mut egui::Ui, window: &mut Window<'_>) {
        figure_sheet::figure_ui(ui, window);
        head_sheet::head_ui(ui, self, window);
        what_if::what_if_ui(ui, self, window);
        words_sheet::words_ui(ui, window);
    }

    fn escape(&self, window: &mut Window<'_>) {
        window.push(SelectCommand::Nothing);
    }

    fn presents(&self) -> bool {
        true
    }

    fn present_ui(&self, ui: &mut egui::Ui, window: &mut Window<'_>) {
        let (above, below) = inspector::with_strip(ui.available_rect_before_wrap());
        let builder = egui::UiBuilder::new().id_salt("presented columns").max_rect(above);
        columns::presented_ui(&mut ui.new_child(builder), self, window);
        let builder = egui::UiBuilder::new().id_salt("candidates of a class").max_rect(below);
        inspector::strip_ui(&mut ui.new_child(builder), window);
    }
}
