//! Two axes with ticks, labels and a grid, and where a pair of numbers falls between them.

use crate::geometry::{Area, Point, point};
use crate::mark::{Across, Down, LinesMark, Mark, Stroke, TextMark};
use crate::sizes::{SPACE_1, SPACE_2, TEXT_SMALL};
use crate::{measure::TextMeasure, palette::Palette};

const ROOM: (f32, f32) = (64.0, 30.0);

/// One axis.
#[derive(Clone, Copy)]
pub struct Axis<'a> {
    /// What it counts; empty: nothing is written.
    pub label: &'a str,
    /// A place on it in words; empty where there is no tick.
    pub text: &'a dyn Fn(f64) -> String,
    /// Where its ticks are; empty: at round numbers.
    pub ticks: &'a [f64],
    pub ends: [f64; 2],
}

/// Where numbers fall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    pub area: Area,
    /// The ends of x, from left to right.
    pub x: [f64; 2],
    /// The ends of y, from bottom to top.
    pub y: [f64; 2],
}

impl Frame {
    /// The place of a pair of numbers.
    pub fn place(&self, [x, y]: [f64; 2]) -> Point {
        let share = |value: f64, [from, to]: [f64; 2]| ((value - from) / (to - from)) as f32;
        point(
            self.area.left() + share(x, self.x) * self.area.width(),
            self.area.bottom() - share(y, self.y) * self.area.height(),
        )
    }
}

/// Round numbers from `low` to `high`, at most about `most`, with a step of 1, 2 or 5 times a power of ten.
pub fn ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return Vec::new();
    }
    let least = span / most.max(1) as f64;
    let power = 10_f64.powf(least.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= least * (1.0 - 1e-9));
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    // Adding 0 makes 0 of -0.
    (0..=(last - first).max(-1.0) as usize)
        .map(|n| (first + n as f64) * step + 0.0)
        .filter(|x| *x <= high + step * 1e-6)
        .collect()
}

/// Both axes.
#[derive(Clone, Copy)]
pub struct Axes<'a> {
    pub x: Axis<'a>,
    pub y: Axis<'a>,
}

type Tick = (f64, String);

impl Axes<'_> {
    /// What is left between the axes in `area`.
    pub fn frame(&self, area: &Area, measure: &dyn TextMeasure) -> Frame {
        let line = measure.height(TEXT_SMALL);
        let titled = |label: &str| if label.is_empty() { 0.0 } else { line + SPACE_1 };
        let bottom = area.bottom() - line - SPACE_1 - titled(self.x.label);
        let top = area.top() + 0.5 * line;
        let left =
            area.left() + widest(&self.y.written(bottom - top, ROOM.1), measure) + SPACE_1 + titled(self.y.label);
        // The last label reaches half its width beyond the axis.
        let right = area.right() - (0.5 * widest(&self.x.written(area.right() - left, ROOM.0), measure)).max(SPACE_2);
        let area = Area::from_min_max(point(left, top), point(right.max(left + 1.0), bottom.max(top + 1.0)));
        Frame { area, x: self.x.ends, y: self.y.ends }
    }

    /// The grid, the labels of the ticks and those of the axes.
    pub fn marks<'m>(&self, frame: &Frame, measure: &dyn TextMeasure, palette: &Palette) -> Vec<Mark<'m>> {
        let (area, line) = (frame.area, measure.height(TEXT_SMALL));
        let across = self.x.written(area.width(), ROOM.0);
        let up = self.y.written(area.height(), ROOM.1);
        let wide = widest(&up, measure);
        let place = |x: f64, y: f64| frame.place([x, y]);
        let upright = across
            .iter()
            .map(|(x, _)| place(*x, frame.y[0]).x)
            .map(|x| [point(x, area.top()), point(x, area.bottom())]);
        let level =
            up.iter().map(|(y, _)| place(frame.x[0], *y).y).map(|y| [point(area.left(), y), point(area.right(), y)]);
        let stroke = Stroke { width: 1.0, colour: palette.line };
        let mut out = vec![Mark::Lines(LinesMark { ends: upright.chain(level).collect(), stroke, is_crisp: true })];
        let mut write = |text: String, at: Point, anchor: (Across, Down), angle: f32| {
            out.push(Mark::Text(TextMark { angle, ..TextMark::new(text, at, anchor, TEXT_SMALL, palette.weak) }));
        };
        let stride = stride(&across, frame, measure);
        for (x, text) in across.into_iter().step_by(stride) {
            write(text, point(place(x, frame.y[0]).x, area.bottom() + SPACE_1), (Across::Centre, Down::Top), 0.0);
        }
        for (y, text) in up {
            write(text, point(area.left() - SPACE_1, place(frame.x[0], y).y), (Across::Right, Down::Middle), 0.0);
        }
        if !self.x.label.is_empty() {
            let foot = point(area.center().x, area.bottom() + line + 2.0 * SPACE_1);
            write(self.x.label.to_owned(), foot, (Across::Centre, Down::Top), 0.0);
        }
        if !self.y.label.is_empty() {
            let side = point(area.left() - wide - 2.0 * SPACE_1 - 0.5 * line, area.center().y);
            write(self.y.label.to_owned(), side, (Across::Centre, Down::Middle), std::f32::consts::FRAC_PI_2);
        }
        out
    }
}

impl Axis<'_> {
    fn written(&self, length: f32, room: f32) -> Vec<Tick> {
        let [low, high] = self.ends;
        let ticks = if self.ticks.is_empty() {
            ticks(low, high, ((length / room) as usize).max(2))
        } else {
            self.ticks.iter().copied().filter(|tick| (low..=high).contains(tick)).collect()
        };
        ticks.into_iter().map(|tick| (tick, (self.text)(tick))).filter(|(_, text)| !text.is_empty()).collect()
    }
}

fn widest(ticks: &[Tick], measure: &dyn TextMeasure) -> f32 {
    ticks.iter().map(|(_, text)| measure.width(text, TEXT_SMALL)).fold(0.0, f32::max)
}

/// Every how many ticks of x a label fits, so that no two overlap.
fn stride(ticks: &[Tick], frame: &Frame, measure: &dyn TextMeasure) -> usize {
    let sides = |(x, text): &Tick| {
        let (middle, half) = (frame.place([*x, frame.y[0]]).x, 0.5 * measure.width(text, TEXT_SMALL));
        (middle - half, middle + half)
    };
    let fits = |stride: &usize| {
        let shown: Vec<(f32, f32)> = ticks.iter().step_by(*stride).map(sides).collect();
        shown.windows(2).all(|two| two[0].1 + SPACE_1 <= two[1].0)
    };
    (1..ticks.len().max(2)).find(fits).unwrap_or(ticks.len().max(1))
}
