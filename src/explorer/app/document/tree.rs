//! The search of a column as a tree of words, and why each branch ended. Pieces of one word with no branch
//! between them are drawn as one node, unless pieces are asked for.

use std::collections::HashSet;

use crate::app::document::column::Column;
use engine::decoding::{Node, NodeFate};
use engine::{interventions::Said, text::pieces::PieceMarks};
use figure::tree;
use figure::tree::NodeState;

/// A node of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeNode {
    pub parent: Option<usize>,
    /// Target position, from 0.
    pub step: usize,
    pub text: String,
    /// log p of its word.
    pub log_p: f32,
    /// log p of all words up to it.
    pub total: f32,
    pub state: NodeState,
    /// It found room in the beam.
    pub is_kept: bool,
    /// It belongs to the hypothesis that is shown.
    pub is_best: bool,
    pub said: Said,
    /// It is a piece of the word that its parent is a piece of.
    pub is_piece: bool,
    /// What continues it, best first.
    pub children: Vec<usize>,
}

/// The search of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchTree {
    /// By their numbers; one that continues another stands behind it.
    pub nodes: Vec<TreeNode>,
    /// First words, best first.
    pub roots: Vec<usize>,
    pub steps: usize,
    /// log p of the last that found room at each step.
    last_kept: Vec<f32>,
    marks: PieceMarks,
}

/// What is drawn of a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShownTree {
    pub steps: usize,
    /// Branches that fell out are drawn too.
    pub pruned: bool,
    /// Pieces of words are drawn apart, as the vocabulary writes them.
    pub pieces: bool,
    /// Nodes whose continuations are not drawn.
    pub collapsed: HashSet<usize>,
    /// A node that is drawn even where it fell out, since it is looked at.
    pub selected: Option<usize>,
}

/// What is drawn, in the order of [`tree::TreeFigure`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawnTree {
    pub nodes: Vec<tree::DrawnNode<'static>>,
    /// For each the nodes of the search that it stands for, the pieces of one word.
    pub parts: Vec<Vec<usize>>,
    /// For each node of the search the drawn one that stands for it.
    places: Vec<Option<usize>>,
}

impl DrawnTree {
    pub fn place(&self, at: usize) -> Option<usize> {
        self.places.get(at).copied().flatten()
    }

    pub fn id(&self, place: usize) -> Option<usize> {
        self.parts.get(place)?.last().copied()
    }

    /// The nodes of the search that are drawn as one with this one; itself alone where it is not drawn.
    pub fn part_of(&self, at: usize) -> Vec<usize> {
        self.place(at).and_then(|place| self.parts.get(place)).cloned().unwrap_or_else(|| vec![at])
    }
}

/// A search from its trace.
pub struct TreeTrace<'a> {
    pub nodes: &'a [Node],
    pub beam: usize,
    pub word: &'a dyn Fn(u32) -> String,
    pub marks: PieceMarks,
    /// The hypothesis that is shown, in ids.
    pub best: &'a [u32],
    pub said: &'a dyn Fn(usize) -> Said,
}

impl SearchTree {
    /// The search that led to what a column shows; `None` while it runs, and where it was too large to keep.
    pub fn of(column: &Column) -> Option<Self> {
        let shown = column.shown();
        Self::read(&TreeTrace {
            nodes: &column.result.nodes,
            beam: column.beam()?,
            word: &|id| column.result.words.get(&id).cloned().unwrap_or_default(),
            marks: column.facts.as_ref().map(|facts| facts.marks.clone()).unwrap_or_default(),
            best: shown.map_or(&[], |shown| &shown.found.tokens),
            said: &|step| shown.map_or(Said::Free, |shown| shown.touched.said(step)),
        })
    }

    pub fn read(trace: &TreeTrace<'_>) -> Option<Self> {
        let nodes = trace.nodes;
        let steps = nodes.iter().map(|node| node.step + 1).max()?;
        let marks = trace.marks.clone();
        let mut tree = Self { last_kept: vec![f32::NEG_INFINITY; steps], steps, marks, ..Self::default() };
        let (mut places, mut finished) = (vec![0; steps], vec![0; steps]);
        for node in nodes.iter().filter(|node| node.fate == NodeFate::Finished) {
            finished[node.step] += 1;
        }
        for node in nodes {
            // the best (beam - finished) extensions of a step stay; they stand first
            let room = trace.beam.saturating_sub(finished[..node.step].iter().sum());
            let is_kept = places[node.step] < room;
            places[node.step] += 1;
            if is_kept {
                tree.last_kept[node.step] = node.total;
            }
            tree.push(trace, node, is_kept);
        }
        tree.mark_best(trace);
        tree.sort();
        Some(tree)
    }

    fn push(&mut self, trace: &TreeTrace<'_>, node: &Node, is_kept: bool) {
        let state = match node.fate {
            NodeFate::Alive => NodeState::Inner,
            NodeFate::Pruned => NodeState::Pruned,
            NodeFate::Finished => NodeState::Finished,
            NodeFate::Cut => NodeState::Cut,
        };
        let text = (trace.word)(node.token);
        let at = self.nodes.len();
        let before = node.parent.and_then(|parent| self.nodes.get(parent));
        let is_piece = before.is_some_and(|before| self.marks.continues(&before.text, &text));
        match node.parent.and_then(|parent| self.nodes.get_mut(parent)) {
            Some(parent) => parent.children.push(at),
            None => self.roots.push(at),
        }
        self.nodes.push(TreeNode {
            parent: node.parent,
            step: node.step,
            text,
            log_p: node.log_p,
            total: node.total,
            state,
            is_kept,
            is_best: false,
            said: (trace.said)(node.step),
            is_piece,
            children: Vec::new(),
        });
    }

    fn mark_best(&mut self, trace: &TreeTrace<'_>) {
        let mut next = &self.roots;
        let mut path = Vec::new();
        for id in trace.best {
            let is_it = |at: &&usize| trace.nodes[**at].token == *id && self.nodes[**at].is_kept;
            let Some(at) = next.iter().find(is_it) else { break };
            path.push(*at);
            next = &self.nodes[*at].children;
        }
        for at in path {
            self.nodes[at].is_best = true;
        }
    }

    /// What is shown first, then what led somewhere, then the most probable.
    fn sort(&mut self) {
        let rank: Vec<(bool, bool, f32)> =
            self.nodes.iter().map(|node| (node.is_best, node.state != NodeState::Pruned, node.total)).collect();
        let order = |a: &usize, b: &usize| {
            let (a, b) = (rank[*a], rank[*b]);
            (b.0, b.1).cmp(&(a.0, a.1)).then(b.2.total_cmp(&a.2))
        };
        self.roots.sort_by(order);
        self.nodes.iter_mut().for_each(|node| node.children.sort_by(order));
    }

    pub fn words(&self, at: usize) -> Vec<String> {
        let chain = std::iter::successors(Some(at), |at| self.nodes.get(*at)?.parent);
        let mut words: Vec<String> = chain.filter_map(|at| Some(self.nodes.get(at)?.text.clone())).collect();
        words.reverse();
        words
    }

    /// Whether a node is drawn though branches that fell out are not.
    pub fn stays(&self, at: usize) -> bool {
        self.nodes.get(at).is_some_and(|node| node.state != NodeState::Pruned || node.is_best)
    }

    pub fn reason(&self, at: usize) -> String {
        let Some(node) = self.nodes.get(at) else { return String::new() };
        let last = self.last_kept.get(node.step).copied().unwrap_or(f32::NEG_INFINITY);
        match node.state {
            NodeState::Inner => tr!("Kept and continued, log p {}", format_args!("{:.2}", node.total)),
            NodeState::Finished => tr!("Finished, log p {}", format_args!("{:.2}", node.total)),
            NodeState::Cut => {
                tr!("Cut, since it reached the maximal length, log p {}", format_args!("{:.2}", node.total))
            }
            NodeState::Pruned if !node.is_kept => {
                tr!(
                    "Pruned, since the beam was full: log p {}, the last that found room had {last}",
                    format_args!("{:.2}", node.total),
                    last = format_args!("{last:.2}")
                )
            }
            NodeState::Pruned if node.children.is_empty() => {
                tr!(
                    "Kept with log p {}, but none of its continuations was near enough to be kept",
                    format_args!("{:.2}", node.total)
                )
            }
            NodeState::Pruned => {
                tr!(
                    "Kept with log p {}, but all that continued it fell out of the beam",
                    format_args!("{:.2}", node.total)
                )
            }
        }
    }

    pub fn shown(&self, shown: &ShownTree) -> DrawnTree {
        let mut drawn = DrawnTree { places: vec![None; self.nodes.len()], ..DrawnTree::default() };
        let is_drawn = |at: &usize| self.is_drawn(*at, shown);
        let mut stack: Vec<usize> = self.roots.iter().copied().filter(is_drawn).rev().collect();
        while let Some(first) = stack.pop() {
            let (mut part, mut hidden) = (vec![first], 0);
            let children = loop {
                let last = part[part.len() - 1];
                let children = self.drawn_children(last, shown);
                hidden += if self.is_last(last, shown) { 0 } else { self.nodes[last].children.len() - children.len() };
                match children.as_slice() {
                    [next] if !shown.pieces && self.nodes[*next].is_piece => part.push(*next),
                    _ => break children,
                }
            };
            let place = drawn.nodes.len();
            for at in &part {
                drawn.places[*at] = Some(place);
            }
            let parent = self.nodes[first].parent.and_then(|parent| drawn.places[parent]);
            let step = parent.map_or(0, |parent| drawn.nodes[parent].step + 1);
            let node = self.node(&part, &children, shown);
            drawn.nodes.push(tree::DrawnNode { step, parent, hidden, ..node });
            drawn.parts.push(part);
            stack.extend(children.into_iter().rev());
        }
        drawn
    }

    fn is_drawn(&self, at: usize, shown: &ShownTree) -> bool {
        let node = &self.nodes[at];
        let is_wanted = shown.pruned || self.stays(at) || shown.selected == Some(at);
        node.step < shown.steps && (is_wanted || (node.is_kept && node.step + 1 == shown.steps))
    }

    fn drawn_children(&self, at: usize, shown: &ShownTree) -> Vec<usize> {
        if shown.collapsed.contains(&at) {
            return Vec::new();
        }
        self.nodes[at].children.iter().copied().filter(|child| self.is_drawn(*child, shown)).collect()
    }

    fn is_last(&self, at: usize, shown: &ShownTree) -> bool {
        let step = self.nodes[at].step + 1;
        step == shown.steps && step < self.steps
    }

    fn node(&self, part: &[usize], children: &[usize], shown: &ShownTree) -> tree::DrawnNode<'static> {
        let (first, last) = (&self.nodes[part[0]], &self.nodes[part[part.len() - 1]]);
        // what is not known yet at the last step that is drawn has no fate
        let is_open = self.is_last(part[part.len() - 1], shown) && last.is_kept && last.state == NodeState::Pruned;
        let goes_on = !children.is_empty() && children.iter().all(|child| self.nodes[*child].is_piece);
        tree::DrawnNode {
            text: self.text(part, (first.is_piece, goes_on), shown.pieces).into(),
            log_p: part.iter().map(|at| self.nodes[*at].log_p).sum(),
            state: if is_open { NodeState::Inner } else { last.state },
            is_best: last.is_best,
            said: part.iter().map(|at| self.nodes[*at].said).max().unwrap_or_default(),
            ..tree::DrawnNode::default()
        }
    }

    /// A word put together; of a part of a word, dots stand where it goes on.
    fn text(&self, part: &[usize], (is_continued, goes_on): (bool, bool), pieces: bool) -> String {
        let texts: Vec<&str> = part.iter().map(|at| self.nodes[*at].text.as_str()).collect();
        if pieces || !self.marks.has_pieces() {
            return texts.concat();
        }
        let dots = |is: bool| if is { "\u{2026}" } else { "" };
        format!("{}{}{}", dots(is_continued), self.marks.word(&texts), dots(goes_on))
    }
}
