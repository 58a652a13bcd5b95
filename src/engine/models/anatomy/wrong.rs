//! Models as they are often wrongly drawn and programmed, and as they are before their training. Switched on, they
//! show what the difference does.

use serde::{Deserialize, Serialize};
/// A wrong wiring, or a model that has learned nothing yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Miswiring {
    /// The reset gate stands on the other side of the recurrent product.
    ResetPlace,
    /// The step moves first and aligns by s_i instead of s_{i-1}.
    LateQuery,
    /// The weights do not read the annotations.
    BlindWeights,
    /// Nothing says where a word stands.
    NoPositions,
    /// Wired as in the paper, with the random numbers that a training starts from.
    Untrained,
}

/// One line of [`WRONGS`].
#[derive(Clone, Copy, Debug)]
pub struct WrongEntry {
    pub wrong: Miswiring,
    pub key: &'static str,
    pub name: &'static str,
    pub about: &'static str,
    /// Names of the architectures that it applies to; empty: all.
    pub architectures: &'static [&'static str],
    pub needs_alignment: bool,
}

pub const WRONGS: &[WrongEntry] = &[
    WrongEntry {
        wrong: Miswiring::ResetPlace,
        key: "reset-place",
        name: id!("Reset gate on the other side of the product"),
        about: id!(
            "r \u{b7} (U s) where the paper has U (r \u{b7} s), or the reverse in RNNencdec's decoder: the unit of cuDNN \
            and of many libraries, under the same name."
        ),
        architectures: &["rnnencdec", "rnnsearch"],
        needs_alignment: false,
    },
    WrongEntry {
        wrong: Miswiring::LateQuery,
        key: "late-query",
        name: id!("Alignment by the new state"),
        about: id!(
            "The state moves first, with the context of the step before, and then aligns: Luong's order, often \
            drawn as Bahdanau's."
        ),
        architectures: &["rnnsearch"],
        needs_alignment: true,
    },
    WrongEntry {
        wrong: Miswiring::BlindWeights,
        key: "blind-weights",
        name: id!("Weights without the annotations"),
        about: id!(
            "Energies from the decoder alone, as in a tutorial that many have copied: without h_j every source word has \
            the same energy."
        ),
        architectures: &["rnnsearch", "luong"],
        needs_alignment: true,
    },
    WrongEntry {
        wrong: Miswiring::NoPositions,
        key: "no-positions",
        name: id!("Without positions"),
        about: id!(
            "Nothing is added to the embeddings. Self-attention reads a sentence as a bag of words: in any other order \
            it makes the same annotations."
        ),
        architectures: &["transformer"],
        needs_alignment: false,
    },
    WrongEntry {
        wrong: Miswiring::Untrained,
        key: "untrained",
        name: id!("Before training: random numbers"),
        about: id!(
            "Wired as in the paper and of the same sizes, with random numbers such as a training starts from. What differs \
            from the model has been learned."
        ),
        architectures: &[],
        needs_alignment: false,
    },
];

impl WrongEntry {
    pub fn fits(&self, architecture: &str) -> bool {
        self.architectures.is_empty() || self.architectures.contains(&architecture)
    }
}

impl Miswiring {
    pub fn entry(self) -> &'static WrongEntry {
        WRONGS.iter().find(|entry| entry.wrong == self).unwrap_or(&WRONGS[0])
    }

    pub fn label(self) -> String {
        match self {
            Self::Untrained => crate::lang::text(self.entry().name).to_owned(),
            _ => tr!("Wrong: {}", crate::lang::text(self.entry().name)),
        }
    }

    pub fn from_key(key: &str) -> Option<Self> {
        WRONGS.iter().find(|entry| entry.key == key).map(|entry| entry.wrong)
    }

    /// Those that apply to a model with this attention, such as `global general`; `location` never reads annotations.
    pub fn of(architecture: &str, attention: Option<&str>) -> impl Iterator<Item = &'static WrongEntry> {
        let is_blind = attention.is_some_and(|attention| attention.ends_with("location"));
        let fits = move |entry: &&WrongEntry| entry.fits(architecture);
        let looks = move |entry: &&WrongEntry| attention.is_some() || !entry.needs_alignment;
        WRONGS.iter().filter(fits).filter(looks).filter(move |entry| !is_blind || entry.wrong != Self::BlindWeights)
    }
}
