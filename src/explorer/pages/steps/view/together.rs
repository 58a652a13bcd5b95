//! The answers of all groups of the class next to the model's.

use egui::{Button, Ui};

use crate::jobs::steps::StepTrace;
use crate::pages::steps::command::{Guessed, StepsCommand};
use crate::pages::steps::guess::{Guessing, is_same};
use crate::pages::{shell::local::Window, steps::StepsPage, steps::picture::words, steps::view::rows};
use crate::widgets::bars::{Bar, bars};
use crate::widgets::{labels, theme};

const MOST_WORDS: usize = 8;

pub fn groups_ui(ui: &mut Ui, guessing: &Guessing, window: &mut Window<'_>) {
    let next = ui.add_enabled(guessing.is_made(), Button::new(tr!("Next group")));
    let note = tr!("Keeps this guess as that of a group, and the next group guesses; Show counts them all");
    window.push_if(next.on_hover_text(note).on_disabled_hover_text(note).clicked(), StepsCommand::NextGroup);
    if guessing.voices() > 0 {
        labels::caption(ui, groups(guessing.voices()));
    }
}

fn groups(count: usize) -> String {
    tr!("{n} group" | "{n} groups" % count)
}

fn thought(steps: &StepsPage) -> Option<&Guessing> {
    steps.guessing.as_ref().filter(|guessing| guessing.is_revealed && guessing.voices() > 0)
}

pub fn together_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) {
    match thought(steps) {
        Some(guessing) if guessing.of == Guessed::Row => row_ui(ui, steps, guessing, trace),
        Some(guessing) if guessing.of == Guessed::Word => word_ui(ui, steps, window, guessing, trace),
        _ => {}
    }
}

pub fn whole_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) -> bool {
    let Some(guessing) = thought(steps).filter(|guessing| guessing.of == Guessed::Whole && steps.open.is_none()) else {
        return false;
    };
    beside(ui, guessing, window, |ui, window, is_class| {
        if is_class {
            rows::class_ui(ui, steps, window, trace);
        } else {
            rows::rows_ui(ui, steps, window, trace);
        }
    });
    true
}

fn beside<T>(ui: &mut Ui, guessing: &Guessing, given: &mut T, paint: impl Fn(&mut Ui, &mut T, bool)) {
    ui.columns(2, |sides| {
        for (side, is_class) in sides.iter_mut().zip([true, false]) {
            let name =
                if is_class { tr!("The class, {}", groups(guessing.voices())) } else { tr!("The model").to_owned() };
            labels::caption(side, name);
            side.push_id(is_class, |ui| paint(ui, given, is_class));
        }
    });
    ui.add_space(theme::SPACE_1);
}

fn bar(name: &str, share: f32, number: String, said: &str) -> Bar {
    Bar { text: name.to_owned(), share, number, label: format!("{name}: {said}"), is_marked: true, ..Bar::default() }
}

fn voices(count: usize, of: usize, name: &str) -> Bar {
    let number = tr!("{count} of {of}", count, of);
    let said = tr!("{number} groups", number);
    bar(name, count as f32 / of.max(1) as f32, number, &said)
}

fn percent(share: f32, name: &str, what: &str) -> Bar {
    bar(
        name,
        share,
        format!("{share:.2}"),
        &tr!("the model\u{2019}s {what} {share}", what, share = format_args!("{share:.2}")),
    )
}

fn row_ui(ui: &mut Ui, steps: &StepsPage, guessing: &Guessing, trace: &StepTrace) {
    let Some(alpha_i) = trace.steps.get(steps.i).and_then(|step| step.alpha_i.as_ref()) else { return };
    let words = words(trace);
    let counts = guessing.word_counts(words.len());
    let all: Vec<(&str, usize, f32)> =
        words.iter().zip(counts).zip(alpha_i).map(|((word, count), alpha)| (*word, count, *alpha)).collect();
    shown_ui(ui, guessing, all, "alpha");
}

fn word_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, guessing: &Guessing, trace: &StepTrace) {
    let Some(step) = trace.steps.get(steps.i) else { return };
    let marks = steps.marks(window.app);
    let said = guessing.said_counts(&marks);
    let candidates = trace.candidates(steps.i).iter().zip(step.best.iter().map(|(_, log_p)| log_p.exp()));
    let candidates: Vec<(&str, f32)> = candidates.map(|(word, p)| (word.as_str(), p)).collect();
    let p = |word: &str| candidates.iter().find(|(other, _)| is_same(word, other, &marks)).map_or(0.0, |(_, p)| *p);
    let mut all: Vec<(&str, usize, f32)> = said.iter().map(|(word, count)| (word.as_str(), *count, p(word))).collect();
    let is_new = |word: &str| !said.iter().any(|(other, _)| is_same(other, word, &marks));
    all.extend(candidates.iter().filter(|(word, _)| is_new(word)).map(|(word, p)| (*word, 0, *p)));
    shown_ui(ui, guessing, all, "p");
}

fn shown_ui(ui: &mut Ui, guessing: &Guessing, mut all: Vec<(&str, usize, f32)>, what: &str) {
    let of = guessing.voices();
    if all.len() > MOST_WORDS {
        let weight = |(_, count, share): &(&str, usize, f32)| (*count as f32 / of.max(1) as f32).max(*share);
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|a, b| weight(&all[*b]).total_cmp(&weight(&all[*a])));
        order.truncate(MOST_WORDS);
        order.sort_unstable();
        all = order.into_iter().map(|n| all[n]).collect();
    }
    beside(ui, guessing, &mut (), |ui, (), is_class| {
        let side = all.iter().map(
            |(word, count, share)| {
                if is_class { voices(*count, of, word) } else { percent(*share, word, what) }
            },
        );
        bars(ui, &side.collect::<Vec<_>>(), tr!("Of the groups at the left, of the model at the right"));
    });
}
