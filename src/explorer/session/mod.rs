//! The explorer without a window, the sum of its pages. Imports the pages and below; no egui, no candle, no thread.
//!
//! [`state::Session`] is the state, a [`command::Command`] what the user does, an [`Effect`](crate::app::effect::Effect)
//! what that causes outside, and the [`driver::Driver`] carries effects out.

pub mod defect;
pub mod driver;
pub mod jobs;
pub mod lessons;
pub mod link;
pub mod persist;
pub mod state;
