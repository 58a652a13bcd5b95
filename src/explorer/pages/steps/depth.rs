//! How much of the machine is shown: the way of the words alone, the boxes of one step, or every box.

use engine::models::anatomy::Diagram;

/// How much of the machine is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Depth {
    #[default]
    Sentence,
    Step,
    Inside,
}

/// A choice with its texts.
#[derive(Clone, Copy, Debug)]
pub struct StepsChoice<T> {
    pub value: T,
    /// In the saved state and in lessons.
    pub key: &'static str,
    pub name: &'static str,
    pub about: &'static str,
}

macro_rules! chosen_of {
    ($kind:ty, $table:ident) => {
        impl $kind {
            pub fn entry(self) -> &'static StepsChoice<Self> {
                $table.iter().find(|entry| entry.value == self).unwrap_or(&$table[0])
            }

            pub fn from_key(key: &str) -> Option<Self> {
                $table.iter().find(|entry| entry.key == key).map(|entry| entry.value)
            }
        }
    };
}

pub(super) use chosen_of;

chosen_of!(Depth, DEPTHS);

pub const DEPTHS: &[StepsChoice<Depth>] = &[
    StepsChoice {
        value: Depth::Sentence,
        key: "sentence",
        name: id!("Sentence"),
        about: id!("The fewest boxes: the sentence, where the step looks, and the word it chooses"),
    },
    StepsChoice {
        value: Depth::Step,
        key: "step",
        name: id!("One step"),
        about: id!("What one step reads, what it mixes and what it chooses; what happens within a box stays closed"),
    },
    StepsChoice {
        value: Depth::Inside,
        key: "inside",
        name: id!("Inside"),
        about: id!("Every box of the machine, with its gates and layers"),
    },
];

impl Depth {
    pub fn of(stage: &str) -> Self {
        match stage {
            "words" | "summary" | "alpha" | "candidates" | "word" => Self::Sentence,
            "annotations" | "previous" | "state" | "top" | "back" | "place" | "energies" | "context"
            | "attentional" | "next" => Self::Step,
            _ => Self::Inside,
        }
    }

    pub fn drawn(self, machine: &Diagram) -> Diagram {
        machine.only(|stage| Self::of(stage.key) <= self)
    }
}
