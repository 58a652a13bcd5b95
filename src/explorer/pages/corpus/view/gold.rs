//! Page Corpus, links by hand between source and reference: two lines of words, with curves between.

use egui::{Pos2, Rect, RichText, ScrollArea, Sense, Shape, Stroke, Ui, vec2};

use crate::jobs::corpus::thread::Detail;
use crate::pages::{
    corpus::CorpusPage, corpus::command::CorpusCommand, corpus::view::memory::CorpusMemory, shell::local::Window,
};
use crate::widgets::{bidi, labels, theme};
use corpus::query::column::TableColumn;
use engine::text::cut::WordRule;
use engine::text::links::{Link, Links};

const RISE: f32 = 64.0;

pub fn gold_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, detail: &Detail) {
    let output = |system: usize| Some(detail.outputs.get(system)?.as_ref()?.text.as_str());
    let reference = detail.sentence.reference.as_deref();
    let (text, gold) = match page.linked.and_then(|system| Some((output(system)?, detail.golds.get(system)?))) {
        Some((text, gold)) => (Some(text), gold),
        None => (reference, &detail.gold),
    };
    let is_reference = text == reference;
    let systems = page.corpus.systems.iter().enumerate().filter(|(n, _)| output(*n).is_some());
    let named = systems.map(|(n, column)| (Some(n), column.system.name.as_str()));
    let all: Vec<_> = reference.map(|_| (None, tr!("Reference"))).into_iter().chain(named).collect();
    if all.is_empty() {
        labels::caption(ui, tr!("Links by hand need a reference or an output"));
        return;
    }
    ui.horizontal_wrapped(|ui| {
        for (place, name) in all {
            let is_chosen = text.is_some() && page.linked.filter(|system| output(*system).is_some()) == place;
            let choose = ui.selectable_label(is_chosen, name).on_hover_text(tr!("Link the words of this text"));
            window.push_on(&choose, CorpusCommand::LinkTo(place));
        }
    });
    let Some(text) = text else { return };
    ui.horizontal_wrapped(|ui| {
        if is_reference {
            let note = tr!("Begins with the links of the statistical aligner");
            window.push_on(&ui.button(tr!("From the aligner")).on_hover_text(note), CorpusCommand::LinksOfAligner);
        }
        let none = ui.add_enabled(gold.is_some(), egui::Button::new(tr!("None")));
        let is_clicked = none.on_hover_text(tr!("Takes all links away; Ctrl+Z brings them back")).clicked();
        window.push_if(is_clicked, CorpusCommand::NoLinks);
        errors_ui(ui, page, detail);
    });
    let note = tr!("Click a source word, then words of the text below: a link is sure, possible (thin), then gone");
    labels::note(ui, note);
    let rules = page.corpus.rules;
    let from_right = bidi::starts_right(&detail.sentence.source);
    ScrollArea::horizontal().id_salt("corpus_gold").stick_to_right(from_right).show(ui, |ui| {
        let chosen = window.local.of::<CorpusMemory>().linked.filter(|(at, _)| *at == detail.at).map(|(_, j)| j);
        let (mut above, mut below) = (Vec::new(), Vec::new());
        line_ui(
            ui,
            (&detail.sentence.source, rules.source),
            tr!("Source"),
            &mut above,
            |j| chosen == Some(j),
            |j| {
                window.local.of::<CorpusMemory>().linked = Some((detail.at, j));
            },
        );
        let (_, room) = ui.allocate_space(vec2(1.0, RISE));
        let gold = gold.clone().unwrap_or_default();
        let is_linked = |i: usize| chosen.is_some_and(|source| gold.is_possible(Link { source, target: i }));
        let side = if is_reference { tr!("Reference") } else { tr!("Output") };
        line_ui(ui, (text, rules.target), side, &mut below, is_linked, |i| {
            if let Some(j) = chosen {
                window.push(CorpusCommand::Link(j, i));
            }
        });
        curves(ui, &gold, (&above, &below), room, chosen);
    });
}

/// Alignment error of each system with gold links; its room is reserved, so that words do not move.
fn errors_ui(ui: &mut Ui, page: &CorpusPage, detail: &Detail) {
    let corpus = &page.corpus;
    let Some(at) = corpus.measures.iter().position(|measure| measure.name == "aer") else { return };
    for system in 0..corpus.systems.len() {
        let value = TableColumn::Output(at, system).value(corpus, detail.at);
        let text = tr!("AER {value} of {}", corpus.systems[system].system.name, value = format_args!("{value:.3}"));
        let output = detail.outputs.get(system).and_then(Option::as_ref);
        let reference = detail.sentence.reference.as_deref().unwrap_or_default();
        let label = |text: &str| egui::Label::new(RichText::new(text).size(theme::TEXT_SMALL)).wrap();
        if !value.is_nan() {
            ui.add(label(&text)).on_hover_text(corpus.measures[at].about);
        } else if output.is_some_and(|output| corpus.rules.target.are_alike(&output.text, reference)) {
            ui.add_visible(false, label(&text.replace("NaN", "0.000")));
        }
    }
}

/// A line of words as buttons; notes where each stands.
fn line_ui(
    ui: &mut Ui, (text, rule): (&str, WordRule), side: &str, places: &mut Vec<Rect>, is_chosen: impl Fn(usize) -> bool,
    mut clicked: impl FnMut(usize),
) {
    // A line from the right is laid from its end, so that it scrolls.
    let mut line: Vec<(usize, &str)> = rule.words(text).into_iter().enumerate().collect();
    if bidi::starts_right(text) {
        line.reverse();
    }
    places.resize(line.len(), Rect::NOTHING);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = theme::SPACE_1;
        for (n, word) in line {
            let button = egui::Button::selectable(is_chosen(n), RichText::new(word).size(theme::TEXT_SMALL))
                .sense(Sense::click());
            let button = ui.add(button);
            places[n] = button.rect;
            if button.accessible_name(tr!("{side} word {}: {word}", n + 1, side, word)).clicked() {
                clicked(n);
            }
        }
    });
}

fn curves(ui: &Ui, gold: &Links, (above, below): (&[Rect], &[Rect]), room: Rect, chosen: Option<usize>) {
    let t = theme::tokens(ui);
    for (link, is_sure) in gold.all() {
        let (Some(from), Some(to)) = (above.get(link.source), below.get(link.target)) else { continue };
        let (a, b) = (Pos2::new(from.center().x, room.top()), Pos2::new(to.center().x, room.bottom()));
        let bend = vec2(0.0, RISE * 0.45);
        let colour = if chosen == Some(link.source) { t.accent } else { t.weak };
        let stroke = Stroke::new(if is_sure { 2.0 } else { 0.8 }, colour);
        let curve = egui::epaint::CubicBezierShape::from_points_stroke(
            [a, a + bend, b - bend, b],
            false,
            egui::Color32::TRANSPARENT,
            stroke,
        );
        ui.painter().add(Shape::CubicBezier(curve));
    }
}
