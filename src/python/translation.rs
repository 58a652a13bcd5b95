//! A translation that was found or given, with its numbers as arrays of numpy.

use crate::failure::Answer;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::{Bound, Py, Python, pyclass, pymethods};
use pyo3::{exceptions::PyValueError, sync::PyOnceLock};

use crate::arrays::{Matrix, Words, array, matrix};
use crate::figure::{DrawnHypothesis, NativeFigure, StyleAsked};
use crate::waiting;
use cli::figure::overlays::Overlays;
use cli::figure::scene::{Scenes, Showing};
use corpus::run;
use corpus::run::SystemRunOptions;
use corpus::store::{output::SystemOutput, read::StoredAbout};
use engine::analysis::{alignment::Alignment, hard, row_convention::RowConvention, unknown::Replacing};
use engine::decoding::{Ensemble, Hypothesis, SearchOptions, SystemSpec};
use engine::error::Error;
use engine::evaluation::rows::RowReader;
use engine::models::Kernels;
use engine::text::sentence::Sentence;
use explorer::app::files::picture::PictureRequest;
use figure::provenance::Provenance;
use figure::sheet::{FigureNeeds, kind};
use host::words::{LinkedSides, text, tokens};
use training::settings::LinkWords;

/// What came of a sentence.
pub struct TranslatedSentence {
    pub system: Arc<Ensemble>,
    /// What runs the system, and the threads for it.
    pub kernels: (Kernels, usize),
    pub source: Sentence,
    /// The translation that was given.
    pub target: Option<Sentence>,
    /// Best first; none where there was nothing to translate.
    pub hypotheses: Vec<Hypothesis>,
    pub pretokenized: bool,
    /// Unknown words give way to source words.
    pub replaces: bool,
    /// Its beam is 0 where the translation was given.
    pub options: SearchOptions,
    pub reading: RowConvention,
    /// Why the model does not read it.
    pub error: Option<String>,
}

/// A matrix of numpy, filled when it is first looked at.
type Filled = PyOnceLock<Option<Py<PyArray2<f32>>>>;

/// Alpha, the words of both sides, and which of them links count.
type Linked<'a> = (&'a [Vec<f32>], Option<LinkedSides>, LinkWords);

/// Those of a hypothesis.
#[derive(Default)]
struct Matrices {
    alpha: Filled,
    energies: Filled,
}

/// A hypothesis of the beam; that of a sentence is its best.
#[pyclass(frozen, module = "interlinear._native")]
pub struct NativeTranslation {
    found: Arc<TranslatedSentence>,
    /// Of all its hypotheses, which share them however often the beam is asked for.
    matrices: Arc<[Matrices]>,
    /// Its place in the beam, from 0.
    place: usize,
}

impl NativeTranslation {
    /// The best of a sentence.
    pub fn best(found: TranslatedSentence) -> Self {
        let matrices = found.hypotheses.iter().map(|_| Matrices::default()).collect();
        Self { found: Arc::new(found), matrices, place: 0 }
    }

    fn hypothesis(&self) -> Option<&Hypothesis> {
        self.found.hypotheses.get(self.place)
    }

    /// In words, for figures and workspaces.
    pub fn said(&self) -> Option<SystemOutput> {
        let found = &*self.found;
        let said = (self.hypothesis()?.clone(), found.reading);
        let said = run::output((&*found.system).into(), (&found.source, found.target.as_ref(), false), said, None);
        Some(SystemOutput { text: self.text(), ..said })
    }

    /// What is translated, as it was typed.
    pub fn source_text(&self) -> &str {
        &self.found.source.text
    }

    /// What is known of its system, for a workspace.
    pub fn about(&self) -> StoredAbout {
        let (found, system) = (&*self.found, &*self.found.system);
        let options = SystemRunOptions {
            search: SearchOptions { beam: found.options.beam, ..SearchOptions::default() },
            ..SystemRunOptions::default()
        };
        let members = system.members().iter().map(|model| (&model.folder).into()).collect();
        let spec = SystemSpec { members, ..SystemSpec::default() };
        run::about(system.into(), &spec, &run::digests(system.into()), &options)
    }

    /// What it comes from, for the file of a figure.
    fn provenance(&self) -> Provenance {
        let (found, system) = (&*self.found, &*self.found.system);
        let mut about = Provenance { title: system.name(), ..Provenance::default() };
        system.members().iter().for_each(|model| about.model(&model.config.name, &model.digest()));
        let beam = found.options.beam;
        let search = if beam == 0 { "given translation".to_owned() } else { format!("beam {beam}") };
        about.with([
            ("search", search),
            ("reading", found.reading.name().to_owned()),
            ("sentence", found.source.text.clone()),
            ("translation", self.text()),
            ("log p", self.log_p().to_string()),
        ])
    }

    /// What links are read from.
    fn linked(&self, words: &str) -> Answer<Linked<'_>> {
        let counted = match words {
            "spaces" => LinkWords::Spaces,
            "tokens" => LinkWords::Tokens,
            _ => {
                return Err(PyValueError::new_err(format!("links count words of spaces or tokens, not {words}")).into());
            }
        };
        let (found, system) = (&*self.found, &*self.found.system);
        let Some(one) = self.hypothesis() else { return Ok((&[], None, counted)) };
        let Some(alpha) = &one.alpha else {
            let message = format!("{} has no alignment here, hence no links; see alpha", system.name());
            return Err(PyValueError::new_err(message).into());
        };
        let sides = match &found.target {
            Some(target) => LinkedSides::of_pair(system, (&found.source, target), found.pretokenized),
            None => LinkedSides::of_translation(system.lead(), &found.source, one, found.pretokenized),
        };
        Ok((alpha, sides, counted))
    }

    /// A figure that is drawn anew: the search as a tree, or one word with what else was weighed there.
    fn picture(&self, py: Python<'_>, showing: Showing) -> Answer<PictureRequest> {
        let (found, system) = (&*self.found, &*self.found.system);
        let given = found.target.as_ref().map(|target| target.text.clone());
        let is_search = showing.kind.needs == FigureNeeds::Search;
        if self.hypothesis().is_none() || is_search && given.is_some() {
            return Err(Error::Input(showing.kind.needs.lacking().to_owned()).into());
        }
        let given = given.or_else(|| (self.place > 0 && !is_search).then(|| self.text()));
        waiting::work(py, None, |_, _| {
            let is_head = found.reading == RowConvention::Head;
            let make = if is_head { Ensemble::stepper_with_head } else { Ensemble::stepper };
            let stepper = make(system, found.kernels.0, found.kernels.1)?;
            let rows = RowReader::chosen(system.into(), &*stepper, Some(found.reading))?;
            let mut scenes = Scenes::new(system, (rows, stepper), &found.options, showing, Overlays::default());
            scenes.scene(&found.source.text, given.as_deref(), None)
        })
    }

    fn filled<'py>(
        &self, py: Python<'py>, kept: fn(&Matrices) -> &Filled, rows: fn(&Hypothesis) -> Option<&Vec<Vec<f32>>>,
    ) -> Answer<Option<Matrix<'py>>> {
        let Some((one, matrices)) = self.hypothesis().zip(self.matrices.get(self.place)) else { return Ok(None) };
        let fill = || rows(one).map(|rows| matrix(py, rows).map(Bound::unbind)).transpose();
        Ok(kept(matrices).get_or_try_init(py, fill)?.as_ref().map(|array| array.bind(py).clone()))
    }
}

#[pymethods]
impl NativeTranslation {
    #[getter]
    fn source(&self) -> &str {
        self.source_text()
    }

    #[getter]
    fn source_tokens(&self) -> &[String] {
        &self.found.source.tokens
    }

    #[getter]
    fn text(&self) -> String {
        let found = &*self.found;
        if let Some(target) = &found.target {
            return target.text.clone();
        }
        let replacing = found.replaces.then_some(Replacing { dictionary: None });
        let lead = found.system.lead();
        let text = |one| text(lead, one, &found.source, replacing.as_ref(), found.pretokenized);
        self.hypothesis().map(text).unwrap_or_default()
    }

    #[getter]
    fn tokens(&self) -> Vec<&str> {
        match (&self.found.target, self.hypothesis()) {
            (Some(target), Some(_)) => target.tokens.iter().map(String::as_str).collect(),
            (None, Some(one)) => tokens(self.found.system.lead(), &one.tokens),
            (_, None) => Vec::new(),
        }
    }

    #[getter]
    fn log_p(&self) -> f32 {
        self.hypothesis().map_or(f32::NAN, |one| one.log_p)
    }

    #[getter]
    fn rank(&self) -> f32 {
        self.hypothesis().map_or(f32::NAN, |one| one.rank)
    }

    #[getter]
    fn finished(&self) -> bool {
        self.hypothesis().is_some_and(|one| one.finished)
    }

    #[getter]
    fn token_log_p<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        array(py, self.hypothesis().map(|one| one.token_log_p.clone()).unwrap_or_default())
    }

    #[getter]
    fn alpha<'py>(&self, py: Python<'py>) -> Answer<Option<Matrix<'py>>> {
        self.filled(py, |kept| &kept.alpha, |one| one.alpha.as_ref())
    }

    #[getter]
    fn energies<'py>(&self, py: Python<'py>) -> Answer<Option<Matrix<'py>>> {
        self.filled(py, |kept| &kept.energies, |one| one.energies.as_ref())
    }

    #[getter]
    fn p_t<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f32>>> {
        self.hypothesis()?.p_t.clone().map(|p_t| array(py, p_t))
    }

    #[getter]
    fn beam(&self) -> Vec<Self> {
        let (found, matrices) = (&self.found, &self.matrices);
        let at = |place| Self { found: Arc::clone(found), matrices: Arc::clone(matrices), place };
        (0..found.hypotheses.len()).map(at).collect()
    }

    #[getter]
    fn reading(&self) -> &'static str {
        self.found.reading.name()
    }

    #[getter]
    fn error(&self) -> Option<&str> {
        self.found.error.as_deref()
    }

    /// The words of both sides, and alpha between them.
    #[getter]
    fn words<'py>(&self, py: Python<'py>) -> Answer<Words<Option<Matrix<'py>>>> {
        let said = self.said().unwrap_or_default();
        let rows: Option<Vec<Vec<f32>>> = said.alpha.as_ref().map(|alpha| alpha.iter().map(<[f32]>::to_vec).collect());
        Ok((said.source, said.target, rows.map(|rows| matrix(py, &rows)).transpose()?))
    }

    #[pyo3(signature = (threshold = None, words = "spaces"))]
    fn links(&self, threshold: Option<f32>, words: &str) -> Answer<Vec<(usize, usize)>> {
        let (reading, (alpha, sides, counted)) = (self.found.reading, self.linked(words)?);
        let read =
            |words: &Alignment| threshold.map_or_else(|| reading.links(words), |theta| hard::links_above(words, theta));
        let links = sides.map(|sides| sides.links(alpha, read, counted)).unwrap_or_default();
        Ok(links.into_iter().map(|link| (link.source, link.target)).collect())
    }

    /// All links with their alpha, for thresholds.
    fn weighted_links(&self, words: &str) -> Answer<Vec<(usize, usize, f32)>> {
        let (alpha, sides, counted) = self.linked(words)?;
        let all = sides.map(|sides| sides.weights(alpha, counted)).unwrap_or_default();
        Ok(all.into_iter().map(|(link, alpha)| (link.source, link.target, alpha)).collect())
    }

    /// The name of its system.
    #[getter]
    fn model(&self) -> String {
        self.found.system.name()
    }

    /// Its place in the beam, from 0.
    #[getter]
    fn place(&self) -> usize {
        self.place
    }

    /// log p of each target word of `words`.
    #[getter]
    fn word_log_p(&self) -> Vec<f32> {
        self.said().unwrap_or_default().word_log_p
    }

    /// A figure of it; of whole words, or of the tokens of the model. Bars are of one word, a tree may have all branches.
    fn figure(
        &self, py: Python<'_>, are_words: bool, word: usize, pruned: bool, style: StyleAsked,
    ) -> Answer<NativeFigure> {
        let (pretokenized, pieces) = (self.found.pretokenized, !are_words);
        let named = style.kind.as_deref().and_then(kind);
        let anew = named.filter(|kind| matches!(kind.needs, FigureNeeds::Search | FigureNeeds::Word));
        let picture = anew.map(|kind| self.picture(py, Showing { kind, word, pruned, pretokenized, pieces }));
        let picture = picture.transpose()?;
        let said = match self.hypothesis() {
            Some(one) if !are_words => SystemOutput {
                source: self.found.source.tokens.clone(),
                target: self.tokens().into_iter().map(str::to_owned).collect(),
                alpha: one.alpha.as_deref().map(engine::analysis::alignment::Alignment::from_rows),
                ..SystemOutput::default()
            },
            _ => self.said().unwrap_or_default(),
        };
        let line = |one: Self| {
            let log_p = one.log_p();
            let said = one.said().unwrap_or_default();
            DrawnHypothesis { log_p, words: said.target.into_iter().zip(said.word_log_p).collect() }
        };
        NativeFigure::new(said, self.beam().into_iter().map(line).collect(), (&style, picture), self.provenance())
    }
}
