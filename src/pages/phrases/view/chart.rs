//! Floor 11: the scatter of both scores of a phrase table (Cho et al. 2014, figure 3), with its search.

use egui::{RichText, Ui};

use crate::app::document::column::Column;
use crate::pages::phrases::command::PhrasesCommand;
use crate::pages::phrases::view::memory::PhrasesMemory;
use crate::pages::phrases::view::scatter;
use crate::pages::phrases::view::scatter::ScatterWidget;
use crate::pages::phrases::{Pairs, PhrasesPage};
use crate::pages::window::local::Window;
use crate::widgets::theme;

/// The scatter, what is looked for in it, and what it says in all.
pub fn chart_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>) {
    let app = window.app;
    let (Some(pairs), Some(model)) = (&phrases.pairs, phrases.model_of(app)) else {
        ui.label(
            RichText::new(tr!("There is no model to score the table. Add one with + Model above."))
                .color(theme::tokens(ui).warm),
        );
        return;
    };
    let name = app.document.models().find(|column| column.folder == model).map_or_else(String::new, Column::name);
    let Some(chart) = &phrases.chart else {
        waiting_ui(ui, phrases, window, &name);
        return;
    };
    search_ui(ui, phrases, window);
    let rings = phrases.source.map_or(&[][..], |source| pairs.of_source(source));
    let score = |pair: usize| label(phrases, pairs, pair, phrases.log_p(model, pair));
    let table = if chart.holds_logarithms { tr!("log score of the table") } else { tr!("log p of the table") };
    let scatter = ScatterWidget {
        name: tr!(
            "Scatter of {n} phrase pair, {table} and log p of {name}"
                | "Scatter of {n} phrase pairs, {table} and log p of {name}" % chart.points.len(),
            table,
            name
        ),
        salt: pairs.path(),
        chart,
        axes: [tr!("{table}, feature {}", phrases.feature, table), tr!("log p(target | source) of {name}", name)],
        revision: phrases.revision(),
        found: &phrases.found,
        rings,
        selected: phrases.selected,
        label: &score,
    };
    let (answer, response) = scatter::scatter_ui(ui, &scatter, &mut window.local.of::<PhrasesMemory>().cache);
    if let Some((pair, near)) = answer.hovered {
        let mut text = format!(
            "{}\n{}\n{}",
            pairs.source(pair),
            pairs.target(pair),
            numbers(phrases, pair, phrases.log_p(model, pair))
        );
        if near > 1 {
            text += &tr!("\n{} more here", near - 1);
        }
        response.on_hover_text_at_pointer(text);
    }
    if let Some(pair) = answer.clicked {
        window.push(PhrasesCommand::Select(Some(pair)));
    }
}

/// Before there are scores.
fn waiting_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>, name: &str) {
    let wants = phrases.wants_scores(window.app);
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.3);
        if wants {
            ui.label(tr!("This table is not scored yet"));
            if ui.button(tr!("Score with {name}", name)).clicked() {
                window.push(PhrasesCommand::Score);
            }
        } else {
            let text = tr!("The scatter appears when every pair is scored. The table can be looked through already.");
            ui.label(RichText::new(text).color(theme::tokens(ui).weak));
        }
    });
}

fn search_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>) {
    let t = theme::tokens(ui);
    let Some(chart) = &phrases.chart else { return };
    ui.horizontal(|ui| {
        let mut text = phrases.search.clone();
        let field = egui::TextEdit::singleline(&mut text).hint_text(tr!("Search in both sides")).desired_width(190.0);
        let field = ui.add(field).accessible_name(tr!("Search in both sides"));
        if field.changed() {
            window.push(PhrasesCommand::Search(text));
        }
        let small = |text: String| RichText::new(text).size(theme::TEXT_SMALL);
        if !phrases.search.trim().is_empty() {
            ui.label(small(tr!("{n} pair found" | "{n} pairs found" % phrases.found.len())).color(t.warm));
        }
        let mut facts = match chart.correlation {
            Some(rho) => tr!("rank correlation {rho}", rho = format_args!("{rho:.2}")),
            None => tr!("no rank correlation").to_owned(),
        };
        if chart.left_out > 0 {
            facts += &tr!(", {n} pair without a point" | ", {n} pairs without a point" % chart.left_out);
        }
        let explained = tr!("Spearman's correlation of the two scores over all points. Pairs that the table gives a probability of 0 have no logarithm and so no point. Drag moves the picture, Ctrl and the wheel zoom, a double click shows all.");
        ui.add(egui::Label::new(small(facts).color(t.weak)).truncate()).on_hover_text(explained);
    });
}

/// A pair with both scores, in a line.
pub fn label(phrases: &PhrasesPage, pairs: &Pairs, pair: usize, log_p: Option<f32>) -> String {
    format!("{} ||| {} {}", pairs.source(pair), pairs.target(pair), numbers(phrases, pair, log_p))
}

/// Both scores of a pair.
fn numbers(phrases: &PhrasesPage, pair: usize, log_p: Option<f32>) -> String {
    let table = phrases.table_score(pair).map_or_else(|| tr!("no score").to_owned(), score_text);
    let model = log_p
        .map_or_else(|| tr!("not scored").to_owned(), |log_p| tr!("log p {log_p}", log_p = format_args!("{log_p:.2}")));
    tr!("table {table}, {model}", table, model)
}

/// A number of the table for the eye.
pub fn score_text(value: f32) -> String {
    if value != 0.0 && value.abs() < 0.001 { format!("{value:.1e}") } else { format!("{value:.3}") }
}
