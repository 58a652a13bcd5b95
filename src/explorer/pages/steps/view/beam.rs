//! The beam of the step beside the machine, with the path that the steps take.

use std::borrow::Cow;

use egui::accesskit::Role;
use egui::{RichText, ScrollArea, Sense, Ui, vec2};

use crate::app::{document::column::Column, lights::HighlightPart};
use crate::jobs::steps::StepTrace;
use crate::pages::steps::beam::{BeamLine, Became, beam};
use crate::pages::{shell::local::Window, steps::Guessed, steps::StepsPage};
use crate::widgets::{labels, marks, node, theme};
use figure::{beam::BeamRow, palette::Rgba};

const ROW: f32 = 22.0;
const BEFORE: usize = 7;
const FAINT: f32 = 0.5;

pub fn beam_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) {
    let app = window.app;
    let Some(column) = steps.column(app) else { return };
    let place = ui.available_rect_before_wrap();
    let t = *theme::tokens(ui);
    let i = steps.i;
    let lines = beam(column, trace, i);
    ui.horizontal(|ui| {
        ui.label(RichText::new(tr!("Beam at step {}", i + 1)).color(t.weak));
        let key = tr!("the best first, with their log p; faint ones fell out");
        ui.add(egui::Label::new(RichText::new(key).size(theme::TEXT_SMALL).color(t.weak)).truncate());
    });
    if let Some(why) = why_not(steps, column, trace, &lines) {
        labels::note(ui, why);
    } else {
        ScrollArea::vertical().id_salt("steps_beam").auto_shrink([false, false]).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for (n, line) in lines.iter().enumerate() {
                line_ui(ui, n, line);
            }
        });
    }
    window.part(ui, HighlightPart::Beam, &column.system.name(), place);
}

fn why_not(steps: &StepsPage, column: &Column, trace: &StepTrace, lines: &[BeamLine<'_>]) -> Option<&'static str> {
    if steps.hides(Guessed::Word, steps.i) {
        return Some(tr!("It is shown when the word has been guessed."));
    }
    if !steps.is_done("word") {
        return Some(tr!("It is there when the step has said its word."));
    }
    if !column.set.is_empty() {
        return Some(tr!("What is set on page Sentence was in this search, and the steps leave it out."));
    }
    if trace.wrong.is_some() {
        return Some(tr!("The search ran with the model as it is, and its beam says nothing of this one."));
    }
    if column.decoding || column.stale {
        return Some(tr!("It is there when the search has ended."));
    }
    if column.result.nodes.is_empty() {
        return Some(tr!("The search was too large to keep; a shorter text or a smaller beam shows it."));
    }
    lines.is_empty().then_some(tr!("The search of the column had ended before this step."))
}

fn line_ui(ui: &mut Ui, n: usize, line: &BeamLine<'_>) {
    let palette = theme::palette(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
    let text = line.words.iter().map(|(word, _)| word.as_ref()).collect::<Vec<_>>().join(" ");
    let path = if line.is_path { tr!(", the path of the steps") } else { "" };
    let said = || {
        tr!(
            "Beam {}, {}{path}, log p {}, {text}",
            n + 1,
            line.became.name(),
            format_args!("{:.2}", line.log_p),
            path,
            text
        )
    };
    node(&response, Role::ListItem, said);
    if ui.is_rect_visible(rect) {
        let row = BeamRow {
            place: n + 1,
            log_p: line.log_p,
            words: last(line),
            back: if line.is_path { palette.accent_soft } else { Rgba::TRANSPARENT },
            ..BeamRow::default()
        };
        let mut painter = ui.painter_at(rect);
        if line.became == Became::FellOut {
            painter.multiply_opacity(FAINT);
        }
        marks::paint(&painter, row.marks(&rect, palette));
    }
    response.on_hover_text(said());
}

fn last<'a>(line: &BeamLine<'a>) -> Vec<(Cow<'a, str>, f32)> {
    let from = line.words.len().saturating_sub(BEFORE + 1);
    let dots = (from > 0).then_some((Cow::Borrowed("\u{2026}"), 0.0));
    let words = line.words[from..].iter().map(|(word, log_p)| (word.clone(), *log_p));
    dots.into_iter().chain(words).collect()
}
