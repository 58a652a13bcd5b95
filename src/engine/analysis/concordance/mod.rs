//! A corpus query over source words, output words and the links between them, and its hits. Imports `text`.
//!
//! ```text
//! query    = [sequence] [ "|" sequence ] [ "crossing" ]
//! sequence = item { [gap] item }
//! item     = token [ "->" token ] [ "-/>" token ]          arrows before the "|" alone
//! gap      = ".." [N]                      up to N words between; any number without N
//! token    = word | "word" | { word, word, .. } | /regular expression/ | _
//! word     = also @file or @"a file" within braces: the words of a file, a line each
//! ```
//!
//! The sequence before `|` is looked for among the source words, the one behind it among the output words; a query
//! without `|` is about the source. Items follow each other directly unless a gap stands between. `a -> b` is a source
//! word `a` with a link to an output word `b`, `a -/> b` one without a link to any `b`, whether the output has a `b` or not;
//! `_` is any word. A query with either arrow passes over sentences whose links are not known. Words and lists ignore case,
//! a regular expression must match a whole word and says itself what it ignores, as in `/(?i)rou.*/`. None of them minds how
//! letters are composed and apostrophes are bent ([`composed`](crate::text::words::composed)). A word that means something here is written in
//! quotation marks: `"|"`, `"crossing"`.
//!
//! `crossing` wants the links of two items to cross: the earlier source word is linked to a later output word. So
//! `{red, big, old} ..1 /.*(house|car)s?/ crossing` finds adjectives of this list that changed places with their noun,
//! and `{red, old} -> _ house -> _ | maison crossing` wants `maison` in the output besides.

pub mod counts;
mod lines;
mod parse;
mod search;
pub mod tally;
pub mod weights;

pub use crate::analysis::concordance::lines::{ConcordanceLine, ConcordanceOrder, sorted};
pub use crate::analysis::concordance::parse::{ConcordanceQuery, QueryError, WordLists};
pub use crate::analysis::concordance::search::{ConcordanceHit, ConcordanceHits, ConcordanceSentence};
