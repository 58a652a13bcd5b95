//! Floor 8: the kinds of long work, one line each.

use std::sync::Arc;

use crate::corpus::overview::evaluated::Evaluated;
use crate::error::Result;
use crate::jobs::queue::work::{Job, Work};
use crate::jobs::queue::{analyse, evaluate, head, maps, phrases, probe};

/// What can be ordered; one line a kind.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueOrder {
    /// Measure models on a test set.
    Evaluate(evaluate::Evaluate),
    /// Two-dimensional maps of words and phrases, and neighbours.
    Map(maps::MapOrder),
    /// Scores of a phrase table.
    Phrases(phrases::PhraseOrder),
    /// A question about one translation.
    Probe(probe::Probe),
    /// A system run over a workspace.
    Analyse(analyse::Analyse),
    /// An alignment head learned for a model.
    Head(head::HeadOrder),
}

/// What came of an [`QueueOrder`]; one line a kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// Of [`QueueOrder::Evaluate`].
    Evaluated(Evaluated),
    /// Of [`QueueOrder::Map`].
    Mapped(Arc<maps::VectorMap>),
    /// Of [`QueueOrder::Phrases`].
    Phrases(phrases::Scored),
    /// Of [`QueueOrder::Probe`].
    Probed(probe::Probed),
    /// Of [`QueueOrder::Analyse`].
    Analysed(analyse::Analysed),
    /// Of [`QueueOrder::Head`].
    Head(head::HeadLearned),
}

impl Job for QueueOrder {
    type Found = Found;

    fn run(self, work: &Work<'_>) -> Result<Found> {
        match self {
            Self::Evaluate(order) => order.run(work).map(Found::Evaluated),
            Self::Map(order) => order.run(work).map(Found::Mapped),
            Self::Phrases(order) => order.run(work).map(Found::Phrases),
            Self::Probe(order) => order.run(work).map(Found::Probed),
            Self::Analyse(order) => order.run(work).map(Found::Analysed),
            Self::Head(order) => order.run(work).map(Found::Head),
        }
    }
}
