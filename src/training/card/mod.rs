//! Training RNNsearch on an NVIDIA card with few large steps in place of thousands of small ones. Its gradients
//! are those of the readable form, with which tests compare them on the processor.

pub mod kernels;
pub mod launch;
pub mod node;
pub mod recurrent;
pub mod search;
