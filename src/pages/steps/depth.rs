//! Floor 11: how much of the machine is shown: the way of the words alone, the boxes of one step, or every box.

use crate::models::anatomy::Machine;

/// How far one looks into the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Depth {
    /// Words, weights, words.
    #[default]
    Sentence,
    /// What one step reads and what it finds.
    Step,
    /// Every box, gates too.
    Inside,
}

/// One line of [`DEPTHS`].
#[derive(Clone, Copy, Debug)]
pub struct DepthEntry {
    /// Which.
    pub depth: Depth,
    /// In the saved state and in lessons.
    pub key: &'static str,
    /// On a button.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The stages that come with it, by their keys.
    stages: &'static [&'static str],
}

/// Every depth, the shallowest first.
pub const DEPTHS: &[DepthEntry] = &[
    DepthEntry {
        depth: Depth::Sentence,
        key: "sentence",
        name: id!("Sentence"),
        about: id!("The fewest boxes: the sentence, where the step looks, and the word it chooses"),
        stages: &["words", "summary", "alpha", "candidates", "word"],
    },
    DepthEntry {
        depth: Depth::Step,
        key: "step",
        name: id!("One step"),
        about: id!("What one step reads, what it mixes and what it chooses; what happens within a box stays closed"),
        stages: &["annotations", "previous", "state", "top", "back", "place", "energies", "context", "next"],
    },
    DepthEntry {
        depth: Depth::Inside,
        key: "inside",
        name: id!("Inside"),
        about: id!("Every box of the machine, with its gates and layers"),
        stages: &[],
    },
];

impl Depth {
    /// Its line of the table.
    pub fn entry(self) -> &'static DepthEntry {
        DEPTHS.iter().find(|entry| entry.depth == self).unwrap_or(&DEPTHS[0])
    }

    /// The depth of this key.
    pub fn from_key(key: &str) -> Option<Self> {
        DEPTHS.iter().find(|entry| entry.key == key).map(|entry| entry.depth)
    }

    /// The shallowest depth that shows a stage.
    pub fn of(stage: &str) -> Self {
        DEPTHS.iter().find(|entry| entry.stages.contains(&stage)).map_or(Self::Inside, |entry| entry.depth)
    }

    /// The machine as it is drawn at this depth.
    pub fn drawn(self, machine: &Machine) -> Machine {
        machine.only(|stage| Self::of(stage.key) <= self)
    }
}
