//! Floor 11: page Evaluation, the learning curves of training runs, which grow while a training runs.

use egui::Ui;

use crate::figure::plot::{Plot, Series, SeriesStyle};
use crate::pages::evaluation::EvaluationPage;
use crate::pages::evaluation::LogFile;
use crate::pages::evaluation::view::parts::empty_ui;
use crate::training::curves::{CurvePoint, Curves};
use crate::widgets::chart::{ChartWidget, chart_ui};
use crate::widgets::{chart, labels, theme};

/// The learning curves.
pub fn training_ui(ui: &mut Ui, evaluation: &EvaluationPage) {
    let logs = &evaluation.logs;
    if logs.iter().all(|log| log.curves().is_none_or(|curves| curves.update == 0)) {
        let note = if logs.is_empty() {
            tr!("Open the folder of a training run, or drop it here. The curves grow while the training runs.")
        } else {
            tr!("The logs have no measurement yet. The curves grow while the training runs.")
        };
        empty_ui(ui, tr!("No learning curves yet"), note);
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

/// How far a run is, in a line.
pub fn line(curves: &Curves) -> String {
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
