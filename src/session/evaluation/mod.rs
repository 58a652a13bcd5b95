//! Floor 8: the page Evaluation: the test set, what models made of it, and learning curves of training runs.

pub mod export;
pub mod listing;
pub mod logs;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::analysis::bleu::Tokenization;
use crate::decoding;
use crate::evaluation::Unk;
use crate::session::Session;
use crate::session::driver::Chore;
use crate::session::pages::Page;
use crate::worker::corpus::Order;
use crate::worker::corpus::evaluate::{Evaluate, Evaluated};

pub use crate::session::evaluation::export::TableFormat;
pub use crate::session::evaluation::listing::{By, Listing};
pub use crate::session::evaluation::logs::{LogFile, LogState};

/// What the page shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// What to measure on.
    pub test: TestFiles,
    /// Also translate without `[UNK]` in the output.
    pub also_without_unk: bool,
    /// The run under way; [`Session::task`] says how far it is.
    pub task: Option<u64>,
    /// Why the last run came to nothing, as a sentence.
    pub message: Option<String>,
    /// What the last run that was finished found.
    pub results: Option<Arc<Evaluated>>,
    /// Its sentences, sorted.
    pub listing: Listing,
    /// Training logs that are followed.
    pub logs: Vec<LogFile>,
}

/// The files of a test set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestFiles {
    /// Source sentences, one a line.
    pub source: Option<PathBuf>,
    /// Their translations, line by line.
    pub references: Vec<PathBuf>,
    /// Alignments by hand, line by line.
    pub gold: Option<PathBuf>,
    /// The words are split by spaces already.
    pub is_pretokenized: bool,
    /// How BLEU cuts text into words.
    pub tokenization: Tokenization,
}

/// What the user does on the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// The file of source sentences; `None`: none.
    SetSource(Option<PathBuf>),
    /// One more file of references.
    AddReference(PathBuf),
    /// Takes a file of references away, by its position.
    RemoveReference(usize),
    /// The file of alignments by hand; `None`: none.
    SetGold(Option<PathBuf>),
    /// Whether the words are split by spaces already.
    SetPretokenized(bool),
    /// How BLEU cuts text into words.
    SetTokenization(Tokenization),
    /// Whether to translate without `[UNK]` as well.
    SetAlsoWithoutUnk(bool),
    /// A file or folder was dropped on the page.
    Dropped(PathBuf),
    /// Measures the models of the columns.
    Run,
    /// Takes the sentence of a failure away.
    DismissMessage,
    /// Sorts the sentences; the same again turns the order round.
    Sort(By),
    /// Compares these two models in the list, by their positions.
    Compare(usize, usize),
    /// Translates a sentence of the test set on page Sentence, by its position in the test set.
    OpenSentence(usize),
    /// Writes the table of figures to a file.
    Export {
        /// How.
        format: TableFormat,
        /// Where to.
        path: PathBuf,
    },
    /// Opens a training log, the log of a run's folder, or the logs of all runs in a folder.
    OpenLogs(PathBuf),
    /// Takes a log away, by its position.
    CloseLog(usize),
}

/// What is kept between starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Saved {
    /// The file of source sentences.
    pub source: Option<PathBuf>,
    /// The files of references.
    pub references: Vec<PathBuf>,
    /// The file of alignments by hand.
    pub gold: Option<PathBuf>,
    /// The words are split by spaces already.
    pub is_pretokenized: bool,
    /// How BLEU cuts text into words, by sacreBLEU's name.
    pub tokenization: String,
    /// Also translate without `[UNK]`.
    pub also_without_unk: bool,
    /// Training logs.
    pub logs: Vec<PathBuf>,
}

impl Evaluation {
    /// The page as it was saved.
    pub(super) fn of(saved: Saved) -> Self {
        let Saved { source, references, gold, is_pretokenized, tokenization, also_without_unk, logs } = saved;
        let tokenization = Tokenization::named(&tokenization).unwrap_or_default();
        Self {
            test: TestFiles { source, references, gold, is_pretokenized, tokenization },
            also_without_unk,
            logs: logs.into_iter().map(LogFile::new).collect(),
            ..Self::default()
        }
    }

    /// What is worth keeping. JSON holds text, so a path that is not text is left out.
    pub(super) fn saved(&self) -> Saved {
        let writable = |path: &&PathBuf| path.to_str().is_some();
        Saved {
            source: self.test.source.as_ref().filter(writable).cloned(),
            references: self.test.references.iter().filter(writable).cloned().collect(),
            gold: self.test.gold.as_ref().filter(writable).cloned(),
            is_pretokenized: self.test.is_pretokenized,
            tokenization: self.test.tokenization.name().to_owned(),
            also_without_unk: self.also_without_unk,
            logs: self.logs.iter().map(|log| &log.path).filter(writable).cloned().collect(),
        }
    }

    /// What is missing before models can be measured, as a sentence.
    pub fn missing(&self, models: usize) -> Option<&'static str> {
        match (&self.test.source, self.test.references.as_slice(), models) {
            (None, ..) => Some("Choose a file of source sentences"),
            (_, [], _) => Some("Choose a file of their translations"),
            (.., 0) => Some("Add a model"),
            _ => None,
        }
    }
}

impl Session {
    /// Does what the user asked for.
    pub(super) fn apply_to_evaluation(&mut self, command: Command) {
        match command {
            Command::Run => self.run_evaluation(),
            Command::DismissMessage => self.evaluation.message = None,
            Command::Sort(by) => self.evaluation.sort(by),
            Command::Compare(first, second) => self.evaluation.compare(first, second),
            Command::OpenSentence(line) => {
                let results = self.evaluation.results.clone();
                let record = results.as_deref().and_then(|results| results.models.first()?.report.records.get(line));
                if let Some(record) = record {
                    self.show_sentence(record.pair.source.to_string());
                }
            }
            Command::Export { format, path } => match self.evaluation.results.as_deref() {
                Some(results) => {
                    let text = export::text(results, format);
                    self.chores.push(Chore::Write { path, text });
                }
                None => self.notify("There is nothing to save yet, because nothing is measured", true),
            },
            Command::Dropped(path) => self.chores.push(Chore::Drop(path)),
            Command::OpenLogs(path) => self.chores.push(Chore::FindLogs(path)),
            Command::CloseLog(at) => self.close_log(at),
            other => self.set_test(other),
        }
    }

    fn set_test(&mut self, command: Command) {
        let test = &mut self.evaluation.test;
        match command {
            Command::SetSource(path) => test.source = path,
            Command::AddReference(path) if !test.references.contains(&path) => test.references.push(path),
            Command::RemoveReference(at) if at < test.references.len() => {
                test.references.remove(at);
            }
            Command::SetGold(path) => test.gold = path,
            Command::SetPretokenized(on) => {
                test.is_pretokenized = on;
                // The usual one for such text; another can be chosen afterwards.
                test.tokenization = if on { Tokenization::None } else { Tokenization::default() };
            }
            Command::SetTokenization(tokenization) => test.tokenization = tokenization,
            Command::SetAlsoWithoutUnk(on) => self.evaluation.also_without_unk = on,
            _ => return,
        }
        self.revision += 1;
    }

    /// A text file that was dropped on the page takes the first place that is free.
    pub(super) fn text_dropped(&mut self, path: PathBuf) {
        let is_source = self.evaluation.test.source.is_none();
        self.set_test(if is_source { Command::SetSource(Some(path)) } else { Command::AddReference(path) });
    }

    fn run_evaluation(&mut self) {
        if self.evaluation.task.is_some() {
            return;
        }
        let mut models: Vec<PathBuf> = Vec::new();
        for column in self.models() {
            if !models.contains(&column.folder) {
                models.push(column.folder.clone());
            }
        }
        if let Some(missing) = self.evaluation.missing(models.len()) {
            self.evaluation.message = Some(missing.to_owned());
            return;
        }
        let Some(source) = self.evaluation.test.source.clone() else { return };
        let test = &self.evaluation.test;
        let unk = match (self.settings.forbid_unk, self.evaluation.also_without_unk) {
            (true, _) => vec![Unk::Forbidden],
            (false, true) => vec![Unk::Allowed, Unk::Forbidden],
            (false, false) => vec![Unk::Allowed],
        };
        let order = Evaluate {
            models,
            device: self.settings.device,
            source,
            references: test.references.clone(),
            gold: test.gold.clone(),
            is_pretokenized: test.is_pretokenized,
            tokenization: test.tokenization,
            search: decoding::SearchOptions { candidates: 0, trace: false, ..self.search_options() },
            unk,
        };
        self.evaluation.message = None;
        self.evaluation.task = Some(self.order(Page::Evaluation, Order::Evaluate(order)));
    }

    /// A run is done.
    pub(super) fn evaluated(&mut self, number: u64, found: Evaluated) {
        if self.evaluation.task == Some(number) {
            self.evaluation.task = None;
            self.evaluation.results = Some(Arc::new(found));
            self.evaluation.list_anew();
        }
    }

    /// Nothing came of a run: it failed, for the reason given, or was cancelled. What was found before stays.
    pub(super) fn evaluation_ended(&mut self, number: u64, message: Option<String>) {
        if self.evaluation.task == Some(number) {
            self.evaluation.task = None;
            self.evaluation.message = message;
        }
    }
}

/// The last part of a path, for labels.
pub fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
