//! Floor 9: interventions as they are kept between starts, in a form of their own.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::app::document::scene::Owned;
use crate::jobs::live::interventions::{Ban, Interventions, Pin, Start, Word};

/// What is set for a model. Unknown keys are ignored, missing ones are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedInterventions {
    /// The folder of the model, or those of all members of an ensemble.
    pub folders: Vec<PathBuf>,
    /// Words that the translation begins with.
    pub prefix: Vec<SavedWord>,
    /// Words that are said further on.
    pub forces: Vec<SavedWord>,
    /// Words that are not said.
    pub bans: Vec<SavedWord>,
    /// Rows of alpha.
    pub pins: Vec<SavedPin>,
    /// Rows whose weights change places: target position, from 0, and seed.
    pub orders: Vec<(usize, u64)>,
    /// Source words without weight, as bytes of the text.
    pub masks: Vec<Range<usize>>,
    /// Temperature of the softmax over the energies.
    pub temperature: Option<f32>,
}

/// A target word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedWord {
    /// An entry of the vocabulary, or text that is still to be cut.
    pub word: String,
    /// It is text.
    pub is_typed: bool,
    /// A person chose it; of a prefix.
    pub is_forced: bool,
    /// Target position, from 0; of a word that is not said, and of one that is said further on.
    pub i: Option<usize>,
}

/// A row of alpha.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedPin {
    /// Target position, from 0.
    pub i: usize,
    /// alpha_ij, [t_x].
    pub alpha: Vec<f32>,
}

impl SavedWord {
    fn of(word: &Word) -> Self {
        Self { word: word.text().to_owned(), is_typed: matches!(word, Word::Typed(_)), ..Self::default() }
    }

    fn word(self) -> Word {
        if self.is_typed { Word::Typed(self.word) } else { Word::Entry(self.word) }
    }
}

impl SavedInterventions {
    /// As they are kept; `None` where a path is not text.
    pub fn of(owned: &Owned) -> Option<Self> {
        let Interventions { prefix, forces, bans, pins, orders, masks, temperature } = &*owned.interventions;
        let start = |start: &Start| SavedWord { is_forced: start.is_forced, ..SavedWord::of(&start.word) };
        let force = |(i, word): &(usize, Word)| SavedWord { i: Some(*i), ..SavedWord::of(word) };
        let ban = |ban: &Ban| SavedWord { i: ban.i, ..SavedWord::of(&ban.word) };
        let pin = |pin: &Pin| SavedPin { i: pin.i, alpha: pin.alpha.to_vec() };
        owned.folders.iter().all(|folder| folder.to_str().is_some()).then(|| Self {
            folders: owned.folders.clone(),
            prefix: prefix.iter().map(start).collect(),
            forces: forces.iter().map(force).collect(),
            bans: bans.iter().map(ban).collect(),
            pins: pins.iter().map(pin).collect(),
            orders: orders.clone(),
            masks: masks.clone(),
            temperature: *temperature,
        })
    }

    /// As they were; what makes no sense is left out. `None` where nothing is left.
    pub fn owned(self) -> Option<Owned> {
        let is_row = |alpha: &[f32]| alpha.iter().all(|alpha| alpha.is_finite() && *alpha >= 0.0);
        let start = |word: SavedWord| Start { is_forced: word.is_forced, word: word.word() };
        let pins = self.pins.into_iter().filter(|pin| is_row(&pin.alpha));
        let interventions = Interventions {
            prefix: self.prefix.into_iter().map(start).collect(),
            forces: self.forces.into_iter().filter_map(|word| Some((word.i?, word.word()))).collect(),
            bans: self.bans.into_iter().map(|word| Ban { i: word.i, word: word.word() }).collect(),
            pins: pins.map(|pin| Pin { i: pin.i, alpha: Arc::from(pin.alpha) }).collect(),
            orders: self.orders,
            masks: self.masks.into_iter().filter(|mask| mask.start <= mask.end).collect(),
            temperature: self.temperature.filter(|t| t.is_finite() && *t > 0.0),
        };
        (!interventions.is_empty()).then(|| Owned { folders: self.folders, interventions: Arc::new(interventions) })
    }
}
