//! The shape of a page: what all pages do alike.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use crate::app::page::{Dropped, Page};
use crate::app::{files::work::FileEvent, state::AppState};
use crate::jobs::{files::follow::FollowEvent, queue::Found};
#[cfg(feature = "gui")]
use crate::pages::shell::local::PageView;
/// Without a window nothing is painted.
#[cfg(not(feature = "gui"))]
use std::any::Any as PageView;

/// A page: its state, and the events that it handles. The user's actions on it are its own commands.
pub trait PageState: PageView {
    fn page(&self) -> Page;

    /// Requests what the page needs at the start, after its saved state was restored.
    fn begin(&mut self, _app: &mut AppState) {}

    /// Requests what the page shows after a change of the state.
    fn follow(&mut self, _app: &mut AppState) {}

    /// Handles the result of its order of this number.
    fn found(&mut self, _number: u64, _found: Found, _app: &mut AppState) {}

    /// Handles the end of an order without result: a failure with its message, or a cancellation.
    fn ended(&mut self, _number: u64, _message: Option<String>, _app: &mut AppState) {}

    /// Handles an event of work on its files.
    fn absorb_file(&mut self, _news: &FileEvent, _app: &mut AppState) {}

    /// Handles a changed training log; true if the page has changed.
    fn seen(&mut self, _seen: &FollowEvent) -> bool {
        false
    }

    /// Handles a dropped file of a kind that its [`PageInfo`](crate::app::page::PageInfo) lists.
    fn dropped(&mut self, _what: Dropped, _path: PathBuf, _app: &mut AppState) {}

    /// What is kept between starts; null: nothing.
    fn saved(&self) -> Value {
        Value::Null
    }

    fn restore(&mut self, _saved: Value) -> serde_json::Result<()> {
        Ok(())
    }

    /// What a link keeps of it: models by name, nothing of the user's own files; null for the first state.
    fn linked(&self, _app: &AppState) -> Value {
        Value::Null
    }

    /// Shows what a link keeps, once the sentence of the link is loaded; falls back to the first state.
    fn show_linked(&mut self, _link: Value, _app: &mut AppState) {}
}

/// The fields that differ from the default; null if none does.
pub fn changed_fields<T: Default + Serialize>(what: &T) -> Value {
    let whole = |what: &T| serde_json::to_value(what).unwrap_or_default();
    let (Value::Object(mut keys), first) = (whole(what), whole(&T::default())) else { return Value::Null };
    keys.retain(|key, value| first.get(key) != Some(value));
    if keys.is_empty() { Value::Null } else { Value::Object(keys) }
}
