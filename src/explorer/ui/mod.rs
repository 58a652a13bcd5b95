//! The window: [`App`] owns a [`SessionHost`] (the [`Driver`]), paints its session and pushes commands.
//! It has no tensor, lock or file. Colours and sizes come from [`theme`](crate::widgets::theme) only.

pub mod act;
pub mod app;
pub mod manual;
#[cfg(target_family = "wasm")]
pub mod mirror;
#[cfg(not(target_family = "wasm"))]
pub mod native;
pub mod spoken;
pub mod views;

pub use crate::ui::app::{App, SessionHost};
#[cfg(not(target_family = "wasm"))]
pub use crate::ui::native::{open, run};
