//! Questions about a column that are under way, and what came of them. A leaf.

use std::sync::Arc;

use crate::jobs::live::protocol::{ColumnId, Near};
use engine::interventions::{Interventions, Pin, Word};

/// A question that a worker is answering.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedProbe {
    pub number: u64,
    /// `None` for a file. An answer is stale once the subject has changed.
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
    Row {
        i: usize,
        before: Vec<u32>,
        word: Word,
    },
    Measure {
        /// Index into `MEASURES`.
        measure: usize,
        target: Vec<u32>,
    },
    File,
}

/// A row that makes the model emit a word, and its distance from the model's own row.
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
    pub of: Near,
    /// Words that can be typed with their cosines, or why there are none; `None` while a worker looks for them.
    pub found: Option<Result<Vec<(String, f32)>, String>>,
}

/// The files of an alignment head that is to be learned, as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadPlan {
    /// Sources, translations and links. Without links those of a statistical aligner are used.
    pub files: [String; 3],
    pub passes: u64,
    pub number: Option<u64>,
    /// A sentence about the result of the last order, and whether it failed.
    pub message: Option<(String, bool)>,
}

impl Default for HeadPlan {
    fn default() -> Self {
        Self { files: Default::default(), passes: 4, number: None, message: None }
    }
}

/// What the Sentence page keeps: questions that are asked, and what was found.
#[derive(Clone, Debug, Default)]
pub struct SentencePage {
    pub near: Option<Neighbours>,
    pub probes: Vec<AskedProbe>,
    pub(super) persuaded: Vec<PersuadedWord>,
    pub head: HeadPlan,
}
