//! Floor 8: the search of a column as a tree of words, and why each branch ended.

use std::collections::HashSet;

use crate::decoding::{Fate, Node, Said};
use crate::figure::tree;
use crate::figure::tree::State;
use crate::session::column::Column;

/// A node of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeNode {
    /// The node that it continues.
    pub parent: Option<usize>,
    /// Target position, from 0.
    pub step: usize,
    /// As the vocabulary writes it.
    pub text: String,
    /// log p of its word.
    pub log_p: f32,
    /// log p of all words up to it.
    pub total: f32,
    /// What became of it in the end.
    pub state: State,
    /// It found room in the beam.
    pub is_kept: bool,
    /// It belongs to the hypothesis that is shown.
    pub is_best: bool,
    /// Who chose it.
    pub said: Said,
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
    /// Steps of the search.
    pub steps: usize,
    /// log p of the last that found room at each step.
    last_kept: Vec<f32>,
}

/// What is drawn of a tree.
#[derive(Clone, Debug, Default)]
pub struct Shown<'a> {
    /// Steps that are drawn.
    pub steps: usize,
    /// Branches that fell out are drawn too.
    pub pruned: bool,
    /// Nodes whose continuations are not drawn.
    pub collapsed: Option<&'a HashSet<usize>>,
    /// The node that is looked at closely.
    pub selected: Option<usize>,
}

impl SearchTree {
    /// The search that led to what a column shows; `None` while it runs, and where it was too large to keep.
    pub fn of(column: &Column) -> Option<Self> {
        let (nodes, beam) = (&column.result.nodes, column.beam()?);
        if nodes.is_empty() {
            return None;
        }
        let steps = nodes.iter().map(|node| node.step + 1).max().unwrap_or(0);
        let mut tree = Self { last_kept: vec![f32::NEG_INFINITY; steps], steps, ..Self::default() };
        let (mut places, mut finished) = (vec![0; steps], vec![0; steps]);
        for node in nodes.iter().filter(|node| node.fate == Fate::Finished) {
            finished[node.step] += 1;
        }
        for node in nodes {
            // the best (beam - finished) extensions of a step stay; they stand first
            let room = beam.saturating_sub(finished[..node.step].iter().sum());
            let is_kept = places[node.step] < room;
            places[node.step] += 1;
            if is_kept {
                tree.last_kept[node.step] = node.total;
            }
            tree.push(column, node, is_kept);
        }
        tree.mark_best(column);
        tree.sort();
        Some(tree)
    }

    fn push(&mut self, column: &Column, node: &Node, is_kept: bool) {
        let state = match node.fate {
            Fate::Alive => State::Inner,
            Fate::Pruned => State::Pruned,
            Fate::Finished => State::Finished,
            Fate::Cut => State::Cut,
        };
        let text = column.result.words.get(&node.token).cloned().unwrap_or_default();
        let said = column.shown().map_or(Said::Free, |shown| shown.touched.said(node.step));
        let at = self.nodes.len();
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
            said,
            children: Vec::new(),
        });
    }

    /// Marks the words of the hypothesis that is shown.
    fn mark_best(&mut self, column: &Column) {
        let Some(shown) = column.shown() else { return };
        let mut next = &self.roots;
        let mut path = Vec::new();
        for id in &shown.ids {
            let is_it = |at: &&usize| column.result.nodes[**at].token == *id && self.nodes[**at].is_kept;
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
            self.nodes.iter().map(|node| (node.is_best, node.state != State::Pruned, node.total)).collect();
        let order = |a: &usize, b: &usize| {
            let (a, b) = (rank[*a], rank[*b]);
            (b.0, b.1).cmp(&(a.0, a.1)).then(b.2.total_cmp(&a.2))
        };
        self.roots.sort_by(order);
        self.nodes.iter_mut().for_each(|node| node.children.sort_by(order));
    }

    /// The words from the first to this node.
    pub fn words(&self, at: usize) -> Vec<String> {
        let chain = std::iter::successors(Some(at), |at| self.nodes.get(*at)?.parent);
        let mut words: Vec<String> = chain.filter_map(|at| Some(self.nodes.get(at)?.text.clone())).collect();
        words.reverse();
        words
    }

    /// What became of a node and why, in a sentence.
    pub fn reason(&self, at: usize) -> String {
        let Some(node) = self.nodes.get(at) else { return String::new() };
        let last = self.last_kept.get(node.step).copied().unwrap_or(f32::NEG_INFINITY);
        match node.state {
            State::Inner => format!("Kept and continued, log p {:.2}", node.total),
            State::Finished => format!("Finished, log p {:.2}", node.total),
            State::Cut => format!("Cut, since it reached the maximal length, log p {:.2}", node.total),
            State::Pruned if !node.is_kept => {
                format!(
                    "Pruned, since the beam was full: log p {:.2}, the last that found room had {last:.2}",
                    node.total
                )
            }
            State::Pruned if node.children.is_empty() => {
                format!("Kept with log p {:.2}, but none of its continuations was near enough to be kept", node.total)
            }
            State::Pruned => {
                format!("Kept with log p {:.2}, but all that continued it fell out of the beam", node.total)
            }
        }
    }

    /// The numbers of the nodes that are drawn and the nodes themselves, in the order of [`tree::Tree`].
    pub fn shown(&self, shown: &Shown<'_>) -> (Vec<usize>, Vec<tree::Node<'_>>) {
        let is_drawn = |at: &usize| {
            let node = &self.nodes[*at];
            let leads = node.state != State::Pruned || node.is_best || shown.selected == Some(*at);
            node.step < shown.steps && (shown.pruned || leads || (node.is_kept && node.step + 1 == shown.steps))
        };
        let (mut ids, mut nodes): (Vec<usize>, Vec<tree::Node<'_>>) = (Vec::new(), Vec::new());
        let mut places = vec![None; self.nodes.len()];
        let mut stack: Vec<usize> = self.roots.iter().copied().filter(is_drawn).rev().collect();
        while let Some(at) = stack.pop() {
            let node = &self.nodes[at];
            let is_closed = shown.collapsed.is_some_and(|collapsed| collapsed.contains(&at));
            let drawn: Vec<usize> =
                node.children.iter().copied().filter(|child| !is_closed && is_drawn(child)).collect();
            places[at] = Some(nodes.len());
            ids.push(at);
            // what is not known yet at the last step that is drawn has no fate
            let is_last = node.step + 1 == shown.steps && node.step + 1 < self.steps;
            let state = if is_last && node.is_kept && node.state == State::Pruned { State::Inner } else { node.state };
            nodes.push(tree::Node {
                text: node.text.as_str().into(),
                step: node.step,
                parent: node.parent.and_then(|parent| places[parent]),
                log_p: node.log_p,
                state,
                is_best: node.is_best,
                is_selected: shown.selected == Some(at),
                said: node.said,
                hidden: if is_last { 0 } else { node.children.len() - drawn.len() },
            });
            stack.extend(drawn.into_iter().rev());
        }
        (ids, nodes)
    }
}
