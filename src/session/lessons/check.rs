//! Floor 12: whether the models are as a lesson says.

use crate::error::Result;
use crate::evaluation::facts::Bench;
use crate::session::lessons::script::{Fault, Script};

/// Tries every fact of the lesson of a file; answers with those that are not so.
///
/// # Errors
/// A model that is not there or cannot be used.
pub fn check(script: &Script, file: &str, bench: &mut Bench) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for tried in script.facts() {
        if let Err(words) = bench.holds(&tried.fact.fact, &tried.sentence, tried.beam)? {
            faults.push(Fault::at(file, tried.fact.at, words));
        }
    }
    Ok(faults)
}
