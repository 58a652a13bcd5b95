//! The bar of all that is set: each thing with a button that takes it away, and what the model says by itself.

use egui::{RichText, Ui};

use crate::app::document::column::Column;
use crate::app::document::hand::{TakenAway, held, items};
use crate::pages::{
    sentence::SentencePage, sentence::asked::ProbeAbout, sentence::command::InterveneCommand, shell::local::Window,
    shell::task,
};
use crate::widgets::{bidi, labels, theme};

const HEIGHT: f32 = 84.0;

pub(super) fn interventions_ui(ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>) {
    let app = window.app;
    let has_own = |id| app.document.state.variant(id).is_some_and(|variant| variant.interventions.is_some());
    let touched =
        |column: &&Column| !app.document.interventions(column).is_empty() && column.variant.is_none_or(has_own);
    let columns: Vec<&Column> = app.document.columns.iter().filter(touched).collect();
    if let Some(number) = rows_under_way(sentence) {
        task::task_ui(ui, window, Some(number));
    }
    if columns.is_empty() {
        return;
    }
    let t = theme::tokens(ui);
    let frame = egui::Frame::new().stroke(egui::Stroke::new(1.0, t.set)).corner_radius(theme::RADIUS).inner_margin(4);
    frame.show(ui, |ui| {
        let area = egui::ScrollArea::vertical().id_salt("interventions").max_height(HEIGHT).auto_shrink([false, true]);
        area.show(ui, |ui| {
            for (n, column) in columns.iter().enumerate() {
                column_ui(ui, sentence, window, column, n == 0);
            }
        });
    });
    ui.add_space(theme::SPACE_1);
}

fn rows_under_way(sentence: &SentencePage) -> Option<u64> {
    let asked = sentence.probes.iter().find(|asked| !matches!(asked.about, ProbeAbout::Measure { .. }));
    asked.map(|asked| asked.number)
}

fn column_ui(ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>, column: &Column, is_first: bool) {
    let t = theme::tokens(ui);
    let set = window.app.document.interventions(column);
    let name = column.name();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = theme::SPACE_1;
        if is_first {
            ui.label(RichText::new(tr!("Interventions")).color(t.set));
            let all = labels::small_button(ui, tr!("take all away"))
                .on_hover_text(tr!("In every column; undo brings it back"));
            window
                .push_if(all.accessible_name(tr!("Take all interventions away")).clicked(), InterveneCommand::TakeAll);
        }
        ui.label(RichText::new(format!("{name}:")).color(t.weak));
        let numbers = column.numbers();
        for item in items(&set, window.app.document.state.text_of(column.variant), &numbers) {
            let found = if let TakenAway::Pin(i) = item.taken { set.pin.iter().find(|pin| pin.i == i) } else { None };
            let found = found.and_then(|pin| sentence.persuaded_text(column, pin));
            let button = egui::Button::new(RichText::new(format!("{}  \u{d7}", item.text)).size(theme::TEXT_SMALL));
            let button = ui.add(button.fill(t.set_soft).small()).on_hover_text(tr!("Click to take it away"));
            if button.accessible_name(tr!("Take away in {name}, {}", item.text, name)).clicked() {
                window.push(InterveneCommand::Take { column: column.id, what: item.taken });
            }
            if let Some(found) = found {
                labels::caption(ui, found);
            }
        }
        let small = |text: String| RichText::new(text).size(theme::TEXT_SMALL);
        match held(&set, &numbers) {
            0 => {}
            count => {
                let text = tr!("{n} word before is held" | "{n} words before are held" % count);
                ui.label(small(text).color(t.weak));
            }
        }
        let notes = column.shown().map_or(&[][..], |shown| &shown.touched.notes);
        for note in notes {
            ui.add_space(theme::SPACE_2);
            ui.label(small(note.clone()).color(t.warm));
        }
        untouched_ui(ui, column);
    });
}

fn untouched_ui(ui: &mut Ui, column: &Column) {
    let (Some(untouched), false) = (&column.baseline.untouched, column.hypotheses.is_empty()) else { return };
    let t = theme::tokens(ui);
    let own = &untouched.best;
    let mut words: Vec<&(String, bool)> = column.baseline.words.iter().collect();
    if bidi::starts_right(&own.text) {
        words.reverse();
    }
    let mut job = egui::text::LayoutJob::default();
    let weak = egui::TextFormat::simple(theme::small(), t.weak);
    job.append(tr!("by itself, "), 0.0, weak.clone());
    job.append(&tr!("log p {}:", format_args!("{:.2}", own.found.log_p)), 0.0, weak);
    for (word, differs) in words {
        let stroke = if *differs { egui::Stroke::new(1.5, t.accent) } else { egui::Stroke::NONE };
        let format = egui::TextFormat { underline: stroke, ..egui::TextFormat::simple(theme::small(), t.text) };
        job.append(word, 5.0, format);
    }
    let note = tr!("The best translation without anything set; underlined words are not said with what is set");
    let said = tr!("{} by itself, log p {}: {}", column.name(), format_args!("{:.2}", own.found.log_p), own.text);
    let label = ui.add(egui::Label::new(job).wrap());
    label.widget_info(|| egui::WidgetInfo::labeled(egui::accesskit::Role::Label, true, &said));
    label.on_hover_text(note);
}
