//! A beam search as a tree: steps from left to right, what continues a node best on its own line, everything
//! else on lines below. Shared beginnings stand once.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use crate::geometry::{Area, Point, Size, point, size};
use crate::mark::{Across, BorderSide, Curve, Down, LinesMark, Mark, Rectangle, Stroke, TextMark};
use crate::palette::{Palette, Rgba};
use crate::sizes::{LABEL_MAX, SPACE_1, SPACE_2, TEXT_SMALL};
use crate::{Figure, label::Hand, measure::TextMeasure};
use engine::interventions::Said;

const LINE: f32 = 20.0;
const GAP: f32 = 22.0;
const BOX: f32 = 17.0;

const BEHIND: f32 = 0.6 * 3.0 * TEXT_SMALL;
/// Round all of it, for the frame of the selected node, points at scale 1.
const RIM: f32 = 3.0;
const NEAR: f32 = 3.5;

/// How an edge is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Pruned,
    Kept,
    Best,
}

impl Weight {
    fn of(node: &DrawnNode<'_>) -> Self {
        match node.state {
            _ if node.is_best => Self::Best,
            NodeState::Pruned => Self::Pruned,
            NodeState::Inner | NodeState::Finished | NodeState::Cut => Self::Kept,
        }
    }
}

/// What became of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeState {
    #[default]
    Inner,
    Finished,
    Cut,
    /// It fell out of the beam, or nothing that continued it stayed.
    Pruned,
}

/// A node. Nodes stand in the order of a walk that goes down before it goes on, what continues a node best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawnNode<'a> {
    pub text: Cow<'a, str>,
    /// Nodes before it, from the first word on: the column that it stands in.
    pub step: usize,
    /// Place of the node that it continues in the list.
    pub parent: Option<usize>,
    /// log p of its word.
    pub log_p: f32,
    pub state: NodeState,
    /// It belongs to the hypothesis that is shown.
    pub is_best: bool,
    pub said: Said,
    /// Nodes behind it that are not drawn.
    pub hidden: usize,
}

/// The nodes that are drawn.
#[derive(Clone, Copy, Debug)]
pub struct TreeFigure<'a> {
    pub nodes: &'a [DrawnNode<'a>],
    /// The place of the node that is looked at closely.
    pub selected: Option<usize>,
    /// Size of everything; 1 is usual.
    pub scale: f32,
    pub palette: &'a Palette,
}

/// Where nodes stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeLayout {
    /// The box of each node; none stands higher than the one before it.
    pub boxes: Vec<Area>,
    pub size: Size,
}

impl TreeLayout {
    /// The nodes on the lines that `view` shows, found without a look at the others.
    pub fn lines(&self, view: &Area) -> Range<usize> {
        let first = self.boxes.partition_point(|area| area.bottom() < view.top());
        first..self.boxes.partition_point(|area| area.top() <= view.bottom()).max(first)
    }
}

impl<'a> TreeFigure<'a> {
    /// Every step as wide as its widest word.
    pub fn layout(&self, measure: &dyn TextMeasure) -> TreeLayout {
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
            let more = if node.hidden > 0 { BEHIND * scale } else { 0.0 };
            widths[node.step] = widths[node.step].max(wide + more);
        }
        let lefts: Vec<f32> = widths
            .iter()
            .scan(RIM * scale, |x, width| {
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
            let corner = point(lefts[node.step], (RIM + line * LINE + 0.5 * (LINE - BOX)) * scale);
            boxes.push(Area::from_min_size(corner, size(wide[at], BOX * scale)));
        }
        let right = boxes.iter().map(Area::right).fold(0.0, f32::max);
        TreeLayout { boxes, size: size(right + GAP * scale, (2.0 * RIM + (line + 1.0) * LINE) * scale) }
    }

    /// What `view` shows of it.
    pub fn marks(&self, layout: &TreeLayout, view: &Area) -> Vec<Mark<'a>> {
        let seen = layout.lines(view);
        let mut out = Vec::new();
        self.edges(layout, view, &seen, &mut out);
        for at in seen {
            let area = &layout.boxes[at];
            if area.left() <= view.right() && area.right() + BEHIND * self.scale >= view.left() {
                self.node(&self.nodes[at], area, &mut out);
                if self.selected == Some(at) {
                    let border = Stroke { width: 2.5, colour: self.palette.mark };
                    out.push(Mark::Rect(Rectangle::framed(*area, 3.0, border, BorderSide::Outside)));
                }
            }
        }
        out
    }

    /// What leads from node to node: a line on the same line, a curve to one of the next lines.
    fn edges(&self, layout: &TreeLayout, view: &Area, seen: &Range<usize>, out: &mut Vec<Mark<'a>>) {
        let (mut lines, mut trunks) = (BTreeMap::<Weight, Vec<[Point; 2]>>::new(), BTreeMap::new());
        let mut line = |kind, ends| lines.entry(kind).or_default().push(ends);
        for (at, node) in self.nodes.iter().enumerate().skip(seen.start) {
            // a parent stands before its children, and no lower
            let Some(parent) = node.parent.filter(|parent| *parent < seen.end) else { continue };
            let (from, to) = (&layout.boxes[parent], &layout.boxes[at]);
            if to.left() < view.left() || from.right() > view.right() {
                continue;
            }
            let (from, to) = (self.end(layout, parent), point(to.left(), to.center().y));
            let (kind, middle) = (Weight::of(node), to.x - 0.5 * GAP * self.scale);
            let down = to.y - from.y;
            if down < 0.5 * LINE * self.scale {
                line(kind, [from, to]);
            } else if down < NEAR * LINE * self.scale {
                let points = [from, point(middle, from.y), point(middle - 0.3 * GAP * self.scale, to.y), to];
                out.push(Mark::Curve(Curve { points, stroke: self.stroke(kind) }));
            } else {
                if seen.contains(&at) {
                    line(kind, [point(middle, to.y), to]);
                }
                trunks.insert((parent, kind), point(middle, to.y));
            }
        }
        for ((parent, kind), foot) in trunks {
            let from = self.end(layout, parent);
            if parent >= seen.start {
                line(kind, [from, point(foot.x, from.y)]);
            }
            line(kind, [from.y.max(view.top()), foot.y.min(view.bottom())].map(|y| point(foot.x, y)));
        }
        let of = |(kind, ends)| Mark::Lines(LinesMark { ends, stroke: self.stroke(kind), is_crisp: false });
        out.extend(lines.into_iter().map(of));
    }

    fn end(&self, layout: &TreeLayout, at: usize) -> Point {
        let area = &layout.boxes[at];
        let behind = if self.nodes[at].hidden > 0 { BEHIND * self.scale } else { 0.0 };
        point(area.right() + behind, area.center().y)
    }

    fn stroke(&self, kind: Weight) -> Stroke {
        match kind {
            Weight::Best => Stroke { width: 2.0, colour: self.palette.accent },
            Weight::Kept => Stroke { width: 1.0, colour: self.palette.weak.fade(0.8) },
            Weight::Pruned => Stroke { width: 1.0, colour: self.palette.weak.fade(0.4) },
        }
    }

    fn node(&self, node: &DrawnNode<'a>, area: &Area, out: &mut Vec<Mark<'a>>) {
        let palette = self.palette;
        let doubt = palette.doubt(node.log_p);
        if !doubt.is_clear() {
            out.push(Mark::Rect(Rectangle::filled(*area, 3.0, doubt)));
        }
        let mut frame = |width: f32, colour: Rgba| {
            out.push(Mark::Rect(Rectangle::framed(*area, 3.0, Stroke { width, colour }, BorderSide::Inside)));
        };
        match node.state {
            NodeState::Inner => {}
            NodeState::Finished => frame(1.5, palette.accent),
            NodeState::Cut => frame(1.5, palette.warm),
            NodeState::Pruned => frame(1.0, palette.line),
        }
        out.extend(Hand { said: node.said, is_set: false }.frame(*area, palette));
        let colour = if node.state == NodeState::Pruned { palette.weak } else { palette.text };
        let anchor = (Across::Centre, Down::Middle);
        let text = TextMark::new(node.text.clone(), area.center(), anchor, TEXT_SMALL * self.scale, colour);
        out.push(Mark::Text(TextMark { room: LABEL_MAX * self.scale, is_underlined: node.is_best, ..text }));
        if node.hidden > 0 {
            let at = point(area.right() + 2.0, area.center().y);
            let small = 0.85 * TEXT_SMALL * self.scale;
            let text =
                TextMark::new(format!("+{}", node.hidden), at, (Across::Left, Down::Middle), small, palette.weak);
            out.push(Mark::Text(text));
        }
    }

    /// All of it as one figure.
    pub fn whole(&self, measure: &dyn TextMeasure) -> Figure<'a> {
        let layout = self.layout(measure);
        let all = Area::from_min_size(point(0.0, 0.0), layout.size);
        let size = size(layout.size.x + SPACE_1, layout.size.y);
        Figure { marks: self.marks(&layout, &all), size, ..Figure::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::SansSerif;

    #[test]
    fn what_continues_best_stays_on_its_line_and_nothing_overlaps() {
        // a -> b -> c, with d beside b and e beside c
        let node =
            |text: &'static str, step, parent| DrawnNode { text: text.into(), step, parent, ..DrawnNode::default() };
        let nodes = [
            node("a", 0, None),
            node("b", 1, Some(0)),
            node("c", 2, Some(1)),
            node("e", 2, Some(1)),
            node("d", 1, Some(0)),
            node("f", 0, None),
        ];
        let tree = TreeFigure { nodes: &nodes, selected: None, scale: 1.0, palette: Palette::of(false) };
        let layout = tree.layout(&SansSerif);
        let line = |at: usize| (layout.boxes[at].center().y / LINE) as usize;
        assert_eq!((0..nodes.len()).map(line).collect::<Vec<_>>(), [0, 0, 0, 1, 2, 3]);
        for (at, one) in layout.boxes.iter().enumerate() {
            for other in &layout.boxes[at + 1..] {
                let apart = one.right() < other.left() || other.right() < one.left() || one.bottom() < other.top();
                assert!(apart, "{one:?} lies over {other:?}");
            }
        }
        let view = Area::from_min_size(point(0.0, RIM + 3.0 * LINE), layout.size);
        let texts = |marks: Vec<Mark<'_>>| marks.iter().filter(|mark| matches!(mark, Mark::Text(_))).count();
        assert_eq!((texts(tree.marks(&layout, &view)), texts(tree.whole(&SansSerif).marks)), (1, 6));
    }

    #[test]
    fn a_view_has_what_the_whole_has_there() {
        // a chain of words, each continued by six further ones
        let mut nodes: Vec<DrawnNode<'static>> = Vec::new();
        for step in 0..12 {
            nodes.push(DrawnNode { text: "word".into(), step, parent: step.checked_sub(1), ..DrawnNode::default() });
        }
        for step in (0..12).rev() {
            let more = DrawnNode { text: "other".into(), step: step + 1, parent: Some(step), ..DrawnNode::default() };
            nodes.extend(std::iter::repeat_n(more, 6));
        }
        let tree = TreeFigure { nodes: &nodes, selected: Some(3), scale: 1.0, palette: Palette::of(false) };
        let layout = tree.layout(&SansSerif);
        let count = |marks: &[Mark<'_>]| {
            let texts = marks.iter().filter(|mark| matches!(mark, Mark::Text(_))).count();
            let curves = marks.iter().filter(|mark| matches!(mark, Mark::Curve(_))).count();
            let lines: usize =
                marks.iter().map(|mark| if let Mark::Lines(lines) = mark { lines.ends.len() } else { 0 }).sum();
            (texts, curves, lines)
        };
        let whole = count(&tree.whole(&SansSerif).marks);
        assert_eq!(whole.0, nodes.len());
        for top in 0..70 {
            let view = Area::from_min_size(point(40.0, top as f32 * LINE), size(300.0, 10.0 * LINE));
            let inside =
                layout.boxes.iter().filter(|area| area.top() <= view.bottom() && area.bottom() >= view.top()).count();
            assert_eq!(layout.lines(&view).len(), inside, "line {top}");
            let marks = tree.marks(&layout, &view);
            let (texts, curves, lines) = count(&marks);
            assert!(texts <= inside && curves <= whole.1 && lines <= whole.2, "line {top}");
            // a trunk ends where the view ends
            for mark in &marks {
                if let Mark::Lines(lines) = mark {
                    let is_near = |end: &Point| end.y >= view.top() - LINE && end.y <= view.bottom() + LINE;
                    assert!(lines.ends.iter().flatten().all(is_near), "line {top}: {lines:?}");
                }
            }
        }
    }
}
