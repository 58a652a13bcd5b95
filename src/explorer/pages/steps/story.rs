//! What happens now on page Steps, in one sentence with the words and the numbers of this step.

use std::borrow::Cow;

use crate::pages::steps::{Guessed, Mode, StepsPage};
use crate::{jobs::steps::StepTrace, pages::steps::picture::words};
use engine::lang;
use engine::models::anatomy::{MachinePart, MachineStage, Quantity};

const NAMED: f32 = 0.05;
const CARRIED: usize = 3;
/// Shares that differ by less than this part of the greatest are said to be the same.
const EVEN: f32 = 0.01;

impl StepsPage {
    /// What happens in the current box, or in the step; `None` without a trace.
    pub fn story(&self) -> Option<String> {
        let trace = self.trace.as_ref().filter(|trace| self.i < trace.steps.len())?;
        let step = StoryStep { trace, i: self.i, hidden: self.hidden(self.i) };
        let spoken_of = self.current().or(self.open.as_deref());
        let stage = spoken_of.and_then(|key| trace.machine.stages.iter().find(|stage| stage.key == key));
        Some(stage.map_or_else(|| step.step(self.mode), |stage| step.stage(stage, self.mode)))
    }

    /// The output of a box at this step, shortened; `None` if it is hidden or empty.
    pub fn carried(&self, key: &str) -> Option<String> {
        let trace = self.trace.as_ref()?;
        StoryStep { trace, i: self.i, hidden: self.hidden(self.i) }.carried(key)
    }
}

struct StoryStep<'a> {
    trace: &'a StepTrace,
    i: usize,
    hidden: Option<Guessed>,
}

fn quoted(word: &str) -> String {
    tr!("\u{201c}{word}\u{201d}", word)
}

/// A source word; the sign at the end of a sentence is no word.
fn at_source(word: &str) -> String {
    if word == "</s>" { tr!("the end of the sentence").to_owned() } else { quoted(word) }
}

/// With the two digits that the sentences have.
fn short(value: f32) -> String {
    format!("{value:.2}")
}

/// A probability: one that would be rounded to nothing is said to be small.
fn share(value: f32) -> String {
    if value > 0.0 && value < 0.005 { tr!("less than 0.01").to_owned() } else { short(value) }
}

impl StoryStep<'_> {
    fn is_hidden(&self, key: &str) -> bool {
        match self.hidden {
            Some(Guessed::Row | Guessed::Whole) => ["energies", "alpha", "context", "place"].contains(&key),
            Some(Guessed::Word) => ["candidates", "word"].contains(&key),
            None => false,
        }
    }

    fn said(&self) -> Option<(&str, f32, usize)> {
        let (id, log_p) = self.trace.steps[self.i].said?;
        let best = &self.trace.steps[self.i].best;
        let place = best.iter().position(|(other, _)| *other == id).unwrap_or(best.len());
        Some((self.trace.said(self.i)?, log_p.exp(), place))
    }

    fn ranked<'a>(&'a self, values: &[f32]) -> Vec<(&'a str, f32)> {
        let mut ranked: Vec<(&str, f32)> =
            words(self.trace).into_iter().zip(values.iter().copied()).filter(|(_, value)| value.is_finite()).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        ranked
    }

    fn weights(&self) -> Vec<(&str, f32)> {
        self.trace.steps[self.i].alpha_i.as_deref().map(|values| self.ranked(values)).unwrap_or_default()
    }

    fn quantities(&self, key: &str) -> &[Quantity] {
        self.trace.part(key, self.i).map_or(&[], |part: &MachinePart| &part.quantities)
    }

    fn step(&self, mode: Mode) -> String {
        let looks = match self.weights().first() {
            Some((word, share)) if !self.is_hidden("alpha") => {
                let share = short(*share);
                tr!("the state asks which source word fits best, and {} wins with {share}", at_source(word), share)
            }
            None if !self.trace.aligns => {
                tr!("the state reads the one vector that the whole sentence has become").to_owned()
            }
            None | Some(_) => tr!("the state asks which source word fits best").to_owned(),
        };
        match self.said().filter(|_| !self.is_hidden("word")) {
            None if self.is_hidden("word") => tr!("A word is to be chosen: {looks}.", looks),
            None => tr!("The next word is to be chosen: {looks}.", looks),
            Some((word, p, place)) => {
                let (p, how) = (short(p), why(mode, place));
                tr!("{} is chosen with a probability of {p}{how}: {looks}.", quoted(word), p, how, looks)
            }
        }
    }

    fn stage(&self, stage: &MachineStage, mode: Mode) -> String {
        if self.is_hidden(stage.key) {
            return tr!("{}: this is what you are to guess.", lang::text(stage.title));
        }
        self.stage_text(stage, mode).unwrap_or_else(|| lang::text(stage.about).to_owned())
    }

    /// `None` if the description of the box is enough.
    fn stage_text(&self, stage: &MachineStage, mode: Mode) -> Option<String> {
        let before = self.i.checked_sub(1).and_then(|before| self.trace.said(before));
        match stage.key {
            "words" => Some(tr!("The sentence has {} words, the last of which is its end.", words(self.trace).len())),
            "previous" => Some(before.map_or_else(
                || tr!("Nothing has been said yet: the first step begins with an empty word.").to_owned(),
                |word| tr!("The step before said {}; this one begins by reading it.", quoted(word)),
            )),
            "energies" => self.fits(),
            "alpha" => self.wins(),
            "place" => {
                let place = self.trace.steps[self.i].p_t?;
                let near = *words(self.trace).get(place.round().max(0.0) as usize)?;
                Some(tr!(
                    "The state guesses the place {place}, counted from 0: that is nearest to {}.",
                    at_source(near),
                    place = format_args!("{place:.1}")
                ))
            }
            "context" if self.trace.aligns => {
                let weights = self.weights();
                let (word, share) = weights.first()?;
                let (share, rest) = (short(*share), short(weights.iter().skip(1).map(|(_, share)| share).sum()));
                Some(tr!(
                    "The context is the mixture: {share} of what {} means here, and {rest} of all other words together.",
                    at_source(word),
                    share,
                    rest
                ))
            }
            "gates" => {
                let opened = self.quantities("gates").iter().map(|gate| {
                    let whole = lang::text(gate.name);
                    let (name, what) = whole.split_once(": ").unwrap_or((whole, ""));
                    tr!("the {name} {} ({what})", format_args!("{:.2}", mean(&gate.values)), name, what)
                });
                let opened: Vec<String> = opened.collect();
                (!opened.is_empty()).then(|| tr!("How far the gates are open on average: {}.", opened.join(", ")))
            }
            "next" => {
                let (old, new) = (self.quantities("state").first()?, self.quantities("next").last()?);
                let moved = old.values.iter().zip(&new.values).map(|(old, new)| (new - old).abs());
                let moved: Vec<f32> = moved.collect();
                Some(tr!(
                    "The state moves, each of its {} numbers by {} on average: this is what the next step will ask with.",
                    moved.len(),
                    format_args!("{:.2}", mean(&moved))
                ))
            }
            "candidates" => {
                let best = &self.trace.steps[self.i].best;
                let mut named = self.trace.candidates(self.i).iter().zip(best.iter().map(|(_, log_p)| log_p.exp()));
                let (first, p) = named.next()?;
                let before = |(word, p): (&String, f32)| tr!(", before {} with {p}", quoted(word), p = share(p));
                let (p, second) = (short(p), named.next().map(before).unwrap_or_default());
                Some(tr!("Of all words that the model knows, {} leads with {p}{second}.", quoted(first), p, second))
            }
            "word" => {
                let (word, p, place) = self.said()?;
                Some(tr!("{} is chosen with a probability of {p}{}.", quoted(word), why(mode, place), p = short(p)))
            }
            _ => None,
        }
    }

    fn fits(&self) -> Option<String> {
        let ranked = self.ranked(self.trace.steps[self.i].e_i.as_deref()?);
        let (first, energy) = ranked.first()?;
        let last = ranked.last().filter(|_| ranked.len() > 1);
        let least =
            |(word, energy): &(&str, f32)| tr!(", {} least with {energy}", at_source(word), energy = short(*energy));
        let (energy, least) = (short(*energy), last.map(least).unwrap_or_default());
        Some(tr!(
            "The state asks each source word how well it fits: {} fits best with {energy}{least}.",
            at_source(first),
            energy,
            least
        ))
    }

    fn wins(&self) -> Option<String> {
        let weights = self.weights();
        let (first, share) = weights.first()?;
        let second = weights.get(1).filter(|(_, share)| *share >= NAMED);
        let then = |(word, share): &(&str, f32)| tr!(", then {} with {share}", at_source(word), share = short(*share));
        if weights.len() > 1 && weights.iter().all(|(_, other)| (share - other).abs() < EVEN * share) {
            let share = short(*share);
            return Some(tr!("The energies become shares: every source word gets the same, {share}.", share));
        }
        let (share, then) = (short(*share), second.map(then).unwrap_or_default());
        Some(tr!("The energies become shares: {} wins with {share}{then}.", at_source(first), share, then))
    }

    fn carried(&self, key: &str) -> Option<String> {
        if self.is_hidden(key) {
            return None;
        }
        let step = self.trace.steps.get(self.i)?;
        let greatest = |values: &[f32]| values.iter().copied().filter(|value| value.is_finite()).reduce(f32::max);
        match key {
            "words" => None,
            "energies" => greatest(step.e_i.as_deref()?).map(short),
            "alpha" => greatest(step.alpha_i.as_deref()?).map(short),
            "candidates" => step.best.first().map(|(_, log_p)| short(log_p.exp())),
            "word" => self.i.checked_sub(1).and_then(|before| self.trace.said(before)).map(str::to_owned),
            _ => {
                let quantity = self.quantities(key).last()?;
                let best = step
                    .alpha_i
                    .as_deref()
                    .and_then(|alpha| (0..alpha.len()).max_by(|a, b| alpha[*a].total_cmp(&alpha[*b])));
                let row = quantity.row(if quantity.count() > 1 { best.unwrap_or(0) } else { 0 });
                let shown: Vec<String> = row.iter().take(CARRIED).copied().map(short).collect();
                let rest = if row.len() > CARRIED { " .." } else { "" };
                (!shown.is_empty()).then(|| format!("{}{rest}", shown.join(" ")))
            }
        }
    }
}

/// The reason for a candidate that was not the best.
fn why(mode: Mode, place: usize) -> Cow<'static, str> {
    match (mode, place) {
        (_, 0) => Cow::Borrowed(""),
        (Mode::Class, place) => Cow::Owned(tr!(", by your choice: it was number {} here", place + 1)),
        (_, place) => {
            Cow::Owned(tr!(", though it was only number {} here: the beam wants it for what follows", place + 1))
        }
    }
}

fn mean(values: &[f32]) -> f32 {
    values.iter().sum::<f32>() / values.len().max(1) as f32
}
