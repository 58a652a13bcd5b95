//! The beam of a column: every hypothesis with its numbers and its words; a click shows its alignment.

use std::borrow::Cow;

use egui::accesskit::Role;
use egui::{Align2, Id, Response, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::pages::shell::local::{Panel, Window};
use crate::pages::{sentence::command::SelectCommand, shell::clicked::MenuTarget};
use crate::widgets::{bidi, marks, node, rows, theme};
use crate::{app::document::column::Column, jobs::live::protocol::HypothesisView};
use engine::{analysis::words::merge_log_p, interventions::Said, text::sentence::EOS};
use figure::beam::{BeamRow, NUMBERS};
use figure::{label::target_text, palette::Rgba};

pub const HEADER: f32 = 26.0;
pub const ROW: f32 = 22.0;

pub fn beam_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column) {
    if column.hypotheses.is_empty() {
        return;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let is_open = window.shows_beam();
    let normalised = window.app.document.state.search.length_normalization > 0.0;
    let is_room = ui.available_height() >= HEADER + ROW;
    header_ui(ui, window, column, (is_open, is_room), normalised);
    if !is_open || !is_room {
        return;
    }
    let id = Id::unique(("beam", column.id));
    let list = keys(ui, window, column, id);
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
    // over the rows, which would cover it
    rows::ring(ui, &list, list.rect, 3.0);
}

fn header_ui(
    ui: &mut Ui, window: &mut Window<'_>, column: &Column, (is_open, is_room): (bool, bool), normalised: bool,
) {
    let t = theme::tokens(ui);
    let (_, rect) = ui.allocate_space(vec2(ui.available_width(), HEADER));
    ui.painter().hline(rect.x_range(), rect.top(), egui::Stroke::new(1.0, t.line));
    let response = ui.interact(rect, Id::unique(("beam_header", column.id)), Sense::CLICK);
    let name = tr!("Beam of {}", column.name());
    response.widget_info(|| WidgetInfo::selected(Role::DisclosureTriangle, true, is_open, &name));
    if response.clicked() && window.layout.beam_open == is_open {
        window.layout.beam_open = !is_open;
    }
    let colour = if response.hovered() { t.accent } else { t.weak };
    let y = rect.center().y + 1.0;
    let text = |x: f32, align: Align2, text: &str| {
        ui.painter().text(pos2(rect.left() + x, y), align, text, theme::small(), colour);
    };
    let count = column.hypotheses.len();
    if !is_open {
        let closed = tr!("Beam, {n} hypothesis (click to open)" | "Beam, {n} hypotheses (click to open)" % count);
        text(0.0, Align2::LEFT_CENTER, &closed);
    } else if !is_room {
        let hidden = tr!("Beam, {n} hypothesis: a higher window shows it"
            | "Beam, {n} hypotheses: a higher window shows them" % count);
        text(0.0, Align2::LEFT_CENTER, &hidden);
    } else if count == 1 && column.decoding {
        text(0.0, Align2::LEFT_CENTER, tr!("Beam, leading hypothesis so far"));
    } else {
        text(NUMBERS[0] + NUMBERS[1], Align2::RIGHT_CENTER, tr!("log p"));
        let x = NUMBERS[0] + NUMBERS[1] + NUMBERS[2];
        text(x, Align2::RIGHT_CENTER, if normalised { tr!("per |y|^A") } else { tr!("per word") });
        text(x + NUMBERS[3], Align2::RIGHT_CENTER, tr!("per token"));
        text(x + NUMBERS[3] + theme::SPACE_3, Align2::LEFT_CENTER, tr!("Beam"));
    }
    response.on_hover_text(
        tr!("Every translation that the search finished, best first. log p is the sum over the words. Next to it are log p per word (punctuation, elisions and clitics are words), or with length normalisation log p divided by the length to the power of A, and log p per token of the model; </s> is counted. Words that begin as the best one does are faded."),
    );
}

fn keys(ui: &mut Ui, window: &mut Window<'_>, column: &Column, id: Id) -> Response {
    let response = ui.interact(ui.available_rect_before_wrap(), id, Sense::CLICK | Sense::FOCUSABLE);
    let name = tr!("Beam of {}, arrows move through it", column.name());
    node(&response, Role::ListBox, || name);
    let is_selected = window.app.selected_column().is_some_and(|selected| selected.id == column.id);
    if is_selected && window.local.shared.takes_focus(Panel::Beam) {
        response.request_focus();
    }
    let moves = rows::keys(ui, &response);
    let last = column.hypotheses.len() as isize - 1;
    let to = (column.hypothesis as isize + moves).clamp(0, last.max(0));
    if moves != 0 && to != column.hypothesis as isize {
        window.push(SelectCommand::Hypothesis { column: column.id, hypothesis: to as usize });
    }
    response
}

fn row_ui(
    ui: &mut Ui, window: &mut Window<'_>, column: &Column, n: usize, hypothesis: &HypothesisView, normalised: bool,
) {
    let palette = theme::palette(ui);
    let (_, rect) = ui.allocate_space(vec2(ui.available_width(), ROW));
    let response = ui.interact(rect, Id::unique(("hypothesis", column.id, n)), Sense::CLICK);
    let is_shown = column.hypothesis == n && column.table.as_ref().is_none_or(|table| !table.is_given);
    let shown = Shown::of(window, column);
    let text = text(hypothesis, shown);
    let label = || {
        tr!(
            "Hypothesis {}, log p {}{}, {text}",
            n + 1,
            format_args!("{:.2}", hypothesis.found.log_p),
            parts(hypothesis),
            text
        )
    };
    response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_shown, label()));
    window.push_if(response.clicked(), SelectCommand::Hypothesis { column: column.id, hypothesis: n });
    window.offer(&response, MenuTarget::Hypothesis { column: column.id, n });
    let back = if is_shown {
        palette.accent_soft
    } else if response.hovered() {
        palette.raised
    } else {
        Rgba::TRANSPARENT
    };
    let [per_word, per_token] = hypothesis.mean_log_p();
    let (rank, per_token) = (Some(if normalised { hypothesis.found.rank } else { per_word }), Some(per_token));
    let (words, shared, said) = (words(hypothesis, shown), shared(column, n, shown), said(hypothesis, shown));
    let row = BeamRow { place: n + 1, log_p: hypothesis.found.log_p, rank, per_token, words, said, shared, back };
    if marks::paint(ui.painter(), row.marks(&rect, palette)) {
        response.on_hover_text(format!("{}{}", bidi::visual(&text), parts(hypothesis)));
    } else if hypothesis.touched.has_words() {
        response.on_hover_text(tr!("log p {}{}", format_args!("{:.2}", hypothesis.found.log_p), parts(hypothesis)));
    }
}

/// log p of the words that were held or forced, and of those that the model chose; empty where all are its own.
fn parts(hypothesis: &HypothesisView) -> String {
    if !hypothesis.touched.has_words() {
        return String::new();
    }
    let (set, free) = hypothesis.touched.parts(&hypothesis.found.token_log_p);
    tr!(" ({set} held or forced, {free} free)", set = format_args!("{set:.2}"), free = format_args!("{free:.2}"))
}

fn said(hypothesis: &HypothesisView, shown: Shown) -> Vec<Said> {
    let touched = &hypothesis.touched;
    let merged = hypothesis.pieces.as_ref().filter(|_| !shown.pieces);
    let count = merged.map_or(hypothesis.tokens.len(), |merged| merged.target.len());
    let tokens = |n: usize| merged.and_then(|merged| merged.target.get(n)).map_or(n..n + 1, Clone::clone);
    let is_end =
        |n: &usize| merged.map_or(&hypothesis.tokens, |merged| &merged.words).get(*n).is_some_and(|w| w == EOS);
    let word = |n: usize| tokens(n).map(|token| touched.said(token)).max().unwrap_or_default();
    let mut said: Vec<Said> = (0..count).filter(|n| !is_end(n)).map(word).collect();
    if bidi::starts_right(&hypothesis.text) {
        said.reverse();
    }
    said
}

#[derive(Clone, Copy)]
struct Shown {
    pieces: bool,
    replace: bool,
}

impl Shown {
    fn of(window: &Window<'_>, column: &Column) -> Self {
        Self { pieces: window.app.view.settings.pieces, replace: window.app.replaces(column) }
    }
}

fn text(hypothesis: &HypothesisView, shown: Shown) -> Cow<'_, str> {
    if !shown.replace || hypothesis.replaced.iter().all(Option::is_none) {
        return Cow::Borrowed(&hypothesis.text);
    }
    let words = in_order(hypothesis, shown);
    Cow::Owned(words.iter().map(|(word, _)| word.as_ref()).collect::<Vec<_>>().join(" "))
}

/// How many words a hypothesis shares with the start of the best one; 0 for the best and for text from the right.
fn shared(column: &Column, n: usize, shown: Shown) -> usize {
    let (Some(best), Some(this)) = (column.hypotheses.first(), column.hypotheses.get(n)) else { return 0 };
    if n == 0 || bidi::starts_right(&this.text) {
        return 0;
    }
    let (best, this) = (words(best, shown), words(this, shown));
    best.iter().zip(&this).take_while(|((a, _), (b, _))| a == b).count()
}

fn words(hypothesis: &HypothesisView, shown: Shown) -> Vec<(Cow<'_, str>, f32)> {
    let mut words = in_order(hypothesis, shown);
    if bidi::starts_right(&hypothesis.text) {
        words.reverse();
    }
    words
}

fn in_order(hypothesis: &HypothesisView, shown: Shown) -> Vec<(Cow<'_, str>, f32)> {
    let merged = hypothesis.pieces.as_ref().filter(|_| !shown.pieces);
    let (words, log_p) = match merged {
        None => (&hypothesis.tokens, Cow::Borrowed(&hypothesis.found.token_log_p[..])),
        Some(merged) => (&merged.words, Cow::Owned(merge_log_p(&hypothesis.found.token_log_p, &merged.target))),
    };
    // the only token of word n; a word of several pieces is never unknown as a whole
    let token = |n: usize| match merged.and_then(|merged| merged.target.get(n)) {
        None => Some(n),
        Some(pieces) => (pieces.len() == 1).then_some(pieces.start),
    };
    let typed = |n: usize| token(n).and_then(|n| hypothesis.replaced.get(n)?.as_deref()).filter(|_| shown.replace);
    let words = words.iter().zip(log_p.iter()).enumerate().filter(|(_, (word, _))| *word != EOS);
    words.map(|(n, (word, log_p))| (target_text(word, typed(n).is_some(), typed(n), true), *log_p)).collect()
}
