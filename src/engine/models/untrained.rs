//! A model as it is before its training.

use crate::error::Result;
use crate::models::anatomy;
use crate::models::anatomy::{Anatomy, Miswiring};
use crate::models::checkpoint::Weights;
use crate::models::config::Config;
use crate::models::init::{InitScheme, initial_weights};

const SEED: u64 = 1;

/// Random weights of a model of these sizes, such as a training starts from; always the same.
pub fn untrained(config: &Config) -> Weights {
    initial_weights(config, InitScheme::Scaled, SEED)
}

/// The anatomy of a model, rewired or before its training if so wished.
pub fn anatomy_of(config: &Config, weights: &Weights, wrong: Option<Miswiring>) -> Result<Anatomy> {
    match wrong {
        Some(Miswiring::Untrained) => anatomy::anatomy_of(config, &untrained(config), None),
        _ => anatomy::anatomy_of(config, weights, wrong),
    }
}
