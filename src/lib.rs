//! Interlinear shows how neural machine translation aligns words: RNNencdec (Cho et al. 2014), RNNsearch (Bahdanau,
//! Cho, Bengio 2015) and the models of Luong, Pham and Manning (2015) translate a sentence while it is typed, side by
//! side, with the soft alignment and the beam of each. One program, no network.
//!
//! # The house
//!
//! Each folder of `src` is a member of the workspace with a front page, its `lib.rs`. What a member may import stands in its
//! `Cargo.toml`, so that the compiler keeps the walls; inside a member `tests/tidy.rs` keeps the floors.
//!
//! ```text
//! main.rs     parses the arguments, then the window or the command line; nothing else
//! web/        the explorer in a browser: its page, its worker, the bytes between them              (wasm32)
//! python/     the module of Python: models, figures, alignments, workspaces, the program
//! host/       what cli and python share: the models that are installed, where to compute, words of what was found
//! cli/        translate, score, sample, evaluate, align, train, bench and the others of its table
//! explorer/   the window: jobs, app, widgets, pages, session, ui
//! corpus/     sentences, systems, outputs and judgements in one file (SQLite); the one way to measure them
//! import/     files of others: texts, outputs, alignments and attention, each kind with its facts
//! figure/     figures as marks in points, colours and palettes; SVG, PDF, PNG
//! training/   loss, optimisers, data, checkpoints, resuming
//! engine/     text, nn, attention, models, decoding, interventions, aligner, analysis, evaluation
//! ```
//!
//! This crate only names the members again, for the program and the tests.
//!
//! # Adding something
//!
//! New variants enter through a table and nowhere else:
//! - an architecture: one file and one line of [`models::MODELS`] (`tests/core/toy.rs` has one), with kernels of its own a file
//!   in `models/fused` and one in `training/fused`, a drawing of its stages one in `models/anatomy`, and its paper's recipe
//!   a line of [`training::recipe::PAPERS`];
//! - a score function of attention: one file and one line of [`attention::ATTENTIONS`];
//! - a command of the command line: one file and one line of its table;
//! - a page of the window: one folder of [`pages`] with its state, its commands and its views, one command of
//!   [`pages::command`] and one line of [`pages::PAGES`];
//! - long work behind the window: one file of [`jobs::queue`] and one line of its [`Order`](jobs::queue::QueueOrder);
//! - a figure: one file of [`figure`] that gives [`Mark`](figure::mark::Mark)s, and a line of [`figure::sheet::KINDS`] if it
//!   shows a translation; a format of figures: one painter next to [`figure::svg`] and a line of [`figure::formats::FORMATS`];
//! - a lesson: one file of `assets/lessons` and one line of [`session::lessons::shelf::BUNDLED`]; what lessons can do and
//!   frame are variants of [`LessonAction`](session::lessons::things::LessonAction) and
//!   [`HighlightPart`](app::lights::HighlightPart);
//! - a format of others' files: one file of [`import::formats`] and one line of [`import::FORMATS`];
//! - a table of what is counted over many sentences: a line of [`corpus::overview::tables::TABLES`]; a sign of confidence that
//!   is read off an alignment: a line of [`analysis::confidence::CONFIDENCES`]; another measure of sentences and outputs: a
//!   line of [`corpus::measures::table`] (`tests/core/toy.rs` has one).

pub use cli;
pub use corpus;
pub use engine::{
    aligner, analysis, attention, clock, decoding, error, evaluation, id, interventions, lang, models, nn, quiet, text,
    ticket, tr,
};
pub use explorer::{app, jobs, pages, session};
#[cfg(feature = "gui")]
pub use explorer::{ui, widgets};
pub use figure;
pub use host;
pub use import;
pub use training;
