//! Work under way, the same on every page: how far it is, pause and cancel.

use egui::{ProgressBar, RichText, Ui};

use crate::app::{command::TaskCommand, page::SENTENCE, tasks::Task};
use crate::{pages::shell::local::Window, widgets::theme};

const NARROW: f32 = 420.0;

/// The progress of the page's task with its buttons; nothing when it is done.
pub fn task_ui(ui: &mut Ui, window: &mut Window<'_>, number: Option<u64>) {
    let Some(task) = number.and_then(|number| window.app.tasks.task(number)) else { return };
    let before = window.app.tasks.list.first().filter(|first| first.number != task.number);
    let text = match before {
        Some(first) if task.progress.is_none() => tr!("Waits for the work of page {}", first.page.name()),
        _ => line(task),
    };
    let fraction = fraction(task);
    let is_narrow = ui.available_width() < NARROW;
    if is_narrow {
        bar_ui(ui, &text, fraction, egui::TextWrapMode::Wrap);
    }
    ui.horizontal(|ui| {
        window.push_if(ui.button(tr!("Cancel")).on_hover_text(lost(task)).clicked(), TaskCommand::Cancel(task.number));
        let (name, note) = if task.is_paused {
            (tr!("Go on"), tr!("Takes this work up again"))
        } else {
            (tr!("Pause"), tr!("Holds this work up; sentences that you type go first anyway"))
        };
        window.push_if(ui.button(name).on_hover_text(note).clicked(), TaskCommand::Pause(task.number, !task.is_paused));
        if !is_narrow {
            ui.vertical(|ui| bar_ui(ui, &text, fraction, egui::TextWrapMode::Truncate));
        }
    });
}

fn lost(task: &Task) -> &'static str {
    if task.keeps_work {
        tr!("Ends this work; what it has done so far is kept, and a new run goes on there")
    } else {
        tr!("Ends this work; what it has done so far is lost")
    }
}

fn bar_ui(ui: &mut Ui, text: &str, fraction: f32, wrap: egui::TextWrapMode) {
    ui.add(egui::Label::new(RichText::new(text).size(theme::TEXT_SMALL)).wrap_mode(wrap));
    let bar = ProgressBar::new(fraction).desired_height(theme::PROGRESS_HEIGHT).animate(false);
    let bar = ui.add(bar.fill(theme::tokens(ui).accent));
    bar.widget_info(|| egui::WidgetInfo::labeled(egui::accesskit::Role::ProgressIndicator, true, text));
}

/// From 0 to 1.
pub fn fraction(task: &Task) -> f32 {
    let progress = task.progress.as_ref().filter(|progress| progress.total > 0);
    progress.map_or(0.0, |progress| progress.done as f32 / progress.total as f32)
}

pub fn line(task: &Task) -> String {
    let Some(progress) = &task.progress else {
        return match task.page {
            SENTENCE => tr!("Waiting").to_owned(),
            page => tr!("Page {} waits for its turn", page.name()),
        };
    };
    let mut line = progress.what.clone();
    if progress.total > 0 {
        line += &format!(", {:.0} %", 100.0 * fraction(task));
    }
    if progress.words_per_second > 0.0 && !task.is_paused {
        line += &tr!(", {} words/s", format_args!("{:.0}", progress.words_per_second));
    }
    if task.is_paused {
        line += tr!(", paused");
    }
    line
}
