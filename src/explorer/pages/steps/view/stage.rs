//! An open box of the machine: its description, equations, tensors, and the numbers of the step.

use egui::accesskit::Role;
use egui::{Label, RichText, Sense, Ui, vec2};

use crate::pages::steps::picture::{first_word, held, words};
use crate::pages::{
    shell::local::Window, steps::StepsPage, steps::command::StepsCommand, steps::view::memory::StepsMemory,
    steps::view::worked, steps::view::worked::span, steps::worked::WorkedNumber,
};
use crate::widgets::bars::{Bar, bars};
use crate::widgets::matrix::{MATRIX, matrix};
use crate::widgets::{labels, marks, node, strip, theme};
use crate::{app::lights::HighlightPart, jobs::steps::StepTrace, widgets::marks::WholeLetters};
use engine::lang;
use engine::models::anatomy::{Equation, MachineStage, Miswiring, Quantity, Shrunk};
use figure::equation::spoken;
use figure::machine::{Held, colour};
use figure::measure::TextMeasure as _;

const STRIP: f32 = 56.0;
const ROW: f32 = 15.0;
/// From this width on the numbers of a row and what made one of them are next to each other, points.
const TWO: f32 = 480.0;
const WORD: (f32, f32) = (56.0, 0.4);

pub fn stage_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) {
    let Some(stage) = trace.machine.stages.iter().find(|stage| steps.open.as_deref() == Some(stage.key)) else {
        return;
    };
    let card = theme::card(theme::tokens(ui)).inner_margin(egui::Margin::same(12));
    let shown = card.show(ui, |ui| {
        ui.take_available_width();
        ui.horizontal(|ui| {
            ui.heading(lang::text(stage.title));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                window.push_if(
                    ui.button(tr!("Close")).on_hover_text(tr!("Back to the whole machine (Esc)")).clicked(),
                    StepsCommand::Open(None),
                );
            });
        });
        let area = egui::ScrollArea::vertical().id_salt(("stage", stage.key)).auto_shrink([false, false]);
        area.show(ui, |ui| body_ui(ui, steps, window, trace, stage));
    });
    window.part(ui, HighlightPart::OpenBox, "", shown.response.rect);
}

fn body_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace, stage: &MachineStage) {
    let t = *theme::tokens(ui);
    ui.add(Label::new(lang::text(stage.about)).wrap());
    for equation in stage.equations {
        ui.add_space(theme::SPACE_1);
        equation_ui(ui, equation);
    }
    ui.add_space(theme::SPACE_2);
    let held = held(trace, steps.i, steps.hidden(steps.i), stage);
    if !steps.is_done(stage.key) {
        ui.label(RichText::new(tr!("This step has not come so far yet.")).color(t.weak));
    } else if matches!(held, Held::Hidden) {
        ui.label(RichText::new(tr!("It is to be guessed.")).color(t.accent));
    } else {
        inside_ui(ui, steps, window, trace, stage);
    }
    ui.add_space(theme::SPACE_2);
    matrices_ui(ui, window, trace, stage);
}

fn matrices_ui(ui: &mut Ui, window: &mut Window<'_>, trace: &StepTrace, stage: &MachineStage) {
    let own = |(name, _): &(String, Vec<usize>)| trace.matrices.iter().find(|matrix| matrix.name == *name);
    let matrices: Vec<&Shrunk> = trace.machine.weights_of(stage.key).iter().filter_map(own).collect();
    if matrices.is_empty() {
        return;
    }
    let what = if trace.wrong == Some(Miswiring::Untrained) { tr!("Drawn at random") } else { tr!("Learned") };
    let note = tr!(
        "{what}, and alike at every step: blocks of neighbours by their mean, blue above 0, orange below; the ends are \
         those of single numbers.",
        what
    );
    labels::note(ui, note);
    let textures = &mut window.local.of::<StepsMemory>().matrices;
    textures.follow(ui, &trace.matrices);
    let across = (ui.available_width() / (MATRIX + ui.spacing().item_spacing.x)).floor().max(1.0) as usize;
    for line in matrices.chunks(across) {
        ui.horizontal_top(|ui| {
            for shown in line {
                ui.vertical(|ui| matrix(ui, textures, shown));
            }
        });
    }
}

fn inside_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace, stage: &MachineStage) {
    match stage.key {
        "words" => {
            for (j, word) in words(trace).iter().enumerate() {
                let id = trace.source.ids.get(j).copied().unwrap_or(0);
                let note = if id == trace.unk { tr!(", not in the vocabulary: the model reads [UNK]") } else { "" };
                ui.label(tr!("{} {word}  (id {id}{note})", j + first_word(trace), word, id, note));
            }
        }
        "energies" | "alpha" if ui.available_width() >= TWO => {
            ui.columns(2, |sides| {
                shares_ui(&mut sides[0], steps, window, trace, stage);
                worked::worked_ui(&mut sides[1], steps, window, trace, stage);
            });
        }
        "energies" | "alpha" => {
            shares_ui(ui, steps, window, trace, stage);
            worked::worked_ui(ui, steps, window, trace, stage);
        }
        "candidates" => candidates_ui(ui, steps, window, trace),
        "word" => word_ui(ui, steps, trace),
        _ => {
            // first, since the numbers may be many
            worked::worked_ui(ui, steps, window, trace, stage);
            ui.add_space(theme::SPACE_2);
            numbers_ui(ui, steps, window, trace, stage);
        }
    }
}

fn equation_ui(ui: &mut Ui, equation: &Equation) {
    let t = theme::tokens(ui);
    let response = marks::equation_ui(ui, equation.text, theme::TEXT_SENTENCE);
    node(&response, Role::Math, || format!("{}, {}", spoken(equation.text), lang::text(equation.source)));
    let colour = if equation.source.starts_with("not") { t.warm } else { t.weak };
    let source = labels::small(ui, lang::text(equation.source)).color(colour);
    ui.add(Label::new(source).wrap());
}

fn numbers_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace, stage: &MachineStage) {
    let Some(part) = trace.part(stage.key, steps.i) else { return };
    for (n, quantity) in part.quantities.iter().enumerate() {
        heading_ui(ui, quantity);
        if let [value] = quantity.values[..] {
            ui.label(RichText::new(format!("{value:.3}")).size(theme::TEXT_TITLE));
            if stage.key == "place" {
                place_ui(ui, trace, value);
            }
        } else if quantity.count() > 1 {
            if let Some((row, unit)) = matrix_ui(ui, quantity, trace) {
                worked::choose(window, WorkedNumber { stage: stage.key, quantity: n, row, unit });
            }
        } else {
            let (strip, over) = strip::named(ui, &called(quantity), &spoken(quantity.symbol), &quantity.values, STRIP);
            if let Some(unit) = over.filter(|_| strip.clicked()) {
                worked::choose(window, WorkedNumber { stage: stage.key, quantity: n, row: 0, unit });
            }
        }
        ui.add_space(theme::SPACE_2);
    }
}

fn place_ui(ui: &mut Ui, trace: &StepTrace, place: f32) {
    let words = words(trace);
    let Some(word) = words.get(place.round().max(0.0) as usize) else { return };
    let text =
        tr!("The words are counted from 0: this is nearest to \u{201c}{word}\u{201d}, of {}.", words.len(), word);
    labels::note(ui, text);
}

fn called(quantity: &Quantity) -> String {
    match quantity.name.rsplit_once(", layer ") {
        Some((what, layer)) => tr!("{what}, layer {layer}", what = lang::text(what), layer),
        None => lang::text(quantity.name).to_owned(),
    }
}

fn heading_ui(ui: &mut Ui, quantity: &Quantity) {
    let t = theme::tokens(ui);
    ui.horizontal(|ui| {
        marks::equation_ui(ui, quantity.symbol, theme::TEXT_BODY);
        let numbers = match quantity.count() {
            1 if quantity.width == 1 => called(quantity),
            1 => tr!("{}, {} numbers", called(quantity), quantity.width),
            count => tr!("{}, {count} \u{d7} {} numbers", called(quantity), quantity.width, count),
        };
        ui.add(Label::new(RichText::new(numbers).size(theme::TEXT_SMALL).color(t.weak)).truncate());
    });
}

/// A row of colours for each source word. Returns the word and the unit that were clicked.
fn matrix_ui(ui: &mut Ui, quantity: &Quantity, trace: &StepTrace) -> Option<(usize, usize)> {
    let mut clicked = None;
    let palette = theme::palette(ui);
    let wide = |word: &&str| WholeLetters(ui).width(word, theme::TEXT_SMALL);
    let widest = words(trace).iter().map(wide).fold(WORD.0, f32::max) + theme::SPACE_2;
    let room = widest.min(WORD.1 * ui.available_width());
    for (j, word) in words(trace).iter().enumerate() {
        let row = quantity.row(j);
        if row.is_empty() {
            break;
        }
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::CLICK);
        if !ui.is_rect_visible(rect) {
            continue;
        }
        let (names, cells) = rect.split_left_right_at_x(rect.left() + room);
        let text = egui::RichText::new(*word).size(theme::TEXT_SMALL);
        ui.put(names, Label::new(text).truncate().halign(egui::Align::Min));
        let largest = row.iter().fold(1e-6_f32, |most, value| most.max(value.abs()));
        let pitch = cells.width() / row.len() as f32;
        let mut mesh = egui::Mesh::default();
        for (k, value) in row.iter().enumerate() {
            let left = cells.left() + k as f32 * pitch;
            let cell = egui::Rect::from_x_y_ranges(left..=left + pitch, cells.top()..=cells.bottom() - 1.0);
            mesh.add_colored_rect(cell, theme::colour(colour(*value, largest, quantity.span, palette)));
        }
        ui.painter().add(mesh);
        node(&response, Role::Figure, || tr!("{} of {word}, {} numbers", called(quantity), row.len(), word));
        if let Some(at) = response.hover_pos().filter(|at| cells.contains(*at)) {
            let k = (((at.x - cells.left()) / pitch) as usize).min(row.len() - 1);
            clicked = response.clicked().then_some((j, k)).or(clicked);
            response.on_hover_text_at_pointer(tr!("{word}, unit {}: {}", k + 1, format_args!("{:.3}", row[k]), word));
        }
    }
    clicked
}

fn shares_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace, stage: &MachineStage) {
    let Some(step) = trace.steps.get(steps.i) else { return };
    let is_share = stage.key == "alpha";
    let values = if is_share { &step.alpha_i } else { &step.e_i };
    let Some(values) = values else { return };
    let (zero, range) = if is_share { (0.0, 1.0) } else { span(values) };
    let list: Vec<Bar> = words(trace)
        .iter()
        .zip(values)
        .map(|(word, value)| Bar {
            text: (*word).to_owned(),
            share: if value.is_nan() { 0.0 } else { value / range },
            zero,
            number: if value.is_nan() { tr!("none").to_owned() } else { format!("{value:.3}") },
            label: tr!("{} of {word} {value}", lang::text(stage.title), word, value = format_args!("{value:.3}")),
            is_marked: true,
        })
        .collect();
    let hint = if is_share { tr!("Share of this source word") } else { tr!("Before the softmax; orange is below 0") };
    if let Some(unit) = bars(ui, &list, hint) {
        worked::choose(window, WorkedNumber { stage: stage.key, quantity: 0, row: 0, unit });
    }
    if is_share {
        let total: f32 = values.iter().sum();
        labels::caption(ui, tr!("Together {total}", total = format_args!("{total:.3}")));
    }
}

fn candidates_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) {
    let i = steps.i;
    let Some(step) = trace.steps.get(i) else { return };
    let list: Vec<Bar> = trace
        .candidates(i)
        .iter()
        .zip(&step.best)
        .map(|(word, (id, log_p))| Bar {
            text: word.clone(),
            share: log_p.exp(),
            number: format!("{:.3}", log_p.exp()),
            label: tr!("Say {word}, probability {}", format_args!("{:.3}", log_p.exp()), word),
            is_marked: step.said.is_some_and(|(said, _)| said == *id),
            ..Bar::default()
        })
        .collect();
    if let Some(n) = bars(ui, &list, tr!("Click: this word is said, and you choose from here on")) {
        window.push(StepsCommand::Say(step.best[n].0));
    }
    let rest = 1.0 - step.best.iter().map(|(_, log_p)| log_p.exp()).sum::<f32>();
    labels::caption(ui, tr!("All other words together {}", format_args!("{:.3}", rest.max(0.0))));
}

fn word_ui(ui: &mut Ui, steps: &StepsPage, trace: &StepTrace) {
    let i = steps.i;
    let Some((_, log_p)) = trace.steps.get(i).and_then(|step| step.said) else {
        ui.label(tr!("It is waited for: choose a candidate."));
        return;
    };
    ui.label(RichText::new(trace.said(i).unwrap_or_default()).size(theme::TEXT_TITLE));
    ui.label(tr!(
        "Probability {}, log p {log_p}",
        format_args!("{:.3}", log_p.exp()),
        log_p = format_args!("{log_p:.3}")
    ));
}
