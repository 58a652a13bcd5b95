//! Floor 9: guess first: the class says where a step will look before it is shown, and is counted.

use std::collections::BTreeSet;

/// Guesses of the class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guessing {
    /// The source words that are guessed for the step that is shown.
    pub words: BTreeSet<usize>,
    /// The step is shown.
    pub is_revealed: bool,
    /// Steps that were guessed and revealed.
    pub score: Score,
}

/// How the class did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Steps.
    pub steps: usize,
    /// Steps whose greatest alpha was among the guesses.
    pub model: usize,
    /// Steps for whose word the statistical aligner has links.
    pub linked: usize,
    /// Steps of which one such link was among the guesses.
    pub aligner: usize,
    /// Alpha on the guessed words, added up over the steps.
    pub mass: f32,
}

impl Guessing {
    /// Guesses a word, or takes the guess back; not after the step was shown.
    pub(super) fn toggle(&mut self, j: usize) {
        if !self.is_revealed && !self.words.remove(&j) {
            self.words.insert(j);
        }
    }

    /// Opens the next step for guesses.
    pub(super) fn next(&mut self) {
        self.words.clear();
        self.is_revealed = false;
    }

    /// Shows the row `alpha_i`; `linked` are the words that the aligner links with the step's.
    pub(super) fn reveal(&mut self, alpha_i: &[f32], linked: Option<&[usize]>) {
        if self.is_revealed {
            return;
        }
        self.is_revealed = true;
        if self.words.is_empty() {
            return;
        }
        let best = alpha_i.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(j, _)| j);
        let score = &mut self.score;
        score.steps += 1;
        score.model += usize::from(best.is_some_and(|best| self.words.contains(&best)));
        score.mass += self.words.iter().filter_map(|j| alpha_i.get(*j)).sum::<f32>();
        if let Some(linked) = linked.filter(|linked| !linked.is_empty()) {
            score.linked += 1;
            score.aligner += usize::from(linked.iter().any(|j| self.words.contains(j)));
        }
    }
}
