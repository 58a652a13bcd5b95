//! What was guessed is shown and counted, of a row, a word or the whole alignment.

use crate::app::state::AppState;
use crate::pages::steps::guess::{are_words, greatest};
use crate::pages::{steps::StepsPage, steps::command::Guessed};
use engine::text::links::{Link, Links};

const OPTIONS: usize = 6;

impl StepsPage {
    /// Words to choose a guess from: the best candidates and the right one, sorted alphabetically.
    pub fn options(&self) -> Vec<&str> {
        let Some(trace) = &self.trace else { return Vec::new() };
        let mut words: Vec<&str> = trace.candidates(self.i).iter().take(OPTIONS).map(String::as_str).collect();
        if let Some(truth) = self.truth(self.i).filter(|truth| !words.contains(truth)) {
            words.pop();
            words.push(truth);
        }
        words.sort_by_key(|word| (word.to_lowercase(), *word));
        words
    }

    pub(super) fn reveal(&mut self, app: &AppState) {
        let marks = self.marks(app);
        if let Some(guessing) =
            self.guessing.as_mut().filter(|guessing| !guessing.groups.is_empty() && !guessing.is_revealed)
        {
            guessing.agree(&marks);
        }
        match self.guessing.as_ref().map(|guessing| guessing.of).filter(|_| self.hidden(self.i).is_some()) {
            Some(Guessed::Row) => self.reveal_row(app),
            Some(Guessed::Word) => self.reveal_word(app),
            Some(Guessed::Whole) => self.reveal_whole(app),
            None => {}
        }
    }

    fn reveal_whole(&mut self, app: &AppState) {
        let Some(trace) = self.trace.clone() else { return };
        let model: Vec<Link> = (0..trace.steps.len()).filter_map(|i| greatest(&trace, i)).collect();
        let aligner = self.links(app).cloned();
        if let Some(guessing) = &mut self.guessing {
            guessing.reveal_whole(&model, aligner.as_ref(), |link| are_words(&trace, link));
        }
    }

    fn reveal_word(&mut self, app: &AppState) {
        let (Some(trace), Some(truth)) = (self.trace.clone(), self.truth(self.i).map(str::to_owned)) else { return };
        let Some(step) = trace.steps.get(self.i) else { return };
        let marks = self.marks(app);
        let words = trace.candidates(self.i).iter().map(String::as_str);
        let candidates = words.zip(step.best.iter().map(|(_, log_p)| log_p.exp()));
        if let Some(guessing) = &mut self.guessing {
            guessing.reveal_word(&truth, candidates, &marks);
        }
    }

    fn reveal_row(&mut self, app: &AppState) {
        let of_step = |links: &Links| -> Vec<usize> {
            links.sure().iter().filter(|link| link.target == self.i).map(|link| link.source).collect()
        };
        let linked = self.links(app).map(of_step);
        let Some(trace) = self.trace.clone() else { return };
        let Some(alpha_i) = trace.steps.get(self.i).and_then(|step| step.alpha_i.as_ref()) else { return };
        if let Some(guessing) = &mut self.guessing {
            guessing.reveal(alpha_i, linked.as_deref());
        }
    }

    /// The aligner's links, if the column has them for the words of these steps.
    pub(super) fn links<'a>(&self, app: &'a AppState) -> Option<&'a Links> {
        let column = self.column(app)?;
        let is_same = column.shown().is_some_and(|shown| {
            let said = self.trace.iter().flat_map(|trace| &trace.steps).filter_map(|step| step.said);
            shown.pieces.is_none() && said.map(|(id, _)| id).eq(shown.found.tokens.iter().copied())
        });
        column.links.as_ref().filter(|_| is_same)
    }
}
