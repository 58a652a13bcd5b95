//! Floor 9: a vector as rows of signed bars, for the one context vector of the RNN Encoder-Decoder.

use egui::accesskit::Role;
use egui::{Rect, Response, Sense, Stroke, Ui, Vec2, pos2, vec2};

use crate::ui::theme;
use crate::ui::widgets::{is_heard, node};

/// Where the bars of a vector stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Numbers in a row.
    pub across: usize,
    /// Rows.
    pub down: usize,
    /// From one bar to the next, points.
    pub pitch: f32,
    /// From one row to the next, points.
    pub row: f32,
}

/// A bar and the gap behind it are no narrower, so that a projector shows them.
const LEAST_PITCH: f32 = 4.0;
/// Rows, from low to high.
const ROW: (f32, f32) = (14.0, 64.0);

impl Layout {
    /// For `count` numbers in `size` points.
    pub fn choose(count: usize, size: Vec2) -> Self {
        let most_across = ((size.x / LEAST_PITCH) as usize).max(1);
        let down = count.div_ceil(most_across).max(1);
        let across = count.div_ceil(down).max(1);
        let row = (size.y / down as f32).clamp(ROW.0, ROW.1);
        Self { across, down, pitch: size.x / across as f32, row }
    }

    /// The box of number `n`, from the corner of the strip.
    pub fn cell(&self, n: usize) -> Rect {
        let (x, y) = (n % self.across, n / self.across);
        Rect::from_min_size(pos2(x as f32 * self.pitch, y as f32 * self.row), vec2(self.pitch, self.row))
    }

    /// The number under a point.
    pub fn hit(&self, x: f32, y: f32, count: usize) -> Option<usize> {
        if x < 0.0 || y < 0.0 {
            return None;
        }
        let (column, row) = ((x / self.pitch) as usize, (y / self.row) as usize);
        let n = row * self.across + column;
        (column < self.across && n < count).then_some(n)
    }
}

/// Paints `values`, each called `name`_n for screen readers. Bars grow up for positive, down for negative numbers.
pub fn strip(ui: &mut Ui, name: &str, values: &[f32], height: f32) -> Response {
    let layout = Layout::choose(values.len(), vec2(ui.available_width(), height));
    let size = vec2(ui.available_width(), layout.row * layout.down as f32);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let t = theme::tokens(ui);
    let largest = values.iter().fold(1e-6_f32, |most, value| most.max(value.abs()));
    for row in 0..layout.down {
        let y = rect.top() + (row as f32 + 0.5) * layout.row;
        ui.painter().hline(rect.x_range(), y, Stroke::new(1.0, t.line));
    }
    for (n, value) in values.iter().enumerate() {
        let cell = layout.cell(n).translate(rect.min.to_vec2());
        let reach = (value / largest) * (layout.row * 0.5 - 2.0);
        let (from, to) = (cell.center().y, cell.center().y - reach);
        let gap = (layout.pitch * 0.25).min(1.5);
        let bar = Rect::from_min_max(
            pos2(cell.left(), from.min(to)),
            pos2(cell.right() - gap, from.max(to).max(from.min(to) + 1.0)),
        );
        ui.painter().rect_filled(bar, 0.0, theme::signed(t, value / largest));
    }
    label(ui, &layout, rect, &response, name, values);
    let over = response.hover_pos().and_then(|p| layout.hit(p.x - rect.left(), p.y - rect.top(), values.len()));
    match over {
        Some(n) => response.on_hover_text_at_pointer(format!("{name}_{} = {:.3}", n + 1, values[n])),
        None => response,
    }
}

/// A node for the strip and one for every number, while a screen reader listens.
fn label(ui: &Ui, layout: &Layout, rect: Rect, response: &Response, name: &str, values: &[f32]) {
    let (low, high) =
        values.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
    node(response, Role::Figure, || {
        format!("Context vector {name}, {} numbers from {low:.2} to {high:.2}", values.len())
    });
    if !is_heard(response) {
        return;
    }
    ui.ctx().allow_widget_id_changes_in(rect);
    for (n, value) in values.iter().enumerate() {
        let cell = layout.cell(n).translate(rect.min.to_vec2());
        let part = ui.interact(cell, response.id.with(n), Sense::hover());
        node(&part, Role::Meter, || format!("{name}_{} {value:.2}", n + 1));
    }
}
