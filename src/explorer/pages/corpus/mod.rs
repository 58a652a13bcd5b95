//! The Corpus page: a workspace, its table, the chosen sentence and its judgements; minimal pairs and training curves,
//! which need no workspace.

pub mod columns;
pub mod command;
pub mod contrast;
pub mod documents;
pub mod explore;
pub mod judging;
pub mod judging_state;
pub mod logs;
mod news;
pub mod picture;
mod run;
#[cfg(feature = "gui")]
pub mod view;
pub mod views;

use std::{path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::page::{Dropped, Page, PageInfo};
use crate::app::{
    document::table::AlignmentTable, files::gold::Gold, files::work::FileEvent, state::AppState, tasks::Effect,
};
use crate::jobs::corpus::thread::{CorpusRequest, Detail};
use crate::jobs::files::follow::FollowEvent;
use crate::jobs::queue::{Found, JobProgress};
use crate::pages::{
    corpus::columns::TableColumns, corpus::contrast::ContrastState, corpus::documents::DocumentSheet,
    corpus::logs::LogFile, corpus::views::CorpusViews, shape::PageState,
};
use corpus::export::out::{ExportFormat, Out};
use corpus::judgements::judge::{Judgement, MOST_STARS, NOBODY};
use corpus::query::column::{TableColumn, TextColumn};
use corpus::store::{corpus::CorpusTable, kinds::MOST_PICTURES};
use corpus::{import::importer::ImportReport, judgements::agreement::Agreement};
use engine::text::links::{Link, Links};
use engine::{aligner::bundled::AlignerChoice, text::language::primary};
use import;

use crate::pages::corpus::command::{CorpusCommand, LogCommand};
pub use crate::pages::corpus::views::ExploreCommand;

/// The file of frequencies, and the aligner of source and target languages.
type Means = (Option<PathBuf>, Option<AlignerChoice>);

pub const CORPUS: Page = Page::new(&PageInfo {
    key: "corpus",
    name: id!("Corpus"),
    title: id!("Page Corpus"),
    saved_as: "workbench",
    digit: 3,
    takes: &[
        Dropped::Workspace,
        Dropped::Text,
        Dropped::Interventions,
        Dropped::Links,
        Dropped::Annotated,
        Dropped::Logs,
    ],
    has_only_models: false,
});

/// What the page shows.
#[derive(Clone, Debug, Default)]
pub struct CorpusPage {
    pub path: Option<PathBuf>,
    pending: Pending,
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
    pub columns: TableColumns,
    pub whole: CorpusViews,
    pub incoming: Incoming,
    /// Why the last act came to nothing, as a sentence.
    pub message: Option<String>,
    pub busy: Option<Busy>,
    /// The chosen sentence, from 0.
    pub selected: Option<usize>,
    pub detail: Option<Arc<Detail>>,
    /// What each system says of it as a heatmap shows it; `None` where it has no alignment.
    pub tables: Vec<Option<Arc<AlignmentTable>>>,
    /// Whose words are linked by hand: the system at this place; none: the reference.
    pub linked: Option<usize>,
    pub compared: Option<Compared>,
    pub kept: KeptCorpus,
    pub tools: CorpusTools,
    pub tasks: Vec<u64>,
}

#[derive(Clone, Debug, Default)]
struct Pending {
    path: Option<PathBuf>,
    /// It goes with the window, or when it is closed, unless it is saved.
    is_unsaved: bool,
    /// How the lane was told to find costly conditions out.
    means: Option<Means>,
    /// Sentences that were judged, once for each act that is not yet in the file: what it says of them is older.
    under_way: Vec<usize>,
    /// Links by hand that were drawn and are not yet part of the details.
    drawn: Option<(usize, Option<Links>)>,
    /// What is in view, until it is in memory.
    seen: Option<(Vec<u32>, Vec<TableColumn>)>,
    /// What was taken back last is to be chosen.
    chooses: bool,
}

/// How files come in.
#[derive(Clone, Debug, Default)]
pub struct Incoming {
    pub role: import::Role,
    /// By what the best candidate of an n-best list is told, which is a system of its own then.
    pub oracle: Option<import::OracleBy>,
    /// By what n-best lists are put into another order; empty: by nothing.
    pub rerank: String,
    /// Whether texts that begin a corpus are cut into words.
    pub pretokenized: bool,
    /// The file that came in last, and what came of it.
    pub last: Option<(PathBuf, ImportReport)>,
}

/// What the lane is doing.
#[derive(Clone, Debug)]
pub struct Busy {
    pub progress: JobProgress,
    /// It brings in a file, which can be stopped.
    pub imports: bool,
}

/// Two annotators who are compared.
#[derive(Clone, Debug)]
pub struct Compared {
    pub pair: (String, String),
    /// How far they agree, once that is known.
    pub agreement: Option<Arc<Agreement>>,
}

/// Tools that need no corpus: documents, minimal pairs, training logs.
#[derive(Clone, Debug, Default)]
pub struct CorpusTools {
    pub documents: DocumentSheet,
    pub contrast: ContrastState,
    pub logs: Vec<LogFile>,
}

/// What is kept between starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptCorpus {
    pub workspace: Option<PathBuf>,
    pub annotator: String,
    pub logs: Vec<PathBuf>,
}

impl Default for KeptCorpus {
    fn default() -> Self {
        Self { workspace: None, annotator: NOBODY.to_owned(), logs: Vec::new() }
    }
}

impl CorpusPage {
    pub fn judgement(&self) -> Judgement {
        self.selected.map(|at| self.said(at, &self.kept.annotator)).unwrap_or_default()
    }

    /// What an annotator says of a sentence, from 0.
    pub fn said(&self, at: usize, annotator: &str) -> Judgement {
        self.corpus.judgements.get(&at).and_then(|all| all.get(annotator)).cloned().unwrap_or_default()
    }

    pub fn system_name(&self, at: usize) -> &str {
        self.corpus.systems.get(at).map_or("", |column| column.system.name.as_str())
    }

    pub fn row(&self) -> Option<usize> {
        let selected = self.selected? as u32;
        self.rows.iter().position(|at| *at == selected)
    }

    fn send(app: &mut AppState, call: CorpusRequest) {
        app.tasks.push(Effect::Corpus(call));
    }

    fn show(&mut self, app: &mut AppState) {
        self.send_resources(app);
        Self::send(app, CorpusRequest::Show { filter: self.filter.clone(), sorting: self.sorting.clone() });
    }

    fn open(&mut self, path: PathBuf, app: &mut AppState) {
        self.close(app);
        // It is kept for the next start, which may be in another folder.
        let path = std::path::absolute(&path).unwrap_or(path);
        self.pending.path = Some(path.clone());
        Self::send(app, CorpusRequest::Open(path));
        app.changed();
    }

    /// Makes a corpus that goes when it is closed, unless it is saved, where none is open or on its way.
    fn begin_unsaved(&mut self, app: &mut AppState) {
        // One that could not be opened is no longer on its way.
        let is_coming = self.pending.is_unsaved || self.pending.path.is_some() && self.message.is_none();
        if self.path.is_none() && !is_coming {
            self.close(app);
            self.pending.is_unsaved = true;
            Self::send(app, CorpusRequest::Begin);
        }
    }

    /// Puts in the small set that comes with the program, in German for models that write German.
    fn fill(&mut self, app: &mut AppState) {
        let facts = || app.document.columns.iter().filter_map(|column| column.facts.as_ref());
        let writes = |language| facts().any(|facts| primary(&facts.target_language) == language);
        let is_german = writes("de") && !writes("fr");
        self.begin_unsaved(app);
        Self::send(app, CorpusRequest::Fill { is_german });
    }

    pub fn is_unsaved(&self) -> bool {
        self.pending.is_unsaved
    }

    /// What was shown goes; what is kept between starts stays.
    fn close(&mut self, app: &mut AppState) {
        self.stop_tasks(app);
        let (kept, tools) = (std::mem::take(&mut self.kept), std::mem::take(&mut self.tools));
        *self = Self { kept, tools, ..Self::default() };
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
                self.columns.look.pair = None;
                self.columns.look.sorting.clear();
                self.sorting.clear();
            }
            CorpusRequest::See(rows, columns) => self.pending.seen = Some((rows.clone(), columns.clone())),
            CorpusRequest::Compare(pair) => {
                self.compared = pair.clone().map(|pair| Compared { pair, agreement: None });
            }
            CorpusRequest::Import(..) => self.begin_unsaved(app),
            _ => {}
        }
        Self::send(app, request);
    }

    fn import(&mut self, path: PathBuf, app: &mut AppState) {
        self.begin_unsaved(app);
        let incoming = &self.incoming;
        let stem = || path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let role = match &incoming.role {
            import::Role::Output(name) if name.trim().is_empty() => import::Role::Output(stem()),
            role => role.clone(),
        };
        let oracle = incoming.oracle;
        let rerank = Some(incoming.rerank.trim()).filter(|name| !name.is_empty()).map(str::to_owned);
        // a corpus that is begun has its words
        let pretokenized = incoming.pretokenized && self.corpus.is_empty();
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
        !self.corpus.has_rows(rows, columns) && !self.pending.seen.as_ref().is_some_and(is_asked)
    }

    pub fn apply(&mut self, command: CorpusCommand, app: &mut AppState) {
        match command {
            CorpusCommand::Corpus(request) => self.ask(request, app),
            CorpusCommand::Import(path) => self.import(path, app),
            CorpusCommand::Fill => self.fill(app),
            CorpusCommand::SetRole(role) => self.incoming.role = role,
            CorpusCommand::Rerank(name) => self.incoming.rerank = name,
            CorpusCommand::Pretokenized(is_cut) => self.incoming.pretokenized = is_cut,
            CorpusCommand::TakeOracle(takes) => self.incoming.oracle = takes.then(import::OracleBy::default),
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
            CorpusCommand::LinkTo(system) => (self.linked, self.pending.drawn) = (system, None),
            CorpusCommand::Link(source, target) => self.link(Link { source, target }, app),
            CorpusCommand::LinksOfAligner => self.links_of_aligner(app),
            CorpusCommand::NoLinks => {
                if let Some((at, _)) = self.gold() {
                    self.draw(at, None, app);
                }
            }
            CorpusCommand::Save(kind, path) => self.save(kind, path, app),
            CorpusCommand::Explore(command) => self.explore(command, app),
            CorpusCommand::Documents(command) => self.document(command, app),
            CorpusCommand::Contrast(command) => self.ask_contrast(command, app),
            CorpusCommand::Log(command) => self.change_logs(command, app),
            CorpusCommand::DismissMessage => {
                self.message = None;
                self.incoming.last = None;
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

impl PageState for CorpusPage {
    fn page(&self) -> Page {
        CORPUS
    }

    fn begin(&mut self, app: &mut AppState) {
        if !self.tools.logs.is_empty() {
            self.follow_logs(app);
        }
    }

    fn found(&mut self, number: u64, found: Found, app: &mut AppState) {
        let found = match found {
            Found::Analysed(found) => found,
            Found::Documents(found) if self.tools.documents.task == Some(number) => {
                self.message = found.note;
                return self.tools.documents.take(found.beads);
            }
            Found::Contrasted(found) => return self.tools.contrast.take(number, found),
            _ => return,
        };
        self.tasks.retain(|task| *task != number);
        let mut notice = tr!("{}: {} sentences", found.system, found.sentences);
        if found.refusals > 0 {
            notice += &tr!("; {} could not be read ({})", found.refusals, found.refused.join("; "));
        }
        app.notify(notice, false);
        if let Some(trouble) = found.trouble {
            app.notify(trouble, true);
        }
    }

    fn ended(&mut self, number: u64, message: Option<String>, _app: &mut AppState) {
        if self.tools.documents.task == Some(number) {
            (self.tools.documents.task, self.message) = (None, message);
        } else if self.tools.contrast.task == Some(number) {
            self.tools.contrast.ended();
            self.message = message;
        } else if self.tasks.contains(&number) {
            self.tasks.retain(|task| *task != number);
            self.message = message.or(self.message.take());
        }
    }

    fn absorb_file(&mut self, news: &FileEvent, app: &mut AppState) {
        if let FileEvent::Logs { path, found } = news {
            self.open_logs(path, found.clone(), app);
        }
    }

    fn seen(&mut self, seen: &FollowEvent) -> bool {
        logs::absorb(&mut self.tools.logs, seen.clone())
    }

    fn dropped(&mut self, what: Dropped, path: PathBuf, app: &mut AppState) {
        match what {
            Dropped::Workspace => {
                app.show_page(CORPUS);
                self.open(path, app);
            }
            Dropped::Links => self.apply(CorpusCommand::import_gold(path), app),
            Dropped::Text | Dropped::Interventions | Dropped::Annotated => {
                self.apply(CorpusCommand::Import(path), app);
            }
            Dropped::Logs => self.apply(CorpusCommand::Log(LogCommand::Open(path)), app),
            // Page Sentence takes it.
            Dropped::Model => {}
        }
    }

    fn saved(&self) -> Value {
        // JSON holds text, so a path that is not text is left out.
        let is_text = |path: &PathBuf| path.to_str().is_some();
        let workspace = self.kept.workspace.clone().filter(is_text);
        let logs = self.tools.logs.iter().map(|log| log.path.clone()).filter(is_text).collect();
        serde_json::to_value(KeptCorpus { workspace, logs, ..self.kept.clone() }).unwrap_or_default()
    }

    fn restore(&mut self, saved: Value) -> serde_json::Result<()> {
        let mut kept: KeptCorpus = serde_json::from_value(saved)?;
        if kept.annotator.is_empty() {
            NOBODY.clone_into(&mut kept.annotator);
        }
        let logs = std::mem::take(&mut kept.logs).into_iter().map(LogFile::new).collect();
        *self = Self { kept, tools: CorpusTools { logs, ..CorpusTools::default() }, ..Self::default() };
        Ok(())
    }
}
