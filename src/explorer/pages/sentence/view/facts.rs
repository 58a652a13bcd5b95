//! What a model is, for the tooltip of its chip and the status line.

use egui::{RichText, Ui};

use crate::app::{document::column::Column, files::picture::GUIDED};
use crate::jobs::live::protocol::ModelFacts;
use crate::widgets::{labels::count_text, theme};
use engine::lang;

pub fn line(facts: &ModelFacts) -> String {
    tr!("{}, {} parameters, {}", facts.name, count_text(facts.sizes.parameters), facts.device.name)
}

pub fn facts_ui(ui: &mut Ui, column: &Column) {
    let t = theme::tokens(ui);
    ui.label(RichText::new(column.name()).size(theme::TEXT_TITLE));
    let Some(facts) = &column.facts else {
        ui.label(RichText::new(column.system.to_string()).color(t.weak));
        return;
    };
    if !facts.citation.is_empty() {
        ui.label(RichText::new(&facts.citation).color(t.weak));
    }
    egui::Grid::new("facts").num_columns(2).show(ui, |ui| {
        let mut row = |name: &str, value: String| {
            ui.label(RichText::new(name).color(t.weak));
            ui.label(value);
            ui.end_row();
        };
        row(tr!("Architecture"), facts.architecture.clone());
        row(tr!("Languages"), tr!("{} to {}", facts.source_language, facts.target_language));
        row(tr!("Parameters"), count_text(facts.sizes.parameters));
        if facts.members.is_empty() {
            row(tr!("Hidden units n"), facts.sizes.hidden.to_string());
        }
        row(
            tr!("Vocabularies"),
            tr!(
                "{} and {} words",
                count_text(facts.sizes.source_vocabulary),
                count_text(facts.sizes.target_vocabulary)
            ),
        );
        row(tr!("Alignment"), facts.attention.clone().unwrap_or_else(|| tr!("none").to_owned()));
        if let Some(d) = facts.window {
            row(tr!("Window"), tr!("{d} words on both sides of p_t", d));
        }
        if let Some(reading) = &facts.guided {
            row(tr!("Guided"), tr!("rows by {reading}: {how}", reading, how = lang::text(GUIDED)));
        }
        row(tr!("Computes on"), facts.device.name.clone());
        for member in &facts.members {
            row(tr!("Member"), member.name.clone());
        }
        if facts.members.is_empty() {
            row(tr!("Weights"), facts.digest.chars().take(12).collect());
            row(tr!("Folder"), column.system.to_string());
        }
    });
}
