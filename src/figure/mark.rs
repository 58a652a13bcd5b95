//! The marks that figures consist of. A painter handles every one; there is nothing else to paint.

use std::{borrow::Cow, ops::Range};

use crate::geometry::{Area, Point, Size};
use crate::palette::{ColourMap, Rgba};
use engine::analysis::alignment::Alignment;

/// Something that is painted.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark<'a> {
    /// A line of text, or a few.
    Text(TextMark<'a>),
    /// Words side by side, each with a colour behind it.
    Words(WordsMark<'a>),
    Rect(Rectangle),
    Lines(LinesMark),
    Curve(Curve),
    Polygon(Polygon),
    Dots(Dots),
    Image(Image<'a>),
}

impl Mark<'_> {
    /// It with words of its own, so that it can be kept; `None` of numbers as cells, which stay where they are.
    pub fn kept(self) -> Option<Mark<'static>> {
        Some(match self {
            Self::Text(of) => {
                let TextMark { text, at, anchor, size, colour, angle, room, lines, is_underlined } = of;
                let text = Cow::Owned(text.into_owned());
                Mark::Text(TextMark { text, at, anchor, size, colour, angle, room, lines, is_underlined })
            }
            Self::Words(of) => {
                let WordsMark { words, faded, at, size, colour, gap, room } = of;
                let words = words.into_iter().map(|(word, back)| (Cow::Owned(word.into_owned()), back)).collect();
                Mark::Words(WordsMark { words, faded, at, size, colour, gap, room })
            }
            Self::Rect(of) => Mark::Rect(of),
            Self::Lines(of) => Mark::Lines(of),
            Self::Curve(of) => Mark::Curve(of),
            Self::Polygon(of) => Mark::Polygon(of),
            Self::Dots(of) => Mark::Dots(of),
            Self::Image(_) => return None,
        })
    }

    pub fn shift(&mut self, by: Size) {
        match self {
            Self::Text(of) => of.at += by,
            Self::Words(of) => of.at += by,
            Self::Rect(of) => of.area = of.area.translate(by),
            Self::Lines(of) => of.ends.iter_mut().flatten().for_each(|end| *end += by),
            Self::Curve(of) => of.points = of.points.map(|point| point + by),
            Self::Polygon(of) => of.corners.iter_mut().for_each(|corner| *corner += by),
            Self::Dots(of) => of.dots.iter_mut().for_each(|(at, _)| *at += by),
            Self::Image(of) => of.area = of.area.translate(by),
        }
    }
}

/// Where a text stands beside its point, from left to right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Across {
    #[default]
    Left,
    Centre,
    Right,
}

/// Where a text stands beside its point, from top to bottom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Down {
    Top,
    #[default]
    Middle,
    Bottom,
}

/// A text.
#[derive(Clone, Debug, PartialEq)]
pub struct TextMark<'a> {
    /// What it says, in the order of reading.
    pub text: Cow<'a, str>,
    pub at: Point,
    pub anchor: (Across, Down),
    pub size: f32,
    pub colour: Rgba,
    /// It rises to the right by so many radians, around its point.
    pub angle: f32,
    /// It is cut with an ellipsis at this width, points.
    pub room: f32,
    /// Lines that it may be broken into.
    pub lines: usize,
    pub is_underlined: bool,
}

impl<'a> TextMark<'a> {
    /// One line as wide as it is.
    pub fn new(text: impl Into<Cow<'a, str>>, at: Point, anchor: (Across, Down), size: f32, colour: Rgba) -> Self {
        let (text, angle, room, lines, is_underlined) = (text.into(), 0.0, f32::INFINITY, 1, false);
        Self { text, at, anchor, size, colour, angle, room, lines, is_underlined }
    }
}

/// Words in one line, cut at `room`.
#[derive(Clone, Debug, PartialEq)]
pub struct WordsMark<'a> {
    /// What each says, and the colour behind it.
    pub words: Vec<(Cow<'a, str>, Rgba)>,
    /// How many of the first have letters of another colour.
    pub faded: (usize, Rgba),
    /// The middle of the left end.
    pub at: Point,
    pub size: f32,
    pub colour: Rgba,
    pub gap: f32,
    pub room: f32,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stroke {
    pub width: f32,
    pub colour: Rgba,
}

/// On which side of the edge a border lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BorderSide {
    Inside,
    #[default]
    Outside,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    pub area: Area,
    pub radius: f32,
    pub fill: Rgba,
    /// Its border, of width 0 where there is none.
    pub border: Stroke,
    pub side: BorderSide,
}

impl Rectangle {
    pub fn filled(area: Area, radius: f32, fill: Rgba) -> Self {
        Self { area, radius, fill, border: Stroke::default(), side: BorderSide::default() }
    }

    pub fn framed(area: Area, radius: f32, border: Stroke, side: BorderSide) -> Self {
        Self { area, radius, fill: Rgba::default(), border, side }
    }

    /// Whether there is a border to see.
    pub fn has_border(&self) -> bool {
        self.border.width > 0.0 && !self.border.colour.is_clear()
    }

    /// Area and radius for painters whose strokes lie on both sides of their path.
    pub fn path(&self) -> (Area, f32) {
        let half = if self.has_border() { 0.5 * self.border.width } else { 0.0 };
        match self.side {
            BorderSide::Inside => (self.area.shrink(half), (self.radius - half).max(0.0)),
            BorderSide::Outside => (self.area.shrink(-half), if self.radius > 0.0 { self.radius + half } else { 0.0 }),
        }
    }
}

/// Straight lines, each from one point to another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinesMark {
    pub ends: Vec<[Point; 2]>,
    pub stroke: Stroke,
    /// They lie along the axes; a painter of pixels draws them as whole pixels.
    pub is_crisp: bool,
}

/// A curve between two points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Curve {
    /// Its start, the two points that bend it, its end.
    pub points: [Point; 4],
    pub stroke: Stroke,
}

/// A closed shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polygon {
    pub corners: Vec<Point>,
    pub fill: Rgba,
    pub stroke: Stroke,
}

/// Points of one size, each with its colour.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dots {
    pub dots: Vec<(Point, Rgba)>,
    /// From the middle to the edge.
    pub radius: f32,
    /// Around each, of width 0 where there is none; its middle lies on the edge.
    pub border: Stroke,
    /// They are squares, which thousands of small ones should be.
    pub is_square: bool,
}

impl Dots {
    pub fn round(dots: Vec<(Point, Rgba)>, radius: f32) -> Self {
        Self { dots, radius, ..Self::default() }
    }
}

/// Cells that fill an area without gaps or smoothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Image<'a> {
    pub area: Area,
    pub cells: Cells<'a>,
}

/// Neighbours of one colour in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellRun {
    pub row: usize,
    pub columns: Range<usize>,
    pub colour: Rgba,
}

impl Image<'_> {
    /// All cells, neighbours of one colour in a row as one, row after row from the left.
    pub fn runs(&self) -> Vec<CellRun> {
        let Cells { numbers, .. } = self.cells;
        let ends = self.cells.scale.ends(numbers);
        let mut runs = Vec::new();
        for row in 0..numbers.rows() {
            let colours: Vec<Rgba> = self.cells.pixels(ends, row..row + 1, 0..numbers.columns()).collect();
            let mut from = 0;
            for run in colours.chunk_by(|a, b| a == b) {
                runs.push(CellRun { row, columns: from..from + run.len(), colour: run[0] });
                from += run.len();
            }
        }
        runs
    }
}

/// Which numbers the ends of a colour map stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Scale {
    #[default]
    Unit,
    /// The least and the greatest number.
    Range,
    /// The number furthest from 0, below and above; 0 is in the middle.
    Signed,
    /// These, so that several pictures have one legend.
    Between(f32, f32),
}

impl Scale {
    /// The two ends for these numbers.
    pub fn ends(self, numbers: &Alignment) -> (f32, f32) {
        match self {
            Self::Unit => (0.0, 1.0),
            Self::Between(low, high) => (low, high),
            Self::Range | Self::Signed => self.of_range(numbers.range()),
        }
    }

    /// The two ends for numbers of this range.
    pub fn of_range(self, range: Option<(f32, f32)>) -> (f32, f32) {
        match self {
            Self::Unit => (0.0, 1.0),
            Self::Between(low, high) => (low, high),
            Self::Range => range.unwrap_or((0.0, 1.0)),
            Self::Signed => {
                let (low, high) = range.unwrap_or((0.0, 0.0));
                let most = high.max(-low).max(f32::MIN_POSITIVE);
                (-most, most)
            }
        }
    }

    /// What a legend of numbers of this range shows: the share of the colour map where it begins, and its ends.
    pub fn legend(self, range: Option<(f32, f32)>) -> (f32, (f32, f32)) {
        let (low, high) = self.of_range(range);
        let is_positive = range.is_none_or(|(least, _)| least >= 0.0);
        if self == Self::Signed && is_positive { (0.5, (0.0, high)) } else { (0.0, (low, high)) }
    }
}

/// Numbers and how they become colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cells<'a> {
    pub numbers: &'a Alignment,
    pub map: &'static ColourMap,
    /// What the ends of the map stand for.
    pub scale: Scale,
    /// Another one whenever the numbers are others; pictures may be kept by it.
    pub revision: u64,
}

impl Cells<'_> {
    /// The colours of these rows and columns, row after row.
    pub fn pixels(
        &self, (low, high): (f32, f32), rows: Range<usize>, columns: Range<usize>,
    ) -> impl Iterator<Item = Rgba> {
        let span = if high > low { high - low } else { 1.0 };
        let (numbers, map) = (self.numbers, self.map);
        let cells = rows.flat_map(move |i| numbers.row(i).get(columns.clone()).unwrap_or(&[]));
        cells.map(move |value| map.colour((value - low) / span))
    }
}
