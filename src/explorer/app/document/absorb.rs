//! What the worker's events do to the columns.

use std::sync::Arc;

use crate::app::{document::by_itself, document::column::ColumnState, state::AppState};
use crate::jobs::live::protocol::{ColumnResult, Event, HypothesisView, ModelFacts};

impl AppState {
    /// True when anything changed. The old table stays, marked stale, until the first new row.
    pub(crate) fn absorb(&mut self, at: usize, event: Event) -> bool {
        let column = &mut self.document.columns[at];
        match event {
            Event::Loading { fraction, .. } => {
                // A model that is there is not read again: this was told before and came late.
                if column.state == ColumnState::Ready {
                    return false;
                }
                column.state = ColumnState::Loading(fraction);
            }
            Event::Loaded { facts, .. } => self.loaded(at, facts),
            Event::Fingerprint { digest, .. } => {
                if let Some(facts) = &mut column.facts {
                    facts.digest = digest;
                }
            }
            Event::LoadFailed { message, .. } => {
                // Nothing will ever replace an old picture here, so it goes, and waiting ends.
                column.empty();
                column.state = ColumnState::Failed(message);
                self.mark_differences();
            }
            Event::Started { source, context, .. } => {
                column.request.incoming = Some((source, context));
                column.message = None;
                column.decoding = true;
            }
            Event::Expanded { best, .. } => self.expanded(at, best),
            Event::Finished { result, .. } => self.finished(at, result),
            Event::Given { given, .. } => self.given(at, given.map(|view| *view)),
            Event::Untouched { untouched, .. } => {
                let said = column.hypotheses.first();
                column.baseline.words = said.map_or_else(Vec::new, |said| by_itself(&untouched.best, said));
                column.baseline.untouched = Some(Arc::new(untouched));
            }
            // page Sentence has asked
            Event::Near { .. } => return false,
            Event::Failed { message, .. } => {
                column.message = Some(message);
                (column.decoding, column.request.incoming) = (false, None);
                self.mark_differences();
            }
        }
        true
    }

    fn loaded(&mut self, at: usize, facts: ModelFacts) {
        let column = &mut self.document.columns[at];
        column.state = ColumnState::Ready;
        let notice = facts.device.notice.clone();
        column.facts = Some(facts);
        if let Some(text) = notice {
            self.notify(text, false);
        }
    }

    fn expanded(&mut self, at: usize, best: HypothesisView) {
        let column = &mut self.document.columns[at];
        column.take_pending();
        column.forget_links();
        column.hypotheses = vec![best];
        column.hypothesis = 0;
        self.rebuild(at);
    }

    fn given(&mut self, at: usize, given: Result<HypothesisView, String>) {
        let Some(text) = self.document.state.given.clone() else { return };
        let column = &mut self.document.columns[at];
        column.given.view = Some(given);
        let source = self.document.state.text_of(column.variant).to_owned();
        column.given.key = Some((source, text, column.decode_key(self.view.settings.device, &self.document.state)));
        self.ask_given_links(at);
        self.rebuild(at);
        self.forget_missing_target();
        self.mark_differences();
    }

    fn finished(&mut self, at: usize, mut result: ColumnResult) {
        let column = &mut self.document.columns[at];
        column.take_pending();
        column.hypotheses = std::mem::take(&mut result.hypotheses);
        column.hypothesis = 0;
        result.context = result.context.or(column.result.context.take());
        column.result = result;
        (column.decoding, column.stale, column.message) = (false, false, None);
        let source = self.document.state.text_of(column.variant).to_owned();
        column.request.result_key = Some((source, column.decode_key(self.view.settings.device, &self.document.state)));
        self.ask_links(at);
        self.rebuild(at);
        self.forget_missing_target();
        self.mark_differences();
        self.document.words_per_second =
            self.document.columns.iter().map(|column| column.result.words_per_second).sum();
        if self.document.decoding() == 0 {
            self.keep_translated();
        }
    }
}
