//! Floor 9: line charts of several models or runs, told apart by colour and by shape, with a legend above.
//!
//! Every marked point has a labelled node, so that the numbers can be read without seeing the picture.

use egui::accesskit::Role;
use egui::epaint::PathShape;
use egui::{Pos2, Rect, RichText, Sense, Stroke, Ui, pos2, vec2};
use egui_plot::{
    AxisHints, GridMark, HoverPosition, Line, LineStyle, MarkerShape, Plot, PlotPoint, PlotPoints, PlotTransform,
    Points,
};

use crate::ui::theme;
use crate::ui::widgets::{is_heard, labels, node};

/// Shapes by place, in the order of [`theme::series`].
const SHAPES: [MarkerShape; 8] = [
    MarkerShape::Circle,
    MarkerShape::Square,
    MarkerShape::Up,
    MarkerShape::Diamond,
    MarkerShape::Down,
    MarkerShape::Left,
    MarkerShape::Right,
    MarkerShape::Asterisk,
];
/// Labels of the x axis come up and are plain where they have so much room, points.
const X_LABELS: (f32, f32) = (36.0, 46.0);
/// More points than this in a series are drawn as a line alone.
const MOST_MARKS: usize = 80;

/// A line of a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Whose it is.
    pub name: String,
    /// Its colour and shape.
    pub place: usize,
    /// x and y, by growing x.
    pub points: Vec<[f64; 2]>,
    /// Thin and dashed, without marks: what matters less.
    pub is_minor: bool,
    /// A line alone, without marks.
    pub is_bare: bool,
}

/// A chart.
pub struct Chart<'a> {
    /// Above it, and its name for screen readers.
    pub title: &'a str,
    /// Below the x axis.
    pub x_label: &'a str,
    /// A place on the x axis in words; empty where there is no mark.
    pub x_text: &'a dyn Fn(f64) -> String,
    /// Where x has marks; chosen automatically when empty.
    pub x_marks: &'a [f64],
    /// A value in words.
    pub y_text: &'a dyn Fn(f64) -> String,
    /// The y axis begins at 0.
    pub from_zero: bool,
    /// It may be zoomed (Ctrl and wheel) and dragged; a double click shows all again.
    pub moves: bool,
    /// Points.
    pub height: f32,
}

/// What a point says.
fn point_text(chart: &Chart<'_>, series: &Series, [x, y]: [f64; 2]) -> String {
    format!("{}, {}, {}", series.name, (chart.x_text)(x), (chart.y_text)(y))
}

/// Draws a chart as wide as there is room.
pub fn chart_ui(ui: &mut Ui, chart: &Chart<'_>, series: &[Series]) {
    let t = theme::tokens(ui);
    ui.label(RichText::new(chart.title).size(theme::TEXT_SMALL).color(t.weak));
    let colours: Vec<egui::Color32> = series.iter().map(|one| theme::series(ui, one.place)).collect();
    let plot = plot(chart, series).grid_color(t.line).height(chart.height).width(ui.available_width());
    ui.spacing_mut().interact_size.y = theme::SPACE_4;
    let shown = plot.show(ui, |plot| {
        for (one, colour) in series.iter().zip(&colours) {
            let style = if one.is_minor { LineStyle::dashed_dense() } else { LineStyle::Solid };
            let width = if one.is_minor { 1.0 } else { 2.0 };
            let points = || PlotPoints::from(one.points.clone());
            let line = Line::new(&one.name, points()).color(*colour).width(width).style(style);
            plot.line(line.id((one.place, one.is_minor, "line")).allow_hover(!has_marks(one)));
            if has_marks(one) {
                let shape = SHAPES[one.place % SHAPES.len()];
                plot.points(
                    Points::new(&one.name, points())
                        .color(*colour)
                        .shape(shape)
                        .radius(theme::POINT)
                        .id((one.place, "points")),
                );
            }
        }
    });
    node(&shown.response, Role::Figure, || chart.title.to_owned());
    if is_heard(&shown.response) {
        points_access(ui, chart, series, &shown.response, &shown.transform);
    }
}

fn has_marks(series: &Series) -> bool {
    !series.is_minor && !series.is_bare && series.points.len() <= MOST_MARKS
}

fn plot<'a>(chart: &'a Chart<'a>, series: &'a [Series]) -> Plot<'a> {
    let x_axis = AxisHints::new_x()
        .label(chart.x_label)
        .formatter(|mark, _| (chart.x_text)(mark.value))
        .label_spacing(X_LABELS.0..=X_LABELS.1);
    let y_axis = AxisHints::new_y().formatter(|mark, _| (chart.y_text)(mark.value)).min_thickness(36.0);
    let mut plot = Plot::new(chart.title)
        .custom_x_axes(vec![x_axis])
        .custom_y_axes(vec![y_axis])
        .show_background(false)
        .show_crosshair(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .allow_zoom(chart.moves)
        .allow_drag(chart.moves)
        .allow_double_click_reset(chart.moves)
        .set_margin_fraction(vec2(0.03, 0.08))
        .label_formatter(|at| hover_text(chart, series, at));
    if !chart.x_marks.is_empty() {
        plot = plot.x_grid_spacer(|_| chart.x_marks.iter().map(|&value| GridMark { value, step_size: 1.0 }).collect());
    }
    if chart.from_zero { plot.include_y(0.0) } else { plot }
}

fn hover_text(chart: &Chart<'_>, series: &[Series], at: &HoverPosition<'_>) -> Option<String> {
    let HoverPosition::NearDataPoint { plot_name, position, .. } = at else { return None };
    let one = series.iter().find(|one| one.name == *plot_name)?;
    Some(format!("{}\n{}\n{}", one.name, (chart.x_text)(position.x), (chart.y_text)(position.y)))
}

/// A node for every marked point.
fn points_access(ui: &Ui, chart: &Chart<'_>, series: &[Series], plot: &egui::Response, transform: &PlotTransform) {
    // Points come and go while a training runs.
    ui.ctx().allow_widget_id_changes_in(plot.rect);
    for (n, one) in series.iter().enumerate().filter(|(_, one)| has_marks(one)) {
        for (at, point) in one.points.iter().enumerate() {
            let place = transform.position_from_point(&PlotPoint::from(*point));
            let rect = Rect::from_center_size(place, vec2(1.0, 1.0));
            let response = ui.interact(rect, plot.id.with((n, at)), Sense::hover());
            node(&response, Role::GraphicsSymbol, || point_text(chart, one, *point));
        }
    }
}

/// Colour, shape and name of every model.
pub fn legend_ui<'a>(ui: &mut Ui, names: impl Iterator<Item = (usize, &'a str)>) {
    ui.horizontal_wrapped(|ui| {
        for (place, name) in names {
            mark_ui(ui, place);
            let font = theme::small();
            let colour = theme::tokens(ui).text;
            let galley = labels::galley(ui.painter(), name, &font, colour, 260.0);
            ui.label(galley).on_hover_text(name);
            ui.add_space(theme::SPACE_2);
        }
    });
}

/// The mark of a place, as wide as a letter.
pub fn mark_ui(ui: &mut Ui, place: usize) {
    let (rect, _) = ui.allocate_exact_size(vec2(theme::SPACE_3, theme::SPACE_3), Sense::hover());
    paint_place(ui, rect.center(), place);
}

/// Paints the mark of a place around a point.
pub fn paint_place(ui: &Ui, at: Pos2, place: usize) {
    paint_mark(ui.painter(), at, SHAPES[place % SHAPES.len()], theme::POINT + 0.5, theme::series(ui, place));
}

fn paint_mark(painter: &egui::Painter, at: Pos2, shape: MarkerShape, r: f32, colour: egui::Color32) {
    let corners = |corners: &[(f32, f32)]| {
        let points = corners.iter().map(|(x, y)| pos2(at.x + x * r, at.y + y * r)).collect();
        PathShape::convex_polygon(points, colour, Stroke::NONE)
    };
    match shape {
        MarkerShape::Square => {
            painter.rect_filled(Rect::from_center_size(at, egui::Vec2::splat(1.8 * r)), 0.0, colour);
        }
        MarkerShape::Up => drop(painter.add(corners(&[(0.0, -1.0), (0.9, 0.7), (-0.9, 0.7)]))),
        MarkerShape::Down => drop(painter.add(corners(&[(0.0, 1.0), (-0.9, -0.7), (0.9, -0.7)]))),
        MarkerShape::Left => drop(painter.add(corners(&[(-1.0, 0.0), (0.7, -0.9), (0.7, 0.9)]))),
        MarkerShape::Right => drop(painter.add(corners(&[(1.0, 0.0), (-0.7, 0.9), (-0.7, -0.9)]))),
        MarkerShape::Diamond => drop(painter.add(corners(&[(0.0, -1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)]))),
        MarkerShape::Asterisk | MarkerShape::Cross | MarkerShape::Plus => {
            for (x, y) in [(1.0, 0.0), (0.5, 0.87), (0.5, -0.87)] {
                let (from, to) = (pos2(at.x - x * r, at.y - y * r), pos2(at.x + x * r, at.y + y * r));
                painter.line_segment([from, to], Stroke::new(1.5, colour));
            }
        }
        MarkerShape::Circle => {
            painter.circle_filled(at, r, colour);
        }
    }
}

/// Two plots side by side where there is room, else one under the other.
pub fn side_by_side(ui: &mut Ui, left: impl FnOnce(&mut Ui), right: impl FnOnce(&mut Ui)) {
    if ui.available_width() < 2.0 * theme::PLOT_WIDTH {
        left(ui);
        right(ui);
        return;
    }
    ui.columns(2, |columns| {
        if let [one, other] = columns {
            left(one);
            right(other);
        }
    });
}
