//! What views are built of. Each widget answers with what happened and changes nothing itself.

pub mod bars;
pub mod bidi;
pub mod chart;
pub mod grid;
pub mod heatmap;
pub mod keep;
pub mod labels;
pub mod marks;
pub mod matrix;
pub mod rows;
pub mod source_bars;
pub mod strip;
pub mod theme;
pub mod words;

use egui::Response;
use egui::accesskit::{Action, Role};

/// Makes an accessibility node for something painted. Free without a screen reader.
pub fn node(response: &Response, role: Role, label: impl FnOnce() -> String) {
    let rect = response.rect;
    response.ctx.accesskit_node_builder(response.id, |node| {
        node.set_role(role);
        node.set_label(label());
        node.set_bounds(egui::accesskit::Rect {
            x0: rect.min.x.into(),
            y0: rect.min.y.into(),
            x1: rect.max.x.into(),
            y1: rect.max.y.into(),
        });
        if role == Role::GridCell {
            node.add_action(Action::Click);
        }
    });
}

/// Whether a screen reader is on; hundreds of nodes would cost frames.
pub fn has_reader(response: &Response) -> bool {
    response.ctx.accesskit_node_builder(response.id, |_| ()).is_some()
}

/// Scrolls contents higher than `most` points, and follows contents that grow.
pub fn growing(most: f32) -> egui::ScrollArea {
    egui::ScrollArea::vertical().max_height(most).min_scrolled_height(most)
}
