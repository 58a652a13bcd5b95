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
