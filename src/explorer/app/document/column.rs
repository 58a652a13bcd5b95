//! A column: a model and what it makes of the source.

use std::{path::Path, sync::Arc};

use crate::app::document::table::{AlignmentTable, Making};
use crate::app::settings::{Settings, Whose};
use crate::app::{
    document::compare::SystemComparison, document::hand::TokenCount, document::sentence_state::SentenceState,
    document::table, document::variant::VariantLabel, files::work::AlignQuestion,
};
use crate::jobs::live::protocol::{
    ColumnId, ColumnResult, ColumnSpec, HypothesisView, ModelFacts, UntouchedTranslation,
};
use engine::aligner::{bundled::AlignerChoice, placed::PlacedWords};
use engine::analysis::{measures::Tested, row_convention::RowConvention};
use engine::decoding::{SearchOptions, SystemSpec};
use engine::text::{links::Links, sentence::Sentence};
use engine::{interventions::Interventions, models::Kernels, nn::device::DeviceChoice};

/// Measurements that a column keeps: all measures of a few translations.
const MOST_TESTED: usize = 20;

/// How far a column's model is.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnState {
    /// Being read, from 0 to 1.
    Loading(f32),
    Ready,
    /// Not loaded; a sentence that says why.
    Failed(String),
}

impl Default for ColumnState {
    fn default() -> Self {
        Self::Loading(0.0)
    }
}

/// A column: a model and what it makes of the source.
#[derive(Clone, Debug, Default)]
pub struct Column {
    pub id: ColumnId,
    pub system: SystemSpec,
    /// The number of the variant that it shows; `None`: the sentence as it is.
    pub variant: Option<u64>,
    pub difference: ColumnDifference,
    pub state: ColumnState,
    /// `None` until the model is loaded.
    pub facts: Option<ModelFacts>,
    /// The source as this model read it, of the shown table.
    pub source: Sentence,
    /// The beam, best first; one partial hypothesis while decoding.
    pub hypotheses: Vec<HypothesisView>,
    /// Which hypothesis is shown, from 0.
    pub hypothesis: usize,
    /// What is drawn; `None` before the first row and for an empty source.
    pub table: Option<Arc<AlignmentTable>>,
    /// The whole trace and times, once finished; the context vector before.
    pub result: ColumnResult,
    /// The table belongs to an older text: draw it dimmed.
    pub stale: bool,
    pub decoding: bool,
    /// The links of a statistical aligner between the words of the source and of the shown hypothesis.
    pub links: Option<Links>,
    pub given: GivenTranslation,
    pub baseline: ColumnBaseline,
    /// Measurements of translations, oldest first.
    pub(crate) tested: Vec<Arc<Tested>>,
    /// The interventions of the shown hypotheses.
    pub set: Arc<Interventions>,
    /// Why the present text could not be translated, as a sentence.
    pub message: Option<String>,
    pub(crate) request: ColumnRequest,
}

/// How a variant differs from its original.
#[derive(Clone, Debug, Default)]
pub struct ColumnDifference {
    /// In words; `None` in a column that is no variant.
    pub label: Option<Arc<VariantLabel>>,
    /// `None` until both translations are finished.
    pub comparison: Option<Arc<SystemComparison>>,
}

/// The translation that the user gives, as a column's model reads it.
#[derive(Clone, Debug, Default)]
pub struct GivenTranslation {
    /// It, or why the model cannot read it.
    pub view: Option<Result<HypothesisView, String>>,
    /// Source, given translation and request that `view` belongs to.
    pub(crate) key: Option<(String, String, DecodeKey)>,
    pub(crate) links: Option<Links>,
    /// The number of the question that `links` answer.
    pub(crate) question: Option<u64>,
    /// The table of the model's own translation while the given one is shown, or the other way round.
    pub(crate) other_table: Option<Arc<AlignmentTable>>,
}

/// What the model does without interventions.
#[derive(Clone, Debug, Default)]
pub struct ColumnBaseline {
    /// `None` without interventions, and until it is translated.
    pub untouched: Option<Arc<UntouchedTranslation>>,
    /// Its words, and whether each is missing with interventions.
    pub(crate) words: Vec<(String, bool)>,
}

/// The running request of a column, and what the finished one was.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnRequest {
    pub interventions: Arc<Interventions>,
    /// Source and context, until the first row replaces the table.
    pub incoming: Option<(Sentence, Option<Vec<f32>>)>,
    /// The text and parameters of the finished result on screen.
    pub result_key: Option<(String, DecodeKey)>,
    /// The number of the question that the column's links answer.
    pub links_question: Option<u64>,
}

/// What a result depends on besides the text: models, device and search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DecodeKey {
    pub system: SystemSpec,
    pub device: DeviceChoice,
    pub options: SearchOptions,
    pub interventions: Arc<Interventions>,
}

impl Column {
    pub(crate) fn new(id: ColumnId, system: SystemSpec) -> Self {
        Self { id, system, ..Self::default() }
    }

    pub(crate) fn variant_column(&self, id: ColumnId, variant: u64) -> Self {
        let column = Self::new(id, self.system.clone());
        Self { variant: Some(variant), state: self.state.clone(), facts: self.facts.clone(), ..column }
    }

    pub fn name(&self) -> String {
        let model = self.model();
        self.difference
            .label
            .as_ref()
            .map_or_else(|| model.clone(), |variant_label| format!("{model}, {}", variant_label.text()))
    }

    pub fn model(&self) -> String {
        self.facts.as_ref().map_or_else(|| self.system.name(), |facts| facts.name.clone())
    }

    pub fn shown(&self) -> Option<&HypothesisView> {
        self.hypotheses.get(self.hypothesis)
    }

    pub(crate) fn decode_key(&self, device: DeviceChoice, sentence: &SentenceState) -> DecodeKey {
        DecodeKey {
            system: self.system.clone(),
            device,
            options: sentence.search_of(self.variant).options(),
            interventions: sentence.set_of(&self.system.members, self.variant),
        }
    }

    pub fn beam(&self) -> Option<usize> {
        self.request.result_key.as_ref().map(|(_, decode_key)| decode_key.options.beam)
    }

    pub(crate) fn spec(&self, decode_key: DecodeKey, decode: bool) -> ColumnSpec {
        let DecodeKey { system, device, options, interventions } = decode_key;
        let (column, engine) = (self.id, Kernels::Fused);
        ColumnSpec { column, system, device, engine, options, interventions, source: None, decode, given: None }
    }

    /// True when it has to be decoded.
    pub(crate) fn prepare(&mut self, source: &str, decode_key: &DecodeKey) -> bool {
        self.request.incoming = None;
        if source.trim().is_empty() {
            self.empty();
            return false;
        }
        // what the model does by itself comes after what it does with interventions, and may have been cut off
        let is_touched = self.hypotheses.first().is_some_and(|best| !best.touched.is_untouched());
        let lacks_own = is_touched && self.baseline.untouched.is_none();
        let decode = lacks_own
            || self.request.result_key.as_ref().is_none_or(|(text, done)| text != source || done != decode_key);
        if !decode {
            // The result of this very text is on screen; an error was another text's.
            self.message = None;
        }
        if decode {
            self.request.interventions = Arc::clone(&decode_key.interventions);
        }
        self.decoding = decode && !matches!(self.state, ColumnState::Failed(_));
        self.stale = decode && self.table.is_some();
        decode
    }

    /// The given translation, if the model still has to read it; drops what was read of another one.
    pub(crate) fn want_given(&mut self, source: &str, given: Option<&str>, decode_key: &DecodeKey) -> Option<String> {
        // A given translation depends on the models alone.
        let is_for = |(text, _, of): &(String, String, DecodeKey)| {
            text == source && of.system == decode_key.system && of.device == decode_key.device
        };
        if given.is_none() || !self.given.key.as_ref().is_some_and(is_for) {
            self.forget_given();
        }
        let given = given.filter(|given| !given.trim().is_empty() && !source.trim().is_empty());
        let Some(given) = given else {
            self.forget_given();
            return None;
        };
        let is_done = self.given.key.as_ref().is_some_and(|(_, of, _)| of == given);
        (!is_done).then(|| given.to_owned())
    }

    fn forget_given(&mut self) {
        (self.given.view, self.given.other_table, self.given.key) = (None, None, None);
    }

    pub fn numbers(&self) -> TokenCount {
        let is_merged = self.table.as_ref().is_some_and(|table| table.units == Some(table::Units::Words));
        let pieces = self.shown().and_then(|shown| shown.pieces.as_ref()).filter(|_| is_merged);
        let is_read = self.table.as_ref().is_some_and(|table| table.reading == Some(RowConvention::Input));
        let delay = self.facts.as_ref().and_then(|facts| facts.input_delay).filter(|_| is_read);
        TokenCount::by(pieces.map(|pieces| pieces.target.clone()).unwrap_or_default())
            .read_after(delay.unwrap_or_default())
    }

    /// Whether the picture is of an alignment head, of a model that has no alignment.
    pub fn is_probe(&self) -> bool {
        let lacks = self.facts.as_ref().is_some_and(|facts| !facts.has_alignment);
        lacks && self.table.as_ref().is_some_and(|table| table.reading == Some(RowConvention::Head))
    }

    pub fn read(&self) -> Option<&HypothesisView> {
        self.given.view.as_ref().and_then(|given| given.as_ref().ok())
    }

    /// The tables of the model's own translation and of the given one.
    pub fn both(&self) -> (Option<&Arc<AlignmentTable>>, Option<&Arc<AlignmentTable>>) {
        let (shown, beside) = (self.table.as_ref(), self.given.other_table.as_ref());
        if shown.is_some_and(|table| table.is_given) { (beside, shown) } else { (shown, beside) }
    }

    pub(crate) fn rest(&mut self) {
        (self.request.incoming, self.decoding) = (None, false);
    }

    pub(crate) fn empty(&mut self) {
        self.source = Sentence::default();
        self.hypotheses.clear();
        self.hypothesis = 0;
        self.table = None;
        self.result = ColumnResult::default();
        (self.baseline.untouched, self.set) = (None, Arc::default());
        self.forget_links();
        self.forget_given();
        (self.stale, self.decoding, self.message, self.request.result_key) = (false, false, None, None);
    }

    pub(crate) fn take_pending(&mut self) {
        if let Some((source, context)) = self.request.incoming.take() {
            (self.source, self.result.context) = (source, context);
            self.result = ColumnResult::default();
            (self.baseline.untouched, self.set) = (None, Arc::clone(&self.request.interventions));
            self.request.result_key = None;
        }
        self.stale = false;
    }

    /// Builds the table again from the shown hypothesis.
    pub(crate) fn rebuild(&mut self, settings: &Settings, revision: u64) {
        let made =
            |settings: &Settings| self.table_with(settings).map(|table| Arc::new(AlignmentTable { revision, ..table }));
        let other = Settings { whose: settings.whose.other(), ..settings.clone() };
        let tables = (made(settings), self.read().and_then(|_| made(&other)));
        (self.table, self.given.other_table) = tables;
        self.difference.comparison = None;
    }

    pub(crate) fn table_with(&self, settings: &Settings) -> Option<AlignmentTable> {
        let given = self.read().filter(|_| settings.whose == Whose::Given);
        let making = Making {
            specials: self.facts.as_ref().map(|facts| (facts.specials.eos, facts.specials.unk)),
            reading: settings.reading_of(self.facts.as_ref()),
            pieces: settings.pieces,
            outlined: settings.outlined_of(self.facts.as_ref()),
            links: if given.is_some() { &self.given.links } else { &self.links }.as_ref().filter(|_| settings.links),
            is_given: given.is_some(),
            // measured was the model by itself
            tested: if given.is_none() && self.set.changes_alpha() { &[] } else { &self.tested },
            variant: self.variant_of_table(),
            languages: self.facts.as_ref().map_or(("", ""), |facts| (&facts.source_language, &facts.target_language)),
        };
        given.or_else(|| self.shown()).map(|shown| table::build(&self.source, shown, self.hypothesis, &making))
    }

    pub fn tested_for<'a>(&'a self, shown: &'a HypothesisView) -> impl Iterator<Item = &'a Arc<Tested>> {
        table::tested_for(&self.tested, &self.source, shown)
    }

    pub(crate) fn keep_tested(&mut self, tested: Arc<Tested>) {
        self.tested.push(tested);
        let excess = self.tested.len().saturating_sub(MOST_TESTED);
        self.tested.drain(..excess);
    }

    /// What the shown table is a variant in: one that belongs to an older text keeps what it was.
    fn variant_of_table(&self) -> Option<&Arc<VariantLabel>> {
        let before = || self.table.as_ref().and_then(|table| table.variant.as_ref());
        if self.stale { before() } else { self.difference.label.as_ref() }
    }

    pub(crate) fn forget_links(&mut self) {
        (self.links, self.request.links_question) = (None, None);
        (self.given.links, self.given.question) = (None, None);
    }

    /// The aligner's input for a hypothesis; `None` without an aligner, and while words are being chosen.
    pub(crate) fn question(&self, shown: &HypothesisView, settings: &Settings) -> Option<AlignQuestion> {
        let aligner = self.aligner(settings).filter(|_| !self.decoding && !self.stale)?;
        let (source, target) = placed(&self.source, shown);
        Some(AlignQuestion { aligner, source, target })
    }

    /// The aligner of the model's languages, the model's own file first; `None` if there is none.
    pub fn aligner(&self, settings: &Settings) -> Option<AlignerChoice> {
        let (facts, files) = (self.facts.as_ref()?, &settings.aligner);
        let languages = (facts.source_language.clone(), facts.target_language.clone());
        let choice = AlignerChoice::of_system(&self.system, languages, files, None);
        (choice.first.is_some() || files.has(&choice.source, &choice.target)).then_some(choice)
    }
}

pub fn placed(source: &Sentence, shown: &HypothesisView) -> (PlacedWords, Vec<String>) {
    let (spans, target) = match &shown.pieces {
        None => (source.spans.clone(), shown.tokens.clone()),
        Some(pieces) => (pieces.source.iter().map(|word| table::span(source, word)).collect(), pieces.words.clone()),
    };
    (PlacedWords { text: source.text.clone(), spans }, target)
}

pub fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
