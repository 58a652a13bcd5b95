//! Floor 9: the plane in numbers: what is where on the screen, what is under the mouse, which labels fit.

use std::collections::HashMap;

use egui::{Pos2, Rect, Vec2, pos2, vec2};

/// Room around all points, as a share of the smaller side.
const MARGIN: f32 = 0.06;
/// Farthest out and in, as multiples of the whole map in view.
const ZOOMS: (f32, f32) = (0.5, 200.0);
/// A point is under the mouse when it is no farther, points.
const REACH: f32 = 12.0;
/// Labels keep this much apart, points.
const APART: Vec2 = vec2(6.0, 3.0);
/// From a point to its label, points.
const GAP: f32 = 8.0;
/// Side of the squares in which labels are looked for, points.
const SQUARE: f32 = 64.0;

/// Which part of the map is in view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The place in the middle of the view.
    pub centre: [f32; 2],
    /// Points of the screen for a unit of the map.
    pub scale: f32,
    /// The scale at which the whole map is in view.
    whole: f32,
}

impl Camera {
    /// All places in view.
    pub fn whole(places: &[[f32; 2]], size: Vec2) -> Self {
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
        let room = (1.0 - 2.0 * MARGIN) * size.max(vec2(1.0, 1.0));
        let fits = |axis: usize, room: f32| room / (most[axis] - least[axis]).max(f32::MIN_POSITIVE);
        let scale = fits(0, room.x).min(fits(1, room.y));
        // All points in one place have no size; any scale shows them.
        let scale = if scale.is_finite() && scale < 1e12 { scale } else { 1.0 };
        Self { centre: [0, 1].map(|axis| f32::midpoint(least[axis], most[axis])), scale, whole: scale }
    }

    /// Where a place is on the screen; up is up.
    pub fn to_screen(&self, view: Rect, place: [f32; 2]) -> Pos2 {
        let [x, y] = [0, 1].map(|axis| (place[axis] - self.centre[axis]) * self.scale);
        view.center() + vec2(x, -y)
    }

    /// Which place is at a point of the screen.
    pub fn to_place(&self, view: Rect, at: Pos2) -> [f32; 2] {
        let from = (at - view.center()) / self.scale;
        [self.centre[0] + from.x, self.centre[1] - from.y]
    }

    /// Closer by this factor; the place at `at` stays there.
    pub fn zoomed(&self, view: Rect, at: Pos2, factor: f32) -> Self {
        let fixed = self.to_place(view, at);
        let scale = (self.scale * factor).clamp(self.whole * ZOOMS.0, self.whole * ZOOMS.1);
        let from = (at - view.center()) / scale;
        Self { centre: [fixed[0] - from.x, fixed[1] + from.y], scale, ..*self }
    }

    /// Moved along with the mouse.
    pub fn panned(&self, by: Vec2) -> Self {
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
pub fn hit(points: &[Pos2], at: Pos2) -> Option<usize> {
    let near = points.iter().enumerate().map(|(n, point)| (n, point.distance_sq(at)));
    near.filter(|(_, apart)| *apart <= REACH * REACH).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(n, _)| n)
}

/// How many labels a view of this size takes without becoming a carpet.
pub fn most_labels(size: Vec2) -> usize {
    ((size.x * size.y / 4_500.0) as usize).clamp(12, 320)
}

/// Labels that are placed and do not overlap.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// Which point, and where its label stands.
    pub placed: Vec<(usize, Rect)>,
    squares: HashMap<(i32, i32), Vec<usize>>,
}

impl Labels {
    /// Whether a label of this point would surely overlap, however short it is.
    pub fn is_crowded(&self, foot: Pos2, height: f32, clip: Rect) -> bool {
        sides(foot, vec2(height, height)).iter().all(|rect| !self.is_free(*rect, clip))
    }

    /// Places the label of a point beside it, right, left, above or below, where it overlaps no other and lies in
    /// `clip`. The first has the choice.
    pub fn place(&mut self, point: usize, foot: Pos2, size: Vec2, clip: Rect) -> bool {
        let free = sides(foot, size).into_iter().find(|rect| self.is_free(*rect, clip));
        let Some(rect) = free else { return false };
        for square in squares(rect) {
            self.squares.entry(square).or_default().push(self.placed.len());
        }
        self.placed.push((point, rect));
        true
    }

    fn is_free(&self, rect: Rect, clip: Rect) -> bool {
        let wide = rect.expand2(APART);
        clip.contains_rect(rect)
            && squares(wide).filter_map(|square| self.squares.get(&square)).flatten().all(|&other| {
                let other = self.placed[other].1;
                other.min.x >= wide.max.x
                    || other.max.x <= wide.min.x
                    || other.min.y >= wide.max.y
                    || other.max.y <= wide.min.y
            })
    }
}

/// Right of the point, left, above and below.
fn sides(foot: Pos2, size: Vec2) -> [Rect; 4] {
    let at = |x: f32, y: f32| Rect::from_min_size(pos2(foot.x + x, foot.y + y), size);
    [at(GAP, -size.y / 2.0), at(-GAP - size.x, -size.y / 2.0), at(-size.x / 2.0, -GAP - size.y), at(-size.x / 2.0, GAP)]
}

fn squares(rect: Rect) -> impl Iterator<Item = (i32, i32)> {
    let square = |x: f32| (x / SQUARE).floor() as i32;
    let (columns, rows) = (square(rect.min.x)..=square(rect.max.x), square(rect.min.y)..=square(rect.max.y));
    rows.flat_map(move |row| columns.clone().map(move |column| (column, row)))
}

/// The colour of a point as a share from 0 to 1. The first ranks differ more than the later ones, so they are
/// spread wider (`is_rank`).
pub fn share(value: usize, most: usize, is_rank: bool) -> f32 {
    let share = (value.max(1) - 1) as f32 / (most.max(2) - 1) as f32;
    let share = share.min(1.0);
    if is_rank { share.sqrt() } else { share }
}
