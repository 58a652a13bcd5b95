//! Line charts of `figure::plot` that can be zoomed and dragged. Every marked point has an accessibility node.

use egui::accesskit::Role;
use egui::{Pos2, Rect, Sense, Ui, vec2};
use egui_plot::{
    AxisHints, Bar, BarChart, GridMark, HoverPosition, Line, LineStyle, MarkerShape, Plot, PlotPoint, PlotPoints,
    PlotTransform, PlotUi, Points,
};

use crate::widgets::{has_reader, keep, labels, marks, node, theme};
use figure::plot::{self, Series, SeriesStyle, Shape};
use figure::{measure::SansSerif, palette::Palette, provenance::Provenance};

const X_LABELS: (f32, f32) = (36.0, 46.0);

/// A plot in the window.
pub struct ChartWidget<'a> {
    pub plot: plot::Plot<'a>,
    /// Whether it can be zoomed (Ctrl and wheel) and dragged; a double click shows all again.
    pub moves: bool,
    pub height: f32,
}

pub fn chart_ui(ui: &mut Ui, chart: &ChartWidget<'_>) {
    let (t, of) = (theme::tokens(ui), &chart.plot);
    ui.horizontal(|ui| {
        labels::caption(ui, of.title);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let is_dark = ui.visuals().dark_mode;
            keep::button_ui(ui, of.title, || {
                let provenance = Provenance { title: of.title.to_owned(), facts: Vec::new() };
                let whole = of.whole(keep::PLOT, &SansSerif, is_dark, provenance);
                whole.grounded(Palette::of(is_dark)).kept()
            });
        });
    });
    let colours: Vec<egui::Color32> = of.series.iter().map(|one| theme::series(ui, one.place)).collect();
    let plot = plot(chart).grid_color(t.line).height(chart.height).width(ui.available_width());
    ui.spacing_mut().interact_size.y = theme::SPACE_4;
    let shown = plot.show(ui, |plot| {
        for (n, colour) in colours.iter().enumerate() {
            show(plot, of, n, *colour);
        }
    });
    node(&shown.response, Role::Figure, || of.title.to_owned());
    if has_reader(&shown.response) {
        points_access(ui, of, &shown.response, &shown.transform);
    }
}

fn show(plot: &mut PlotUi<'_>, of: &plot::Plot<'_>, n: usize, colour: egui::Color32) {
    let one = &of.series[n];
    let points = || PlotPoints::from(one.points.clone());
    let style = match one.look {
        SeriesStyle::Marked | SeriesStyle::Bare => LineStyle::Solid,
        SeriesStyle::Minor => LineStyle::dashed_dense(),
        SeriesStyle::Bars => {
            let bar = |[x, width, y]: plot::PlottedBar| Bar::new(x, y).width(width).fill(colour);
            let bars = of.bars(n).into_iter().map(bar).collect();
            plot.bar_chart(BarChart::new(&one.name, bars).color(colour).id((one.place, "bars")));
            return;
        }
    };
    let line = Line::new(&one.name, points()).color(colour).width(one.width()).style(style);
    plot.line(line.id((one.place, one.look == SeriesStyle::Minor, "line")).allow_hover(!one.has_marks()));
    if one.has_marks() {
        let marks = Points::new(&one.name, points()).color(colour).shape(shape(one.place));
        plot.points(marks.radius(theme::DATA_POINT).id((one.place, "points")));
    }
}

fn shape(place: usize) -> MarkerShape {
    match Shape::at(place) {
        Shape::Circle => MarkerShape::Circle,
        Shape::Square => MarkerShape::Square,
        Shape::Up => MarkerShape::Up,
        Shape::Diamond => MarkerShape::Diamond,
        Shape::Down => MarkerShape::Down,
        Shape::Left => MarkerShape::Left,
        Shape::Right => MarkerShape::Right,
        Shape::Asterisk => MarkerShape::Asterisk,
    }
}

fn plot<'a>(chart: &'a ChartWidget<'a>) -> Plot<'a> {
    let of = &chart.plot;
    let x_axis = AxisHints::new_x()
        .label(of.x_label)
        .formatter(|mark, _| (of.x_text)(mark.value))
        .label_spacing(X_LABELS.0..=X_LABELS.1);
    let y_axis = AxisHints::new_y().formatter(|mark, _| (of.y_text)(mark.value)).min_thickness(36.0);
    let mut plot = Plot::new(of.title)
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
        .set_margin_fraction(vec2(plot::MARGINS.0, plot::MARGINS.1))
        .label_formatter(|at| hover_text(of, at));
    if !of.x_ticks.is_empty() {
        plot = plot.x_grid_spacer(|_| of.x_ticks.iter().map(|&value| GridMark { value, step_size: 1.0 }).collect());
    }
    if of.from_zero { plot.include_y(0.0) } else { plot }
}

fn hover_text(plot: &plot::Plot<'_>, at: &HoverPosition<'_>) -> Option<String> {
    let HoverPosition::NearDataPoint { plot_name, position, .. } = at else { return None };
    let one = plot.series.iter().find(|one| one.name == *plot_name)?;
    Some(format!("{}\n{}\n{}", one.name, (plot.x_text)(position.x), (plot.y_text)(position.y)))
}

fn points_access(ui: &Ui, of: &plot::Plot<'_>, plot: &egui::Response, transform: &PlotTransform) {
    // Points come and go while a training runs.
    ui.ctx().allow_widget_id_changes_in(plot.rect);
    for (n, one) in of.series.iter().enumerate().filter(|(_, one)| one.has_marks()) {
        for (at, point) in one.points.iter().enumerate() {
            let place = transform.position_from_point(&PlotPoint::from(*point));
            let rect = Rect::from_center_size(place, vec2(1.0, 1.0));
            let response = ui.interact(rect, plot.id.with((n, at)), Sense::hover());
            node(&response, Role::GraphicsSymbol, || {
                format!("{}, {}, {}", one.name, (of.x_text)(point[0]), (of.y_text)(point[1]))
            });
        }
    }
}

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

pub fn lines_ui(ui: &mut Ui, lines: &[Series]) {
    ui.horizontal_wrapped(|ui| {
        for line in lines {
            let (rect, _) = ui.allocate_exact_size(vec2(theme::SPACE_4, theme::SPACE_3), Sense::hover());
            let colour = Palette::series(line.place, ui.visuals().dark_mode);
            marks::paint(ui.painter(), [plot::sample(line, rect.left_center(), colour)]);
            labels::caption(ui, &line.name);
            ui.add_space(theme::SPACE_2);
        }
    });
}

pub fn mark_ui(ui: &mut Ui, place: usize) {
    let (rect, _) = ui.allocate_exact_size(vec2(theme::SPACE_3, theme::SPACE_3), Sense::hover());
    paint_place(ui, rect.center(), place);
}

pub fn paint_place(ui: &Ui, at: Pos2, place: usize) {
    let colour = Palette::series(place, ui.visuals().dark_mode);
    marks::paint(ui.painter(), [Shape::at(place).mark(at, theme::DATA_POINT + 0.5, colour)]);
}

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
