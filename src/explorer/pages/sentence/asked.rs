//! Questions about a column that are under way, and what came of them. A leaf.

use std::sync::Arc;

use crate::jobs::live::protocol::{ColumnId, Near};
use engine::interventions::{Interventions, Pin, Word};

/// A question under way.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedProbe {
    pub number: u64,
    /// What it is about; stale once that is other. `None`: a file.
    pub subject: Option<ProbeSubject>,
    pub about: ProbeAbout,
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeSubject {
    pub column: ColumnId,
    pub source: String,
    pub set: Arc<Interventions>,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum ProbeAbout {
    /// A row that makes the model say a word.
    Row { i: usize, before: Vec<u32>, word: Word },
    /// A measure of a translation.
    Measure {
        /// Its place in `MEASURES`.
        measure: usize,
        target: Vec<u32>,
    },
    /// A file of interventions.
    File,
}

/// A row that was found to make the model say a word, and how far it is from the model's own.
#[derive(Clone, Debug, PartialEq)]
pub struct PersuadedWord {
    pub pin: Pin,
    pub word: String,
    pub moved: f32,
    pub divergence: f32,
    /// log p of the word by the model's own row, and by this one.
    pub log_p: (f32, f32),
}

impl PersuadedWord {
    /// How far it is, in words.
    pub fn distance(&self) -> String {
        let (own, now) = self.log_p;
        let (word, moved, divergence) = (&self.word, self.moved, self.divergence);
        tr!(
            "so that \"{word}\" is the most probable: total variation {moved}, KL {divergence} nats from the model's \
             own row, log p of the word {own} before and {now} now",
            word,
            moved = format_args!("{moved:.3}"),
            divergence = format_args!("{divergence:.3}"),
            own = format_args!("{own:.2}"),
            now = format_args!("{now:.2}")
        )
    }
}

/// The neighbours of a source word.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours {
    /// Which word, by which column's model.
    pub of: Near,
    /// As they can be typed, with their cosines; why there are none, as a sentence; `None` while they are looked for.
    pub found: Option<Result<Vec<(String, f32)>, String>>,
}

/// What is learned from what, as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadPlan {
    /// Sources, their translations, and links; no links: those of a statistical aligner.
    pub files: [String; 3],
    pub passes: u64,
    /// Of the order that is under way.
    pub number: Option<u64>,
    /// What came of the last one, in a sentence, and whether it failed.
    pub told: Option<(String, bool)>,
}

impl Default for HeadPlan {
    fn default() -> Self {
        Self { files: Default::default(), passes: 4, number: None, told: None }
    }
}
