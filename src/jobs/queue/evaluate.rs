//! Floor 8: models and ensembles measured on a test set, one after the other, and compared, behind the window.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::aligner::bundled::{AlignerChoice, AlignerFiles};
use crate::aligner::words::LineAligner;
use crate::analysis::bleu::Tokenization;
use crate::analysis::bootstrap::PairedTests;
use crate::corpus::overview::evaluated::{Evaluated, MeasuredSystem};
use crate::corpus::overview::gold::AlignmentOptions;
use crate::corpus::overview::test_set::{EvaluationListener, EvaluationOptions, EvaluationStage, TestSet, Unk};
use crate::corpus::overview::{evaluate, gold};
use crate::decoding;
use crate::decoding::SystemSpec;
use crate::error::{Error, Result};
use crate::evaluation::alignment::Aligner;
use crate::jobs::models::loaded::LoadedModel;
use crate::jobs::queue::work::{JobProgress, Work};
use crate::jobs::queue::yielding::Yielding;
use crate::models::{Kernels, Stepper};
use crate::nn::device::DeviceChoice;
use crate::text::links::read::LinkLayout;
use crate::text::reader::require_file;

/// Thresholds on alpha that are tried beside the one word of greatest alpha.
const THRESHOLDS: &[f32] = &[0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/// What to measure, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluate {
    /// Models and ensembles, at least one.
    pub systems: Vec<SystemSpec>,
    pub device: DeviceChoice,
    pub test: TestFiles,
    pub search: decoding::SearchOptions,
    /// Which translations to make, at least one kind.
    pub unk: Vec<Unk>,
    /// The aligner file that is measured beside the models, in the place of what comes with the program.
    pub aligner: AlignerFiles,
}

/// The files of a test set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestFiles {
    /// Source sentences, one a line.
    pub source: Option<PathBuf>,
    /// Their translations, line by line.
    pub references: Vec<PathBuf>,
    /// Alignments by hand of the source and the first reference, line by line.
    pub gold: Option<PathBuf>,
    /// The words are split by spaces already.
    pub is_pretokenized: bool,
    /// How BLEU cuts text into words; as the language of the translations asks for where nobody chose.
    pub tokenization: Option<Tokenization>,
    /// Rows of alpha are also read by the word that the decoder had just read.
    pub by_input: bool,
}

impl Evaluate {
    pub(crate) fn run(self, work: &Work<'_>) -> Result<Evaluated> {
        work.say(tr!("Reading the test set").to_owned());
        let (test_set, gold) = self.test.read()?;
        let shelved = self.systems.iter().map(|system| load(work, system, self.device));
        let shelved = shelved.collect::<Result<Vec<_>>>()?;
        // The first model says which way the test set is translated.
        let first = shelved.first().map(|first| languages(first));
        let turned =
            |other: &Arc<LoadedModel>| first.is_some_and(|(from, to)| from != to && languages(other) == (to, from));
        let (backward, forward): (Vec<_>, Vec<_>) = shelved.iter().partition(|other| turned(other));
        let reverse = backward.iter().copied().find(|other| other.facts.has_alignment && gold.is_some());
        let unused = backward.iter().filter(|other| reverse.is_none_or(|reverse| !Arc::ptr_eq(reverse, other)));
        let unused: Vec<&str> = unused.map(|other| other.facts.name.as_str()).collect();
        let left_out = (!unused.is_empty()).then(|| {
            format!("Left out, for they translate the other way than the first model does: {}", unused.join(", "))
        });
        let options = EvaluationOptions {
            search: self.search.clone(),
            tokenization: (self.test.tokenization)
                .unwrap_or_else(|| test_set.usual_tokenization(first.map_or("", |(_, to)| to))),
            unk: self.unk.clone(),
            ..EvaluationOptions::default()
        };
        let (has_gold, reverse, models) = (gold.is_some(), reverse.map(AsRef::as_ref), forward.len());
        let by_input = self.test.by_input;
        let run = Run { options: &options, work, test_set: &test_set, has_gold, by_input, reverse, models };
        let models = forward.iter().enumerate().map(|(at, shelved)| run.measure(shelved, at));
        let models = models.collect::<Result<Vec<_>>>()?;
        let mut evaluated = Evaluated { gold, left_out, ..Evaluated::of(test_set, &options, models) };
        compare_all(work, &mut evaluated)?;
        if let (true, Some((source, target))) = (has_gold, first) {
            let languages = (source.to_owned(), target.to_owned());
            let aligner = AlignerChoice::of_system(&self.systems[0], languages, &self.aligner, None);
            let notes = evaluated.left_out.take().into_iter().chain(aligner.trouble());
            evaluated.left_out = notes.reduce(|models, file| format!("{models}. {file}"));
            let mut aligner = LineAligner::chosen(&aligner, self.test.is_pretokenized)?;
            evaluated.baselines = gold::baselines(&evaluated.test_set, aligner.as_mut());
        }
        Ok(evaluated)
    }
}

impl TestFiles {
    /// The test set with links by hand; the file of these, and how they were read.
    fn read(&self) -> Result<(TestSet, Option<(PathBuf, String)>)> {
        // A pipe would hold up all orders behind this one.
        for path in self.references.iter().chain(&self.source).chain(&self.gold) {
            require_file(path)?;
        }
        let source = self.source.as_deref().unwrap_or(Path::new(""));
        let mut test_set = TestSet::read(source, &self.references, self.is_pretokenized)?;
        let read = |path: &PathBuf| Ok::<_, Error>((path.clone(), test_set.read_golds(path, &LinkLayout::default())?));
        let gold = self.gold.as_ref().map(read).transpose()?;
        Ok((test_set, gold))
    }
}

/// A model, or an ensemble made of models that other systems may be, too.
pub(crate) fn load(work: &Work<'_>, system: &SystemSpec, device: DeviceChoice) -> Result<Arc<LoadedModel>> {
    let mut members = Vec::with_capacity(system.members.len());
    for model in &system.members {
        work.say(tr!("Loading {}", model.name()));
        members.push(work.model(model, device)?);
    }
    match members.as_slice() {
        [model] => Ok(Arc::clone(model)),
        _ => LoadedModel::ensemble(&members, system.mixing).map(Arc::new),
    }
}

/// A run over the systems of one direction.
struct Run<'a> {
    options: &'a EvaluationOptions,
    work: &'a Work<'a>,
    test_set: &'a TestSet,
    has_gold: bool,
    by_input: bool,
    reverse: Option<&'a LoadedModel>,
    models: usize,
}

impl Run<'_> {
    fn measure(&self, shelved: &LoadedModel, at: usize) -> Result<MeasuredSystem> {
        let (work, test_set, options) = (self.work, self.test_set, self.options);
        let aligned = if self.has_gold { 1 + usize::from(self.reverse.is_some()) } else { 0 };
        let total = (1 + options.unk.len() + aligned) * test_set.len();
        let (start, mut words, mut done) = (work.seconds(), 0, 0);
        let speed = |words: usize| words as f32 / (work.seconds() - start).max(1e-3);
        let mut hear = |stage, sentences, new_words| {
            words += new_words;
            done += sentences;
            work.tell(JobProgress {
                done: at * total + done,
                total: self.models * total,
                what: format!("{} with {}", what(stage), shelved.facts.name),
                words_per_second: speed(words),
            });
        };
        let measured = stepping(work, shelved, |stepper| {
            evaluate::run(shelved.system(), stepper, test_set, options, &work.ticket, &mut hear)
        })?;
        let alignment = match self.has_gold {
            true if shelved.facts.has_alignment || shelved.system().has_head() => {
                Some(match self.align(shelved, &mut hear) {
                    Err(Error::Stale) => return Err(Error::Stale),
                    other => other.map_err(|error| error.to_string()),
                })
            }
            true => Some(Err(format!("{} has no alignment", shelved.facts.name))),
            false => None,
        };
        let words_per_second = Some(f64::from(speed(words)));
        let (device, threads) = (shelved.facts.device.name.clone(), work.threads());
        Ok(MeasuredSystem { words_per_second, alignment, device, threads, ..measured })
    }

    /// A model's alignments of the references, measured against those by hand; also put together with those of the
    /// model of the other direction.
    fn align(&self, shelved: &LoadedModel, hear: &mut EvaluationListener<'_>) -> Result<gold::AlignmentErrorReport> {
        let thresholds = THRESHOLDS.to_vec();
        let options = AlignmentOptions { thresholds, by_input: self.by_input, ..AlignmentOptions::default() };
        let (test_set, ticket) = (self.test_set, &self.work.ticket);
        stepping(self.work, shelved, |stepper| {
            let forward = Aligner { system: shelved.system(), stepper };
            let Some(other) = self.reverse else {
                return gold::measure(forward, None, test_set, &options, ticket, hear);
            };
            stepping(self.work, other, |stepper| {
                let reverse = Aligner { system: other.system(), stepper };
                gold::measure(forward, Some(reverse), test_set, &options, ticket, hear)
            })
        })
    }
}

/// Does something with a stepper of the model that lets the live lane go first.
fn stepping<T>(work: &Work<'_>, shelved: &LoadedModel, job: impl FnOnce(&mut dyn Stepper) -> Result<T>) -> Result<T> {
    shelved.with_stepper(Kernels::Fused, work.threads(), |stepper| job(&mut Yielding::new(stepper, &work.breath)))
}

/// From which language into which.
pub(crate) fn languages(shelved: &LoadedModel) -> (&str, &str) {
    (&shelved.facts.source_language, &shelved.facts.target_language)
}

/// Every two models, by their first translations.
fn compare_all(work: &Work<'_>, evaluated: &mut Evaluated) -> Result<()> {
    let pairs = (1..evaluated.models.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    let pairs: Vec<(usize, usize)> = pairs.collect();
    evaluated.compare(&pairs, PairedTests::of_pairs(pairs.len()), &mut |share| {
        let what = tr!("Comparing models by paired tests").to_owned();
        work.tell(JobProgress { done: (100.0 * share) as usize, total: 100, what, ..JobProgress::default() });
        work.breathe()
    })?;
    let first = evaluated.unk.first().copied();
    evaluated.comparisons.retain(|against| Some(against.unk) == first);
    Ok(())
}

fn what(stage: EvaluationStage) -> &'static str {
    match stage {
        EvaluationStage::Scoring => tr!("Scoring the references"),
        EvaluationStage::Translating(Unk::Allowed) => tr!("Translating"),
        EvaluationStage::Translating(Unk::Forbidden) => tr!("Translating without [UNK]"),
        EvaluationStage::Aligning => tr!("Aligning the references"),
    }
}
