//! Alpha_ij as Bahdanau's figure 3: source words along the top, target words down the side.

pub mod access;
mod texture;
mod widget;

use egui::emath::GuiRounding;
use egui::{Id, Pos2, Rect, Sense, Stroke, StrokeKind, Ui, UiBuilder, pos2, vec2};

use crate::app::{files::picture, settings::Shown};
use crate::widgets::{labels, marks, node, theme};
use engine::analysis::row_convention::RowConvention;
use engine::lang;
use figure::{geometry, heatmap};
use figure::{heatmap::layout::Grid, label::Label, mark::Cells};

pub use crate::widgets::heatmap::texture::Texture;
pub use crate::widgets::heatmap::widget::{Answer, HeatmapInput, HeatmapWidget};
pub use figure::heatmap::outlines::Outlined;
pub use figure::heatmap::{HeatmapMarks, layout};

/// Revisions of tables are numbers of fewer bits.
const MEASURES_FROM: u32 = 56;
/// Radius of the dot where an original looked, as a share of its cell, and its limits, points.
const DOT: (f32, f32, f32) = (0.2, 2.0, 5.0);

impl HeatmapWidget<'_> {
    pub fn show(&self, ui: &mut Ui, texture: &mut Texture, focus: bool) -> Answer {
        let rect = ui.available_rect_before_wrap();
        let view = Rect::from_min_max(rect.min + vec2(self.metrics.left, self.metrics.top), rect.max);
        let view = self.whole_rows(ui, view);
        let mut answer = Answer { zoom: 1.0, scroll_x: self.scroll_x, ..Answer::default() };
        if !view.is_positive() {
            return answer;
        }
        let (source, target) = (labels::of_source(self.table), labels::of_target(self.table, self.replace));
        let figure = self.figure(ui, &source, &target);
        let (origin, clip) = self.matrix_ui(ui, view, &figure, texture, focus, &mut answer);
        let grid = self.grid(origin);
        self.labels_hover(ui, rect, view, &grid, &mut answer);
        let side = Rect::from_x_y_ranges(rect.left()..=view.left(), clip.y_range());
        marks::paint(&ui.painter_at(side), figure.row_labels(&grid, &side));
        let top = Rect::from_x_y_ranges(view.left()..=rect.right(), rect.top()..=view.top());
        marks::paint(&ui.painter_at(top), figure.column_labels(&grid, &top));
        self.corner(ui, &figure, Rect::from_min_max(rect.min, view.min));
        ui.advance_cursor_after_rect(rect);
        answer
    }

    fn whole_rows(&self, ui: &Ui, view: Rect) -> Rect {
        let (bar, matrix) = (ui.spacing().scroll.allocated_width(), self.grid(view.min).area().size());
        let is_low = matrix.y > view.height();
        let is_narrow = matrix.x + self.metrics.right > view.width() - if is_low { bar } else { 0.0 };
        let foot = if is_narrow { bar } else { 0.0 };
        let rows = ((view.height() - foot) / self.metrics.cell).floor().max(1.0);
        if rows >= self.matrix.rows() as f32 {
            view
        } else {
            view.with_max_y(view.top() + rows * self.metrics.cell + foot)
        }
    }

    fn figure<'a>(&'a self, ui: &Ui, source: &'a [Label<'a>], target: &'a [Label<'a>]) -> heatmap::Heatmap<'a> {
        heatmap::Heatmap {
            source,
            target,
            cells: self.cells(),
            name: "",
            gaze: self.gaze.filter(|_| self.draws_gaze),
            links: self.table.links.as_ref(),
            outlined: self.outlined,
            marks: self.marks,
            metrics: self.metrics,
            text_height: ui.text_style_height(&egui::TextStyle::Small),
            palette: theme::palette(ui),
        }
    }

    fn cells(&self) -> Cells<'_> {
        // measures of one table differ in nothing else that a picture is kept by
        let place = if let Shown::Measure(measure) = self.shown { (measure as u64 + 1) << MEASURES_FROM } else { 0 };
        Cells { numbers: self.matrix, map: self.map, scale: self.scale, revision: self.table.revision ^ place }
    }

    fn grid(&self, origin: Pos2) -> Grid {
        Grid { origin, cell: self.metrics.cell, rows: self.matrix.rows(), columns: self.matrix.columns() }
    }

    /// The matrix in its scroll area; returns its corner on the screen and the visible part.
    fn matrix_ui(
        &self, ui: &mut Ui, view: Rect, figure: &heatmap::Heatmap<'_>, texture: &mut Texture, focus: bool,
        answer: &mut Answer,
    ) -> (Pos2, Rect) {
        let mut child =
            ui.new_child(UiBuilder::new().id_salt(self.id).max_rect(view).accessibility_label(access::name(self)));
        let area =
            egui::ScrollArea::both().id_salt("matrix").auto_shrink(false).horizontal_scroll_offset(self.scroll_x);
        // no more than there is, however little
        let area = area.min_scrolled_width(0.0).min_scrolled_height(0.0);
        let output = area.show_viewport(&mut child, |ui, _| {
            let size = self.metrics.matrix(self.matrix.rows(), self.matrix.columns());
            let (_, space) = ui.allocate_space(vec2(size.x + self.metrics.right, size.y));
            // Whole pixels keep the cells sharp while they scroll.
            let grid = self.grid(space.min.round_to_pixels(ui.pixels_per_point()));
            let all = grid.area();
            let response = ui.interact(all, self.id, Sense::click());
            if focus {
                response.request_focus();
            }
            if let Some(row) = self.reveal.filter(|row| *row < grid.rows) {
                ui.scroll_to_rect(grid.row_area(row).intersect(all), None);
            }
            self.interact(ui, &grid, &response, answer);
            marks::paint_with(ui.painter(), figure.cells(&grid, &ui.clip_rect()), &mut |painter, image| {
                texture.paint(painter, image);
            });
            self.before_ui(ui, &grid);
            if response.has_focus() {
                // That the matrix has the keyboard.
                let stroke = Stroke::new(2.0, theme::tokens(ui).accent);
                ui.painter().rect_stroke(all.expand(2.0), 2.0, stroke, StrokeKind::Outside);
            }
            grid.origin
        });
        answer.scroll_x = output.state.clamped_offset().x;
        (output.inner, output.inner_rect)
    }

    fn before_ui(&self, ui: &Ui, grid: &Grid) {
        let t = theme::tokens(ui);
        let cells = self.before.iter().filter(|(i, j)| *i < grid.rows && *j < grid.columns);
        for (i, j) in cells {
            let cell = grid.cell_area(*i, *j);
            let radius = (DOT.0 * cell.height()).clamp(DOT.1, DOT.2);
            ui.painter().circle(cell.center(), radius, t.warm, Stroke::new(1.0, t.panel));
        }
    }

    fn interact(&self, ui: &mut Ui, grid: &Grid, response: &egui::Response, answer: &mut Answer) {
        access::grid(ui, self, grid, response, answer);
        let row = self.selected_row(ui, grid, answer);
        let (over, is_row) = match row.as_ref().filter(|row| row.hovered()) {
            Some(row) => (row, true),
            None => (response, false),
        };
        if let Some((i, j)) = over.hover_pos().and_then(|at| grid.hit(at)) {
            answer.over = (Some(i), Some(j));
            if over.clicked() {
                // The keyboard clicks what it has, wherever the mouse is.
                let is_mouse = over.clicked_by(egui::PointerButton::Primary);
                (answer.clicked, answer.cell) = (Some(i), is_mouse.then_some((i, j)));
            }
            if over.secondary_clicked() {
                answer.menu = over.interact_pointer_pos().map(|at| HeatmapInput { i: Some(i), j: Some(j), at });
            }
            if over.clicked() && is_row {
                response.request_focus();
            }
            access::tooltip(over, self, i, j);
        }
        if let Some((i, j)) = self.locate.filter(|(i, j)| *i < grid.rows && *j < grid.columns) {
            answer.menu = Some(HeatmapInput { i: Some(i), j: Some(j), at: grid.cell_area(i, j).left_bottom() });
        }
        if response.contains_pointer() {
            answer.zoom = ui.input(egui::InputState::zoom_delta);
        }
        if response.has_focus() {
            answer.steps = keys(ui, response.id);
        }
    }

    fn selected_row(&self, ui: &Ui, grid: &Grid, answer: &mut Answer) -> Option<egui::Response> {
        let i = self.marks.selected.filter(|i| *i < grid.rows && self.drags())?;
        let area = grid.row_area(i).intersect(ui.clip_rect());
        // a finger scrolls
        let sense = if ui.input(egui::InputState::any_touches) { Sense::CLICK } else { Sense::CLICK | Sense::DRAG };
        let response = ui.interact(area, self.id.with("selected row"), sense);
        let response = response.on_hover_cursor(egui::CursorIcon::ResizeVertical);
        if response.drag_started()
            && let Some(from) = ui.input(|input| input.pointer.press_origin())
            && let Some((i, j)) = grid.hit(from)
        {
            answer.grabbed = Some((i, j, from.y));
        }
        Some(response)
    }

    fn corner(&self, ui: &mut Ui, figure: &heatmap::Heatmap<'_>, place: Rect) {
        if let Some(measure) = picture::measure(self.shown) {
            marks::paint(&ui.painter_at(place), [figure.corner(lang::text(measure.title), &place)]);
            return;
        }
        let Some(reading) = self.table.reading else { return };
        let text = lang::text(reading.row_text());
        marks::paint(&ui.painter_at(place), [figure.corner(text, &place)]);
        let response = ui.interact(place, self.id.with("reading"), Sense::hover());
        node(&response, egui::accesskit::Role::Legend, || tr!("Rows of {} by the {text}", self.name, text));
        let source = if reading == RowConvention::Head { "" } else { tr!(" (Luong et al. 2015, footnote 14)") };
        response.on_hover_text(format!("{}{source}", lang::text(reading.about())));
    }

    fn labels_hover(&self, ui: &mut Ui, rect: Rect, view: Rect, grid: &Grid, answer: &mut Answer) {
        let side = Rect::from_min_max(pos2(rect.left(), view.top()), pos2(view.left(), rect.bottom()));
        let response = ui.interact(side, self.id.with("rows"), Sense::CLICK);
        if let Some(point) = response.hover_pos()
            && let Some((i, _)) = grid.hit(geometry::point(grid.origin.x, point.y))
        {
            answer.over.0 = Some(i);
            if response.clicked() {
                answer.clicked = Some(i);
            }
            if response.secondary_clicked() {
                answer.menu = Some(HeatmapInput { i: Some(i), j: None, at: point });
            }
        }
        let top = Rect::from_min_max(pos2(view.left(), rect.top()), pos2(rect.right(), view.top()));
        let response = ui.interact(top, self.id.with("columns"), Sense::CLICK);
        if let Some(point) = response.hover_pos() {
            answer.over.1 = grid.column_of_label(point, view.top(), self.metrics.slant.angle);
            if response.secondary_clicked() {
                answer.menu = Some(HeatmapInput { i: None, j: answer.over.1, at: point });
            }
        }
    }
}

/// Arrow keys while the matrix has the keyboard; egui would move the focus with them.
fn keys(ui: &Ui, id: Id) -> (isize, isize) {
    let filter = egui::EventFilter { horizontal_arrows: true, vertical_arrows: true, ..Default::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
    ui.input_mut(|input| {
        let mut presses = |key| input.count_and_consume_key(egui::Modifiers::NONE, key) as isize;
        let down = presses(egui::Key::ArrowDown) - presses(egui::Key::ArrowUp);
        (down, presses(egui::Key::ArrowRight) - presses(egui::Key::ArrowLeft))
    })
}
