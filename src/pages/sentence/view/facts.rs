//! Floor 11: what a model is, for the tooltip of its chip and the status line.

use egui::{RichText, Ui};

use crate::app::document::column::Column;
use crate::app::files::picture::GUIDED;
use crate::jobs::live::protocol::ModelFacts;
use crate::widgets::labels::count_text;
use crate::widgets::theme;

/// One line for the status bar.
pub fn line(facts: &ModelFacts) -> String {
    format!("{}, {} parameters, {}", facts.name, count_text(facts.sizes.parameters), facts.device.name)
}

/// Everything there is to say about a model.
pub fn facts_ui(ui: &mut Ui, column: &Column) {
    let t = theme::tokens(ui);
    ui.label(RichText::new(column.name()).size(theme::TEXT_TITLE));
    let Some(facts) = &column.facts else {
        ui.label(RichText::new(column.folder.display().to_string()).color(t.weak));
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
        row("Architecture", facts.architecture.clone());
        row("Languages", format!("{} to {}", facts.source_language, facts.target_language));
        row("Parameters", count_text(facts.sizes.parameters));
        if facts.members.is_empty() {
            row("Hidden units n", facts.sizes.hidden.to_string());
        }
        row(
            "Vocabularies",
            format!(
                "{} and {} words",
                count_text(facts.sizes.source_vocabulary),
                count_text(facts.sizes.target_vocabulary)
            ),
        );
        row("Alignment", facts.attention.clone().unwrap_or_else(|| "none".to_owned()));
        if let Some(d) = facts.window {
            row("Window", format!("{d} words on both sides of p_t"));
        }
        if let Some(reading) = &facts.guided {
            row("Guided", format!("rows by {reading}: {GUIDED}"));
        }
        row("Computes on", facts.device.name.clone());
        for member in &facts.members {
            row("Member", member.name.clone());
        }
        if facts.members.is_empty() {
            row("Weights", facts.digest.chars().take(12).collect());
            row("Folder", column.folder.display().to_string());
        }
    });
}
