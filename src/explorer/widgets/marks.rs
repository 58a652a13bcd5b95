//! The one painter of figures in the window: every mark as egui's shapes.

use std::sync::Arc;

use egui::emath::GuiRounding as _;
use egui::epaint::{CircleShape, CubicBezierShape, RectShape, TextShape};
use egui::text::LayoutJob;
use egui::{
    Align, Align2, Color32, FontFamily, FontId, Galley, Mesh, Painter, Pos2, Rect, Response, Sense, Shape, Stroke,
    StrokeKind, TextFormat, Ui, Vec2, pos2, vec2,
};

use crate::widgets::{labels, theme};
use figure::geometry::{Point, point, size};
use figure::mark::{Across, BorderSide, Dots, Down, Image, LinesMark, Mark, Polygon, Rectangle, TextMark, WordsMark};
use figure::{equation::typeset, mark, measure::TextMeasure, palette::Rgba};

/// Measures texts of the window.
pub struct Letters<'a>(pub &'a Ui);

impl TextMeasure for Letters<'_> {
    fn width(&self, text: &str, size: f32) -> f32 {
        // Longer ones are cut wherever they are painted.
        labels::galley(self.0.painter(), text, &font(size), Color32::PLACEHOLDER, theme::LABEL_MAX).size().x
    }

    fn height(&self, size: f32) -> f32 {
        self.0.fonts_mut(|fonts| fonts.row_height(&font(size)))
    }
}

/// As [`Letters`] for texts that are painted without cuts.
pub struct WholeLetters<'a>(pub &'a Ui);

impl TextMeasure for WholeLetters<'_> {
    fn width(&self, text: &str, size: f32) -> f32 {
        labels::galley(self.0.painter(), text, &font(size), Color32::PLACEHOLDER, f32::INFINITY).size().x
    }

    fn height(&self, size: f32) -> f32 {
        Letters(self.0).height(size)
    }
}

/// Paints an image, which a widget may keep between frames.
pub type PaintImage<'a> = dyn FnMut(&Painter, &Image<'_>) + 'a;

/// Paints marks without images, from the back to the front; returns whether a text had to be cut.
pub fn paint<'a>(painter: &Painter, marks: impl IntoIterator<Item = Mark<'a>>) -> bool {
    paint_with(painter, marks, &mut |_, _| ())
}

pub fn paint_with<'a>(
    painter: &Painter, marks: impl IntoIterator<Item = Mark<'a>>, image: &mut PaintImage<'_>,
) -> bool {
    let mut is_cut = false;
    for mark in marks {
        match mark {
            Mark::Text(text) => is_cut |= paint_text(painter, &text),
            Mark::Words(words) => is_cut |= paint_words(painter, &words),
            Mark::Rect(rectangle) => paint_rectangle(painter, &rectangle),
            Mark::Lines(lines) => paint_lines(painter, &lines),
            Mark::Curve(curve) => {
                let points = curve.points.map(Pos2::from);
                let stroke = stroke(curve.stroke);
                painter.add(CubicBezierShape::from_points_stroke(points, false, Color32::TRANSPARENT, stroke));
            }
            Mark::Polygon(polygon) => paint_polygon(painter, polygon),
            Mark::Dots(dots) => paint_dots(painter, &dots),
            Mark::Image(of) => image(painter, &of),
        }
    }
    is_cut
}

fn font(size: f32) -> FontId {
    FontId::new(size, FontFamily::Proportional)
}

fn stroke(of: mark::Stroke) -> Stroke {
    Stroke::new(of.width, theme::colour(of.colour))
}

fn align((across, down): (Across, Down)) -> Align2 {
    let across = match across {
        Across::Left => Align::Min,
        Across::Centre => Align::Center,
        Across::Right => Align::Max,
    };
    let down = match down {
        Down::Top => Align::Min,
        Down::Middle => Align::Center,
        Down::Bottom => Align::Max,
    };
    Align2([across, down])
}

fn paint_text(painter: &Painter, text: &TextMark<'_>) -> bool {
    let colour = theme::colour(text.colour);
    let galley = if text.lines > 1 {
        broken(painter, text, colour)
    } else {
        labels::galley(painter, &text.text, &font(text.size), colour, text.room)
    };
    let (at, is_cut) = (text.at, galley.elided);
    if text.angle != 0.0 {
        slanted(painter, text, galley, colour);
    } else if text.lines > 1 {
        // A galley that ends at its point has its origin there.
        let top = align((Across::Left, text.anchor.1)).anchor_size(at, galley.size()).top();
        painter.galley(pos2(at.x, top), galley, colour);
    } else {
        let corner = align(text.anchor).anchor_size(at, galley.size()).min;
        painter.galley(corner, galley, colour);
    }
    is_cut
}

/// It rotates around its anchor.
fn slanted(painter: &Painter, text: &TextMark<'_>, galley: Arc<Galley>, colour: Color32) {
    let anchor = align(text.anchor);
    let from_corner = anchor.pos_in_rect(&galley.rect).to_vec2();
    let underline = if text.is_underlined { Stroke::new(1.5, colour) } else { Stroke::NONE };
    let shape = TextShape::new(text.at - from_corner, galley, colour);
    painter.add(shape.with_angle_and_anchor(-text.angle, anchor).with_underline(underline));
}

fn broken(painter: &Painter, text: &TextMark<'_>, colour: Color32) -> Arc<Galley> {
    let mut job = LayoutJob::simple(text.text.to_string(), font(text.size), colour, text.room);
    job.halign = align(text.anchor).x();
    job.wrap.max_rows = text.lines;
    painter.layout_job(job)
}

fn paint_words(painter: &Painter, words: &WordsMark<'_>) -> bool {
    let colour = theme::colour(words.colour);
    let mut job = LayoutJob::default();
    job.wrap.max_width = words.room;
    job.wrap.max_rows = 1;
    job.wrap.break_anywhere = true;
    for (n, (word, back)) in words.words.iter().enumerate() {
        let background = theme::colour(*back);
        let color = if n < words.faded.0 { theme::colour(words.faded.1) } else { colour };
        let format = TextFormat { font_id: font(words.size), color, background, ..Default::default() };
        job.append(word, if n == 0 { 0.0 } else { words.gap }, format);
    }
    let galley = painter.layout_job(job);
    let (corner, is_cut) = (Align2::LEFT_CENTER.anchor_size(words.at, galley.size()).min, galley.elided);
    painter.galley(corner, galley, colour);
    is_cut
}

fn paint_rectangle(painter: &Painter, of: &Rectangle) {
    let kind = match of.side {
        BorderSide::Inside => StrokeKind::Inside,
        BorderSide::Outside => StrokeKind::Outside,
    };
    let border = if of.border.width > 0.0 { stroke(of.border) } else { Stroke::NONE };
    painter.add(RectShape::new(of.area, of.radius, theme::colour(of.fill), border, kind));
}

fn paint_lines(painter: &Painter, of: &LinesMark) {
    let stroke = stroke(of.stroke);
    if !of.is_crisp {
        for ends in &of.ends {
            painter.line_segment(ends.map(Pos2::from), stroke);
        }
        return;
    }
    // One mesh of whole pixels for all of them.
    let scale = painter.pixels_per_point();
    let width = (stroke.width * scale).round().max(1.0) / scale;
    let mut mesh = Mesh::default();
    for &[from, to] in &of.ends {
        let rect = if from.y == to.y {
            let top = (from.y - 0.5 * stroke.width).round_to_pixels(scale);
            Rect::from_x_y_ranges(from.x..=to.x, top..=top + width)
        } else {
            let left = (from.x - 0.5 * stroke.width).round_to_pixels(scale);
            Rect::from_x_y_ranges(left..=left + width, from.y..=to.y)
        };
        mesh.add_colored_rect(rect, stroke.color);
    }
    painter.add(mesh);
}

fn paint_dots(painter: &Painter, of: &Dots) {
    let border = if of.border.width > 0.0 { stroke(of.border) } else { Stroke::NONE };
    let colour = |fill| theme::colour(fill);
    if of.is_square && border.is_empty() {
        // One mesh for all of them.
        let mut mesh = Mesh::default();
        for &(at, fill) in &of.dots {
            mesh.add_colored_rect(Rect::from_center_size(at, Vec2::splat(2.0 * of.radius)), colour(fill));
        }
        painter.add(mesh);
    } else if of.is_square {
        painter.extend(of.dots.iter().map(|&(at, fill)| {
            let area = Rect::from_center_size(at, Vec2::splat(2.0 * of.radius));
            RectShape::new(area, 0.0, colour(fill), border, StrokeKind::Middle).into()
        }));
    } else {
        let circle = |&(at, fill): &(Point, Rgba)| CircleShape {
            center: at,
            radius: of.radius,
            fill: colour(fill),
            stroke: border,
        };
        painter.extend(of.dots.iter().map(|dot| Shape::Circle(circle(dot))));
    }
}

fn paint_polygon(painter: &Painter, of: Polygon) {
    let corners = of.corners.into_iter().collect();
    painter.add(Shape::convex_polygon(corners, theme::colour(of.fill), stroke(of.stroke)));
}

/// Paints an equation in one line; letters shrink from `most` until it fits.
pub fn equation_ui(ui: &mut Ui, text: &str, most: f32) -> Response {
    let (ink, room) = (theme::palette(ui).text, ui.available_width());
    let set = |size: f32| typeset(text, point(0.0, 0.0), size, ink, &WholeLetters(ui));
    let (_, wide) = set(most);
    let letters = (most * (room / wide.max(1.0)).min(1.0)).max(theme::TEXT_SMALL);
    let (mut all, width) = set(letters);
    let (rect, response) = ui.allocate_exact_size(vec2(width.min(room), 1.9 * letters), Sense::hover());
    let by = size(rect.left(), rect.center().y);
    for mark in &mut all {
        mark.shift(by);
    }
    paint(&ui.painter_at(rect), all);
    response
}
