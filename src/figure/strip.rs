//! A vector as rows of signed bars, for the one context vector of the RNN Encoder-Decoder.

use crate::geometry::{Area, Size, point, size};
use crate::mark::{LinesMark, Mark, Rectangle, Stroke};
use crate::palette::Palette;

/// Where the bars of a vector stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StripLayout {
    pub across: usize,
    pub down: usize,
    /// From one bar to the next, points.
    pub pitch: f32,
    /// From one row to the next, points.
    pub row: f32,
}

/// A bar and the gap behind it are no narrower, so that a projector shows them.
const LEAST_PITCH: f32 = 4.0;
const ROW: (f32, f32) = (14.0, 64.0);

impl StripLayout {
    /// For `count` numbers in `room` points.
    pub fn choose(count: usize, room: impl Into<Size>) -> Self {
        let room = room.into();
        let most_across = ((room.x / LEAST_PITCH) as usize).max(1);
        let down = count.div_ceil(most_across).max(1);
        let across = count.div_ceil(down).max(1);
        let row = (room.y / down as f32).clamp(ROW.0, ROW.1);
        Self { across, down, pitch: room.x / across as f32, row }
    }

    /// The box of number `n`, from the corner of the strip.
    pub fn cell(&self, n: usize) -> Area {
        let (x, y) = (n % self.across, n / self.across);
        Area::from_min_size(point(x as f32 * self.pitch, y as f32 * self.row), size(self.pitch, self.row))
    }

    /// The number under a point.
    pub fn hit(&self, x: f32, y: f32, count: usize) -> Option<usize> {
        if x < 0.0 || y < 0.0 {
            return None;
        }
        let (column, row) = ((x / self.pitch) as usize, (y / self.row) as usize);
        let n = row * self.across + column;
        (column < self.across && n < count).then_some(n)
    }

    /// The bars of `values` in `area`, up for positive and down for negative numbers.
    pub fn marks<'a>(&self, area: &Area, values: &[f32], palette: &Palette) -> Vec<Mark<'a>> {
        let largest = values.iter().fold(1e-6_f32, |most, value| most.max(value.abs()));
        let zero = |row: usize| {
            let y = area.top() + (row as f32 + 0.5) * self.row;
            [point(area.left(), y), point(area.right(), y)]
        };
        let stroke = Stroke { width: 1.0, colour: palette.line };
        let zeros = LinesMark { ends: (0..self.down).map(zero).collect(), stroke, is_crisp: false };
        let gap = (self.pitch * 0.25).min(1.5);
        let bar = |(n, value): (usize, &f32)| {
            let cell = self.cell(n).translate(size(area.left(), area.top()));
            let reach = (value / largest) * (self.row * 0.5 - 2.0);
            let (from, to) = (cell.center().y, cell.center().y - reach);
            let bar = Area::from_min_max(
                point(cell.left(), from.min(to)),
                point(cell.right() - gap, from.max(to).max(from.min(to) + 1.0)),
            );
            Mark::Rect(Rectangle::filled(bar, 0.0, palette.signed(value / largest)))
        };
        std::iter::once(Mark::Lines(zeros)).chain(values.iter().enumerate().map(bar)).collect()
    }
}
