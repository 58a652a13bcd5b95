//! What a person asks of a model's decoding: words to say and not to say, rows of alpha, source words to hide.
//!
//! [`form`](mod@form) has it in words, so that one form serves several models: it is what a [`file`](mod@file) holds, what the
//! window sets and keeps, and what whole corpora are run with. [`resolve`](mod@resolve) reads it for one model and one
//! sentence, in ids; [`decorate`] wraps the stepper that acts so; [`marks`] tells what of a translation was set.

pub mod decorate;
pub mod file;
pub mod form;
pub mod marks;
pub mod resolve;

pub use crate::interventions::decorate::{Intervening, Intervention, force_changed, intervene_all};
pub use crate::interventions::file::{InterventionFile, Origin};
pub use crate::interventions::form::{Forbid, Force, Interventions, Pin, Place, SetAlpha, Word};
pub use crate::interventions::marks::{Applied, Said};
pub use crate::interventions::resolve::{InterventionReader, Resolved, ResolvedText};
