//! The class guesses where a step looks, or its word, before it is shown; guesses are counted.

use std::collections::BTreeSet;

use crate::{jobs::steps::StepTrace, pages::steps::command::Guessed};
use engine::analysis::aer::AerCounts;
use engine::text::links::{Link, Links};
use engine::text::{pieces::GOES_ON, pieces::PieceMarks, words::folded};

/// What one group guessed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupGuess {
    pub words: BTreeSet<usize>,
    pub word: Option<String>,
    pub links: BTreeSet<Link>,
}

/// Guesses of the class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guessing {
    pub of: Guessed,
    pub words: BTreeSet<usize>,
    pub word: Option<String>,
    pub links: BTreeSet<Link>,
    pub groups: Vec<GroupGuess>,
    pub is_revealed: bool,
    pub score: GuessScore,
    /// The comparison of the guessed alignment, once it is shown.
    pub compared: Option<GuessCompared>,
}

/// How far the links of the class, the model and the aligner agree, two at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuessCompared {
    pub model: AerCounts,
    /// `None` if the aligner has no links of these words.
    pub aligner: Option<AerCounts>,
    pub model_to_aligner: Option<AerCounts>,
}

impl GuessCompared {
    /// The model's links are the source word of the greatest alpha of each target word.
    fn of(guessed: &[Link], model: &[Link], aligner: Option<&Links>) -> Self {
        let aligner =
            aligner.map(|links| Links::new(links.all().into_iter().map(|(link, _)| link).collect(), Vec::new()));
        Self {
            model: AerCounts::of(guessed, &Links::new(model.to_vec(), Vec::new())),
            aligner: aligner.as_ref().map(|links| AerCounts::of(guessed, links)),
            model_to_aligner: aligner.as_ref().map(|links| AerCounts::of(model, links)),
        }
    }
}

/// F1 of links against others, from 0 to 1; 0 if neither has any.
pub fn f1(counts: &AerCounts) -> f32 {
    counts.rates().aer.map_or(0.0, |aer| 1.0 - aer as f32)
}

/// How many guesses were right.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GuessScore {
    pub steps: usize,
    /// Steps whose greatest alpha, or whose word, was guessed.
    pub model: usize,
    /// Steps whose word has links of the statistical aligner.
    pub linked: usize,
    /// Steps with one such link among the guesses.
    pub aligner: usize,
    /// Guessed words that were among the model's candidates.
    pub among: usize,
    /// Alpha on the guessed words, or the probability of the guessed word, summed over the steps.
    pub mass: f32,
}

impl Guessing {
    pub(crate) fn new(of: Guessed) -> Self {
        Self { of, ..Self::default() }
    }

    pub fn is_made(&self) -> bool {
        match self.of {
            Guessed::Row => !self.words.is_empty(),
            Guessed::Word => self.word.is_some(),
            Guessed::Whole => !self.links.is_empty(),
        }
    }

    pub(crate) fn toggle_link(&mut self, link: Link) {
        if !self.is_revealed && !self.links.remove(&link) {
            self.links.insert(link);
        }
    }

    pub(crate) fn toggle(&mut self, j: usize) {
        if !self.is_revealed && !self.words.remove(&j) {
            self.words.insert(j);
        }
    }

    pub(crate) fn say(&mut self, word: &str) {
        if !self.is_revealed {
            self.word = Some(word.to_owned()).filter(|word| !word.trim().is_empty());
        }
    }

    /// The guessed links; once they are revealed, wrong ones are drawn as possible links.
    pub(crate) fn outlined(&self, model: &[Link]) -> Links {
        let is_right = |link: &Link| !self.is_revealed || model.contains(link);
        let (right, wrong) = self.links.iter().copied().partition(is_right);
        Links::new(right, wrong)
    }

    pub(crate) fn next(&mut self) {
        if self.of != Guessed::Whole {
            self.begin();
        }
    }

    pub(crate) fn begin(&mut self) {
        *self = Self { score: self.score, ..Self::new(self.of) };
    }

    /// `model` are links by the greatest alpha, `aligner` those of the aligner. Only links that `count` are compared.
    pub(crate) fn reveal_whole(&mut self, model: &[Link], aligner: Option<&Links>, count: impl Fn(Link) -> bool) {
        if self.shows() {
            let guessed: Vec<Link> = self.links.iter().copied().filter(|link| count(*link)).collect();
            self.compared = Some(GuessCompared::of(&guessed, model, aligner));
        }
    }

    /// `linked` are the words that the aligner links with the step's word.
    pub(crate) fn reveal(&mut self, alpha_i: &[f32], linked: Option<&[usize]>) {
        if !self.shows() {
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

    pub(crate) fn reveal_word<'a>(
        &mut self, said: &str, candidates: impl Iterator<Item = (&'a str, f32)>, marks: &PieceMarks,
    ) {
        if !self.shows() {
            return;
        }
        let Some(guess) = self.word.as_deref().map(str::trim) else { return };
        let (words, p): (Vec<&str>, Vec<f32>) = candidates.unzip();
        self.score.steps += 1;
        self.score.model += usize::from(is_right(guess, said, &words, marks));
        if let Some(place) = place_of(guess, &words, marks) {
            self.score.among += 1;
            self.score.mass += p[place];
        }
    }

    /// Marks it as revealed; whether there is something to count.
    fn shows(&mut self) -> bool {
        let counts = !self.is_revealed && self.is_made();
        self.is_revealed = true;
        counts
    }
}

/// Which of some words a guess is: an equal one, else the first that reads the same.
pub fn place_of(guess: &str, words: &[&str], marks: &PieceMarks) -> Option<usize> {
    let exact = words.iter().position(|word| *word == guess);
    exact.or_else(|| words.iter().position(|word| is_same(guess, word, marks)))
}

/// Whether a guess is right; one that equals a candidate stands for that candidate only.
pub fn is_right(guess: &str, truth: &str, candidates: &[&str], marks: &PieceMarks) -> bool {
    if candidates.contains(&guess) { guess == truth } else { is_same(guess, truth, marks) }
}

/// Whether a guess is this word of the vocabulary, without case and piece marks.
pub fn is_same(guess: &str, word: &str, marks: &PieceMarks) -> bool {
    guess == word || folded(guess) == folded(marks.bare(word).trim_start_matches(GOES_ON))
}

/// Whether a link is between words and touches no end of a sentence.
pub(super) fn are_words(trace: &StepTrace, link: Link) -> bool {
    let is_end = trace.source.spans.get(link.source).is_none_or(std::ops::Range::is_empty);
    let said = trace.steps.get(link.target).and_then(|step| step.said);
    !is_end && said.is_some_and(|(id, _)| id != trace.eos)
}

/// Where step `i` has the greatest alpha, between words without `</s>`.
pub(super) fn greatest(trace: &StepTrace, i: usize) -> Option<Link> {
    let alpha_i = trace.steps.get(i)?.alpha_i.as_ref()?.iter().enumerate();
    let (source, _) = alpha_i.max_by(|a, b| a.1.total_cmp(b.1))?;
    Some(Link { source, target: i }).filter(|link| are_words(trace, *link))
}
