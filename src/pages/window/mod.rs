//! Floor 11: what the views of the pages and of the window share: what they get, where they stand, what they remember.

pub mod act;
pub mod clicked;
pub mod dialogs;
pub mod local;
pub mod manual;
pub mod menu;
pub mod sheet;
pub mod shortcuts;
pub mod task;
