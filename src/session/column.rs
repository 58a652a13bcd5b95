//! Floor 8: a column: a model and what it makes of the source.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::aligner;
use crate::aligner::placed::Placed;
use crate::decoding::SearchOptions;
use crate::models::Kernels;
use crate::nn::device::DeviceChoice;
use crate::session::effect::Question;
use crate::session::settings::Settings;
use crate::session::table;
use crate::session::table::{AlignmentTable, Making};
use crate::text::links::Links;
use crate::text::sentence::Sentence;
use crate::worker::protocol::{ColumnId, ColumnResult, ColumnSpec, EnsembleSpec, HypothesisView, ModelFacts};

/// How far a column's model is.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnState {
    /// Being read, from 0 to 1.
    Loading(f32),
    /// Ready.
    Ready,
    /// Not loaded; a sentence that says why.
    Failed(String),
}

/// A column: a model and what it makes of the source.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its number for as long as it is on screen.
    pub id: ColumnId,
    /// The model folder; of an ensemble that of its first member.
    pub folder: PathBuf,
    /// What it consists of, where it is an ensemble.
    pub ensemble: Option<EnsembleSpec>,
    /// How far its model is.
    pub state: ColumnState,
    /// What the model is, once loaded.
    pub facts: Option<ModelFacts>,
    /// The source as this model read it, of the shown table.
    pub source: Sentence,
    /// The one context vector c where the model has one (rnnencdec). [n]
    pub context: Option<Vec<f32>>,
    /// The beam, best first; one partial hypothesis while decoding.
    pub hypotheses: Vec<HypothesisView>,
    /// Which hypothesis is shown, from 0.
    pub hypothesis: usize,
    /// What is drawn; `None` before the first row and for an empty source.
    pub table: Option<Arc<AlignmentTable>>,
    /// The whole trace and times, once finished.
    pub result: ColumnResult,
    /// The table belongs to an older text: draw it dimmed.
    pub stale: bool,
    /// Words are still being chosen.
    pub decoding: bool,
    /// The links of a statistical aligner between the words of the source and of the shown hypothesis.
    pub links: Option<Links>,
    /// The number of the question that `links` answer or will answer.
    pub(in crate::session) asked: Option<u64>,
    /// Why the present text could not be translated, as a sentence.
    pub message: Option<String>,
    /// Source and context of the request under way, until its first row replaces the table.
    pub(in crate::session) pending: Option<(Sentence, Option<Vec<f32>>)>,
    /// The text and the wish whose whole result is on screen.
    pub(in crate::session) done: Option<(String, Wish)>,
}

/// What a result depends on besides the text: models, device and search.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::session) struct Wish {
    pub folder: PathBuf,
    pub ensemble: Option<EnsembleSpec>,
    pub device: DeviceChoice,
    pub options: SearchOptions,
}

impl Column {
    /// A column whose model is still to be read.
    pub(in crate::session) fn new(id: ColumnId, folder: PathBuf, ensemble: Option<EnsembleSpec>) -> Self {
        Self {
            id,
            folder,
            ensemble,
            state: ColumnState::Loading(0.0),
            facts: None,
            source: Sentence::default(),
            context: None,
            hypotheses: Vec::new(),
            hypothesis: 0,
            table: None,
            result: ColumnResult::default(),
            stale: false,
            decoding: false,
            links: None,
            asked: None,
            message: None,
            pending: None,
            done: None,
        }
    }

    /// The model's name, or the folder's before it is loaded.
    pub fn name(&self) -> String {
        let folders = || match &self.ensemble {
            None => file_name(&self.folder),
            Some(ensemble) => {
                let names: Vec<String> = ensemble.members.iter().map(|folder| file_name(folder)).collect();
                names.join(" + ")
            }
        };
        self.facts.as_ref().map_or_else(folders, |facts| facts.name.clone())
    }

    /// The shown hypothesis.
    pub fn shown(&self) -> Option<&HypothesisView> {
        self.hypotheses.get(self.hypothesis)
    }

    /// What its result depends on besides the text.
    pub(in crate::session) fn wish(&self, device: DeviceChoice, options: SearchOptions) -> Wish {
        Wish { folder: self.folder.clone(), ensemble: self.ensemble.clone(), device, options }
    }

    /// Its part of a request.
    pub(in crate::session) fn spec(&self, wish: Wish, decode: bool) -> ColumnSpec {
        let Wish { folder, ensemble, device, options } = wish;
        ColumnSpec { column: self.id, folder, ensemble, device, engine: Kernels::Fused, options, decode }
    }

    /// Prepares for a request; true when it has to be decoded.
    pub(in crate::session) fn want(&mut self, source: &str, wish: &Wish) -> bool {
        self.pending = None;
        if source.trim().is_empty() {
            self.empty();
            return false;
        }
        let decode = self.done.as_ref().is_none_or(|(text, done)| text != source || done != wish);
        if !decode {
            // The result of this very text is on screen; an error was another text's.
            self.message = None;
        }
        self.decoding = decode && !matches!(self.state, ColumnState::Failed(_));
        self.stale = decode && self.table.is_some();
        decode
    }

    /// Stops waiting for words; the model is still wanted.
    pub(in crate::session) fn rest(&mut self) {
        (self.pending, self.decoding) = (None, false);
    }

    /// Shows nothing.
    pub(in crate::session) fn empty(&mut self) {
        self.source = Sentence::default();
        self.context = None;
        self.hypotheses.clear();
        self.hypothesis = 0;
        self.table = None;
        self.result = ColumnResult::default();
        self.forget_links();
        (self.stale, self.decoding, self.message, self.done) = (false, false, None, None);
    }

    /// The first row of a request: the old picture goes.
    pub(in crate::session) fn take_pending(&mut self) {
        if let Some((source, context)) = self.pending.take() {
            (self.source, self.context) = (source, context);
            self.result = ColumnResult::default();
            self.done = None;
        }
        self.stale = false;
    }

    /// Makes the table again from the shown hypothesis. The reading of the settings counts where the model has a choice.
    pub(in crate::session) fn rebuild(&mut self, settings: &Settings, revision: u64) {
        self.table = self.table_with(settings).map(|table| Arc::new(AlignmentTable { revision, ..table }));
    }

    /// The table of the shown hypothesis under other settings.
    pub(in crate::session) fn table_with(&self, settings: &Settings) -> Option<AlignmentTable> {
        let making = Making {
            specials: self.facts.as_ref().map(|facts| (facts.eos, facts.unk)),
            reading: self.facts.as_ref().and_then(|facts| facts.input_delay).map(|delay| (settings.reading, delay)),
            pieces: settings.pieces,
            links: self.links.as_ref(),
        };
        self.shown().map(|shown| table::build(&self.source, shown, self.hypothesis, &making))
    }

    /// Has no links and waits for none.
    pub(in crate::session) fn forget_links(&mut self) {
        (self.links, self.asked) = (None, None);
    }

    /// What an aligner is asked about the shown hypothesis; `None` where none comes with the program for the model's
    /// languages, and while words are being chosen.
    pub(in crate::session) fn question(&self) -> Option<Question> {
        let (facts, shown) = (self.facts.as_ref()?, self.shown()?);
        if self.decoding || self.stale || !aligner::bundled::is_bundled(&facts.source_language, &facts.target_language)
        {
            return None;
        }
        let (spans, target) = match &shown.pieces {
            None => (self.source.spans.clone(), shown.tokens.clone()),
            Some(pieces) => {
                let spans = pieces.source.iter().map(|word| table::span(&self.source, word)).collect();
                (spans, pieces.words.clone())
            }
        };
        Some(Question {
            languages: (facts.source_language.clone(), facts.target_language.clone()),
            source: Placed { text: self.source.text.clone(), spans },
            target,
        })
    }
}

/// The last part of a path, for labels.
pub fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
