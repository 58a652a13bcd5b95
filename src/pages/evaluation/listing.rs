//! Floor 11: the sentences of a test set in an order: sorted once when it changes, so that a frame only looks things up.

use crate::corpus::overview::evaluated::{Evaluated, EvaluationRecord, Translation};
use crate::pages::evaluation::command::SortBy;

/// The sentences in an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// What they are sorted by.
    pub by: SortBy,
    /// The other way round than [`SortBy::starts_high`] says.
    pub is_turned: bool,
    /// The two models that are compared, by their positions.
    pub pair: (usize, usize),
    /// Sentences by their position in the test set, first to last.
    pub order: Vec<u32>,
}

impl SortBy {
    /// Sorted from the greatest down, unless turned round.
    pub fn starts_high(self) -> bool {
        !matches!(self, Self::Line | Self::Bleu(_) | Self::Chrf(_))
    }

    /// The number that a sentence is sorted by.
    pub fn value(self, results: &Evaluated, pair: (usize, usize), line: usize) -> f64 {
        let difference = |of: fn(&Translation) -> f64| {
            let of = |model| translation(results, model, line).map(of);
            of(pair.0).zip(of(pair.1)).map(|(first, second)| (second - first).abs())
        };
        let value = match self {
            Self::BleuDifference => difference(|translation| translation.bleu),
            Self::ChrfDifference => difference(|translation| translation.counts.chrf.score()),
            Self::Bleu(model) => translation(results, model, line).map(|translation| translation.bleu),
            Self::Chrf(model) => translation(results, model, line).map(|translation| translation.counts.chrf.score()),
            Self::Nll(model) => record(results, model, line).map(|record| record.nll / record.words.max(1) as f64),
            Self::Length => record(results, 0, line).map(|record| record.source_words as f64),
            Self::Line => Some(line as f64),
        };
        value.unwrap_or(0.0)
    }
}

/// What a model made of a sentence.
pub fn record(results: &Evaluated, model: usize, line: usize) -> Option<&EvaluationRecord> {
    results.models.get(model)?.report.records.get(line)
}

/// A model's first translation of a sentence.
pub fn translation(results: &Evaluated, model: usize, line: usize) -> Option<&Translation> {
    record(results, model, line)?.translations.first()
}

impl Listing {
    /// The first two models are compared, the largest differences come first.
    pub(crate) fn of(results: &Evaluated) -> Self {
        let is_several = results.models.len() > 1;
        let by = if is_several { SortBy::BleuDifference } else { SortBy::Bleu(0) };
        let mut listing = Self { by, pair: (0, usize::from(is_several)), ..Self::default() };
        listing.arrange(results);
        listing
    }

    /// Sorts; the same again turns the order round.
    pub(crate) fn sort(&mut self, by: SortBy, results: Option<&Evaluated>) {
        self.is_turned = self.by == by && !self.is_turned;
        self.by = by;
        if let Some(results) = results {
            self.arrange(results);
        }
    }

    /// Compares these two models, where there are such.
    pub(crate) fn compare(&mut self, pair: (usize, usize), results: Option<&Evaluated>) {
        let Some(results) = results else { return };
        if pair.0.max(pair.1) < results.models.len() {
            self.pair = pair;
            self.arrange(results);
        }
    }

    fn arrange(&mut self, results: &Evaluated) {
        let lines = results.models.first().map_or(0, |measured| measured.report.records.len());
        let mut keyed: Vec<(f64, u32)> =
            (0..lines).map(|line| (self.by.value(results, self.pair, line), line as u32)).collect();
        let is_falling = self.by.starts_high() != self.is_turned;
        // Equals stay in the order of the test set, whichever way round.
        keyed.sort_by(|(a, m), (b, n)| if is_falling { b.total_cmp(a) } else { a.total_cmp(b) }.then(m.cmp(n)));
        self.order = keyed.into_iter().map(|(_, line)| line).collect();
    }
}
