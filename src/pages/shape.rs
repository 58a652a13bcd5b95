//! Floor 11: the shape of a page.

use std::any::Any;
use std::path::PathBuf;

use serde_json::Value;

use crate::app::page::Dropped;
use crate::app::state::AppState;

/// A page: what is done on it and what its orders find.
pub trait PageState: AnyPage {
    /// What the user does on it.
    type Command;
    /// What its orders find.
    type Found;

    /// Does what the user asked for.
    fn apply(&mut self, command: Self::Command, app: &mut AppState);

    /// Takes in what the order of this number found.
    fn found(&mut self, number: u64, found: Self::Found, app: &mut AppState);
}

/// What all pages do alike.
pub trait AnyPage: Any {
    /// Nothing comes of an order: it failed, for the reason given, or was cancelled.
    fn ended(&mut self, _number: u64, _message: Option<String>, _app: &mut AppState) {}

    /// Takes what was dropped; one of those that its line of `PAGES` names, where it names any.
    fn dropped(&mut self, _what: Dropped, _path: PathBuf, _app: &mut AppState) {}

    /// What is kept between starts; null: nothing.
    fn saved(&self) -> Value;

    /// Goes on from what was kept.
    fn restore(&mut self, saved: Value) -> serde_json::Result<()>;
}
