//! The window. All of egui is here and in [`widgets`](crate::widgets), behind the feature `gui`; no tensor,
//! no lock, no file.
//!
//! [`App`] owns a [`SessionHost`] (the [`Driver`]) and paints its session; every act of the user becomes a
//! [`Command`](crate::pages::command::Command). Views read the state of their page and push commands;
//! widgets are split into numbers and painting; colours and sizes come from [`theme`](crate::widgets::theme) only.

pub mod act;
#[cfg(not(target_family = "wasm"))]
pub mod after_defect;
pub mod app;
pub mod manual;
pub mod manual_links;
#[cfg(not(target_family = "wasm"))]
mod native;
pub mod shortcuts;
pub mod spoken;
pub mod views;

pub use crate::ui::app::{App, SessionHost};
#[cfg(not(target_family = "wasm"))]
pub use crate::ui::native::{open, run};
