//! The beam at one step: what the search of the column had found so far, beside the path that the steps take.

use std::borrow::Cow;

use crate::{app::document::column::Column, jobs::steps::StepTrace};
use engine::decoding::{Node, NodeFate};

/// What became of a hypothesis at its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    Kept,
    Finished,
    FellOut,
}

impl Became {
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => tr!("kept"),
            Self::Finished => tr!("ended"),
            Self::FellOut => tr!("fell out"),
        }
    }
}

/// A hypothesis up to the step.
#[derive(Clone, Debug, PartialEq)]
pub struct BeamLine<'a> {
    /// Each with its log p.
    pub words: Vec<(Cow<'a, str>, f32)>,
    pub log_p: f32,
    pub became: Became,
    pub is_path: bool,
}

/// The hypotheses of step `i`, best first; none while the search runs or if it was too large to keep.
pub fn beam<'a>(column: &'a Column, trace: &StepTrace, i: usize) -> Vec<BeamLine<'a>> {
    let nodes = &column.result.nodes;
    let Some(beam) = column.beam() else { return Vec::new() };
    let ended = nodes.iter().filter(|node| node.step < i && node.fate == NodeFate::Finished).count();
    let said: Option<Vec<u32>> =
        trace.steps.iter().take(i + 1).map(|step| step.said.map(|(id, _)| id)).collect::<Option<_>>();
    let marks = column.facts.as_ref().map(|facts| &facts.marks);
    let line = |(place, node): (usize, &'a Node)| {
        let path = path(nodes, node);
        let label = |word: &'a String| marks.map_or(Cow::Borrowed(word.as_str()), |marks| marks.label(word));
        let word = |node: &&'a Node| (column.result.words.get(&node.token).map(label).unwrap_or_default(), node.log_p);
        let became = match node.fate {
            NodeFate::Finished => Became::Finished,
            NodeFate::Alive | NodeFate::Pruned | NodeFate::Cut if place < beam.saturating_sub(ended) => Became::Kept,
            NodeFate::Alive | NodeFate::Pruned | NodeFate::Cut => Became::FellOut,
        };
        let is_path = said.as_ref().is_some_and(|said| path.iter().map(|node| node.token).eq(said.iter().copied()));
        BeamLine { words: path.iter().map(word).collect(), log_p: node.total, became, is_path }
    };
    nodes.iter().filter(|node| node.step == i).enumerate().map(line).collect()
}

fn path<'a>(nodes: &'a [Node], last: &'a Node) -> Vec<&'a Node> {
    let mut path: Vec<&Node> = std::iter::successors(Some(last), |node| nodes.get(node.parent?)).collect();
    path.reverse();
    path
}
