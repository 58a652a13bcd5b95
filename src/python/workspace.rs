//! A workspace, the file of page Corpus: sentences, what systems say of them, the table and the report.

use crate::failure::{Answer, warn};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use numpy::PyReadonlyArray2;
use pyo3::prelude::{Bound, FromPyObject, PyAny, PyRef, Python, pyclass, pymethods};
use pyo3::{IntoPyObject, IntoPyObjectExt as _};

use crate::waiting::Counted;
use crate::{arrays::array, figure::alignment, forked, translation::NativeTranslation, waiting};
use corpus::export::out::{ExportFormat, Out, all_columns};
use corpus::query::{column::TableColumn, expensive::FilterResources, table, table::Sorting};
use corpus::store::{
    corpus::CorpusTable, file::Workspace, output::SystemOutput, read::StoredAbout, rules::KnownWords,
    write::NewSentence,
};
use corpus::{export::out, measures::table::Measuring};
use engine::aligner::bundled::{AlignerChoice, AlignerFiles};
use engine::error::{Error, Result};
use engine::{aligner::words::LineAligner, text::links::Link, ticket::CancellationToken};

/// Outputs that are written at once.
const PIECE: usize = 256;

/// What a system says of a sentence, as Python has it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct OutputAsked<'py> {
    text: String,
    source: Vec<String>,
    target: Vec<String>,
    alpha: Option<PyReadonlyArray2<'py, f32>>,
    links: Option<Vec<(usize, usize)>>,
    log_p: Option<f32>,
}

impl OutputAsked<'_> {
    fn read(self, at: usize) -> Result<SystemOutput> {
        let what = format!("attention of sentence {}", at + 1);
        let size = (self.source.len(), self.target.len());
        let links =
            |pairs: Vec<(usize, usize)>| pairs.into_iter().map(|(source, target)| Link { source, target }).collect();
        Ok(SystemOutput {
            alpha: self.alpha.map(|alpha| alignment(&alpha, size, &what)).transpose()?,
            text: self.text,
            source: self.source,
            target: self.target,
            is_head: false,
            links: self.links.map(links),
            log_p: self.log_p,
            word_log_p: Vec::new(),
            token_count: 0,
        })
    }
}

/// Which sentences, in which order.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct RowsAsked {
    filter: String,
    sort: Option<String>,
    limit: Option<usize>,
    languages: Option<(String, String)>,
}

impl RowsAsked {
    /// What links words of the languages that are named, else of those that the systems have.
    fn aligner(&self, corpus: &CorpusTable, workspace: &Workspace) -> Option<AlignerChoice> {
        aligner(self.languages.clone().or_else(|| corpus.languages()), workspace)
    }
}

/// The corpus's own file, else what comes with the program for two languages.
fn aligner(languages: Option<(String, String)>, workspace: &Workspace) -> Option<AlignerChoice> {
    AlignerChoice::with(languages, &AlignerFiles::default(), workspace.look().aligner)
}

/// A column of a table.
#[derive(IntoPyObject)]
enum Column<'py> {
    Texts(Vec<Option<String>>),
    Numbers(Bound<'py, numpy::PyArray1<f32>>),
}

/// A workspace, until it is closed. SQLite allows it to the process that opened it.
#[pyclass(frozen, module = "interlinear._native")]
pub struct NativeWorkspace {
    open: Mutex<Option<Workspace>>,
    path: PathBuf,
    process: u32,
}

impl NativeWorkspace {
    /// Works with it, unless it is closed or of another process.
    fn with<T>(&self, work: impl FnOnce(&mut Workspace) -> Result<T>) -> Result<T> {
        if self.process != std::process::id() {
            return Err(Error::Device("a forked process cannot use an open workspace; open it again here".to_owned()));
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        work(open.as_mut().ok_or_else(|| Error::Input("the workspace is closed; open it again".to_owned()))?)
    }

    /// Puts in what a system says, sentence by sentence, in the place of what it said before.
    fn add(
        &self, py: Python<'_>, (name, about): (&str, &StoredAbout), outputs: Vec<SystemOutput>,
        on_progress: Option<&Bound<'_, PyAny>>,
    ) -> Answer<()> {
        let languages = about.languages.split_once('>');
        let languages = languages.map(|(source, target)| (source.to_owned(), target.to_owned()));
        let aligner = forked::detached(py, || self.with(|workspace| Ok(aligner(languages, workspace))))??;
        if let Some(trouble) = aligner.as_ref().and_then(AlignerChoice::trouble) {
            warn(py, &trouble)?;
        }
        let mut outputs: Vec<(usize, SystemOutput)> = outputs.into_iter().enumerate().collect();
        let put = |ticket: &CancellationToken, counted: &Counted, workspace: &mut Workspace| {
            let count = workspace.len()?;
            if outputs.len() != count {
                let message = format!("{name} has {} outputs, and there are {count} sentences", outputs.len());
                return Err(Error::Input(message));
            }
            let is_given = workspace.rules().are_given();
            let aligner = aligner.map(|choice| LineAligner::chosen(&choice, is_given));
            let mut measuring = Measuring { aligner: aligner.transpose()?.flatten(), ..Measuring::default() };
            let (_, target) = about.languages.split_once('>').unzip();
            let known = KnownWords { languages: [None, target.map(str::to_owned)], ..KnownWords::default() };
            let texts = outputs.iter().map(|(_, output)| output.text.as_str());
            workspace.settle_words(&known, std::iter::empty(), texts)?;
            let (system, rules) = (workspace.add_system(name, about)?, workspace.rules());
            let added = outputs.chunks_mut(PIECE).try_for_each(|piece| {
                ticket.check()?;
                for (at, output) in piece.iter_mut().filter(|(_, output)| output.links.is_some()) {
                    let source = workspace.sentence(*at)?.map(|sentence| sentence.source).unwrap_or_default();
                    *output = std::mem::take(output).with_own_links(&source, rules);
                }
                workspace.add_outputs(system.id, piece, &mut measuring)?;
                counted.add(piece.len(), 0);
                Ok(())
            });
            workspace.fold()?;
            added
        };
        waiting::work(py, on_progress, |ticket, counted| self.with(|workspace| put(ticket, counted, workspace)))
    }

    /// The table, and the sentences that are chosen of it, in order.
    fn chosen(&self, py: Python<'_>, rows: &RowsAsked) -> Answer<(CorpusTable, Vec<u32>)> {
        let read = |workspace: &mut Workspace| {
            let corpus = CorpusTable::read(workspace)?;
            corpus.read_texts();
            let mut resources = FilterResources::default();
            resources.set(None, rows.aligner(&corpus, workspace));
            let trouble = resources.aligner.as_ref().and_then(AlignerChoice::trouble);
            let filter = resources.filter(&rows.filter, &corpus, workspace, &mut || true)?;
            let sorting = rows.sort.as_deref().map(|name| Sorting::named(name, &corpus)).transpose()?;
            let mut chosen = table::rows(&corpus, &filter, sorting.as_ref());
            chosen.truncate(rows.limit.unwrap_or(usize::MAX));
            Ok((corpus, chosen, trouble))
        };
        let (corpus, chosen, trouble) = forked::detached(py, || self.with(read))??;
        for message in corpus.damages.iter().chain(&corpus.take_damages()).chain(&trouble) {
            warn(py, message)?;
        }
        Ok((corpus, chosen))
    }
}

#[pymethods]
impl NativeWorkspace {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> Answer<Self> {
        let opened = forked::detached(py, || Workspace::open(&path))??;
        let path = opened.path().to_owned();
        Ok(Self { open: Mutex::new(Some(opened)), path, process: std::process::id() })
    }

    /// Closes the file; nothing but its path is left.
    fn close(&self) {
        if self.process == std::process::id() {
            self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn __len__(&self) -> Answer<usize> {
        Ok(self.with(|workspace| workspace.len())?)
    }

    /// The names of its systems.
    #[getter]
    fn systems(&self) -> Answer<Vec<String>> {
        Ok(self.with(|workspace| workspace.systems())?.into_iter().map(|system| system.name).collect())
    }

    /// Source sentences, from one on.
    fn sources(&self) -> Answer<Vec<String>> {
        let all = self.with(|workspace| workspace.sentences(0..workspace.len()?))?;
        Ok(all.into_iter().map(|sentence| sentence.source).collect())
    }

    /// Puts sentences behind those that are there; each with its references, of which the first counts most.
    fn add_sentences(
        &self, py: Python<'_>, sources: Vec<String>, references: Vec<Vec<String>>, origin: &str,
        words: (Option<(String, String)>, bool),
    ) -> Answer<()> {
        let (languages, pretokenized) = words;
        let put = |workspace: &mut Workspace| {
            let languages = languages.map_or([None, None], |(source, target)| [Some(source), Some(target)]);
            let known = KnownWords { pretokenized, languages, rules: None };
            let texts = references.iter().flatten().map(String::as_str);
            workspace.settle_words(&known, sources.iter().map(String::as_str), texts)?;
            let origin = workspace.add_origin(origin, "From Python.")?;
            let new =
                sources.into_iter().zip(references).enumerate().map(|(at, (source, mut references))| NewSentence {
                    source,
                    reference: (!references.is_empty()).then(|| references.remove(0)),
                    further: references,
                    line: at + 1,
                    ..NewSentence::default()
                });
            workspace.add_sentences(origin, &new.collect::<Vec<_>>())?;
            workspace.fold()
        };
        Ok(forked::detached(py, || self.with(put))??)
    }

    /// Puts in what a system says of every sentence.
    fn add_outputs(
        &self, py: Python<'_>, name: &str, outputs: Vec<OutputAsked<'_>>, languages: Option<(String, String)>,
        on_progress: Option<Bound<'_, PyAny>>,
    ) -> Answer<()> {
        let languages = languages.map_or_else(String::new, |(source, target)| format!("{source}>{target}"));
        let about = StoredAbout { languages, file: "Python".to_owned(), ..StoredAbout::default() };
        let read = outputs.into_iter().enumerate().map(|(at, output)| output.read(at));
        self.add(py, (name, &about), read.collect::<Result<_>>()?, on_progress.as_ref())
    }

    /// Puts in translations of every sentence.
    fn add_translations(
        &self, py: Python<'_>, name: &str, translations: Vec<PyRef<'_, NativeTranslation>>,
        on_progress: Option<Bound<'_, PyAny>>,
    ) -> Answer<()> {
        let about = translations.first().map(|first| first.about()).unwrap_or_default();
        let outputs = translations.iter().map(|one| one.said().unwrap_or_default()).collect();
        self.add(py, (name, &about), outputs, on_progress.as_ref())
    }

    /// Removes a system and all that it said.
    fn remove_system(&self, name: &str) -> Answer<()> {
        let none = || Error::Input(format!("there is no system {name}"));
        Ok(self.with(|workspace| {
            let known = workspace.systems()?.into_iter().find(|system| system.name == name);
            workspace.remove_system(known.ok_or_else(none)?.id)
        })?)
    }

    /// The columns of the table by their names: texts first, then numbers (NaN where there is none).
    fn table<'py>(
        &self, py: Python<'py>, rows: RowsAsked, columns: Vec<String>,
    ) -> Answer<Vec<(String, Bound<'py, PyAny>)>> {
        let (corpus, chosen) = self.chosen(py, &rows)?;
        let numbers = if columns.is_empty() {
            all_columns(&corpus)
        } else {
            columns.iter().map(|name| TableColumn::named(name, &corpus)).collect::<Result<_>>()?
        };
        let names = ["source".to_owned()].into_iter().chain(corpus.reference_names());
        let names = names.chain(corpus.systems.iter().map(|column| column.system.name.clone()));
        let place = chosen.iter().map(|at| *at as f32 + 1.0).collect();
        let mut all = vec![("number".to_owned(), Column::Numbers(array(py, place)))];
        all.extend(names.zip(corpus.texts()).map(|(name, texts)| {
            let text = |at: &u32| texts.get(*at as usize).map(str::to_owned);
            (name, Column::Texts(chosen.iter().map(text).collect()))
        }));
        all.extend(numbers.into_iter().map(|column| {
            let values = chosen.iter().map(|at| column.value(&corpus, *at as usize)).collect();
            (column.name(&corpus), Column::Numbers(array(py, values)))
        }));
        all.into_iter().map(|(name, column)| Ok((name, column.into_bound_py_any(py)?))).collect()
    }

    /// Writes the report, one page of HTML.
    fn report(&self, py: Python<'_>, path: PathBuf, rows: RowsAsked, pictures: usize) -> Answer<()> {
        let (corpus, chosen) = self.chosen(py, &rows)?;
        let aligner = self.with(|workspace| Ok(rows.aligner(&corpus, workspace)))?;
        let (kind, columns, link_tokens, title) = (ExportFormat::Report, Vec::new(), false, String::new());
        let (rows, chosen) = (Arc::new(chosen), rows.filter);
        let out = Out { link_tokens, path, kind, rows, columns, chosen, pictures, aligner, title };
        Ok(forked::detached(py, || self.with(|workspace| out::write(&out, &corpus, workspace)))??)
    }
}
