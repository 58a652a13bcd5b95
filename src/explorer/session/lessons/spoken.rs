//! What a page of a lesson speaks of, a machine or the picture of a column, for paper, where no window has shown it.

use crate::app::lights::{Highlight, HighlightPart};
use crate::app::{layout::Look, page::Page, page::SENTENCE};
use crate::pages::steps::command::{Guessed, Mode};
use crate::session::lessons::script::{Script, ScriptPart, things_of};
use crate::{pages::steps::STEPS, session::lessons::things::LessonAction};
use engine::models::anatomy::Miswiring;

/// What a page of a lesson refers to: a machine at a step, or a sentence in some models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spoken {
    pub page: Page,
    /// The folder of the model that is spoken of.
    pub model: String,
    pub models: Vec<String>,
    pub sentence: String,
    /// The translation that the columns are given.
    pub given: Option<String>,
    pub look: Look,
    /// Hypotheses of the search whose words are read on.
    pub beam: usize,
    pub mode: Mode,
    pub wrong: Option<Miswiring>,
    pub guess: Option<Guessed>,
    /// The word of the step, or its number.
    pub step: Option<String>,
    pub open: Option<String>,
    pub word: Option<String>,
    pub lit: Vec<Highlight>,
}

/// What page `at` refers to before its waits, or after all of them; `None` outside pages Sentence and Steps.
pub fn spoken(script: &Script, at: usize, is_done: bool) -> Option<Spoken> {
    let parts = &script.pages.get(at)?.parts;
    let goes_on = |part: &&ScriptPart| is_done || !matches!(part, ScriptPart::Wait(_));
    let first = || parts.iter().take_while(goes_on);
    let before = script.pages.iter().take(at).flat_map(|page| &page.parts);
    let lit = first().filter_map(|part| if let ScriptPart::Light(lit) = part { Some(lit.clone()) } else { None });
    let mut found = Spoken { beam: 5, lit: lit.last().unwrap_or_default(), ..Spoken::default() };
    for thing in things_of(before.chain(first())) {
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
            LessonAction::Word(word) => found.word = word,
            _ => {}
        }
    }
    if !found.models.contains(&found.model) {
        // the selected one is no longer there
        found.model = found.models.first().cloned().unwrap_or_default();
    }
    let can_draw = matches!(found.page, SENTENCE | STEPS);
    Some(found).filter(|found| can_draw && !found.model.is_empty() && !found.sentence.is_empty())
}

impl Spoken {
    /// Whether what page `at` waits for opens a box and changes nothing else.
    pub fn is_opened(&self, script: &Script, at: usize) -> bool {
        let done = spoken(script, at, true);
        done.is_some_and(|done| {
            done.open != self.open && Self { open: done.open.clone(), lit: done.lit.clone(), ..self.clone() } == done
        })
    }

    /// Whether a part of the window is lit, of whichever model.
    pub fn lights(&self, lit: HighlightPart) -> bool {
        self.lit.iter().any(|light| light.lit == lit)
    }

    /// The models whose pictures are spoken of: those that are lit, else the selected one.
    pub fn drawn(&self) -> Vec<&str> {
        let pictures = [HighlightPart::Heatmap, HighlightPart::Column, HighlightPart::Beam];
        let lit = || self.lit.iter().filter(|light| pictures.contains(&light.lit));
        let is_lit = |model: &&String| lit().any(|light| light.of.as_ref().is_none_or(|of| of == *model));
        let all: Vec<&str> = self.models.iter().filter(is_lit).map(String::as_str).collect();
        if all.is_empty() { vec![&self.model] } else { all }
    }
}
