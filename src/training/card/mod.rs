//! Training on an NVIDIA card with few large steps in place of thousands of small ones. Gradients are those of the
//! readable forms, with which tests compare them on the processor.

pub mod attend;
mod encdec;
pub mod kernels;
pub mod launch;
pub mod lstm;
mod luong;
pub mod model;
pub mod node;
pub mod recurrent;
mod search;
mod tensors;
