//! What is done with lessons. A leaf.

use std::path::PathBuf;

/// Actions on lessons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LessonCommand {
    Show(bool),
    Open(String),
    /// Skips the task for which the page waits, or turns to the next page.
    Next,
    Turn(usize),
    Back,
    Answer(usize, usize),
    /// A typed answer.
    Say(usize, String),
    /// Whether the reader found the typed answer right.
    Mark(usize, bool),
    Reveal,
    Close,
    Translate,
    /// Writes the lesson for the class to this file, and its solutions to a file next to it.
    Print(PathBuf),
}
