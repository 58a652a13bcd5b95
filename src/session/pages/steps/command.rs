//! Floor 9: what is done on the page Steps.

use crate::models::anatomy::Wrong;

/// Whose words the steps read on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Those of the translation that the column shows.
    #[default]
    Shown,
    /// The most probable word of every step: the search with a beam of 1.
    Greedy,
    /// Those that the class chooses.
    Class,
}

/// One line of [`MODES`].
#[derive(Clone, Copy, Debug)]
pub struct ModeEntry {
    /// Which.
    pub mode: Mode,
    /// In the saved state and in lessons.
    pub key: &'static str,
    /// On a button.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
}

/// Every way to choose the words.
pub const MODES: &[ModeEntry] = &[
    ModeEntry {
        mode: Mode::Shown,
        key: "shown",
        name: "The translation",
        about: "The steps say the words of the translation that the column shows, which the beam found",
    },
    ModeEntry {
        mode: Mode::Greedy,
        key: "greedy",
        name: "Always the best word",
        about: "Each step says its most probable word and never looks back: a beam of 1",
    },
    ModeEntry {
        mode: Mode::Class,
        key: "class",
        name: "You choose",
        about: "Each step waits until you choose one of its candidates",
    },
];

impl Mode {
    /// Its line of the table.
    pub fn entry(self) -> &'static ModeEntry {
        MODES.iter().find(|entry| entry.mode == self).unwrap_or(&MODES[0])
    }

    /// The way of this key.
    pub fn from_key(key: &str) -> Option<Self> {
        MODES.iter().find(|entry| entry.key == key).map(|entry| entry.mode)
    }
}

/// What is done on the page Steps.
#[derive(Clone, Debug, PartialEq)]
pub enum StepsCommand {
    /// Whose words are read on.
    SetMode(Mode),
    /// The model as it is, or rewired.
    SetWrong(Option<Wrong>),
    /// To the whole step of this word, from 0.
    GoTo(usize),
    /// So many stages or words on, as the player goes.
    Move(isize),
    /// So many words on.
    MoveWord(isize),
    /// The player goes stage by stage, or word by word.
    SetByStage(bool),
    /// Goes on by itself, or rests.
    Play(bool),
    /// Stages or words a second.
    SetPace(f32),
    /// Opens the box of this key, or closes it.
    Open(Option<String>),
    /// The class says this word, by id, at the step that is shown; words after it are forgotten.
    Say(u32),
    /// The word that the class said last is taken back.
    TakeBack,
    /// Guess first: the row of each step is hidden until it is revealed.
    SetGuessing(bool),
    /// The class guesses that the step looks at this source word, or no longer.
    Guess(usize),
    /// Shows what was hidden, and counts.
    Reveal,
}
