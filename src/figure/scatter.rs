//! Floor 6: a scatter of any number of points. They become at most as many dots as there are bins of a few points'
//! side, so a hundred thousand draw as fast as a hundred.

use crate::figure::Figure;
use crate::figure::axes::{Axes, Axis};
use crate::figure::geometry::{Area, Point, Size, dashed, point, size};
use crate::figure::mark::{Dots, LinesMark, Mark, Stroke};
use crate::figure::measure::TextMeasure;
use crate::figure::palette::{Palette, Rgba};
use crate::figure::provenance::Provenance;
use crate::figure::sizes::SPACE_1;

/// Side of a bin, points.
pub const SIDE: f32 = 3.0;

/// With fewer points in view each is a round dot.
const FEW: usize = 2_000;
/// Radius of a round dot, points.
const ROUND: f32 = 3.0;

/// What of the plane is on the screen, and how large it is there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScatterView {
    /// From left to right.
    pub x: [f32; 2],
    /// From bottom to top.
    pub y: [f32; 2],
    /// Width and height, points.
    pub size: [f32; 2],
}

impl ScatterView {
    /// Where a point falls, from the top left corner; outside the size where it is not in view.
    pub fn place(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let across = |value: f32, [from, to]: [f32; 2], size: f32| (value - from) / (to - from) * size;
        [across(x, self.x, self.size[0]), self.size[1] - across(y, self.y, self.size[1])]
    }

    fn bins(&self) -> (usize, usize) {
        let count = |size: f32| (size / SIDE).ceil().clamp(1.0, 4096.0) as usize;
        (count(self.size[0]), count(self.size[1]))
    }

    /// The bin of a point; `None` where it is not in view.
    fn bin(&self, point: [f32; 2]) -> Option<(usize, usize)> {
        let [left, top] = self.place(point);
        let (columns, rows) = self.bins();
        let inside = |at: f32, count: usize| {
            let bin = (at / SIDE).floor();
            (bin >= 0.0 && bin < count as f32).then_some(bin as usize)
        };
        Some((inside(left, columns)?, inside(top, rows)?))
    }
}

/// The points in view, sorted into bins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bins {
    columns: usize,
    rows: usize,
    /// The points of bin b are `order[starts[b]..starts[b + 1]]`.
    starts: Vec<u32>,
    order: Vec<u32>,
    most: u32,
}

/// What is drawn of a bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScatterDot {
    /// Its middle, from the top left corner.
    pub at: [f32; 2],
    /// Points in it.
    pub count: u32,
}

impl Bins {
    /// Sorts the points with these indexes.
    pub fn new(points: &[[f32; 2]], chosen: impl Iterator<Item = u32>, view: &ScatterView) -> Self {
        let (columns, rows) = view.bins();
        let placed: Vec<(u32, u32)> = chosen
            .filter_map(|index| {
                let (column, row) = view.bin(points[index as usize])?;
                Some(((row * columns + column) as u32, index))
            })
            .collect();
        let mut starts = vec![0_u32; columns * rows + 1];
        for (bin, _) in &placed {
            starts[*bin as usize + 1] += 1;
        }
        let most = starts.iter().copied().max().unwrap_or(0);
        for bin in 0..columns * rows {
            starts[bin + 1] += starts[bin];
        }
        let mut next = starts.clone();
        let mut order = vec![0; placed.len()];
        for (bin, index) in placed {
            order[next[bin as usize] as usize] = index;
            next[bin as usize] += 1;
        }
        Self { columns, rows, starts, order, most }
    }

    /// Points in view.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// True when no point is in view.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Most points of a bin.
    pub fn most(&self) -> u32 {
        self.most
    }

    fn bin(&self, bin: usize) -> &[u32] {
        &self.order[self.starts[bin] as usize..self.starts[bin + 1] as usize]
    }

    /// A dot for every bin that has points: a single one where it is, more in the middle of their bin.
    pub fn dots<'a>(&'a self, points: &'a [[f32; 2]], view: &'a ScatterView) -> impl Iterator<Item = ScatterDot> + 'a {
        (0..self.columns * self.rows).filter_map(move |bin| {
            let inside = self.bin(bin);
            let at = match inside {
                [] => return None,
                [one] => view.place(points[*one as usize]),
                _ => [bin % self.columns, bin / self.columns].map(|place| (place as f32 + 0.5) * SIDE),
            };
            Some(ScatterDot { at, count: inside.len() as u32 })
        })
    }

    /// The point nearest to a place on the screen, no farther than `reach`, and how many are that near in all.
    pub fn nearest(&self, points: &[[f32; 2]], view: &ScatterView, at: [f32; 2], reach: f32) -> Option<(usize, usize)> {
        let around = (reach / SIDE).ceil() as isize;
        let middle = at.map(|place| (place / SIDE).floor() as isize);
        let (mut best, mut near): (Option<(usize, f32)>, usize) = (None, 0);
        for row in (middle[1] - around).max(0)..=(middle[1] + around).min(self.rows as isize - 1) {
            for column in (middle[0] - around).max(0)..=(middle[0] + around).min(self.columns as isize - 1) {
                for index in self.bin(row as usize * self.columns + column as usize) {
                    let [x, y] = view.place(points[*index as usize]);
                    let distance = (x - at[0]).hypot(y - at[1]);
                    if distance > reach {
                        continue;
                    }
                    near += 1;
                    if best.is_none_or(|(_, least)| distance < least) {
                        best = Some((*index as usize, distance));
                    }
                }
            }
        }
        best.map(|(index, _)| (index, near))
    }
}

/// What is drawn of the points in view.
#[derive(Clone, Copy, Debug)]
pub struct Scatter<'a> {
    /// x and y of each.
    pub points: &'a [[f32; 2]],
    pub view: &'a ScatterView,
    /// All of them.
    pub all: &'a Bins,
    /// Those that are drawn in the warm colour over the others.
    pub found: &'a Bins,
    /// Those with a ring.
    pub rings: &'a [[f32; 2]],
    pub selected: Option<[f32; 2]>,
    /// The one under the mouse.
    pub hovered: Option<[f32; 2]>,
    pub palette: &'a Palette,
}

impl Scatter<'_> {
    /// The line on which x is y, and the dots; `frame` is the area between the axes.
    pub fn dots<'m>(&self, frame: &Area) -> Vec<Mark<'m>> {
        let mut out = Vec::new();
        let ScatterView { x, y, .. } = self.view;
        let (low, high) = (x[0].max(y[0]), x[1].min(y[1]).min(0.0));
        if low < high {
            let ends = dashed(&[low, high].map(|end| self.place(frame, [end, end])), 6.0, 5.0);
            let stroke = Stroke { width: 1.0, colour: self.palette.weak.fade(0.7) };
            out.push(Mark::Lines(LinesMark { ends, stroke, is_crisp: false }));
        }
        let is_few = self.all.len() < FEW;
        for (bins, is_found) in [(self.all, false), (self.found, true)] {
            let place = |at: [f32; 2]| frame.min + size(at[0], at[1]);
            let dots = bins.dots(self.points, self.view);
            let dots = dots.map(|dot| (place(dot.at), self.colour(dot.count, bins.most(), is_found))).collect();
            let side = if is_found { SIDE + 1.0 } else { SIDE };
            let radius = if is_few { ROUND } else { 0.5 * side };
            out.push(Mark::Dots(Dots { is_square: !is_few, ..Dots::round(dots, radius) }));
        }
        out
    }

    /// Rings, the chosen point and the one under the mouse.
    pub fn rings<'m>(&self, frame: &Area) -> Vec<Mark<'m>> {
        let palette = self.palette;
        let ring = |points: &[[f32; 2]], radius, fill: Rgba, colour| {
            let places = points.iter().map(|point| self.place(frame, *point)).filter(|at| frame.contains(*at));
            let dots = places.map(|at| (at, fill)).collect();
            let border = Stroke { width: 2.0, colour };
            Mark::Dots(Dots { dots, radius, border, is_square: false })
        };
        vec![
            ring(self.rings, 4.5, palette.panel, palette.accent),
            ring(self.selected.as_slice(), 6.0, palette.accent, palette.text),
            ring(self.hovered.as_slice(), 5.0, Rgba::TRANSPARENT, palette.text),
        ]
    }

    /// Where a point falls.
    pub fn place(&self, frame: &Area, at: [f32; 2]) -> Point {
        let [x, y] = self.view.place(at);
        frame.min + size(x, y)
    }

    /// Of a dot with so many points. What is not found stands back where something is.
    fn colour(&self, count: u32, most: u32, is_found: bool) -> Rgba {
        let share = (1.0 + count as f32).ln() / (1.0 + most as f32).ln();
        if is_found {
            return self.palette.warm.fade(0.8 + 0.2 * share);
        }
        let strength = 0.3 + 0.7 * share;
        self.palette.accent.fade(if self.found.is_empty() { strength } else { 0.5 * strength })
    }
}

/// Least and greatest of both numbers, with 0; a place to look at where there are no points.
pub fn bounds(points: &[[f32; 2]]) -> [[f64; 2]; 2] {
    [0, 1].map(|axis| {
        let values = points.iter().map(|point| f64::from(point[axis]));
        let (low, high) = values.fold((0.0_f64, -1.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        [low.min(high - 1.0), high.max(0.0)]
    })
}

/// All points with their axes as one figure; `found` are indexes of points.
pub fn whole<'a>(
    points: &[[f32; 2]],
    found: &[u32],
    labels: [&str; 2],
    room: impl Into<Size>,
    (measure, palette): (&dyn TextMeasure, &Palette),
    provenance: Provenance,
) -> Figure<'a> {
    let room = room.into();
    let number = |value: f64| format!("{}", (value * 1e6).round() / 1e6);
    let ends = bounds(points).map(|[low, high]| {
        let margin = 0.03 * (high - low);
        [low - margin, high + margin]
    });
    let axis = |n: usize| Axis { label: labels[n], text: &number, ticks: &[], ends: ends[n] };
    let axes = Axes { x: axis(0), y: axis(1) };
    let frame = axes.frame(&Area::from_min_size(point(0.0, 0.0), room).shrink(SPACE_1), measure);
    let narrow = |[low, high]: [f64; 2]| [low as f32, high as f32];
    let area = frame.area;
    let view = ScatterView { x: narrow(frame.x), y: narrow(frame.y), size: [area.width(), area.height()] };
    let all = Bins::new(points, 0..points.len() as u32, &view);
    let found = Bins::new(points, found.iter().copied(), &view);
    let scatter =
        Scatter { points, view: &view, all: &all, found: &found, rings: &[], selected: None, hovered: None, palette };
    let mut marks = axes.marks(&frame, measure, palette);
    marks.extend(scatter.dots(&area));
    Figure { size: room, marks, provenance }
}
