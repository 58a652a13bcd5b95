//! The growing tree of a search, from which hypotheses and the trace are read.
//!
//! All extensions of one row share its alignment, so a row is copied once, as an [`Expansion`],
//! and only when something that extends it is kept. The trace shares it; a search without a trace
//! drops it as soon as no hypothesis leads through it.

use std::sync::Arc;

use crate::decoding::trace::{Hypothesis, Node, NodeFate};
use crate::decoding::{rank::Ranking, select::Extension};
use crate::models::StepOutput;

/// What one row of a step says about all its extensions.
#[derive(Clone, Debug, Default)]
pub struct Expansion {
    alpha: Option<Arc<[f32]>>,
    energies: Option<Arc<[f32]>>,
    p_t: Option<f32>,
    head: Option<Arc<[f32]>>,
    candidates: Vec<(u32, f32)>,
    users: usize,
}

impl Expansion {
    /// Copies what is kept of row `row`: its alignment over `t_x` words and its best words.
    pub fn read(output: &StepOutput, row: usize, t_x: usize, candidates: usize) -> Self {
        Self {
            alpha: output.alpha_row(row, t_x).map(Arc::from),
            energies: output.energies_row(row, t_x).map(Arc::from),
            p_t: output.p_t_row(row),
            head: output.head_row(row, t_x).map(Arc::from),
            candidates: output.best_row(row).iter().take(candidates).copied().collect(),
            users: 0,
        }
    }
}

#[derive(Clone, Debug)]
struct Branch {
    parent: Option<usize>,
    step: usize,
    token: u32,
    log_p: f32,
    total: f64,
    expansion: usize,
    fate: NodeFate,
    heirs: usize,
}

/// All nodes of one sentence, append-only; a parent always precedes its children.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    branches: Vec<Branch>,
    expansions: Vec<Expansion>,
}

impl Tree {
    /// Adds what a row says; returns its index for [`Tree::push`].
    pub fn expand(&mut self, expansion: Expansion) -> usize {
        self.expansions.push(expansion);
        self.expansions.len() - 1
    }

    /// Adds a node; returns its id.
    pub fn push(&mut self, parent: Option<usize>, extension: &Extension, expansion: usize, fate: NodeFate) -> usize {
        let step = parent.map_or(0, |parent| self.branches[parent].step + 1);
        let Extension { total, token, log_p, .. } = *extension;
        self.branches.push(Branch { parent, step, token, log_p, total, expansion, fate, heirs: 0 });
        self.expansions[expansion].users += 1;
        if let Some(parent) = parent {
            self.branches[parent].heirs += 1;
        }
        self.branches.len() - 1
    }

    /// Gives up the alignment of a node that nothing extends, and of what leads to it alone: it can no longer be part
    /// of any hypothesis. With a wide beam and a long sentence this is most of what was read.
    pub fn forget(&mut self, node: usize) {
        let mut next = Some(node);
        while let Some(branch) = next.map(|node| &self.branches[node]).filter(|branch| branch.heirs == 0) {
            let expansion = &mut self.expansions[branch.expansion];
            expansion.users -= 1;
            if expansion.users == 0 {
                *expansion = Expansion::default();
            }
            next = branch.parent;
            if let Some(parent) = next {
                self.branches[parent].heirs -= 1;
            }
        }
    }

    pub fn token(&self, node: usize) -> u32 {
        self.branches[node].token
    }

    pub fn total(&self, node: usize) -> f64 {
        self.branches[node].total
    }

    /// What the hypothesis that ends with a node is ranked by.
    pub fn rank(&self, node: usize, ranking: Ranking) -> f64 {
        let branch = &self.branches[node];
        let alpha = |node: &usize| self.expansions[self.branches[*node].expansion].alpha.as_deref();
        ranking.score(branch.total, branch.step + 1, || self.chain(node).iter().filter_map(alpha).collect())
    }

    fn chain(&self, tip: usize) -> Vec<usize> {
        let mut chain: Vec<usize> = std::iter::successors(Some(tip), |&node| self.branches[node].parent).collect();
        chain.reverse();
        chain
    }

    /// Every node for the trace. Call it when the search has ended: a node that leads neither to a finished nor to a
    /// cut hypothesis counts as pruned.
    pub fn nodes(&self) -> Vec<Node> {
        let mut leads = vec![false; self.branches.len()];
        for (id, branch) in self.branches.iter().enumerate().rev() {
            leads[id] |= matches!(branch.fate, NodeFate::Finished | NodeFate::Cut);
            if let (true, Some(parent)) = (leads[id], branch.parent) {
                leads[parent] = true;
            }
        }
        let node = |(id, branch): (usize, &Branch)| {
            let expansion = &self.expansions[branch.expansion];
            Node {
                id,
                parent: branch.parent,
                step: branch.step,
                token: branch.token,
                log_p: branch.log_p,
                total: branch.total as f32,
                alpha: expansion.alpha.clone(),
                energies: expansion.energies.clone(),
                p_t: expansion.p_t,
                candidates: expansion.candidates.clone(),
                fate: if leads[id] { branch.fate } else { NodeFate::Pruned },
            }
        };
        self.branches.iter().enumerate().map(node).collect()
    }
}

/// The path from the root to a tip, with its hypothesis. Moving to another tip costs what differs.
#[derive(Clone, Debug, Default)]
pub struct TreePath {
    chain: Vec<usize>,
    pub(crate) hypothesis: Hypothesis,
}

impl TreePath {
    /// Moves to `tip` and returns the hypothesis that ends there. `traced`: its [`Hypothesis::node`] is set.
    pub fn follow(&mut self, tree: &Tree, tip: usize, ranking: Ranking, traced: bool) -> &Hypothesis {
        let chain = tree.chain(tip);
        let shared = self.chain.iter().zip(&chain).take_while(|(a, b)| a == b).count();
        self.truncate(shared);
        for &node in &chain[shared..] {
            self.push(&tree.branches[node], &tree.expansions[tree.branches[node].expansion]);
        }
        self.chain = chain;
        self.hypothesis.log_p = tree.total(tip) as f32;
        self.hypothesis.rank = tree.rank(tip, ranking) as f32;
        self.hypothesis.finished = tree.branches[tip].fate == NodeFate::Finished;
        self.hypothesis.node = traced.then_some(tip);
        &self.hypothesis
    }

    fn truncate(&mut self, length: usize) {
        let hypothesis = &mut self.hypothesis;
        hypothesis.tokens.truncate(length);
        hypothesis.token_log_p.truncate(length);
        hypothesis.candidates.truncate(length);
        if let Some(alpha) = &mut hypothesis.alpha {
            alpha.truncate(length);
        }
        if let Some(energies) = &mut hypothesis.energies {
            energies.truncate(length);
        }
        if let Some(p_t) = &mut hypothesis.p_t {
            p_t.truncate(length);
        }
        if let Some(head) = &mut hypothesis.head {
            head.truncate(length.saturating_sub(1));
        }
    }

    fn push(&mut self, branch: &Branch, expansion: &Expansion) {
        let hypothesis = &mut self.hypothesis;
        hypothesis.tokens.push(branch.token);
        hypothesis.token_log_p.push(branch.log_p);
        hypothesis.candidates.push(expansion.candidates.clone());
        if let Some(alpha) = &expansion.alpha {
            hypothesis.alpha.get_or_insert_default().push(alpha.to_vec());
        }
        if let Some(energies) = &expansion.energies {
            hypothesis.energies.get_or_insert_default().push(energies.to_vec());
        }
        if let Some(p_t) = expansion.p_t {
            hypothesis.p_t.get_or_insert_default().push(p_t);
        }
        if let Some(head) = &expansion.head {
            let rows = hypothesis.head.get_or_insert_default();
            rows.extend((branch.step > 0).then(|| head.to_vec()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_is_what_no_hypothesis_needs() {
        let mut tree = Tree::default();
        let row = |x: f32| Expansion { alpha: Some(Arc::from([x])), ..Expansion::default() };
        // The root's row is shown by `a` and `b`; `b` leads to `c` alone.
        let [first, of_a, of_b] = [0, 1, 2];
        for n in [first, of_a, of_b] {
            assert_eq!(tree.expand(row(n as f32)), n);
        }
        let mut grow = |parent, expansion| {
            tree.push(parent, &Extension { total: 0.0, parent: 0, token: 2, log_p: 0.0 }, expansion, NodeFate::Alive)
        };
        let (a, b) = (grow(None, first), grow(None, first));
        let (d, c) = (grow(Some(a), of_a), grow(Some(b), of_b));
        tree.forget(c);
        let left = |tree: &Tree| tree.expansions.iter().map(|one| one.alpha.is_some()).collect::<Vec<_>>();
        assert_eq!(left(&tree), [true, true, false]);
        let mut path = TreePath::default();
        let alpha = path.follow(&tree, d, Ranking::default(), false).alpha.clone();
        assert_eq!(alpha, Some(vec![vec![0.0], vec![1.0]]));
        tree.forget(d);
        assert_eq!(left(&tree), [false; 3]);
    }
}
