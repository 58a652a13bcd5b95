//! What is done with lessons. A leaf.

use std::path::PathBuf;

/// What is done with lessons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LessonCommand {
    /// The panel with the lessons opens, or closes.
    Show(bool),
    /// The lesson of this key begins.
    Open(String),
    /// What the page waits for is passed over; else the next page.
    Next,
    /// To this page from its top, from 0.
    Turn(usize),
    Back,
    /// An answer to a question of the page, by their places.
    Answer(usize, usize),
    /// A typed answer to a question of the page.
    Say(usize, String),
    /// The answers of the page are shown.
    Reveal,
    /// The lesson ends, and the window is as it was before.
    Close,
    /// The window speaks another language: the open lesson goes on in it where it was.
    Translate,
    /// Writes the lesson for the class to this file, and its solutions beside it.
    Print(PathBuf),
}
