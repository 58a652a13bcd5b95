//! The line over a picture of a measure: which one, its summary, and a button that computes it.

use egui::{RichText, Ui};

use crate::app::document::table::{AlignmentTable, MeasuredTable};
use crate::app::{document::column::Column, layout::Look, settings::Shown};
use crate::jobs::live::protocol::ColumnId;
use crate::pages::{
    sentence::SentencePage, sentence::asked::ProbeAbout, sentence::command::ProbeCommand, shell::local::Window,
    shell::task,
};
use crate::widgets::{labels, theme};
use engine::analysis::measures::MEASURES;
use engine::lang;

/// Summary of a measure; the tooltip has more. False if the measure is not computed, so that there is no picture.
pub fn strip_ui(
    ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>, column: &Column, table: &AlignmentTable,
) -> bool {
    let shown = window.app.view.settings.shown;
    let Shown::Measure(measure) = shown else { return true };
    let Some(line) = MEASURES.get(measure) else { return true };
    let t = theme::tokens(ui);
    if let Some(measured) = table.measured(shown) {
        let text = table.measured_text(measured);
        let short = tr!("{}, not \u{3b1}{}", lang::text(line.title), figures(table, measured));
        let said = tr!("{} of {}, not alpha: {text}", lang::text(line.title), column.name(), text);
        let note = tr!(
            "{} ({}).\n{text}.\nRows, \u{3b1}, energies and \u{3c4} are those of the step that predicts the word, under every \
             reading. For \u{3c4}, numbers of a row with negative ones that are below a twentieth of its greatest count as 0.",
            lang::text(line.about),
            lang::text(line.unit),
            text
        );
        labels::said(labels::warm_line(ui, short), &said).on_hover_text(note);
        return true;
    }
    if let Some(why) = window.app.document.why_not_measured(column, measure) {
        ui.add(egui::Label::new(RichText::new(why).color(t.weak)).wrap());
        return false;
    }
    let text = tr!("{}: not measured yet for this translation", lang::text(line.title));
    ui.add(egui::Label::new(RichText::new(text).color(t.weak)).wrap());
    let is_asked =
        |about: &ProbeAbout| matches!(about, ProbeAbout::Measure { measure: asked, .. } if *asked == measure);
    let mut probes = sentence.probes.iter();
    let under_way = probes.find(|asked| {
        is_asked(&asked.about) && asked.subject.as_ref().is_some_and(|subject| subject.column == column.id)
    });
    if let Some(number) = under_way.map(|asked| asked.number) {
        task::task_ui(ui, window, Some(number));
        return false;
    }
    let button = ui.button(tr!("Measure")).on_hover_text(lang::text(line.about));
    if button.accessible_name(tr!("Measure {} with {}", lang::text(line.title), column.name())).clicked() {
        window.push(ProbeCommand::Measure { column: column.id, measure });
    }
    false
}

fn figures(table: &AlignmentTable, measured: &MeasuredTable) -> String {
    let mean = |name| table.tests.as_ref().filter(|_| measured.is_tested()).and_then(|means| means.named(name));
    let tau = measured.kendall.map(|tau| tr!("   \u{3c4} {tau} with \u{3b1}", tau = format_args!("{tau:.2}")));
    let uniform = mean("js_uniform").map(|mean| tr!("   JS uniform {mean}", mean = format_args!("{mean:.3}")));
    let permuted = mean("js_permuted").map(|mean| tr!("   permuted {mean}", mean = format_args!("{mean:.3}")));
    [tau, uniform, permuted].into_iter().flatten().collect()
}

pub fn measure(window: &mut Window<'_>, column: ColumnId, measure: usize) {
    (window.layout.look, window.layout.interlinear) = (Look::Heatmap, false);
    window.push(ProbeCommand::Measure { column, measure });
}
