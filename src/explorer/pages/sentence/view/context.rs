//! The picture of a model without alignment: one context vector, or only the decoder's first state.

use std::sync::Arc;

use egui::{RichText, Ui};

use crate::app::document::{column::Column, table::AlignmentTable};
use crate::widgets::{labels, strip, theme};
use engine::models::config::Architecture;

const STRIP_HEIGHT: f32 = 220.0;

pub fn without_alignment(column: &Column) -> &'static str {
    if starts_only(column) {
        tr!("This model has no alignment. Its decoder starts from the last states of the encoder.")
    } else {
        tr!("This model has no alignment. Every word reads the same context vector c.")
    }
}

/// Says in the picture itself what it is, if it is that of a probe.
pub fn probe_ui(ui: &mut Ui, column: &Column) {
    if column.is_probe() {
        labels::warm_line(ui, tr!("A probe, trained afterwards; this model has no attention"));
    }
}

/// A model of Luong et al. without attention has not even a context vector.
fn starts_only(column: &Column) -> bool {
    column.facts.as_ref().is_some_and(|facts| facts.architecture == Architecture::LUONG.name())
}

/// `replaces`: source words are shown behind `[UNK]`.
pub fn context_ui(ui: &mut Ui, column: &Column, replaces: bool) {
    if starts_only(column) {
        ui.add(egui::Label::new(without_alignment(column)).wrap());
        let note = tr!("After that it reads nothing of the source (Luong et al. 2015, section 2).");
        labels::note(ui, note);
        return;
    }
    egui::ScrollArea::vertical().id_salt("context").auto_shrink(false).show(ui, |ui| {
        let is_replaced = |table: &Arc<AlignmentTable>| table.target.iter().any(|word| word.replaced.is_some());
        if replaces && column.table.as_ref().is_some_and(|table| !table.is_given && is_replaced(table)) {
            let note = tr!("A probe, trained afterwards, found the word in brackets. The model does not look at words.");
            ui.add(egui::Label::new(RichText::new(note).color(theme::tokens(ui).warm)).wrap());
        }
        ui.label(tr!("One vector for the whole sentence"));
        ui.add_space(theme::SPACE_1);
        if let Some(c) = column.result.context.as_deref().filter(|c| !c.is_empty()) {
            strip::named(ui, tr!("Context vector"), "c", c, STRIP_HEIGHT.min(ui.available_height() * 0.6));
            ui.add_space(theme::SPACE_1);
        }
        ui.add(egui::Label::new(tr!("Every word reads the same c; this model has no alignment")).wrap());
        let longest = column.result.context.iter().flatten().fold(0.0_f32, |most, value| most.max(value.abs()));
        let note = tr!("c is made once from the last state of the encoder and goes into every step of the decoder (Cho et al. 2014, section 2.2). \
                    Bars up are positive, bars down negative");
        let note = tr!("{note}, the longest {longest}.", note, longest = format_args!("{longest:.2}"));
        labels::note(ui, note);
    });
}
