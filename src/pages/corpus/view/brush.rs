//! Floor 11: a brush: a range of numbers that is drawn along an axis with the mouse, or moved with the arrow keys. What
//! it says goes into the conditions; it keeps nothing itself.

use egui::{EventFilter, Key, Modifiers, Pos2, Rect, Response, RichText, Stroke, StrokeKind, Ui};

use crate::corpus::measures::distribution::Histogram;
use crate::corpus::query::column::TableColumn;
use crate::corpus::store::corpus::CorpusTable;
use crate::corpus::store::ranges::{Range, text, written};
use crate::lang;
use crate::pages::corpus::view::memory::Grab;
use crate::pages::corpus::whole::ExploreCommand;
use crate::pages::window::local::Window;
use crate::widgets::theme;

/// The mouse takes hold of an end that is so near, points.
const NEAR: f32 = 6.0;
/// A shorter drag is a click, points.
const LEAST: f32 = 3.0;

/// Where numbers stand on the screen.
#[derive(Clone, Copy)]
pub struct BrushAxis<'a> {
    /// From the first to the last number.
    pub rect: Rect,
    /// The greatest stands at the top, not at the right.
    pub is_vertical: bool,
    /// The numbers.
    pub histogram: &'a Histogram,
    /// Whose they are.
    pub corpus: &'a CorpusTable,
}

/// What a brush is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BrushChange {
    /// This range now.
    To(Range),
    /// None.
    Clear,
}

impl BrushAxis<'_> {
    /// Where a number stands, along the axis.
    pub fn place(&self, value: f32) -> f32 {
        self.at(self.histogram.share(value))
    }

    fn at(&self, share: f32) -> f32 {
        if self.is_vertical {
            self.rect.bottom() - share * self.rect.height()
        } else {
            self.rect.left() + share * self.rect.width()
        }
    }

    fn length(&self) -> f32 {
        if self.is_vertical { self.rect.height() } else { self.rect.width() }
    }

    fn share(&self, at: Pos2) -> f32 {
        let along = if self.is_vertical { self.rect.bottom() - at.y } else { at.x - self.rect.left() };
        (along / self.length().max(1.0)).clamp(0.0, 1.0)
    }

    /// The shares of a range.
    fn shares(&self, (low, high): Range) -> (f32, f32) {
        (self.histogram.share(low), self.histogram.share(high))
    }

    /// Whether its numbers are whole.
    fn is_whole(&self) -> bool {
        let column = self.histogram.column;
        !matches!(column, TableColumn::Errors(_) | TableColumn::Rating(_) | TableColumn::RatingDifference(..))
            && column.measure(self.corpus).is_none_or(|measure| measure.digits == 0)
    }

    /// A range moved by so much of the axis, as wide as before; whole numbers go by whole numbers.
    fn moved(&self, (low, high): Range, by: f32) -> Range {
        if !self.is_whole() || !low.is_finite() || !high.is_finite() {
            let (low, high) = self.shares((low, high));
            let by = by.clamp(-low, 1.0 - high);
            return self.range(low + by, high + by);
        }
        let (least, most) = (self.histogram.value(0.0).ceil(), self.histogram.value(1.0).floor());
        let by = (by * self.width()).round().clamp(least.min(low) - low, most.max(high) - high);
        (low + by, high + by)
    }

    /// The range between two shares: what goes to the end is open, and whole numbers stay whole.
    fn range(&self, a: f32, b: f32) -> Range {
        let (low, high) = (a.min(b), a.max(b));
        let is_whole = self.is_whole();
        let (mut from, mut to) = (self.histogram.value(low), self.histogram.value(high));
        if is_whole {
            (from, to) = (from.ceil(), to.floor().max(from.ceil()));
        }
        (if low <= 0.0 { f32::NEG_INFINITY } else { from }, if high >= 1.0 { f32::INFINITY } else { to })
    }

    /// The part of the room that a range takes.
    pub fn covered(&self, range: Range) -> Rect {
        let (low, high) = self.shares(range);
        // A whole number has the whole of its bin.
        let half = if self.histogram.step() >= 1.0 { 0.5 * self.histogram.step() / self.width() } else { 0.0 };
        let (low, high) = (self.at((low - half).max(0.0)), self.at((high + half).min(1.0)));
        if self.is_vertical {
            Rect::from_x_y_ranges(self.rect.x_range(), high..=low)
        } else {
            Rect::from_x_y_ranges(low..=high, self.rect.y_range())
        }
    }

    fn width(&self) -> f32 {
        (self.histogram.high - self.histogram.low).max(f32::MIN_POSITIVE)
    }
}

/// What a brush says of itself behind the name of its axis.
pub fn told(column: TableColumn, corpus: &CorpusTable, range: Option<Range>) -> String {
    let text = |number: f32| text(column, corpus, number);
    let Some((low, high)) = range else { return tr!("not brushed").to_owned() };
    match (low.is_finite(), high.is_finite()) {
        (true, true) => tr!("brushed from {} to {}", text(low), text(high)),
        (true, false) => tr!("brushed from {} on", text(low)),
        (false, true) => tr!("brushed up to {}", text(high)),
        (false, false) => tr!("brushed whole").to_owned(),
    }
}

/// What the mouse and the keys ask for.
pub fn asked(
    ui: &Ui,
    axis: &BrushAxis<'_>,
    response: &Response,
    range: Option<Range>,
    grab: &mut Option<(TableColumn, Grab)>,
) -> Option<BrushChange> {
    if response.double_clicked() {
        *grab = None;
        return range.map(|_| BrushChange::Clear);
    }
    mouse(axis, response, range, grab).or_else(|| keys(ui, axis, response, range))
}

fn mouse(
    axis: &BrushAxis<'_>,
    response: &Response,
    range: Option<Range>,
    grab: &mut Option<(TableColumn, Grab)>,
) -> Option<BrushChange> {
    let column = axis.histogram.column;
    if response.drag_started()
        && let Some(at) = response.ctx.input(|input| input.pointer.press_origin())
    {
        response.request_focus();
        *grab = Some((column, taken(axis, at, range)));
    }
    let (_, held) = grab.filter(|(of, _)| *of == column)?;
    if response.drag_stopped() {
        *grab = None;
    }
    let at = response.interact_pointer_pos()?;
    let share = axis.share(at);
    let (low, high) = range.map_or((0.0, 1.0), |range| axis.shares(range));
    let (from, to) = match held {
        Grab::New(from) if (from - share).abs() * axis.length() < LEAST => return None,
        Grab::New(from) => (from, share),
        Grab::Low => (share.min(high), high),
        Grab::High => (low, share.max(low)),
        Grab::Whole(offset, began) => {
            return changed(axis, axis.moved(began, share - offset - axis.shares(began).0), range);
        }
    };
    changed(axis, axis.range(from, to), range)
}

/// What of the brush is under the mouse.
fn taken(axis: &BrushAxis<'_>, at: Pos2, range: Option<Range>) -> Grab {
    let share = axis.share(at);
    let Some((low, high)) = range.map(|range| axis.shares(range)) else { return Grab::New(share) };
    let is_near = |end: f32| (end - share).abs() * axis.length() <= NEAR;
    if is_near(high) {
        Grab::High
    } else if is_near(low) {
        Grab::Low
    } else if (low..=high).contains(&share) {
        Grab::Whole(share - low, range.unwrap_or_default())
    } else {
        Grab::New(share)
    }
}

/// A change is one only where it is another text.
fn changed(axis: &BrushAxis<'_>, new: Range, old: Option<Range>) -> Option<BrushChange> {
    let text = |(low, high): Range| written(axis.histogram.column, axis.corpus, low, high);
    (old.map(text) != Some(text(new))).then_some(BrushChange::To(new))
}

/// Along the axis the arrow keys move the brush, across it they widen and narrow it; Delete clears it.
fn keys(ui: &Ui, axis: &BrushAxis<'_>, response: &Response, range: Option<Range>) -> Option<BrushChange> {
    if !response.has_focus() {
        return None;
    }
    let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..Default::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let (moved, widened, clears) = ui.input_mut(|input| {
        let mut presses = |key| input.count_and_consume_key(Modifiers::NONE, key) as f32;
        let across = presses(Key::ArrowRight) - presses(Key::ArrowLeft);
        let up = presses(Key::ArrowUp) - presses(Key::ArrowDown);
        let clears = presses(Key::Delete) + presses(Key::Backspace) > 0.0;
        if axis.is_vertical { (up, across, clears) } else { (across, up, clears) }
    });
    if clears {
        return range.map(|_| BrushChange::Clear);
    }
    if moved == 0.0 && widened == 0.0 {
        return None;
    }
    let step = 1.0 / axis.histogram.all.len().max(1) as f32;
    // Without a brush one begins as the middle half.
    let (low, high) = range.map_or((0.25, 0.75), |range| axis.shares(range));
    if range.is_none() {
        return changed(axis, axis.range(low, high), range);
    }
    if let Some(range) = range.filter(|_| axis.is_whole() && widened == 0.0) {
        // at least to the next number
        let step = step.max(1.0 / axis.width().max(f32::MIN_POSITIVE));
        return changed(axis, axis.moved(range, moved * step), Some(range));
    }
    let moved = (moved * step).clamp(-low, 1.0 - high);
    let (low, high) = (low + moved - widened * step, high + moved + widened * step);
    let middle = f32::midpoint(low, high);
    changed(axis, axis.range(low.min(middle).max(0.0), high.max(middle).min(1.0)), range)
}

/// Paints a range, and a frame where it has the keyboard.
pub fn paint(ui: &Ui, axis: &BrushAxis<'_>, response: &Response, range: Option<Range>) {
    let t = theme::tokens(ui);
    if let Some(range) = range {
        let covered = axis.covered(range);
        ui.painter().rect_filled(covered, 0.0, t.accent_soft.gamma_multiply(0.55));
        ui.painter().rect_stroke(covered, 0.0, Stroke::new(1.0, t.accent), StrokeKind::Inside);
    }
    if response.has_focus() {
        let ring = response.rect.expand(1.0);
        ui.painter().rect_stroke(ring, theme::RADIUS_SMALL, Stroke::new(1.5, t.accent), StrokeKind::Inside);
    }
}

/// The sign of the mouse over it.
pub fn cursor(axis: &BrushAxis<'_>, response: &Response, range: Option<Range>) {
    let Some(at) = response.hover_pos() else { return };
    let icon = match taken(axis, at, range) {
        Grab::Low | Grab::High if axis.is_vertical => egui::CursorIcon::ResizeVertical,
        Grab::Low | Grab::High => egui::CursorIcon::ResizeHorizontal,
        Grab::Whole(..) => egui::CursorIcon::Grab,
        Grab::New(_) => egui::CursorIcon::Crosshair,
    };
    response.ctx.set_cursor_icon(icon);
}

/// How it is used, for the tooltip.
const HINT: &str =
    id!("Drag to brush, drag an end to change it, double click to clear. With the keyboard: arrow keys along it \
                        move the brush, across it widen and narrow it, Delete clears it");

/// Says over an axis what it is and how it is brushed, and asks for what was done there.
pub fn answer(
    window: &mut Window<'_>,
    response: Response,
    column: TableColumn,
    about: &str,
    change: Option<BrushChange>,
) {
    response.on_hover_ui(|ui| {
        ui.label(about);
        ui.label(RichText::new(lang::text(HINT)).size(theme::TEXT_SMALL).weak());
    });
    match change {
        Some(BrushChange::To(range)) => window.push(ExploreCommand::Brush(column, Some(range))),
        Some(BrushChange::Clear) => window.push(ExploreCommand::Brush(column, None)),
        None => {}
    }
}
