//! Page Corpus, the tab of learning curves: the training logs at the left, and their curves, which grow while a
//! training runs.

use egui::{Button, Label, Layout, Rect, RichText, Ui, UiBuilder, vec2};

use crate::pages::corpus::logs::{LogFile, LogState};
use crate::pages::shell::dialogs::{Question, Wants};
use crate::pages::{corpus::CorpusPage, corpus::command::LogCommand, shell::local::Window};
use crate::widgets::chart::{ChartWidget, chart_ui};
use crate::widgets::{can_drop, chart, labels, theme};
use engine::lang;
use figure::plot::{Plot, Series, SeriesStyle};
use training::curves::{CurvePoint, Curves};

const LOGS: f32 = 288.0;
const REMOVE: f32 = 26.0;
const ROW: f32 = 26.0;
const EMPTY_WIDTH: f32 = 460.0;

const LOG: Question = Question::new(
    id!("Open training logs"),
    id!("Open"),
    Wants::File(&["jsonl"]),
    id!("The log.jsonl of a run, the folder of a run, or a folder of several runs. A log is followed while it grows."),
);

pub fn training_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let logs = &page.tools.logs;
    let room = ui.available_rect_before_wrap();
    let width = LOGS.min(room.width() * 0.45);
    let left = Rect::from_min_size(room.min, vec2(width, room.height()));
    let right = Rect::from_min_max(room.min + vec2(width + theme::SPACE_3, 0.0), room.max);
    let child = |rect: Rect, name: &'static str| UiBuilder::new().id_salt(name).max_rect(rect);
    let ui_of = &mut ui.new_child(child(left, "training_logs"));
    egui::ScrollArea::vertical().id_salt("logs").auto_shrink(false).show(ui_of, |ui| logs_ui(ui, logs, window));
    curves_ui(&mut ui.new_child(child(right, "training_curves")), logs);
    ui.advance_cursor_after_rect(room);
}

fn logs_ui(ui: &mut Ui, logs: &[LogFile], window: &mut Window<'_>) {
    ui.heading(tr!("Training logs"));
    let t = theme::tokens(ui);
    for (at, log) in logs.iter().enumerate() {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = theme::SPACE_1;
            ui.set_min_height(ROW);
            chart::mark_ui(ui, at);
            let name = log.name();
            let room = (ui.available_width() - REMOVE - theme::SPACE_1).max(0.0);
            let text = labels::galley(ui.painter(), &name, &theme::body(), t.text, room);
            ui.allocate_ui_with_layout(vec2(room, ROW), Layout::left_to_right(egui::Align::Center), |ui| {
                ui.set_min_width(room);
                ui.label(text).on_hover_text(log.path.display().to_string());
            });
            let cross = Button::new(RichText::new("\u{d7}").color(t.weak)).frame(false);
            let cross = ui.add_sized(vec2(REMOVE, ROW), cross).on_hover_text(tr!("Close this log"));
            if cross.accessible_name(tr!("Close the log of {name}", name)).clicked() {
                window.push(LogCommand::Close(at));
            }
        });
        let (text, colour) = match &log.state {
            LogState::RowConvention => (tr!("Reading").to_owned(), t.weak),
            LogState::Failed(message) => (message.clone(), t.error),
            LogState::Read(curves) => (line(curves), t.weak),
        };
        ui.add(Label::new(RichText::new(text).size(theme::TEXT_SMALL).color(colour)).wrap());
        ui.add_space(theme::SPACE_1);
    }
    let open = ui.add_sized(vec2(ui.available_width(), ROW), Button::new(tr!("Open a run...")));
    let open = open.on_hover_text(lang::text(LOG.note));
    window.ask_on(&open.accessible_name(lang::text(LOG.title)), LOG, LogCommand::Open);
}

fn empty_ui(ui: &mut Ui, note: &str) {
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.3);
        ui.heading(tr!("No learning curves yet"));
        let width = ui.available_width().min(EMPTY_WIDTH);
        ui.allocate_ui(vec2(width, 0.0), |ui| {
            let note = RichText::new(note).color(theme::tokens(ui).weak);
            ui.vertical_centered(|ui| ui.add(Label::new(note).wrap()));
        });
    });
}

fn curves_ui(ui: &mut Ui, logs: &[LogFile]) {
    if logs.iter().all(|log| log.curves().is_none_or(|curves| curves.update == 0)) {
        let note = if logs.is_empty() {
            if can_drop() {
                tr!("Open the folder of a training run, or drop it here. The curves grow while the training runs.")
            } else {
                tr!("Open the folder of a training run. The curves grow while the training runs.")
            }
        } else {
            tr!("The logs have no measurement yet. The curves grow while the training runs.")
        };
        empty_ui(ui, note);
        return;
    }
    let names: Vec<String> = logs.iter().map(LogFile::name).collect();
    chart::legend_ui(ui, names.iter().enumerate().map(|(place, name)| (place, name.as_str())));
    let note = tr!(
        "Solid is the development text, dashed the training text. Ctrl and the wheel zoom, a double click shows all."
    );
    labels::caption(ui, note);
    egui::ScrollArea::vertical().id_salt("training").auto_shrink(false).show(ui, |ui| {
        let height = ((ui.available_height() - 120.0) / 2.0).max(theme::PLOT_HEIGHT * 0.8);
        nll_ui(ui, logs, height);
        if logs.iter().filter_map(LogFile::curves).any(|curves| !curves.development_bleu.is_empty()) {
            chart::side_by_side(ui, |ui| bleu_ui(ui, logs, height), |ui| rate_ui(ui, logs, height));
        } else {
            rate_ui(ui, logs, height);
        }
    });
}

fn nll_ui(ui: &mut Ui, logs: &[LogFile], height: f32) {
    let mut series = collect(logs, true, |curves| &curves.training_nll);
    series.extend(collect(logs, false, |curves| &curves.development_nll));
    show(ui, tr!("-log p a token in nats, against updates"), &|value| format!("{value:.2}"), height, &series);
}

fn bleu_ui(ui: &mut Ui, logs: &[LogFile], height: f32) {
    let series = collect(logs, false, |curves| &curves.development_bleu);
    show(ui, tr!("BLEU of the development text, against updates"), &|value| format!("{value:.1}"), height, &series);
}

fn rate_ui(ui: &mut Ui, logs: &[LogFile], height: f32) {
    let mut series = collect(logs, false, |curves| &curves.rate);
    for one in &mut series {
        one.look = SeriesStyle::Bare;
    }
    show(ui, tr!("Rate, against updates"), &rate_text, height, &series);
}

fn rate_text(rate: f64) -> String {
    if rate == 0.0 || rate.abs() >= 0.01 { format!("{rate:.2}") } else { format!("{rate:.1e}") }
}

fn collect(logs: &[LogFile], is_minor: bool, of: fn(&Curves) -> &Vec<CurvePoint>) -> Vec<Series> {
    let runs = logs.iter().enumerate().filter_map(|(place, log)| Some((place, log, log.curves()?)));
    let curves = runs.map(|(place, log, curves)| Series {
        name: if is_minor { tr!("{}, training", log.name()) } else { log.name() },
        place,
        points: of(curves).iter().map(|point| [point.update as f64, point.value]).collect(),
        look: if is_minor { SeriesStyle::Minor } else { SeriesStyle::Marked },
    });
    curves.filter(|series| !series.points.is_empty()).collect()
}

fn show(ui: &mut Ui, title: &str, y_text: &dyn Fn(f64) -> String, height: f32, series: &[Series]) {
    let chart = ChartWidget {
        plot: Plot { title, x_label: "", x_text: &updates_text, x_ticks: &[], y_text, from_zero: false, series },
        moves: true,
        height,
    };
    chart_ui(ui, &chart);
}

fn updates_text(updates: f64) -> String {
    if updates >= 10_000.0 { format!("{} k", updates / 1000.0) } else { format!("{updates}") }
}

fn line(curves: &Curves) -> String {
    if curves.update == 0 {
        return tr!("Nothing is measured yet").to_owned();
    }
    let mut line = tr!("{} updates, epoch {}, {}", curves.update, curves.epoch, duration(curves.seconds));
    if let Some(best) = curves.best() {
        line += &tr!("; best -log p {} at {}", format_args!("{:.3}", best.value), best.update);
    }
    line
}

fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 60.0 => format!("{seconds:.0} s"),
        seconds if seconds < 3600.0 => tr!("{} min", format_args!("{:.0}", seconds / 60.0)),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}
