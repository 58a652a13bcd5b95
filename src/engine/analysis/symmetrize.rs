//! One alignment out of two directions (Och and Ney 2003, section 5; Koehn et al. 2005, section 3), with the
//! results of Moses' `symal`. Imports `text`.
//!
//! `forward` are the links of the model that translates source to target, `backward` those of the model of the other
//! direction, turned with [`Link::turned`] so that `source` means the same side in both.

use std::{collections::BTreeSet, ops::Bound};

use crate::text::links::Link;

/// A way to put two directions together.
#[derive(Clone, Copy, Debug)]
pub struct Symmetrization {
    pub name: &'static str,
    pub about: &'static str,
    /// Forward and backward links to common ones, sorted by source word.
    pub combine: fn(&[Link], &[Link]) -> Vec<Link>,
}

/// All of them, from few links to many. A new one is one line here.
pub const SYMMETRIZATIONS: &[Symmetrization] = &[
    Symmetrization {
        name: id!("intersection"),
        about: id!("Links that both directions have."),
        combine: |forward, backward| sorted(&both(forward, backward)),
    },
    Symmetrization {
        name: "grow-diag",
        about: id!("The intersection, grown by neighbouring links of the union that touch a word without a link."),
        combine: |forward, backward| grow_diag(forward, backward, None),
    },
    Symmetrization {
        name: "grow-diag-final-and",
        about: id!("Grow-diag, then links of either direction between two words without a link."),
        combine: |forward, backward| grow_diag(forward, backward, Some(Final::Both)),
    },
    Symmetrization {
        name: "grow-diag-final",
        about: id!("Grow-diag, then links of either direction that touch a word without a link."),
        combine: |forward, backward| grow_diag(forward, backward, Some(Final::Either)),
    },
    Symmetrization {
        name: id!("union"),
        about: id!("Links that either direction has."),
        combine: |forward, backward| sorted(&either(forward, backward)),
    },
];

pub fn symmetrization(name: &str) -> Option<&'static Symmetrization> {
    SYMMETRIZATIONS.iter().find(|symmetrization| symmetrization.name == name)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Final {
    Both,
    Either,
}

/// (target, source): the order in which `symal` goes through a sentence.
type Points = BTreeSet<(usize, usize)>;

/// Where `symal` looks for neighbours, in its order: (target, source).
const NEIGHBOURS: [(isize, isize); 8] = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)];

fn points(links: &[Link]) -> Points {
    links.iter().map(|link| (link.target, link.source)).collect()
}

fn both(forward: &[Link], backward: &[Link]) -> Points {
    &points(forward) & &points(backward)
}

fn either(forward: &[Link], backward: &[Link]) -> Points {
    &points(forward) | &points(backward)
}

fn sorted(points: &Points) -> Vec<Link> {
    let mut links: Vec<Link> =
        points.iter().map(|(target, source)| Link { source: *source, target: *target }).collect();
    links.sort_unstable();
    links
}

struct Grown {
    points: Points,
    targets: BTreeSet<usize>,
    sources: BTreeSet<usize>,
}

impl Grown {
    fn new(points: Points) -> Self {
        let targets = points.iter().map(|(target, _)| *target).collect();
        let sources = points.iter().map(|(_, source)| *source).collect();
        Self { points, targets, sources }
    }

    fn insert(&mut self, point: (usize, usize)) {
        self.points.insert(point);
        self.targets.insert(point.0);
        self.sources.insert(point.1);
    }

    /// Whether a point's target word and source word are without a link.
    fn free(&self, (target, source): (usize, usize)) -> (bool, bool) {
        (!self.targets.contains(&target), !self.sources.contains(&source))
    }

    fn grow(&mut self, union: &Points) {
        loop {
            let before = self.points.len();
            // What is added behind the current point is visited in the same pass, as in `symal`.
            let mut next = self.points.first().copied();
            while let Some(point) = next {
                for neighbour in NEIGHBOURS.iter().filter_map(|step| beside(point, *step)) {
                    let (target_free, source_free) = self.free(neighbour);
                    if (target_free || source_free) && union.contains(&neighbour) {
                        self.insert(neighbour);
                    }
                }
                next = self.points.range((Bound::Excluded(point), Bound::Unbounded)).next().copied();
            }
            if self.points.len() == before {
                return;
            }
        }
    }

    fn finish(&mut self, direction: &Points, rule: Final) {
        for point in direction {
            let add = match (rule, self.free(*point)) {
                (Final::Both, (target_free, source_free)) => target_free && source_free,
                (Final::Either, (target_free, source_free)) => target_free || source_free,
            };
            if add {
                self.insert(*point);
            }
        }
    }
}

fn beside(point: (usize, usize), step: (isize, isize)) -> Option<(usize, usize)> {
    Some((point.0.checked_add_signed(step.0)?, point.1.checked_add_signed(step.1)?))
}

/// Koehn et al. 2005: grow-diag, and after it the last step over the forward links and then the backward ones.
fn grow_diag(forward: &[Link], backward: &[Link], last: Option<Final>) -> Vec<Link> {
    let mut grown = Grown::new(both(forward, backward));
    grown.grow(&either(forward, backward));
    if let Some(rule) = last {
        // `symal` first takes its matrix b, a source word for each target word, then a, a target word for each source word.
        grown.finish(&points(forward), rule);
        grown.finish(&points(backward), rule);
    }
    sorted(&grown.points)
}
