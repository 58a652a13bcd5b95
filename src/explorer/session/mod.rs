//! The explorer without a window: [`state::Session`] handles each [`command::Command`], and the
//! [`driver::Driver`] carries out the [`Effect`](crate::app::tasks::Effect)s.

pub mod defect;
pub mod driver;
pub mod lessons;
pub mod link;
pub mod persist;
pub mod state;
