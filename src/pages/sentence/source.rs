//! Floor 9: the source text: typing, replacing, undo, and the sentences kept of it.

use crate::app::document::column::Column;
use crate::app::document::history::begins_anew;
use crate::app::document::rewording::carried;
use crate::app::document::scene::{Scene, cut};
use crate::app::files::lists::List;
use crate::app::files::lists::MAX_TRANSLATED;
use crate::app::page::Page;
use crate::app::settings::Whose;
use crate::app::state::AppState;
use crate::pages::sentence::command::SourceCommand;

impl AppState {
    pub(crate) fn apply_to_source(&mut self, command: SourceCommand) {
        // a drag does not go on over an undo
        self.going_on = None;
        match command {
            SourceCommand::Edit(text) => self.edit_source(text),
            SourceCommand::Replace(text) => self.replace_source(text, None),
            SourceCommand::Undo => {
                if let Some(before) = self.history.undo(self.scene.clone()) {
                    self.set_back(before);
                }
            }
            SourceCommand::Redo => {
                if let Some(after) = self.history.redo(self.scene.clone()) {
                    self.set_back(after);
                }
            }
            SourceCommand::Give(text) => self.give(text),
            SourceCommand::Stop => {
                // What the work under way still tells is old; models that are being read are still wanted.
                self.request_to_rest();
                self.mark_differences();
            }
        }
    }

    fn edit_source(&mut self, text: String) {
        let text = self.cut(text);
        if text == self.scene.source {
            return;
        }
        self.history.typed(self.scene.clone(), &text);
        self.typed = true;
        let goes_on = !text.trim().is_empty() && !begins_anew(&self.scene.source, &text);
        self.typed_on &= goes_on;
        self.leave_words(goes_on.then_some(&text));
        self.set_source(text, None);
    }

    /// The translation that the user gives.
    fn give(&mut self, text: Option<String>) {
        let text = text.map(|text| self.cut(text));
        if text == self.scene.given {
            return;
        }
        match (&self.scene.given, &text) {
            (Some(before), Some(after)) => self.history.typed_beside(self.scene.clone(), before, after),
            _ => self.history.replaced(self.scene.clone()),
        }
        if self.scene.given.is_none() {
            self.settings.whose = Whose::Given;
        }
        self.scene.given = text;
        self.changed();
        self.request();
        self.rebuild_all();
    }

    /// Translates another text; `position` is where it stands in the shown list.
    pub(crate) fn replace_source(&mut self, text: String, position: Option<usize>) {
        let text = self.cut(text);
        if text == self.scene.source {
            self.scene.position = position.or(self.scene.position);
            return;
        }
        self.history.replaced(self.scene.clone());
        (self.typed, self.typed_on) = (false, false);
        // what was given belongs to the sentence before; its field stays
        self.scene.given = self.scene.given.take().map(|_| String::new());
        self.leave_words(None);
        self.set_source(text, position);
    }

    /// Translates a text on page Sentence.
    pub(crate) fn show_sentence(&mut self, text: String) {
        self.show_page(Page::Sentence);
        self.replace_source(text, None);
        self.scene.position = self.scene.position.or_else(|| self.position_of_source());
    }

    pub(crate) fn cut(&mut self, text: String) -> String {
        let (text, is_cut) = cut(text);
        if is_cut {
            self.notify_cut();
        }
        text
    }

    /// Goes to a whole scene, as one step of undo.
    pub(crate) fn put_scene(&mut self, scene: Scene) {
        if scene == self.scene {
            return;
        }
        self.history.replaced(self.scene.clone());
        (self.typed, self.typed_on) = (false, false);
        self.scene.search = scene.search;
        self.set_back(scene);
    }

    /// A text of the past or future, marked in the list where it still stands there.
    fn set_back(&mut self, scene: Scene) {
        let Scene { source, position, given, interventions, variants, .. } = scene;
        let stands = |at: &usize| self.lists.sentence(*at).is_some_and(|line| line == source);
        let position = position.filter(stands);
        self.scene.given = given;
        (self.scene.interventions, self.scene.variants) = (interventions, variants);
        self.set_source(source, position);
        // the table may be that of a translation that is given no longer
        self.rebuild_all();
    }

    /// Another text has other words: what was set for those of the old one goes, and its variants, but for those that
    /// `goes_on`, the text typed further, has not touched.
    pub(crate) fn leave_words(&mut self, goes_on: Option<&str>) {
        let before = self.scene.source.clone();
        let carried = |variant: &str| goes_on.and_then(|after| carried(&before, after, variant));
        let is_seen = |app: &Self| {
            let is_gone = |column: &Column| column.variant.is_some_and(|id| app.document.scene.variant(id).is_none());
            app.document.columns.iter().any(is_gone)
        };
        if self.scene.keep_variants(carried) && is_seen(self) {
            self.notify("Variants of the text before were closed with it; undo brings them back", false);
        }
        if self.scene.keep_for_other_text() {
            let text = "What was set for the words of the text before was taken away with them; undo brings both back";
            self.notify(text, false);
        }
    }

    fn set_source(&mut self, source: String, position: Option<usize>) {
        (self.scene.source, self.scene.position) = (source, position);
        self.hover = None;
        self.changed();
        self.request();
    }

    /// Adds the source to the sentences translated before. Typing on replaces what typing had added, so that a sentence
    /// leaves one entry and not one for each letter.
    pub(crate) fn keep_translated(&mut self) {
        let text = self.scene.source.trim().to_owned();
        let translated = &mut self.lists.translated;
        if text.is_empty() || translated.last() == Some(&text) {
            return;
        }
        if self.typed && self.typed_on {
            translated.pop();
        }
        if self.typed || !translated.contains(&text) {
            translated.retain(|old| *old != text);
            translated.push(text);
            let excess = translated.len().saturating_sub(MAX_TRANSLATED);
            translated.drain(..excess);
            self.typed_on = self.typed;
            self.changed();
            if self.lists.shown == List::History {
                self.lists.search_again();
            }
        }
    }
}
