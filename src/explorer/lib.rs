//! The window: the threads behind it, what it remembers, its pages and their views.
//!
//! # The rooms
//!
//! The number is the floor: a file imports lower floors and its own room. `tests/tidy.rs` keeps this.
//!
//! ```text
//! ui/           13  the window: its frame, its edges, its sheets                    (feature `gui`)
//! session/      12  the sum of the pages: commands in, view model out, saving, lessons; the driver
//! pages/        11  one folder a page: its state, its commands, what it keeps, its views (views: feature `gui`)
//! widgets/      10  what is painted everywhere and knows no page: charts, heatmaps, words, the theme (feature `gui`)
//! app/           9  what pages share: the document that undo knows, tasks, selection, settings, effects
//! jobs/          8  threads: live (one slot, the latest request wins), queue (whole corpora), models (the cache),
//!                   files, corpus (the thread that owns one)
//! ```
//!
//! # A keystroke's journey
//!
//! 1. `ui` turns the edit into a [`session`] command; it changes nothing itself.
//! 2. The session hands it to its page, which changes the [`document`](app::document) of the [`AppState`](app::state::AppState),
//!    dims what belongs to the old text and notes an [`Effect`](app::effect::Effect): a request that states everything wanted,
//!    source, models, settings. The driver carries effects out. A new [`ticket`](engine::ticket) makes all older work stale.
//! 3. The thread of [`jobs::live`] overwrites its one slot and wakes. Each model of the request gets a thread of
//!    its own, where the columns of that model take turns. It tokenises, for each model has its own
//!    tokenizer: `Started` brings the column its [`Sentence`](engine::text::sentence::Sentence). Then
//!    [`decoding`](engine::decoding) tests the ticket at every target word and stops at once when it is stale.
//! 4. Events go up, each with its request's number; they are sent first, and the window is woken
//!    afterwards. Events with an old number change nothing, and of several rows that wait the
//!    newest is enough.
//! 5. The session absorbs them for at most a few milliseconds a frame; the last good table stays,
//!    dimmed, until the first new row.
//!
//! # Invariants
//!
//! - egui is named in `ui`, `widgets` and the views of pages alone. `cargo check --no-default-features` proves it without a test.
//! - What a browser lacks (SQLite, zstandard, dialogs, threads, a disk) is left out by `target_family = "wasm"` at modules
//!   and lines of tables. Its seams are the desk's: [`BackgroundJobs`](session::lanes::Lanes) do the work beside a session,
//!   [`Model::from_files`](engine::models::Model::from_files) takes a model that was read elsewhere, and
//!   [`clock`](engine::clock) tells time.
//! - Threads are started in `jobs` alone.
//! - A view is given the state of its page and of the application, and pushes commands; a page knows no other page. A view holds
//!   no lock, tensor or file.

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
