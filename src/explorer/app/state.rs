//! What all pages share, in three parts: the document, the work under way and what is looked at. Here is what
//! needs more than one of them. A page changes it while it handles a command; views only read it.

use std::{borrow::Cow, path::PathBuf, sync::Arc};

use crate::app::document::column::{Column, ColumnState, DecodeKey, file_name};
use crate::app::files::work::{AlignQuestion, FileJob};
use crate::app::view::{Notice, Selection, ViewState};
use crate::app::{
    document::Document, document::differences, document::table::TargetWord, files::lists::Lists, open_with::Installed,
    page::Page, tasks::Effect, tasks::Tasks,
};
use crate::jobs::live::protocol::{ColumnId, ColumnSpec, Request};
use engine::text::{language, links::Links, sentence::MAX_SOURCE_BYTES};
use engine::{
    aligner::bundled::AlignerFile, decoding::SystemSpec, models::choice::ModelSpec, nn::device::DeviceChoice,
};
use figure::png::Pixels;

const MAX_NOTICES: usize = 20;

/// State that all pages share.
#[derive(Default)]
pub struct AppState {
    pub document: Document,
    pub tasks: Tasks,
    pub view: ViewState,
    pub lists: Lists,
    pub bundled: Vec<Installed>,
    pub revision: u64,
}

impl AppState {
    /// The models and ensembles of the columns, each once.
    pub fn systems(&self) -> Vec<SystemSpec> {
        let mut systems: Vec<SystemSpec> = Vec::new();
        for Column { system, .. } in &self.document.columns {
            if !systems.contains(system) {
                systems.push(system.clone());
            }
        }
        systems
    }

    /// The selected column, else the first that has a table.
    pub fn selected_column(&self) -> Option<&Column> {
        let selected = self.view.selection.column.and_then(|id| self.document.column(id));
        selected
            .or_else(|| self.document.columns.iter().find(|column| column.table.is_some()))
            .or(self.document.columns.first())
    }

    /// The word for the inspector: its column, its position i and itself.
    pub fn selected_word(&self) -> Option<(&Column, usize, &TargetWord)> {
        let column = self.document.column(self.view.selection.column?)?;
        let i = self.view.selection.target?;
        Some((column, i, column.table.as_ref()?.target.get(i)?))
    }

    pub fn replaces(&self, column: &Column) -> bool {
        let own = column.variant.and_then(|id| self.document.state.variant(id)?.replaces);
        own.unwrap_or(self.view.settings.unk_replacement)
    }

    pub fn reference(&self) -> Option<Cow<'_, str>> {
        self.lists.reference(self.document.state.position?)
    }

    pub(crate) fn changed(&mut self) {
        self.revision += 1;
    }

    pub(crate) fn notify(&mut self, text: impl Into<String>, is_error: bool) {
        let text = text.into();
        // The same trouble told again (a full disk at every save) stays one notice.
        if self.view.notices.iter().any(|notice| notice.text == text) {
            return;
        }
        let id = self.tasks.fresh_id();
        self.view.notices.push(Notice { id, text, is_error });
        if self.view.notices.len() > MAX_NOTICES {
            self.view.notices.remove(0);
        }
    }

    pub(crate) fn notify_cut(&mut self) {
        self.notify(
            tr!("The text was cut, because a sentence may have at most {MAX_SOURCE_BYTES} bytes", MAX_SOURCE_BYTES),
            true,
        );
    }

    pub(crate) fn show_page(&mut self, page: Page) {
        if page != self.view.page {
            self.view.page = page;
            self.changed();
        }
    }

    pub(crate) fn select_column(&mut self, column: ColumnId) {
        if self.document.column(column).is_some() && self.view.selection.column != Some(column) {
            self.view.selection = Selection { column: Some(column), target: None };
        }
    }

    /// Asks for all that is wanted now; everything older is stale from here on.
    pub(crate) fn request(&mut self) {
        let given = self.document.state.given.clone();
        self.request_by(|column, source, decode_key| {
            (column.prepare(source, decode_key), column.want_given(source, given.as_deref(), decode_key))
        });
    }

    /// The models are wanted and nothing is to be translated.
    pub(crate) fn request_to_rest(&mut self) {
        self.request_by(|column, _, _| {
            column.rest();
            (false, None)
        });
    }

    /// `want` prepares a column for the source and says whether it has to be decoded, and what given translation it reads.
    fn request_by(&mut self, want: impl Fn(&mut Column, &str, &DecodeKey) -> (bool, Option<String>)) {
        self.arrange_variants();
        let number = self.tasks.fresh_request();
        let mut columns = Vec::with_capacity(self.document.columns.len());
        let state = &self.document.state;
        for column in &mut self.document.columns {
            let decode_key = column.decode_key(self.view.settings.device, state);
            let source = state.text_of(column.variant);
            let (decode, given) = want(column, source, &decode_key);
            let source = (source != state.source).then(|| source.to_owned());
            columns.push(ColumnSpec { source, given, ..column.spec(decode_key, decode) });
        }
        let source = state.source.clone();
        self.tasks.push(Effect::Decode(Request { number, source, columns, near: self.tasks.near.clone() }));
        // what is at work is not compared
        self.document.compare_variants();
        self.label_variants();
    }

    /// Has a column for each variant of the models that are there, behind the original, and none for any other.
    fn arrange_variants(&mut self) {
        let originals: Vec<_> = self.document.originals().map(|column| column.system.members.clone()).collect();
        let state = &self.document.state;
        let stays = |column: &Column| {
            let variant = column.variant.map(|id| state.variant(id).is_some());
            variant.is_none_or(|is_there| is_there && originals.contains(&column.system.members))
        };
        let before = self.document.columns.len();
        self.document.columns.retain(stays);
        let has_gone = before != self.document.columns.len();
        for variant in Arc::clone(&self.document.state.variants).iter() {
            if !self.document.columns.iter().any(|column| column.variant == Some(variant.id)) {
                self.add_variant(variant.id, &variant.models);
            }
        }
        if has_gone {
            if self.view.selection.column.is_some_and(|id| self.document.column(id).is_none()) {
                self.view.selection = Selection::default();
            }
            self.view.hover = self.view.hover.filter(|hover| self.document.column(hover.column).is_some());
            self.mark_differences();
        }
    }

    /// Labels each variant and the table that it keeps.
    pub(crate) fn label_variants(&mut self) {
        let mut is_new = false;
        for at in 0..self.document.columns.len() {
            let variant_label =
                self.document.variant_label(&self.document.columns[at], self.view.settings.unk_replacement);
            if self.document.columns[at].difference.label == variant_label {
                continue;
            }
            self.document.columns[at].difference.label = variant_label;
            if !self.document.columns[at].stale && self.document.columns[at].table.is_some() {
                self.rebuild(at);
                is_new = true;
            }
        }
        if is_new {
            self.mark_differences();
        }
    }

    fn add_variant(&mut self, id: u64, models: &[ModelSpec]) {
        let is_original = |column: &Column| column.variant.is_none() && column.system.members == models;
        let Some(original) = self.document.columns.iter().position(is_original) else { return };
        let is_other = |column: &Column| column.variant.is_none() || column.system.members != models;
        let behind = &self.document.columns[original + 1..];
        let at = original + 1 + behind.iter().position(is_other).unwrap_or(behind.len());
        let fresh = self.tasks.fresh_id();
        let column = self.document.columns[original].variant_column(fresh, id);
        self.document.columns.insert(at, column);
    }

    pub(crate) fn rebuild(&mut self, at: usize) {
        let revision = self.tasks.fresh_id();
        self.document.columns[at].rebuild(&self.view.settings, revision);
    }

    pub(crate) fn rebuild_all(&mut self) {
        (0..self.document.columns.len()).for_each(|at| self.rebuild(at));
        self.mark_differences();
    }

    /// Requests the links of the shown hypothesis and of the given translation, if shown; drops all others.
    pub(crate) fn ask_links(&mut self, at: usize) {
        self.document.columns[at].forget_links();
        let column = &self.document.columns[at];
        let question = column.shown().and_then(|shown| column.question(shown, &self.view.settings));
        self.document.columns[at].request.links_question = self.ask_aligner(question);
        self.ask_given_links(at);
    }

    pub(crate) fn ask_given_links(&mut self, at: usize) {
        let column = &self.document.columns[at];
        let question = column.read().and_then(|given| column.question(given, &self.view.settings));
        let asked = self.ask_aligner(question);
        let column = &mut self.document.columns[at];
        (column.given.links, column.given.question) = (None, asked);
    }

    pub(crate) fn ask_all_links(&mut self) {
        (0..self.document.columns.len()).for_each(|at| self.ask_links(at));
        self.rebuild_all();
    }

    pub(crate) fn add_aligner(&mut self, own: AlignerFile) {
        let AlignerFile { path, languages: (source, target), model } = &own;
        let of = match model {
            Some(model) => model.name(),
            None if source.is_empty() => tr!("all languages").to_owned(),
            None => tr!("{} and {}", language::name(source), language::name(target)),
        };
        self.notify(tr!("{} links the words of {of} now", file_name(path), of), false);
        self.view.settings.aligner.add(own);
        self.changed();
        self.ask_all_links();
    }

    pub(crate) fn remove_aligner(&mut self, gone: &AlignerFile) {
        self.view.settings.aligner.remove(gone);
        self.changed();
        self.ask_all_links();
    }

    /// Asks, where links are wanted; answers with the number of the question.
    fn ask_aligner(&mut self, question: Option<AlignQuestion>) -> Option<u64> {
        let is_wanted =
            self.view.settings.links || self.document.compares_links || self.document.state.interlinear.asks_aligner();
        let question = question.filter(|_| is_wanted)?;
        let number = self.tasks.fresh_id();
        self.tasks.chore(FileJob::Align { number, question });
        Some(number)
    }

    /// Whether links are wanted that are not shown.
    pub(crate) fn compare_links(&mut self, on: bool) {
        if on != self.document.compares_links {
            self.document.compares_links = on;
            let missing = |column: &Column| !on || column.links.is_none() && column.request.links_question.is_none();
            let all = 0..self.document.columns.len();
            all.filter(|at| missing(&self.document.columns[*at]))
                .collect::<Vec<_>>()
                .into_iter()
                .for_each(|at| self.ask_links(at));
            self.rebuild_all();
        }
    }

    /// The answer to a question; one that nobody waits for any more changes nothing.
    pub(crate) fn aligned(&mut self, number: u64, links: Links) {
        let of = |column: &Column| [column.request.links_question, column.given.question].contains(&Some(number));
        let Some(at) = self.document.columns.iter().position(of) else { return };
        let column = &mut self.document.columns[at];
        let place =
            if column.request.links_question == Some(number) { &mut column.links } else { &mut column.given.links };
        *place = Some(links);
        self.rebuild(at);
        self.mark_differences();
    }

    /// Marks the words that the columns do not share; only among finished translations into one language.
    pub(crate) fn mark_differences(&mut self) {
        self.document.compare_variants();
        let marks = differences(&self.document.columns);
        for (at, marks) in marks.into_iter().enumerate() {
            let revision = self.tasks.fresh_id();
            let Some(table) = &mut self.document.columns[at].table else { continue };
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

    pub(crate) fn picture_painted(&mut self, pixels: Arc<Pixels>) {
        self.view.painted = Some((self.tasks.fresh_id(), pixels));
        self.notify(tr!("The picture is in the clipboard"), false);
    }

    pub(crate) fn add_column(&mut self, mut system: SystemSpec) {
        system.members.iter_mut().for_each(|model| keep_whole(&mut model.folder));
        let id = self.tasks.fresh_id();
        self.document.columns.push(Column::new(id, system));
    }

    /// Makes these systems the columns, from left to right; columns that are already there stay.
    pub(crate) fn put_columns(&mut self, wanted: Vec<SystemSpec>) {
        if self.document.originals().map(|column| &column.system).eq(&wanted) {
            return;
        }
        // the columns of variants follow from the scene
        let mut old: Vec<Column> = std::mem::take(&mut self.document.columns);
        old.retain(|column| column.variant.is_none());
        for system in wanted {
            let column = match old.iter().position(|column| column.system == system) {
                Some(at) => old.remove(at),
                None => Column::new(self.tasks.fresh_id(), system),
            };
            self.document.columns.push(column);
        }
        let is_there = |id| self.document.columns.iter().any(|column| column.id == id);
        if !self.view.selection.column.is_none_or(is_there) {
            self.view.selection = Selection::default();
        }
        self.view.hover = None;
        self.changed();
        self.mark_differences();
        self.request();
    }

    pub(crate) fn columns_changed(&mut self) {
        self.changed();
        self.mark_differences();
        self.request();
    }

    /// Models move to another device: each column is told again what it is, failures are tried again.
    pub(crate) fn set_device(&mut self, device: DeviceChoice) {
        if device == self.view.settings.device {
            return;
        }
        self.view.settings.device = device;
        for at in 0..self.document.columns.len() {
            let fresh = self.tasks.fresh_id();
            let column = &mut self.document.columns[at];
            if self.view.selection.column == Some(column.id) {
                self.view.selection.column = Some(fresh);
            }
            column.id = fresh;
            column.state = ColumnState::Loading(0.0);
        }
        self.view.hover = None;
        self.changed();
        self.request();
    }
}

/// A model's path as it is kept: one that is there has its whole path, so that the next start, elsewhere, finds it too.
fn keep_whole(folder: &mut PathBuf) {
    if folder.is_relative()
        && folder.exists()
        && let Ok(whole) = std::path::absolute(&*folder)
    {
        *folder = whole;
    }
}
