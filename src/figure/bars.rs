//! Floor 6: a word with a horizontal bar and a number, for the candidates of a position.

use std::borrow::Cow;

use crate::figure::geometry::{Area, point, size};
use crate::figure::mark::{Across, Down, Mark, Rectangle, TextMark};
use crate::figure::palette::Palette;
use crate::figure::sizes::{SPACE_1, TEXT_SMALL};

/// Room for the number at the end, points.
const NUMBER: f32 = 52.0;

/// One bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarMark<'a> {
    /// In front of it.
    pub text: Cow<'a, str>,
    /// Its length, 0..1.
    pub share: f32,
    /// Behind it.
    pub number: Cow<'a, str>,
    /// It is drawn in the accent colour.
    pub is_marked: bool,
}

impl<'a> BarMark<'a> {
    /// In this area; words have `names` points.
    pub fn marks(&self, area: &Area, names: f32, palette: &Palette) -> [Mark<'a>; 4] {
        let (middle, bar) = (area.centre().y, area.left() + names);
        let name = point(bar - SPACE_1, middle);
        let name = TextMark::new(self.text.clone(), name, (Across::Right, Down::Middle), TEXT_SMALL, palette.text);
        let track =
            Area::new(point(bar + SPACE_1, area.top() + 4.0), point(area.right() - NUMBER, area.bottom() - 4.0));
        let length = (track.width() * self.share.clamp(0.0, 1.0)).max(1.0);
        let colour = if self.is_marked { palette.accent } else { palette.weak };
        let end = point(area.right(), middle);
        let number = TextMark::new(self.number.clone(), end, (Across::Right, Down::Middle), TEXT_SMALL, palette.weak);
        [
            Mark::Text(TextMark { room: names, ..name }),
            Mark::Rect(Rectangle::filled(track, 2.0, palette.sunken)),
            Mark::Rect(Rectangle::filled(Area::at(track.min, size(length, track.height())), 2.0, colour)),
            Mark::Text(number),
        ]
    }
}
