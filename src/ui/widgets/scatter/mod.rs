//! Floor 9: a scatter of any number of points, with axes, zoom and what is under the mouse. `layout.rs` says where
//! the points fall; the dots are one mesh over egui_plot's axes.

pub mod layout;

use egui::accesskit::Role;
use egui::{Color32, Mesh, Pos2, Rect, Sense, Stroke, Ui, pos2, vec2};
use egui_plot::{Plot, PlotTransform};

use crate::session::phrases::Chart;
use crate::ui::theme;
use crate::ui::widgets::scatter::layout::{Bins, View};
use crate::ui::widgets::{is_heard, node};

/// How near the mouse has to be to a point, points.
const REACH: f32 = 8.0;
/// With fewer points in view each is a round dot.
const FEW: usize = 2_000;
/// Most rings, and points with a node of their own.
const MOST_RINGS: usize = 200;

/// What to draw.
pub struct Scatter<'a> {
    /// For screen readers and tests.
    pub name: String,
    /// A new view begins when this changes.
    pub salt: &'a std::path::Path,
    /// The points.
    pub chart: &'a Chart,
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
pub struct Answer {
    /// The pair under the mouse and how many lie there.
    pub hovered: Option<(usize, usize)>,
    /// The pair that was clicked.
    pub clicked: Option<usize>,
}

/// The points sorted for what was in view last.
#[derive(Default)]
pub struct Cache {
    key: Option<(u64, View)>,
    /// The points of `found`, by their index.
    marked: Vec<u32>,
    revision: Option<u64>,
    bounds: [[f64; 2]; 2],
    all: Bins,
    found: Bins,
}

impl Cache {
    /// The ends of both axes.
    fn bounds(&mut self, scatter: &Scatter<'_>) -> [[f64; 2]; 2] {
        if self.revision != Some(scatter.revision) {
            self.revision = Some(scatter.revision);
            self.bounds = bounds(scatter.chart);
            self.marked = points_of(&scatter.chart.pairs, scatter.found);
        }
        self.bounds
    }

    fn update(&mut self, scatter: &Scatter<'_>, view: View) {
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
pub fn scatter_ui(ui: &mut Ui, scatter: &Scatter<'_>, cache: &mut Cache) -> (Answer, egui::Response) {
    let t = theme::tokens(ui);
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
    paint(ui, cache, points, &view, frame, t);
    let place = |pair: usize| scatter.chart.point(pair).map(|point| offset(frame, view.place(point)));
    let response = shown.response;
    rings(ui, scatter, frame, &response, &place);
    node(&response, Role::Figure, || scatter.name.clone());
    let under = response.hover_pos().and_then(|at| {
        let at = at - frame.min;
        cache.all.nearest(points, &view, [at.x, at.y], REACH)
    });
    let hovered = under.map(|(index, near)| (scatter.chart.pairs[index] as usize, near));
    if let Some(at) = hovered.and_then(|(pair, _)| place(pair)) {
        ui.painter_at(frame.expand(4.0)).circle_stroke(at, 5.0, Stroke::new(2.0, t.text));
    }
    let clicked = response.clicked().then_some(()).and(hovered).map(|(pair, _)| pair);
    (Answer { hovered, clicked }, response)
}

/// Least and greatest of both scores; a place to look at where there are no points.
fn bounds(chart: &Chart) -> [[f64; 2]; 2] {
    [0, 1].map(|axis| {
        let values = chart.points.iter().map(|point| f64::from(point[axis]));
        let (low, high) = values.fold((0.0_f64, -1.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        [low.min(high - 1.0), high.max(0.0)]
    })
}

fn view(transform: &PlotTransform, frame: Rect) -> View {
    let (low, high) = (transform.bounds().min(), transform.bounds().max());
    View {
        x: [low[0] as f32, high[0] as f32],
        y: [low[1] as f32, high[1] as f32],
        size: [frame.width(), frame.height()],
    }
}

fn offset(frame: Rect, [x, y]: [f32; 2]) -> Pos2 {
    pos2(frame.left() + x, frame.top() + y)
}

/// All dots; those that are found over the others.
fn paint(ui: &Ui, cache: &Cache, points: &[[f32; 2]], view: &View, frame: Rect, t: &theme::Tokens) {
    let painter = ui.painter_at(frame);
    // Where both scores agree.
    let ends = [view.x[0].min(view.y[0]), 0.0].map(|end| offset(frame, view.place([end, end])));
    let line = Stroke::new(1.0, t.weak.gamma_multiply(0.7));
    painter.extend(egui::Shape::dashed_line(&ends, line, 6.0, 5.0));
    let is_few = cache.all.len() < FEW;
    let fades = !cache.found.is_empty();
    for (bins, colour, is_found) in [(&cache.all, t.accent, false), (&cache.found, t.warm, true)] {
        let most = (1.0 + bins.most() as f32).ln();
        let shade = |count: u32| -> Color32 {
            let share = (1.0 + count as f32).ln() / most;
            let strength = if is_found { 0.8 + 0.2 * share } else { 0.3 + 0.7 * share };
            colour.gamma_multiply(if fades && !is_found { strength * 0.5 } else { strength })
        };
        if is_few {
            for dot in bins.dots(points, view) {
                painter.circle_filled(offset(frame, dot.at), 3.0, shade(dot.count));
            }
            continue;
        }
        let mut mesh = Mesh::default();
        let side = if is_found { layout::SIDE + 1.0 } else { layout::SIDE };
        for dot in bins.dots(points, view) {
            let rect = Rect::from_center_size(offset(frame, dot.at), vec2(side, side));
            mesh.add_colored_rect(rect, shade(dot.count));
        }
        painter.add(mesh);
    }
}

/// Rings around the pairs of the source phrase and the chosen one, each with its node.
fn rings(ui: &Ui, scatter: &Scatter<'_>, frame: Rect, plot: &egui::Response, place: &dyn Fn(usize) -> Option<Pos2>) {
    let t = theme::tokens(ui);
    let painter = ui.painter_at(frame.expand(6.0));
    for pair in scatter.rings.iter().take(MOST_RINGS) {
        let Some(at) = place(*pair as usize).filter(|at| frame.contains(*at)) else { continue };
        painter.circle(at, 4.5, t.panel, Stroke::new(2.0, t.accent));
    }
    if let Some(at) = scatter.selected.and_then(place).filter(|at| frame.contains(*at)) {
        painter.circle(at, 6.0, t.accent, Stroke::new(2.0, t.text));
    }
    if !is_heard(plot) {
        return;
    }
    ui.ctx().allow_widget_id_changes_in(frame.expand(8.0));
    for pair in scatter.rings.iter().take(MOST_RINGS) {
        let Some(at) = place(*pair as usize).filter(|at| frame.contains(*at)) else { continue };
        let rect = Rect::from_center_size(at, vec2(9.0, 9.0));
        let part = ui.interact(rect, plot.id.with(("ring", pair)), Sense::hover());
        node(&part, Role::GraphicsSymbol, || (scatter.label)(*pair as usize));
    }
}
