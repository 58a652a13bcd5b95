//! Floor 3: the table in which an architecture says what its boxes are, what they show and what flows between them.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::models::Shapes;
use crate::models::anatomy::{
    Arrow, Equation, Flows, Machine, MachinePart, MachineSpan, MachineStage, Miswiring, Quantity, numbers,
};
use crate::models::config::Config;
use crate::nn::trace::Notes;

/// How an architecture is drawn.
pub struct Plan {
    /// As its paper has it, in the order of computing.
    pub stages: &'static [StageEntry],
    /// What is otherwise with this configuration, or rewired.
    pub adapt: fn(&Config, Option<Miswiring>, &mut Vec<StageEntry>),
}

/// One line of a [`Plan`].
#[derive(Clone, Copy, Debug)]
pub struct StageEntry {
    /// See [`MachineStage`].
    pub key: &'static str,
    /// See [`MachineStage`].
    pub title: &'static str,
    /// See [`MachineStage`].
    pub symbol: &'static str,
    /// See [`MachineStage`].
    pub place: (usize, usize),
    /// See [`MachineStage`].
    pub about: &'static str,
    /// See [`MachineStage`].
    pub equations: &'static [Equation],
    /// Its tensors by name, or all below a name that ends in a dot; those that the model lacks are left out.
    pub weights: &'static [&'static str],
    /// Its numbers.
    pub shows: &'static [ShownQuantity],
    /// The stages of the same step that it reads.
    pub reads: &'static [&'static str],
    /// The stages of the step before that it reads,
    pub recalls: &'static [&'static str],
    /// and what it reads in their place at the first step.
    pub starts: &'static [&'static str],
    /// Which layers of so many `{k}` stands for in names of tensors and notes.
    pub layers: fn(usize) -> Range<usize>,
}

/// A value that a stage shows.
#[derive(Clone, Copy, Debug)]
pub struct ShownQuantity {
    /// The name under which it was noted.
    pub note: &'static str,
    /// See [`Quantity`].
    pub symbol: &'static str,
    /// See [`Quantity`].
    pub name: &'static str,
    /// See [`Quantity`].
    pub span: MachineSpan,
    /// What it is in each layer, where that differs; the last also further up.
    pub by_layer: &'static [&'static str],
}

/// The tensors of a decoder's gates.
pub(super) const GATES: &[&str] = &[
    "decoder.W_z",
    "decoder.U_z",
    "decoder.C_z",
    "decoder.b_z",
    "decoder.W_r",
    "decoder.U_r",
    "decoder.C_r",
    "decoder.b_r",
];

/// A value.
pub(super) const fn shown(
    note: &'static str,
    symbol: &'static str,
    name: &'static str,
    span: MachineSpan,
) -> ShownQuantity {
    ShownQuantity { note, symbol, name, span, by_layer: &[] }
}

/// An equation and where the paper has it.
pub(super) const fn line(text: &'static str, source: &'static str) -> Equation {
    Equation { text, source }
}

/// A stage that shows nothing and reads nothing.
pub(super) const fn stage(
    (key, title, symbol): (&'static str, &'static str, &'static str),
    place: (usize, usize),
    about: &'static str,
) -> StageEntry {
    let (equations, weights, shows, reads, recalls, starts) = (&[], &[], &[], &[], &[], &[]);
    let layers = |_| 0..1;
    StageEntry { key, title, symbol, place, about, equations, weights, shows, reads, recalls, starts, layers }
}

/// The first stage of every machine.
pub(super) const fn words(symbol: &'static str) -> StageEntry {
    stage(("words", "Source words", symbol), (0, 0), "The sentence as the model's vocabulary cuts it.")
}

/// The second.
pub(super) const fn embedding(
    symbol: &'static str,
    equations: &'static [Equation],
    shows: &'static [ShownQuantity],
) -> StageEntry {
    let about = "Each word becomes its row of a learned table.";
    let place = stage(("embedding", "Embeddings", symbol), (1, 0), about);
    StageEntry { equations, weights: &["source_embedding"], shows, reads: &["words"], ..place }
}

/// The last.
pub(super) const fn word(symbol: &'static str) -> StageEntry {
    let about = "What is said, and read again by the next step.";
    StageEntry { reads: &["candidates"], ..stage(("word", "The word", symbol), (4, 3), about) }
}

impl StageEntry {
    /// Of a model with tensors `all`.
    fn stage(&self, all: &Shapes, layers: usize) -> MachineStage {
        let Self { key, title, symbol, place, about, equations, .. } = *self;
        let mut weights: Shapes = Vec::new();
        for name in (self.layers)(layers).flat_map(|k| self.weights.iter().map(move |name| in_layer(name, k))) {
            let is_meant = |own: &str| own == name || (name.ends_with('.') && own.starts_with(&name));
            let found = all.iter().filter(|(own, _)| is_meant(own) && weights.iter().all(|(known, _)| known != own));
            weights.extend(found.cloned().collect::<Vec<_>>());
        }
        MachineStage { key, title, symbol, place, about, equations, weights }
    }

    /// What it shows of these notes.
    pub(super) fn part(&self, notes: &Notes, layers: usize) -> Result<MachinePart> {
        let all = (self.layers)(layers).flat_map(|k| self.shows.iter().map(move |shown| shown.quantity(notes, k)));
        Ok(MachinePart { key: self.key, quantities: all.collect::<Result<_>>()? })
    }
}

impl ShownQuantity {
    fn quantity(&self, notes: &Notes, k: usize) -> Result<Quantity> {
        let name = in_layer(self.note, k);
        let mut quantity = Quantity { symbol: self.symbol, name: self.name, span: self.span, ..Quantity::default() };
        if let Some(last) = self.by_layer.len().checked_sub(1) {
            quantity.name = self.by_layer[k.min(last)];
        }
        for (_, tensor) in notes.iter().filter(|(own, _)| *own == name) {
            quantity.width = tensor.dims().last().copied().unwrap_or(1);
            quantity.values.extend(numbers(tensor)?);
        }
        if quantity.values.is_empty() {
            return Err(Error::Internal(format!("the model did not note `{name}`")));
        }
        Ok(quantity)
    }
}

fn in_layer(name: &str, k: usize) -> String {
    name.replace("{k}", &k.to_string())
}

/// The drawing of these stages; what a stage reads of one that is not there is left out.
pub(super) fn machine(entries: &[StageEntry], all: &Shapes, layers: usize) -> Machine {
    let arrows = entries.iter().flat_map(|stage| {
        let at = |flows: Flows, from: &'static [&'static str]| {
            from.iter().map(move |from| Arrow { from, to: stage.key, flows })
        };
        at(Flows::Always, stage.reads)
            .chain(at(Flows::FromBefore, stage.recalls))
            .chain(at(Flows::AtFirst, stage.starts))
    });
    let is_there = |arrow: &Arrow| entries.iter().any(|stage| stage.key == arrow.from);
    Machine {
        stages: entries.iter().map(|stage| stage.stage(all, layers)).collect(),
        arrows: arrows.filter(is_there).collect(),
    }
}
