//! Words as labels: what they say, and how they are cut to their room.

use std::{borrow::Cow, sync::Arc};

use egui::text::{LayoutJob, TextFormat};
use egui::{Align, Color32, FontFamily, FontId, Galley, Painter, Response, RichText, Ui};

use crate::app::document::table::{AlignmentTable, SourceWord, TargetWord};
use crate::widgets::{bidi, theme};
use figure::label;
use figure::label::{Label, Tone};

const LOWERED: f32 = 0.72;

pub fn caption(ui: &mut Ui, text: impl Into<String>) -> Response {
    ui.label(small(ui, text))
}

pub fn warm(ui: &mut Ui, text: impl Into<String>) -> Response {
    let text = small(ui, text).color(theme::tokens(ui).warm);
    ui.label(text)
}

/// In one line, cut where there is no room.
pub fn warm_line(ui: &mut Ui, text: impl Into<String>) -> Response {
    let text = small(ui, text).color(theme::tokens(ui).warm);
    ui.add(egui::Label::new(text).truncate())
}

pub fn note(ui: &mut Ui, text: impl Into<String>) -> Response {
    ui.add(egui::Label::new(small(ui, text)).wrap())
}

pub fn small(ui: &Ui, text: impl Into<String>) -> RichText {
    RichText::new(text).size(theme::TEXT_SMALL).color(theme::tokens(ui).weak)
}

/// A button next to text, as high as a finger needs.
pub fn small_button<'a>(ui: &mut Ui, text: impl egui::IntoAtoms<'a>) -> Response {
    let (padding, size) = (ui.spacing().button_padding.y, ui.spacing().interact_size.y);
    // the text is in the middle also where a line begins at the top
    let around = (theme::FINGER - ui.text_style_height(&egui::TextStyle::Button)) / 2.0;
    (ui.spacing_mut().button_padding.y, ui.spacing_mut().interact_size.y) = (around.max(0.0), theme::FINGER);
    let response = ui.add(for_finger(egui::Button::new(text)));
    (ui.spacing_mut().button_padding.y, ui.spacing_mut().interact_size.y) = (padding, size);
    response
}

pub fn small_sized(button: egui::Button<'_>) -> egui::Button<'_> {
    for_finger(button.small())
}

pub fn for_finger(button: egui::Button<'_>) -> egui::Button<'_> {
    button.min_size(egui::Vec2::splat(theme::FINGER))
}

/// A selectable label with a tooltip; true when it is clicked.
pub fn choice<'a>(
    ui: &mut Ui, is_chosen: bool, name: impl egui::IntoAtoms<'a>, about: impl Into<egui::WidgetText>,
) -> bool {
    ui.selectable_label(is_chosen, name).on_hover_text(about).clicked()
}

/// A slider of the least alpha of a link; true when it is moved.
pub fn threshold_ui(ui: &mut Ui, threshold: &mut f32) -> bool {
    let caption = said(caption(ui, tr!("\u{3b1} from")), tr!("alpha from"));
    ui.spacing_mut().slider_width = 96.0;
    let slider = ui.add(egui::Slider::new(threshold, 0.0..=1.0).fixed_decimals(2).step_by(0.01));
    slider.labelled_by(caption.id).on_hover_text(tr!("Links with less alpha are left out")).changed()
}

/// A failure on a card; true if the user dismisses it.
pub fn failure(ui: &mut Ui, message: &str) -> bool {
    let t = theme::tokens(ui);
    let frame = egui::Frame::new().fill(t.error_soft).corner_radius(theme::RADIUS).inner_margin(egui::Margin::same(8));
    let card = frame.show(ui, |ui| {
        ui.horizontal(|ui| {
            let dismiss = small_button(ui, tr!("Dismiss")).clicked();
            ui.add(egui::Label::new(RichText::new(message).color(t.error)).wrap());
            dismiss
        })
    });
    card.inner.inner
}

pub fn source(word: &SourceWord) -> Cow<'_, str> {
    label::source_text(&word.text, word.is_unk)
}

pub fn target(word: &TargetWord, replace: bool) -> Cow<'_, str> {
    word.label(replace)
}

pub fn of_source(table: &AlignmentTable) -> Vec<Label<'_>> {
    let label = |word| Label { text: source(word), tone: Tone::of(word.is_unk, !word.is_word()), hand: word.hand() };
    table.source.iter().map(label).collect()
}

pub fn of_target(table: &AlignmentTable, replace: bool) -> Vec<Label<'_>> {
    let label =
        |word| Label { text: target(word, replace), tone: Tone::of(word.is_unk, word.is_eos), hand: word.hand() };
    table.target.iter().map(label).collect()
}

pub fn source_text(word: &SourceWord) -> String {
    source(word).into_owned()
}

pub fn target_text(word: &TargetWord, replace: bool) -> String {
    target(word, replace).into_owned()
}

pub fn alpha_text(alpha: f32) -> String {
    format!("{alpha:.2}")
}

pub fn count_text(count: usize) -> String {
    let count_f = count as f64;
    if count >= 1_000_000 {
        format!("{:.1} M", count_f / 1e6)
    } else if count >= 10_000 {
        format!("{:.1} k", count_f / 1e3)
    } else {
        count.to_string()
    }
}

/// Sets the accessible name of a text whose signs have words there.
pub fn said(response: egui::Response, name: &str) -> egui::Response {
    response.widget_info(|| egui::WidgetInfo::labeled(egui::accesskit::Role::Label, true, name));
    response
}

pub fn arrow(target: &str, source: &str, colour: Color32) -> LayoutJob {
    let mut job = LayoutJob::default();
    job.append(target, 0.0, TextFormat::simple(theme::title(), colour));
    // the bundled letters of text have no arrow, those of equal width have one
    let font = FontId::new(theme::TEXT_TITLE, FontFamily::Monospace);
    job.append(" \u{2190} ", 0.0, TextFormat::simple(font, colour));
    job.append(source, 0.0, TextFormat::simple(theme::title(), colour));
    job
}

/// A text with `alpha` as its sign and `_ij` as lowered letters.
pub fn signs(text: &str, size: f32, colour: Color32) -> LayoutJob {
    let format = |size| TextFormat::simple(FontId::new(size, FontFamily::Proportional), colour);
    let mut job = LayoutJob::default();
    for (part, is_lowered) in lowered(&text.replace("alpha", "\u{3b1}")) {
        if is_lowered {
            job.append(part, 0.0, TextFormat { valign: Align::BOTTOM, ..format(LOWERED * size) });
        } else {
            job.append(part, 0.0, format(size));
        }
    }
    job
}

/// The parts of a text; those after `_` are lowered.
pub fn lowered(text: &str) -> Vec<(&str, bool)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('_') {
        let (before, behind) = (&rest[..at], &rest[at + 1..]);
        let end = behind.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(behind.len());
        parts.extend([(before, false), (&behind[..end], true)]);
        rest = &behind[end..];
    }
    parts.push((rest, false));
    parts.retain(|(part, _)| !part.is_empty());
    parts
}

/// One line of text, cut with an ellipsis at `width` points; text from the right is cut at its left.
pub fn galley(painter: &Painter, text: &str, font: &FontId, colour: Color32, width: f32) -> Arc<Galley> {
    let line = |text: String, width: f32| {
        let mut job = LayoutJob::simple_singleline(text, font.clone(), colour);
        job.wrap.max_width = width;
        job.wrap.max_rows = 1;
        job.wrap.break_anywhere = true;
        painter.layout_job(job)
    };
    let whole = line(bidi::visual(text).into_owned(), width);
    if !whole.elided || !bidi::starts_right(text) {
        return whole;
    }
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let cut = |count: usize| line(format!("\u{2026}{}", bidi::visual(text[..ends[count]].trim_end())), f32::INFINITY);
    // The most characters that fit.
    let (mut fits, mut over) = (0, ends.len());
    while over - fits > 1 {
        let middle = usize::midpoint(fits, over);
        if cut(middle).size().x <= width { fits = middle } else { over = middle }
    }
    cut(fits)
}

/// A probability in a word's button.
pub fn percent(p: f32) -> String {
    if p < 0.005 { "<1 %".to_owned() } else { format!("{:.0} %", 100.0 * p) }
}
