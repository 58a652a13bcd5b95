//! Floor 9: the sentence, its columns, and what undo goes back to.

pub mod column;
pub mod compare;
pub mod differences;
pub mod hand;
pub mod history;
pub mod rewording;
pub mod rows;
pub mod scene;
pub mod table;
pub mod tree;
pub mod variant;
