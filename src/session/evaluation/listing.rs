//! Floor 8: the sentences of a test set in an order: sorted once when it changes, so that a frame only looks things up.

use crate::evaluation::{Record, Translation};
use crate::session::evaluation::Evaluation;
use crate::worker::corpus::evaluate::Evaluated;

/// What sentences are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// How much BLEU of the two compared models differs.
    #[default]
    BleuDifference,
    /// How much chrF2 of the two compared models differs.
    ChrfDifference,
    /// BLEU of a model, by its position.
    Bleu(usize),
    /// chrF2 of a model, by its position.
    Chrf(usize),
    /// -log p of the first reference a word, of a model, by its position.
    Nll(usize),
    /// Source words.
    Length,
    /// The order of the test set.
    Line,
}

/// The sentences in an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// What they are sorted by.
    pub by: By,
    /// The other way round than [`By::starts_high`] says.
    pub is_turned: bool,
    /// The two models that are compared, by their positions.
    pub pair: (usize, usize),
    /// Sentences by their position in the test set, first to last.
    pub order: Vec<u32>,
}

impl By {
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
            Self::ChrfDifference => difference(|translation| translation.chrf.score()),
            Self::Bleu(model) => translation(results, model, line).map(|translation| translation.bleu),
            Self::Chrf(model) => translation(results, model, line).map(|translation| translation.chrf.score()),
            Self::Nll(model) => record(results, model, line).map(|record| record.nll / record.words.max(1) as f64),
            Self::Length => record(results, 0, line).map(|record| record.source_words as f64),
            Self::Line => Some(line as f64),
        };
        value.unwrap_or(0.0)
    }
}

/// What a model made of a sentence.
pub fn record(results: &Evaluated, model: usize, line: usize) -> Option<&Record> {
    results.models.get(model)?.report.records.get(line)
}

/// A model's first translation of a sentence.
pub fn translation(results: &Evaluated, model: usize, line: usize) -> Option<&Translation> {
    record(results, model, line)?.translations.first()
}

impl Evaluation {
    /// Other results: the first two models are compared, the largest differences come first.
    pub(super) fn list_anew(&mut self) {
        let models = self.results.as_ref().map_or(0, |results| results.models.len());
        let by = if models > 1 { By::BleuDifference } else { By::Bleu(0) };
        self.listing = Listing { by, pair: (0, usize::from(models > 1)), ..Listing::default() };
        self.arrange();
    }

    pub(super) fn sort(&mut self, by: By) {
        let listing = &mut self.listing;
        listing.is_turned = listing.by == by && !listing.is_turned;
        listing.by = by;
        self.arrange();
    }

    pub(super) fn compare(&mut self, first: usize, second: usize) {
        let models = self.results.as_ref().map_or(0, |results| results.models.len());
        if first < models && second < models {
            self.listing.pair = (first, second);
            self.arrange();
        }
    }

    fn arrange(&mut self) {
        let Some(results) = self.results.as_deref() else { return };
        let listing = &mut self.listing;
        let lines = results.models.first().map_or(0, |measured| measured.report.records.len());
        let mut keyed: Vec<(f64, u32)> =
            (0..lines).map(|line| (listing.by.value(results, listing.pair, line), line as u32)).collect();
        let is_falling = listing.by.starts_high() != listing.is_turned;
        // Equals stay in the order of the test set, whichever way round.
        keyed.sort_by(|(a, m), (b, n)| if is_falling { b.total_cmp(a) } else { a.total_cmp(b) }.then(m.cmp(n)));
        listing.order = keyed.into_iter().map(|(_, line)| line).collect();
    }
}
