//! Floor 9: what all pages share: the scene and its columns, the lists, the settings, the status line and the work
//! under way. A page changes it while it handles a command; views only read it, through the methods.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::app::document::column::{Column, ColumnState, Wish};
use crate::app::document::compare::Comparison;
use crate::app::document::differences::{comparable, differences};
use crate::app::document::history::History;
use crate::app::document::scene::Scene;
use crate::app::document::table::TargetWord;
use crate::app::document::variant::Told;
use crate::app::effect::{Chore, Effect, LaneCall};
use crate::app::files::drawing::Drawing;
use crate::app::files::gold::Gold;
use crate::app::files::lists::Lists;
use crate::app::page::Page;
use crate::app::settings::Settings;
use crate::app::view::Hover;
use crate::figure::Figure;
use crate::figure::png::Pixels;
use crate::jobs::live::protocol::{ColumnId, ColumnSpec, EnsembleSpec, Near, Request};
use crate::jobs::queue::{Order, Progress};
use crate::nn::device::DeviceChoice;
use crate::pages::sentence::asked::Asked;
use crate::pages::sentence::asked::Persuaded;
use crate::text::links::Links;
use crate::text::sentence::MAX_SOURCE_BYTES;

/// Most notices kept.
const MAX_NOTICES: usize = 20;

/// The selected word and column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Which column; `None` when there is none.
    pub column: Option<ColumnId>,
    /// Which target word i, from 0.
    pub target: Option<usize>,
}

/// A sentence for the status line, until dismissed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Its number, to dismiss it by.
    pub id: u64,
    /// What to say.
    pub text: String,
    /// Something went wrong.
    pub is_error: bool,
}

/// Work that a page has ordered and that is not done.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Of the order.
    pub number: u64,
    /// Whose.
    pub page: Page,
    /// How far it is; `None` while it waits for its turn.
    pub progress: Option<Progress>,
    /// Held up until it is told to go on.
    pub is_paused: bool,
}

/// The neighbours of a source word.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours {
    /// Which word, by which column's model.
    pub of: Near,
    /// As they can be typed, with their cosines; why there are none, as a sentence; `None` while they are looked for.
    pub found: Option<Result<Vec<(String, f32)>, String>>,
}

/// What all pages share.
#[derive(Default)]
pub struct Shared {
    /// From left to right.
    pub(crate) columns: Vec<Column>,
    pub(crate) scene: Scene,
    pub(crate) history: History<Scene>,
    /// What the last command moved, where a further one may go on with it: a row, or the temperature.
    pub(crate) going_on: Option<(ColumnId, Option<usize>)>,
    pub(crate) lists: Lists,
    pub(crate) near: Option<Neighbours>,
    pub(crate) selection: Selection,
    pub(crate) hover: Option<Hover>,
    pub(crate) settings: Settings,
    /// How the last figure was asked for.
    pub(crate) drawing: Drawing,
    pub(crate) layout: BTreeMap<String, f32>,
    /// Model folders that come with the program.
    pub(crate) bundled: Vec<PathBuf>,
    /// A picture of a plot or a map that waits for the name of its file.
    pub(crate) kept_figure: Option<Arc<Figure<'static>>>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) tasks: Vec<Task>,
    /// Questions about columns among the tasks.
    pub(crate) probes: Vec<Asked>,
    /// Rows that were found to make a model say a word, oldest first.
    pub(crate) persuaded: Vec<Persuaded>,
    /// Of the sentence of a test set or of a list with links by hand that was opened last.
    pub(crate) gold: Option<Arc<Gold>>,
    pub(crate) page: Page,
    pub(crate) words_per_second: f32,
    /// The newest sentence of the history came by typing, so that more typing replaces it.
    pub(crate) typed_on: bool,
    /// The source came by typing.
    pub(crate) typed: bool,
    /// Number of the newest request; events with any other change nothing.
    pub(crate) newest: u64,
    pub(crate) next_id: u64,
    pub(crate) revision: u64,
    pub(crate) effects: Vec<Effect>,
    /// The picture that was drawn last for the clipboard, with its number.
    pub(crate) painted: Option<(u64, Arc<Pixels>)>,
    /// A page compares something with the aligner's links, also where they are not shown.
    pub(crate) compares_links: bool,
}

impl Shared {
    /// The columns from left to right.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of this number.
    pub fn column(&self, id: ColumnId) -> Option<&Column> {
        self.columns.iter().find(|column| column.id == id)
    }

    /// Source and target language of the first model, for the statistical aligner.
    pub fn languages(&self) -> Option<(String, String)> {
        let facts = self.models().find_map(|column| column.facts.as_ref())?;
        Some((facts.source_language.clone(), facts.target_language.clone()))
    }

    /// The columns that are one model each, without ensembles and variants.
    pub fn models(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.ensemble.is_none() && column.variant.is_none())
    }

    /// The column beside which a variant stands.
    pub fn original(&self, variant: &Column) -> Option<&Column> {
        variant.variant?;
        self.columns.iter().find(|column| column.variant.is_none() && column.folders() == variant.folders())
    }

    /// Whether a column shows typed words for `[UNK]`.
    pub fn replaces(&self, column: &Column) -> bool {
        let own = column.variant.and_then(|id| self.scene.variant(id)?.replaces);
        own.unwrap_or(self.settings.unk_replacement)
    }

    /// The neighbours that were asked for last.
    pub fn neighbours(&self) -> Option<&Neighbours> {
        self.near.as_ref()
    }

    /// What is looked at and how it is searched.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The text being translated.
    pub fn source(&self) -> &str {
        &self.scene.source
    }

    /// Where in the shown list the source comes from.
    pub fn position(&self) -> Option<usize> {
        self.scene.position
    }

    /// The lists of sentences.
    pub fn lists(&self) -> &Lists {
        &self.lists
    }

    /// The reference translation of the shown sentence, when its file was opened with one.
    pub fn reference(&self) -> Option<Cow<'_, str>> {
        self.lists.reference(self.scene.position?)
    }

    /// The selected word and column.
    pub fn selection(&self) -> Selection {
        self.selection
    }

    /// Where the mouse is; marked in every column.
    pub fn hover(&self) -> Option<Hover> {
        self.hover
    }

    /// Where models compute and how the picture looks.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How the last figure was asked for.
    pub fn drawing(&self) -> Drawing {
        self.drawing
    }

    /// Numbers that the window keeps between starts.
    pub fn layout(&self) -> &BTreeMap<String, f32> {
        &self.layout
    }

    /// Sentences for the status line.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Work of the pages that is not done, in the order it was asked for.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The work of this number, while it is not done.
    pub fn task(&self, number: u64) -> Option<&Task> {
        self.tasks.iter().find(|task| task.number == number)
    }

    /// The page that is shown.
    pub fn page(&self) -> Page {
        self.page
    }

    /// Words a second of the last finished columns together.
    pub fn words_per_second(&self) -> f32 {
        self.words_per_second
    }

    /// The selected column, else the first that has a table.
    pub fn selected_column(&self) -> Option<&Column> {
        let selected = self.selection.column.and_then(|id| self.column(id));
        selected.or_else(|| self.columns.iter().find(|column| column.table.is_some())).or(self.columns.first())
    }

    /// The word for the inspector: its column, its position i and itself.
    pub fn selected_word(&self) -> Option<(&Column, usize, &TargetWord)> {
        let column = self.column(self.selection.column?)?;
        let i = self.selection.target?;
        Some((column, i, column.table.as_ref()?.target.get(i)?))
    }

    /// Whether there is an edit to take back.
    pub fn can_undo(&self) -> bool {
        self.history.can_undo()
    }

    /// Whether there is an edit to do again.
    pub fn can_redo(&self) -> bool {
        self.history.can_redo()
    }

    /// How many columns are still choosing words.
    pub fn decoding(&self) -> usize {
        self.columns.iter().filter(|column| column.decoding).count()
    }

    /// Grows with every change that is saved.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The picture that was drawn last for the clipboard; its number is another for each.
    pub fn painted(&self) -> Option<(u64, &Pixels)> {
        self.painted.as_ref().map(|(number, pixels)| (*number, &**pixels))
    }

    /// The number of the newest request.
    pub fn newest(&self) -> u64 {
        self.newest
    }
}

impl Shared {
    /// Something that is saved has changed.
    pub(crate) fn changed(&mut self) {
        self.revision += 1;
    }

    /// Nothing is to be saved; the first start is worth keeping, what was only read back is not written again.
    pub(crate) fn begun(&mut self, is_first_start: bool) {
        self.revision = u64::from(is_first_start);
    }

    /// Has this carried out by the driver.
    pub(crate) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Has this done off the window's thread.
    pub(crate) fn chore(&mut self, chore: Chore) {
        self.push(Effect::Chore(chore));
    }

    /// What came up since the last call.
    pub(crate) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// A number that was never given before.
    pub(crate) fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// Adds a sentence to the status line.
    pub(crate) fn notify(&mut self, text: impl Into<String>, is_error: bool) {
        let text = text.into();
        // The same trouble told again (a full disk at every save) stays one notice.
        if self.notices.iter().any(|notice| notice.text == text) {
            return;
        }
        let id = self.fresh_id();
        self.notices.push(Notice { id, text, is_error });
        if self.notices.len() > MAX_NOTICES {
            self.notices.remove(0);
        }
    }

    /// Says that a text was cut to the length that models read.
    pub(crate) fn notify_cut(&mut self) {
        self.notify(format!("The text was cut, because a sentence may have at most {MAX_SOURCE_BYTES} bytes"), true);
    }

    pub(crate) fn show_page(&mut self, page: Page) {
        if page != self.page {
            self.page = page;
            self.changed();
        }
    }

    /// Has this done in the corpus lane; answers with its number.
    pub(crate) fn order(&mut self, page: Page, order: Order) -> u64 {
        let number = self.fresh_id();
        self.tasks.push(Task { number, page, progress: None, is_paused: false });
        self.push(Effect::Lane(LaneCall::Submit(number, order)));
        number
    }

    /// Ends an order that is not done, and answers with whose it was; nothing more is heard of it.
    pub(crate) fn cancel(&mut self, number: u64) -> Option<Page> {
        let at = self.tasks.iter().position(|task| task.number == number)?;
        let task = self.tasks.remove(at);
        self.push(Effect::Lane(LaneCall::Cancel(number)));
        Some(task.page)
    }

    pub(crate) fn pause(&mut self, number: u64, is_paused: bool) {
        let Some(task) = self.tasks.iter_mut().find(|task| task.number == number) else { return };
        task.is_paused = is_paused;
        self.push(Effect::Lane(LaneCall::Pause(number, is_paused)));
    }

    /// Asks for all that is wanted now; everything older is stale from here on.
    pub(crate) fn request(&mut self) {
        let given = self.scene.given.clone();
        self.request_by(|column, source, wish| {
            (column.want(source, wish), column.want_given(source, given.as_deref(), wish))
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
    fn request_by(&mut self, want: impl Fn(&mut Column, &str, &Wish) -> (bool, Option<String>)) {
        self.arrange_variants();
        self.newest += 1;
        let mut columns = Vec::with_capacity(self.columns.len());
        let scene = &self.scene;
        for column in &mut self.columns {
            let wish = column.wish(self.settings.device, scene);
            let source = scene.text_of(column.variant);
            let (decode, given) = want(column, source, &wish);
            let source = (source != scene.source).then(|| source.to_owned());
            columns.push(ColumnSpec { source, given, ..column.spec(wish, decode) });
        }
        let near = self.near.iter().find(|near| near.found.is_none()).map(|near| near.of.clone());
        let source = scene.source.clone();
        self.push(Effect::Decode(Request { number: self.newest, source, columns, near }));
        self.leave_probes();
        // what is at work is not compared
        self.compare_variants();
        self.tell_variants();
    }

    /// Has a column for each variant of the models that are there, behind the original, and none for any other.
    fn arrange_variants(&mut self) {
        let originals: Vec<Vec<PathBuf>> = self
            .columns
            .iter()
            .filter(|column| column.variant.is_none())
            .map(|column| column.folders().to_vec())
            .collect();
        let scene = &self.scene;
        let stays = |column: &Column| {
            let variant = column.variant.map(|id| scene.variant(id).is_some());
            variant.is_none_or(|is_there| is_there && originals.iter().any(|folders| folders == column.folders()))
        };
        let before = self.columns.len();
        self.columns.retain(stays);
        let has_gone = before != self.columns.len();
        for variant in Arc::clone(&self.scene.variants).iter() {
            if !self.columns.iter().any(|column| column.variant == Some(variant.id)) {
                self.add_variant(variant.id, &variant.folders);
            }
        }
        if has_gone {
            if self.selection.column.is_some_and(|id| self.column(id).is_none()) {
                self.selection = Selection::default();
            }
            self.hover = self.hover.filter(|hover| self.column(hover.column).is_some());
            self.mark_differences();
        }
    }

    /// Says of each variant what it differs in; a table that stays is labelled anew.
    pub(crate) fn tell_variants(&mut self) {
        let mut is_new = false;
        for at in 0..self.columns.len() {
            let told = self.told(&self.columns[at]);
            if self.columns[at].told == told {
                continue;
            }
            self.columns[at].told = told;
            if !self.columns[at].stale && self.columns[at].table.is_some() {
                self.rebuild(at);
                is_new = true;
            }
        }
        if is_new {
            self.mark_differences();
        }
    }

    fn add_variant(&mut self, id: u64, folders: &[PathBuf]) {
        let is_original = |column: &Column| column.variant.is_none() && column.folders() == folders;
        let Some(original) = self.columns.iter().position(is_original) else { return };
        let is_other = |column: &Column| column.variant.is_none() || column.folders() != folders;
        let behind = &self.columns[original + 1..];
        let at = original + 1 + behind.iter().position(is_other).unwrap_or(behind.len());
        let fresh = self.fresh_id();
        let column = self.columns[original].beside(fresh, id);
        self.columns.insert(at, column);
    }

    fn told(&self, column: &Column) -> Option<Arc<Told>> {
        let variant = self.scene.variant(column.variant?)?;
        Some(Arc::new(Told::of(variant, &self.scene, self.settings.unk_replacement)))
    }

    /// Compares each variant with its original, where both are there.
    fn compare_variants(&mut self) {
        for at in 0..self.columns.len() {
            self.columns[at].comparison = self.compared(&self.columns[at]).map(Arc::new);
        }
    }

    fn compared(&self, column: &Column) -> Option<Comparison> {
        let original = self.original(column).filter(|original| comparable(original) && comparable(column))?;
        let (before, now) = (original.table.as_deref()?, column.table.as_deref()?);
        if before.is_given == now.is_given { Comparison::of(before, now) } else { None }
    }

    /// Makes a column's table again from its shown hypothesis.
    pub(crate) fn rebuild(&mut self, at: usize) {
        let revision = self.fresh_id();
        self.columns[at].rebuild(&self.settings, revision);
    }

    /// Makes the tables of all columns again.
    pub(crate) fn rebuild_all(&mut self) {
        (0..self.columns.len()).for_each(|at| self.rebuild(at));
        self.mark_differences();
    }

    /// Asks for the links of a column's shown hypothesis, where they are shown; those of another are forgotten.
    pub(crate) fn ask_links(&mut self, at: usize) {
        self.columns[at].forget_links();
        if !self.settings.links && !self.compares_links {
            return;
        }
        let Some(question) = self.columns[at].question() else { return };
        let number = self.fresh_id();
        self.columns[at].asked = Some(number);
        self.chore(Chore::Align { number, question });
    }

    /// Whether links are wanted that are not shown.
    pub(crate) fn compare_links(&mut self, on: bool) {
        if on != self.compares_links {
            self.compares_links = on;
            let missing = |column: &Column| !on || column.links.is_none() && column.asked.is_none();
            let all = 0..self.columns.len();
            all.filter(|at| missing(&self.columns[*at]))
                .collect::<Vec<_>>()
                .into_iter()
                .for_each(|at| self.ask_links(at));
            self.rebuild_all();
        }
    }

    /// The answer to a question; one that nobody waits for any more changes nothing.
    pub(crate) fn aligned(&mut self, number: u64, links: Links) {
        let Some(at) = self.columns.iter().position(|column| column.asked == Some(number)) else { return };
        self.columns[at].links = Some(links);
        self.rebuild(at);
        self.mark_differences();
    }

    /// Marks the words that the columns do not share; only among finished translations into one language.
    pub(crate) fn mark_differences(&mut self) {
        self.compare_variants();
        let marks = differences(&self.columns);
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

    /// A picture for the clipboard was drawn.
    pub(crate) fn picture_painted(&mut self, pixels: Arc<Pixels>) {
        self.painted = Some((self.fresh_id(), pixels));
        self.notify("The picture is in the clipboard", false);
    }

    /// A column for a model, at the right.
    pub(crate) fn add_column(&mut self, folder: PathBuf) {
        let id = self.fresh_id();
        self.columns.push(Column::new(id, kept(folder), None));
    }

    /// Two or more models as one; fewer are none.
    pub(crate) fn add_ensemble(&mut self, mut ensemble: EnsembleSpec) {
        ensemble.members = ensemble.members.into_iter().map(kept).collect();
        if let [first, _, ..] = ensemble.members.as_slice() {
            let (id, folder) = (self.fresh_id(), first.clone());
            self.columns.push(Column::new(id, folder, Some(ensemble)));
        }
    }

    /// Models move to another device: each column is told again what it is, failures are tried again.
    pub(crate) fn set_device(&mut self, device: DeviceChoice) {
        if device == self.settings.device {
            return;
        }
        self.settings.device = device;
        for at in 0..self.columns.len() {
            let fresh = self.fresh_id();
            let column = &mut self.columns[at];
            if self.selection.column == Some(column.id) {
                self.selection.column = Some(fresh);
            }
            column.id = fresh;
            column.state = ColumnState::Loading(0.0);
        }
        self.hover = None;
        self.changed();
        self.request();
    }
}

/// A folder as it is kept: one that is there has its whole path, so that the next start, elsewhere, finds it too.
fn kept(folder: PathBuf) -> PathBuf {
    if folder.is_relative() && folder.is_dir() { std::path::absolute(&folder).unwrap_or(folder) } else { folder }
}
