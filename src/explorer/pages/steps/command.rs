//! What is done on the page Steps.

use crate::app::page::{Page, PageInfo};
use crate::jobs::live::protocol::ColumnId;
use crate::pages::steps::depth::{Depth, StepsChoice, chosen_of};
use engine::{models::anatomy::Miswiring, text::links::Link};

/// A model step by step.
pub const STEPS: Page = Page::new(&PageInfo {
    key: "steps",
    name: id!("Steps"),
    title: id!("Page Steps"),
    saved_as: "steps",
    digit: 2,
    takes: &[],
    has_only_models: true,
});

/// Which words the steps feed back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    #[default]
    Shown,
    /// The most probable word of every step: the search with a beam of 1.
    Greedy,
    Class,
}

chosen_of!(Mode, MODES);
chosen_of!(Guessed, GUESSES);

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
    #[default]
    Row,
    Word,
    Whole,
}

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

/// Actions on the Steps page.
#[derive(Clone, Debug, PartialEq)]
pub enum StepsCommand {
    SetColumn(ColumnId),
    SetMode(Mode),
    SetDepth(Depth),
    SetWrong(Option<Miswiring>),
    GoTo(usize),
    /// Moves by so many stages or words, as the player does. An open guess is revealed first.
    Move(isize),
    MoveWord(isize),
    SetByStage(bool),
    Play(bool),
    /// Stages or words a second.
    SetPace(f32),
    Open(Option<String>),
    /// The class chooses this word, by id, at the shown step; later words are dropped.
    Say(u32),
    TakeBack,
    /// Hides this of each step until it is revealed; `None`: nothing.
    SetGuessing(Option<Guessed>),
    SetBeam(bool),
    Guess(usize),
    GuessLink(Link),
    /// An empty word is no guess.
    GuessWord(String),
    Reveal,
    /// Keeps the present guess as a group's; the next group guesses.
    NextGroup,
}
