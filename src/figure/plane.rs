//! Words and phrases as points in the plane: what is where, what is under the mouse, which labels fit, and
//! the marks of them.

use std::{borrow::Cow, collections::HashMap};

use crate::geometry::{Area, Point, Size, point, size};
use crate::mark::{Across, BorderSide, Dots, Down, Mark, Rectangle, Stroke, TextMark};
use crate::palette::{Palette, Rgba};
use crate::sizes::{CARD_RADIUS, TEXT_SMALL};
use crate::{Figure, palette};
use crate::{measure::TextMeasure, provenance::Provenance};

const MARGIN: f32 = 0.06;
/// Farthest out and in, as multiples of the whole map in view.
const ZOOMS: (f32, f32) = (0.5, 200.0);
const REACH: f32 = 12.0;
const APART: Size = size(6.0, 3.0);
const GAP: f32 = 8.0;
const SQUARE: f32 = 64.0;
pub const WIDEST: f32 = 190.0;
const ASIDE: f32 = 0.25;

/// Which part of the map is in view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The place in the middle of the view.
    pub centre: [f32; 2],
    /// Points of the screen for a unit of the map.
    pub scale: f32,
    whole: f32,
}

impl Camera {
    pub fn whole(places: &[[f32; 2]], room: impl Into<Size>) -> Self {
        let room = room.into();
        let finite = || places.iter().filter(|place| place.iter().all(|x| x.is_finite()));
        let (mut least, mut most) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
        for place in finite() {
            for axis in 0..2 {
                least[axis] = least[axis].min(place[axis]);
                most[axis] = most[axis].max(place[axis]);
            }
        }
        if finite().next().is_none() {
            return Self { centre: [0.0; 2], scale: 1.0, whole: 1.0 };
        }
        let fits = |axis: usize, room: f32| {
            (1.0 - 2.0 * MARGIN) * room.max(1.0) / (most[axis] - least[axis]).max(f32::MIN_POSITIVE)
        };
        let scale = fits(0, room.x).min(fits(1, room.y));
        // All points in one place have no size; any scale shows them.
        let scale = if scale.is_finite() && scale < 1e12 { scale } else { 1.0 };
        Self { centre: [0, 1].map(|axis| f32::midpoint(least[axis], most[axis])), scale, whole: scale }
    }

    /// Where a place is on the screen; up is up.
    pub fn to_screen(&self, view: &Area, place: [f32; 2]) -> Point {
        let [x, y] = [0, 1].map(|axis| (place[axis] - self.centre[axis]) * self.scale);
        view.center() + size(x, -y)
    }

    /// Which place is at a point of the screen.
    pub fn to_place(&self, view: &Area, at: Point) -> [f32; 2] {
        let middle = view.center();
        [self.centre[0] + (at.x - middle.x) / self.scale, self.centre[1] - (at.y - middle.y) / self.scale]
    }

    /// Closer by this factor; the place at `at` stays there.
    pub fn zoomed(&self, view: &Area, at: Point, factor: f32) -> Self {
        let fixed = self.to_place(view, at);
        let scale = (self.scale * factor).clamp(self.whole * ZOOMS.0, self.whole * ZOOMS.1);
        let moved = Self { centre: fixed, scale, ..*self };
        let middle = view.center();
        moved.panned(size(at.x - middle.x, at.y - middle.y))
    }

    /// Moved along with the mouse.
    pub fn panned(&self, by: impl Into<Size>) -> Self {
        let by = by.into();
        Self { centre: [self.centre[0] - by.x / self.scale, self.centre[1] + by.y / self.scale], ..*self }
    }

    /// With a place in the middle.
    pub fn centred(&self, place: [f32; 2]) -> Self {
        Self { centre: place, ..*self }
    }

    /// How many times closer than the whole map.
    pub fn closeness(&self) -> f32 {
        self.scale / self.whole
    }
}

/// The point under the mouse, the nearest; `None` where none is within reach.
pub fn hit(points: &[Point], at: Point) -> Option<usize> {
    let near = points.iter().enumerate().map(|(n, point)| (n, (point.x - at.x).powi(2) + (point.y - at.y).powi(2)));
    near.filter(|(_, apart)| *apart <= REACH * REACH).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(n, _)| n)
}

/// How many labels a view of this size takes without becoming a carpet.
pub fn most_labels(size: Size) -> usize {
    ((size.x * size.y / 4_500.0) as usize).clamp(12, 320)
}

/// Labels that are placed and do not overlap.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// Which point, and where its label stands.
    pub placed: Vec<(usize, Area)>,
    squares: HashMap<(i32, i32), Vec<usize>>,
}

impl Labels {
    /// Whether a label of this point would surely overlap, however short it is.
    pub fn is_crowded(&self, foot: Point, height: f32, clip: &Area) -> bool {
        sides(foot, size(height, height)).iter().all(|area| !self.is_free(area, clip))
    }

    /// Places the label of a point beside it, right, left, above or below, where it overlaps no other and lies in
    /// `clip`. The first has the choice.
    pub fn place(&mut self, point: usize, foot: Point, size: Size, clip: &Area) -> bool {
        let free = sides(foot, size).into_iter().find(|area| self.is_free(area, clip));
        let Some(area) = free else { return false };
        for square in squares(&area) {
            self.squares.entry(square).or_default().push(self.placed.len());
        }
        self.placed.push((point, area));
        true
    }

    fn is_free(&self, area: &Area, clip: &Area) -> bool {
        let wide = Area { min: point(area.min.x - APART.x, area.min.y - APART.y), max: area.max + APART };
        clip.contains(area.min)
            && clip.contains(area.max)
            && squares(&wide).filter_map(|square| self.squares.get(&square)).flatten().all(|&other| {
                let other = self.placed[other].1;
                other.min.x >= wide.max.x
                    || other.max.x <= wide.min.x
                    || other.min.y >= wide.max.y
                    || other.max.y <= wide.min.y
            })
    }
}

fn sides(foot: Point, size: Size) -> [Area; 4] {
    let at = |x: f32, y: f32| Area::from_min_size(point(foot.x + x, foot.y + y), size);
    [at(GAP, -size.y / 2.0), at(-GAP - size.x, -size.y / 2.0), at(-size.x / 2.0, -GAP - size.y), at(-size.x / 2.0, GAP)]
}

fn squares(area: &Area) -> impl Iterator<Item = (i32, i32)> {
    let square = |x: f32| (x / SQUARE).floor() as i32;
    let (columns, rows) = (square(area.min.x)..=square(area.max.x), square(area.min.y)..=square(area.max.y));
    rows.flat_map(move |row| columns.clone().map(move |column| (column, row)))
}

/// The colour of a point as a share from 0 to 1.
pub fn share(value: usize, most: usize, is_rank: bool) -> f32 {
    let share = (value.max(1) - 1) as f32 / (most.max(2) - 1) as f32;
    let share = share.min(1.0);
    if is_rank { share.sqrt() } else { share }
}

/// What is drawn of the points.
#[derive(Clone, Copy)]
pub struct Plane<'a, 't> {
    pub feet: &'a [Point],
    /// From 0 to 1 for each point: its colour.
    pub shade: &'a dyn Fn(usize) -> f32,
    pub text: &'a dyn Fn(usize) -> &'t str,
    pub selected: Option<usize>,
    pub near: &'a [usize],
    /// What was looked for, best first; empty: nothing was.
    pub matches: &'a [usize],
    pub under: Option<usize>,
    /// How many times closer than the whole map.
    pub closeness: f32,
    pub dark: bool,
}

impl<'t> Plane<'_, 't> {
    fn first_come(&self) -> impl Iterator<Item = usize> {
        let marked = self.under.into_iter().chain(self.selected).chain(self.near.iter().copied());
        marked.chain(self.matches.iter().copied()).chain(0..self.feet.len())
    }

    /// The labels that have room in `view`. `width` gives that of a point's label; nothing ends the choice.
    pub fn labels(&self, view: &Area, height: f32, mut width: impl FnMut(usize) -> Option<f32>) -> Labels {
        let most = most_labels(view.size());
        let mut labels = Labels::default();
        let mut has_one = vec![false; self.feet.len()];
        for at in self.first_come() {
            let Some(foot) = self.feet.get(at).copied().filter(|foot| view.contains(*foot)) else { continue };
            if labels.placed.len() >= most {
                break;
            }
            if std::mem::replace(&mut has_one[at], true) || labels.is_crowded(foot, height, view) {
                continue;
            }
            let Some(width) = width(at) else { break };
            labels.place(at, foot, size(width, height), view);
        }
        labels
    }

    /// The ground, points, rings around what is marked, and labels.
    pub fn marks(&self, view: &Area, labels: &Labels) -> Vec<Mark<'t>> {
        let palette = Palette::of(self.dark);
        let radius = radius(self.feet.len(), self.closeness);
        let near = view.shrink(-radius);
        let stands_out = self.stands_out();
        let in_view: Vec<usize> = (0..self.feet.len()).filter(|at| near.contains(self.feet[*at])).collect();
        let (mut aside, mut marked) = (Vec::new(), Vec::new());
        for &at in &in_view {
            let colour = palette::point(self.dark, (self.shade)(at));
            if stands_out[at] {
                marked.push((self.feet[at], colour));
            } else {
                aside.push((self.feet[at], colour.fade(ASIDE)));
            }
        }
        let edge = Stroke { width: 1.0, colour: palette.line };
        let ground = Rectangle::framed(*view, CARD_RADIUS, edge, BorderSide::Inside);
        let mut out = vec![Mark::Rect(Rectangle { fill: palette.panel, ..ground })];
        // What stands out is painted over what does not.
        out.extend([aside, marked].map(|dots| Mark::Dots(Dots::round(dots, radius))));
        let ring = |points: Vec<usize>, radius, width, colour| {
            let dots = points.into_iter().map(|at| (self.feet[at], Rgba::TRANSPARENT)).collect();
            Mark::Dots(Dots { border: Stroke { width, colour }, ..Dots::round(dots, radius) })
        };
        let special = in_view.into_iter().filter(|at| self.is_special(*at)).collect();
        out.push(ring(special, radius + 2.5, 1.5, palette.accent));
        let close = [self.under, self.selected].into_iter().flatten().filter(|at| *at < self.feet.len()).collect();
        out.push(ring(close, radius + 4.0, 2.0, palette.mark));
        for (at, area) in &labels.placed {
            out.extend(self.label(*at, area, stands_out.get(*at) == Some(&true), palette));
        }
        out
    }

    fn is_special(&self, at: usize) -> bool {
        self.selected == Some(at) || self.near.contains(&at)
    }

    fn stands_out(&self) -> Vec<bool> {
        let mut out = vec![self.matches.is_empty() && self.selected.is_none(); self.feet.len()];
        for at in self.matches.iter().chain(self.near).chain(&self.selected) {
            if let Some(flag) = out.get_mut(*at) {
                *flag = true;
            }
        }
        out
    }

    fn label(&self, at: usize, area: &Area, stands_out: bool, palette: &Palette) -> [Mark<'t>; 2] {
        let colour = if self.is_special(at) || self.under == Some(at) {
            palette.accent
        } else if stands_out {
            palette.text
        } else {
            palette.weak.fade(0.6)
        };
        let text = Cow::Borrowed((self.text)(at));
        let text = TextMark::new(text, area.min, (Across::Left, Down::Top), TEXT_SMALL, colour);
        // A little of the ground behind the letters keeps them apart from the points.
        let ground = Rectangle::filled(area.shrink(-1.0), 2.0, palette.panel.fade(0.72));
        [Mark::Rect(ground), Mark::Text(TextMark { room: WIDEST, ..text })]
    }

    /// All of it as one figure: these points of it at their places, all in view.
    pub fn whole(
        self, places: &[[f32; 2]], room: impl Into<Size>, measure: &dyn TextMeasure, provenance: Provenance,
    ) -> Figure<'t> {
        let room = room.into();
        let view = Area::from_min_size(point(0.0, 0.0), room);
        let camera = Camera::whole(places, room);
        let feet: Vec<Point> = places.iter().map(|place| camera.to_screen(&view, *place)).collect();
        let plane = Plane { feet: &feet, closeness: 1.0, ..self };
        let width = |at: usize| Some(measure.width((plane.text)(at), TEXT_SMALL).min(WIDEST));
        let labels = plane.labels(&view, measure.height(TEXT_SMALL), width);
        Figure { size: room, marks: plane.marks(&view, &labels), provenance }
    }
}

fn radius(count: usize, closeness: f32) -> f32 {
    let first = match count {
        0..=300 => 4.0,
        301..=2_000 => 3.0,
        _ => 2.2,
    };
    (first * closeness.max(1.0).powf(0.25)).min(6.0)
}
