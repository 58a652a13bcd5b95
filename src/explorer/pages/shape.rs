//! The shape of a page: what all pages do alike.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use crate::app::files::work::FileEvent;
use crate::app::page::{Dropped, Page};
use crate::app::state::AppState;
use crate::jobs::files::follow::FollowEvent;
use crate::jobs::queue::Found;
#[cfg(feature = "gui")]
use crate::pages::shell::local::PageView;
/// Without a window nothing is painted.
#[cfg(not(feature = "gui"))]
use std::any::Any as PageView;

/// A page: what it keeps and what it takes in. What the user does on it is a command of its own.
pub trait PageState: PageView {
    /// Which page it is.
    fn page(&self) -> Page;

    /// It goes on from what was kept: what it wants of the application at once.
    fn begin(&mut self, _app: &mut AppState) {}

    /// What it waits for follows from what is there now; asked after every change.
    fn follow(&mut self, _app: &mut AppState) {}

    /// Takes in what its order of this number found.
    fn found(&mut self, _number: u64, _found: Found, _app: &mut AppState) {}

    /// Nothing comes of an order: it failed, for the reason given, or was cancelled.
    fn ended(&mut self, _number: u64, _message: Option<String>, _app: &mut AppState) {}

    /// Takes in what became of work on its files.
    fn heard(&mut self, _news: &FileEvent, _app: &mut AppState) {}

    /// Takes in what a followed training log holds now; true when anything changed.
    fn seen(&mut self, _seen: &FollowEvent) -> bool {
        false
    }

    /// Takes what was dropped; one of those that its [`PageInfo`](crate::app::page::PageInfo) names.
    fn dropped(&mut self, _what: Dropped, _path: PathBuf, _app: &mut AppState) {}

    /// What is kept between starts; null: nothing.
    fn saved(&self) -> Value {
        Value::Null
    }

    /// Goes on from what was kept.
    fn restore(&mut self, _saved: Value) -> serde_json::Result<()> {
        Ok(())
    }

    /// What a link tells of it, of the sentence on screen: models by name, nothing of a person's own files; null: as at
    /// first.
    fn linked(&self, _app: &AppState) -> Value {
        Value::Null
    }

    /// Shows what a link tells of it, once the sentence of the link is on screen. What is not understood is as at first.
    fn show_linked(&mut self, _link: Value, _app: &mut AppState) {}
}

/// Of what is told those parts that are not as at first; null: there are none.
pub fn told<T: Default + Serialize>(what: &T) -> Value {
    let whole = |what: &T| serde_json::to_value(what).unwrap_or_default();
    let (Value::Object(mut keys), first) = (whole(what), whole(&T::default())) else { return Value::Null };
    keys.retain(|key, value| first.get(key) != Some(value));
    if keys.is_empty() { Value::Null } else { Value::Object(keys) }
}
