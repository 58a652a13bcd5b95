//! Links that need no model, and how good links are.

use crate::failure::Answer;
use std::{path::PathBuf, sync::Mutex};

use pyo3::prelude::{Bound, PyAny, Python, pyclass, pyfunction, pymethods};

use crate::forked;
use crate::forked::Users;
use crate::waiting;
use engine::aligner::corpus::{CorpusBuilder, RARE};
use engine::aligner::learn::{LearningProgress, learn, pairs_of_all_passes};
use engine::aligner::words::{Cutter, LineAligner};
use engine::aligner::{learned::Learned, settings::AlignerSettings};
use engine::error::Error;
use engine::text::links::{Link, Links};
use engine::{analysis::aer::AerCounts, evaluation::alignment::AlignerDirection, text::links::read::links_of};
use host::runtime::physical_cores;

/// Links as Python has them.
type Pairs = Vec<(usize, usize)>;

fn links(pairs: &[(usize, usize)]) -> Vec<Link> {
    pairs.iter().map(|&(source, target)| Link { source, target }).collect()
}

fn pairs(links: &[Link]) -> Pairs {
    links.iter().map(|link| (link.source, link.target)).collect()
}

/// How two directions can be put together.
#[pyfunction]
pub fn symmetrizations() -> Vec<&'static str> {
    AlignerDirection::of_aligner().map(|way| way.name()).collect()
}

/// The statistical aligner, which learned from pairs of lines or before.
#[pyclass(frozen, module = "interlinear._native")]
pub struct Learner(Mutex<LineAligner>, Users);

#[pymethods]
impl Learner {
    /// Learns; `on_progress` is called with the pairs that are done of all passes.
    #[new]
    fn new(
        py: Python<'_>, sources: Vec<String>, targets: Vec<String>, languages: (String, String), pretokenized: bool,
        threads: Option<usize>, on_progress: Option<Bound<'_, PyAny>>,
    ) -> Answer<Self> {
        let threads = threads.unwrap_or_else(physical_cores);
        let aligner = waiting::work(py, on_progress.as_ref(), |ticket, counted| {
            let (mut source, mut target) =
                (Cutter::new(&languages.0, pretokenized), Cutter::new(&languages.1, pretokenized));
            let mut reading = CorpusBuilder::default();
            for (x, y) in sources.iter().zip(&targets) {
                reading.push(&source.cut(x).words, &target.cut(y).words);
            }
            let mut reported = 0;
            let mut learned =
                learn(reading.finish(RARE), &AlignerSettings::default(), threads, ticket, &mut |progress| {
                    if let LearningProgress::Pairs(done) = progress {
                        counted.add(done.saturating_sub(reported), 0);
                        reported = reported.max(done);
                    }
                })?;
            if !pretokenized {
                learned.languages = languages;
            }
            Ok(LineAligner::new(learned, source, target))
        })?;
        Ok(Self(Mutex::new(aligner), Users::default()))
    }

    /// What `save` wrote, or `align --statistical --save`.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, pretokenized: bool) -> Answer<Self> {
        Ok(forked::detached(py, || {
            let learned = Learned::open(&path)?;
            let (source, target) = learned.languages.clone();
            let cutter = |language: &str| {
                Cutter::new(if language.is_empty() { "und" } else { language }, pretokenized || language.is_empty())
            };
            Ok::<_, Error>(Self(
                Mutex::new(LineAligner::new(learned, cutter(&source), cutter(&target))),
                Users::default(),
            ))
        })??)
    }

    /// What comes with the program for two languages.
    #[staticmethod]
    fn bundled(py: Python<'_>, source: &str, target: &str, pretokenized: bool) -> Answer<Self> {
        let found = forked::detached(py, || LineAligner::bundled(source, target, pretokenized))??;
        let none =
            || Error::Input(format!("no aligner comes along for {source} and {target}; give text to learn from"));
        Ok(Self(Mutex::new(found.ok_or_else(none)?), Users::default()))
    }

    /// Keeps what was learned, at most so many pairs of words.
    fn save(&self, py: Python<'_>, path: PathBuf, most: usize) -> Answer<()> {
        let _user = self.1.enter(py, "aligner")?;
        Ok(forked::detached(py, || self.locked().learned.pruned(most).save(&path))??)
    }

    /// The links of pairs of lines, between what stands between their spaces.
    fn align(
        &self, py: Python<'_>, sources: Vec<String>, targets: Vec<String>, symmetrize: &str,
        on_progress: Option<Bound<'_, PyAny>>,
    ) -> Answer<Vec<Pairs>> {
        let way = AlignerDirection::of_aligner().find(|way| way.name() == symmetrize);
        let names = symmetrizations().join(", ");
        let way = way.ok_or_else(|| Error::Input(format!("there is no {symmetrize}; choose {names}")))?;
        let _user = self.1.enter(py, "aligner")?;
        waiting::work(py, on_progress.as_ref(), |ticket, counted| {
            let mut aligner = self.locked();
            let mut all: Vec<Pairs> = Vec::with_capacity(sources.len());
            for (source, target) in sources.iter().zip(&targets) {
                ticket.check()?;
                let found = aligner.lines(source, target);
                all.push(pairs(&way.of(found)));
                counted.add(1, 0);
            }
            Ok(all)
        })
    }

    /// The languages that it learned, where they are known.
    #[getter]
    fn languages(&self, py: Python<'_>) -> Answer<(String, String)> {
        let _user = self.1.enter(py, "aligner")?;
        Ok(forked::detached(py, || self.locked().learned.languages.clone())?)
    }

    /// Pairs of all passes over a text of so many.
    #[staticmethod]
    fn passes(count: usize) -> usize {
        pairs_of_all_passes(count, &AlignerSettings::default())
    }
}

impl Learner {
    fn locked(&self) -> std::sync::MutexGuard<'_, LineAligner> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The sure and the possible links of a line in Pharaoh's notation.
#[pyfunction]
pub fn pharaoh(line: &str) -> Answer<(Pairs, Pairs)> {
    let wrong = || Error::Input(format!("`{line}` is no line of links; write `0-0 1?2`, words from 0, source first"));
    let found = links_of(line).ok_or_else(wrong)?;
    Ok((pairs(found.sure()), pairs(found.possible())))
}

/// The rates of all sentences together, AER first, and what was counted: found, sure, found and sure, found and possible.
#[pyfunction]
pub fn aer(found: Vec<Pairs>, gold: Vec<(Pairs, Pairs)>) -> ([Option<f64>; 3], [u64; 4]) {
    let mut counts = AerCounts::default();
    for (found, (sure, possible)) in found.iter().zip(&gold) {
        counts += AerCounts::of(&links(found), &Links::new(links(sure), links(possible)));
    }
    let rates = counts.rates();
    let counted = [counts.found, counts.sure, counts.found_sure, counts.found_possible];
    ([rates.aer, rates.precision, rates.recall], counted)
}
