//! Floor 6: places and sizes in points, x to the right and y down. Std only.

use std::ops::Add;

/// A place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f32,
    /// Down.
    pub y: f32,
}

/// A width and a height, or the way from one point to another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// To the right.
    pub x: f32,
    /// Down.
    pub y: f32,
}

/// A rectangle with sides along the axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    /// The top left corner.
    pub min: Point,
    /// The bottom right corner.
    pub max: Point,
}

/// A point.
pub const fn point(x: f32, y: f32) -> Point {
    Point { x, y }
}

/// A size.
pub const fn size(x: f32, y: f32) -> Size {
    Size { x, y }
}

/// The dashes of a line through these points.
pub fn dashed(points: &[Point], dash: f32, gap: f32) -> Vec<[Point; 2]> {
    let mut out = Vec::new();
    // Where in a dash and the gap behind it the line is.
    let mut phase = 0.0;
    for two in points.windows(2) {
        let (from, to) = (two[0], two[1]);
        let length = from.distance(to);
        let at = |way: f32| from + size((to.x - from.x) * way / length, (to.y - from.y) * way / length);
        let mut way = 0.0;
        while way < length {
            let is_dash = phase < dash;
            let rest = if is_dash { dash - phase } else { dash + gap - phase };
            let end = (way + rest.max(1e-3)).min(length);
            if is_dash {
                out.push([at(way), at(end)]);
            }
            phase = if end < length { if is_dash { dash } else { 0.0 } } else { phase + end - way };
            way = end;
        }
    }
    out
}

impl Point {
    /// How far away another point is.
    pub fn distance(self, other: Self) -> f32 {
        (self.x - other.x).hypot(self.y - other.y)
    }
}

impl Add<Size> for Point {
    type Output = Self;

    fn add(self, by: Size) -> Self {
        point(self.x + by.x, self.y + by.y)
    }
}

impl Area {
    /// From its corners.
    pub const fn new(min: Point, max: Point) -> Self {
        Self { min, max }
    }

    /// From its top left corner.
    pub fn at(min: Point, size: Size) -> Self {
        Self { min, max: min + size }
    }

    /// Around a point.
    pub fn around(centre: Point, size: Size) -> Self {
        Self::at(point(centre.x - 0.5 * size.x, centre.y - 0.5 * size.y), size)
    }

    /// Its left edge.
    pub fn left(&self) -> f32 {
        self.min.x
    }

    /// Its right edge.
    pub fn right(&self) -> f32 {
        self.max.x
    }

    /// Its top edge.
    pub fn top(&self) -> f32 {
        self.min.y
    }

    /// Its bottom edge.
    pub fn bottom(&self) -> f32 {
        self.max.y
    }

    /// From its left to its right edge.
    pub fn width(&self) -> f32 {
        self.max.x - self.min.x
    }

    /// From its top to its bottom edge.
    pub fn height(&self) -> f32 {
        self.max.y - self.min.y
    }

    /// Width and height.
    pub fn size(&self) -> Size {
        size(self.width(), self.height())
    }

    /// Its middle.
    pub fn centre(&self) -> Point {
        point(0.5 * (self.min.x + self.max.x), 0.5 * (self.min.y + self.max.y))
    }

    /// What both hold; turned inside out where they do not meet.
    pub fn intersect(&self, other: &Self) -> Self {
        Self {
            min: point(self.min.x.max(other.min.x), self.min.y.max(other.min.y)),
            max: point(self.max.x.min(other.max.x), self.max.y.min(other.max.y)),
        }
    }

    /// The smallest area that holds both.
    pub fn union(&self, other: &Self) -> Self {
        Self {
            min: point(self.min.x.min(other.min.x), self.min.y.min(other.min.y)),
            max: point(self.max.x.max(other.max.x), self.max.y.max(other.max.y)),
        }
    }

    /// Smaller by so much on each side.
    pub fn shrink(&self, by: f32) -> Self {
        Self { min: point(self.min.x + by, self.min.y + by), max: point(self.max.x - by, self.max.y - by) }
    }

    /// The same somewhere else.
    pub fn shift(&self, by: Size) -> Self {
        Self { min: self.min + by, max: self.max + by }
    }

    /// Whether a point lies in it or on its edge.
    pub fn holds(&self, at: Point) -> bool {
        (self.min.x..=self.max.x).contains(&at.x) && (self.min.y..=self.max.y).contains(&at.y)
    }
}
