//! What a system says of minimal pairs: both translations are forced, and where it is asked for, forced with
//! interventions, and put to measures at the word in which they differ.

use std::{ops::Range, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::analysis::contrast::depends::{ChangedPair, LookedAt, PairDependence};
use crate::analysis::contrast::minimal::{MinimalPair, first_difference};
use crate::decoding::{Hypothesis, ablate::leave_out};
use crate::evaluation::{plan::InterventionPlan, rows::RowReader, system::EvaluatedSystem};
use crate::interventions::{Intervention, force_changed};
use crate::text::sentence::{EOS, Sentence};
use crate::text::{line, tokenizer::Tokenizer, words::vocabulary_words};
use crate::{
    analysis::contrast::pairs::ContrastPair, decoding, error::Result, models::Stepper, ticket::CancellationToken,
};

const NAMES: [&str; 2] = ["good", "bad"];

/// Which measures are asked for at the critical word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContrastMeasures {
    pub left_out: bool,
}

/// What is asked of every pair beside its probabilities.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContrastQuestions<'a> {
    /// Interventions that both translations are forced with as well.
    pub acting: Option<&'a InterventionPlan>,
    pub measures: ContrastMeasures,
}

/// A system that is asked about pairs.
pub struct ContrastedSystem<'a> {
    system: EvaluatedSystem<'a>,
    pretokenized: bool,
    batch: usize,
    questions: ContrastQuestions<'a>,
}

struct ReadPair {
    source: Sentence,
    targets: [Sentence; 2],
    places: Option<[Range<usize>; 2]>,
    list: Arc<[Intervention]>,
}

impl ReadPair {
    fn ids(&self) -> [(&[u32], &[u32]); 2] {
        [0, 1].map(|side| (self.source.ids.as_slice(), self.targets[side].ids.as_slice()))
    }

    fn said(&self, forced: &[Hypothesis; 2]) -> ChangedPair {
        let whole = |side: usize| sum(&forced[side].token_log_p);
        let Some(places) = &self.places else { return ChangedPair { log_p: [whole(0); 2], word_log_p: [0.0; 2] } };
        let word = |side: usize| forced[side].token_log_p.get(places[side].clone()).map_or(0.0, sum);
        ChangedPair { log_p: [whole(0), whole(1)], word_log_p: [word(0), word(1)] }
    }
}

/// What came of it, in the order of the pairs, each that cannot be read with why; and the tokens that were forced.
pub type ContrastedPairs = (Vec<std::result::Result<MinimalPair, String>>, usize);

impl<'a> ContrastedSystem<'a> {
    /// A system, and what it is asked: words that are split by spaces, translations forced together, and the questions
    /// beside.
    pub fn new(
        system: EvaluatedSystem<'a>, (pretokenized, batch): (bool, usize), questions: ContrastQuestions<'a>,
    ) -> Result<Self> {
        if let Some(acting) = questions.acting {
            acting.check_given()?;
            acting.check(system)?;
        }
        Ok(Self { system, pretokenized, batch, questions })
    }

    /// Forces both translations of some pairs, the first of which has this place in the list, and asks the questions.
    pub fn compare(
        &self, stepper: &mut dyn Stepper, (first, pairs): (usize, &[ContrastPair]), ticket: &CancellationToken,
    ) -> Result<ContrastedPairs> {
        let read: Vec<_> = pairs.iter().enumerate().map(|(n, pair)| self.encode(first + n, pair)).collect();
        let both: Vec<(&[u32], &[u32])> = read.iter().flatten().flat_map(ReadPair::ids).collect();
        let tokens = both.iter().map(|(_, target)| target.len()).sum();
        let forced = RowReader::own(self.system).force_all(stepper, &both, self.batch, ticket, &mut |_, _| {})?;
        let mut changed = self.changed(stepper, &read, ticket)?.into_iter();
        let mut forced = forced.into_iter();
        let mut found = Vec::with_capacity(pairs.len());
        for read in read {
            let pair = match read {
                Err(why) => Err(why),
                Ok(pair) => {
                    let mut next = || [(); 2].map(|()| forced.next().unwrap_or_default());
                    let mut compared = self.compared(&pair, &next());
                    let changed = changed.next();
                    let looks_at = self.looked_at(stepper, &pair, ticket)?;
                    compared.depends = PairDependence { changed, looks_at };
                    Ok(compared)
                }
            };
            found.push(pair);
        }
        Ok((found, tokens))
    }

    fn changed(
        &self, stepper: &mut dyn Stepper, read: &[std::result::Result<ReadPair, String>], ticket: &CancellationToken,
    ) -> Result<Vec<ChangedPair>> {
        if self.questions.acting.is_none() {
            return Ok(Vec::new());
        }
        let good = || read.iter().flatten();
        let both: Vec<(&[u32], &[u32])> = good().flat_map(ReadPair::ids).collect();
        let lists: Vec<Arc<[Intervention]>> =
            good().flat_map(|pair| [Arc::clone(&pair.list), Arc::clone(&pair.list)]).collect();
        let mut forced = force_changed(stepper, &both, &lists, self.batch, ticket)?.into_iter();
        Ok(good().map(|pair| pair.said(&[(); 2].map(|()| forced.next().unwrap_or_default()))).collect())
    }

    fn looked_at(
        &self, stepper: &mut dyn Stepper, pair: &ReadPair, ticket: &CancellationToken,
    ) -> Result<Option<LookedAt>> {
        let Some(places) = pair.places.as_ref().filter(|_| self.questions.measures.left_out) else { return Ok(None) };
        let words = vocabulary_words(&self.system.lead().source, &pair.source, self.pretokenized);
        let Some((at, alpha)) = self.looks_at(stepper, pair, (&places[0], &words), ticket)? else { return Ok(None) };
        let tokens: Vec<usize> = words[at].clone().collect();
        let lost = lost(stepper, pair, (places, &tokens), ticket)?;
        Ok(Some(LookedAt { word: said_of(&pair.source, &words[at]), alpha, lost }))
    }

    fn looks_at(
        &self, stepper: &mut dyn Stepper, pair: &ReadPair, (place, words): (&Range<usize>, &[Range<usize>]),
        ticket: &CancellationToken,
    ) -> Result<Option<(usize, f64)>> {
        if !self.system.aligns() || place.is_empty() {
            return Ok(None);
        }
        let target = &pair.targets[0].ids[..place.end];
        let forced = decoding::force(stepper, &[(&pair.source.ids, target)], ticket)?;
        let Some(alpha) = forced.into_iter().next().and_then(|forced| forced.alpha) else { return Ok(None) };
        let of = |word: &Range<usize>| -> f64 {
            let rows = alpha[place.clone()].iter().map(|row| sum(&row[word.clone()]));
            rows.sum::<f64>() / place.len() as f64
        };
        Ok(greatest(&words.iter().map(of).collect::<Vec<_>>()))
    }

    fn target(&self) -> &Tokenizer {
        &self.system.lead().target
    }

    fn encode(&self, at: usize, pair: &ContrastPair) -> std::result::Result<ReadPair, String> {
        let source = line::read(self.system.source(), &pair.source, self.pretokenized)?;
        if source.is_empty() {
            return Err(line::NO_WORDS.to_owned());
        }
        let side = |at: usize| {
            let sentence = line::read(self.target(), &pair.targets[at], self.pretokenized)?;
            let named = if sentence.words() > 0 { Ok(sentence) } else { Err("has no words") };
            named.map_err(|why| format!("{why} in its {} translation; give both", NAMES[at]))
        };
        let targets = [side(0)?, side(1)?];
        let list = self.questions.acting.map(|acting| acting.resolve(at, self.system, (&source, self.pretokenized)));
        let list = list.transpose().map_err(|why| format!("is left out: {why}"))?.unwrap_or_default();
        let ranges = [0, 1].map(|side| vocabulary_words(self.target(), &targets[side], self.pretokenized));
        let ids = [0, 1].map(|side: usize| targets[side].ids.as_slice());
        let places = first_difference(ids, [&ranges[0], &ranges[1]]);
        Ok(ReadPair { source, targets, places, list })
    }

    fn compared(&self, pair: &ReadPair, said: &[Hypothesis; 2]) -> MinimalPair {
        let unk = self.system.specials().unk;
        let ChangedPair { log_p, word_log_p } = pair.said(said);
        let Some(places) = &pair.places else { return MinimalPair { log_p, ..MinimalPair::default() } };
        MinimalPair {
            log_p,
            words: [0, 1].map(|side: usize| said_of(&pair.targets[side], &places[side])),
            word_log_p,
            is_unknown: (0..2).any(|side| pair.targets[side].ids[places[side].clone()].contains(&unk)),
            depends: PairDependence::default(),
        }
    }
}

fn said_of(sentence: &Sentence, place: &Range<usize>) -> String {
    match sentence.spans.get(place.clone()) {
        Some([first, .., last]) => sentence.text[first.start..last.end].to_owned(),
        Some([only]) if sentence.tokens[place.start] != EOS => sentence.text[only.clone()].to_owned(),
        _ => EOS.to_owned(),
    }
}

fn lost(
    stepper: &mut dyn Stepper, pair: &ReadPair, (places, tokens): (&[Range<usize>; 2], &[usize]),
    ticket: &CancellationToken,
) -> Result<[f64; 2]> {
    let mut lost = [0.0; 2];
    for ((ids, place), lost) in pair.ids().into_iter().zip(places).zip(&mut lost) {
        let said = leave_out(stepper, ids, place.clone(), tokens, ticket)?;
        *lost = said.iter().map(|[own, without]| f64::from(*own) - f64::from(*without)).sum();
    }
    Ok(lost)
}

fn greatest(numbers: &[f64]) -> Option<(usize, f64)> {
    let first = |best: (usize, f64), (n, number): (usize, &f64)| if *number > best.1 { (n, *number) } else { best };
    (!numbers.is_empty()).then(|| numbers.iter().enumerate().fold((0, numbers[0]), first))
}

fn sum(log_p: &[f32]) -> f64 {
    log_p.iter().map(|log_p| f64::from(*log_p)).sum()
}
