//! A vector as rows of signed bars, for the one context vector of the RNN Encoder-Decoder.

use egui::accesskit::Role;
use egui::{Rect, Response, Sense, Ui, vec2};

use crate::widgets::{has_reader, marks, node, theme};

pub use figure::strip::StripLayout;

/// Paints a vector; screen readers get `name`_n for each number. Returns also the number under the mouse.
pub fn named(ui: &mut Ui, what: &str, name: &str, values: &[f32], height: f32) -> (Response, Option<usize>) {
    let layout = StripLayout::choose(values.len(), vec2(ui.available_width(), height));
    let size = vec2(ui.available_width(), layout.row * layout.down as f32);
    let (rect, response) = ui.allocate_exact_size(size, Sense::CLICK);
    marks::paint(ui.painter(), layout.marks(&rect, values, theme::palette(ui)));
    label(ui, &layout, rect, &response, (what, name), values);
    let over = response.hover_pos().and_then(|p| layout.hit(p.x - rect.left(), p.y - rect.top(), values.len()));
    let response = match over {
        Some(n) => response.on_hover_text_at_pointer(format!("{name}_{} = {:.3}", n + 1, values[n])),
        None => response,
    };
    (response, over)
}

fn label(ui: &Ui, layout: &StripLayout, rect: Rect, response: &Response, (what, name): (&str, &str), values: &[f32]) {
    let (low, high) =
        values.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
    node(response, Role::Figure, || {
        tr!(
            "{what} {name}, {} numbers from {low} to {high}",
            values.len(),
            what,
            name,
            low = format_args!("{low:.2}"),
            high = format_args!("{high:.2}")
        )
    });
    if !has_reader(response) {
        return;
    }
    ui.ctx().allow_widget_id_changes_in(rect);
    for (n, value) in values.iter().enumerate() {
        let cell = layout.cell(n).translate(rect.min.to_vec2());
        // Its id with a bare number is that of its tooltip.
        let part = ui.interact(cell, response.id.with(("number", n)), Sense::hover());
        node(&part, Role::Meter, || format!("{name}_{} {value:.2}", n + 1));
    }
}
