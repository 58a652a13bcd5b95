//! Places and sizes in points, x to the right and y down: those of egui's `emath`, which knows no window.

pub use emath::{Pos2 as Point, Rect as Area, Vec2 as Size, pos2 as point, vec2 as size};

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

/// A point of a cubic Bézier curve, from its start at 0 to its end at 1.
pub fn on_curve(points: &[Point; 4], t: f32) -> Point {
    let rest = 1.0 - t;
    let shares = [rest.powi(3), 3.0 * rest * rest * t, 3.0 * rest * t * t, t.powi(3)];
    let add = |sum: Point, (of, share): (&Point, f32)| point(sum.x + share * of.x, sum.y + share * of.y);
    points.iter().zip(shares).fold(point(0.0, 0.0), add)
}
