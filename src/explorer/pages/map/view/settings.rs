//! The line over the map: which model, what is mapped, how, and what the colours mean.

use egui::accesskit::Role;
use egui::{Button, ComboBox, DragValue, RichText, Sense, Ui, WidgetInfo, vec2};

use crate::pages::map as maps;
use crate::pages::map::{Colour, METHODS, Method, PointChoice, PointKind};
use crate::pages::{map::MapPage, map::command::MapCommand, shell::local::Window};
use crate::widgets::{labels, theme};
use engine::lang;

pub fn settings_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>) {
    ui.horizontal_wrapped(|ui| {
        model_ui(ui, maps, window);
        choice_ui(ui, maps, window);
        count_ui(ui, maps, window);
        method_ui(ui, maps, window);
        button_ui(ui, maps, window);
    });
}

fn model_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>) {
    let chosen = maps.model_of(window.app).cloned();
    let app = window.app;
    let name = app.document.models().find(|column| column.system.only() == chosen.as_ref());
    let name = name.map_or_else(|| tr!("no model").to_owned(), crate::app::document::column::Column::name);
    let combo = ComboBox::from_id_salt("map_model").width(150.0).selected_text(name).show_ui(ui, |ui| {
        let mut seen = Vec::new();
        for column in app.document.models() {
            let Some(model) = column.system.only().filter(|model| !seen.contains(model)) else { continue };
            seen.push(model);
            if ui.selectable_label(column.system.only() == chosen.as_ref(), column.name()).clicked() {
                window.push(MapCommand::SetModel(model.clone()));
            }
        }
    });
    combo
        .response
        .accessible_name(tr!("Model to map"))
        .on_hover_text(tr!("Whose vectors are mapped; the models of page Sentence"));
}

fn choice_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>) {
    let chosen = maps.choice;
    let combo = ComboBox::from_id_salt("map_choice").width(164.0).selected_text(chosen.name()).show_ui(ui, |ui| {
        for (choice, _, name, note) in PointChoice::ALL {
            let is_clicked = labels::choice(ui, choice == chosen, lang::text(name), lang::text(note));
            window.push_if(is_clicked, MapCommand::SetChoice(choice));
        }
    });
    combo.response.accessible_name(tr!("What is mapped")).on_hover_text(tr!("What is mapped"));
}

fn count_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>) {
    if !maps.choice.is_counted() {
        return;
    }
    let mut count = maps.count;
    let label = ui.label(RichText::new(tr!("at most")).color(theme::tokens(ui).weak));
    let drag =
        DragValue::new(&mut count).range(maps::COUNTS.0..=maps::COUNTS.1).speed(10.0).update_while_editing(false);
    let response = ui.add(drag).labelled_by(label.id);
    let is_changed =
        response.on_hover_text(tr!("How many points; words come by their rank, the most frequent first")).changed();
    window.push_if(is_changed, MapCommand::SetCount(count));
}

fn method_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>) {
    let chosen = maps.method;
    for entry in METHODS {
        let is_clicked = labels::choice(ui, entry.method == chosen, entry.title, lang::text(entry.about));
        window.push_if(is_clicked, MapCommand::SetMethod(entry.method));
    }
    if chosen != Method::Tsne {
        return;
    }
    let mut perplexity = maps.perplexity;
    let label = ui.label(RichText::new(tr!("perplexity")).color(theme::tokens(ui).weak));
    let (least, most) = maps::PERPLEXITIES;
    let drag =
        DragValue::new(&mut perplexity).range(least..=most).speed(0.5).max_decimals(0).update_while_editing(false);
    let note = tr!(
        "About how many neighbours count for a point; lowered where there are fewer than three times as many points"
    );
    let is_changed = ui.add(drag).labelled_by(label.id).on_hover_text(note).changed();
    window.push_if(is_changed, MapCommand::SetPerplexity(perplexity));
}

fn button_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>) {
    let t = theme::tokens(ui);
    let button = Button::new(RichText::new(tr!("Make map")).color(t.on_accent)).fill(t.accent);
    let has_model = maps.model_of(window.app).is_some();
    let button = ui.add_enabled(has_model, button).on_disabled_hover_text(tr!("Add a model on page Sentence first"));
    window.push_on(&button, MapCommand::Compute);
}

pub fn legend_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>) {
    let Some(chart) = maps.chart.clone() else { return };
    let drawn = chart.layout.places.len();
    let is_words = matches!(chart.kind, PointKind::SourceWords | PointKind::TargetWords);
    let rank = match chart.kind {
        PointKind::SourceWords | PointKind::TargetWords => tr!("frequency"),
        PointKind::Phrases => tr!("order"),
        PointKind::Annotations => tr!("position"),
    };
    labels::caption(ui, tr!("colour"));
    let chosen = maps.colour;
    for (colour, name, note) in [
        (Colour::Rank, rank, tr!("The rank in the vocabulary, or the place in the list or the sentence")),
        (Colour::Length, tr!("length"), tr!("Letters of a word, words of a phrase")),
    ] {
        window.push_if(labels::choice(ui, colour == chosen, name, note), MapCommand::SetColour(colour));
    }
    let (low, high) = match chosen {
        Colour::Rank if is_words => (tr!("rank 1").to_owned(), tr!("rank {drawn}", drawn)),
        Colour::Rank => ("1".to_owned(), drawn.to_string()),
        Colour::Length => {
            let most = longest(&chart);
            let counted = if chart.kind == PointKind::Phrases {
                tr!("{n} word" | "{n} words" % most)
            } else {
                tr!("{n} letter" | "{n} letters" % most)
            };
            ("1".to_owned(), counted)
        }
    };
    labels::caption(ui, low);
    gradient(ui);
    labels::caption(ui, high);
}

/// The greatest length that has its own colour: few very long phrases must not make all others look alike.
pub fn longest(chart: &maps::VectorMap) -> usize {
    let mut lengths: Vec<usize> =
        chart.points.iter().take(chart.layout.places.len()).map(|point| point.length).collect();
    lengths.sort_unstable();
    lengths.get(lengths.len().saturating_sub(1) * 49 / 50).copied().unwrap_or(1).max(2)
}

fn gradient(ui: &mut Ui) {
    let (rect, response) = ui.allocate_exact_size(vec2(96.0, 12.0), Sense::hover());
    response.widget_info(|| {
        WidgetInfo::labeled(Role::Legend, true, tr!("Legend of the points, from the first to the last"))
    });
    let (steps, dark) = (48, ui.visuals().dark_mode);
    let width = rect.width() / steps as f32;
    for n in 0..steps {
        let corner = rect.min + vec2(n as f32 * width, 0.0);
        let colour = theme::point(dark, n as f32 / (steps - 1) as f32);
        ui.painter().rect_filled(egui::Rect::from_min_size(corner, vec2(width + 0.5, rect.height())), 0.0, colour);
    }
}
