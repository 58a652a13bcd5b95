//! The window: its threads, its state, its pages and their views.
//!
//! The number is the floor: a file imports lower floors and its own room (checked by `tests/tidy.rs`).
//!
//! ```text
//! ui/           13  the window: its frame, its edges, its sheets                    (feature `gui`)
//! session/      12  the sum of the pages: commands in, view model out, saving, lessons; the driver
//! pages/        11  one folder a page: its state, its commands, what it keeps, its views (views: feature `gui`)
//! widgets/      10  charts, heatmaps, words and the theme, without knowledge of pages (feature `gui`)
//! app/           9  what pages share: the document with its undo, tasks, selection, settings, effects
//! jobs/          8  threads: live (one slot, the latest request wins), queue (whole corpora), models (the cache),
//!                   files, corpus (the thread that owns one)
//! ```
//!
//! From a keystroke to a heatmap:
//! 1. `ui` pushes a command. The [`session`] hands it to its page, which changes the [`document`](app::document) and
//!    notes an [`Effect`](app::tasks::Effect): a full request of source, models and settings. The driver carries it out.
//! 2. A new [`ticket`](engine::ticket) makes all older work stale; [`decoding`](engine::decoding) tests it at every word.
//! 3. [`jobs::live`] overwrites its one slot. Each model has a thread, on which its columns take turns.
//! 4. Events carry their request's number; those of older requests change nothing. The last table stays, dimmed.
//!
//! Invariants: egui is imported in `ui`, `widgets` and views only. Threads are started in `jobs` only. A view reads its page
//! and the application and pushes commands; it holds no lock, tensor or file, and a page imports no other page. What a
//! browser lacks is left out by `target_family = "wasm"`; [`BackgroundJobs`](session::driver::BackgroundJobs) works for its session.

#[macro_use]
extern crate engine;

pub mod app;
pub mod jobs;
pub mod pages;
pub mod session;
#[cfg(feature = "gui")]
pub mod ui;
#[cfg(feature = "gui")]
pub mod widgets;
