//! Floor 7: one system over a corpus that is not saved, some twenty batches at a time: the NLL of the references by forced
//! decoding, then the translations by beam search.

use std::ops::Range;

use crate::analysis::bleu;
use crate::corpus::measures::scores::ComparedScores;
use crate::corpus::overview::evaluated::{EvaluationRecord, MeasuredSystem, Translation};
use crate::corpus::overview::test_set::{EvaluationListener, EvaluationOptions, EvaluationStage, TestSet, Unk};
use crate::corpus::store::read::compared;
use crate::corpus::store::write::NewSentence;
use crate::decoding;
use crate::decoding::Hypothesis;
use crate::decoding::batching::WINDOW;
use crate::error::{Error, Result};
use crate::evaluation::ask::AskedSystem;
use crate::evaluation::system::EvaluatedSystem;
use crate::evaluation::wording;
use crate::models::Stepper;
use crate::text::line;
use crate::text::sentence::Sentence;
use crate::text::tokenizer::Encode;
use crate::ticket::CancellationToken;

/// Evaluates a model or an ensemble. The ticket is checked at every step of every batch.
///
/// # Errors
/// [`Error::Stale`] as soon as the ticket is stale; a line that the model cannot read, named; what the search
/// refuses.
pub fn run<'a>(
    system: impl Into<EvaluatedSystem<'a>>,
    stepper: &mut dyn Stepper,
    test_set: &TestSet,
    options: &EvaluationOptions,
    ticket: &CancellationToken,
    hear: &mut EvaluationListener<'_>,
) -> Result<MeasuredSystem> {
    let system = system.into();
    let mut run = Run { system, test_set, options, ticket, hear, seconds: 0.0, words: 0, translated: 0 };
    let mut records = Vec::with_capacity(test_set.len());
    let window = options.batch.max(1) * WINDOW;
    for start in (0..test_set.len()).step_by(window) {
        records.extend(run.window(stepper, start..(start + window).min(test_set.len()))?);
    }
    let seconds = options.clock.map(|_| run.seconds);
    Ok(MeasuredSystem {
        name: system.name(),
        architecture: system.architecture(),
        folder: system.folder(),
        mixing: system.mixing(),
        replaced: options.replace_unk.is_some() && (system.aligns() || stepper.has_alignment_head()),
        seconds,
        sentences_per_second: seconds.map(|seconds| run.translated as f64 / seconds.max(1e-9)),
        words_per_second: seconds.map(|seconds| run.words as f64 / seconds.max(1e-9)),
        records,
        ..MeasuredSystem::default()
    })
}

/// A pair as the system reads it.
struct Case {
    source: Sentence,
    /// The first reference.
    target: Sentence,
    reference_unk: bool,
}

struct Run<'a> {
    system: EvaluatedSystem<'a>,
    test_set: &'a TestSet,
    options: &'a EvaluationOptions,
    ticket: &'a CancellationToken,
    hear: &'a mut EvaluationListener<'a>,
    seconds: f64,
    words: usize,
    translated: usize,
}

impl Run<'_> {
    /// The records of some neighbouring lines.
    fn window(&mut self, stepper: &mut dyn Stepper, lines: Range<usize>) -> Result<Vec<EvaluationRecord>> {
        let cases: Result<Vec<Case>> = lines.clone().map(|line| self.read(line)).collect();
        let cases = cases?;
        let nll = self.score(stepper, &cases)?;
        let mut records = Vec::with_capacity(cases.len());
        for (case, nll) in cases.iter().zip(nll) {
            records.push(EvaluationRecord {
                tokens: case.target.len(),
                nll,
                source_unk: case.source.ids.contains(&self.unk()),
                reference_unk: case.reference_unk,
                translations: Vec::with_capacity(self.options.unk.len()),
            });
        }
        for &unk in &self.options.unk {
            let translations = self.translate(stepper, &cases, &self.test_set.pairs[lines.clone()], unk)?;
            for (record, translation) in records.iter_mut().zip(translations) {
                record.translations.push(translation);
            }
        }
        Ok(records)
    }

    /// A line of every file, as the system's own tokenizers read it. A source word of an ensemble is unknown where every
    /// member finds it so.
    fn read(&self, number: usize) -> Result<Case> {
        let pair = &self.test_set.pairs[number];
        // A test set with holes would give figures that mean something else.
        let read = |path, tokenizer: &dyn Encode, text: &str| {
            line::read(tokenizer, text, self.test_set.pretokenized).map_err(|why| Error::line(path, number + 1, why))
        };
        let source = read(&self.test_set.source, self.system.source(), &pair.source)?;
        if source.is_empty() {
            return Err(Error::line(&self.test_set.source, number + 1, line::NO_WORDS));
        }
        let mut references = Vec::with_capacity(self.test_set.references.len());
        for (path, text) in self.test_set.references.iter().zip(pair.references()) {
            references.push(read(path, &self.system.lead().target, text)?);
        }
        let reference_unk = references.iter().any(|reference| reference.ids.contains(&self.unk()));
        let target = references.into_iter().next().unwrap_or_default();
        Ok(Case { source, target, reference_unk })
    }

    /// NLL of every first reference.
    fn score(&mut self, stepper: &mut dyn Stepper, cases: &[Case]) -> Result<Vec<f64>> {
        let pairs: Vec<(&[u32], &[u32])> =
            cases.iter().map(|case| (case.source.ids.as_slice(), case.target.ids.as_slice())).collect();
        let mut nll = vec![0.0; cases.len()];
        decoding::force_all(stepper, &pairs, self.options.batch, self.ticket, &mut |indexes, forced| {
            for (&index, forced) in indexes.iter().zip(forced) {
                nll[index] = -forced.token_log_p.iter().map(|&log_p| f64::from(log_p)).sum::<f64>();
            }
            let words = indexes.iter().map(|&index| pairs[index].1.len()).sum();
            (self.hear)(EvaluationStage::Scoring, indexes.len(), words);
            Ok(())
        })?;
        Ok(nll)
    }

    /// A translation of every source; of one without words nothing.
    fn translate(
        &mut self,
        stepper: &mut dyn Stepper,
        cases: &[Case],
        pairs: &[NewSentence],
        unk: Unk,
    ) -> Result<Vec<Translation>> {
        let search = decoding::SearchOptions {
            forbid_unk: unk == Unk::Forbidden,
            // Only the text of the best is used.
            most_numbers: 0,
            ..self.options.search.clone()
        };
        let chosen: Vec<usize> = (0..cases.len()).filter(|&index| cases[index].source.words() > 0).collect();
        let sources: Vec<&[u32]> = chosen.iter().map(|&index| cases[index].source.ids.as_slice()).collect();
        let Self { system, ticket, .. } = *self;
        let asked = AskedSystem { system, search: &search, batch: self.options.batch, reading: None, ticket };
        let mut begun = self.options.clock.map(|clock| clock());
        let mut found = asked.search(stepper, &sources, &[], &mut |sentences, words| {
            if let (Some(clock), Some(begun)) = (self.options.clock, begun) {
                self.seconds += clock().duration_since(begun).as_secs_f64();
            }
            self.words += words;
            self.translated += sentences;
            (self.hear)(EvaluationStage::Translating(unk), sentences, words);
            // A pause is not work.
            begun = self.options.clock.map(|clock| clock());
        })?;
        if chosen.len() < cases.len() {
            (self.hear)(EvaluationStage::Translating(unk), cases.len() - chosen.len(), 0);
        }
        if self.options.replace_unk.is_some() {
            asked.read_rows(stepper, &sources, &[], &mut found)?;
        }
        let mut best = vec![Hypothesis::default(); cases.len()];
        for (index, found) in chosen.into_iter().zip(found) {
            best[index] = found;
        }
        let found = best.iter().zip(cases).zip(pairs);
        Ok(found.map(|((best, case), pair)| self.translation(best, case, pair)).collect())
    }

    fn translation(&self, hypothesis: &Hypothesis, case: &Case, pair: &NewSentence) -> Translation {
        let replacing = self.options.replace_unk.as_ref();
        let lead = self.system.lead();
        let text = wording::text(lead, hypothesis, &case.source, replacing, self.test_set.pretokenized);
        let ids = wording::without_eos(lead, &hypothesis.tokens);
        let references = compared(pair.reference.as_deref(), pair.further.iter().map(String::as_str));
        let settings = bleu::BleuSettings { tokenization: self.options.tokenization, ..bleu::BleuSettings::default() };
        let counts = ComparedScores::of(&text, &references, &settings);
        Translation { has_unk: ids.contains(&self.unk()), words: hypothesis.tokens.len(), counts, text }
    }

    /// The id of `[UNK]` on both sides.
    fn unk(&self) -> u32 {
        self.system.specials().unk
    }
}
