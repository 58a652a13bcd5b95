//! What made a number of the open box, term by term; the number is clicked, or chosen by its place.

use egui::{Label, RichText, Ui};

use crate::jobs::steps::StepTrace;
use crate::pages::steps::picture::{first_word, words};
use crate::pages::steps::worked::{Worked, WorkedNumber, quantities, strongest, values, worked};
use crate::pages::{shell::local::Window, steps::StepsPage, steps::view::memory::StepsMemory};
use crate::widgets::bars::{Bar, bars};
use crate::widgets::{labels, theme};
use engine::models::anatomy::MachineStage;
use figure::equation::spoken;

pub fn choose(window: &mut Window<'_>, number: WorkedNumber) {
    let memory = window.local.of::<StepsMemory>();
    (memory.number, memory.shows_made) = (Some(number), true);
}

pub fn worked_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace, stage: &MachineStage) {
    let i = steps.i;
    let chosen = window.local.of::<StepsMemory>().number.filter(|number| number.stage == stage.key);
    let Some(number) = chosen.or_else(|| strongest(trace, i, stage.key)) else { return };
    ui.add_space(theme::SPACE_1);
    let count = values(trace, i, stage.key, number.quantity).map_or(number.unit + 1, <[f32]>::len);
    let of_words = ["alpha", "energies"].contains(&stage.key);
    // units are counted from 1, words as the machine counts them
    let first = if of_words { first_word(trace) } else { 1 };
    let mut unit = number.unit + first;
    ui.horizontal(|ui| {
        let symbol = quantities(trace, i, stage.key).get(number.quantity).map(|quantity| spoken(quantity.symbol));
        let label = ui.label(match symbol {
            _ if of_words => tr!("One number of it: word").to_owned(),
            Some(symbol) => tr!("One number of {symbol}: unit", symbol),
            None => tr!("One number of it: unit").to_owned(),
        });
        let drag = egui::DragValue::new(&mut unit).range(first..=count + first - 1);
        let hint = tr!("Click a number, drag, or type its place, to see what made it");
        if ui.add(drag).labelled_by(label.id).on_hover_text(hint).changed() {
            choose(window, WorkedNumber { unit: unit - first, ..number });
        }
        let words = words(trace);
        let word = if of_words { words.get(unit - first) } else { words.get(number.row).filter(|_| number.row > 0) };
        if let Some(word) = word {
            labels::caption(ui, *word);
        }
    });
    let made = ui.scope(|ui| {
        if let Some(worked) = worked(trace, i, number) {
            made_ui(ui, &worked);
        } else {
            let text =
                tr!("More than the numbers that are seen here made this one: all weights of a row, which stand below.");
            labels::note(ui, text);
        }
    });
    if std::mem::take(&mut window.local.of::<StepsMemory>().shows_made) {
        made.response.scroll_to_me(None);
    }
}

fn made_ui(ui: &mut Ui, worked: &Worked) {
    ui.add(Label::new(RichText::new(&worked.says).color(theme::tokens(ui).weak)).wrap());
    if worked.terms.is_empty() {
        return;
    }
    let parts: Vec<f32> = worked.terms.iter().map(|term| term.part).collect();
    let (zero, range) = span(&parts);
    let terms = worked.terms.iter().map(|term| {
        let (number, label) = match term.factors {
            Some((a, b)) => (
                format!("{a:.3} \u{d7} {b:+.3} = {:+.3}", term.part),
                tr!(
                    "{}: {a} times {b} is {}",
                    term.name,
                    format_args!("{:.3}", term.part),
                    a = format_args!("{a:.3}"),
                    b = format_args!("{b:.3}")
                ),
            ),
            None => (format!("{:+.3}", term.part), format!("{}: {:.3}", term.name, term.part)),
        };
        Bar { text: term.name.clone(), share: term.part / range, zero, number, label, is_marked: true }
    });
    let terms: Vec<Bar> = terms.collect();
    let has_factors = worked.terms.iter().any(|term| term.factors.is_some());
    let hint = if has_factors {
        tr!("One factor times the other; blue adds, orange takes away")
    } else {
        tr!("Blue adds, orange takes away")
    };
    bars(ui, &terms, hint);
    labels::note(ui, tr!("Together {}", format_args!("{:+.3}", parts.iter().sum::<f32>())));
}

pub(super) fn span(values: &[f32]) -> (f32, f32) {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (least, most) = (finite().fold(0.0, f32::min), finite().fold(0.0, f32::max));
    let range = (most - least).max(1e-6);
    (-least / range, range)
}
