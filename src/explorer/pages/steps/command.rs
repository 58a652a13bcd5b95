//! What is done on the page Steps.

use crate::app::page::{Page, PageInfo};
use crate::jobs::live::protocol::ColumnId;
use crate::pages::steps::depth::{Depth, StepsChoice, chosen_of};
use engine::models::anatomy::Miswiring;
use engine::text::links::Link;

/// A model taken apart, step by step.
pub const STEPS: Page = Page::new(&PageInfo {
    key: "steps",
    name: id!("Steps"),
    title: id!("Page Steps"),
    saved_as: "steps",
    digit: 2,
    takes: &[],
    has_only_models: true,
});

/// Whose words the steps read on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Those of the translation that the column shows.
    #[default]
    Shown,
    /// The most probable word of every step: the search with a beam of 1.
    Greedy,
    /// Those that the class chooses.
    Class,
}

chosen_of!(Mode, MODES);
chosen_of!(Guessed, GUESSES);

/// Every way to choose the words.
pub const MODES: &[StepsChoice<Mode>] = &[
    StepsChoice {
        value: Mode::Shown,
        key: "shown",
        name: id!("The translation"),
        about: id!("The steps say the words of the translation that the column shows, which the beam found"),
    },
    StepsChoice {
        value: Mode::Greedy,
        key: "greedy",
        name: id!("Always the best word"),
        about: id!("Each step says its most probable word and never looks back: a beam of 1"),
    },
    StepsChoice {
        value: Mode::Class,
        key: "class",
        name: id!("You choose"),
        about: id!("Each step waits until you choose one of its candidates"),
    },
];

/// What is guessed before it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guessed {
    /// Where the step looks.
    #[default]
    Row,
    /// Which word it says.
    Word,
    /// Where all steps look, at once.
    Whole,
}

/// Everything that can be guessed.
pub const GUESSES: &[StepsChoice<Guessed>] = &[
    StepsChoice {
        value: Guessed::Row,
        key: "row",
        name: id!("Guess where it looks"),
        about: id!("Each row is hidden until you have guessed at which source words the step looks"),
    },
    StepsChoice {
        value: Guessed::Word,
        key: "word",
        name: id!("Guess the word"),
        about: id!("Each word is hidden until you have guessed which one the model says next"),
    },
    StepsChoice {
        value: Guessed::Whole,
        key: "alignment",
        name: id!("Guess the whole alignment"),
        about: id!("All rows are hidden until you have clicked, word by word, where the model looks"),
    },
];

/// What is done on the page Steps.
#[derive(Clone, Debug, PartialEq)]
pub enum StepsCommand {
    /// Takes the model of this column apart.
    SetColumn(ColumnId),
    /// Whose words are read on.
    SetMode(Mode),
    /// More or fewer boxes of the machine.
    SetDepth(Depth),
    /// The model as it is, or rewired.
    SetWrong(Option<Miswiring>),
    /// To the whole step of this word, from 0.
    GoTo(usize),
    /// So many stages or words on, as the player goes. What is still to be guessed is shown before it goes on.
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
    /// Guess first: this of each step is hidden until it is revealed; `None`: nothing.
    SetGuessing(Option<Guessed>),
    /// The beam of the step is shown beside it.
    SetBeam(bool),
    /// The class guesses that the step looks at this source word, or no longer.
    Guess(usize),
    /// The class guesses this link of the whole alignment, or no longer.
    GuessLink(Link),
    /// The class guesses that the step says this word; without letters: it guesses nothing.
    GuessWord(String),
    /// Shows what was hidden, and counts.
    Reveal,
    /// What is guessed now is the guess of a group; the next group guesses.
    NextGroup,
}
