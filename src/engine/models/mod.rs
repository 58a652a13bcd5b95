//! The papers' models: [`TranslationModel`] is the readable form of candle tensors, [`Stepper`] what the search drives,
//! plain `f32` rows. The fused CPU steppers in `fused/` and the plain one in `plain.rs` give the same numbers.

pub mod anatomy;
pub mod batch;
pub mod checkpoint;
pub mod choice;
pub mod config;
pub mod disk;
pub mod entry;
pub mod folder;
pub mod fused;
pub mod gradient;
pub mod header;
pub mod init;
pub mod loss;
pub mod luong;
pub mod need;
pub mod nematus;
pub mod opennmt;
pub mod origins;
pub mod plain;
pub mod readable;
pub mod representations;
pub mod rnn_encdec;
pub mod rnn_search;
pub mod shortlist;
pub mod stepper;
pub mod stored;
pub mod table;
pub mod transformer;

pub use crate::models::entry::{AlignmentMode, Architecture, ModelEntry, Readable, shapes};
pub use crate::models::folder::{Kernels, Model};
pub use crate::models::header::Shapes;
pub use crate::models::need::{Asked, Need};
pub use crate::models::readable::{AlignedStep, Annotations, State, Step, TranslationModel};
pub use crate::models::stepper::{HeadRows, StepOutput, StepRow, Stepper};
pub use crate::models::table::{MODELS, TRAINED};
