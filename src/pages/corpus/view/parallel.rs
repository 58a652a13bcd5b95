//! Floor 11: page Corpus, parallel coordinates: an axis for each brushed column, a line for each sentence, some of them
//! where they are many.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{Align2, Color32, Mesh, Pos2, Rect, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::corpus::measures::distribution::{DistributionPicture, Histogram, MOST_LINES};
use crate::corpus::store::ranges::{Range, range_of, text};
use crate::pages::corpus::CorpusPage;
use crate::pages::corpus::view::brush::{BrushAxis, answer, asked, cursor, paint, told};
use crate::pages::corpus::view::filter::spoken;
use crate::pages::corpus::view::memory::CorpusMemory;
use crate::pages::corpus::view::memory::DrawnLines;
use crate::pages::window::local::Window;
use crate::widgets::{labels, theme};

/// Height with names and numbers, points.
const HEIGHT: f32 = 168.0;
/// Height of a line of small text, points.
const LINE: f32 = 15.0;
/// Width of an axis, points.
const AXIS: f32 = 18.0;
/// Half the width of a line, points.
const THIN: f32 = 0.55;

/// The axes and the lines.
pub fn parallel_ui(ui: &mut Ui, workbench: &CorpusPage, window: &mut Window<'_>, picture: &Arc<DistributionPicture>) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    let plot = Rect::from_min_max(
        pos2(rect.left() + 40.0, rect.top() + 2.0 * LINE),
        pos2(rect.right() - 40.0, rect.bottom() - LINE - 2.0),
    );
    let count = picture.histograms.len();
    let place = |n: usize| {
        if count < 2 { plot.center().x } else { plot.left() + plot.width() * n as f32 / (count - 1) as f32 }
    };
    let strip = |n: usize| Rect::from_x_y_ranges(place(n) - AXIS / 2.0..=place(n) + AXIS / 2.0, plot.y_range());
    ui.painter().add(Shape::Mesh(lines(ui, window, picture, plot, &place)));
    chosen(ui, workbench, picture, &strip);
    for (n, histogram) in picture.histograms.iter().enumerate() {
        axis_ui(ui, workbench, window, histogram, strip(n), (n, count), rect);
    }
    let many = picture.of.max(workbench.corpus.len());
    if many > MOST_LINES {
        let shown = tr!("{n} line" | "{n} lines" % picture.of.min(MOST_LINES));
        let note = tr!(
            "{shown} of {n} sentence shown; faint: {MOST_LINES} of all"
                | "{shown} of {n} sentences shown; faint: {MOST_LINES} of all" % picture.of,
            shown,
            MOST_LINES
        );
        labels::caption(ui, note);
    }
}

fn axis_ui(
    ui: &mut Ui,
    workbench: &CorpusPage,
    window: &mut Window<'_>,
    histogram: &Histogram,
    strip: Rect,
    (n, count): (usize, usize),
    room: Rect,
) {
    let t = theme::tokens(ui);
    let column = histogram.column;
    let range = range_of(&workbench.filter, column, &workbench.corpus);
    let about = column.about(&workbench.corpus);
    let response = ui.interact(strip, ui.scope_id().with(("corpus_axis", column)), Sense::click_and_drag());
    let name = tr!("Axis of {}, {}", spoken(column, &workbench.corpus), told(column, &workbench.corpus, range));
    response.widget_info(|| WidgetInfo::labeled(Role::Slider, true, &name));
    let axis = BrushAxis { rect: strip, is_vertical: true, histogram, corpus: &workbench.corpus };
    let change = asked(ui, &axis, &response, range, &mut window.local.of::<CorpusMemory>().grab);
    cursor(&axis, &response, range);
    ui.painter().vline(strip.center().x, strip.y_range(), Stroke::new(1.5, t.text));
    paint(ui, &axis, &response, range);
    // The outermost names would leave the room.
    let (x, align) = match n {
        0 if count > 1 => (room.left(), Align2::LEFT_BOTTOM),
        n if n + 1 == count && count > 1 => (room.right(), Align2::RIGHT_BOTTOM),
        _ => (strip.center().x, Align2::CENTER_BOTTOM),
    };
    let small = theme::small();
    let said = |value: f32| text(column, &workbench.corpus, value);
    ui.painter().text(pos2(x, strip.top() - LINE), align, column.title(&workbench.corpus), small.clone(), t.text);
    ui.painter().text(pos2(x, strip.top() - 1.0), align, said(histogram.high), small.clone(), t.weak);
    let foot = ends(range, &said).unwrap_or_else(|| said(histogram.low));
    let colour = if range.is_some() { t.accent } else { t.weak };
    let foot_align = match align {
        Align2::LEFT_BOTTOM => Align2::LEFT_TOP,
        Align2::RIGHT_BOTTOM => Align2::RIGHT_TOP,
        _ => Align2::CENTER_TOP,
    };
    ui.painter().text(pos2(x, strip.bottom() + 2.0), foot_align, foot, small, colour);
    answer(window, response, column, &about, change);
}

fn ends(range: Option<Range>, said: &dyn Fn(f32) -> String) -> Option<String> {
    let (low, high) = range?;
    let end = |number: f32| if number.is_finite() { said(number) } else { String::new() };
    Some(format!("{}..{}", end(low), end(high)))
}

/// The chosen sentence as a line over the others.
fn chosen(ui: &Ui, workbench: &CorpusPage, picture: &DistributionPicture, strip: &dyn Fn(usize) -> Rect) {
    let Some(at) = workbench.selected else { return };
    let point = |(n, histogram): (usize, &Histogram)| {
        let axis = BrushAxis { rect: strip(n), is_vertical: true, histogram, corpus: &workbench.corpus };
        let value = histogram.column.value(&workbench.corpus, at);
        value.is_finite().then(|| pos2(strip(n).center().x, axis.place(value)))
    };
    let points: Vec<Option<Pos2>> = picture.histograms.iter().enumerate().map(point).collect();
    let stroke = Stroke::new(2.5, theme::tokens(ui).set);
    for pair in points.windows(2) {
        if let [Some(from), Some(to)] = pair {
            ui.painter().line_segment([*from, *to], stroke);
        }
    }
}

/// All lines as triangles, made anew where something of them has changed.
fn lines(
    ui: &Ui,
    window: &mut Window<'_>,
    picture: &Arc<DistributionPicture>,
    plot: Rect,
    place: &dyn Fn(usize) -> f32,
) -> Arc<Mesh> {
    let is_dark = ui.visuals().dark_mode;
    let is_same =
        |drawn: &DrawnLines| Arc::ptr_eq(&drawn.picture, picture) && drawn.rect == plot && drawn.is_dark == is_dark;
    if let Some(drawn) = window.local.of::<CorpusMemory>().lines.as_ref().filter(|drawn| is_same(drawn)) {
        return Arc::clone(&drawn.mesh);
    }
    let t = theme::tokens(ui);
    let mut mesh = Mesh::default();
    // Many lines are told apart only where each is faint.
    let strength = |count: usize| (24.0 / count.max(1) as f32).clamp(0.025, 0.8);
    for (sentences, colour) in [(&picture.all, t.weak), (&picture.shown, t.accent)] {
        let colour = colour.gamma_multiply(strength(sentences.len()));
        for sentence in sentences {
            polyline(&mut mesh, sentence, picture, plot, place, colour);
        }
    }
    let mesh = Arc::new(mesh);
    let drawn = DrawnLines { picture: Arc::clone(picture), rect: plot, is_dark, mesh: Arc::clone(&mesh) };
    window.local.of::<CorpusMemory>().lines = Some(drawn);
    mesh
}

fn polyline(
    mesh: &mut Mesh,
    sentence: &[f32],
    picture: &DistributionPicture,
    plot: Rect,
    place: &dyn Fn(usize) -> f32,
    colour: Color32,
) {
    let point = |n: usize| {
        let value = sentence.get(n).copied().filter(|value| value.is_finite())?;
        Some(pos2(place(n), plot.bottom() - picture.histograms.get(n)?.share(value) * plot.height()))
    };
    for n in 1..picture.histograms.len() {
        if let (Some(from), Some(to)) = (point(n - 1), point(n)) {
            let across = (to - from).normalized().rot90() * THIN;
            let first = mesh.vertices.len() as u32;
            for corner in [from + across, from - across, to - across, to + across] {
                mesh.colored_vertex(corner, colour);
            }
            mesh.add_triangle(first, first + 1, first + 2);
            mesh.add_triangle(first, first + 2, first + 3);
        }
    }
}
