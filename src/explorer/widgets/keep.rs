//! A button over a plot or a map that keeps its picture for a file. The window asks for the name.

use std::sync::Arc;

use egui::{Context, Id, Rect, Response, Ui};

use crate::widgets::{labels, theme};
use figure::Figure;
use figure::geometry::Size;

pub const PLOT: Size = Size { x: 460.0, y: 280.0 };
pub const MAP: Size = Size { x: 640.0, y: 480.0 };

fn id() -> Id {
    Id::unique("kept_figure")
}

/// A small button; on click it keeps the picture of `what`.
pub fn button_ui(ui: &mut Ui, what: &str, figure: impl FnOnce() -> Option<Figure<'static>>) -> Response {
    let button = labels::small_button(ui, tr!("Save...")).on_hover_text(tr!("Save this picture as SVG, PDF or PNG"));
    if button.clicked()
        && let Some(figure) = figure()
    {
        ui.data_mut(|data| data.insert_temp(id(), Arc::new(figure)));
    }
    button.accessible_name(tr!("Save the picture: {what}", what))
}

pub fn corner_ui(ui: &mut Ui, area: Rect, what: &str, figure: impl FnOnce() -> Option<Figure<'static>>) {
    let inside = area.shrink(theme::SPACE_2);
    let corner = egui::Layout::right_to_left(egui::Align::Min);
    let mut child = ui.new_child(egui::UiBuilder::new().id_salt("save_picture").max_rect(inside).layout(corner));
    button_ui(&mut child, what, figure);
}

pub fn take(ctx: &Context) -> Option<Arc<Figure<'static>>> {
    ctx.data_mut(|data| data.remove_temp(id()))
}
