//! Floor 9: the heatmap as pixels: the texture, the marks over it, and the labels in view.

use std::ops::Range;

use egui::emath::GuiRounding;
use egui::text::LayoutJob;
use egui::{Align2, Color32, ColorImage, Mesh, Pos2, Rect, Shape, Stroke, StrokeKind, Ui, pos2, vec2};

use crate::session::{Matrix, Reading, Shown};
use crate::ui::theme;
use crate::ui::theme::{ColourMap, Tokens};
use crate::ui::widgets::heatmap::layout::{Gaze, Grid};
use crate::ui::widgets::heatmap::{Heatmap, Texture};
use crate::ui::widgets::labels;

/// Smaller cells are drawn without lines between them.
const LINES_FROM: f32 = 10.0;
const UV: Rect = Rect { min: pos2(0.0, 0.0), max: pos2(1.0, 1.0) };

/// One pixel a cell of these rows and columns, coloured from the one end of the scale to the other.
pub fn image(
    matrix: &Matrix,
    map: &ColourMap,
    (low, high): (f32, f32),
    rows: &Range<usize>,
    columns: &Range<usize>,
) -> ColorImage {
    let span = if high > low { high - low } else { 1.0 };
    let cells = rows.clone().flat_map(|i| matrix.row(i).get(columns.clone()).unwrap_or(&[]));
    let pixels = cells.map(|value| map.colour((value - low) / span)).collect();
    ColorImage::new([columns.len(), rows.len()], pixels)
}

/// The numbers that the two ends of the colour map stand for: alpha is drawn as it is, energies from the least to
/// the greatest of the matrix.
pub fn scale(matrix: &Matrix, shown: Shown) -> (f32, f32) {
    match shown {
        Shown::Alpha => (0.0, 1.0),
        Shown::Energies => matrix.range().unwrap_or((0.0, 1.0)),
    }
}

/// The texture and what is marked on it.
pub fn matrix(ui: &Ui, heatmap: &Heatmap<'_>, grid: &Grid, texture: &mut Texture) {
    let t = theme::tokens(ui);
    let painter = ui.painter();
    for (place, id) in texture.in_view(ui, heatmap, grid) {
        painter.image(id, place, UV, Color32::WHITE);
    }
    if grid.cell >= LINES_FROM {
        lines(ui, grid, t);
    }
    painter.rect_stroke(grid.rect(), 0.0, Stroke::new(1.0, t.line), StrokeKind::Outside);
    if let Some(gaze) = heatmap.gaze.filter(|_| heatmap.draws_gaze) {
        gaze_marks(ui, heatmap, &gaze, grid);
    }
    let mark = Stroke::new(1.5, t.mark);
    if let Some(i) = heatmap.marks.selected.filter(|i| *i < grid.rows) {
        painter.rect_stroke(grid.row_rect(i), 2.0, Stroke::new(2.5, t.mark), StrokeKind::Outside);
    }
    if let Some(i) = heatmap.marks.row.filter(|i| *i < grid.rows) {
        painter.rect_stroke(grid.row_rect(i), 0.0, mark, StrokeKind::Outside);
    }
    if let Some(j) = heatmap.marks.column.filter(|j| *j < grid.columns) {
        painter.rect_stroke(grid.column_rect(j), 0.0, mark, StrokeKind::Outside);
    }
}

/// p_t and the windows of the rows in view; of the row that is pointed at or selected the whole frame.
fn gaze_marks(ui: &Ui, heatmap: &Heatmap<'_>, gaze: &Gaze<'_>, grid: &Grid) {
    let t = theme::tokens(ui);
    let stroke = Stroke::new(theme::GAZE_LINE, t.gaze);
    let rows = grid.visible_rows(ui.clip_rect());
    for line in grid.gaze_outline(gaze, rows.clone()) {
        ui.painter().line_segment(line, stroke);
    }
    for i in rows {
        let Some(p_t) = gaze.position(i) else { continue };
        let is_marked = heatmap.marks.row == Some(i) || heatmap.marks.selected == Some(i);
        if let Some(words) = gaze.words(i, grid.columns).filter(|_| is_marked) {
            ui.painter().rect_stroke(grid.gaze_frame(i, &words), 2.0, stroke, StrokeKind::Inside);
        }
        lozenge(ui, grid.gaze_mark(i, p_t), t);
    }
}

/// The mark of p_t.
pub fn lozenge(ui: &Ui, corners: [Pos2; 4], t: &Tokens) {
    ui.painter().add(Shape::convex_polygon(corners.to_vec(), t.gaze, Stroke::new(1.0, t.on_gaze())));
}

/// Which word a row belongs to, in few words.
pub fn reading_text(reading: Reading) -> &'static str {
    match reading {
        Reading::Predicted => "word predicted",
        Reading::Input => "word read",
    }
}

/// Small words at the foot of the corner over the target words.
pub fn corner(ui: &Ui, text: &str, place: Rect) {
    let t = theme::tokens(ui);
    let mut job = LayoutJob::simple(text.to_owned(), theme::small(), t.weak, place.width() - theme::SPACE_2);
    job.halign = egui::Align::RIGHT;
    job.wrap.max_rows = 2;
    let galley = ui.painter().layout_job(job);
    let foot = place.right_bottom() - vec2(theme::SPACE_1 + 2.0, theme::SPACE_1);
    ui.painter_at(place).galley(foot - vec2(0.0, galley.size().y), galley, t.weak);
}

/// That the matrix has the keyboard.
pub fn focus(ui: &Ui, rect: Rect) {
    ui.painter().rect_stroke(rect.expand(2.0), 2.0, Stroke::new(2.0, theme::tokens(ui).accent), StrokeKind::Outside);
}

/// Faint lines in view between the cells, so that the eye keeps its row: one mesh of whole pixels.
fn lines(ui: &Ui, grid: &Grid, t: &Tokens) {
    let colour = t.weak.gamma_multiply(0.22);
    let scale = ui.pixels_per_point();
    let width = scale.round().max(1.0) / scale;
    let seen = grid.rect().intersect(ui.clip_rect());
    let mut mesh = Mesh::default();
    for i in grid.visible_rows(seen).skip(1) {
        let top = grid.row_rect(i).top().round_to_pixels(scale);
        mesh.add_colored_rect(Rect::from_x_y_ranges(seen.x_range(), top..=top + width), colour);
    }
    for j in grid.visible_columns(seen).skip(1) {
        let left = grid.column_rect(j).left().round_to_pixels(scale);
        mesh.add_colored_rect(Rect::from_x_y_ranges(left..=left + width, seen.y_range()), colour);
    }
    ui.painter().add(mesh);
}

/// Target words down the side, those in view.
pub fn row_labels(ui: &Ui, heatmap: &Heatmap<'_>, grid: &Grid, strip: Rect) {
    let t = theme::tokens(ui);
    let painter = ui.painter_at(strip);
    let stride = heatmap.metrics.row_stride(ui.text_style_height(&egui::TextStyle::Small));
    let marks = heatmap.marks;
    for i in grid.visible_rows(strip) {
        let Some(word) = heatmap.table.target.get(i) else { continue };
        let (is_over, is_selected) = (marks.row == Some(i), marks.selected == Some(i));
        if i % stride != 0 && !is_over && !is_selected {
            continue;
        }
        let row = grid.row_rect(i);
        let back = Rect::from_min_max(pos2(strip.left(), row.top()), pos2(strip.right() - 2.0, row.bottom()));
        let height = back.height().max(ui.text_style_height(&egui::TextStyle::Small));
        let back = Rect::from_center_size(back.center(), vec2(back.width(), height));
        if is_over || is_selected {
            painter.rect_filled(back, 3.0, if is_selected { t.accent } else { t.accent_soft });
        }
        let colour = if is_selected { t.on_accent } else { word_colour(t, word.is_unk, word.is_eos) };
        let text = labels::target_text(word, heatmap.replace);
        let galley = labels::galley(&painter, &text, &theme::small(), colour, theme::LABEL_MAX);
        let corner =
            Align2::RIGHT_CENTER.anchor_size(pos2(strip.right() - theme::SPACE_1 - 2.0, row.center().y), galley.size());
        painter.galley(corner.min, galley, colour);
    }
}

/// Source words along the top, those in view.
pub fn column_labels(ui: &Ui, heatmap: &Heatmap<'_>, grid: &Grid, strip: Rect) {
    let t = theme::tokens(ui);
    let painter = ui.painter_at(strip);
    let slant = heatmap.metrics.slant;
    // A slanted label reaches into view from columns that are not.
    let reach = Rect::from_min_max(pos2(strip.left() - strip.height(), strip.top()), strip.max);
    for j in grid.visible_columns(reach) {
        let Some(word) = heatmap.table.source.get(j) else { continue };
        let is_over = heatmap.marks.column == Some(j);
        if j % slant.stride != 0 && !is_over {
            continue;
        }
        let colour = if is_over { t.accent } else { word_colour(t, word.is_unk, word.is_eos) };
        let galley = labels::galley(&painter, &labels::source_text(word), &theme::small(), colour, theme::LABEL_MAX);
        let centre = grid.column_rect(j).center().x;
        if slant.angle > 0.0 {
            labels::slanted(
                &painter,
                pos2(centre, strip.bottom() - theme::SPACE_1 - 1.0),
                galley,
                slant.angle,
                colour,
                is_over,
            );
        } else {
            let corner =
                Align2::CENTER_BOTTOM.anchor_size(pos2(centre, strip.bottom() - theme::SPACE_1), galley.size());
            painter.galley(corner.min, galley, colour);
        }
    }
}

fn word_colour(t: &Tokens, is_unk: bool, is_eos: bool) -> Color32 {
    if is_unk {
        t.warm
    } else if is_eos {
        t.weak
    } else {
        t.text
    }
}
