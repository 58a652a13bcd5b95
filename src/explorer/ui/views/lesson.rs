//! The panel of lessons: their list, or a page with questions; and the frames of highlighted parts.

use std::{collections::BTreeSet, path::Path};

use egui::{Align, Button, Label, Layout, Panel, ProgressBar, RichText, ScrollArea, Stroke, StrokeKind, Ui};

use crate::app::lights::{Highlight, HighlightPart};
use crate::pages::shell::dialogs::{Question, Wants};
use crate::pages::shell::local::{Window, keep_side};
use crate::pages::{lesson::LessonCommand, steps::StepsPage};
use crate::session::lessons::doing::{known, missing_models};
use crate::session::lessons::script::{Ask, ScriptPart};
use crate::session::lessons::{Lessons, Running, progress::Progress, shelf::PATH};
use crate::ui::{act::PAGING, views::manual};
use crate::widgets;
use crate::widgets::{labels, theme};
use crate::{app::document::column::Column, session::lessons::shelf::LessonFile};
use engine::{decoding::SystemSpec, lang};

const LIMITS: (f32, f32) = (260.0, 720.0);
const WIDTH: f32 = 380.0;
const SHARE: f32 = 0.32;
const MOST: f32 = 0.42;
const BELOW: f32 = 0.42;
/// The share of its visible height by which Page Down scrolls.
const PAGE: f32 = 0.8;
const FRAME: (f32, f32) = (2.0, 4.0);

pub fn lessons_ui(ui: &mut Ui, window: &mut Window<'_>, lessons: &Lessons, steps: &StepsPage) {
    if !lessons.is_shown {
        return;
    }
    if theme::is_slim(ui) {
        let below = Panel::bottom("lessons_below").default_size(BELOW * ui.available_height()).resizable(true);
        below.frame(theme::panel(theme::tokens(ui))).show(ui, |ui| panel_ui(ui, window, lessons, steps));
        return;
    }
    let most = (ui.ctx().content_rect().width() * MOST).clamp(LIMITS.0, LIMITS.1);
    let first = WIDTH.min(SHARE * ui.ctx().content_rect().width());
    let width = window.layout.lesson_width.unwrap_or(first).clamp(LIMITS.0, most);
    let panel = Panel::right("lessons").default_size(width).min_size(LIMITS.0).max_size(most).resizable(true);
    let panel = panel.frame(theme::panel(theme::tokens(ui)));
    let shown =
        widgets::sized(ui, ("lessons", tr!("Lessons")), |ui| panel.show(ui, |ui| panel_ui(ui, window, lessons, steps)));
    keep_side(ui, &mut window.layout.lesson_width, width, shown.response.rect.width());
}

fn panel_ui(ui: &mut Ui, window: &mut Window<'_>, lessons: &Lessons, steps: &StepsPage) {
    match lessons.open() {
        Some(running) => lesson_ui(ui, window, (running, steps), lessons.after(&running.key)),
        None => shelf_ui(ui, window, lessons),
    }
}

pub fn toggle(window: &mut Window<'_>) {
    let opens = !window.lights.is_shown;
    window.push(LessonCommand::Show(opens));
    if opens {
        window.layout.manual_open = false;
    }
}

pub fn open(window: &mut Window<'_>, key: &str) {
    window.push(LessonCommand::Open(key.to_owned()));
    window.layout.manual_open = false;
}

pub fn lights_ui(ui: &Ui, window: &Window<'_>) {
    let t = theme::tokens(ui);
    let layer = egui::LayerId::new(egui::Order::Middle, egui::Id::unique("lesson_lights"));
    let painter = ui.ctx().layer_painter(layer);
    for rect in window.local.lit.iter().map(|(_, rect, _)| *rect).filter(egui::Rect::is_positive) {
        painter.rect_stroke(rect, theme::RADIUS, Stroke::new(FRAME.1, t.accent_soft), StrokeKind::Outside);
        painter.rect_stroke(rect, theme::RADIUS, Stroke::new(FRAME.0, t.accent), StrokeKind::Outside);
    }
}

fn shelf_ui(ui: &mut Ui, window: &mut Window<'_>, lessons: &Lessons) {
    ui.horizontal(|ui| {
        ui.heading(tr!("Lessons"));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            window.push_if(ui.button(tr!("Close")).clicked(), LessonCommand::Show(false));
        });
    });
    ui.separator();
    let weak = theme::tokens(ui).weak;
    ScrollArea::vertical().id_salt("lesson_list").auto_shrink([false, false]).show(ui, |ui| {
        ui.label(RichText::new(tr!("A first lesson of 45 minutes")).strong());
        for (key, minutes) in PATH {
            let Some(kept) = lessons.shelf().find(|kept| kept.key == key) else { continue };
            ui.horizontal(|ui| {
                let name = Button::new(kept.title()).truncate();
                let spent = tr!("{minutes} minutes", minutes);
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    labels::caption(ui, spent);
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        let button = ui.add(name).accessible_name(tr!("{}, {minutes} minutes", kept.title(), minutes));
                        if button.clicked() {
                            open(window, key);
                        }
                    });
                });
            });
        }
        ui.add_space(theme::SPACE_3);
        ui.label(RichText::new(tr!("All lessons")).strong());
        let note = tr!("Ten minutes each. A lesson changes what the window shows; when it ends, all is as it was.");
        ui.add(Label::new(RichText::new(note).color(weak)).wrap());
        ui.add_space(theme::SPACE_2);
        let known = known(window.app).iter().map(SystemSpec::name).collect();
        for (n, kept) in lessons.shelf().enumerate() {
            kept_ui(ui, window, (n, kept, &known), lessons.progress.get(&kept.key));
        }
        if let Some(folder) = &lessons.folder {
            ui.add_space(theme::SPACE_3);
            own_ui(ui, folder);
        }
    });
}

fn kept_ui(
    ui: &mut Ui, window: &mut Window<'_>, (n, kept, known): (usize, &LessonFile, &BTreeSet<String>),
    progress: Option<&Progress>,
) {
    let t = theme::tokens(ui);
    let title = format!("{}. {}", n + 1, kept.title());
    let button = Button::new(RichText::new(title).size(theme::TEXT_OUTPUT)).wrap();
    if ui.add_enabled(kept.script.is_some(), button).clicked() {
        open(window, &kept.key);
    }
    let about =
        kept.script.as_ref().and_then(|script| script.about.first()).map(engine::text::markdown::MarkdownBlock::plain);
    if let Some(about) = about {
        labels::note(ui, about);
    }
    let missing = kept.script.as_ref().map(|script| missing_models(script, known)).unwrap_or_default();
    if !missing.is_empty() {
        let names = missing.into_iter().collect::<Vec<_>>().join(", ");
        let text = tr!("Needs models that are not installed: {names}", names);
        ui.add(Label::new(RichText::new(text).size(theme::TEXT_SMALL).color(t.warm)).wrap());
    }
    if let Some(&Progress { page, is_done, .. }) = progress {
        ui.horizontal(|ui| {
            if is_done {
                ui.label(RichText::new(tr!("Done")).size(theme::TEXT_SMALL).color(t.accent));
            } else if page > 0 && labels::small_button(ui, tr!("Continue on page {}", page + 1)).clicked() {
                open(window, &kept.key);
                window.push(LessonCommand::Turn(page));
            }
        });
    }
    if let Some(fault) = &kept.fault {
        ui.add(Label::new(RichText::new(fault).size(theme::TEXT_SMALL).color(t.error)).wrap());
    }
    ui.add_space(theme::SPACE_2);
}

fn own_ui(ui: &mut Ui, folder: &Path) {
    let text = tr!(
        "Lessons of your own: TOML files in {}. They are read again when they are saved; the manual's page for teachers \
         says how they are written.",
        folder.display()
    );
    labels::note(ui, text);
}

fn lesson_ui(
    ui: &mut Ui, window: &mut Window<'_>, (running, steps): (&Running, &StepsPage), next: Option<&LessonFile>,
) {
    let bar = Panel::bottom("lesson_bar").frame(egui::Frame::new().inner_margin(egui::Margin::symmetric(0, 6)));
    bar.show(ui, |ui| bar_ui(ui, window, running));
    head_ui(ui, window, running);
    let id = ("lesson_page", &running.key, running.page);
    let [down, up] = PAGING.map(|key| ui.input_mut(|input| input.consume_shortcut(&key)));
    let by = f32::from(i8::from(up) - i8::from(down)) * PAGE * ui.available_height();
    ScrollArea::vertical().id_salt(id).auto_shrink([false, false]).show(ui, |ui| {
        if by != 0.0 {
            ui.scroll_with_delta(egui::vec2(0.0, by));
        }
        page_ui(ui, window, running, steps);
        if running.is_last() {
            summary_ui(ui, window, running, next);
        }
    });
}

fn summary_ui(ui: &mut Ui, window: &mut Window<'_>, running: &Running, next: Option<&LessonFile>) {
    let t = *theme::tokens(ui);
    theme::card(&t).inner_margin(egui::Margin::same(10)).show(ui, |ui| {
        ui.take_available_width();
        ui.label(RichText::new(tr!("The lesson is at its end")).strong());
        let outcome = running.outcome();
        if outcome.asked > 0 {
            let text = tr!(
                "You answered {} of {} questions rightly, {} of them at once.",
                outcome.right,
                outcome.asked,
                outcome.at_once
            );
            ui.add(Label::new(text).wrap());
        }
        let Some(next) = next else { return };
        if ui.add(Button::new(tr!("Next lesson: {}", next.title())).wrap()).clicked() {
            open(window, &next.key);
        }
    });
    ui.add_space(theme::SPACE_3);
}

const HANDOUT: Question = Question::new(
    id!("Print a lesson"),
    id!("Save"),
    Wants::NewFile("lesson.html"),
    id!("HTML for the class, to be printed from a browser; the solutions go into a second file beside it."),
);

fn head_ui(ui: &mut Ui, window: &mut Window<'_>, running: &Running) {
    let t = *theme::tokens(ui);
    let (page, pages) = (running.page + 1, running.script.pages.len());
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let note =
                tr!("For the class, with the pictures of the pages that were open, and the solutions in a second file");
            if labels::small_button(ui, tr!("Print...")).on_hover_text(note).clicked() {
                window.ask(HANDOUT.then(LessonCommand::Print));
            }
            labels::caption(ui, tr!("{page} of {pages}", page, pages));
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let title = RichText::new(&running.script.title).size(theme::TEXT_SMALL).color(t.weak);
                ui.add(Label::new(title).truncate());
            });
        });
    });
    ui.add(Label::new(RichText::new(&running.shown().heading).size(theme::TEXT_TITLE).strong()).wrap());
    let bar = ProgressBar::new(page as f32 / pages as f32).desired_height(4.0);
    let _ = ui.add(bar).accessible_name(tr!("Page {page} of {pages}", page, pages));
    ui.add_space(theme::SPACE_1);
}

/// Both buttons keep their place, so that one key turns all pages. The last page keeps the focus on Next.
fn bar_ui(ui: &mut Ui, window: &mut Window<'_>, running: &Running) {
    let weak = theme::tokens(ui).weak;
    let fits = ui.horizontal(|ui| {
        let waits = running.waits().is_some();
        let back = ui.add_enabled(running.page > 0, Button::new(tr!("Page back")));
        window.push_if(back.clicked(), LessonCommand::Back);
        let text = RichText::new(if waits { tr!("Pass over") } else { tr!("Next page") });
        let is_last = running.is_last();
        let next = ui.add(Button::new(if is_last { text.color(weak) } else { text }));
        if is_last {
            ui.ctx().accesskit_node_builder(next.id, egui::accesskit::Node::set_disabled);
        } else if next.clicked() {
            window.push(LessonCommand::Next);
        }
        let now = Some((running.key.clone(), running.page, waits));
        let is_other = window.local.seen_lesson.as_ref().is_none_or(|(key, ..)| *key != running.key);
        // A button that cannot be pressed would keep it, and Tab would lead nowhere.
        let is_free = back.has_focus() && !back.enabled() || ui.memory(|memory| memory.focused().is_none());
        if is_other || window.local.seen_lesson != now && is_free {
            next.request_focus();
        }
        window.local.seen_lesson = now;
        let letters = egui::WidgetText::from(lang::text(END))
            .into_galley(ui, None, f32::INFINITY, egui::TextStyle::Button)
            .size()
            .x;
        let fits = ui.available_width() >= letters + 2.0 * ui.spacing().button_padding.x;
        if fits {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| end_ui(ui, window));
        }
        fits
    });
    if !fits.inner {
        end_ui(ui, window);
    }
}

const END: &str = id!("End lesson");

fn end_ui(ui: &mut Ui, window: &mut Window<'_>) {
    if ui.button(lang::text(END)).on_hover_text(tr!("The window is again as it was before")).clicked() {
        window.local.seen_lesson = None;
        window.push(LessonCommand::Close);
    }
}

fn page_ui(ui: &mut Ui, window: &mut Window<'_>, running: &Running, steps: &StepsPage) {
    let t = *theme::tokens(ui);
    let mut follows = None;
    let is_seen = |part: &ScriptPart| matches!(part, ScriptPart::Text(_) | ScriptPart::Ask(..) | ScriptPart::Wait(_));
    for (at, part) in running.parts().iter().enumerate().filter(|(_, part)| is_seen(part)) {
        ui.push_id(at, |ui| match part {
            ScriptPart::Text(blocks) => manual::blocks_ui(ui, window, blocks, &mut follows),
            ScriptPart::Ask(ask) => ask_ui(ui, window, running, at, ask),
            ScriptPart::Wait(wait) => {
                let came = match running.passed.contains(&(running.page, at)) {
                    _ if running.waits() == Some(wait) => None,
                    false => Some(tr!("Done")),
                    true if wait.thing.can_be_done() => Some(tr!("Done for you")),
                    true => Some(tr!("Passed over, not done")),
                };
                turn_ui(ui, &wait.says(), came);
            }
            ScriptPart::Do(_) | ScriptPart::Light(_) => {}
        });
    }
    for trouble in &running.troubles {
        ui.add(Label::new(RichText::new(trouble).color(t.warm)).wrap());
    }
    if !running.lights.is_empty() {
        let list: Vec<String> =
            running.lights.iter().map(|light| light.text(called(window, steps, light).as_deref())).collect();
        let text = tr!("Framed: {}", list.join(", "));
        labels::note(ui, text);
    }
    let has_asks = running.shown().asks().next().is_some();
    let is_open = !running.revealed.contains(&running.page) && running.waits().is_none();
    window.push_if(
        has_asks && is_open && ui.button(tr!("Reveal")).on_hover_text(tr!("Shows the answers of this page")).clicked(),
        LessonCommand::Reveal,
    );
    ui.add_space(theme::SPACE_5);
    if let Some(link) = follows {
        manual::follow(ui, window, &link);
    }
}

fn called(window: &Window<'_>, steps: &StepsPage, light: &Highlight) -> Option<String> {
    let of = light.of.as_deref()?;
    let name = if light.lit == HighlightPart::Box {
        let trace = steps.trace.as_ref();
        trace.and_then(|trace| {
            Some(lang::text(trace.machine.stages.iter().find(|stage| stage.key == of)?.title).to_owned())
        })
    } else {
        let columns = &window.app.document.columns;
        columns.iter().find(|column| column.system.name() == of).map(Column::name)
    };
    Some(name.unwrap_or_else(|| of.to_owned()))
}

fn turn_ui(ui: &mut Ui, says: &str, came: Option<&str>) {
    let t = *theme::tokens(ui);
    if let Some(came) = came {
        ui.add(Label::new(RichText::new(tr!("{came}: {says}", came, says)).color(t.weak)).wrap());
        ui.add_space(theme::SPACE_2);
        return;
    }
    let frame = egui::Frame::new().fill(t.accent_soft).corner_radius(theme::RADIUS).inner_margin(egui::Margin::same(8));
    frame.show(ui, |ui| {
        ui.take_available_width();
        ui.label(RichText::new(tr!("Your turn")).size(theme::TEXT_SMALL).color(t.accent));
        ui.add(Label::new(says).wrap());
    });
    ui.add_space(theme::SPACE_2);
}

fn ask_ui(ui: &mut Ui, window: &mut Window<'_>, running: &Running, at: usize, ask: &Ask) {
    let t = *theme::tokens(ui);
    let place = (running.page, at);
    let chosen = running.answers.get(&place).copied();
    let is_revealed = running.revealed.contains(&running.page);
    theme::card(&t).inner_margin(egui::Margin::same(10)).show(ui, |ui| {
        ui.take_available_width();
        ui.add(Label::new(RichText::new(&ask.question).strong()).wrap());
        for (n, choice) in ask.choices.iter().enumerate() {
            window.push_if(ui.radio(chosen == Some(n), choice.text()).clicked(), LessonCommand::Answer(at, n));
        }
        if ask.is_open() {
            typed_ui(ui, window, running, at, ask);
        }
        let is_said = running.typed.contains_key(&place);
        let is_right = running.is_right(place, ask);
        if let Some(is_right) = is_right.filter(|_| !ask.is_open()) {
            let (text, colour) = if is_right { (tr!("Right."), t.accent) } else { (tr!("Not quite."), t.warm) };
            ui.label(RichText::new(text).color(colour).strong());
            if !is_right && !ask.hint.is_empty() {
                ui.add(Label::new(&ask.hint).wrap());
            }
        }
        if is_revealed || is_said {
            ui.add(Label::new(tr!("Answer: {}", ask.solution())).wrap());
        }
        if is_said {
            mark_ui(ui, window, at, is_right);
        }
        if (is_revealed || is_said || is_right == Some(true)) && !ask.why.is_empty() {
            ui.add(Label::new(RichText::new(&ask.why).color(t.weak)).wrap());
        }
    });
    ui.add_space(theme::SPACE_2);
}

/// No program judges words: the reader, or the class, says whether the answer is right.
fn mark_ui(ui: &mut Ui, window: &mut Window<'_>, at: usize, is_right: Option<bool>) {
    ui.horizontal_wrapped(|ui| {
        ui.label(tr!("Was yours right?"));
        for (value, name) in [(true, tr!("Yes")), (false, tr!("Not quite"))] {
            window.push_if(ui.radio(is_right == Some(value), name).clicked(), LessonCommand::Mark(at, value));
        }
    });
}

fn typed_ui(ui: &mut Ui, window: &mut Window<'_>, running: &Running, at: usize, ask: &Ask) {
    let given = running.typed.get(&(running.page, at));
    let draft = egui::Id::unique(("draft", &running.key, running.page, at));
    let mut text = ui.data(|data| data.get_temp::<String>(draft)).or_else(|| given.cloned()).unwrap_or_default();
    let field = egui::TextEdit::multiline(&mut text).hint_text(tr!("Your answer")).desired_width(f32::INFINITY);
    let new_line = egui::KeyboardShortcut::new(egui::Modifiers::SHIFT, egui::Key::Enter);
    let field = ui.add(field.desired_rows(2).return_key(new_line));
    let field = field.accessible_name(tr!("Your answer to {}", ask.question));
    let is_enter = |input: &egui::InputState| input.key_pressed(egui::Key::Enter) && !input.modifiers.shift;
    let is_entered = field.has_focus() && ui.input(is_enter);
    let is_new = !text.trim().is_empty() && given.is_none_or(|given| *given != text);
    if (ui.add_enabled(is_new, Button::new(tr!("Compare"))).clicked() || is_entered) && is_new {
        window.push(LessonCommand::Say(at, text.clone()));
    }
    if given.is_none() && !ask.hint.is_empty() {
        ui.push_id(draft, |ui| ui.collapsing(tr!("A hint"), |ui| ui.add(Label::new(&ask.hint).wrap())));
    }
    ui.data_mut(|data| data.insert_temp(draft, text));
}
