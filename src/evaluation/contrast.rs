//! Floor 6: what a system says of minimal pairs: both translations are forced.

use crate::analysis::contrast::minimal::{MinimalPair, first_difference};
use crate::analysis::contrast::pairs::ContrastPair;
use crate::decoding::Forced;
use crate::error::Result;
use crate::evaluation::rows::ReadRows;
use crate::evaluation::system::EvaluatedSystem;
use crate::models::Stepper;
use crate::text::line;
use crate::text::sentence::{EOS, Sentence};
use crate::text::tokenizer::Tokenizer;
use crate::text::words::vocabulary_words;
use crate::ticket::CancellationToken;

/// What the translations are called, the good one first.
const NAMES: [&str; 2] = ["good", "bad"];

/// A system that is asked about pairs.
pub struct ContrastedSystem<'a> {
    pub system: EvaluatedSystem<'a>,
    /// Words are split by spaces already.
    pub pretokenized: bool,
    /// Translations forced together, two of a pair.
    pub batch: usize,
}

/// What came of it, in the order of the pairs, each that cannot be read with why; and the tokens that were forced.
pub type ContrastedPairs = (Vec<std::result::Result<MinimalPair, String>>, usize);

impl ContrastedSystem<'_> {
    /// Forces both translations of some pairs.
    ///
    /// # Errors
    /// As [`crate::decoding::force_all`].
    pub fn compare(
        &self,
        stepper: &mut dyn Stepper,
        pairs: &[ContrastPair],
        ticket: &CancellationToken,
    ) -> Result<ContrastedPairs> {
        let read: Vec<_> = pairs.iter().map(|pair| self.encode(pair)).collect();
        let good = read.iter().flatten();
        let both: Vec<(&[u32], &[u32])> =
            good.flat_map(|(x, ys)| ys.iter().map(|y| (x.ids.as_slice(), y.ids.as_slice()))).collect();
        let tokens = both.iter().map(|(_, target)| target.len()).sum();
        let mut forced = vec![Forced::default(); both.len()];
        ReadRows::own(self.system).force_all(stepper, &both, self.batch, ticket, &mut |indexes, done| {
            indexes.iter().zip(done).for_each(|(&index, done)| forced[index] = done);
            Ok(())
        })?;
        let mut forced = forced.into_iter();
        let found = read.into_iter().map(|read| {
            let (_, targets) = read?;
            let said = [(); 2].map(|()| forced.next().unwrap_or_default());
            Ok(self.compared(&targets, &said))
        });
        Ok((found.collect(), tokens))
    }

    fn target(&self) -> &Tokenizer {
        &self.system.lead().target
    }

    /// A pair as the system reads it, or why it does not.
    fn encode(&self, pair: &ContrastPair) -> std::result::Result<(Sentence, [Sentence; 2]), String> {
        let source = line::read(self.system.source(), &pair.source, self.pretokenized)?;
        if source.is_empty() {
            return Err(line::NO_WORDS.to_owned());
        }
        let side = |at: usize| {
            let sentence = line::read(self.target(), &pair.targets[at], self.pretokenized)?;
            let named = if sentence.words() > 0 { Ok(sentence) } else { Err("has no words") };
            named.map_err(|why| format!("{why} in its {} translation; give both", NAMES[at]))
        };
        Ok((source, [side(0)?, side(1)?]))
    }

    fn compared(&self, targets: &[Sentence; 2], said: &[Forced; 2]) -> MinimalPair {
        let unk = self.system.specials().unk;
        let ranges = [0, 1].map(|side| vocabulary_words(self.target(), &targets[side], self.pretokenized));
        let differ = first_difference([0, 1].map(|side| targets[side].ids.as_slice()), [&ranges[0], &ranges[1]]);
        let whole = |side: usize| sum(&said[side].token_log_p);
        let log_p = [whole(0), whole(1)];
        let Some(places) = differ else { return MinimalPair { log_p: [log_p[0]; 2], ..MinimalPair::default() } };
        let word = |side: usize| {
            let (sentence, place) = (&targets[side], &places[side]);
            match sentence.spans.get(place.clone()) {
                Some([first, .., last]) => sentence.text[first.start..last.end].to_owned(),
                Some([only]) if sentence.tokens[place.start] != EOS => sentence.text[only.clone()].to_owned(),
                _ => EOS.to_owned(),
            }
        };
        MinimalPair {
            log_p,
            words: [word(0), word(1)],
            word_log_p: [0, 1].map(|side| said[side].token_log_p.get(places[side].clone()).map_or(0.0, sum)),
            is_unknown: (0..2).any(|side| targets[side].ids[places[side].clone()].contains(&unk)),
        }
    }
}

fn sum(log_p: &[f32]) -> f64 {
    log_p.iter().map(|log_p| f64::from(*log_p)).sum()
}
