//! Floor 6: models on test sets. Plain data in, plain data out: [`run`] takes a [`System`] (a loaded model, or several as
//! one), its stepper and a [`TestSet`] and gives a [`Report`]; [`alignment`] measures alignments against gold links. Nothing is printed, no thread started, no clock read. Imports floors 0-5.
//!
//! What a run keeps: for each sentence its texts (shared with the test set), its translations, its NLL and the
//! counts that BLEU and chrF are made of, some hundred bytes and the translations; ids and alignments of some
//! twenty batches at a time.

pub mod alignment;
pub mod compare;
pub mod facts;
pub mod figures;
pub mod first_set;
pub mod report;
pub mod rows;
pub mod run;
pub mod system;
pub mod test_set;
pub mod wording;

pub use crate::evaluation::report::{Record, Report, Row, Set, Translation, Unk};
pub use crate::evaluation::run::{EvaluationOptions, Progress, Stage, run};
pub use crate::evaluation::system::System;
pub use crate::evaluation::test_set::{Pair, TestSet};
