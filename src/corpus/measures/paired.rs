//! Which systems differ by which scores: both tests of every two, corrected for the number of pairs, and ranks.

use std::collections::VecDeque;

use crate::measures::scores::ComparedScores;
use engine::analysis::bootstrap::significance::{ALPHA, correct, ranks};
use engine::analysis::bootstrap::{BootstrapCounts, BootstrapSample, Paired, PairedTests, Trials};
use engine::analysis::{bleu::BleuCounts, chrf::ChrfCounts, ter::TerCounts};

/// A system among others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedSystem {
    pub system: usize,
    pub score: f64,
    /// Rank from 1 in clusters as in WMT: approximate randomisation, corrected by Holm, p at most [`ALPHA`]; `None` without p.
    pub rank: Option<usize>,
}

impl RankedSystem {
    /// The rank as it is shown.
    pub fn rank_text(&self) -> String {
        self.rank.map_or_else(String::new, |rank| rank.to_string())
    }
}

/// Every two systems by one score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestedScore {
    pub name: &'static str,
    pub is_given: bool,
    pub systems: Vec<RankedSystem>,
    /// Pairs that have common sentences, by the places of their systems.
    pub pairs: Vec<((usize, usize), Paired)>,
}

impl TestedScore {
    /// Digits that it is shown with.
    pub fn digits(&self) -> usize {
        if self.is_given { 4 } else { 2 }
    }

    /// The score of the first less that of the second, and their tests, whichever of both stands first there.
    pub fn between(&self, first: usize, second: usize) -> Option<(f64, &Paired)> {
        let is_pair = |pair: &(usize, usize)| *pair == (first, second) || *pair == (second, first);
        let (pair, paired) = self.pairs.iter().find(|(pair, _)| is_pair(pair))?;
        let second_less_first = paired.difference.value;
        Some((if pair.0 == first { -second_less_first } else { second_less_first }, paired))
    }
}

/// Every two of these systems, and one pair the way round that it is asked for.
pub fn every_two(systems: &[usize], asked: (usize, usize)) -> Vec<(usize, usize)> {
    let pairs = systems.iter().flat_map(|one| systems.iter().map(move |other| (*one, *other)));
    let is_other =
        |(one, other): &(usize, usize)| one < other && (*one, *other) != (asked.0.min(asked.1), asked.0.max(asked.1));
    std::iter::once(asked).chain(pairs.filter(is_other)).collect()
}

/// BLEU, chrF2 and TER of systems, sentence by sentence.
pub struct ComparedSample {
    bleu: BootstrapSample<BleuCounts>,
    chrf: BootstrapSample<ChrfCounts>,
    ter: BootstrapSample<TerCounts>,
}

impl ComparedSample {
    pub fn new(sentences: usize, seed: u64) -> Self {
        Self {
            bleu: BootstrapSample::new(sentences, seed),
            chrf: BootstrapSample::new(sentences, seed),
            ter: BootstrapSample::new(sentences, seed),
        }
    }

    /// Adds a sentence: the scores of each system that has an output.
    pub fn add(&mut self, scores: &[Option<ComparedScores>]) {
        self.bleu.add(scores.iter().map(|scores| Some(scores.as_ref()?.bleu)));
        self.chrf.add(scores.iter().map(|scores| Some(scores.as_ref()?.chrf)));
        self.ter.add(scores.iter().map(|scores| Some(scores.as_ref()?.ter)));
    }
}

trait Test: Send {
    fn step(&mut self) -> bool;
    fn share(&self) -> f32;
    fn tested(&mut self, pairs: &[(usize, usize)]) -> TestedScore;
}

impl<C: BootstrapCounts> Test for Trials<C> {
    fn step(&mut self) -> bool {
        Self::step(self)
    }

    fn share(&self) -> f32 {
        Self::share(self)
    }

    fn tested(&mut self, pairs: &[(usize, usize)]) -> TestedScore {
        let found = pairs.iter().zip(self.finish()).filter_map(|(pair, paired)| Some((*pair, paired?)));
        let mut tested = TestedScore { pairs: found.collect(), ..TestedScore::default() };
        correct(tested.pairs.iter_mut().map(|(_, paired)| paired).collect());
        let mut systems: Vec<usize> = pairs.iter().flat_map(|pair| [pair.0, pair.1]).collect();
        systems.sort_unstable();
        systems.dedup();
        let mut scored: Vec<(usize, f64)> =
            systems.into_iter().filter_map(|system| Some((system, self.scores.get(system).copied()??))).collect();
        let order = |a: f64, b: f64| if C::LOWER_IS_BETTER { a.total_cmp(&b) } else { b.total_cmp(&a) };
        scored.sort_by(|one, other| order(one.1, other.1));
        let is_better = |above: usize, below: usize| {
            let Some((difference, paired)) = tested.between(scored[above].0, scored[below].0) else { return false };
            let p = paired.p_randomised_holm.or(paired.p_randomised);
            (difference < 0.0) == C::LOWER_IS_BETTER && p.is_some_and(|p| p <= ALPHA)
        };
        let has_p = tested.pairs.iter().any(|(_, paired)| paired.p_value.is_some());
        let ranks = ranks(scored.len(), is_better).into_iter().zip(&scored);
        let ranked = |(rank, &(system, score))| RankedSystem { system, score, rank: has_p.then_some(rank) };
        tested.systems = ranks.map(ranked).collect();
        tested
    }
}

/// The tests of every two systems by each score, one after the other.
pub struct SystemTests {
    pairs: Vec<(usize, usize)>,
    tests: PairedTests,
    left: VecDeque<(&'static str, bool, Box<dyn Test>)>,
    done: Vec<TestedScore>,
}

impl SystemTests {
    /// Of these pairs; no scores yet.
    pub fn new(pairs: Vec<(usize, usize)>, tests: PairedTests) -> Self {
        Self { pairs, tests, left: VecDeque::new(), done: Vec::new() }
    }

    /// Tests BLEU, chrF2 and TER.
    pub fn compare(&mut self, sample: &ComparedSample) {
        self.add("BLEU", false, &sample.bleu);
        self.add("chrF2", false, &sample.chrf);
        self.add("TER", false, &sample.ter);
    }

    /// Tests a score of this name, which others gave or not.
    pub fn add<C: BootstrapCounts + 'static>(
        &mut self, name: &'static str, is_given: bool, sample: &BootstrapSample<C>,
    ) {
        self.left.push_back((name, is_given, Box::new(Trials::new(sample, &self.pairs, self.tests))));
    }

    pub fn share(&self) -> f32 {
        let (done, now) = (self.done.len() as f32, self.left.front().map_or(0.0, |(.., test)| test.share()));
        (done + now) / (self.done.len() + self.left.len()).max(1) as f32
    }

    /// Some milliseconds of work; false when all is done.
    pub fn step(&mut self) -> bool {
        if self.left.front_mut().is_some_and(|(.., test)| !test.step())
            && let Some((name, is_given, mut test)) = self.left.pop_front()
        {
            self.done.push(TestedScore { name, is_given, ..test.tested(&self.pairs) });
        }
        !self.left.is_empty()
    }

    pub fn finish(self) -> Vec<TestedScore> {
        self.done.into_iter().filter(|tested| !tested.pairs.is_empty()).collect()
    }
}
