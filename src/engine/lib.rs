//! What every other member stands on: text and ids, cells, attention, the papers' models, search, alignment, and what is
//! counted of a translation. It knows no window, no thread of its own and no file of a person but models and word aligners.
//!
//! # The rooms
//!
//! The number is the floor: a file imports lower floors and its own room. `tests/tidy.rs` keeps this.
//!
//! ```text
//! evaluation/    6  systems asked about many sentences: rows and words, links of given pairs
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
//! # What it offers
//!
//! A model is opened ([`models::Model::load`]), asked for a stepper, and searched ([`decoding`]); each hypothesis has its words,
//! log p, alpha and energies. `tests/examples/alpha.rs` does that in twenty lines. Words are aligned without a model by [`aligner`].
//!
//! # Invariants
//!
//! - candle is named in `error`, `nn`, `attention` and `models` alone; above them is plain numbers.
//! - Time, seeds, threads and devices are passed in. On a graphics card dropout is drawn by the card's own generator, from a
//!   seed of the update.
//! - A model that has no alignment yields `None`; alpha and energies are never made up.
//! - A step has two halves: `align` finds e_i and alpha_i, `predict` reads alpha_i and gives the words. Between them
//!   a caller may change alpha_i ([`interventions::Intervening`]). No alignment is computed and thrown away.
//! - `unsafe` is in `nn/fused`, where each block says why it is sound and a plain twin is compared with it on random shapes,
//!   and in `nn/device`, where NVIDIA's driver is called.
//! - The readable form of each model stays beside the fast one as the reference of the tests.
//! - What a user can cause ends in a sentence that names the file, line, key or tensor ([`error::Error::is_users`]); it never
//!   panics.
//!
//! # Notation
//!
//! The code speaks Bahdanau's notation; [`models`] says where another paper differs. Every stored matrix is \[out, in\]
//! and is applied as W x + b. Alignment matrices have a row for each target word i and a column for each source word j.
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

#[macro_use]
pub mod lang;

pub mod aligner;
pub mod analysis;
pub mod attention;
pub mod clock;
pub mod decoding;
pub mod error;
pub mod evaluation;
pub mod interventions;
pub mod models;
pub mod nn;
pub mod quiet;
pub mod text;
pub mod ticket;
