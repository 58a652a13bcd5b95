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

use egui::accesskit::{Action, ActionRequest, Role, TreeId};
use egui::{Event, EventFilter, Key, Modifiers, Response, Ui};

/// Whether files that are dropped on the window arrive: under Wayland the windowing library passes none on.
pub fn can_drop() -> bool {
    static CAN: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| {
        cfg!(not(target_os = "linux")) || std::env::var_os("WAYLAND_DISPLAY").is_none_or(|display| display.is_empty())
    });
    *CAN
}

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

/// Shows the panel with this salt. Its edge has a name, and the arrow keys move it where it has the keyboard.
pub fn sized<R>(ui: &mut Ui, (panel, name): (&str, &str), show: impl FnOnce(&mut Ui) -> R) -> R {
    let edge = ui.scope_id().with(panel).with("__resize");
    if ui.memory(|memory| memory.has_focus(edge)) {
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(edge, filter));
        let moves = [
            (Key::ArrowRight, Action::Increment),
            (Key::ArrowUp, Action::Increment),
            (Key::ArrowLeft, Action::Decrement),
            (Key::ArrowDown, Action::Decrement),
        ];
        // egui moves the edge when a screen reader asks for it
        for (key, action) in moves {
            let (target_tree, target_node) = (TreeId::ROOT, edge.accesskit_id());
            let asked = Event::AccessKitActionRequest(ActionRequest { action, target_tree, target_node, data: None });
            ui.input_mut(|input| {
                let presses = input.count_and_consume_key(Modifiers::NONE, key);
                input.events.extend(std::iter::repeat_n(asked, presses));
            });
        }
    }
    let shown = show(ui);
    ui.ctx().accesskit_node_builder(edge, |node| {
        if node.role() == Role::Splitter {
            node.set_label(tr!("Edge of the panel {name}", name));
        }
    });
    shown
}

/// Frames what has the keyboard, whatever painted it; a text field has its cursor.
pub fn focus_ring(ctx: &egui::Context) {
    // egui takes the keyboard from a widget that is read after a press elsewhere, also if it was just given to it
    let is_pressed = ctx.input(|input| input.pointer.any_pressed() || input.pointer.any_click());
    let focused = ctx.memory(egui::Memory::focused).filter(|_| !is_pressed && !ctx.text_edit_focused());
    let Some(response) = focused.and_then(|id| ctx.read_response(id)) else { return };
    let stroke = egui::Stroke::new(2.0, theme::of(ctx.theme() == egui::Theme::Dark).accent);
    let painter = ctx.layer_painter(response.layer_id);
    painter.rect_stroke(response.interact_rect, theme::RADIUS_SMALL, stroke, egui::StrokeKind::Inside);
}

/// Whether a screen reader is on; hundreds of nodes would cost frames.
pub fn has_reader(response: &Response) -> bool {
    response.ctx.accesskit_node_builder(response.id, |_| ()).is_some()
}

/// Scrolls contents higher than `most` points, and follows contents that grow.
pub fn growing(most: f32) -> egui::ScrollArea {
    egui::ScrollArea::vertical().max_height(most).min_scrolled_height(most)
}
