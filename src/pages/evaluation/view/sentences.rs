//! Floor 11: page Evaluation, the sentences one by one, sorted; only those in view are drawn.

use egui::accesskit::Role;
use egui::{Align2, ComboBox, CornerRadius, Rect, RichText, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::corpus::overview::evaluated::Evaluated;
use crate::pages::evaluation::EvaluationPage;
use crate::pages::evaluation::command::EvaluationCommand;
use crate::pages::evaluation::view::parts::waiting_ui;
use crate::pages::evaluation::{SortBy, listing};
use crate::pages::window::local::Window;
use crate::widgets::labels::plural;
use crate::widgets::{chart, labels, rows, theme};

/// Height of a line of a row, even, so that rows stay equally high far down a long list.
const LINE: f32 = 20.0;
/// Above and below the lines of a row.
const MARGIN: f32 = 6.0;
/// Room for the names of models and for numbers, points.
const NAMES: f32 = 150.0;
/// Room for the numbers of a sentence, points.
const NUMBERS: f32 = 132.0;
/// Only so much of a very long line is laid out.
const MOST_SEEN: usize = 300;

/// The sentences.
pub fn sentences_ui(ui: &mut Ui, evaluation: &EvaluationPage, window: &mut Window<'_>) {
    let Some(results) = evaluation.results.clone() else {
        waiting_ui(ui, evaluation, window, "Its sentences come up here, first those where the models differ most");
        return;
    };
    head_ui(ui, evaluation, window, &results);
    ui.add_space(theme::SPACE_1);
    let listing = &evaluation.listing;
    let height = LINE * (2 + shown(evaluation, &results).len()) as f32 + 2.0 * MARGIN;
    ui.spacing_mut().item_spacing.y = 0.0;
    let area = egui::ScrollArea::vertical()
        .id_salt(("sentences", listing.by == SortBy::Line, listing.pair))
        .auto_shrink(false);
    area.show_rows(ui, height, listing.order.len(), |ui, rows| {
        ui.ctx().allow_widget_id_changes_in(ui.clip_rect().expand(height * 2.0));
        for n in rows {
            if let Some(line) = evaluation.listing.order.get(n) {
                row_ui(ui, evaluation, window, &results, *line as usize, height);
            }
        }
    });
}

/// The models whose translations are shown: the two that are compared, or the only one.
fn shown(evaluation: &EvaluationPage, results: &Evaluated) -> Vec<usize> {
    let (first, second) = evaluation.listing.pair;
    if results.models.len() > 1 && first != second { vec![first, second] } else { vec![first] }
}

fn head_ui(ui: &mut Ui, evaluation: &EvaluationPage, window: &mut Window<'_>, results: &Evaluated) {
    let weak = theme::tokens(ui).weak;
    let listing = &evaluation.listing;
    let (by, pair, count) = (listing.by, listing.pair, listing.order.len());
    let is_falling = by.starts_high() != listing.is_turned;
    ui.horizontal_wrapped(|ui| {
        let label = ui.label(RichText::new("Sort by").color(weak));
        let combo = ComboBox::from_id_salt("sort").width(210.0).truncate().selected_text(by_text(by, results));
        let combo = combo.show_ui(ui, |ui| {
            for other in choices(results) {
                if ui.selectable_label(other == by, by_text(other, results)).clicked() && other != by {
                    window.push(EvaluationCommand::Sort(other));
                }
            }
        });
        combo.response.labelled_by(label.id);
        let order = if is_falling { "Greatest first" } else { "Least first" };
        if ui.button(order).on_hover_text("Turns the order round").clicked() {
            window.push(EvaluationCommand::Sort(by));
        }
        if results.models.len() > 1 {
            let (first, second) = pair;
            let label = ui.label(RichText::new("Compare").color(weak));
            let chosen = pick_ui(ui, results, "first_model", first, label.id);
            if let Some(first) = chosen {
                window.push(EvaluationCommand::Compare(first, second));
            }
            let label = ui.label(RichText::new("with").color(weak));
            if let Some(second) = pick_ui(ui, results, "second_model", second, label.id) {
                window.push(EvaluationCommand::Compare(first, second));
            }
        }
        ui.label(RichText::new(plural(count, "sentence")).size(theme::TEXT_SMALL).color(weak));
    });
}

fn pick_ui(ui: &mut Ui, results: &Evaluated, id: &str, chosen: usize, label: egui::Id) -> Option<usize> {
    let name = |place: usize| results.models.get(place).map_or("", |measured| measured.report.name.as_str());
    let mut picked = None;
    let combo = ComboBox::from_id_salt(id).width(NAMES).truncate().selected_text(name(chosen));
    let combo = combo.show_ui(ui, |ui| {
        for place in 0..results.models.len() {
            if ui.selectable_label(place == chosen, name(place)).clicked() && place != chosen {
                picked = Some(place);
            }
        }
    });
    combo.response.labelled_by(label);
    picked
}

fn choices(results: &Evaluated) -> Vec<SortBy> {
    let models = results.models.len();
    let differences: &[SortBy] = if models > 1 { &[SortBy::BleuDifference, SortBy::ChrfDifference] } else { &[] };
    let of_models = (0..models).flat_map(|model| [SortBy::Bleu(model), SortBy::Chrf(model), SortBy::Nll(model)]);
    differences.iter().copied().chain(of_models).chain([SortBy::Length, SortBy::Line]).collect()
}

fn by_text(by: SortBy, results: &Evaluated) -> String {
    let of = |what: &str, model: usize| {
        let name = results.models.get(model).map_or("", |measured| measured.report.name.as_str());
        if results.models.len() > 1 { format!("{what} of {name}") } else { what.to_owned() }
    };
    match by {
        SortBy::BleuDifference => "Difference of BLEU".to_owned(),
        SortBy::ChrfDifference => "Difference of chrF2".to_owned(),
        SortBy::Bleu(model) => of("BLEU", model),
        SortBy::Chrf(model) => of("chrF2", model),
        SortBy::Nll(model) => of("-log p a word", model),
        SortBy::Length => "Length of the source".to_owned(),
        SortBy::Line => "Place in the test set".to_owned(),
    }
}

fn row_ui(
    ui: &mut Ui,
    evaluation: &EvaluationPage,
    window: &mut Window<'_>,
    results: &Evaluated,
    line: usize,
    height: f32,
) {
    let Some(record) = listing::record(results, 0, line) else { return };
    let t = theme::tokens(ui);
    let is_open = *record.pair.source == *window.app.document.source();
    let (_, rect) = ui.allocate_space(vec2(ui.available_width(), height));
    let response = ui.interact(rect, ui.scope_id().with(("sentence", line)), Sense::CLICK);
    response.widget_info(|| {
        let name = format!("Sentence {} {}", line + 1, record.pair.source);
        WidgetInfo::selected(Role::ListBoxOption, true, is_open, name)
    });
    let response = response.on_hover_text_at_pointer("Opens this sentence on page Sentence");
    if response.clicked() {
        window.push(EvaluationCommand::OpenSentence(line));
    }
    if !ui.is_rect_visible(rect) {
        return;
    }
    let card = rect.shrink2(vec2(0.0, 2.0));
    let fill = rows::ground(ui, &response, is_open, (!response.hovered()).then_some(t.panel));
    ui.painter().rect_filled(card, CornerRadius::same(theme::RADIUS_SMALL), fill);
    let reference = record.pair.references.first().map_or("", AsRef::as_ref);
    let mut y = rect.top() + MARGIN + LINE / 2.0;
    let number = format!("{}", line + 1);
    text_ui(ui, card, y, &Line { name: &number, text: &record.pair.source, numbers: "", colour: t.text });
    y += LINE;
    text_ui(ui, card, y, &Line { name: "Reference", text: reference, numbers: "", colour: t.weak });
    for model in shown(evaluation, results) {
        y += LINE;
        let Some(measured) = results.models.get(model) else { continue };
        let Some(translation) = listing::translation(results, model, line) else { continue };
        let numbers = format!("BLEU {:.0}  chrF2 {:.0}", translation.bleu, translation.counts.chrf.score());
        let name = measured.report.name.as_str();
        text_ui(ui, card, y, &Line { name, text: &translation.text, numbers: &numbers, colour: t.text });
        chart::paint_place(ui, pos2(card.left() + theme::SPACE_3, y), model);
    }
}

/// A line of a row.
struct Line<'a> {
    name: &'a str,
    text: &'a str,
    numbers: &'a str,
    colour: egui::Color32,
}

fn text_ui(ui: &Ui, card: Rect, y: f32, line: &Line<'_>) {
    let t = theme::tokens(ui);
    let painter = ui.painter();
    let left = card.left() + theme::SPACE_5;
    let name = labels::galley(painter, line.name, &theme::small(), t.weak, NAMES - theme::SPACE_2);
    let centre = |size: egui::Vec2, x: f32| pos2(x, y - size.y / 2.0);
    painter.galley(centre(name.size(), left), name, t.weak);
    let start = left + NAMES;
    let end = card.right() - theme::SPACE_3;
    let room = end - start - if line.numbers.is_empty() { 0.0 } else { NUMBERS };
    let seen: String = line.text.chars().take(MOST_SEEN).collect();
    let text = labels::galley(painter, &seen, &theme::body(), line.colour, room.max(0.0));
    painter.galley(centre(text.size(), start), text, line.colour);
    if !line.numbers.is_empty() {
        painter.text(pos2(end, y), Align2::RIGHT_CENTER, line.numbers, theme::small(), t.weak);
    }
}
