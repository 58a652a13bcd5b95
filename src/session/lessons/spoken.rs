//! Floor 9: the machine that a page of a lesson speaks of, for paper, where no window has shown it.

use std::collections::BTreeMap;

use crate::models::anatomy::Wrong;
use crate::session::lessons::script::{Script, ScriptPart};
use crate::session::lessons::things::Thing;
use crate::session::page::Page;
use crate::session::pages::steps::command::{Guessed, Mode};

/// A machine at a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spoken {
    /// The folder of the model.
    pub model: String,
    /// What it translates.
    pub sentence: String,
    /// Hypotheses of the search whose words are read on.
    pub beam: usize,
    /// Whose words.
    pub mode: Mode,
    /// How it is wired.
    pub wrong: Option<Wrong>,
    /// What is to be guessed.
    pub guess: Option<Guessed>,
    /// The word of the step, or its number.
    pub step: Option<String>,
    /// The box that is open.
    pub open: Option<String>,
}

/// What page `at` speaks of before anything is waited for; `None` where that is not on page Steps.
pub fn spoken(script: &Script, at: usize) -> Option<Spoken> {
    let parts = &script.pages.get(at)?.parts;
    let first = parts.iter().take_while(|part| !matches!(part, ScriptPart::Wait(_)));
    let own = first.filter_map(|part| if let ScriptPart::Do(things) = part { Some(things.clone()) } else { None });
    let all = script.things_before(at).into_iter().chain(own.flatten());
    let things: BTreeMap<usize, Thing> = all.map(|thing| (thing.place(), thing)).collect();
    let mut found = Spoken { beam: 5, ..Spoken::default() };
    let mut is_steps = false;
    for thing in things.into_values() {
        match thing {
            Thing::Models(names) => found.model = names.into_iter().next().unwrap_or_default(),
            Thing::Select(name) => found.model = name,
            Thing::Sentence(text) => found.sentence = text,
            Thing::Beam(beam) => found.beam = beam,
            Thing::Page(page) => is_steps = page == Page::Steps,
            Thing::Mode(mode) => found.mode = mode,
            Thing::Wrong(wrong) => found.wrong = wrong,
            Thing::Guess(guess) => found.guess = guess,
            Thing::Step(step) => found.step = Some(step),
            Thing::Box(open) => found.open = open,
            _ => {}
        }
    }
    Some(found).filter(|found| is_steps && !found.model.is_empty() && !found.sentence.is_empty())
}
