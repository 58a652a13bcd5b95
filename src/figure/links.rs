//! Alpha_ij as links between two lines of words: source words above, target words below.

use std::ops::Range;

use crate::geometry::{Area, Point, Size, on_curve, point, size};
use crate::mark::{Across, BorderSide, Curve, Down, LinesMark, Mark, Rectangle, Stroke, TextMark};
use crate::palette::{Palette, Rgba};
use crate::sizes::{LABEL_MAX, SPACE_1, SPACE_2, TEXT_BODY};
use crate::{Figure, label::Label, measure::TextMeasure};
use engine::analysis::alignment::Alignment;
use engine::text::links::{Link, Links};

const GAPS: (f32, f32) = (SPACE_2, 36.0);
const GAP_SHARE: f32 = 0.05;
const LEAST_RISE: f32 = 48.0;
const MOST_RISE: f32 = 120.0;
const BETWEEN: f32 = 16.0;
/// Width of a link with alpha 1, and of the thinnest, points.
const WIDTHS: (f32, f32) = (6.0, 0.5);
/// Width of all links where alpha is shown by opacity, points.
const EVEN_WIDTH: f32 = 2.0;
const PLATE: f32 = 0.8;
const OUTLINE: f32 = 1.5;
const DASHES: usize = 16;
const ASIDE: f32 = 0.2;

/// How alpha is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// By the width of a link.
    #[default]
    Width,
    Opacity,
}

/// A word of one of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkedWord {
    Source(usize),
    Target(usize),
}

/// What is to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct LinksFigure<'a> {
    pub source: &'a [Label<'a>],
    pub target: &'a [Label<'a>],
    pub alpha: &'a Alignment,
    /// Links with less alpha are left out.
    pub threshold: f32,
    /// How alpha is seen.
    pub weight: Weight,
    /// Only the links of this word stand out, such as the one under the mouse.
    pub marked: Option<LinkedWord>,
    pub palette: &'a Palette,
}

/// Where the words stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinksLayout {
    /// The boxes of the source words.
    pub source: Vec<Area>,
    /// The boxes of the target words.
    pub target: Vec<Area>,
    /// As large as was asked for, or larger where the words need it.
    pub size: Size,
}

impl LinksLayout {
    /// Both lines in the middle of `room`, the one at its top, the other at its foot.
    pub fn choose(links: &LinksFigure<'_>, room: impl Into<Size>, measure: &dyn TextMeasure) -> Self {
        let room = room.into();
        let height = measure.height(TEXT_BODY) + SPACE_1;
        let widths = |labels: &[Label<'_>]| -> Vec<f32> {
            labels.iter().map(|label| measure.width(&label.text, TEXT_BODY).min(LABEL_MAX) + SPACE_2).collect()
        };
        let (source, target) = (widths(links.source), widths(links.target));
        let least = |line: &[f32]| line.iter().sum::<f32>() + GAPS.0 * line.len().saturating_sub(1) as f32;
        let size = size(room.x.max(least(&source)).max(least(&target)), room.y.max(2.0 * height + LEAST_RISE));
        let (top, foot) = (0.0, size.y - height);
        Self { source: line(&source, top, height, size.x), target: line(&target, foot, height, size.x), size }
    }

    /// Like an interlinear gloss: as [`LinksLayout::choose`] where both lines fit in `room`, else one pair of lines below
    /// the other, each target word under the source words that it looks at most, as far as their order allows.
    pub fn glossed(links: &LinksFigure<'_>, room: impl Into<Size>, measure: &dyn TextMeasure) -> Self {
        let room = room.into();
        let whole = Self::choose(links, room, measure);
        if whole.size.x <= room.x {
            return whole;
        }
        let widths = |areas: &[Area]| -> Vec<f32> { areas.iter().map(|area| area.size().x).collect() };
        let (source, target) = (widths(&whole.source), widths(&whole.target));
        let blocks = blocks(links, &source, &target, room.x);
        let height = measure.height(TEXT_BODY) + SPACE_1;
        let least = 2.0 * height + LEAST_RISE + BETWEEN;
        let tall = (room.y / blocks.len() as f32).clamp(least, least + MOST_RISE - LEAST_RISE);
        let mut layout = Self { size: size(room.x, tall * blocks.len() as f32 - BETWEEN), ..Self::default() };
        for (n, (j, i)) in blocks.into_iter().enumerate() {
            let top = n as f32 * tall;
            layout.source.extend(line(&source[j], top, height, room.x));
            layout.target.extend(line(&target[i], top + tall - BETWEEN - height, height, room.x));
        }
        layout
    }

    pub fn moved(mut self, by: impl Into<Size>) -> Self {
        let by = by.into();
        for area in self.source.iter_mut().chain(&mut self.target) {
            *area = Area::from_min_max(area.min + by, area.max + by);
        }
        self
    }

    fn is_glossed(&self) -> bool {
        let is_level = |line: &[Area]| line.windows(2).all(|two| two[0].top() == two[1].top());
        !(is_level(&self.source) && is_level(&self.target))
    }

    /// The box of a word.
    pub fn area(&self, word: LinkedWord) -> Option<&Area> {
        match word {
            LinkedWord::Source(j) => self.source.get(j),
            LinkedWord::Target(i) => self.target.get(i),
        }
    }

    /// From the foot of source word j to the top of target word i, upright at both ends.
    pub fn curve(&self, i: usize, j: usize) -> Option<[Point; 4]> {
        let (source, target) = (self.source.get(j)?, self.target.get(i)?);
        let (from, to) = (point(source.center().x, source.bottom()), point(target.center().x, target.top()));
        let middle = 0.5 * (from.y + to.y);
        Some([from, point(from.x, middle), point(to.x, middle), to])
    }
}

/// The links of an aligner over those of alpha, as thin lines: whole where it is sure of them, else dashed.
pub fn outlines<'a>(links: &Links, layout: &LinksLayout, palette: &Palette) -> Vec<Mark<'a>> {
    let stroke = Stroke { width: OUTLINE, colour: palette.link };
    let line = |(link, is_sure): (Link, bool)| {
        let points = layout.curve(link.target, link.source)?;
        if is_sure {
            return Some(Mark::Curve(Curve { points, stroke }));
        }
        let at = |n: usize| on_curve(&points, n as f32 / (2 * DASHES) as f32);
        let ends = (0..DASHES).map(|n| [at(2 * n), at(2 * n + 1)]).collect();
        Some(Mark::Lines(LinesMark { ends, stroke, is_crisp: false }))
    };
    links.all().into_iter().filter_map(line).collect()
}

fn blocks(links: &LinksFigure<'_>, source: &[f32], target: &[f32], room: f32) -> Vec<(Range<usize>, Range<usize>)> {
    let fitting = |widths: &[f32], from: usize| -> usize {
        let mut wide = 0.0;
        let fits = widths[from..].iter().take_while(|width| {
            wide += **width + GAPS.0;
            wide - GAPS.0 <= room
        });
        let count = fits.count();
        (from + count.max(1)).min(widths.len())
    };
    // Where each target word looks most.
    let looks = |i: usize| {
        let row = links.alpha.row(i).iter().enumerate();
        row.max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(j, _)| j)
    };
    let (mut out, mut j, mut i) = (Vec::new(), 0, 0);
    while j < source.len() || i < target.len() {
        let (mut j_end, most) = (fitting(source, j), fitting(target, i));
        // The cut that leaves most words with what they look at; single words may look anywhere.
        let fits = |cut: usize| {
            (i..cut).filter(|i| looks(*i) < j_end).count() + (cut..most).filter(|i| looks(*i) >= j_end).count()
        };
        let mut i_end = (i..=most).max_by_key(|cut| fits(*cut)).unwrap_or(most);
        if j_end == source.len() {
            i_end = most;
        }
        if i_end == most && most < target.len() {
            // The target line is full: source words that only later words look at go to the next pair.
            let seen = (i..i_end).map(|i| looks(i) + 1).max().unwrap_or(j_end);
            j_end = seen.clamp((j + 1).min(j_end), j_end);
        }
        if j == j_end {
            i_end = most;
        }
        out.push((j..j_end, i..i_end));
        (j, i) = (j_end, i_end);
    }
    out
}

fn line(widths: &[f32], top: f32, height: f32, room: f32) -> Vec<Area> {
    let (words, gaps) = (widths.iter().sum::<f32>(), widths.len().saturating_sub(1) as f32);
    let gap = ((room - words) / gaps.max(1.0)).clamp(GAPS.0, GAPS.1.max(GAP_SHARE * room));
    let mut x = 0.5 * (room - words - gap * gaps);
    let mut place = |width: &f32| {
        let area = Area::from_min_size(point(x, top), size(*width, height));
        x += width + gap;
        area
    };
    widths.iter().map(&mut place).collect()
}

impl<'a> LinksFigure<'a> {
    /// The links to be drawn as i, j and alpha, the strongest last, so that it lies over the others.
    pub fn drawn(&self) -> Vec<(usize, usize, f32)> {
        let row = |i: usize| self.alpha.row(i).iter().enumerate().map(move |(j, alpha)| (i, j, *alpha));
        let above = |(_, _, alpha): &(usize, usize, f32)| *alpha >= self.threshold && *alpha > 0.0;
        let mut links: Vec<_> = (0..self.alpha.rows()).flat_map(row).filter(above).collect();
        let rank = |(i, j, alpha): &(usize, usize, f32)| (self.is_marked(*i, *j), *alpha);
        links.sort_by(|a, b| {
            let ((one, alpha), (other, beta)) = (rank(a), rank(b));
            one.cmp(&other).then(alpha.total_cmp(&beta))
        });
        links
    }

    pub fn marks(&self, layout: &LinksLayout) -> Vec<Mark<'a>> {
        let curve = |(i, j, alpha): (usize, usize, f32)| {
            Some(Mark::Curve(Curve { points: layout.curve(i, j)?, stroke: self.stroke(i, j, alpha) }))
        };
        let mut out: Vec<Mark<'a>> = self.drawn().into_iter().filter_map(curve).collect();
        if layout.is_glossed() {
            // links between pairs of lines pass over words
            let plate = |area: &Area| Mark::Rect(Rectangle::filled(*area, 3.0, self.palette.panel.fade(PLATE)));
            out.extend(layout.source.iter().chain(&layout.target).map(plate));
        }
        for (j, (word, area)) in self.source.iter().zip(&layout.source).enumerate() {
            self.word(word, area, LinkedWord::Source(j), &mut out);
        }
        for (i, (word, area)) in self.target.iter().zip(&layout.target).enumerate() {
            self.word(word, area, LinkedWord::Target(i), &mut out);
        }
        out
    }

    /// All of it as one figure of at least this size, with the links of an aligner over it.
    pub fn whole(&self, room: impl Into<Size>, of_aligner: Option<&Links>, measure: &dyn TextMeasure) -> Figure<'a> {
        let layout = LinksLayout::choose(self, room, measure);
        let mut marks = self.marks(&layout);
        marks.extend(of_aligner.into_iter().flat_map(|of| outlines(of, &layout, self.palette)));
        Figure { marks, size: layout.size, ..Figure::default() }
    }

    fn is_marked(&self, i: usize, j: usize) -> bool {
        match self.marked {
            Some(LinkedWord::Source(marked)) => marked == j,
            Some(LinkedWord::Target(marked)) => marked == i,
            None => false,
        }
    }

    pub fn stroke(&self, i: usize, j: usize, alpha: f32) -> Stroke {
        let alpha = alpha.clamp(0.0, 1.0);
        let (width, cover) = match self.weight {
            Weight::Width => ((WIDTHS.0 * alpha).max(WIDTHS.1), 0.8),
            Weight::Opacity => (EVEN_WIDTH, alpha),
        };
        let is_aside = self.marked.is_some() && !self.is_marked(i, j);
        let colour: Rgba = if self.is_marked(i, j) { self.palette.mark } else { self.palette.accent };
        Stroke { width, colour: colour.fade(if is_aside { cover * ASIDE } else { cover }) }
    }

    fn word(&self, label: &Label<'a>, area: &Area, word: LinkedWord, out: &mut Vec<Mark<'a>>) {
        let is_marked = self.marked == Some(word);
        if is_marked {
            out.push(Mark::Rect(Rectangle::filled(*area, 3.0, self.palette.accent_soft)));
        }
        out.extend(label.hand.frame(*area, self.palette));
        if label.hand.is_set {
            let border = Stroke { width: 2.0, colour: self.palette.set };
            out.push(Mark::Rect(Rectangle::framed(*area, 3.0, border, BorderSide::Inside)));
        }
        let colour = if is_marked { self.palette.accent } else { label.tone.colour(self.palette) };
        let anchor = (Across::Centre, Down::Middle);
        let text = TextMark::new(label.text.clone(), area.center(), anchor, TEXT_BODY, colour);
        out.push(Mark::Text(TextMark { room: LABEL_MAX, ..text }));
    }
}
