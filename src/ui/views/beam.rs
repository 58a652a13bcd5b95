//! Floor 9: the beam of a column: every hypothesis with its numbers and its words; a click shows its alignment.

use egui::accesskit::Role;
use egui::text::LayoutJob;
use egui::{Align2, CornerRadius, Id, Rect, RichText, Sense, TextFormat, Ui, WidgetInfo, pos2, vec2};

use crate::session::{Column, HypothesisView, SelectCommand};
use crate::text::sentence::EOS;
use crate::ui::local::{Panel, Window};
use crate::ui::theme::Tokens;
use crate::ui::views::rows;
use crate::ui::widgets::node;
use crate::ui::{bidi, local, theme};

/// Height of the heading, points.
pub const HEADER: f32 = 26.0;
/// Height of a hypothesis, points.
pub const ROW: f32 = 22.0;
/// Widths of the numbers in front of the words.
const NUMBERS: [f32; 3] = [20.0, 52.0, 52.0];

/// Paints the beam.
pub fn beam_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column) {
    if column.hypotheses.is_empty() {
        return;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let is_open = window.layout(local::BEAM_OPEN, 1.0) > 0.0;
    let normalised = window.session.scene().search.length_normalization > 0.0;
    header_ui(ui, window, column, is_open, normalised);
    if !is_open {
        return;
    }
    let id = Id::unique(("beam", column.id));
    keys(ui, window, column, id);
    egui::ScrollArea::vertical().id_salt("beam").auto_shrink(false).show_rows(
        ui,
        ROW,
        column.hypotheses.len(),
        |ui, rows| {
            for n in rows {
                let Some(hypothesis) = column.hypotheses.get(n) else { continue };
                row_ui(ui, window, column, n, hypothesis, normalised);
            }
        },
    );
}

fn header_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, is_open: bool, normalised: bool) {
    let t = theme::tokens(ui);
    let (_, rect) = ui.allocate_space(vec2(ui.available_width(), HEADER));
    ui.painter().hline(rect.x_range(), rect.top(), egui::Stroke::new(1.0, t.line));
    let response = ui.interact(rect, Id::unique(("beam_header", column.id)), Sense::CLICK);
    let name = format!("Beam of {}", column.name());
    response.widget_info(|| WidgetInfo::selected(Role::DisclosureTriangle, true, is_open, &name));
    if response.clicked() {
        window.keep(local::BEAM_OPEN, f32::from(u8::from(!is_open)));
    }
    let colour = if response.hovered() { t.accent } else { t.weak };
    let y = rect.center().y + 1.0;
    let text = |x: f32, align: Align2, text: &str| {
        ui.painter().text(pos2(rect.left() + x, y), align, text, theme::small(), colour);
    };
    let count = column.hypotheses.len();
    if !is_open {
        text(0.0, Align2::LEFT_CENTER, &format!("Beam, {count} hypotheses (click to open)"));
    } else if count == 1 && column.decoding {
        text(0.0, Align2::LEFT_CENTER, "Beam, leading hypothesis so far");
    } else {
        text(NUMBERS[0] + NUMBERS[1], Align2::RIGHT_CENTER, "log p");
        let mut x = NUMBERS[0] + NUMBERS[1];
        if normalised {
            x += NUMBERS[2];
            text(x, Align2::RIGHT_CENTER, "per |y|^A");
        }
        text(x + theme::SPACE_3, Align2::LEFT_CENTER, "Beam");
    }
    response.on_hover_text(
        "Every translation that the search finished, best first. log p is the sum over the words; with length normalisation it is divided by the length to the power of A.",
    );
}

/// The list takes the arrows while it has the keyboard.
fn keys(ui: &mut Ui, window: &mut Window<'_>, column: &Column, id: Id) {
    let response = ui.interact(ui.available_rect_before_wrap(), id, Sense::CLICK | Sense::FOCUSABLE);
    let name = format!("Beam of {}, arrows move through it", column.name());
    node(&response, Role::ListBox, || name);
    let is_selected = window.session.selected_column().is_some_and(|selected| selected.id == column.id);
    if is_selected && window.local.takes_focus(Panel::Beam) {
        response.request_focus();
    }
    let moves = rows::keys(ui, &response, response.rect, 3.0);
    let last = column.hypotheses.len() as isize - 1;
    let to = (column.hypothesis as isize + moves).clamp(0, last.max(0));
    if moves != 0 && to != column.hypothesis as isize {
        window.push(SelectCommand::Hypothesis { column: column.id, hypothesis: to as usize });
    }
}

fn row_ui(
    ui: &mut Ui,
    window: &mut Window<'_>,
    column: &Column,
    n: usize,
    hypothesis: &HypothesisView,
    normalised: bool,
) {
    let t = theme::tokens(ui);
    let (_, rect) = ui.allocate_space(vec2(ui.available_width(), ROW));
    let response = ui.interact(rect, Id::unique(("hypothesis", column.id, n)), Sense::CLICK);
    let is_shown = column.hypothesis == n;
    let label = || format!("Hypothesis {}, log p {:.2}, {}", n + 1, hypothesis.log_p, hypothesis.text);
    response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_shown, label()));
    if response.clicked() {
        window.push(SelectCommand::Hypothesis { column: column.id, hypothesis: n });
    }
    let fill = rows::ground(ui, &response, is_shown, None);
    ui.painter().rect_filled(rect, CornerRadius::same(3), fill);
    let mut x = rect.left();
    let mut number = |width: f32, text: String| {
        x += width;
        ui.painter().text(pos2(x, rect.center().y), Align2::RIGHT_CENTER, text, theme::small(), t.weak);
    };
    number(NUMBERS[0] - theme::SPACE_1, (n + 1).to_string());
    number(NUMBERS[1] + theme::SPACE_1, format!("{:.2}", hypothesis.log_p));
    if normalised {
        number(NUMBERS[2], format!("{:.2}", hypothesis.rank));
    }
    let room = Rect::from_min_max(pos2(x + theme::SPACE_3, rect.top()), rect.max);
    let galley = ui.painter().layout_job(words_job(t, hypothesis, room.width()));
    let at = Align2::LEFT_CENTER.align_size_within_rect(galley.size(), room);
    let is_cut = galley.elided;
    ui.painter().galley(at.min, galley, t.text);
    if is_cut {
        response.on_hover_text(bidi::visual(&hypothesis.text).into_owned());
    }
}

/// The words on one line, warm where the model doubts.
fn words_job(t: &Tokens, hypothesis: &HypothesisView, width: f32) -> LayoutJob {
    let mut job = LayoutJob::default();
    job.wrap.max_width = width;
    job.wrap.max_rows = 1;
    job.wrap.break_anywhere = true;
    let words = hypothesis.tokens.iter().zip(&hypothesis.token_log_p).filter(|(word, _)| *word != EOS);
    let from_right = bidi::starts_right(&hypothesis.text);
    let mut list: Vec<_> = words.collect();
    if from_right {
        list.reverse();
    }
    for (n, (word, log_p)) in list.into_iter().enumerate() {
        let format = TextFormat {
            font_id: theme::body(),
            color: t.text,
            background: theme::doubt(t, *log_p),
            ..Default::default()
        };
        job.append(word, if n == 0 { 0.0 } else { theme::SPACE_1 }, format);
    }
    job
}

/// A caption when the hypothesis in the picture is not the best one.
pub fn caption(column: &Column) -> Option<RichText> {
    (column.hypothesis > 0).then(|| RichText::new(format!("hypothesis {}", column.hypothesis + 1)))
}
