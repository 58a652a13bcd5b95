//! The drawing of a model: its boxes and what flows between them.

use crate::models::{anatomy::entry::MachineStage, header::Shapes};

/// What flows from one stage to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    pub from: &'static str,
    pub to: &'static str,
    pub flows: Flows,
}

/// When something flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flows {
    Always,
    FromBefore,
    AtFirst,
}

/// The drawing of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagram {
    pub stages: Vec<MachineStage>,
    pub weights: Vec<Shapes>,
    pub arrows: Vec<Arrow>,
}

impl Diagram {
    pub fn weights_of(&self, key: &str) -> &[(String, Vec<usize>)] {
        let at = self.stages.iter().position(|stage| stage.key == key);
        at.map_or(&[], |at| &self.weights[at])
    }

    /// The boxes that `keep` keeps, moved together, with the arrows that pass through those left out.
    pub fn only(&self, keep: impl Fn(&MachineStage) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.stages.len()).filter(|n| keep(&self.stages[*n])).collect();
        let mut rows: Vec<usize> = kept.iter().map(|n| self.stages[*n].place.1).collect();
        rows.sort_unstable();
        rows.dedup();
        let stage = |n: &usize| {
            let stage = self.stages[*n];
            let (column, row) = stage.place;
            let is_before = |n: &&usize| self.stages[**n].place.1 == row && self.stages[**n].place.0 < column;
            let down = rows.iter().position(|of| *of == row).unwrap_or(row);
            MachineStage { place: (kept.iter().filter(is_before).count(), down), ..stage }
        };
        let stages: Vec<MachineStage> = kept.iter().map(stage).collect();
        let is_kept = |key: &str| stages.iter().any(|stage| stage.key == key);
        let mut arrows: Vec<Arrow> = Vec::new();
        for from in stages.iter().map(|stage| stage.key) {
            let mut ways: Vec<Arrow> = self.arrows.iter().filter(|arrow| arrow.from == from).copied().collect();
            let mut seen = ways.clone();
            while let Some(way) = ways.pop() {
                if is_kept(way.to) {
                    if way.to != from && !arrows.contains(&way) {
                        arrows.push(way);
                    }
                    continue;
                }
                let further = self.arrows.iter().filter(|arrow| arrow.from == way.to);
                let further =
                    further.filter_map(|next| Some(Arrow { from, to: next.to, flows: way.flows.then(next.flows)? }));
                let further: Vec<Arrow> = further.filter(|next| !seen.contains(next)).collect();
                seen.extend(&further);
                ways.extend(further);
            }
        }
        let is_always = |arrow: &Arrow| arrows.contains(&Arrow { flows: Flows::Always, ..*arrow });
        let arrows = arrows.iter().filter(|arrow| arrow.flows == Flows::Always || !is_always(arrow)).copied().collect();
        Self { stages, weights: kept.iter().map(|n| self.weights[*n].clone()).collect(), arrows }
    }
}

impl Flows {
    fn then(self, next: Self) -> Option<Self> {
        match (self, next) {
            (flows, Self::Always) | (Self::Always, flows) => Some(flows),
            _ => None,
        }
    }
}

pub(super) fn machine(stages: Vec<MachineStage>, all: &Shapes, layers: usize) -> Diagram {
    let arrows = stages.iter().flat_map(|stage| {
        let at = |flows: Flows, from: &'static [&'static str]| {
            from.iter().map(move |from| Arrow { from, to: stage.key, flows })
        };
        at(Flows::Always, stage.reads)
            .chain(at(Flows::FromBefore, stage.recalls))
            .chain(at(Flows::AtFirst, stage.starts))
    });
    let is_there = |arrow: &Arrow| stages.iter().any(|stage| stage.key == arrow.from);
    let arrows = arrows.filter(is_there).collect();
    let weights = stages.iter().map(|stage| stage.weights_among(all, layers)).collect();
    Diagram { stages, weights, arrows }
}
