//! A word with a horizontal bar and a number, for the candidates of a position.

use std::borrow::Cow;

use crate::geometry::{Area, point, size};
use crate::mark::{Across, Down, Mark, Rectangle, TextMark};
use crate::palette::Palette;
use crate::sizes::{SPACE_1, TEXT_SMALL};

const NUMBER: f32 = 52.0;

/// One bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarMark<'a> {
    pub text: Cow<'a, str>,
    /// Its length, of the room for bars; below 0 it goes to the left.
    pub share: f32,
    /// Where 0 is in that room, 0..1.
    pub zero: f32,
    pub number: Cow<'a, str>,
    /// Room for that at least, points.
    pub room: f32,
    /// It is drawn in the accent colour, unless it is below 0.
    pub is_marked: bool,
}

impl<'a> BarMark<'a> {
    /// In this area; words have `names` points.
    pub fn marks(&self, area: &Area, names: f32, palette: &Palette) -> [Mark<'a>; 5] {
        let (middle, bar) = (area.center().y, area.left() + names);
        let name = point(bar - SPACE_1, middle);
        let name = TextMark::new(self.text.clone(), name, (Across::Right, Down::Middle), TEXT_SMALL, palette.text);
        let track = Area::from_min_max(
            point(bar + SPACE_1, area.top() + 4.0),
            point(area.right() - NUMBER.max(self.room), area.bottom() - 4.0),
        );
        let at = |share: f32| track.left() + track.width() * share.clamp(0.0, 1.0);
        let (zero, tip) = (at(self.zero), at(self.zero + self.share));
        let bar = Area::from_min_max(
            point(zero.min(tip), track.top()),
            point(zero.max(tip).max(zero.min(tip) + 1.0), track.bottom()),
        );
        let colour = match (self.share < 0.0, self.is_marked) {
            (true, _) => palette.warm,
            (false, true) => palette.accent,
            (false, false) => palette.weak,
        };
        let line =
            Area::from_min_size(point(zero, area.top()), size(if self.zero > 0.0 { 1.0 } else { 0.0 }, area.height()));
        let end = point(area.right(), middle);
        let number = TextMark::new(self.number.clone(), end, (Across::Right, Down::Middle), TEXT_SMALL, palette.weak);
        [
            Mark::Text(TextMark { room: names, ..name }),
            Mark::Rect(Rectangle::filled(track, 2.0, palette.sunken)),
            Mark::Rect(Rectangle::filled(bar, 2.0, colour)),
            Mark::Rect(Rectangle::filled(line, 0.0, palette.line)),
            Mark::Text(number),
        ]
    }
}
