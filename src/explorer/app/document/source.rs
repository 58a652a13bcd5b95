//! Goes to another text: by typing, from a list, by undo; and keeps what was translated.

use std::sync::Arc;

use crate::app::document::sentence_state::{SentenceState, cut};
use crate::app::files::lists::{List, MAX_TRANSLATED};
#[cfg(not(target_family = "wasm"))]
use crate::app::page::SENTENCE;
use crate::app::{
    command::SourceCommand, document::column::Column, document::history::TypedIn, document::history::begins_anew,
    document::rewording::carried, files::gold::Gold,
};
use crate::app::{settings::Whose, state::AppState};
use engine::analysis::contrast::pairs::ContrastPair;

/// So many sentences of a list are compared with the source to find it there.
const COMPARED: usize = 1_000;

impl AppState {
    pub fn edit(&mut self, command: SourceCommand) {
        // a drag does not go on over an undo
        self.document.moved = None;
        let other = match command {
            SourceCommand::Edit(text) => return self.type_source(text),
            SourceCommand::Replace(text) => return self.replace_source(text, None),
            SourceCommand::Give(text) => return self.give(text),
            SourceCommand::Stop => {
                // What the work under way still tells is old; models that are being read are still wanted.
                self.request_to_rest();
                return self.mark_differences();
            }
            SourceCommand::Undo => self.document.history.undo(self.document.state.clone()),
            SourceCommand::UndoSentence => self.document.history.undo_sentence(self.document.state.clone()),
            SourceCommand::Redo => self.document.history.redo(self.document.state.clone()),
        };
        if let Some(sentence) = other {
            self.set_back(sentence);
        }
    }

    fn type_source(&mut self, text: String) {
        let text = self.cut(text);
        if text == self.document.state.source {
            return;
        }
        let from = self.document.state.source.clone();
        self.document.history.typed(TypedIn::Text, self.document.state.clone(), &from, &text);
        self.document.typed = true;
        let goes_on = !text.trim().is_empty() && !begins_anew(&self.document.state.source, &text);
        self.document.typed_on &= goes_on;
        self.leave_words(goes_on.then_some(&text));
        self.set_source(text, None);
    }

    pub(crate) fn replace_source(&mut self, text: String, position: Option<usize>) {
        let text = self.cut(text);
        if text == self.document.state.source {
            self.document.state.position = position.or(self.document.state.position);
            return;
        }
        self.document.history.replaced(self.document.state.clone());
        (self.document.typed, self.document.typed_on) = (false, false);
        // what was given belongs to the sentence before; its field stays
        self.document.state.given = self.document.state.given.take().map(|_| String::new());
        self.leave_words(None);
        self.set_source(text, position);
    }

    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn show_sentence(&mut self, text: String) {
        self.show_page(SENTENCE);
        self.replace_source(text, None);
        self.document.state.position = self.document.state.position.or_else(|| self.position_of_source());
    }

    pub(crate) fn cut(&mut self, text: String) -> String {
        let (text, is_cut) = cut(text);
        if is_cut {
            self.notify_cut();
        }
        text
    }

    /// Replaces the whole state as one step of undo.
    pub(crate) fn put_state(&mut self, sentence: SentenceState) {
        if sentence == self.document.state {
            return;
        }
        self.document.history.replaced(self.document.state.clone());
        (self.document.typed, self.document.typed_on) = (false, false);
        self.document.state.search = sentence.search;
        self.set_back(sentence);
    }

    pub(crate) fn set_back(&mut self, sentence: SentenceState) {
        let SentenceState { source, position, given, interventions, variants, interlinear, .. } = sentence;
        let stands = |at: &usize| self.lists.sentence(*at).is_some_and(|line| line == source);
        let position = position.filter(stands);
        self.document.state.given = given;
        (self.document.state.interventions, self.document.state.variants) = (interventions, variants);
        // the threshold is a look, and no step of undo
        let threshold = self.document.state.interlinear.threshold;
        self.document.state.interlinear = interlinear;
        if self.document.state.interlinear.threshold != threshold {
            Arc::make_mut(&mut self.document.state.interlinear).threshold = threshold;
        }
        self.set_source(source, position);
        // the table may be that of a translation that is given no longer
        self.rebuild_all();
    }

    /// Drops interventions and variants of the old text, except variants that the longer text `goes_on` leaves intact.
    pub(crate) fn leave_words(&mut self, goes_on: Option<&str>) {
        let before = self.document.state.source.clone();
        let carried = |variant: &str| goes_on.and_then(|after| carried(&before, after, variant));
        let is_seen = |app: &Self| {
            let is_gone = |column: &Column| column.variant.is_some_and(|id| app.document.state.variant(id).is_none());
            app.document.columns.iter().any(is_gone)
        };
        if self.document.state.keep_variants(carried) && is_seen(self) {
            self.notify(tr!("Variants of the text before were closed with it; undo brings them back"), false);
        }
        if self.document.state.keep_for_other_text() {
            let text =
                tr!("What was set for the words of the text before was taken away with them; undo brings both back");
            self.notify(text, false);
        }
    }

    pub(crate) fn set_source(&mut self, source: String, position: Option<usize>) {
        (self.document.state.source, self.document.state.position) = (source, position);
        self.view.hover = None;
        self.changed();
        self.request();
    }

    /// Adds the source to the history. Further typing replaces the entry, so that a sentence leaves one entry.
    pub(crate) fn keep_translated(&mut self) {
        let text = self.document.state.source.trim().to_owned();
        let translated = &mut self.lists.translated;
        if text.is_empty() || translated.last() == Some(&text) {
            return;
        }
        if self.document.typed && self.document.typed_on {
            translated.pop();
        }
        if self.document.typed || !translated.contains(&text) {
            translated.retain(|old| *old != text);
            translated.push(text);
            let excess = translated.len().saturating_sub(MAX_TRANSLATED);
            translated.drain(..excess);
            self.document.typed_on = self.document.typed;
            self.changed();
            if self.lists.shown == List::History {
                self.lists.search_again();
            }
        }
    }

    pub(crate) fn position_of_source(&self) -> Option<usize> {
        let n = self.lists.len().min(COMPARED);
        (0..n).find(|at| self.lists.sentence(*at).is_some_and(|text| text == self.document.state.source))
    }

    pub fn gold(&self) -> Option<Arc<Gold>> {
        let known = self.document.gold.clone().filter(|gold| gold.source == self.document.state.source);
        known.or_else(|| self.gold_of_list().map(Arc::new))
    }

    pub(crate) fn gold_of_list(&self) -> Option<Gold> {
        let gold = self.lists.gold(self.document.state.position?)?;
        (gold.source == self.document.state.source).then_some(gold)
    }

    pub(crate) fn give(&mut self, text: Option<String>) {
        let text = text.map(|text| self.cut(text));
        if text == self.document.state.given {
            return;
        }
        match (&self.document.state.given, &text) {
            (Some(before), Some(after)) => {
                self.document.history.typed(TypedIn::Beside, self.document.state.clone(), before, after);
            }
            _ => self.document.history.replaced(self.document.state.clone()),
        }
        self.put_given(text);
    }

    fn put_given(&mut self, text: Option<String>) {
        if self.document.state.given.is_none() {
            self.view.settings.whose = Whose::Given;
        }
        self.document.state.given = text;
        self.changed();
        self.request();
        self.rebuild_all();
    }

    /// The minimal pair that was opened, while its source is the text.
    pub fn pair(&self) -> Option<&ContrastPair> {
        self.document.pair.as_deref().filter(|pair| pair.source == self.document.state.source)
    }

    /// Opens a minimal pair: its source, and its good translation as a given one.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn show_pair(&mut self, pair: ContrastPair) {
        let source = self.document.state.source.clone();
        self.show_with_gold(pair.source.clone(), None);
        let given = Some(self.cut(pair.targets[0].clone()));
        // A new source is a step of undo already.
        if source == self.document.state.source {
            self.give(given);
        } else if given != self.document.state.given {
            self.put_given(given);
        }
        self.document.pair = Some(Arc::new(pair));
    }

    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn show_with_gold(&mut self, text: String, gold: Option<Gold>) {
        self.document.gold = gold.map(Arc::new);
        self.show_sentence(text);
    }

    pub(crate) fn forget_missing_target(&mut self) {
        if self.view.selection.target.is_some() && self.selected_word().is_none() {
            let column = self.view.selection.column.and_then(|id| self.document.column(id));
            if !column.is_some_and(|column| column.decoding || column.stale) {
                self.view.selection.target = None;
            }
        }
    }
}
