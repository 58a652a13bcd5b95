//! Floor 8: the page Evaluation: its state, its commands, and what comes of its orders.

use serde::Deserialize;
use serde::Serialize;

use crate::session::Session;
use crate::session::pages::Page;
use crate::worker::corpus::Order;
use crate::worker::corpus::evaluate::Evaluate;
use crate::worker::corpus::evaluate::Evaluated;

/// What the page shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// The order under way; [`Session::task`] says how far it is.
    pub task: Option<u64>,
    /// Why the last order came to nothing, as a sentence.
    pub message: Option<String>,
}

/// What the user does on the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Measures the models of the columns.
    Run,
    /// Takes the sentence of a failure away.
    DismissMessage,
}

/// What is kept between starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Saved {}

impl Evaluation {
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
    pub(super) fn apply_to_evaluation(&mut self, command: Command) {
        match command {
            Command::Run => {
                let models = self.columns.iter().map(|column| column.folder.clone()).collect();
                let order = Evaluate { models, device: self.settings.device };
                self.evaluation.task = Some(self.order(Page::Evaluation, Order::Evaluate(order)));
            }
            Command::DismissMessage => self.evaluation.message = None,
        }
    }

    /// An order is done.
    pub(super) fn evaluated(&mut self, number: u64, _found: Evaluated) {
        if self.evaluation.task == Some(number) {
            self.evaluation.task = None;
        }
    }

    /// Nothing came of an order: it failed, for the reason given, or was cancelled.
    pub(super) fn evaluation_ended(&mut self, number: u64, message: Option<String>) {
        if self.evaluation.task == Some(number) {
            self.evaluation.task = None;
            self.evaluation.message = message;
        }
    }
}
