//! Interlinear shows how neural machine translation aligns words: RNNencdec (Cho et al. 2014),
//! RNNsearch (Bahdanau, Cho, Bengio 2015) and the models of Luong, Pham and Manning (2015)
//! translate a sentence while it is typed, side by side, with the soft alignment and the beam of
//! each. One library, one program, no network.
//!
//! # The house
//!
//! The number is the floor. A file imports only lower floors and its own room; rooms on one floor
//! do not know each other. `tests/tidy.rs` reads every `crate::room` path and fails with file and
//! line when one leads upwards, and keeps the other rules below that a machine can check.
//!
//! ```text
//! main.rs       14  parses the arguments, then ui::run or cli::run
//! web/          14  the explorer in a browser: its page, its worker, the bytes between them   (feature `web`, wasm32)
//! python/       14  the module of Python: models, figures, alignments, workspaces, the program    (feature `python`)
//! ui/           13  the window: its frame, its edges, its sheets                    (feature `gui`)
//! cli/          13  translate, score, sample, evaluate, align, train, bench and the others of its table
//! host/         12  what cli and python share: the models that are installed, where to compute, words and links of results
//! session/      12  the sum of the pages: commands in, view model out, saving, lessons; the driver
//! pages/        11  one folder a page: its state, its commands, what it keeps, its views (feature `gui`)
//! widgets/      10  what is painted everywhere and knows no page: charts, heatmaps, words, the theme (feature `gui`)
//! app/           9  what pages share: the document that undo knows, tasks, selection, settings, effects
//! jobs/          8  threads: live (one slot, the latest request wins), queue (whole corpora), models (the cache),
//!                   files, corpus (the thread that owns one)
//! corpus/        7  sentences, systems, outputs and judgements in one file (SQLite); the one way to measure them
//! import/        6  files of others: texts, outputs, alignments and attention, each kind with its facts
//! figure/        6  figures as marks in points, colours and palettes; the window and SVG paint them
//! training/      6  loss, optimisers, data, checkpoints, resuming
//! evaluation/    6  a model or several as one, asked about many sentences: rows and words, links of given pairs
//! analysis/      5  what is read off results: BLEU, alignments, AER, maps; plain numbers, no tensors
//! interventions/ 5  what a person asks of a decoding: one form in words, one resolver, the stepper that acts, the marks
//! aligner/       5  word alignments learned from parallel text alone: IBM model 1 and a hidden Markov model
//! decoding/      4  beam search, forced decoding, samples, ensembles, and the trace of each
//! models/        3  the papers' wiring, model folders, weights; models/fused for the CPU
//! attention/     2  alignment models: keys, energies e_ij, weights alpha_ij
//! nn/            1  cells as the papers write them, devices; nn/fused holds the fast CPU kernels
//! text/          1  words and ids: tokenizers, sentences, corpora
//! clock.rs       0  the clock that measures; a browser has one of its own
//! error.rs       0  the one error, a sentence a variant
//! lang.rs        0  the language of the window: texts are English ids, catalogues have their translations
//! quiet.rs       0  panics of other libraries, caught without a report
//! ticket.rs      0  numbers that make older work stale
//! ```
//!
//! # A keystroke's journey
//!
//! 1. `ui` turns the edit into a [`session`] command; it changes nothing itself.
//! 2. The session hands it to its page, which changes the [`document`](app::document) of the [`AppState`](app::state::AppState),
//!    dims what belongs to the old text and notes an [`Effect`](app::effect::Effect): a request that states everything wanted,
//!    source, models, settings. The driver carries effects out. A new [`ticket`] makes all older work stale.
//! 3. The thread of [`jobs::live`] overwrites its one slot and wakes. Each model of the request gets a thread of
//!    its own, where the columns of that model take turns. It tokenises, for each model has its own
//!    tokenizer: `Started` brings the column its [`Sentence`](text::sentence::Sentence). Then
//!    [`decoding`] tests the ticket at every target word and stops at once when it is stale.
//! 4. Events go up, each with its request's number; they are sent first, and the window is woken
//!    afterwards. Events with an old number change nothing, and of several rows that wait the
//!    newest is enough.
//! 5. The session absorbs them for at most a few milliseconds a frame; the last good table stays,
//!    dimmed, until the first new row.
//!
//! # Invariants
//!
//! - egui is named in `ui`, `widgets` and the views of pages alone, candle in `error`, `nn`, `attention`, `models` and `training`.
//!   `cargo check --no-default-features` proves the first without a test.
//! - What a browser lacks (SQLite, zstandard, dialogs, threads, a disk) is left out by `target_family = "wasm"` at modules
//!   and lines of tables. Its seams are the desk's: [`Lanes`](session::lanes::Lanes) do the work beside a session,
//!   [`Model::from_files`](models::Model::from_files) takes a model that was read elsewhere, and [`clock`] tells time.
//! - Nothing below `jobs` starts a thread of its own, reads the clock or the environment, or
//!   draws from a global generator, except where `tests/tidy.rs` lists the file and the reason:
//!   time, seeds, threads and devices are passed in. On a graphics card dropout is drawn by the card's own generator, from a seed of the update.
//! - A model that has no alignment yields `None`; alpha and energies are never made up.
//! - A step has two halves: `align` finds e_i and alpha_i, `predict` reads alpha_i and gives the words. Between them
//!   a caller may change alpha_i ([`interventions::Intervening`]). No alignment is computed and thrown away.
//! - `unsafe` is denied everywhere but in `nn/fused`, where each block says why it is sound and a
//!   plain twin is compared with it on random shapes, and where NVIDIA's driver is called (`nn/device`, `training/card/launch`).
//! - The readable form of each model stays beside the fast one as the reference of the tests.
//! - A view is given the state of its page and of the application, and pushes commands; a page knows no other page. A view holds no lock, tensor or file.
//! - What a user can cause ends in a sentence that names the file, line, key or tensor
//!   ([`error::Error::is_users`]) and leaves the last good result in place; it never panics.
//! - Below `cli` nothing prints.
//!
//! # Notation
//!
//! The code speaks Bahdanau's notation; [`models`] says where another paper differs. Every stored
//! matrix is \[out, in\] and is applied as W x + b. Alignment matrices have a row for each target
//! word i and a column for each source word j.
//!
//! | paper | code | shape |
//! |---|---|---|
//! | source and target length T_x, T_y | `t_x`, `t_y` | |
//! | annotations h_j | `h`, halves `h_fwd`, `h_bwd` | \[b, t_x, 2n\] |
//! | decoder state s_{i-1}, s_i | `s_prev`, `s` | \[b, n\] |
//! | update and reset gates z_i, r_i, proposal | `z`, `r`, `s_tilde` | \[b, n\] |
//! | alignment energies e_ij | `e_i`, never "scores" | \[b, t_x\] |
//! | weights alpha_ij | `alpha_i`, never "attention weights" | \[b, t_x\] |
//! | context c_i (RNNsearch), c (RNNencdec) | `c_i`, `c` | \[b, 2n\], \[b, n\] |
//! | position p_t of local attention (Luong) | `p_t`, from 0 | \[rows\] |
//! | attentional state h~_t (Luong) | `h_tilde` | \[b, n\] |
//! | W_a, U_a, v_a of the alignment model | `w_a`, `u_a`, `v_a` | \[n', n\], \[n', 2n\], \[n'\] |
//! | log p(y given x) of a hypothesis | `log_p` | f32, natural logarithm |
//!
//! The update gate has two senses: RNNsearch computes s_i = (1 - z) s_{i-1} + z s~_i, RNNencdec
//! h_t = z h_{t-1} + (1 - z) h~_t. Sizes are K (vocabulary), m (embedding), n (hidden), l (maxout),
//! n' (alignment); b counts the rows of a batch and k those of a beam.
//!
//! # Adding something
//!
//! New variants enter through a table and nowhere else: an architecture is one file and one line
//! of [`models::MODELS`] (`tests/core/toy.rs` is one), with kernels of its own a file in `models/fused` and one in
//! `training/fused`, a drawing of its stages one in `models/anatomy`, and its paper's recipe a line of [`training::recipe::PAPERS`]; a score function of attention is one file and one line of
//! [`attention::ATTENTIONS`]; a command of the command line likewise has
//! one line in its table. A page of the window is one folder of [`pages`] with its state, its commands and its views, a variant of
//! [`pages::command::Command`], a field of [`pages::Pages`] and a line of [`pages::PAGES`]; what all views share is in `pages/shell`, which knows no page. A kind of long work behind the
//! window is one file of [`jobs::queue`] and one line of its [`Order`](jobs::queue::QueueOrder). A figure is one file of
//! [`figure`] that gives [`Mark`](figure::mark::Mark)s, and a line of [`figure::sheet::KINDS`] where it shows a translation; another
//! format of file is one painter beside [`figure::svg`] and a line of [`figure::formats::FORMATS`]. A lesson is one file of
//! `assets/lessons` and one line of [`session::lessons::shelf::BUNDLED`]; what lessons can bring about and frame are variants of
//! [`LessonAction`](session::lessons::things::LessonAction) and [`HighlightPart`](app::lights::HighlightPart). A format of others' files is one file of
//! [`import::formats`] and one line of [`import::FORMATS`]; a table of what is counted over many sentences is a line of
//! [`corpus::overview::tables::TABLES`]; a sign of confidence that is read off an alignment is one line of
//! [`analysis::confidence::CONFIDENCES`], another measure of sentences and outputs one of
//! [`corpus::measures::table`] (`tests/core/toy_measure.rs`).

#[macro_use]
pub mod lang;

pub mod aligner;
pub mod analysis;
pub mod app;
pub mod attention;
#[cfg(not(target_family = "wasm"))]
pub mod cli;
pub mod clock;
#[cfg(not(target_family = "wasm"))]
pub mod corpus;
pub mod decoding;
pub mod error;
pub mod evaluation;
pub mod figure;
#[cfg(not(target_family = "wasm"))]
pub mod host;
#[cfg(not(target_family = "wasm"))]
pub mod import;
pub mod interventions;
pub mod jobs;
pub mod models;
pub mod nn;
pub mod pages;
#[cfg(feature = "python")]
pub mod python;
pub mod quiet;
pub mod session;
pub mod text;
pub mod ticket;
pub mod training;
#[cfg(feature = "gui")]
pub mod ui;
#[cfg(all(feature = "web", target_family = "wasm"))]
pub mod web;
#[cfg(feature = "gui")]
pub mod widgets;
