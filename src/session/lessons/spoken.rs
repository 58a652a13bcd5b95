//! Floor 12: what a page of a lesson speaks of, a machine or the picture of a column, for paper, where no window has shown it.

use crate::app::page::Page;
use crate::app::page::SENTENCE;
use crate::models::anatomy::Miswiring;
use crate::pages::steps::STEPS;
use crate::pages::steps::command::{Guessed, Mode};
use crate::session::lessons::script::{Script, ScriptPart, things_of};
use crate::session::lessons::things::{LessonAction, Look};

/// A machine at a step, or a sentence in some models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spoken {
    /// The page that shows it.
    pub page: Page,
    /// The folder of the model that is spoken of.
    pub model: String,
    /// Those of all columns.
    pub models: Vec<String>,
    /// What it translates.
    pub sentence: String,
    /// The translation that the columns are given.
    pub given: Option<String>,
    /// What the columns show.
    pub look: Look,
    /// Hypotheses of the search whose words are read on.
    pub beam: usize,
    /// Whose words.
    pub mode: Mode,
    /// How it is wired.
    pub wrong: Option<Miswiring>,
    /// What is to be guessed.
    pub guess: Option<Guessed>,
    /// The word of the step, or its number.
    pub step: Option<String>,
    /// The box that is open.
    pub open: Option<String>,
}

/// What page `at` speaks of before anything is waited for; `None` where that is neither on page Sentence nor on page Steps.
pub fn spoken(script: &Script, at: usize) -> Option<Spoken> {
    let parts = &script.pages.get(at)?.parts;
    let first = parts.iter().take_while(|part| !matches!(part, ScriptPart::Wait(_)));
    let before = script.pages.iter().take(at).flat_map(|page| &page.parts);
    let mut found = Spoken { beam: 5, ..Spoken::default() };
    for thing in things_of(before.chain(first)) {
        match thing {
            LessonAction::Models(names) => {
                (found.model, found.models) = (names.first().cloned().unwrap_or_default(), names);
            }
            LessonAction::Select(name) => found.model = name,
            LessonAction::Sentence(text) => found.sentence = text,
            LessonAction::Beam(beam) => found.beam = beam,
            LessonAction::Given(text) => found.given = text,
            LessonAction::Picture(look) => found.look = look,
            LessonAction::Page(page) => found.page = page,
            LessonAction::Mode(mode) => found.mode = mode,
            LessonAction::Wrong(wrong) => found.wrong = wrong,
            LessonAction::Guess(guess) => found.guess = guess,
            LessonAction::Step(step) => found.step = Some(step),
            LessonAction::Box(open) => found.open = open,
            _ => {}
        }
    }
    let can_draw = matches!(found.page, SENTENCE | STEPS);
    Some(found).filter(|found| can_draw && !found.model.is_empty() && !found.sentence.is_empty())
}
