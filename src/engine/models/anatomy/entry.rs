//! The boxes of which an architecture makes its table: what they are, what they show and what flows between them.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::models::anatomy::quantity::{Equation, MachinePart, MachineSpan, Quantity, numbers};
use crate::{models::header::Shapes, nn::trace::Notes};

/// A box of the machine, a line of a [`Plan`](crate::models::entry::Plan).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineStage {
    pub key: &'static str,
    pub title: &'static str,
    /// What the box holds, in the notation of [`figure::equation`].
    pub symbol: &'static str,
    /// Column and row of the drawing, from 0; the first row is the encoder, which reads the source once.
    pub place: (usize, usize),
    pub about: &'static str,
    pub equations: &'static [Equation],
    /// Its tensors by name, or all below a name that ends in a dot; those that the model lacks are left out.
    pub weights: &'static [&'static str],
    pub shows: &'static [ShownQuantity],
    pub reads: &'static [&'static str],
    pub recalls: &'static [&'static str],
    pub starts: &'static [&'static str],
    /// What `{k}` stands for in names of tensors and notes, and `{l}` where they count from 1.
    pub layers: Layers,
}

/// Some layers of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers {
    Lowest,
    Lower,
    Highest,
}

impl Layers {
    fn of(self, layers: usize) -> Range<usize> {
        match self {
            Self::Lowest => 0..1,
            Self::Lower => 0..layers.saturating_sub(1),
            Self::Highest => layers.saturating_sub(1)..layers,
        }
    }
}

/// A value that a stage shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownQuantity {
    pub note: &'static str,
    pub symbol: &'static str,
    pub name: &'static str,
    pub span: MachineSpan,
    /// What it is in each layer, where that differs; the last also further up.
    pub by_layer: &'static [&'static str],
}

pub(super) const GATES: &[&str] = &[
    "decoder.W_z", "decoder.U_z", "decoder.C_z", "decoder.b_z", "decoder.W_r", "decoder.U_r", "decoder.C_r",
    "decoder.b_r",
];

pub(super) const fn shown(
    note: &'static str, symbol: &'static str, name: &'static str, span: MachineSpan,
) -> ShownQuantity {
    ShownQuantity { note, symbol, name, span, by_layer: &[] }
}

pub(super) const fn line(text: &'static str, source: &'static str) -> Equation {
    Equation { text, source }
}

pub(super) const fn stage(
    (key, title, symbol): (&'static str, &'static str, &'static str), place: (usize, usize), about: &'static str,
) -> MachineStage {
    let (equations, weights, shows, reads, recalls, starts) = (&[], &[], &[], &[], &[], &[]);
    let layers = Layers::Lowest;
    MachineStage { key, title, symbol, place, about, equations, weights, shows, reads, recalls, starts, layers }
}

pub(super) const fn words(symbol: &'static str) -> MachineStage {
    stage(("words", id!("Source words"), symbol), (0, 0), id!("The sentence as the model's vocabulary cuts it."))
}

pub(super) const fn embedding(
    symbol: &'static str, equations: &'static [Equation], shows: &'static [ShownQuantity],
) -> MachineStage {
    let about = id!("Each word becomes its row of a learned table.");
    let place = stage(("embedding", id!("Embeddings"), symbol), (1, 0), about);
    MachineStage { equations, weights: &["source_embedding"], shows, reads: &["words"], ..place }
}

pub(super) const fn shares(equations: &'static [Equation], place: (usize, usize)) -> MachineStage {
    let about = id!("Energies as shares that sum to 1: the row of the heatmap.");
    let shows = const { &[shown("alpha_i", "α_{ij}", id!("share of each source word"), MachineSpan::Gate)] };
    MachineStage { equations, shows, reads: &["energies"], ..stage(("alpha", id!("Weights"), "α_{ij}"), place, about) }
}

pub(super) const fn candidates(
    symbol: &'static str, equations: &'static [Equation], weights: &'static [&'static str],
) -> MachineStage {
    let about = id!("Every word of the vocabulary with its probability.");
    MachineStage {
        equations,
        weights,
        reads: &["readout"],
        ..stage(("candidates", id!("Candidates"), symbol), (3, 3), about)
    }
}

pub(super) const fn word(symbol: &'static str) -> MachineStage {
    let about = id!("What is said, and read again by the next step.");
    MachineStage { reads: &["candidates"], ..stage(("word", id!("The word"), symbol), (4, 3), about) }
}

impl MachineStage {
    pub fn reads_source(&self) -> bool {
        self.place.1 == 0
    }

    pub(super) fn weights_among(&self, all: &Shapes, layers: usize) -> Shapes {
        let mut weights: Shapes = Vec::new();
        for name in self.layers.of(layers).flat_map(|k| self.weights.iter().map(move |name| in_layer(name, k))) {
            let is_meant = |own: &str| own == name || (name.ends_with('.') && own.starts_with(&name));
            let found = all.iter().filter(|(own, _)| is_meant(own) && weights.iter().all(|(known, _)| known != own));
            weights.extend(found.cloned().collect::<Vec<_>>());
        }
        weights
    }

    pub(super) fn part(&self, notes: &Notes, layers: usize) -> Result<MachinePart> {
        let all = self.layers.of(layers).flat_map(|k| self.shows.iter().map(move |shown| shown.quantity(notes, k)));
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
        for (own, tensor) in notes {
            if let Some(term) = own.strip_prefix(&name).and_then(|rest| rest.strip_prefix('+')) {
                quantity.terms.push((term.to_owned(), numbers(tensor)?));
            }
        }
        if quantity.values.is_empty() {
            return Err(Error::Internal(format!("the model did not note `{name}`")));
        }
        Ok(quantity)
    }
}

fn in_layer(name: &str, k: usize) -> String {
    name.replace("{k}", &k.to_string()).replace("{l}", &(k + 1).to_string())
}
