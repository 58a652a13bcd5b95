//! Floor 11: page Corpus, marks of errors: words of a translation, words of the source, a kind and a severity.

use egui::{Button, ComboBox, RichText, ScrollArea, Ui};

use crate::corpus::judgements::judge::{ErrorMark, StaleMark};
use crate::jobs::corpus::thread::Detail;
use crate::pages::corpus::CorpusPage;
use crate::pages::corpus::command::CorpusCommand;
use crate::pages::corpus::view::memory::CorpusMemory;
use crate::pages::corpus::view::tints::{TintedWords, Tints, line};
use crate::pages::corpus::view::words::chips_ui;
use crate::pages::shell::local::Window;
use crate::text::cut::WordRule;
use crate::text::words::words_of;
use crate::widgets::{labels, theme};

/// The words of a text as chips are no higher; those of a long one scroll, points.
const CHIPS: f32 = 112.0;

/// The marks of the chosen sentence, and those to be made in what the chosen system says.
pub fn marks_ui(ui: &mut Ui, workbench: &CorpusPage, window: &mut Window<'_>, detail: &Detail, tints: &Tints) {
    let systems: Vec<String> = workbench.corpus.systems.iter().map(|column| column.system.name.clone()).collect();
    let there: Vec<usize> =
        (0..systems.len()).filter(|at| detail.outputs.get(*at).is_some_and(Option::is_some)).collect();
    let chosen = window.local.of::<CorpusMemory>().marking.judged;
    let chosen = there.iter().find(|at| **at == chosen).or(there.first()).copied();
    if let Some(chosen) = chosen
        && let Some(output) = detail.outputs.get(chosen).and_then(Option::as_ref)
    {
        systems_ui(ui, window, (&systems, &there), chosen, tints);
        let hint = tr!("To mark an error, click its first and its last word");
        labels::caption(ui, hint);
        let rules = workbench.corpus.rules;
        words_ui(ui, window, (detail.at, &systems[chosen]), (&output.text, rules.target));
        source_ui(ui, window, (detail, rules.source));
        mark_ui(ui, workbench, window, detail);
    }
    for seen in &tints.seen {
        seen_ui(ui, workbench, window, detail, (seen, tints));
    }
    for (annotator, judgement) in detail.judgements.iter() {
        for (n, stale) in judgement.stale.iter().enumerate() {
            let own = (*annotator == workbench.kept.annotator).then_some(judgement.marks.len() + n);
            stale_ui(ui, window, (own, annotator), stale);
        }
    }
    let local = &window.local.of::<CorpusMemory>();
    let next = local.marking.over_mark.as_ref().or(local.marking.mark.as_ref()).filter(|key| tints.has(key));
    if next != tints.shown.as_ref() {
        // The texts above were painted before.
        ui.ctx().request_repaint();
    }
}

/// Whose errors are judged, and that there are none.
fn systems_ui(
    ui: &mut Ui,
    window: &mut Window<'_>,
    (systems, there): (&[String], &[usize]),
    chosen: usize,
    tints: &Tints,
) {
    let judgement = &tints.own;
    ui.horizontal_wrapped(|ui| {
        for &at in there {
            let count = tints.seen.iter().filter(|seen| seen.mark.system == systems[at]).count();
            let is_judged = judgement.judges(&systems[at]);
            let count = if count > 0 || is_judged { format!(" ({count})") } else { String::new() };
            let tab = ui.selectable_label(at == chosen, format!("{}. {}{count}", at + 1, systems[at]));
            if tab.accessible_name(tr!("Errors of {}{count}", systems[at], count)).clicked() {
                window.local.of::<CorpusMemory>().marking.judged = at;
                window.local.of::<CorpusMemory>().marking.span = None;
            }
        }
        let name = &systems[chosen];
        let is_marked = judgement.marks.iter().any(|mark| mark.system == *name);
        let button = Button::selectable(judgement.no_errors.contains(name), tr!("No errors"));
        let button = ui.add_enabled(!is_marked, button.frame_when_inactive(true));
        let about = tr!("Says that this translation was read and has none. One that nobody judged has no score");
        let button = button.on_hover_text(about).on_disabled_hover_text(tr!("Errors are marked in this translation"));
        if button.accessible_name(tr!("No errors in {name}", name)).clicked() {
            window.push(CorpusCommand::NoErrors(name.clone()));
        }
    });
}

/// A mark as a line: while the mouse is over it, or once it was clicked, its words are shown in the texts.
fn seen_ui(
    ui: &mut Ui,
    workbench: &CorpusPage,
    window: &mut Window<'_>,
    detail: &Detail,
    (seen, tints): (&TintedWords, &Tints),
) {
    let own = seen.key.annotator == workbench.kept.annotator;
    ui.horizontal(|ui| {
        if own {
            let take = ui.small_button("\u{d7}").on_hover_text(tr!("Takes the mark away"));
            if take.accessible_name(tr!("Take away mark {}", seen.key.number + 1)).clicked() {
                window.local.of::<CorpusMemory>().marking.mark = None;
                window.push(CorpusCommand::Unmark(seen.key.number));
            }
        }
        let by = if own { String::new() } else { tr!(", by {}", seen.key.annotator) };
        let text = format!("{}{by}", told(&seen.mark, detail, workbench));
        let colour = line(ui, &workbench.corpus.scheme, &seen.mark.severity).color;
        let is_chosen = window.local.of::<CorpusMemory>().marking.mark.as_ref() == Some(&seen.key);
        let is_shown = tints.shown.as_ref() == Some(&seen.key);
        let button =
            Button::selectable(is_chosen || is_shown, RichText::new(&text).size(theme::TEXT_SMALL).color(colour));
        let button = ui.add(button.truncate());
        if button.hovered() || button.has_focus() {
            window.local.of::<CorpusMemory>().marking.over_mark = Some(seen.key.clone());
        }
        if button.on_hover_text(&text).accessible_name(text).clicked() {
            window.local.of::<CorpusMemory>().marking.mark = (!is_chosen).then(|| seen.key.clone());
        }
    });
}

/// A mark that is set apart: the system says something else now.
fn stale_ui(ui: &mut Ui, window: &mut Window<'_>, (own, annotator): (Option<usize>, &str), stale: &StaleMark) {
    ui.horizontal(|ui| {
        if let Some(number) = own {
            let take = ui.small_button("\u{d7}").on_hover_text(tr!("Takes the mark away"));
            if take.accessible_name(tr!("Take away mark {}", number + 1)).clicked() {
                window.push(CorpusCommand::Unmark(number));
            }
        }
        let by = if own.is_some() { String::new() } else { tr!(", by {annotator}", annotator) };
        let StaleMark { mark, words } = stale;
        let text = tr!("Set apart{by}: {words}: {}, {} ({})", mark.category, mark.severity, mark.system, by, words);
        let note = tr!("What was marked was replaced by another translation; the mark is kept and counts for nothing");
        let text = RichText::new(text).size(theme::TEXT_SMALL).color(theme::tokens(ui).weak);
        ui.add(egui::Label::new(text).truncate()).on_hover_text(note);
    });
}

fn told(mark: &ErrorMark, detail: &Detail, workbench: &CorpusPage) -> String {
    let systems = &workbench.corpus.systems;
    let at = systems.iter().position(|column| column.system.name == mark.system);
    let output = at.and_then(|at| detail.outputs.get(at)?.as_ref());
    let rules = workbench.corpus.rules;
    let said = output.map_or("", |output| words_of(&output.text, rules.target, mark.target)).to_owned();
    let said = if mark.target.0 == mark.target.1 { tr!("missing").to_owned() } else { said };
    let source = words_of(&detail.sentence.source, rules.source, mark.source);
    let source = if source.is_empty() { String::new() } else { tr!(" for \u{201c}{source}\u{201d}", source) };
    format!("{said}{source}: {}, {} ({})", mark.category, mark.severity, mark.system)
}

/// The words of a translation; a first click begins a span, a second one ends it.
fn words_ui(ui: &mut Ui, window: &mut Window<'_>, (at, system): (usize, &str), text: (&str, WordRule)) {
    let local = window.local.of::<CorpusMemory>();
    let mark =
        local.marking.span.as_ref().filter(|(of, mark)| *of == at && mark.system == system).map(|(_, mark)| mark);
    let target = mark.map_or((0, 0), |mark| mark.target);
    let Some(n) = clicked(ui, text, &tr!("of {system}", system), target) else { return };
    let mark = match mark {
        Some(mark) => ErrorMark { target: spanned(target, n), ..mark.clone() },
        None => ErrorMark {
            system: system.to_owned(),
            target: (n, n + 1),
            category: local.marking.category.clone(),
            severity: local.marking.severity.clone(),
            ..ErrorMark::default()
        },
    };
    local.marking.span = Some((at, mark));
}

/// The words of the source that a mark concerns, once there is one.
fn source_ui(ui: &mut Ui, window: &mut Window<'_>, (detail, rule): (&Detail, WordRule)) {
    let local = window.local.of::<CorpusMemory>();
    let Some((_, mark)) = local.marking.span.as_mut().filter(|(at, _)| *at == detail.at) else { return };
    let note = tr!("Which words of the source does it concern, if any?");
    labels::caption(ui, note);
    if let Some(n) = clicked(ui, (&detail.sentence.source, rule), tr!("of the source"), mark.source) {
        // the only one that was chosen is no longer meant
        mark.source = if mark.source == (n, n + 1) { (0, 0) } else { spanned(mark.source, n) };
    }
}

/// A span after a click: one word, or up to it from the only one so far.
fn spanned((from, to): (usize, usize), n: usize) -> (usize, usize) {
    if to == from + 1 && from != n { (from.min(n), to.max(n + 1)) } else { (n, n + 1) }
}

/// Words as chips, those of a span chosen; answers with the one that was clicked.
fn clicked(ui: &mut Ui, (text, rule): (&str, WordRule), whose: &str, span: (usize, usize)) -> Option<usize> {
    let mut answer = None;
    let area = ScrollArea::vertical().id_salt(whose).max_height(CHIPS).auto_shrink([false, true]);
    let chips = |ui: &mut Ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for (n, word) in rule.words(text).into_iter().enumerate() {
            let is_within = (span.0..span.1).contains(&n);
            let button = egui::Button::selectable(is_within, RichText::new(word).size(theme::TEXT_SMALL));
            if ui.add(button).accessible_name(tr!("Word {} {whose}: {word}", n + 1, whose, word)).clicked() {
                answer = Some(n);
            }
        }
    };
    area.show(ui, |ui| chips_ui(ui, text, chips));
    answer
}

fn mark_ui(ui: &mut Ui, workbench: &CorpusPage, window: &mut Window<'_>, detail: &Detail) {
    let span = window.local.of::<CorpusMemory>().marking.span.clone().filter(|(at, _)| *at == detail.at);
    let Some((_, span)) = span else { return };
    let scheme = std::sync::Arc::clone(&workbench.corpus.scheme);
    ui.horizontal_wrapped(|ui| {
        let local = window.local.of::<CorpusMemory>();
        if !scheme.has(&local.marking.category, &local.marking.severity) {
            local.marking.category = scheme.categories.first().cloned().unwrap_or_default();
            local.marking.severity =
                scheme.severities.get(1).or(scheme.severities.first()).map(|one| one.name.clone()).unwrap_or_default();
        }
        let kind = ComboBox::from_id_salt("category").selected_text(&local.marking.category).show_ui(ui, |ui| {
            for category in &scheme.categories {
                ui.selectable_value(&mut local.marking.category, category.clone(), category);
            }
        });
        kind.response.accessible_name(tr!("Kind of error"));
        let severity = ComboBox::from_id_salt("severity").selected_text(&local.marking.severity).show_ui(ui, |ui| {
            for one in &scheme.severities {
                ui.selectable_value(&mut local.marking.severity, one.name.clone(), &one.name);
            }
        });
        severity.response.accessible_name(tr!("Severity"));
        let mark = ErrorMark {
            category: local.marking.category.clone(),
            severity: local.marking.severity.clone(),
            ..span.clone()
        };
        if ui.button(tr!("Mark")).clicked() {
            local.marking.span = None;
            window.push(CorpusCommand::Mark(mark.clone()));
        }
        let missing = ErrorMark { target: (mark.target.0, mark.target.0), ..mark };
        let button = ui.button(tr!("Missing before")).on_hover_text(tr!("Words are missing before the first of these"));
        if button.clicked() {
            window.local.of::<CorpusMemory>().marking.span = None;
            window.push(CorpusCommand::Mark(missing));
        }
    });
}
