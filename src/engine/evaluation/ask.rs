//! A system asked about many sentences: its best translations, or what it makes of given ones, with each row of
//! alpha by the token that it belongs to.

use std::sync::Arc;

use crate::decoding::{Decoded, Hypothesis, SearchOptions};
use crate::evaluation::{rows::RowReader, system::EvaluatedSystem};
use crate::interventions::{Intervention, intervene_all};
use crate::{analysis::row_convention::RowConvention, error::Result, models::Stepper, ticket::CancellationToken};

/// A system, and how it is asked.
#[derive(Clone, Copy, Debug)]
pub struct AskedSystem<'a> {
    pub system: EvaluatedSystem<'a>,
    pub search: &'a SearchOptions,
    pub batch: usize,
    /// Whose rows are asked for; `None`: as training guided them.
    pub reading: Option<RowConvention>,
    /// Checked at every step of every batch.
    pub ticket: &'a CancellationToken,
}

impl AskedSystem<'_> {
    /// The best translation of each source, none of which is empty, with the interventions of each (none: of none), and
    /// the rows of their tokens.
    pub fn translate(
        &self, stepper: &mut dyn Stepper, sources: &[&[u32]], lists: &[Arc<[Intervention]>],
    ) -> Result<Vec<Hypothesis>> {
        let mut best = self.search(stepper, sources, lists, &mut |_, _| {})?;
        self.read_rows(stepper, sources, lists, &mut best)?;
        Ok(best)
    }

    /// As [`Self::translate`], with the rows as the search has them. `on_progress` gets the sentences and words of every
    /// batch.
    pub fn search(
        &self, stepper: &mut dyn Stepper, sources: &[&[u32]], lists: &[Arc<[Intervention]>],
        on_progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<Hypothesis>> {
        let mut best = vec![Hypothesis::default(); sources.len()];
        let mut keep = |indexes: &[usize], all: Vec<Decoded>| {
            let mut words = 0;
            for (&index, decoded) in indexes.iter().zip(all) {
                best[index] = decoded.hypotheses.into_iter().next().unwrap_or_default();
                words += best[index].tokens.len();
            }
            on_progress(indexes.len(), words);
            Ok(())
        };
        let (specials, batch) = (self.system.specials(), self.batch);
        intervene_all(stepper, specials, sources, lists, self.search, batch, self.ticket, &mut keep)?;
        Ok(best)
    }

    /// Gives every token of these translations the row that belongs to it.
    pub fn read_rows(
        &self, stepper: &mut dyn Stepper, sources: &[&[u32]], lists: &[Arc<[Intervention]>], best: &mut [Hypothesis],
    ) -> Result<()> {
        let list = |at: usize| lists.get(at).map_or(&[][..], |list| &**list);
        let translations = sources.iter().zip(best).enumerate().map(|(at, (source, one))| (*source, list(at), one));
        self.rows().extend_and_assign(stepper, translations.collect(), self.batch, self.ticket)
    }

    fn rows(&self) -> RowReader {
        RowReader::wanted(self.system, self.reading)
    }

    /// What it makes of given translations.
    pub fn force(&self, stepper: &mut dyn Stepper, pairs: &[(&[u32], &[u32])]) -> Result<Vec<Hypothesis>> {
        self.rows().force_all(stepper, pairs, self.batch, self.ticket, &mut |_, _| {})
    }
}
