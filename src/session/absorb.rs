//! Floor 8: what the worker's events and the files' news do to the session. An event with an old number changes nothing.

use std::path::Path;
use std::sync::Arc;

use crate::session::command::List;
use crate::session::driver::News;
use crate::session::{ColumnState, MAX_TRANSLATED, Page, Session, table};
use crate::text::lines::TextFile;
use crate::worker::protocol::{ColumnResult, Event, HypothesisView, Request};

impl Session {
    /// Takes in an event; true when anything changed. The old table stays, marked stale, until the first new row.
    pub fn absorb(&mut self, event: Event) -> bool {
        let (number, id) = event.address();
        if number.is_some_and(|number| number != self.newest) {
            return false;
        }
        let Some(at) = self.columns.iter().position(|column| column.id == id) else { return false };
        let column = &mut self.columns[at];
        match event {
            Event::Loading { fraction, .. } => column.state = ColumnState::Loading(fraction),
            Event::Loaded { facts, .. } => {
                column.state = ColumnState::Ready;
                let notice = facts.notice.clone();
                column.facts = Some(facts);
                if let Some(text) = notice {
                    self.notify(text, false);
                }
            }
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
                column.pending = Some((source, context));
                column.message = None;
                column.decoding = true;
            }
            Event::Expanded { best, .. } => self.expanded(at, best),
            Event::Finished { result, .. } => self.finished(at, result),
            Event::Failed { message, .. } => {
                column.message = Some(message);
                (column.decoding, column.pending) = (false, None);
                self.mark_differences();
            }
        }
        true
    }

    /// Takes in what became of a chore; answers with the request that it calls for.
    pub fn hear(&mut self, news: News) -> Option<Request> {
        match news {
            News::Folder(path) => self.apply(crate::session::Command::AddColumn(path)),
            News::Text(path) if self.page == Page::Phrases => {
                // Whoever drops a file there means a phrase table; what is wrong with it is said on the page.
                self.open_phrases(path);
                None
            }
            News::Text(path) => {
                self.open_file(path);
                None
            }
            News::TestFile(path) => {
                self.text_dropped(path);
                None
            }
            News::Logs { path, found } => {
                self.open_logs(&path, found);
                None
            }
            News::PhraseTable(path) => {
                self.page = Page::Phrases;
                self.open_phrases(path);
                None
            }
            News::Read { path, lines } => self.file_read(&path, &lines),
            News::ReadFailed { path, message } => {
                self.file_failed(&path);
                self.notify(message, true);
                None
            }
            News::TrainingSaved { path, trouble } => {
                self.training_saved(path, trouble);
                None
            }
            News::Notice { text, is_error } => {
                self.notify(text, is_error);
                None
            }
        }
    }

    fn expanded(&mut self, at: usize, best: HypothesisView) {
        self.take_pending(at);
        let column = &mut self.columns[at];
        column.hypotheses = vec![best];
        column.hypothesis = 0;
        self.rebuild(at);
    }

    fn finished(&mut self, at: usize, mut result: ColumnResult) {
        self.take_pending(at);
        let (device, options) = (self.settings.device, self.search_options());
        let column = &mut self.columns[at];
        let wanted = (column.folder.clone(), column.ensemble.clone(), device, options);
        column.hypotheses = std::mem::take(&mut result.hypotheses);
        column.hypothesis = 0;
        column.context = result.context.clone().or(column.context.take());
        column.result = result;
        (column.decoding, column.stale, column.message) = (false, false, None);
        column.done = Some((self.source.clone(), wanted));
        self.rebuild(at);
        self.forget_missing_target();
        self.mark_differences();
        self.words_per_second = self.columns.iter().map(|column| column.result.words_per_second).sum();
        if self.decoding() == 0 {
            self.keep_translated();
        }
    }

    /// The first row of a request: the old picture goes.
    fn take_pending(&mut self, at: usize) {
        let column = &mut self.columns[at];
        if let Some((source, context)) = column.pending.take() {
            (column.source, column.context) = (source, context);
            column.result = ColumnResult::default();
            column.done = None;
        }
        column.stale = false;
    }

    /// Makes the column's table again from its shown hypothesis.
    pub(super) fn rebuild(&mut self, at: usize) {
        let revision = self.fresh_id();
        let column = &mut self.columns[at];
        let specials = column.facts.as_ref().map(|facts| (facts.eos, facts.unk));
        let reading = column.facts.as_ref().filter(|facts| facts.has_two_readings).map(|_| self.settings.reading);
        column.table = column
            .hypotheses
            .get(column.hypothesis)
            .map(|shown| Arc::new(table::build(&column.source, shown, column.hypothesis, specials, reading, revision)));
    }

    /// Marks the words that the columns do not share; only among finished translations into one language.
    pub(super) fn mark_differences(&mut self) {
        let marks = table::differences(&self.columns);
        for (at, marks) in marks.into_iter().enumerate() {
            let revision = self.fresh_id();
            let Some(table) = &mut self.columns[at].table else { continue };
            if table.target.iter().map(|word| word.differs).eq(marks.iter().copied()) {
                continue;
            }
            let table = Arc::make_mut(table);
            table.revision = revision;
            for (word, differs) in table.target.iter_mut().zip(marks) {
                word.differs = differs;
            }
        }
    }

    fn forget_missing_target(&mut self) {
        if self.selection.target.is_some() && self.selected_word().is_none() {
            let waiting = self
                .selection
                .column
                .and_then(|id| self.column(id))
                .is_some_and(|column| column.decoding || column.stale);
            if !waiting {
                self.selection.target = None;
            }
        }
    }

    /// Adds the source to the history. Typing on replaces what typing had added, so that a sentence
    /// leaves one entry and not one for each letter.
    fn keep_translated(&mut self) {
        let text = self.source.trim().to_owned();
        if text.is_empty() || self.translated.last() == Some(&text) {
            return;
        }
        if self.typed && self.typed_on {
            self.translated.pop();
        }
        if self.typed || !self.translated.contains(&text) {
            self.translated.retain(|old| *old != text);
            self.translated.push(text);
            let excess = self.translated.len().saturating_sub(MAX_TRANSLATED);
            self.translated.drain(..excess);
            self.typed_on = self.typed;
            self.revision += 1;
            if self.list == List::History {
                self.search_again();
            }
        }
    }

    fn file_read(&mut self, path: &Path, lines: &Arc<TextFile>) -> Option<Request> {
        let (mut pick, mut grows) = (None, false);
        for (n, file) in self.files.iter_mut().enumerate() {
            if file.path == path {
                // What was found so far is found still, and the search goes on in the new lines.
                grows |= file.lines.is_some() && self.list == List::File(n);
                file.lines = Some(Arc::clone(lines));
                if std::mem::take(&mut file.pick_first) {
                    pick = Some(n);
                }
            }
            if file.target_path.as_deref() == Some(path) {
                file.target = Some(Arc::clone(lines));
            }
        }
        if !grows {
            self.search_again();
        }
        let n = pick?;
        (self.list == List::File(n)).then(|| self.pick(0)).flatten()
    }

    fn file_failed(&mut self, path: &Path) {
        for file in &mut self.files {
            if file.target_path.as_deref() == Some(path) {
                (file.target_path, file.target) = (None, None);
            }
        }
        while let Some(n) = self.files.iter().position(|file| file.path == path && !file.is_whole()) {
            self.close_file(n);
        }
    }
}
