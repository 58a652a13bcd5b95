//! A statistical aligner: word alignments learned from parallel text alone, with no model and no tensor.
//!
//! IBM model 1 with a liking for the diagonal (Brown et al. 1993; Dyer, Chahuneau, Smith 2013) finds which words belong
//! together, then a hidden Markov model (Vogel, Ney, Tillmann 1996) where they do. Three things make it good: both
//! directions learn from what they agree about (Liang, Taskar, Klein 2006); a sparse Dirichlet prior keeps rare words from
//! collecting what belongs nowhere (Riley and Gildea 2012); jumps depend on the word that is left (He 2007). Rare words
//! share an entry by their first letters.
//!
//! Nothing is drawn at random and every sum is exact to its last bit in any order, so that the same text gives the same links
//! on any number of threads. While it learns, it keeps in memory 4 bytes a word of the text and about 40 for each pair of words
//! that occur together more often than by chance, some 3 kilobytes a sentence pair for the first hundred thousand and less
//! for more. Imports `text`, `error` and `ticket`; how many threads there are is told.
//!
//! | file | what lives there |
//! |---|---|
//! | `vocabulary`, `corpus`, `words` | words and ids, text to learn from, lines of files |
//! | `candidates`, `lexicon` | which words may belong together, t(y given x) |
//! | `jumps`, `lattice`, `pair` | where the next word comes from, posteriors of a sentence pair, of both directions |
//! | `learn`, `parallel`, `counts`, `special` | expectation and maximisation |
//! | `learned`, `file`, `bundled` | what was learned, its links, the file that keeps it, and what comes with the program |
//! | `sentences` | which sentences of two documents translate which |
//! | `placed` | links between words of others, such as a model's, by their places in the text |

pub mod bundled;
mod candidates;
pub mod corpus;
mod counts;
mod file;
pub mod jumps;
pub mod lattice;
pub mod learn;
pub mod learned;
pub mod lexicon;
pub mod pair;
mod parallel;
pub mod placed;
pub mod sentences;
pub mod settings;
pub mod sides;
pub mod vocabulary;
pub mod words;
