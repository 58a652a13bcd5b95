//! The rows of an alignment by the words that they belong to, as a system's training has them.

use crate::error::{Error, Result};
use crate::models::{Stepper, fused::head::HEAD_FILE};
use crate::{
    analysis::row_convention::RowConvention, decoding, decoding::Hypothesis, evaluation::system::EvaluatedSystem,
    interventions::Intervention, ticket::CancellationToken,
};

/// Which word each row belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowReader {
    pub reading: RowConvention,
    /// Rows between the row that predicts a word and the first whose state has read it.
    pub delay: usize,
    pub eos: u32,
}

impl RowReader {
    /// As training guided them; where it did not, a row belongs to the word that was predicted with it.
    pub fn own(system: EvaluatedSystem<'_>) -> Self {
        let eos = system.specials().eos;
        let Some(delay) = system.input_delay() else { return Self { eos, ..Self::default() } };
        Self { reading: system.guided().and_then(RowConvention::from_name).unwrap_or_default(), delay, eos }
    }

    /// As somebody wants them, else as training guided them.
    pub fn wanted(system: EvaluatedSystem<'_>, reading: Option<RowConvention>) -> Self {
        let own = Self::own(system);
        Self { reading: reading.unwrap_or(own.reading), ..own }
    }

    /// As [`RowReader::wanted`], where what the stepper gives has such rows.
    pub fn chosen(system: EvaluatedSystem<'_>, stepper: &dyn Stepper, reading: Option<RowConvention>) -> Result<Self> {
        let refuse = |why: String| Err(Error::Input(why));
        match reading {
            Some(RowConvention::Head) if !stepper.has_alignment_head() => refuse(format!(
                "{} has no alignment head ({HEAD_FILE}); learn one with `interlinear train --head`, or leave out --reading head",
                system.name()
            )),
            Some(RowConvention::Input) if !system.aligns() || system.input_delay().is_none() => refuse(format!(
                "the rows of {} belong to the words that were predicted; leave out --reading input",
                system.name()
            )),
            _ => Ok(Self::wanted(system, reading)),
        }
    }

    /// As somebody wants them, else those of the alignment head where the stepper has one.
    pub fn best(system: EvaluatedSystem<'_>, stepper: &dyn Stepper, reading: Option<RowConvention>) -> Result<Self> {
        let head = stepper.has_alignment_head().then_some(RowConvention::Head);
        Self::chosen(system, stepper, reading.or(head))
    }

    /// The reading by name, as files tell it; `None` where rows belong to the words that were predicted.
    pub fn name(self) -> Option<&'static str> {
        (self.reading != RowConvention::default()).then(|| self.reading.name())
    }

    /// Steps behind `</s>` after which every token, `</s>` too, has been read.
    pub fn steps_behind(self) -> usize {
        match self.reading {
            RowConvention::Predicted | RowConvention::Head => 0,
            RowConvention::Input => self.delay,
        }
    }

    /// Gives every token the row that belongs to it: zeros, NaN where there are energies or positions, for tokens that
    /// have none. The rows may be more than the tokens.
    pub fn assign(self, hypothesis: &mut Hypothesis) {
        match self.reading {
            RowConvention::Predicted => return,
            RowConvention::Head => {
                (hypothesis.alpha, hypothesis.energies, hypothesis.p_t) = (hypothesis.head.take(), None, None);
                return;
            }
            RowConvention::Input => {}
        }
        let count = hypothesis.tokens.len();
        let t_x = hypothesis.alpha.as_ref().and_then(|alpha| alpha.first()).map_or(0, Vec::len);
        hypothesis.alpha = hypothesis.alpha.take().map(|alpha| self.of_tokens(&alpha, count, &vec![0.0; t_x]));
        hypothesis.energies =
            hypothesis.energies.take().map(|energies| self.of_tokens(&energies, count, &vec![f32::NAN; t_x]));
        hypothesis.p_t = hypothesis.p_t.take().map(|p_t| self.of_tokens(&p_t, count, &f32::NAN));
    }

    pub fn of_tokens<T: Clone>(self, rows: &[T], count: usize, none: &T) -> Vec<T> {
        let read = self.reading.read_after(self.delay, rows);
        read.iter().chain(std::iter::repeat(none)).take(count).cloned().collect()
    }

    /// Adds to finished translations the rows behind `</s>` whose states have read their last tokens; nothing where the
    /// rows belong to the predicted words. The sources are those of the translations.
    pub fn extend_past_eos(
        self, stepper: &mut dyn Stepper, sources: &[&[u32]], translations: &mut [&mut Hypothesis], batch: usize,
        ticket: &CancellationToken,
    ) -> Result<()> {
        let behind = self.steps_behind();
        let wanted = |one: &Hypothesis| behind > 0 && one.finished && one.alpha.is_some();
        let chosen: Vec<usize> = (0..translations.len()).filter(|&n| wanted(translations[n])).collect();
        let tokens_past_eos: Vec<Vec<u32>> =
            chosen.iter().map(|&n| self.tokens_past_eos(&translations[n].tokens)).collect();
        let pairs: Vec<(&[u32], &[u32])> =
            chosen.iter().map(|&n| sources[n]).zip(tokens_past_eos.iter().map(Vec::as_slice)).collect();
        decoding::force_all(stepper, &pairs, batch, ticket, &mut |indexes, all| {
            for (&index, forced) in indexes.iter().zip(all) {
                let one = &mut *translations[chosen[index]];
                add(&mut one.alpha, forced.alpha, one.tokens.len());
                add(&mut one.energies, forced.energies, one.tokens.len());
                add(&mut one.p_t, forced.p_t, one.tokens.len());
            }
            Ok(())
        })
    }

    /// Gives every token of finished translations the row that belongs to it. Where alpha was set by a person, among
    /// what each translation was made with, it does not go on behind `</s>`.
    pub fn extend_and_assign(
        self, stepper: &mut dyn Stepper, mut translations: Vec<(&[u32], &[Intervention], &mut Hypothesis)>,
        batch: usize, ticket: &CancellationToken,
    ) -> Result<()> {
        let is_free = |list: &[Intervention]| !list.iter().any(Intervention::needs_alignment);
        let (sources, mut free): (Vec<&[u32]>, Vec<&mut Hypothesis>) = translations
            .iter_mut()
            .filter(|(_, list, _)| is_free(list))
            .map(|(source, _, one)| (*source, &mut **one))
            .unzip();
        self.extend_past_eos(stepper, &sources, &mut free, batch, ticket)?;
        for (.., one) in translations {
            self.assign(one);
        }
        Ok(())
    }

    /// What comes of forcing each pair: a row for each token as it belongs to it, and the numbers of the tokens alone.
    /// `on_progress` gets the pairs and tokens of every batch.
    pub fn force_all(
        self, stepper: &mut dyn Stepper, pairs: &[(&[u32], &[u32])], batch: usize, ticket: &CancellationToken,
        on_progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<Hypothesis>> {
        let tokens_past_eos: Vec<Vec<u32>> = pairs.iter().map(|(_, target)| self.tokens_past_eos(target)).collect();
        let tokens_past_eos: Vec<(&[u32], &[u32])> =
            pairs.iter().map(|(source, _)| *source).zip(tokens_past_eos.iter().map(Vec::as_slice)).collect();
        let mut all = vec![Hypothesis::default(); pairs.len()];
        decoding::force_all(stepper, &tokens_past_eos, batch, ticket, &mut |indexes, forced| {
            for (&index, forced) in indexes.iter().zip(forced) {
                all[index] = of_tokens_alone(forced, pairs[index].1.len());
                self.assign(&mut all[index]);
            }
            on_progress(indexes.len(), indexes.iter().map(|&index| pairs[index].1.len()).sum());
            Ok(())
        })?;
        Ok(all)
    }

    /// The tokens and as many `</s>` as there are steps behind them.
    pub fn tokens_past_eos(self, tokens: &[u32]) -> Vec<u32> {
        tokens.iter().copied().chain(std::iter::repeat_n(self.eos, self.steps_behind())).collect()
    }
}

/// With the probability of the first `count` tokens alone; all rows stay.
pub fn of_tokens_alone(mut forced: Hypothesis, count: usize) -> Hypothesis {
    if forced.tokens.len() > count {
        forced.tokens.truncate(count);
        forced.token_log_p.truncate(count);
        forced.candidates.truncate(count);
        if let Some(head) = &mut forced.head {
            head.truncate(count);
        }
        forced.log_p = forced.token_log_p.iter().map(|&log_p| f64::from(log_p)).sum::<f64>() as f32;
        forced.rank = forced.log_p;
    }
    forced
}

fn add<T>(rows: &mut Option<Vec<T>>, more: Option<Vec<T>>, first: usize) {
    if let (Some(rows), Some(more)) = (rows, more) {
        rows.extend(more.into_iter().skip(first));
    }
}
