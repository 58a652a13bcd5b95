//! Floor 11: the page Corpus: a workspace, its table, the chosen sentence and what people say of it. Files are read and
//! written by the corpus thread; models run in the corpus lane.

pub mod columns;
pub mod command;
pub mod desk;
pub mod documents;
pub mod explore;
pub mod judging;
pub mod picture;
mod run;
#[cfg(feature = "gui")]
pub mod view;
pub mod whole;

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::aligner::bundled::AlignerChoice;
use crate::app::document::table::AlignmentTable;
use crate::app::effect::Effect;
use crate::app::files::gold::Gold;
use crate::app::page::{Dropped, Page, PageInfo};
use crate::app::state::AppState;
use crate::corpus::export::out::{ExportFormat, Out};
use crate::corpus::import::importer::ImportReport;
use crate::corpus::judgements::agreement::Agreement;
use crate::corpus::judgements::judge::{Judgement, MOST_STARS, NOBODY};
use crate::corpus::overview::evaluated::Evaluated;
use crate::corpus::query::column::{TableColumn, TextColumn};
use crate::corpus::store::corpus::CorpusTable;
use crate::corpus::store::kinds::MOST_PICTURES;
use crate::import;
use crate::jobs::corpus::thread::{CorpusNews, CorpusRequest, Detail};
use crate::jobs::queue::{Found, JobProgress};
use crate::pages::corpus::columns::TableColumns;
use crate::pages::corpus::documents::{DocumentCommand, DocumentSheet};
use crate::pages::corpus::whole::Whole;
use crate::pages::shape::{AnyPage, PageState};
use crate::text::links::{Link, Links};

use crate::pages::corpus::command::CorpusCommand;
pub use crate::pages::corpus::whole::ExploreCommand;

/// The file of frequencies, and the aligner of source and target languages.
type Means = (Option<PathBuf>, Option<AlignerChoice>);

/// A workspace: sentences, systems and judgements.
pub const CORPUS: Page = Page::new(&PageInfo {
    key: "corpus",
    name: id!("Corpus"),
    title: id!("Page Corpus"),
    saved_as: "workbench",
    digit: 5,
    takes: &[Dropped::Workspace, Dropped::Text, Dropped::Interventions, Dropped::Links, Dropped::Annotated],
    keeps_work: true,
    has_only_models: false,
});

/// What the page shows.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[derive(Clone, Debug, Default)]
pub struct CorpusPage {
    /// The workspace that is open.
    pub path: Option<PathBuf>,
    /// It goes with the window, or when it is closed, unless it is saved.
    is_unsaved: bool,
    /// What was measured, where it is made of that.
    measured: Option<Arc<Evaluated>>,
    /// The one that was asked for.
    wanted: Option<PathBuf>,
    /// Its texts and numbers, as far as they are in memory; [`CorpusRequest::See`] brings what is in view there.
    pub corpus: Arc<CorpusTable>,
    /// The sentences that are shown, by their places, in order.
    pub rows: Arc<Vec<u32>>,
    /// The conditions, as typed.
    pub filter: String,
    /// Why they are none, as a sentence.
    pub trouble: Option<String>,
    /// The column that the rows are sorted by, `-` before it for the greatest first; empty: as they came.
    pub sorting: String,
    /// The columns of numbers.
    pub columns: TableColumns,
    /// The sentences as a whole.
    pub whole: Whole,
    /// How the lane was told to find costly conditions out.
    means: Option<Means>,
    /// What a plain text that comes in is.
    pub role: import::Role,
    /// By what the best candidate of an n-best list that comes in is told, which is a system of its own then.
    pub oracle: Option<import::OracleBy>,
    /// By what n-best lists are put into another order; empty: by nothing.
    pub rerank: String,
    /// Whether texts that begin a corpus are cut into words.
    pub pretokenized: bool,
    /// Why the last act came to nothing, as a sentence.
    pub message: Option<String>,
    /// What the lane is doing, and how far it is.
    pub busy: Option<JobProgress>,
    /// It brings in a file, which can be stopped.
    pub is_importing: bool,
    /// The file that came in last, and what came of it.
    pub imported: Option<(PathBuf, ImportReport)>,
    /// The chosen sentence, from 0.
    pub selected: Option<usize>,
    /// Everything about it.
    pub detail: Option<Arc<Detail>>,
    /// What each system says of it as a heatmap shows it; `None` where it has no alignment.
    pub tables: Vec<Option<Arc<AlignmentTable>>>,
    /// Sentences that were judged, once for each act that is not yet in the file: what it says of them is older.
    under_way: Vec<usize>,
    /// Links by hand that were drawn and are not yet part of the details.
    drawn: Option<(usize, Option<Links>)>,
    /// Whose words are linked by hand: the system at this place; none: the reference.
    pub linked: Option<usize>,
    /// What is in view and was asked for, until it is in memory.
    seen: Option<(Vec<u32>, Vec<TableColumn>)>,
    /// What was taken back last is to be chosen.
    awaits: bool,
    /// The two who are compared, and how far they agree.
    pub compared: Option<(String, String)>,
    /// As said.
    pub agreement: Option<Arc<Agreement>>,
    /// What is kept between starts.
    pub kept: KeptCorpus,
    /// Two documents that become pairs.
    pub documents: DocumentSheet,
    /// Orders under way.
    pub tasks: Vec<u64>,
}

/// What is kept between starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptCorpus {
    /// The workspace that was open last.
    pub workspace: Option<PathBuf>,
    /// Whose judgements are given.
    pub annotator: String,
}

impl Default for KeptCorpus {
    fn default() -> Self {
        Self { workspace: None, annotator: NOBODY.to_owned() }
    }
}

impl CorpusPage {
    /// What the annotator says of the chosen sentence.
    pub fn judgement(&self) -> Judgement {
        self.selected.map(|at| self.said(at, &self.kept.annotator)).unwrap_or_default()
    }

    /// What an annotator says of a sentence, from 0.
    pub fn said(&self, at: usize, annotator: &str) -> Judgement {
        self.corpus.judgements.get(&at).and_then(|all| all.get(annotator)).cloned().unwrap_or_default()
    }

    /// The row of the chosen sentence.
    pub fn row(&self) -> Option<usize> {
        let selected = self.selected? as u32;
        self.rows.iter().position(|at| *at == selected)
    }

    fn send(app: &mut AppState, call: CorpusRequest) {
        app.tasks.push(Effect::Corpus(call));
    }

    fn show(&mut self, app: &mut AppState) {
        self.tell_means(app);
        Self::send(app, CorpusRequest::Show { filter: self.filter.clone(), sorting: self.sorting.clone() });
    }

    fn open(&mut self, path: PathBuf, app: &mut AppState) {
        self.close(app);
        // It is kept for the next start, which may be in another folder.
        let path = std::path::absolute(&path).unwrap_or(path);
        self.wanted = Some(path.clone());
        Self::send(app, CorpusRequest::Open(path));
        app.changed();
    }

    /// Shows what was measured as a corpus. One that is there already stays, with all that was said of it.
    fn show_measured(&mut self, evaluated: Arc<Evaluated>, app: &mut AppState) {
        app.show_page(CORPUS);
        let is_there = self.path.is_some() && self.measured.as_ref().is_some_and(|of| Arc::ptr_eq(of, &evaluated));
        if !is_there {
            self.close(app);
            self.measured = Some(Arc::clone(&evaluated));
            Self::send(app, CorpusRequest::Measured(evaluated));
        }
    }

    /// Whether the corpus goes with the window, or when it is closed, unless it is saved.
    pub fn is_unsaved(&self) -> bool {
        self.is_unsaved
    }

    /// What was shown goes; what is kept between starts stays.
    fn close(&mut self, app: &mut AppState) {
        self.stop_tasks(app);
        let (kept, documents) = (std::mem::take(&mut self.kept), std::mem::take(&mut self.documents));
        *self = Self { kept, documents, ..Self::default() };
        Self::send(app, CorpusRequest::Close);
        app.changed();
    }

    fn stop_tasks(&mut self, app: &mut AppState) {
        for task in std::mem::take(&mut self.tasks) {
            app.tasks.cancel(task);
        }
    }

    fn select(&mut self, at: Option<usize>, app: &mut AppState) {
        self.selected = at.filter(|at| *at < self.corpus.len());
        match self.selected {
            Some(at) => Self::send(app, CorpusRequest::Detail(at)),
            None => self.detail = None,
        }
    }

    fn go(&mut self, by: isize, app: &mut AppState) {
        let at = self.rows.get(moved(self.row(), by, self.rows.len())).map(|at| *at as usize);
        self.select(at, app);
    }

    fn sort(&mut self, column: String, app: &mut AppState) {
        let falling = format!("-{column}");
        let rises = TextColumn::named(&column).is_some() || column == TableColumn::Number.name(&self.corpus);
        let (first, second) = if rises { (column, falling) } else { (falling, column) };
        self.sorting = if self.sorting == second {
            String::new()
        } else if self.sorting == first {
            second
        } else {
            first
        };
        self.show(app);
        self.columns.look.sorting.clone_from(&self.sorting);
        self.keep_look(app);
    }

    /// Passes a request on; what is shown follows some of them at once.
    fn ask(&mut self, request: CorpusRequest, app: &mut AppState) {
        match &request {
            CorpusRequest::Open(path) => return self.open(path.clone(), app),
            CorpusRequest::Close => return self.close(app),
            CorpusRequest::Undo | CorpusRequest::Redo => return self.take_back(request, app),
            CorpusRequest::Remove(_) => {
                self.whole.stop();
                // The places of the others shift.
                self.whole.counted.pair = None;
                self.columns.look.pair = None;
                self.columns.look.sorting.clear();
                self.sorting.clear();
            }
            CorpusRequest::See(rows, columns) => self.seen = Some((rows.clone(), columns.clone())),
            CorpusRequest::Compare(pair) => {
                self.compared.clone_from(pair);
                self.agreement = None;
            }
            _ => {}
        }
        Self::send(app, request);
    }

    /// Imports a file as what the page says that texts are.
    fn import(&self, path: PathBuf, app: &mut AppState) {
        let stem = || path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let role = match &self.role {
            import::Role::Output(name) if name.trim().is_empty() => import::Role::Output(stem()),
            role => role.clone(),
        };
        let oracle = self.oracle;
        let rerank = Some(self.rerank.trim()).filter(|name| !name.is_empty()).map(str::to_owned);
        // a corpus that is begun has its words
        let pretokenized = self.pretokenized && self.corpus.is_empty();
        let options = import::ImportOptions {
            role: Some(role),
            oracle,
            rerank,
            pretokenized,
            ..import::ImportOptions::default()
        };
        Self::send(app, CorpusRequest::Import(path, options));
    }

    fn save(&self, kind: ExportFormat, path: PathBuf, app: &mut AppState) {
        let mut columns = self.columns.shown(&self.corpus);
        if kind == ExportFormat::Tsv {
            // What people said goes along with tags and notes.
            columns.retain(|column| ![TableColumn::Stars, TableColumn::Marks].contains(column));
            columns.extend([TableColumn::Stars, TableColumn::Marks]);
        }
        let out = Out {
            path,
            kind,
            rows: Arc::clone(&self.rows),
            columns,
            chosen: self.filter.trim().to_owned(),
            pictures: MOST_PICTURES,
            link_tokens: false,
            aligner: self.aligner(app),
            title: String::new(),
        };
        Self::send(app, CorpusRequest::Write(Box::new(out)));
    }

    fn open_sentence(&self, app: &mut AppState) {
        let Some(detail) = self.detail.as_ref().filter(|detail| Some(detail.at) == self.selected) else { return };
        let sentence = &detail.sentence;
        let gold = detail.gold.clone().zip(sentence.reference.clone());
        let (source, rules) = (sentence.source.clone(), [self.corpus.rules.source, self.corpus.rules.target]);
        let gold = gold.map(|(links, reference)| Gold { source, reference, links, rules });
        app.show_with_gold(sentence.source.clone(), gold);
    }

    /// Whether these rows, and these columns of them, are neither in memory nor asked for.
    pub fn lacks(&self, rows: &[u32], columns: &[TableColumn]) -> bool {
        let is_asked = |(asked, of): &(Vec<u32>, Vec<TableColumn>)| asked == rows && of == columns;
        !self.corpus.has_rows(rows, columns) && !self.seen.as_ref().is_some_and(is_asked)
    }

    fn take_corpus(&mut self, path: PathBuf, corpus: Arc<CorpusTable>, app: &mut AppState) {
        // One that was closed meanwhile is none any more.
        if self.wanted.as_ref() != Some(&path) {
            return;
        }
        if self.path.as_ref() != Some(&path) {
            if !self.is_unsaved {
                self.kept.workspace = Some(path.clone());
            }
            self.path = Some(path);
            app.changed();
        }
        let is_longer = corpus.systems.len() != self.corpus.systems.len();
        self.replace_table(corpus);
        self.note_outputs();
        self.seen = None;
        if let Some(at) = self.selected.filter(|_| is_longer || !self.tasks.is_empty()) {
            Self::send(app, CorpusRequest::Detail(at));
        }
    }

    /// Takes in what the corpus thread tells.
    pub fn hear(&mut self, news: CorpusNews, app: &mut AppState) {
        match news {
            CorpusNews::Made { path, is_saved } => {
                if self.measured.is_some() {
                    self.stop_tasks(app);
                    (self.wanted, self.is_unsaved) = (Some(path), !is_saved);
                }
            }
            CorpusNews::Corpus(path, corpus) => self.take_corpus(path, corpus, app),
            CorpusNews::Rows(Ok(rows)) => {
                self.rows = rows;
                self.trouble = None;
                self.see_whole(app);
            }
            CorpusNews::Rows(Err(trouble)) => self.trouble = Some(trouble),
            CorpusNews::Seen => self.seen = None,
            CorpusNews::Judged(change) => self.judged(Arc::unwrap_or_clone(change), app),
            CorpusNews::Compared(agreement) => self.agreement = agreement.filter(|_| self.compared.is_some()),
            CorpusNews::Detail(detail) => {
                // One of a sentence that is not chosen any more comes too late.
                if self.selected != Some(detail.at) {
                    return;
                }
                self.forget_drawn(&detail);
                self.tables = picture::tables(&detail, self.corpus.rules, || app.tasks.fresh_id());
                self.detail = Some(Arc::from(detail));
            }
            CorpusNews::Busy { progress, is_import } => (self.busy, self.is_importing) = (Some(progress), is_import),
            CorpusNews::Idle => (self.busy, self.is_importing) = (None, false),
            CorpusNews::Imported(path, imported) => {
                self.message = None;
                // After the sources come their translations, of which there may be several; the next system has another name.
                if imported.sentences > 0 && imported.references == 0 && self.role == import::Role::Source {
                    self.role = import::Role::Reference;
                } else if matches!(self.role, import::Role::Output(_)) && imported.outputs > 0 {
                    self.role = import::Role::Output(String::new());
                }
                self.imported = Some((path, *imported));
                if let Some(at) = self.selected {
                    Self::send(app, CorpusRequest::Detail(at));
                }
                self.whole.revision += 1;
                self.see_whole(app);
            }
            CorpusNews::Written(path) => app.notify(tr!("Saved {}", path.display()), false),
            CorpusNews::Look(look) => {
                self.columns.look = *look;
                if self.sorting != self.columns.look.sorting {
                    self.sorting.clone_from(&self.columns.look.sorting);
                    self.show(app);
                }
                self.whole.counted.pair = self.columns.look.pair;
                self.tell_means(app);
            }
            CorpusNews::Counting(progress) => self.whole.counted.share = Some(progress.share()),
            CorpusNews::Counted(overview) => {
                self.whole.counted.take(overview);
                self.see_whole(app);
            }
            CorpusNews::Hits(hits) => {
                let is_over = hits.is_over;
                self.whole.concordance.take(hits);
                if is_over {
                    self.see_whole(app);
                }
            }
            CorpusNews::Tallied(number, progress, table) => {
                let is_over = table.is_some();
                self.whole.tallied.take(number, progress.share(), table);
                if is_over {
                    self.see_whole(app);
                }
            }
            CorpusNews::Refused(number, why) => self.whole.refuse(number, why),
            CorpusNews::Failed(message) => {
                // What was under way may be what failed.
                self.whole.fail();
                self.under_way.clear();
                self.message = Some(message);
            }
        }
    }
}

/// So many rows down; without a chosen row, the first or the last.
fn moved(row: Option<usize>, by: isize, count: usize) -> usize {
    let last = count as isize - 1;
    let next = match row {
        Some(row) => row as isize + by,
        None if by < 0 => last,
        None => 0,
    };
    next.clamp(0, last.max(0)) as usize
}

crate::page_commands!(CorpusPage: CorpusCommand,
    CorpusRequest => Corpus,
    ExploreCommand => Whole,
    DocumentCommand => Documents
);

impl PageState for CorpusPage {
    const PAGE: Page = CORPUS;
    type Command = CorpusCommand;

    fn apply(&mut self, command: CorpusCommand, app: &mut AppState) {
        match command {
            CorpusCommand::Corpus(request) => self.ask(request, app),
            CorpusCommand::Import(path) => self.import(path, app),
            CorpusCommand::SetRole(role) => self.role = role,
            CorpusCommand::Rerank(name) => self.rerank = name,
            CorpusCommand::Pretokenized(is_cut) => self.pretokenized = is_cut,
            CorpusCommand::TakeOracle(takes) => self.oracle = takes.then(import::OracleBy::default),
            CorpusCommand::SetFilter(filter) => {
                self.filter = filter;
                self.show(app);
            }
            CorpusCommand::Sort(column) => self.sort(column, app),
            CorpusCommand::Select(at) => self.select(at, app),
            CorpusCommand::Move(by) => self.go(by, app),
            CorpusCommand::OpenSentence => self.open_sentence(app),
            CorpusCommand::Run(forces) => self.run(forces, None, app),
            CorpusCommand::RunOne(system, forces) => self.run_all(vec![(system, None)], forces, app),
            CorpusCommand::RunWith(path) => self.run(false, Some(&path), app),
            CorpusCommand::RunSet => self.run_set(app),
            CorpusCommand::ShowColumn(name, is_shown) => {
                self.columns.look.shown.insert(name, is_shown);
                self.keep_look(app);
            }
            CorpusCommand::SetAnnotator(name) => {
                // Conditions part names by commas.
                let name = name.replace([',', '"'], " ");
                let name = if name.trim().is_empty() { NOBODY } else { name.trim() };
                name.clone_into(&mut self.kept.annotator);
                app.changed();
            }
            CorpusCommand::Star(stars) => self.judge(app, |judgement| {
                judgement.stars = if judgement.stars == stars { 0 } else { stars.min(MOST_STARS) };
            }),
            CorpusCommand::Tag(tag) => self.judge(app, |judgement| {
                let tag = tag.trim().to_owned();
                if !tag.is_empty() && !judgement.tags.remove(&tag) {
                    judgement.tags.insert(tag);
                }
            }),
            CorpusCommand::Note { at, annotator, note } => {
                self.judge_of(at, annotator, app, |judgement| judgement.note = note);
            }
            CorpusCommand::Rate(system, rating) => self.judge_shown(app, |judgement| judgement.rate(system, rating)),
            CorpusCommand::Mark(mark) => self.judge_shown(app, |judgement| judgement.mark(mark)),
            CorpusCommand::NoErrors(system) => {
                self.judge_shown(app, |judgement| judgement.turn_no_errors(system));
            }
            CorpusCommand::Unmark(at) => self.judge_shown(app, |judgement| {
                // Those that are set apart are counted behind the others.
                let behind = at.saturating_sub(judgement.marks.len());
                if at < judgement.marks.len() {
                    judgement.marks.remove(at);
                } else if behind < judgement.stale.len() {
                    judgement.stale.remove(behind);
                }
            }),
            CorpusCommand::LinkTo(system) => (self.linked, self.drawn) = (system, None),
            CorpusCommand::Link(source, target) => self.link(Link { source, target }, app),
            CorpusCommand::LinksOfAligner => self.links_of_aligner(app),
            CorpusCommand::NoLinks => {
                if let Some((at, _)) = self.gold() {
                    self.draw(at, None, app);
                }
            }
            CorpusCommand::Save(kind, path) => self.save(kind, path, app),
            CorpusCommand::Whole(command) => self.explore(command, app),
            CorpusCommand::Documents(command) => self.document(command, app),
            CorpusCommand::DismissMessage => {
                self.message = None;
                self.imported = None;
            }
        }
    }
}

impl AnyPage for CorpusPage {
    fn follow(&mut self, app: &mut AppState) {
        if let Some(measured) = app.measured.take() {
            self.show_measured(measured, app);
        }
    }

    fn found(&mut self, number: u64, found: Found, app: &mut AppState) {
        let found = match found {
            Found::Analysed(found) => found,
            Found::Documents(found) if self.documents.task == Some(number) => {
                self.message = found.note;
                return self.documents.take(found.beads);
            }
            _ => return,
        };
        self.tasks.retain(|task| *task != number);
        let mut told = tr!("{}: {} sentences", found.system, found.sentences);
        if found.refusals > 0 {
            told += &tr!("; {} could not be read ({})", found.refusals, found.refused.join("; "));
        }
        app.notify(told, false);
        if let Some(trouble) = found.trouble {
            app.notify(trouble, true);
        }
    }

    fn ended(&mut self, number: u64, message: Option<String>, _app: &mut AppState) {
        if self.documents.task == Some(number) {
            (self.documents.task, self.message) = (None, message);
        } else if self.tasks.contains(&number) {
            self.tasks.retain(|task| *task != number);
            self.message = message.or(self.message.take());
        }
    }

    fn dropped(&mut self, what: Dropped, path: PathBuf, app: &mut AppState) {
        match what {
            Dropped::Workspace => {
                app.show_page(CORPUS);
                self.open(path, app);
            }
            Dropped::Links if self.path.is_some() => self.apply(CorpusCommand::import_gold(path), app),
            Dropped::Text | Dropped::Interventions | Dropped::Annotated if self.path.is_some() => {
                self.apply(CorpusCommand::Import(path), app);
            }
            Dropped::Text | Dropped::Interventions | Dropped::Annotated | Dropped::Links => {
                self.message = Some(tr!("Open or make a corpus first; the file goes into it").to_owned());
            }
            // Other pages take these.
            Dropped::Model | Dropped::Logs => {}
        }
    }

    fn saved(&self) -> Value {
        let workspace = self.kept.workspace.clone().filter(|path| path.to_str().is_some());
        serde_json::to_value(KeptCorpus { workspace, ..self.kept.clone() }).unwrap_or_default()
    }

    fn restore(&mut self, saved: Value) -> serde_json::Result<()> {
        let mut kept: KeptCorpus = serde_json::from_value(saved)?;
        if kept.annotator.is_empty() {
            NOBODY.clone_into(&mut kept.annotator);
        }
        *self = Self { kept, ..Self::default() };
        Ok(())
    }
}
