//! Floor 11: the page Sentence: the list, the source, the columns with their pictures, the inspector.

pub mod alignment;
pub mod beam;
pub mod change;
pub mod changes;
pub mod column;
pub mod columns;
pub mod context;
pub mod ensemble;
pub mod facts;
pub mod figure_sheet;
mod folding;
pub mod inspector;
pub mod interventions;
pub mod links;
pub mod measured;
pub mod memory;
pub mod output;
pub mod picture_bar;
pub mod sentences;
pub mod source;
pub mod tree;
pub mod tree_memory;
pub mod variant;
pub mod what_if;
