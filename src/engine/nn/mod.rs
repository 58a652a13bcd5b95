//! The papers' cells, made of differentiable candle operations on any device and float type; imports floor 0 and
//! candle. A matrix is stored [out, in] and applied as W x + b; the fused CPU twins are in `fused/`.

pub mod bidirectional;
pub mod device;
pub mod fused;
pub mod gru;
pub mod init;
pub mod linear;
pub mod lstm;
pub mod maxout;
pub mod softmax;
pub mod trace;

pub use candle_nn::ops::sigmoid;
