//! What the views of all pages share; it knows none of them: what they get, where they stand, what they remember.

pub mod act;
pub mod clicked;
pub mod dialogs;
pub mod local;
pub mod menu;
pub mod sheet;
pub mod source;
pub mod task;
