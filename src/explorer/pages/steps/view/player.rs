//! What the steps are of, and how one goes through them: choices, the words, the player.

use std::time::Duration;

use egui::{ComboBox, EventFilter, Key, Modifiers, RichText, Slider, Ui};

use crate::jobs::steps::StepTrace;
use crate::pages::steps::view::{guess, rows};
use crate::pages::steps::{GUESSES, Guessed, MODES, Mode, PACES};
use crate::pages::{
    shell::local::Window, shell::source, steps::StepsPage, steps::command::StepsCommand, steps::depth::DEPTHS,
    steps::depth::StepsChoice, steps::view::memory::StepsMemory,
};
use crate::widgets::{labels, theme};
use engine::lang;
use engine::models::anatomy::Miswiring;

const KEYS: &[(Key, StepsCommand)] = &[
    (Key::ArrowRight, StepsCommand::Move(1)),
    (Key::ArrowLeft, StepsCommand::Move(-1)),
    (Key::PageDown, StepsCommand::Move(1)),
    (Key::PageUp, StepsCommand::Move(-1)),
    (Key::ArrowDown, StepsCommand::MoveWord(1)),
    (Key::ArrowUp, StepsCommand::MoveWord(-1)),
];

const WITH_PACE: f32 = 400.0;

pub fn keys(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>) {
    arrive(ui, window);
    // they go through the steps, and leave the keyboard with what has it
    let arrows = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.focused().into_iter().for_each(|id| memory.set_focus_lock_filter(id, arrows)));
    if ui.ctx().text_edit_focused() || egui::Popup::is_any_open(ui.ctx()) {
        return;
    }
    // The grid of a guess has the arrow keys while it has the keyboard.
    let is_in_grid =
        steps.whole().is_some_and(|guessing| !guessing.is_revealed) && ui.memory(|memory| memory.has_focus(rows::id()));
    for (key, command) in KEYS {
        let is_arrow = !matches!(key, Key::PageDown | Key::PageUp);
        if is_in_grid && is_arrow {
            continue;
        }
        if ui.input_mut(|input| input.consume_key(Modifiers::NONE, *key)) {
            window.push(command.clone());
        }
    }
    if ui.memory(egui::Memory::focused).is_some() && !is_in_grid {
        return;
    }
    if !is_in_grid && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Space)) {
        window.push(StepsCommand::Play(!steps.is_playing));
    }
    let is_guessing = steps.guessing.is_some();
    if is_guessing && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter)) {
        window.push(StepsCommand::Reveal);
    }
}

/// When the page is opened its keys work at once: the text field loses the focus.
fn arrive(ui: &Ui, window: &mut Window<'_>) {
    let now = ui.ctx().cumulative_frame_nr();
    if window.local.of::<StepsMemory>().frame + 1 < now {
        ui.memory_mut(|memory| memory.surrender_focus(source::editor_id()));
    }
    window.local.of::<StepsMemory>().frame = now;
}

pub fn tick(ui: &Ui, steps: &StepsPage, window: &mut Window<'_>) {
    if !steps.is_playing {
        window.local.of::<StepsMemory>().moved = None;
        return;
    }
    let now = ui.input(|input| input.time);
    let every = f64::from(1.0 / steps.pace());
    let since = now - *window.local.of::<StepsMemory>().moved.get_or_insert(now);
    if since >= every {
        window.local.of::<StepsMemory>().moved = Some(now);
        window.push(StepsCommand::Move(1));
    }
    ui.ctx().request_repaint_after(Duration::from_secs_f64((every - since).clamp(0.005, every)));
}

pub fn choices_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>) {
    let app = window.app;
    ui.horizontal_wrapped(|ui| {
        let chosen = steps.column(app);
        let models = ComboBox::from_id_salt("steps_model")
            .selected_text(
                chosen.map_or_else(|| tr!("No model").to_owned(), crate::app::document::column::Column::name),
            )
            .show_ui(ui, |ui| {
                for column in app.document.models() {
                    let is_chosen = chosen.is_some_and(|chosen| chosen.id == column.id);
                    window.push_if(
                        ui.selectable_label(is_chosen, column.name()).clicked(),
                        StepsCommand::SetColumn(column.id),
                    );
                }
            });
        models.response.accessible_name(tr!("Model")).on_hover_text(tr!("Which model is taken apart"));
        entries_ui(ui, window, MODES, Some(steps.mode), StepsCommand::SetMode);
        ui.separator();
        entries_ui(ui, window, DEPTHS, Some(steps.depth), StepsCommand::SetDepth);
        ui.separator();
        wiring_ui(ui, steps, window);
        guessing_ui(ui, steps, window);
        let mut has_beam = steps.has_beam;
        let note = tr!("What the search of the column had found at this step, with the path that the steps take");
        window.push_if(
            ui.checkbox(&mut has_beam, tr!("Beam")).on_hover_text(note).changed(),
            StepsCommand::SetBeam(has_beam),
        );
        if chosen.is_some_and(|column| !column.set.is_empty()) {
            labels::warm(ui, tr!("What is set for this model on page Sentence is left out here"));
        }
    });
}

fn entries_ui<T: Copy + PartialEq>(
    ui: &mut Ui, window: &mut Window<'_>, entries: &[StepsChoice<T>], chosen: Option<T>,
    command: impl Fn(T) -> StepsCommand,
) {
    for entry in entries {
        if labels::choice(ui, chosen == Some(entry.value), lang::text(entry.name), lang::text(entry.about)) {
            window.push(command(entry.value));
        }
    }
}

fn guessing_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>) {
    let chosen = steps.guessing.as_ref().map(|guessing| guessing.of);
    let aligns = steps.trace.as_ref().is_some_and(|trace| trace.aligns);
    let text = chosen.map_or(tr!("Nothing is guessed"), |of| lang::text(of.entry().name));
    let guesses = ComboBox::from_id_salt("steps_guess").selected_text(text).show_ui(ui, |ui| {
        window.push_if(
            ui.selectable_label(chosen.is_none(), tr!("Nothing is guessed")).clicked(),
            StepsCommand::SetGuessing(None),
        );
        for entry in GUESSES.iter().filter(|entry| aligns || entry.value == Guessed::Word) {
            entries_ui(ui, window, std::slice::from_ref(entry), chosen, |of| StepsCommand::SetGuessing(Some(of)));
        }
    });
    guesses
        .response
        .accessible_name(tr!("Guess first"))
        .on_hover_text(tr!("Guess first: what each step does is hidden until you have guessed it"));
}

fn wiring_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>) {
    let app = window.app;
    let Some(facts) = steps.column(app).and_then(|column| column.facts.as_ref()) else { return };
    let fitting: Vec<_> = Miswiring::of(&facts.architecture, facts.attention.as_deref()).collect();
    if fitting.is_empty() {
        return;
    }
    let wrong = steps.wrong.filter(|wrong| fitting.iter().any(|entry| entry.wrong == *wrong));
    let text = wrong.map_or(tr!("Wired as in the paper"), |wrong| lang::text(wrong.entry().name));
    let text = RichText::new(text).color(if wrong.is_some() { theme::tokens(ui).warm } else { theme::tokens(ui).text });
    let wiring = ComboBox::from_id_salt("steps_wiring").selected_text(text).show_ui(ui, |ui| {
        window.push_if(
            ui.selectable_label(wrong.is_none(), tr!("Wired as in the paper")).clicked(),
            StepsCommand::SetWrong(None),
        );
        for entry in fitting {
            if labels::choice(ui, wrong == Some(entry.wrong), entry.wrong.label(), lang::text(entry.about)) {
                window.push(StepsCommand::SetWrong(Some(entry.wrong)));
                window.push(StepsCommand::SetMode(Mode::Greedy));
            }
        }
    });
    wiring.response.accessible_name(tr!("Wiring")).on_hover_text(tr!(
        "The model as it is, or as it is often wrongly drawn and programmed, or before its training"
    ));
}

pub fn name_ui(ui: &mut Ui, steps: &StepsPage, trace: &StepTrace) {
    labels::caption(ui, &trace.model);
    let Some(wrong) = trace.wrong else { return };
    labels::warm(ui, wrong.label()).on_hover_text(lang::text(wrong.entry().about));
    if steps.mode != Mode::Greedy {
        labels::warm(ui, tr!("the words are given, not its own"));
    }
}

pub fn words_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) {
    let (i, t, page) = (steps.i, *theme::tokens(ui), ui.clip_rect().y_range());
    let area = egui::ScrollArea::horizontal().id_salt("steps_words").max_height(40.0);
    area.show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = theme::SPACE_1;
            for n in 0..trace.steps.len() {
                let is_known = n < i
                    || (n == i && steps.is_done("word") && !steps.hides(Guessed::Word, n))
                    || steps.whole().is_some();
                let word = trace.said(n).filter(|_| is_known || steps.mode == Mode::Shown && steps.guessing.is_none());
                let text = RichText::new(word.unwrap_or("?")).size(theme::TEXT_OUTPUT);
                let text = text.color(if is_known { t.text } else { t.weak });
                let label = ui.selectable_label(n == i, text);
                if n == i && window.local.of::<StepsMemory>().seen != Some((n, trace.steps.len())) {
                    window.local.of::<StepsMemory>().seen = Some((n, trace.steps.len()));
                    // Along the line alone: the page stays where it is.
                    ui.scroll_to_rect(egui::Rect::from_x_y_ranges(label.rect.x_range(), page), None);
                }
                let said = tr!("Step {}: {}", n + 1, word.unwrap_or(tr!("to be said")));
                label.widget_info(|| egui::WidgetInfo::selected(egui::accesskit::Role::Button, true, n == i, &said));
                window.push_if(label.on_hover_text(said).clicked(), StepsCommand::GoTo(n));
            }
        });
    });
}

pub fn player_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace, presents: bool) {
    let (is_playing, is_first, is_last) = (
        steps.is_playing,
        steps.i == 0 && steps.done.is_none_or(|done| done <= 1),
        steps.i >= steps.last() && steps.done.is_none() && steps.hidden(steps.i).is_none(),
    );
    let back =
        ui.add_enabled(!is_first, egui::Button::new(tr!("Back"))).on_hover_text(tr!("One move back (Left, Page Up)"));
    window.push_if(back.clicked(), StepsCommand::Move(-1));
    let on =
        ui.add_enabled(!is_last, egui::Button::new(tr!("On"))).on_hover_text(tr!("One move on (Right, Page Down)"));
    window.push_if(on.clicked(), StepsCommand::Move(1));
    let play = ui.button(if is_playing { tr!("Pause") } else { tr!("Play") });
    window.push_if(play.on_hover_text(tr!("By itself, or not (Space)")).clicked(), StepsCommand::Play(!is_playing));
    if !presents {
        pace_ui(ui, steps, window);
    }
    guess::player_ui(ui, steps, window);
    say_ui(ui, steps, window, trace);
    let place = tr!("Step {} of {}{}", steps.i + 1, trace.steps.len(), if trace.is_cut { tr!(", cut") } else { "" });
    // Its words stay together.
    ui.add(egui::Label::new(labels::small(ui, place)).extend());
}

fn pace_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>) {
    let mut by_stage = steps.by_stage;
    let note = tr!("Each move is one box of the machine, not a whole word; Up and Down go by words all the same");
    window.push_if(
        ui.checkbox(&mut by_stage, tr!("Box by box")).on_hover_text(note).changed(),
        StepsCommand::SetByStage(by_stage),
    );
    let mut pace = steps.pace();
    ui.spacing_mut().slider_width = 80.0;
    // its number has no room on a phone
    let has_room = ui.max_rect().width() > WITH_PACE;
    let slider = Slider::new(&mut pace, PACES.0..=PACES.1).logarithmic(true).max_decimals(1).suffix(tr!(" a second"));
    let slider = slider.show_value(has_room);
    window.push_if(
        ui.add(slider).on_hover_text(tr!("Moves a second while it plays")).changed(),
        StepsCommand::SetPace(pace),
    );
}

fn say_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) {
    if steps.mode != Mode::Class {
        return;
    }
    if !steps.class.is_empty() && ui.button(tr!("Take back")).on_hover_text(tr!("The last chosen word goes")).clicked()
    {
        window.push(StepsCommand::TakeBack);
    }
    let Some(step) = trace.steps.get(steps.i) else { return };
    if !steps.is_done("candidates") || steps.hides(Guessed::Word, steps.i) {
        return;
    }
    ui.label(RichText::new(tr!("Which word shall it say?")).color(theme::tokens(ui).accent));
    for ((id, log_p), word) in step.best.iter().zip(trace.candidates(steps.i)).take(6) {
        let is_said = step.said.is_some_and(|(said, _)| said == *id);
        let label = format!("{word} {}", labels::percent(log_p.exp()));
        window.push_if(ui.selectable_label(is_said, label).clicked(), StepsCommand::Say(*id));
    }
}
