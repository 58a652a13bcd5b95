//! Floor 11: a scatter of any number of points, with axes, zoom and what is under the mouse: the marks of
//! `figure::scatter` over egui_plot's axes.

use egui::accesskit::Role;
use egui::{Rect, Sense, Ui, vec2};
use egui_plot::{Plot, PlotTransform};

use crate::figure::geometry::Area;
use crate::figure::measure::{SansSerif, TextMeasure};
use crate::figure::palette::Palette;
use crate::figure::provenance::Provenance;
use crate::figure::scatter;
use crate::figure::scatter::{Bins, ScatterView};
use crate::pages::phrases::PhraseChart;
use crate::widgets::{is_heard, keep, marks, node, theme};

/// How near the mouse has to be to a point, points.
const REACH: f32 = 8.0;
/// Most rings, and points with a node of their own.
const MOST_RINGS: usize = 200;

/// What to draw.
pub struct ScatterWidget<'a> {
    /// For screen readers and tests.
    pub name: String,
    /// A new view begins when this changes.
    pub salt: &'a std::path::Path,
    /// The points.
    pub chart: &'a PhraseChart,
    /// Names of the axes.
    pub axes: [String; 2],
    /// Changes whenever `chart` or `found` do.
    pub revision: u64,
    /// Pairs to be drawn in the warm colour, rising.
    pub found: &'a [u32],
    /// Pairs to be ringed.
    pub rings: &'a [u32],
    /// The chosen pair.
    pub selected: Option<usize>,
    /// What a screen reader says of a ringed pair.
    pub label: &'a dyn Fn(usize) -> String,
}

/// What happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScatterAnswer {
    /// The pair under the mouse and how many lie there.
    pub hovered: Option<(usize, usize)>,
    /// The pair that was clicked.
    pub clicked: Option<usize>,
}

/// The points sorted for what was in view last.
#[derive(Default)]
pub struct Cache {
    key: Option<(u64, ScatterView)>,
    /// The points of `found`, by their index.
    marked: Vec<u32>,
    revision: Option<u64>,
    bounds: [[f64; 2]; 2],
    all: Bins,
    found: Bins,
}

impl Cache {
    /// The ends of both axes.
    fn bounds(&mut self, scatter: &ScatterWidget<'_>) -> [[f64; 2]; 2] {
        if self.revision != Some(scatter.revision) {
            self.revision = Some(scatter.revision);
            self.bounds = scatter::bounds(&scatter.chart.points);
            self.marked = points_of(&scatter.chart.pairs, scatter.found);
        }
        self.bounds
    }

    fn update(&mut self, scatter: &ScatterWidget<'_>, view: ScatterView) {
        let key = Some((scatter.revision, view));
        if self.key == key {
            return;
        }
        let points = &scatter.chart.points;
        self.all = Bins::new(points, 0..points.len() as u32, &view);
        self.found = Bins::new(points, self.marked.iter().copied(), &view);
        self.key = key;
    }
}

/// The points, by their index, of pairs; both rise.
fn points_of(of_points: &[u32], pairs: &[u32]) -> Vec<u32> {
    pairs.iter().filter_map(|pair| of_points.binary_search(pair).ok()).map(|index| index as u32).collect()
}

/// Draws the scatter on all the room that there is.
pub fn scatter_ui(ui: &mut Ui, scatter: &ScatterWidget<'_>, cache: &mut Cache) -> (ScatterAnswer, egui::Response) {
    let (t, ui_dark) = (theme::tokens(ui), ui.visuals().dark_mode);
    let [x, y] = scatter.axes.clone();
    let bounds = cache.bounds(scatter);
    let shown = Plot::new(("scatter", scatter.salt))
        .x_axis_label(x)
        .y_axis_label(y)
        .show_background(false)
        .grid_color(t.line)
        .allow_scroll(false)
        .set_margin_fraction(vec2(0.03, 0.03))
        .include_x(bounds[0][0])
        .include_x(bounds[0][1])
        .include_y(bounds[1][0])
        .include_y(bounds[1][1])
        .show_crosshair(false)
        .label_formatter(|_| None)
        .sense(Sense::click_and_drag())
        .show(ui, |_| ());
    let frame = *shown.transform.frame();
    let view = view(&shown.transform, frame);
    cache.update(scatter, view);
    let points = &scatter.chart.points;
    let response = shown.response;
    let under = response.hover_pos().and_then(|at| {
        let at = at - frame.min;
        cache.all.nearest(points, &view, [at.x, at.y], REACH)
    });
    let hovered = under.map(|(index, near)| (scatter.chart.pairs[index] as usize, near));
    let rings: Vec<(u32, [f32; 2])> = ringed(scatter).collect();
    let places: Vec<[f32; 2]> = rings.iter().map(|(_, at)| *at).collect();
    let figure = scatter::Scatter {
        points,
        view: &view,
        all: &cache.all,
        found: &cache.found,
        rings: &places,
        selected: scatter.selected.and_then(|pair| scatter.chart.point(pair)),
        hovered: hovered.and_then(|(pair, _)| scatter.chart.point(pair)),
        palette: Palette::of(ui.visuals().dark_mode),
    };
    let area = Area::from(frame);
    marks::paint(&ui.painter_at(frame), figure.dots(&area));
    marks::paint(&ui.painter_at(frame.expand(6.0)), figure.rings(&area));
    keep::corner_ui(ui, frame, &scatter.name, || {
        let palette = Palette::of(ui_dark);
        let [x, y] = &scatter.axes;
        let provenance = Provenance { title: scatter.name.clone(), facts: Vec::new() };
        let of = (&SansSerif as &dyn TextMeasure, palette);
        scatter::whole(points, &cache.marked, [x, y], keep::MAP, of, provenance).grounded(palette).kept()
    });
    rings_access(ui, scatter, &rings, &figure, &area, &response);
    node(&response, Role::Figure, || scatter.name.clone());
    let clicked = response.clicked().then_some(()).and(hovered).map(|(pair, _)| pair);
    (ScatterAnswer { hovered, clicked }, response)
}

fn view(transform: &PlotTransform, frame: Rect) -> ScatterView {
    let (low, high) = (transform.bounds().min(), transform.bounds().max());
    ScatterView {
        x: [low[0] as f32, high[0] as f32],
        y: [low[1] as f32, high[1] as f32],
        size: [frame.width(), frame.height()],
    }
}

/// The pairs of the source phrase and where they are.
fn ringed(scatter: &ScatterWidget<'_>) -> impl Iterator<Item = (u32, [f32; 2])> {
    let pairs = scatter.rings.iter().take(MOST_RINGS);
    pairs.filter_map(|pair| Some((*pair, scatter.chart.point(*pair as usize)?)))
}

/// A node for every ring.
fn rings_access(
    ui: &Ui,
    scatter: &ScatterWidget<'_>,
    rings: &[(u32, [f32; 2])],
    figure: &scatter::Scatter<'_>,
    area: &Area,
    plot: &egui::Response,
) {
    if !is_heard(plot) {
        return;
    }
    ui.ctx().allow_widget_id_changes_in(Rect::from(*area).expand(8.0));
    for (pair, at) in rings {
        let at = figure.place(area, *at);
        if !area.holds(at) {
            continue;
        }
        let rect = Rect::from_center_size(at.into(), vec2(9.0, 9.0));
        let part = ui.interact(rect, plot.id.with(("ring", pair)), Sense::hover());
        node(&part, Role::GraphicsSymbol, || (scatter.label)(*pair as usize));
    }
}
