//! Floor 10: page Corpus, marks of errors: words of a translation, a kind and a severity.

use egui::{ComboBox, RichText, Ui};

use crate::session::WorkbenchCommand;
use crate::text::links::places::words;
use crate::ui::local::Window;
use crate::ui::theme;
use crate::ui::views::workbench::words::chips_ui;
use crate::worker::keeper::Detail;
use crate::workspace::judge::Mark;

/// The marks of the chosen sentence, and those to be made.
pub fn marks_ui(ui: &mut Ui, window: &mut Window<'_>, detail: &Detail) {
    let t = theme::tokens(ui);
    let judgement = window.session.workbench().judgement();
    for (at, mark) in judgement.marks.iter().enumerate() {
        ui.horizontal_wrapped(|ui| {
            let take = ui.small_button("\u{d7}").on_hover_text("Takes the mark away");
            if take.accessible_name(format!("Take away mark {}", at + 1)).clicked() {
                window.push(WorkbenchCommand::Unmark(at));
            }
            ui.label(RichText::new(told(mark, detail, window)).size(theme::TEXT_SMALL).color(t.error));
        });
    }
    ui.label(RichText::new("Mark an error: click its first and its last word").size(theme::TEXT_SMALL).color(t.weak));
    let systems: Vec<String> =
        window.session.workbench().corpus.systems.iter().map(|column| column.system.name.clone()).collect();
    for (system, output) in systems.iter().zip(&detail.outputs) {
        let Some(output) = output else { continue };
        words_ui(ui, window, (detail.at, system), &output.text);
    }
    mark_ui(ui, window, detail);
}

fn told(mark: &Mark, detail: &Detail, window: &Window<'_>) -> String {
    let systems = &window.session.workbench().corpus.systems;
    let at = systems.iter().position(|column| column.system.name == mark.system);
    let output = at.and_then(|at| detail.outputs.get(at)?.as_ref());
    let words: Vec<&str> = output.map_or_else(Vec::new, |output| words(&output.text).collect());
    let words = words.get(mark.target.0..mark.target.1).unwrap_or_default().join(" ");
    format!("{words}: {}, {} ({})", mark.category, mark.severity, mark.system)
}

/// The words of a translation; a first click begins a span, a second one ends it.
fn words_ui(ui: &mut Ui, window: &mut Window<'_>, (at, system): (usize, &str), text: &str) {
    chips_ui(ui, text, true, |ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for (n, word) in words(text).enumerate() {
            let span = window.local.workbench.span.as_ref().filter(|(of, span)| *of == at && span.system == system);
            let span = span.map(|(_, span)| span);
            let is_within = span.is_some_and(|span| (span.target.0..span.target.1).contains(&n));
            let button = egui::Button::selectable(is_within, RichText::new(word).size(theme::TEXT_SMALL));
            let name = format!("Word {} of {system}: {word}", n + 1);
            if ui.add(button).accessible_name(name).clicked() {
                let span = match span {
                    Some(span) if span.target.1 - span.target.0 == 1 && span.target.0 != n => {
                        (span.target.0.min(n), span.target.1.max(n + 1))
                    }
                    _ => (n, n + 1),
                };
                let severity = window.local.workbench.severity.clone();
                let category = window.local.workbench.category.clone();
                let mark = Mark { system: system.to_owned(), target: span, category, severity, ..Mark::default() };
                window.local.workbench.span = Some((at, mark));
            }
        }
    });
}

fn mark_ui(ui: &mut Ui, window: &mut Window<'_>, detail: &Detail) {
    let span = window.local.workbench.span.clone().filter(|(at, _)| *at == detail.at);
    let Some((_, span)) = span else { return };
    let scheme = std::sync::Arc::clone(&window.session.workbench().corpus.scheme);
    ui.horizontal_wrapped(|ui| {
        let local = &mut window.local.workbench;
        if !scheme.has(&local.category, &local.severity) {
            local.category = scheme.categories.first().cloned().unwrap_or_default();
            local.severity =
                scheme.severities.get(1).or(scheme.severities.first()).map(|one| one.name.clone()).unwrap_or_default();
        }
        let kind = ComboBox::from_id_salt("category").selected_text(&local.category).show_ui(ui, |ui| {
            for category in &scheme.categories {
                ui.selectable_value(&mut local.category, category.clone(), category);
            }
        });
        kind.response.accessible_name("Kind of error");
        let severity = ComboBox::from_id_salt("severity").selected_text(&local.severity).show_ui(ui, |ui| {
            for one in &scheme.severities {
                ui.selectable_value(&mut local.severity, one.name.clone(), &one.name);
            }
        });
        severity.response.accessible_name("Severity");
        let mark = Mark { category: local.category.clone(), severity: local.severity.clone(), ..span.clone() };
        if ui.button("Mark").clicked() {
            local.span = None;
            window.push(WorkbenchCommand::Mark(mark.clone()));
        }
        let missing = Mark { target: (mark.target.0, mark.target.0), ..mark };
        let button = ui.button("Missing before").on_hover_text("Words are missing before the first of these");
        if button.clicked() {
            window.local.workbench.span = None;
            window.push(WorkbenchCommand::Mark(missing));
        }
    });
}
