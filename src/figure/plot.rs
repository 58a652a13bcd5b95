//! Lines, points and bars of several models or runs over two axes, told apart by colour and by shape.

use std::borrow::Cow;

use crate::axes::{Axes, Axis, Frame};
use crate::geometry::{Area, Point, Size, dashed, point, size};
use crate::mark::{Across, Dots, Down, LinesMark, Mark, Polygon, Rectangle, Stroke, TextMark};
use crate::palette::{Palette, Rgba};
use crate::sizes::{DATA_POINT, SPACE_1, SPACE_2, TEXT_SMALL};
use crate::{Figure, measure::TextMeasure, provenance::Provenance};

/// Room beside the data on each side, as a share of the span of x and of y.
pub const MARGINS: (f32, f32) = (0.03, 0.08);
const MOST_MARKS: usize = 80;
const WIDTHS: (f32, f32) = (2.0, 1.0);
const DASH: (f32, f32) = (4.0, 3.0);
const BARS: f64 = 0.8;
const LEGEND: (f32, f32) = (16.0, 260.0);

/// The mark of a data point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Circle,
    Square,
    Up,
    Diamond,
    Down,
    /// A triangle that points to the left.
    Left,
    /// A triangle that points to the right.
    Right,
    Asterisk,
}

const SHAPES: [Shape; 8] =
    [Shape::Circle, Shape::Square, Shape::Up, Shape::Diamond, Shape::Down, Shape::Left, Shape::Right, Shape::Asterisk];

impl Shape {
    /// That of the model or run at a place.
    pub fn at(place: usize) -> Self {
        SHAPES[place % SHAPES.len()]
    }

    /// Around a point, as large as a circle with radius `r`.
    pub fn mark<'a>(self, at: Point, r: f32, colour: Rgba) -> Mark<'a> {
        let corners = |corners: &[(f32, f32)]| {
            let corners = corners.iter().map(|(x, y)| at + size(x * r, y * r)).collect();
            Mark::Polygon(Polygon { corners, fill: colour, stroke: Stroke::default() })
        };
        match self {
            Self::Circle => Mark::Dots(Dots::round(vec![(at, colour)], r)),
            Self::Square => {
                Mark::Rect(Rectangle::filled(Area::from_center_size(at, size(1.8 * r, 1.8 * r)), 0.0, colour))
            }
            Self::Up => corners(&[(0.0, -1.0), (0.9, 0.7), (-0.9, 0.7)]),
            Self::Down => corners(&[(0.0, 1.0), (-0.9, -0.7), (0.9, -0.7)]),
            Self::Left => corners(&[(-1.0, 0.0), (0.7, -0.9), (0.7, 0.9)]),
            Self::Right => corners(&[(1.0, 0.0), (-0.7, 0.9), (-0.7, -0.9)]),
            Self::Diamond => corners(&[(0.0, -1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)]),
            Self::Asterisk => {
                let line = |(x, y): (f32, f32)| [at + size(-x * r, -y * r), at + size(x * r, y * r)];
                let ends = [(1.0, 0.0), (0.5, 0.87), (0.5, -0.87)].map(line).to_vec();
                Mark::Lines(LinesMark { ends, stroke: Stroke { width: 1.5, colour }, is_crisp: false })
            }
        }
    }
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeriesStyle {
    /// A line with a mark at every point.
    #[default]
    Marked,
    Bare,
    /// A thin dashed line without marks: what matters less.
    Minor,
    /// A bar for every point, from 0.
    Bars,
}

/// Numbers of one model or run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    pub name: String,
    pub place: usize,
    /// x and y, by growing x.
    pub points: Vec<[f64; 2]>,
    pub look: SeriesStyle,
}

impl Series {
    /// Every point has a mark of its own.
    pub fn has_marks(&self) -> bool {
        self.look == SeriesStyle::Marked && self.points.len() <= MOST_MARKS
    }

    /// Width of its line, points.
    pub fn width(&self) -> f32 {
        match self.look {
            SeriesStyle::Marked | SeriesStyle::Bare | SeriesStyle::Bars => WIDTHS.0,
            SeriesStyle::Minor => WIDTHS.1,
        }
    }

    fn finite(&self) -> impl Iterator<Item = [f64; 2]> {
        self.points.iter().copied().filter(|point| point.iter().all(|value| value.is_finite()))
    }
}

/// A plot.
#[derive(Clone, Copy)]
pub struct Plot<'a> {
    pub title: &'a str,
    /// Below the x axis; empty: nothing.
    pub x_label: &'a str,
    /// A place on the x axis in words; empty where there is no tick.
    pub x_text: &'a dyn Fn(f64) -> String,
    /// Where x has ticks; empty: at round numbers.
    pub x_ticks: &'a [f64],
    pub y_text: &'a dyn Fn(f64) -> String,
    /// The y axis begins at 0.
    pub from_zero: bool,
    pub series: &'a [Series],
}

/// A bar: its middle, its width and its height.
pub type PlottedBar = [f64; 3];

impl<'a> Plot<'a> {
    /// The ends of both axes with some room beside the data.
    pub fn ends(&self) -> [[f64; 2]; 2] {
        let points = || self.series.iter().flat_map(Series::finite);
        let bars: Vec<PlottedBar> = (0..self.series.len()).flat_map(|n| self.bars(n)).collect();
        let sides = bars.iter().flat_map(|[x, width, _]| [x - 0.5 * width, x + 0.5 * width]);
        let zero = (self.from_zero || !bars.is_empty()).then_some(0.0);
        let x = ends(points().map(|[x, _]| x).chain(sides), MARGINS.0);
        let y = ends(points().map(|[_, y]| y).chain(zero), MARGINS.1);
        [x, y]
    }

    /// The bars of series `n`; those of several series stand side by side.
    pub fn bars(&self, n: usize) -> Vec<PlottedBar> {
        let is_bars = |series: &&Series| series.look == SeriesStyle::Bars;
        let Some(series) = self.series.get(n).filter(is_bars) else { return Vec::new() };
        let mut places: Vec<f64> =
            self.series.iter().filter(is_bars).flat_map(Series::finite).map(|[x, _]| x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let step = places.windows(2).map(|two| two[1] - two[0]).reduce(f64::min).unwrap_or(1.0);
        let count = self.series.iter().filter(is_bars).count();
        let before = self.series[..n].iter().filter(is_bars).count();
        let width = BARS * step / count as f64;
        let shift = (before as f64 + 0.5 - 0.5 * count as f64) * width;
        series.finite().map(|[x, y]| [x + shift, width, y]).collect()
    }

    /// Title, legend, axes and data in `area`.
    pub fn marks(&self, area: &Area, measure: &dyn TextMeasure, dark: bool) -> Vec<Mark<'a>> {
        let palette = Palette::of(dark);
        let line = measure.height(TEXT_SMALL);
        let title = TextMark::new(self.title, area.min, (Across::Left, Down::Top), TEXT_SMALL, palette.weak);
        let mut out = vec![Mark::Text(TextMark { room: area.width(), ..title })];
        let below = Area::from_min_max(point(area.left(), area.top() + line + SPACE_1), area.max);
        let legend = legend(self.series, &below, measure, dark, &mut out);
        let rest = Area::from_min_max(point(area.left(), legend + SPACE_1), area.max);
        let [x, y] = self.ends();
        let axes = Axes {
            x: Axis { label: self.x_label, text: self.x_text, ticks: self.x_ticks, ends: x },
            y: Axis { label: "", text: self.y_text, ticks: &[], ends: y },
        };
        let frame = axes.frame(&rest, measure);
        out.extend(axes.marks(&frame, measure, palette));
        for n in 0..self.series.len() {
            self.data(n, &frame, dark, &mut out);
        }
        out
    }

    /// All of it as one figure.
    pub fn whole(
        &self, room: impl Into<Size>, measure: &dyn TextMeasure, dark: bool, provenance: Provenance,
    ) -> Figure<'a> {
        let size = room.into();
        let area = Area::from_min_size(point(0.0, 0.0), size).shrink(SPACE_1);
        Figure { size, marks: self.marks(&area, measure, dark), provenance }
    }

    fn data(&self, n: usize, frame: &Frame, dark: bool, out: &mut Vec<Mark<'a>>) {
        let series = &self.series[n];
        let colour = Palette::series(series.place, dark);
        let points: Vec<Point> = series.finite().map(|point| frame.place(point)).collect();
        let stroke = Stroke { width: series.width(), colour };
        let ends = match series.look {
            SeriesStyle::Marked | SeriesStyle::Bare => points.windows(2).map(|two| [two[0], two[1]]).collect(),
            SeriesStyle::Minor => dashed(&points, DASH.0, DASH.1),
            SeriesStyle::Bars => Vec::new(),
        };
        if !ends.is_empty() {
            out.push(Mark::Lines(LinesMark { ends, stroke, is_crisp: false }));
        }
        if series.has_marks() {
            out.extend(points.iter().map(|at| Shape::at(series.place).mark(*at, DATA_POINT, colour)));
        }
        out.extend(self.bars(n).into_iter().map(|[x, width, y]| {
            let (a, b) = (frame.place([x - 0.5 * width, y.max(0.0)]), frame.place([x + 0.5 * width, y.min(0.0)]));
            Mark::Rect(Rectangle::filled(Area::from_min_max(a, b), 0.0, colour))
        }));
    }
}

fn ends(values: impl Iterator<Item = f64>, margin: f32) -> [f64; 2] {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    if low > high {
        return [0.0, 1.0];
    }
    let span = if high > low { high - low } else { low.abs().max(1.0) };
    [low - span * f64::from(margin), high + span * f64::from(margin)]
}

fn legend<'a>(
    series: &'a [Series], area: &Area, measure: &dyn TextMeasure, dark: bool, out: &mut Vec<Mark<'a>>,
) -> f32 {
    let line = measure.height(TEXT_SMALL);
    let (mut x, mut top) = (area.left(), area.top());
    for one in series {
        let room = LEGEND.1.min(area.width() - LEGEND.0 - SPACE_1);
        let width = LEGEND.0 + SPACE_1 + measure.width(&one.name, TEXT_SMALL).min(room);
        if x > area.left() && x + width > area.right() {
            (x, top) = (area.left(), top + line);
        }
        let at = point(x, top + 0.5 * line);
        out.push(sample(one, at, Palette::series(one.place, dark)));
        let text = Cow::Borrowed(one.name.as_str());
        let foot = at + size(LEGEND.0 + SPACE_1, 0.0);
        let text = TextMark::new(text, foot, (Across::Left, Down::Middle), TEXT_SMALL, Palette::of(dark).text);
        out.push(Mark::Text(TextMark { room, ..text }));
        x += width + SPACE_2;
    }
    if series.is_empty() { top } else { top + line }
}

/// What a series looks like, from a point to the right.
pub fn sample<'a>(series: &Series, at: Point, colour: Rgba) -> Mark<'a> {
    let middle = at + size(0.5 * LEGEND.0, 0.0);
    let (ends, stroke) = ([at, at + size(LEGEND.0, 0.0)], Stroke { width: series.width(), colour });
    match series.look {
        SeriesStyle::Marked => Shape::at(series.place).mark(middle, DATA_POINT, colour),
        SeriesStyle::Bars => Shape::Square.mark(middle, DATA_POINT, colour),
        SeriesStyle::Bare => Mark::Lines(LinesMark { ends: vec![ends], stroke, is_crisp: false }),
        SeriesStyle::Minor => Mark::Lines(LinesMark { ends: dashed(&ends, DASH.0, DASH.1), stroke, is_crisp: false }),
    }
}
