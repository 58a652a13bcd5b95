//! Floor 6: a beam search as a tree: steps from left to right, what continues a node best on its own line, everything
//! else on lines below. Shared beginnings stand once.

use std::borrow::Cow;

use crate::decoding::Said;
use crate::figure::Figure;
use crate::figure::geometry::{Area, Size, point, size};
use crate::figure::label::Hand;
use crate::figure::mark::{Across, Curve, Down, Mark, Rectangle, Side, Stroke, Text};
use crate::figure::measure::Measure;
use crate::figure::palette::{Palette, Rgba};
use crate::figure::provenance::Provenance;
use crate::figure::sizes::{LABEL_MAX, SPACE_1, SPACE_2, TEXT_SMALL};

/// Height of a line, points at scale 1.
const LINE: f32 = 20.0;
/// Between two steps, points at scale 1.
const GAP: f32 = 22.0;
/// Height of a node, points at scale 1.
const BOX: f32 = 17.0;

/// What became of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It was continued.
    #[default]
    Inner,
    /// It ended with `</s>`.
    Finished,
    /// It reached the maximal length.
    Cut,
    /// It fell out of the beam, or nothing that continued it stayed.
    Pruned,
}

/// A node. Nodes stand in the order of a walk that goes down before it goes on, what continues a node best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node<'a> {
    /// Its word.
    pub text: Cow<'a, str>,
    /// Target position, from 0.
    pub step: usize,
    /// Place of the node that it continues in the list.
    pub parent: Option<usize>,
    /// log p of its word.
    pub log_p: f32,
    /// What became of it.
    pub state: State,
    /// It belongs to the hypothesis that is shown.
    pub is_best: bool,
    /// It is looked at closely.
    pub is_selected: bool,
    /// Who chose it.
    pub said: Said,
    /// Nodes behind it that are not drawn.
    pub hidden: usize,
}

/// The nodes that are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    /// In order.
    pub nodes: &'a [Node<'a>],
    /// Size of everything; 1 is usual.
    pub scale: f32,
    /// Colours.
    pub palette: &'a Palette,
}

/// Where nodes stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// The box of each node.
    pub boxes: Vec<Area>,
    /// All of it.
    pub size: Size,
}

impl Layout {
    /// The same elsewhere.
    pub fn moved(mut self, by: impl Into<Size>) -> Self {
        let by = by.into();
        self.boxes.iter_mut().for_each(|area| *area = area.shift(by));
        self
    }
}

impl<'a> Tree<'a> {
    /// Every step as wide as its widest word.
    pub fn layout(&self, measure: &dyn Measure) -> Layout {
        let scale = self.scale;
        let letters = TEXT_SMALL * scale;
        let steps = self.nodes.iter().map(|node| node.step + 1).max().unwrap_or(0);
        let wide: Vec<f32> = self
            .nodes
            .iter()
            .map(|node| measure.width(&node.text, letters).min(LABEL_MAX * scale) + SPACE_2 * scale)
            .collect();
        let mut widths = vec![0.0_f32; steps];
        for (node, wide) in self.nodes.iter().zip(&wide) {
            // a number of hidden nodes stands behind the word
            let more = if node.hidden > 0 { 0.6 * letters * 3.0 } else { 0.0 };
            widths[node.step] = widths[node.step].max(wide + more);
        }
        let lefts: Vec<f32> = widths
            .iter()
            .scan(0.0, |x, width| {
                let left = *x;
                *x += width + GAP * scale;
                Some(left)
            })
            .collect();
        let mut line = 0.0;
        let mut continued = vec![false; self.nodes.len()];
        let mut boxes = Vec::with_capacity(self.nodes.len());
        for (at, node) in self.nodes.iter().enumerate() {
            let is_first = node.parent.map_or(at == 0, |parent| !std::mem::replace(&mut continued[parent], true));
            if !is_first {
                line += 1.0;
            }
            let corner = point(lefts[node.step], line * LINE * scale + 0.5 * (LINE - BOX) * scale);
            boxes.push(Area::at(corner, size(wide[at], BOX * scale)));
        }
        let right = boxes.iter().map(Area::right).fold(0.0, f32::max);
        Layout { boxes, size: size(right + GAP * scale, (line + 1.0) * LINE * scale) }
    }

    /// What `view` shows of it.
    pub fn marks(&self, layout: &Layout, view: &Area) -> Vec<Mark<'a>> {
        let mut out = Vec::new();
        let palette = self.palette;
        let is_near =
            |area: &Area| area.bottom() >= view.top() && area.top() <= view.bottom() && area.left() <= view.right();
        for (node, to) in self.nodes.iter().zip(&layout.boxes) {
            let Some(from) = node.parent.and_then(|parent| layout.boxes.get(parent)) else { continue };
            let is_off = from.top() > view.bottom() || to.bottom() < view.top() || to.left() < view.left() - 400.0;
            if is_off || from.left() > view.right() {
                continue;
            }
            let (from, to) = (point(from.right(), from.centre().y), point(to.left(), to.centre().y));
            let middle = to.x - 0.5 * GAP * self.scale;
            let points = [from, point(middle, from.y), point(middle - 0.3 * GAP * self.scale, to.y), to];
            let stroke = if node.is_best {
                Stroke { width: 2.0, colour: palette.accent }
            } else {
                Stroke { width: 1.0, colour: palette.weak.fade(if node.state == State::Pruned { 0.4 } else { 0.8 }) }
            };
            out.push(Mark::Curve(Curve { points, stroke }));
        }
        let near = self.nodes.iter().zip(&layout.boxes).filter(|(_, area)| is_near(area));
        near.for_each(|(node, area)| self.node(node, area, &mut out));
        out
    }

    fn node(&self, node: &Node<'a>, area: &Area, out: &mut Vec<Mark<'a>>) {
        let palette = self.palette;
        let doubt = palette.doubt(node.log_p);
        if !doubt.is_clear() {
            out.push(Mark::Rect(Rectangle::filled(*area, 3.0, doubt)));
        }
        let mut frame = |width: f32, colour: Rgba| {
            out.push(Mark::Rect(Rectangle::framed(*area, 3.0, Stroke { width, colour }, Side::Inside)));
        };
        match node.state {
            State::Inner => {}
            State::Finished => frame(1.5, palette.accent),
            State::Cut => frame(1.5, palette.warm),
            State::Pruned => frame(1.0, palette.line),
        }
        out.extend(Hand { said: node.said, is_set: false }.frame(*area, palette));
        let colour = if node.state == State::Pruned { palette.weak } else { palette.text };
        let anchor = (Across::Centre, Down::Middle);
        let text = Text::new(node.text.clone(), area.centre(), anchor, TEXT_SMALL * self.scale, colour);
        out.push(Mark::Text(Text { room: LABEL_MAX * self.scale, is_underlined: node.is_best, ..text }));
        if node.hidden > 0 {
            let at = point(area.right() + 2.0, area.centre().y);
            let small = 0.85 * TEXT_SMALL * self.scale;
            let text = Text::new(format!("+{}", node.hidden), at, (Across::Left, Down::Middle), small, palette.weak);
            out.push(Mark::Text(text));
        }
        if node.is_selected {
            let border = Stroke { width: 2.5, colour: palette.mark };
            out.push(Mark::Rect(Rectangle::framed(*area, 3.0, border, Side::Outside)));
        }
    }

    /// All of it as one figure.
    pub fn whole(&self, measure: &dyn Measure, provenance: Provenance) -> Figure<'a> {
        let layout = self.layout(measure);
        let all = Area::at(point(0.0, 0.0), layout.size);
        Figure { marks: self.marks(&layout, &all), size: size(layout.size.x + SPACE_1, layout.size.y), provenance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::measure::SansSerif;

    #[test]
    fn what_continues_best_stays_on_its_line_and_nothing_overlaps() {
        // a -> b -> c, with d beside b and e beside c
        let node = |text: &'static str, step, parent| Node { text: text.into(), step, parent, ..Node::default() };
        let nodes = [
            node("a", 0, None),
            node("b", 1, Some(0)),
            node("c", 2, Some(1)),
            node("e", 2, Some(1)),
            node("d", 1, Some(0)),
            node("f", 0, None),
        ];
        let tree = Tree { nodes: &nodes, scale: 1.0, palette: Palette::of(false) };
        let layout = tree.layout(&SansSerif);
        let line = |at: usize| (layout.boxes[at].centre().y / LINE) as usize;
        assert_eq!((0..nodes.len()).map(line).collect::<Vec<_>>(), [0, 0, 0, 1, 2, 3]);
        for (at, one) in layout.boxes.iter().enumerate() {
            for other in &layout.boxes[at + 1..] {
                let apart = one.right() < other.left() || other.right() < one.left() || one.bottom() < other.top();
                assert!(apart, "{one:?} lies over {other:?}");
            }
        }
        let view = Area::at(point(0.0, 3.0 * LINE), layout.size);
        let texts = |marks: Vec<Mark<'_>>| marks.iter().filter(|mark| matches!(mark, Mark::Text(_))).count();
        assert_eq!(
            (texts(tree.marks(&layout, &view)), texts(tree.whole(&SansSerif, Provenance::default()).marks)),
            (1, 6)
        );
    }
}
