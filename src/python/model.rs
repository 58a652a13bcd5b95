//! A model, or several as one, that translates and scores lists of sentences.

use crate::failure::Answer;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::{Bound, FromPyObject, PyAny, Python, pyclass, pymethods};

use crate::forked::Users;
use crate::translation::{NativeTranslation, TranslatedSentence};
use crate::waiting;
use crate::{failure::warn, waiting::Counted};
use engine::decoding::{Decoded, Ensemble, Hypothesis, LengthRule, Ranking, SearchOptions};
use engine::error::{Error, Result};
use engine::models::{Kernels, Model, Stepper};
use engine::text::{line, sentence::Sentence, tokenizer::Encode};
use engine::{
    analysis::row_convention::RowConvention, decoding, decoding::SystemSpec, evaluation::rows::RowReader,
    nn::device::DeviceChoice, ticket::CancellationToken,
};
use host::runtime::Runtime;
use host::words;

/// What runs a model, made when it is first wanted.
type Kept = Mutex<Option<Box<dyn Stepper>>>;

/// A system in memory. One thread at a time works with it.
#[pyclass(frozen, module = "interlinear._native")]
pub struct NativeModel {
    system: Arc<Ensemble>,
    runtime: Runtime,
    stepper: Kept,
    /// The same with its alignment head.
    head: Kept,
    users: Users,
}

/// How sentences are read and translated.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SearchAsked {
    beam: usize,
    max_length: Option<usize>,
    length_normalization: f32,
    coverage: f32,
    forbid_unk: bool,
    allow_unk: bool,
    batch: usize,
    pretokenized: bool,
    replace_unk: bool,
    /// Hypotheses behind the best keep their alpha.
    beam_alpha: bool,
    /// A sentence that the model cannot read has an empty translation, instead of ending the work.
    keeps_going: bool,
    /// Sentences that came before these.
    before: usize,
}

impl SearchAsked {
    fn options(&self) -> SearchOptions {
        let Self { beam, max_length, coverage, forbid_unk, allow_unk, .. } = *self;
        let ranking = Ranking { length: LengthRule::Power(self.length_normalization), coverage };
        let most_numbers = if self.beam_alpha { usize::MAX } else { 0 };
        let options = SearchOptions { most_numbers, ..SearchOptions::default() };
        SearchOptions { beam, max_length, ranking, forbid_unk, allow_unk, ..options }
    }
}

/// How pairs are read and scored.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ScoreAsked {
    batch: usize,
    pretokenized: bool,
    keeps_going: bool,
    before: usize,
    reading: Option<String>,
}

/// Sentences as a model reads them, or why it does not.
type Read = Vec<std::result::Result<Sentence, String>>;

/// Reads texts; unless the work goes on without them, one that cannot be read is an error. `what` they are, for sentences, and how many
/// came before.
fn read(
    tokenizer: &dyn Encode, (what, before): (&str, usize), texts: &[String], pretokenized: bool, keeps_going: bool,
) -> Result<Read> {
    let read = |(at, text): (usize, &String)| {
        let read = line::read(tokenizer, text, pretokenized);
        let read = read.map_err(|why| format!("{what} {}: {why}", before + at + 1));
        if keeps_going { Ok(read) } else { read.map(Ok).map_err(Error::Input) }
    };
    texts.iter().enumerate().map(read).collect()
}

impl NativeModel {
    /// Works with what runs the model, with its alignment head where that is asked for.
    fn run<T>(&self, is_head: bool, work: impl FnOnce(&mut dyn Stepper) -> Result<T>) -> Result<T> {
        let (system, runtime) = (&*self.system, &self.runtime);
        let mut kept = if is_head { &self.head } else { &self.stepper }.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_none() {
            let make = if is_head { Ensemble::stepper_with_head } else { Ensemble::stepper };
            *kept = Some(make(system, runtime.engine, runtime.threads)?);
        }
        let stepper = kept.as_mut().ok_or_else(|| Error::Internal("a stepper is missing".to_owned()))?;
        work(stepper.as_mut())
    }

    fn translated(
        &self, texts: &[String], asked: &SearchAsked, ticket: &CancellationToken, counted: &Counted,
    ) -> Result<Vec<TranslatedSentence>> {
        let (system, options): (&Ensemble, _) = (&self.system, asked.options());
        if asked.coverage > 0.0 {
            words::require_alignment(system, false, "coverage")?;
        }
        if asked.replace_unk {
            words::require_alignment(system, false, "replace_unk")?;
        }
        let read = read(system, ("sentence", asked.before), texts, asked.pretokenized, asked.keeps_going)?;
        let is_readable = |at: &usize| read[*at].as_ref().is_ok_and(|sentence| sentence.words() > 0);
        let chosen: Vec<usize> = (0..read.len()).filter(is_readable).collect();
        let sources = chosen.iter().filter_map(|&at| Some(read[at].as_ref().ok()?.ids.as_slice()));
        let sources: Vec<&[u32]> = sources.collect();
        let found = self.run(false, |stepper| search(system, stepper, &sources, (asked, &options), ticket, counted))?;
        let mut all = vec![Vec::new(); read.len()];
        for (at, hypotheses) in chosen.into_iter().zip(found) {
            all[at] = hypotheses;
        }
        let reading = RowReader::own(system.into()).reading;
        let found = read.into_iter().zip(all).map(|(sentence, hypotheses)| {
            let (source, error) = sentence.map_or_else(|why| (Sentence::default(), Some(why)), |read| (read, None));
            let said = self.sentence((source, hypotheses), asked.pretokenized, reading, error);
            let (replaces, options) = (asked.replace_unk, options.clone());
            TranslatedSentence { replaces, options, ..said }
        });
        Ok(found.collect())
    }

    fn scored(
        &self, (sources, targets): (&[String], &[String]), asked: &ScoreAsked, ticket: &CancellationToken,
        counted: &Counted,
    ) -> Result<Vec<TranslatedSentence>> {
        let system = &*self.system;
        let unknown = |name: &str| Error::Input(format!("there is no reading {name}; choose predicted, input or head"));
        let wanted = asked.reading.as_deref().map(|name| RowConvention::from_name(name).ok_or_else(|| unknown(name)));
        let wanted = wanted.transpose()?;
        let mut source = read(system, ("source", asked.before), sources, asked.pretokenized, asked.keeps_going)?;
        for (at, read) in source.iter_mut().enumerate() {
            if read.as_ref().is_ok_and(Sentence::is_empty) {
                let why = format!("source {}: {}", asked.before + at + 1, line::NO_WORDS);
                *read = if asked.keeps_going { Err(why) } else { return Err(Error::Input(why)) };
            }
        }
        let target = read(system.target(), ("target", asked.before), targets, asked.pretokenized, asked.keeps_going)?;
        let read: Vec<(Sentence, Sentence, Option<String>)> = source
            .into_iter()
            .zip(target)
            .map(|pair| match pair {
                (Ok(source), Ok(target)) => (source, target, None),
                (Err(why), _) | (_, Err(why)) => (Sentence::default(), Sentence::default(), Some(why)),
            })
            .collect();
        let is_read = |pair: &&(Sentence, Sentence, Option<String>)| pair.2.is_none();
        let pairs: Vec<(&[u32], &[u32])> =
            read.iter().filter(is_read).map(|(source, target, _)| (&source.ids[..], &target.ids[..])).collect();
        let (rows, all) = self.run(wanted == Some(RowConvention::Head), |stepper| {
            let rows = RowReader::chosen(system.into(), stepper, wanted)?;
            let mut on_progress = |sentences, words| counted.add(sentences, words);
            Ok((rows, rows.force_all(stepper, &pairs, asked.batch, ticket, &mut on_progress)?))
        })?;
        let mut all = all.into_iter();
        let found = read.into_iter().map(|(source, target, error)| {
            let hypothesis = if error.is_none() { all.next() } else { None };
            let said = (source, hypothesis.into_iter().collect());
            let target = Some(target);
            TranslatedSentence { target, ..self.sentence(said, asked.pretokenized, rows.reading, error) }
        });
        Ok(found.collect())
    }

    fn sentence(
        &self, (source, hypotheses): (Sentence, Vec<Hypothesis>), pretokenized: bool, reading: RowConvention,
        error: Option<String>,
    ) -> TranslatedSentence {
        let (system, target, replaces) = (Arc::clone(&self.system), None, false);
        let kernels = (self.runtime.engine, self.runtime.threads);
        let options = SearchOptions { beam: 0, ..SearchOptions::default() };
        TranslatedSentence {
            system,
            kernels,
            source,
            target,
            hypotheses,
            pretokenized,
            replaces,
            options,
            reading,
            error,
        }
    }
}

/// Searches; the rows of what keeps its alpha are brought to their tokens.
fn search(
    system: &Ensemble, stepper: &mut dyn Stepper, sources: &[&[u32]], (asked, options): (&SearchAsked, &SearchOptions),
    ticket: &CancellationToken, counted: &Counted,
) -> Result<Vec<Vec<Hypothesis>>> {
    let mut all = vec![Vec::new(); sources.len()];
    let mut keep = |indexes: &[usize], decoded: Vec<Decoded>| {
        let best = |decoded: &Decoded| decoded.hypotheses.first().map_or(0, |best| best.tokens.len());
        counted.add(indexes.len(), decoded.iter().map(best).sum());
        indexes.iter().zip(decoded).for_each(|(&index, decoded)| all[index] = decoded.hypotheses);
        Ok(())
    };
    decoding::decode_all(stepper, system.specials(), sources, options, asked.batch, ticket, &mut keep)?;
    let shown = if asked.beam_alpha { usize::MAX } else { 1 };
    let translations = sources.iter().zip(&mut all).flat_map(|(source, hypotheses)| {
        hypotheses.iter_mut().take(shown).map(|one| (*source, &[][..], one)).collect::<Vec<_>>()
    });
    RowReader::own(system.into()).extend_and_assign(stepper, translations.collect(), asked.batch, ticket)?;
    Ok(all)
}

#[pymethods]
impl NativeModel {
    #[new]
    fn new(py: Python<'_>, folders: Vec<PathBuf>, threads: Option<usize>, device: &str) -> Answer<Self> {
        let chosen: DeviceChoice = device.parse().map_err(|why| Error::Input(format!("device: {why}")))?;
        let runtime = Runtime::new(chosen, threads, Kernels::Fused)?;
        runtime.device.notice.iter().try_for_each(|notice| warn(py, notice))?;
        let spec = SystemSpec { members: folders.into_iter().map(Into::into).collect(), ..SystemSpec::default() };
        let system = waiting::work(py, None, |_, _| Ensemble::load(&spec, &runtime.device))?;
        Ok(Self {
            system: Arc::new(system),
            runtime,
            stepper: Kept::default(),
            head: Kept::default(),
            users: Users::default(),
        })
    }

    /// Its facts, by their names.
    #[getter]
    fn facts(&self) -> Vec<(&'static str, String)> {
        let (system, lead) = (&self.system, &self.system.lead().config);
        let architecture = |model: &Model| model.config.architecture.name();
        vec![
            ("name", system.name()),
            ("architecture", system.members().iter().map(architecture).collect::<Vec<_>>().join(" + ")),
            ("folder", system.members()[0].folder.display().to_string()),
            ("source_language", lead.source_language.clone()),
            ("target_language", lead.target_language.clone()),
        ]
    }

    /// Whether it has an alignment.
    #[getter]
    fn aligns(&self) -> bool {
        self.system.aligns()
    }

    /// Numbers in its weights.
    #[getter]
    fn parameters(&self) -> usize {
        self.system.members().iter().map(Model::parameters).sum()
    }

    fn translate(
        &self, py: Python<'_>, texts: Vec<String>, asked: SearchAsked, on_progress: Option<Bound<'_, PyAny>>,
    ) -> Answer<Vec<NativeTranslation>> {
        let _user = self.users.enter(py, "model")?;
        let found = waiting::work(py, on_progress.as_ref(), |ticket, counted| {
            self.translated(&texts, &asked, ticket, counted)
        })?;
        Ok(found.into_iter().map(NativeTranslation::best).collect())
    }

    fn score(
        &self, py: Python<'_>, sources: Vec<String>, targets: Vec<String>, asked: ScoreAsked,
        on_progress: Option<Bound<'_, PyAny>>,
    ) -> Answer<Vec<NativeTranslation>> {
        let _user = self.users.enter(py, "model")?;
        let found = waiting::work(py, on_progress.as_ref(), |ticket, counted| {
            self.scored((&sources, &targets), &asked, ticket, counted)
        })?;
        Ok(found.into_iter().map(NativeTranslation::best).collect())
    }
}
