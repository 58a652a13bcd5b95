//! A model as a machine: a box for each of its stages with the numbers that it holds, and what flows between.

use std::borrow::Cow;

use crate::geometry::{Area, Point, Size, on_curve, point, size};
use crate::mark::{Across, BorderSide, Curve, Dots, Down, LinesMark, Mark, Rectangle, Stroke, TextMark};
use crate::palette::{Palette, Rgba};
use crate::sizes::{SPACE_1, SPACE_2, TEXT_BODY, TEXT_SMALL};
use crate::{equation::typeset, measure::TextMeasure};
use engine::lang;
use engine::models::anatomy::{Arrow, Diagram, Flows, MachineSpan, MachineStage, Quantity};

const GAP: (f32, f32) = (0.16, 0.24);
/// Numbers in a line of a box at most; of vectors too long for their lines it shows every second, third and so on.
const ACROSS: usize = 36;
const DOWN: usize = 10;
const LEAST_SQUARE: f32 = 3.5;
/// Height of the line under a bar, points.
const UNDER: f32 = 1.5;
const WORDS: usize = 5;
const USUAL: (f32, f32) = (170.0, 95.0);
const MOST_GROWN: f32 = 2.2;
const LEAST_TITLE: (f32, f32) = (0.85, 0.6);
const LEAST_ROOM: f32 = 2.0;
const LEAST_SYMBOL: f32 = 0.6;
const TEXT_SIZES: [f32; 5] = [1.3, 1.15, 1.0, 0.85, 0.7];
const LARGE: f32 = 18.0;
const ROUND: f32 = 6.0;
const HEAD: f32 = 5.0;

/// What a box shows of its numbers.
#[derive(Clone, Debug, Default)]
pub enum Held<'a> {
    #[default]
    Nothing,
    /// Vectors, as rows of coloured squares.
    Numbers(Vec<&'a Quantity>),
    /// A share of each source word, as upright bars.
    Shares(&'a [f32]),
    Words(Vec<(Cow<'a, str>, f32)>),
    Text(Cow<'a, str>),
    Word(Cow<'a, str>),
    Hidden,
}

/// A drawing of a model.
pub struct MachineDrawing<'a> {
    pub machine: &'a Diagram,
    /// What each box holds, in the order of the stages.
    pub held: Vec<Held<'a>>,
    /// Which boxes have their numbers, in the same order; others are faint.
    pub is_done: Vec<bool>,
    /// It is the first step: nothing comes from one before.
    pub is_first: bool,
    /// The box that is spoken of; arrows into it stand out.
    pub lit: Option<&'a str>,
    /// The box under the mouse or the keyboard.
    pub over: Option<&'a str>,
    pub palette: &'a Palette,
    pub measure: &'a dyn TextMeasure,
}

fn grid(machine: &Diagram, area: &Area) -> (Size, Size) {
    let most = |of: fn(&MachineStage) -> usize| machine.stages.iter().map(of).max().unwrap_or(0) + 1;
    let (columns, rows) = (most(|stage| stage.place.0), most(|stage| stage.place.1));
    let pitch = size(area.width() / columns as f32, area.height() / rows as f32);
    (pitch, size((pitch.x * GAP.0).min(34.0), (pitch.y * GAP.1).min(30.0)))
}

/// Where the boxes of a machine stand, in the order of its stages.
pub fn places(machine: &Diagram, area: &Area) -> Vec<Area> {
    let (pitch, gap) = grid(machine, area);
    let place = |stage: &MachineStage| {
        let (column, row) = stage.place;
        let corner = point(area.left() + column as f32 * pitch.x, area.top() + row as f32 * pitch.y);
        Area::from_min_size(
            point(corner.x + 0.5 * gap.x, corner.y + 0.5 * gap.y),
            size((pitch.x - gap.x).max(1.0), (pitch.y - gap.y).max(1.0)),
        )
    };
    machine.stages.iter().map(place).collect()
}

impl MachineDrawing<'_> {
    /// Its marks in an area, from the back to the front.
    pub fn marks(&self, area: &Area) -> Vec<Mark<'static>> {
        let places = places(self.machine, area);
        let gap = grid(self.machine, area).1;
        let mut marks = Vec::new();
        let is_lit = |arrow: &Arrow| self.lit == Some(arrow.to);
        let mut arrows: Vec<(usize, &Arrow)> = self.arrows().enumerate().collect();
        arrows.sort_by_key(|(_, arrow)| is_lit(arrow));
        for (n, arrow) in arrows {
            self.arrow((n, arrow), (&places, gap), is_lit(arrow), &mut marks);
        }
        for (n, (stage, place)) in self.machine.stages.iter().zip(&places).enumerate() {
            self.stage(n, stage, place, &mut marks);
        }
        marks
    }

    fn arrow(&self, (n, arrow): (usize, &Arrow), room: (&[Area], Size), is_lit: bool, marks: &mut Vec<Mark<'static>>) {
        let Some(way) = self.way((n, arrow), room) else { return };
        let palette = self.palette;
        let colour = match (is_lit, arrow.flows) {
            (true, _) => palette.accent,
            (false, Flows::FromBefore) => palette.weak.fade(0.45),
            (false, _) => palette.weak.fade(0.8),
        };
        let stroke = Stroke { width: if is_lit { 2.0 } else { 1.2 }, colour };
        let (points, way) = match way {
            Way::Straight(points, way) => (points, way),
            Way::Around(corners) => turned(&corners, stroke, marks),
        };
        marks.push(Mark::Curve(Curve { points, stroke }));
        let (tip, back, side) = (points[3], size(-way.0 * HEAD, -way.1 * HEAD), size(way.1 * HEAD, way.0 * HEAD));
        let barb = |sign: f32| [tip + back + size(0.6 * sign * side.x, 0.6 * sign * side.y), tip];
        marks.push(Mark::Lines(LinesMark { ends: vec![barb(1.0), barb(-1.0)], stroke, is_crisp: false }));
    }

    /// The way of an arrow, round the boxes between; `None` where one of its ends is not drawn.
    fn way(&self, (n, arrow): (usize, &Arrow), (places, gap): (&[Area], Size)) -> Option<Way> {
        let at = |key: &str| self.machine.stages.iter().position(|stage| stage.key == key);
        let (from, to) = (at(arrow.from)?, at(arrow.to)?);
        let (points, way) = path(&places[from], &places[to]);
        let others = || places.iter().enumerate().filter(|(n, _)| ![from, to].contains(n)).map(|(_, place)| place);
        if others().any(|place| crosses(&points, place)) {
            return Some(Way::Around(around(&places[from], &places[to], gap, n)));
        }
        Some(Way::Straight(points, way))
    }

    /// Where something is that has gone a `share` of each arrow into a box, with the box that it comes from.
    pub fn on_the_way(&self, area: &Area, to: &str, share: f32) -> Vec<(&'static str, Point)> {
        let (places, gap) = (places(self.machine, area), grid(self.machine, area).1);
        let arrows = self.arrows().enumerate().filter(|(_, arrow)| arrow.to == to);
        let at = |(n, arrow): (usize, &Arrow)| Some((arrow.from, self.way((n, arrow), (&places, gap))?.at(share)));
        arrows.filter_map(at).collect()
    }

    fn arrows(&self) -> impl Iterator<Item = &Arrow> {
        self.machine.arrows.iter().filter(|arrow| match arrow.flows {
            Flows::Always => true,
            Flows::FromBefore => !self.is_first,
            Flows::AtFirst => self.is_first,
        })
    }

    fn stage(&self, n: usize, stage: &MachineStage, place: &Area, marks: &mut Vec<Mark<'static>>) {
        let palette = self.palette;
        let is_done = self.is_done.get(n).copied().unwrap_or(true);
        let (is_lit, is_over) = (self.lit == Some(stage.key), self.over == Some(stage.key));
        let border = if is_lit || is_over { palette.accent } else { palette.line };
        let border = Stroke { width: if is_lit { 2.0 } else { 1.0 }, colour: border };
        let fill = if is_lit { palette.accent_soft } else { palette.raised };
        marks.push(Mark::Rect(Rectangle { area: *place, radius: 5.0, fill, border, side: BorderSide::Inside }));
        let (inner, grown) = (place.shrink(SPACE_2), grown(place));
        let lines = self.head(stage, &inner, grown, if is_done { palette.text } else { palette.weak }, marks);
        let head = lines as f32 * self.measure.height(grown * TEXT_SMALL);
        let below = Area::from_min_max(point(inner.left(), inner.top() + head + SPACE_1), inner.max);
        if is_done && below.height() >= 4.0 && below.width() >= 8.0 {
            self.held(self.held.get(n).unwrap_or(&Held::Nothing), &below, grown, marks);
        }
    }

    fn head(&self, stage: &MachineStage, inner: &Area, grown: f32, ink: Rgba, marks: &mut Vec<Mark<'static>>) -> usize {
        let small = grown * TEXT_SMALL;
        let line = self.measure.height(small);
        let set = |size: f32| typeset(stage.symbol, point(0.0, 0.0), size, ink, self.measure);
        let (mut symbol, mut width) = set(grown * TEXT_BODY);
        if width > inner.width() {
            (symbol, width) = set((inner.width() / width).max(LEAST_SYMBOL) * grown * TEXT_BODY);
        }
        let wide = self.measure.width(lang::text(stage.title), small).max(1.0);
        let is_below = inner.width() - width - SPACE_2 < LEAST_TITLE.0 * wide && inner.height() >= 4.0 * line;
        let left = inner.width() - SPACE_2 - LEAST_TITLE.1 * wide;
        if !is_below && left < width {
            (symbol, width) = set((left / width).max(LEAST_SYMBOL) * grown * TEXT_BODY);
        }
        // A symbol of many letters that would take the room of the title is left out.
        let is_alone = !is_below && width > left.max(0.5 * inner.width());
        let lines = if is_below { 2 } else { 1 };
        let room = if is_below || is_alone { inner.width() } else { inner.width() - width - SPACE_2 };
        let middle = point(inner.left(), inner.top() + 0.5 * line);
        if room >= LEAST_ROOM * line {
            let small = (room / wide).clamp(LEAST_TITLE.1, 1.0) * small;
            let title =
                TextMark::new(lang::text(stage.title), middle, (Across::Left, Down::Middle), small, self.palette.weak);
            marks.push(Mark::Text(TextMark { room, ..title }));
        }
        if !is_alone {
            let down = middle.y + (lines - 1) as f32 * line;
            for mark in &mut symbol {
                mark.shift(size(inner.right() - width, down));
            }
            marks.extend(symbol);
        }
        lines
    }

    fn held(&self, held: &Held<'_>, area: &Area, grown: f32, marks: &mut Vec<Mark<'static>>) {
        let palette = self.palette;
        match held {
            Held::Nothing => {}
            Held::Numbers(quantities) => marks.push(squares(quantities, area, palette)),
            Held::Shares(shares) => bars(shares, area, palette, marks),
            Held::Words(words) => self.words(words, area, grown, marks),
            Held::Text(text) => {
                let (size, lines) = self.fitting(text, area, grown);
                let text = Cow::Owned(text.clone().into_owned());
                let text = TextMark::new(text, area.min, (Across::Left, Down::Top), size, palette.text);
                marks.push(Mark::Text(TextMark { room: area.width(), lines, ..text }));
            }
            Held::Word(word) => {
                let size = self.narrowed(word, grown * LARGE, area.width());
                let word = Cow::Owned(word.clone().into_owned());
                let text = TextMark::new(word, area.center(), (Across::Centre, Down::Middle), size, palette.text);
                marks.push(Mark::Text(TextMark { room: area.width(), ..text }));
            }
            Held::Hidden => {
                let (at, size) = (area.center(), grown * LARGE);
                marks.push(Mark::Text(TextMark::new("?", at, (Across::Centre, Down::Middle), size, palette.accent)));
            }
        }
    }

    fn narrowed(&self, word: &str, size: f32, room: f32) -> f32 {
        let wide = self.measure.width(word, size).max(1.0);
        size * (room / wide).clamp((0.7 * TEXT_SMALL / size).min(1.0), 1.0)
    }

    fn fitting(&self, text: &str, area: &Area, grown: f32) -> (f32, usize) {
        let sizes = TEXT_SIZES.map(|share| share * grown * TEXT_SMALL);
        let lines = |size: f32| ((area.height() / self.measure.height(size).max(1.0)) as usize).max(1);
        let fits = |size: &f32| self.is_wrapped(text, *size, area.width(), lines(*size));
        let size = sizes.into_iter().find(fits).unwrap_or(sizes[sizes.len() - 1]);
        (size, lines(size))
    }

    fn is_wrapped(&self, text: &str, size: f32, room: f32, most: usize) -> bool {
        let (space, mut lines, mut x) = (self.measure.width(" ", size), 1, 0.0);
        for word in text.split_whitespace() {
            let wide = self.measure.width(word, size);
            if wide > room {
                return false;
            }
            if x > 0.0 && x + wide > room {
                (lines, x) = (lines + 1, 0.0);
            }
            if lines > most {
                return false;
            }
            x += wide + space;
        }
        true
    }

    fn words(&self, words: &[(Cow<'_, str>, f32)], area: &Area, grown: f32, marks: &mut Vec<Mark<'static>>) {
        let small = grown * TEXT_SMALL;
        let line = self.measure.height(small);
        let count = ((area.height() / line) as usize).clamp(1, WORDS);
        for (n, (word, share)) in words.iter().take(count).enumerate() {
            let top = area.top() + n as f32 * line;
            let bar =
                Area::from_min_size(point(area.left(), top), size(area.width() * share.clamp(0.0, 1.0), line - 1.0));
            marks.push(Mark::Rect(Rectangle::filled(bar, 2.0, self.palette.accent_soft)));
            // an open box has the colour of the bar itself
            let under = Area::from_min_max(point(bar.left(), bar.bottom() - UNDER), bar.max);
            marks.push(Mark::Rect(Rectangle::filled(under, 0.0, self.palette.accent)));
            let at = point(area.left() + 2.0, top + 0.5 * line);
            let size = self.narrowed(word, small, area.width() - 2.0);
            let text = Cow::Owned(word.clone().into_owned());
            let text = TextMark::new(text, at, (Across::Left, Down::Middle), size, self.palette.text);
            marks.push(Mark::Text(TextMark { room: area.width(), ..text }));
        }
    }
}

fn grown(place: &Area) -> f32 {
    (place.width() / USUAL.0).min(place.height() / USUAL.1).clamp(1.0, MOST_GROWN)
}

fn path(from: &Area, to: &Area) -> ([Point; 4], (f32, f32)) {
    let (a, b) = (from.center(), to.center());
    let is_beside = from.bottom() > to.top() && to.bottom() > from.top();
    if is_beside {
        let sign = if b.x > a.x { 1.0 } else { -1.0 };
        let start = point(if sign > 0.0 { from.right() } else { from.left() }, a.y);
        let end = point(if sign > 0.0 { to.left() } else { to.right() }, b.y);
        let bend = 0.5 * (end.x - start.x);
        return ([start, point(start.x + bend, start.y), point(end.x - bend, end.y), end], (sign, 0.0));
    }
    let sign = if b.y > a.y { 1.0 } else { -1.0 };
    // Arrows from one side arrive beside each other.
    let lean = (0.3 * (a.x - b.x) / to.width().max(1.0)).clamp(-0.35, 0.35) * to.width();
    let start = point(a.x - 0.5 * lean, if sign > 0.0 { from.bottom() } else { from.top() });
    let end = point(b.x + lean, if sign > 0.0 { to.top() } else { to.bottom() });
    let bend = 0.5 * (end.y - start.y);
    ([start, point(start.x, start.y + bend), point(end.x, end.y - bend), end], (0.0, sign))
}

enum Way {
    Straight([Point; 4], (f32, f32)),
    Around(Vec<Point>),
}

impl Way {
    fn at(&self, share: f32) -> Point {
        match self {
            Self::Straight(points, _) => on_curve(points, share),
            Self::Around(corners) => {
                let long = |pair: &[Point]| (pair[1].x - pair[0].x).hypot(pair[1].y - pair[0].y);
                let mut left = share * corners.windows(2).map(long).sum::<f32>();
                for pair in corners.windows(2) {
                    let long = long(pair);
                    if left <= long && long > 0.0 {
                        let share = left / long;
                        let along = |from: f32, to: f32| from + share * (to - from);
                        return point(along(pair[0].x, pair[1].x), along(pair[0].y, pair[1].y));
                    }
                    left -= long;
                }
                corners[corners.len() - 1]
            }
        }
    }
}

fn crosses(points: &[Point; 4], place: &Area) -> bool {
    (1..32).map(|n| on_curve(points, n as f32 / 32.0)).any(|at| {
        (place.left() - 1.0..place.right() + 1.0).contains(&at.x)
            && (place.top() - 1.0..place.bottom() + 1.0).contains(&at.y)
    })
}

fn around(from: &Area, to: &Area, gap: Size, n: usize) -> Vec<Point> {
    let lane = (n % 5) as f32 - 2.0;
    let (a, b) = (from.center(), to.center());
    let (aside, over) = (size(0.09 * gap.x * lane, 0.09 * gap.y * lane), 0.5 * gap.y);
    let lean = (0.3 * (a.x - b.x) / to.width().max(1.0)).clamp(-0.35, 0.35) * to.width();
    let (out, into) = (a.x - 0.5 * lean + aside.x, b.x + lean + aside.x);
    let is_down = to.top() >= from.bottom();
    // those of one row go over it
    let (first, start) = if is_down { (from.bottom() + over, from.bottom()) } else { (from.top() - over, from.top()) };
    let is_up = to.bottom() <= from.top();
    let (last, end) = if is_up { (to.bottom() + over, to.bottom()) } else { (to.top() - over, to.top()) };
    let (first, last) = (first + aside.y, last + aside.y);
    if (first - last).abs() < over {
        return vec![point(out, start), point(out, first), point(into, first), point(into, end)];
    }
    let beside = if a.x > b.x { to.right() + 0.5 * gap.x } else { to.left() - 0.5 * gap.x } + aside.x;
    let corners = [(out, start), (out, first), (beside, first), (beside, last), (into, last), (into, end)];
    corners.map(|(x, y)| point(x, y)).to_vec()
}

fn turned(corners: &[Point], stroke: Stroke, marks: &mut Vec<Mark<'static>>) -> ([Point; 4], (f32, f32)) {
    let towards = |from: Point, to: Point, by: f32| {
        let (x, y) = (to.x - from.x, to.y - from.y);
        let share = (by / x.hypot(y).max(1e-3)).min(0.5);
        point(from.x + share * x, from.y + share * y)
    };
    let mut from = corners[0];
    let mut ends = Vec::new();
    for three in corners.windows(3) {
        let (before, after) = (towards(three[1], three[0], ROUND), towards(three[1], three[2], ROUND));
        ends.push([from, before]);
        marks.push(Mark::Curve(Curve { points: [before, three[1], three[1], after], stroke }));
        from = after;
    }
    marks.push(Mark::Lines(LinesMark { ends, stroke, is_crisp: false }));
    let tip = corners[corners.len() - 1];
    ([from, from, tip, tip], (0.0, (tip.y - from.y).signum()))
}

fn squares(quantities: &[&Quantity], area: &Area, palette: &Palette) -> Mark<'static> {
    let rows: Vec<(&[f32], MachineSpan)> = quantities
        .iter()
        .flat_map(|quantity| (0..quantity.count()).map(move |j| (quantity.row(j), quantity.span)))
        .collect();
    let longest = rows.iter().map(|(row, _)| row.len()).max().unwrap_or(1).max(1);
    let across = longest.min(ACROSS);
    let most = ((area.height() / LEAST_SQUARE) as usize).clamp(1, DOWN);
    let shown = rows.len().clamp(1, most);
    // A lone vector fills the box line by line.
    let lines = (most / shown).clamp(1, longest.div_ceil(across));
    let down = shown * lines;
    let pitch = (area.width() / across as f32).min(area.height() / down as f32);
    let mut dots = Vec::with_capacity(down * across);
    for n in 0..shown.min(rows.len()) {
        let (row, span) = rows[n * rows.len() / shown];
        let largest = row.iter().fold(1e-6_f32, |most, value| most.max(value.abs()));
        let count = (across * lines).min(row.len());
        for k in 0..count {
            let (column, line) = (k % across, n * lines + k / across);
            let at = point(area.left() + (column as f32 + 0.5) * pitch, area.top() + (line as f32 + 0.5) * pitch);
            dots.push((at, colour(row[k * row.len() / count], largest, span, palette)));
        }
    }
    Mark::Dots(Dots { dots, radius: 0.5 * pitch - 0.3, border: Stroke::default(), is_square: true })
}

/// The colour of a number: of gates from nothing to full, of others by sign and size.
pub fn colour(value: f32, largest: f32, span: MachineSpan, palette: &Palette) -> Rgba {
    match span {
        MachineSpan::Gate => palette.accent.fade(value.clamp(0.0, 1.0)),
        MachineSpan::Signed => palette.signed(value),
        MachineSpan::Free => palette.signed(value / largest),
    }
}

fn bars(shares: &[f32], area: &Area, palette: &Palette, marks: &mut Vec<Mark<'static>>) {
    let finite = || shares.iter().copied().filter(|share| share.is_finite());
    let (low, high) = (finite().fold(0.0_f32, f32::min), finite().fold(1e-6_f32, f32::max));
    let pitch = area.width() / shares.len().max(1) as f32;
    let y = |value: f32| area.bottom() - (value - low) / (high - low) * area.height();
    for (j, share) in shares.iter().enumerate().filter(|(_, share)| share.is_finite()) {
        let (top, foot) = (y(share.max(0.0)), y(share.min(0.0)));
        let left = area.left() + j as f32 * pitch;
        let bar = Area::from_min_max(point(left, top.min(foot - 0.5)), point(left + (pitch - 1.0).max(0.5), foot));
        let colour = if *share < 0.0 { palette.warm } else { palette.accent };
        marks.push(Mark::Rect(Rectangle::filled(bar, 0.0, colour)));
    }
    let zero = y(0.0);
    let stroke = Stroke { width: 1.0, colour: palette.line };
    let ends = vec![[point(area.left(), zero), point(area.right(), zero)]];
    marks.push(Mark::Lines(LinesMark { ends, stroke, is_crisp: true }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{measure::SansSerif, palette::LIGHT};
    use engine::models::anatomy::Layers;

    #[test]
    fn bars_below_zero_are_orange_as_in_the_open_box() {
        let mut marks = Vec::new();
        bars(&[1.0, -2.0], &Area::from_min_size(point(0.0, 0.0), size(20.0, 30.0)), &LIGHT, &mut marks);
        let colour = |mark: &Mark<'_>| if let Mark::Rect(bar) = mark { Some(bar.fill) } else { None };
        let colours: Vec<_> = marks.iter().filter_map(colour).collect();
        assert_eq!(colours, [LIGHT.accent, LIGHT.warm]);
    }

    #[test]
    fn a_box_has_its_symbol_however_small_it_is() {
        let stage = MachineStage {
            key: "h",
            title: "Annotations of the source",
            symbol: "h_j",
            place: (0, 0),
            about: "",
            equations: &[],
            weights: &[],
            shows: &[],
            reads: &[],
            recalls: &[],
            starts: &[],
            layers: Layers::Lowest,
        };
        let machine = Diagram { stages: vec![stage], ..Diagram::default() };
        let drawing = MachineDrawing {
            machine: &machine,
            held: Vec::new(),
            is_done: vec![true],
            is_first: true,
            lit: None,
            over: None,
            palette: &LIGHT,
            measure: &SansSerif,
        };
        for (wide, high) in [(400.0, 200.0), (150.0, 60.0), (110.0, 50.0), (60.0, 40.0), (36.0, 30.0)] {
            let texts: Vec<_> = drawing.marks(&Area::from_min_size(point(0.0, 0.0), size(wide, high)));
            let texts = texts.iter().filter_map(|mark| if let Mark::Text(text) = mark { Some(text) } else { None });
            let texts: Vec<_> = texts.collect();
            assert!(texts.iter().any(|mark| mark.text == "h"), "{wide} by {high}: {texts:?}");
            assert!(texts.iter().all(|mark| mark.at.x >= 0.0 && mark.at.x <= wide), "{wide} by {high}: {texts:?}");
        }
    }
}
