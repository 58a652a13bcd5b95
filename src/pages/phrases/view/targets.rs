//! Floor 11: the top targets of a source phrase, by the model and by the table side by side (Cho et al. 2014,
//! tables 2). What only one of the two lists has is marked.

use egui::accesskit::Role;
use egui::{Align2, CornerRadius, Id, Key, RichText, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::pages::phrases::PhrasesPage;
use crate::pages::phrases::command::PhrasesCommand;
use crate::pages::phrases::view::chart::score_text;
use crate::pages::phrases::{Pairs, SAMPLES, TOP};
use crate::pages::window::local::Window;
use crate::text::readable::unescaped;
use crate::widgets::{labels, rows, theme};

/// Height of a row, points.
const ROW: f32 = 24.0;
/// Room for a score, points.
const SCORE: f32 = 52.0;

/// The source phrase and its targets.
pub fn targets_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>) {
    let Some(pairs) = phrases.pairs.clone() else { return };
    let frame = theme::card(theme::tokens(ui));
    frame.show(ui, |ui| {
        ui.set_min_size(ui.available_size());
        source_ui(ui, phrases, window, &pairs);
        ui.add_space(theme::SPACE_2);
        egui::ScrollArea::vertical().id_salt("targets").auto_shrink(false).show(ui, |ui| {
            if phrases.source.is_some() {
                lists_ui(ui, phrases, window, &pairs);
                samples_ui(ui, phrases, window, &pairs);
                selected_ui(ui, phrases, window, &pairs);
            } else {
                suggestions_ui(ui, phrases, window, &pairs);
            }
        });
    });
}

fn source_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>, pairs: &Pairs) {
    let label = ui.label(tr!("Source phrase"));
    let mut text = phrases.typed.clone();
    let id = Id::unique("source_phrase");
    let field = egui::TextEdit::singleline(&mut text).id(id).hint_text(tr!("type a phrase of the table"));
    let field = ui.add(field.desired_width(f32::INFINITY).font(theme::output())).labelled_by(label.id);
    if field.changed() {
        window.push(PhrasesCommand::TypeSource(text));
    }
    // The first offer is taken with Enter.
    if field.lost_focus()
        && ui.input(|input| input.key_pressed(Key::Enter))
        && phrases.source.is_none()
        && let Some(first) = phrases.suggested.first()
    {
        window.push(PhrasesCommand::PickSource(*first));
    }
    let caption = match phrases.source {
        Some(source) => tr!("{n} target" | "{n} targets" % pairs.of_source(source).len()),
        None if phrases.typed.trim().is_empty() => {
            tr!("Or click a point of the scatter. These phrases have most targets").to_owned()
        }
        None if phrases.suggested.is_empty() => tr!("The table has no such source phrase").to_owned(),
        None => tr!("Not a source phrase of the table; did you mean").to_owned(),
    };
    labels::caption(ui, caption);
}

/// Source phrases that are offered: what was typed may become them; at first those with most targets.
fn suggestions_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>, pairs: &Pairs) {
    for source in &phrases.suggested {
        let text = pairs.source_phrase(*source);
        let count = tr!("{n} target" | "{n} targets" % pairs.of_source(*source).len());
        let row = ui.add(
            egui::Button::new(text)
                .right_text(RichText::new(count).size(theme::TEXT_SMALL))
                .frame_when_inactive(false)
                .min_size(vec2(ui.available_width(), ROW)),
        );
        row.widget_info(|| WidgetInfo::labeled(Role::Button, true, tr!("Source phrase {text}", text)));
        if row.clicked() {
            window.push(PhrasesCommand::PickSource(*source));
        }
    }
}

fn lists_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>, pairs: &Pairs) {
    let app = window.app;
    let model = phrases.model_of(app);
    let name = app
        .document
        .models()
        .find(|column| Some(column.folder.as_path()) == model)
        .map(crate::app::document::column::Column::name);
    let name = name.unwrap_or_else(|| tr!("the model").to_owned());
    let half = (ui.available_width() - theme::SPACE_3) / 2.0;
    let log_p = |pair: usize| model.and_then(|model| phrases.log_p(model, pair));
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = theme::SPACE_3;
        ui.vertical(|ui| {
            ui.set_width(half);
            ui.spacing_mut().item_spacing.y = 1.0;
            heading(ui, &name, tr!("log p"));
            if phrases.by_model.is_empty() {
                let text = if phrases.task.is_some() { tr!("Being scored") } else { tr!("Not scored yet") };
                ui.label(RichText::new(text).color(theme::tokens(ui).weak));
            }
            for (rank, pair) in phrases.by_model.iter().enumerate() {
                let score = log_p(*pair).map_or_else(String::new, |log_p| format!("{log_p:.2}"));
                let only = !phrases.by_table.contains(pair);
                row_ui(
                    ui,
                    phrases,
                    window,
                    &Row { list: &name, rank, pair: *pair, text: pairs.target(*pair), score, only },
                );
            }
        });
        ui.vertical(|ui| {
            ui.set_width(half);
            ui.spacing_mut().item_spacing.y = 1.0;
            heading(ui, tr!("Table"), &tr!("feature {}", phrases.feature));
            for (rank, pair) in phrases.by_table.iter().enumerate() {
                let score = phrases.table_score(*pair).map_or_else(String::new, score_text);
                let only = !phrases.by_model.is_empty() && !phrases.by_model.contains(pair);
                row_ui(
                    ui,
                    phrases,
                    window,
                    &Row { list: tr!("the table"), rank, pair: *pair, text: pairs.target(*pair), score, only },
                );
            }
        });
    });
    let is_cut = phrases.source.is_some_and(|source| pairs.of_source(source).len() > TOP);
    if is_cut && !phrases.by_model.is_empty() {
        ui.add_space(theme::SPACE_1);
        let text = tr!("Targets on a coloured ground are among the {TOP} best of this list alone", TOP);
        labels::caption(ui, text);
    }
}

fn heading(ui: &mut Ui, name: &str, score: &str) {
    let t = theme::tokens(ui);
    ui.horizontal(|ui| {
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            labels::caption(ui, score);
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                ui.add(egui::Label::new(RichText::new(name).color(t.text)).truncate());
            });
        });
    });
}

/// A target in one of the lists.
struct Row<'a> {
    list: &'a str,
    rank: usize,
    pair: usize,
    text: &'a str,
    score: String,
    /// Not in the other list.
    only: bool,
}

fn row_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>, row: &Row<'_>) {
    let t = theme::tokens(ui);
    let is_selected = phrases.selected == Some(row.pair);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::CLICK);
    let also = if row.only { tr!(", in this list alone") } else { "" };
    let said = tr!("By {} {} {} {}{also}", row.list, row.rank + 1, row.text, row.score, also);
    response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_selected, &said));
    if response.clicked() {
        window.push(PhrasesCommand::Select(Some(row.pair)));
    }
    let only = row.only.then(|| t.warm_soft.gamma_multiply(0.35));
    let fill = rows::ground(ui, &response, is_selected, only);
    let line = Line { rank: row.rank, text: row.text, score: row.score.clone(), width: SCORE };
    if line_ui(ui, rect, &line, fill) {
        response.on_hover_text(row.text);
    }
}

/// A phrase with its rank and score.
struct Line<'a> {
    rank: usize,
    text: &'a str,
    score: String,
    /// Room for the score, points.
    width: f32,
}

/// Paints it; true when the phrase had to be cut.
fn line_ui(ui: &Ui, rect: egui::Rect, line: &Line<'_>, fill: egui::Color32) -> bool {
    let t = theme::tokens(ui);
    let painter = ui.painter();
    painter.rect_filled(rect.shrink2(vec2(0.0, 1.0)), CornerRadius::same(theme::RADIUS_SMALL), fill);
    let middle = rect.center().y;
    painter.text(pos2(rect.left() + 18.0, middle), Align2::RIGHT_CENTER, line.rank + 1, theme::small(), t.weak);
    painter.text(pos2(rect.right() - 4.0, middle), Align2::RIGHT_CENTER, &line.score, theme::small(), t.weak);
    let left = rect.left() + 18.0 + theme::SPACE_2;
    let galley = labels::galley(painter, line.text, &theme::body(), t.text, rect.right() - line.width - left);
    let is_cut = galley.elided;
    painter.galley(pos2(left, middle - galley.size().y / 2.0), galley, t.text);
    is_cut
}

/// Targets drawn from the model, those that the table does not have marked (Cho et al. 2014, table 3).
fn samples_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>, pairs: &Pairs) {
    let app = window.app;
    if phrases.model_of(app).is_none() {
        return;
    }
    let t = theme::tokens(ui);
    ui.add_space(theme::SPACE_1);
    let samples = phrases.samples(app);
    ui.horizontal(|ui| {
        let name = if samples.is_some() { tr!("Draw others") } else { tr!("Draw samples") };
        let button = ui.add_enabled(phrases.sampling.is_none(), egui::Button::new(name));
        let note =
            tr!("Draws {SAMPLES} targets of this phrase from the model, word by word by their probability", SAMPLES);
        if button.on_hover_text(note).clicked() {
            window.push(PhrasesCommand::Sample);
        }
        let text = match (phrases.sampling, samples) {
            (Some(_), _) => tr!("Drawing").to_owned(),
            (None, Some(samples)) => tr!("{} distinct of {SAMPLES}, log p and how often", samples.drawn.len(), SAMPLES),
            (None, None) => tr!("Targets that the model itself comes up with").to_owned(),
        };
        labels::caption(ui, text);
    });
    let (Some(samples), Some(source)) = (samples, phrases.source) else { return };
    ui.spacing_mut().item_spacing.y = 1.0;
    let known: Vec<String> = pairs.of_source(source).iter().map(|pair| bare(pairs.target(*pair as usize))).collect();
    for (rank, drawn) in samples.drawn.iter().take(TOP).enumerate() {
        let in_table = known.contains(&bare(&drawn.text));
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
        let score = format!("{:.2}   {}\u{d7}", drawn.log_p, drawn.count);
        let row = Line { rank, text: &drawn.text, score, width: SCORE * 1.8 };
        let also = if in_table { "" } else { tr!(", not in the table") };
        let said = tr!("Sample {} {} {}{also}", rank + 1, row.text, row.score, also);
        response.widget_info(|| WidgetInfo::labeled(Role::ListItem, true, &said));
        let fill = if in_table { egui::Color32::TRANSPARENT } else { t.warm_soft.gamma_multiply(0.35) };
        line_ui(ui, rect, &row, fill);
    }
    if samples.drawn.iter().take(TOP).any(|drawn| !known.contains(&bare(&drawn.text))) {
        let text = tr!("Samples on a coloured ground are not in the table");
        labels::caption(ui, text);
    }
}

/// A phrase without spaces, case and escapes: tables and models cut words differently.
fn bare(phrase: &str) -> String {
    unescaped(phrase).split_whitespace().collect::<String>().to_lowercase()
}

/// Everything about the chosen pair.
fn selected_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>, pairs: &Pairs) {
    let app = window.app;
    let Some(pair) = phrases.selected else { return };
    let t = theme::tokens(ui);
    let log_p = phrases.model_of(app).and_then(|model| phrases.log_p(model, pair));
    ui.add_space(theme::SPACE_2);
    ui.separator();
    ui.add(
        egui::Label::new(
            RichText::new(format!("{}  \u{2013}  {}", pairs.source(pair), pairs.target(pair))).size(theme::TEXT_OUTPUT),
        )
        .wrap(),
    );
    egui::Grid::new("pair").num_columns(2).spacing(vec2(theme::SPACE_2, 0.0)).min_row_height(ROW).show(ui, |ui| {
        let mut row = |name: String, value: String| {
            ui.label(RichText::new(name).color(t.weak));
            ui.label(value);
            ui.end_row();
        };
        if let Some(log_p) = log_p {
            row(
                tr!("log p of the model").into(),
                tr!(
                    "{log_p}, a probability of {}",
                    format_args!("{:.2e}", f64::from(log_p).exp()),
                    log_p = format_args!("{log_p:.3}")
                ),
            );
        }
        let table = phrases.table_score(pair);
        if let Some(value) = table {
            row(
                tr!("Feature {}", phrases.feature),
                tr!("{}, its logarithm {}", score_text(value), format_args!("{:.3}", value.ln())),
            );
        }
        let all: Vec<String> = (1..=pairs.features()).filter_map(|n| pairs.feature(pair, n)).map(score_text).collect();
        row(tr!("All features").into(), all.join("   "));
        row(tr!("Line of the table").into(), (pair + 1).to_string());
    });
}
