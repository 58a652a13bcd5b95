//! The kinds of long work, one line each.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

#[cfg(target_family = "wasm")]
use crate::jobs::models::cache::Key;
use crate::jobs::queue::work::{Job, Work};
#[cfg(not(target_family = "wasm"))]
use crate::jobs::queue::{analyse, contrast, documents};
use crate::jobs::queue::{head, maps, probe};
use engine::error::{Error, Result};

/// An order for the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum QueueOrder {
    Map(maps::MapOrder),
    Probe(probe::Probe),
    #[cfg(not(target_family = "wasm"))]
    #[serde(skip)]
    Analyse(analyse::Analyse),
    #[cfg(not(target_family = "wasm"))]
    #[serde(skip)]
    Contrast(contrast::ContrastOrder),
    #[cfg(not(target_family = "wasm"))]
    #[serde(skip)]
    Documents(documents::DocumentsOrder),
    #[serde(skip)]
    Head(head::HeadOrder),
}

/// The result of a [`QueueOrder`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Found {
    Mapped(Arc<maps::VectorMap>),
    Probed(probe::Probed),
    #[cfg(not(target_family = "wasm"))]
    #[serde(skip)]
    Analysed(analyse::Analysed),
    #[cfg(not(target_family = "wasm"))]
    #[serde(skip)]
    Contrasted(contrast::ContrastFound),
    #[cfg(not(target_family = "wasm"))]
    #[serde(skip)]
    Documents(documents::DocumentsFound),
    #[serde(skip)]
    Head(head::LearnedOfText),
}

#[cfg(target_family = "wasm")]
impl QueueOrder {
    /// The model that it asks, which a browser must fetch first.
    pub fn model(&self) -> Option<Key> {
        match self {
            Self::Map(order) => Some((order.model.clone(), order.device)),
            Self::Probe(order) => Some((order.model.clone(), order.device)),
            Self::Head(_) => None,
        }
    }
}

impl QueueOrder {
    /// Whether what it has done so far is kept when it is cancelled: a corpus has it already.
    pub(crate) fn keeps_work(&self) -> bool {
        #[cfg(not(target_family = "wasm"))]
        return matches!(self, Self::Analyse(_));
        #[cfg(target_family = "wasm")]
        false
    }
}

impl Job for QueueOrder {
    type Found = Found;

    fn run(self, work: &Work<'_>) -> Result<Found> {
        match self {
            Self::Map(order) => order.run(work).map(Found::Mapped),
            // what they are made of is left out of the page
            Self::Head(_) if cfg!(target_family = "wasm") => {
                Err(Error::Input("This is not done in a browser, but by the program on the desk".to_owned()))
            }
            Self::Probe(order) => order.run(work).map(Found::Probed),
            #[cfg(not(target_family = "wasm"))]
            Self::Analyse(order) => order.run(work).map(Found::Analysed),
            #[cfg(not(target_family = "wasm"))]
            Self::Contrast(order) => order.run(work).map(Found::Contrasted),
            #[cfg(not(target_family = "wasm"))]
            Self::Documents(order) => order.run(work).map(Found::Documents),
            Self::Head(order) => order.run(work).map(Found::Head),
        }
    }
}
