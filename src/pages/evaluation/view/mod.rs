//! Floor 11: the page Evaluation: models measured on a test set, and learning curves of training runs.
//!
//! At the left is what to measure on (`setup.rs`); beside it the figures, or the training runs. The sentences are shown by page
//! Corpus.

mod contrasts;
mod figures;
mod parts;
mod setup;
mod table;
mod training;

use egui::accesskit::Role;
use egui::{Layout, Rect, RichText, Ui, UiBuilder, WidgetInfo, vec2};

use crate::lang;
use crate::pages::evaluation::EvaluationPage;
use crate::pages::evaluation::FiguresFormat;
use crate::pages::evaluation::command::EvaluationCommand;
use crate::pages::shell::dialogs::{Question, Wants};
use crate::pages::shell::local::{PageView, Window};
use crate::widgets::theme;

/// How figures are saved: on the button, the format, and what is asked.
const FILES: [(&str, FiguresFormat, &str, &str, &str); 2] = [
    (
        id!("JSON..."),
        FiguresFormat::Json,
        id!("Save the figures as JSON"),
        "evaluation.json",
        id!("All figures with how they were measured."),
    ),
    (
        id!("TSV..."),
        FiguresFormat::Tsv,
        id!("Save the figures as TSV"),
        "evaluation.tsv",
        id!("A row for each model, set, kind of output and length."),
    ),
];

impl PageView for EvaluationPage {
    fn middle_ui(&self, ui: &mut Ui, window: &mut Window<'_>) {
        self.ui(ui, window);
    }

    fn manual(&self) -> Option<&'static str> {
        Some("evaluation.md")
    }
}

/// A part with its name.
type Part = (&'static str, fn(&mut Ui, &EvaluationPage, &mut Window<'_>));

/// What the page remembers: the part that is shown, and whether figures leave sentences with unknown words out.
#[derive(Default)]
pub(super) struct EvaluationMemory {
    part: usize,
    pub(super) without_unk: bool,
}

/// The parts.
const PARTS: [Part; 3] = [
    (id!("Figures"), figures::figures_ui),
    (id!("Training"), |ui, evaluation, _| training::training_ui(ui, evaluation)),
    (id!("Minimal pairs"), contrasts::contrasts_ui),
];

impl EvaluationPage {
    fn ui(&self, ui: &mut Ui, window: &mut Window<'_>) {
        let evaluation = self;
        let room = ui.available_rect_before_wrap();
        let width = theme::SETUP_WIDTH.min(room.width() * 0.45);
        let left = Rect::from_min_size(room.min, vec2(width, room.height()));
        let right = Rect::from_min_max(room.min + vec2(width + theme::SPACE_3, 0.0), room.max);
        let child = |rect: Rect, name: &'static str| UiBuilder::new().id_salt(name).max_rect(rect);
        setup::setup_ui(&mut ui.new_child(child(left, "evaluation_setup")), evaluation, window);
        part_ui(&mut ui.new_child(child(right, "evaluation_part")), evaluation, window);
        ui.advance_cursor_after_rect(room);
    }
}

fn part_ui(ui: &mut Ui, evaluation: &EvaluationPage, window: &mut Window<'_>) {
    let shown = window.local.of::<EvaluationMemory>().part;
    ui.horizontal(|ui| {
        for (place, (name, _)) in PARTS.iter().enumerate() {
            let name = lang::text(name);
            let tab = ui.selectable_label(place == shown, name);
            tab.widget_info(|| WidgetInfo::selected(Role::Tab, true, place == shown, name));
            if tab.clicked() {
                window.local.of::<EvaluationMemory>().part = place;
            }
        }
        if shown > 0 || evaluation.results.is_none() {
            return;
        }
        ui.with_layout(Layout::right_to_left(egui::Align::Center), |ui| {
            for (name, format, title, file, note) in FILES {
                if ui.button(lang::text(name)).on_hover_text(tr!("Save the figures to a file")).clicked() {
                    let save = move |path| EvaluationCommand::Export { format, path };
                    window.ask(Question::new(title, tr!("Save"), Wants::NewFile(file), note).then(save));
                }
            }
            ui.label(RichText::new(tr!("Save")).color(theme::tokens(ui).weak));
            let note = tr!("Shows them on page Corpus, to be sorted, searched and judged: every model's translation beside the \
                        references, with BLEU over all of them as sacreBLEU cuts words by itself. It is kept only where you save it there.");
            if ui.button(tr!("Sentences")).on_hover_text(note).clicked() {
                window.push(EvaluationCommand::ShowSentences);
            }
        });
    });
    ui.add_space(theme::SPACE_1);
    PARTS[shown].1(ui, evaluation, window);
}
