//! Floor 8: the page Phrases: its state, its commands, and what comes of its orders.

use serde::Deserialize;
use serde::Serialize;

use crate::session::Session;
use crate::worker::corpus::phrases::Scored;

/// What the page shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phrases {
    /// The order under way; [`Session::task`] says how far it is.
    pub task: Option<u64>,
    /// Why the last order came to nothing, as a sentence.
    pub message: Option<String>,
}

/// What the user does on the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Takes the sentence of a failure away.
    DismissMessage,
}

/// What is kept between starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Saved {}

impl Phrases {
    /// The page as it was saved.
    #[must_use]
    pub(super) fn of(_saved: Saved) -> Self {
        Self::default()
    }

    /// What is worth keeping.
    #[must_use]
    pub(super) fn saved(&self) -> Saved {
        Saved {}
    }
}

impl Session {
    /// Does what the user asked for.
    pub(super) fn apply_to_phrases(&mut self, command: Command) {
        match command {
            Command::DismissMessage => self.phrases.message = None,
        }
    }

    /// An order is done.
    pub(super) fn phrases_scored(&mut self, number: u64, _found: Scored) {
        if self.phrases.task == Some(number) {
            self.phrases.task = None;
        }
    }

    /// Nothing came of an order: it failed, for the reason given, or was cancelled.
    pub(super) fn phrases_ended(&mut self, number: u64, message: Option<String>) {
        if self.phrases.task == Some(number) {
            self.phrases.task = None;
            self.phrases.message = message;
        }
    }
}
