//! A translation as what figures are made of.

use std::sync::Arc;

use crate::figure::overlays::Overlays;
use engine::decoding::{Decoded, Ensemble, Hypothesis, SearchOptions};
use engine::error::{Error, Result};
use engine::interventions::{Applied, Resolved, Said, intervene_all};
use engine::text::{line, sentence::Sentence};
use engine::{
    analysis::row_convention::RowConvention, evaluation::rows::RowReader, models::Stepper, ticket::CancellationToken,
};
use explorer::app::document::table::{self, AlignmentTable, Making};
use explorer::app::document::tree::{SearchTree, TreeTrace};
use explorer::app::{
    document::sentence_state::CANDIDATES, document::tree, files::gold::Gold, files::picture::PictureRequest,
};
use explorer::jobs::live::view::{ReadSource, Wording};
use explorer::jobs::{live::protocol::HypothesisView, live::view};
use figure::sheet::{FigureKind, FigureNeeds, FigureStyle};
use figure::{provenance::Provenance, tree::DrawnNode};
use host::words;

fn other_words() -> Error {
    Error::Input("the translation has other words than its links by hand count".to_owned())
}

/// What makes scenes of sentences.
pub struct Scenes<'a> {
    system: &'a Ensemble,
    stepper: Box<dyn Stepper>,
    options: SearchOptions,
    rows: RowReader,
    showing: Showing,
    models: Provenance,
    /// What is drawn over alpha.
    pub over: Overlays,
}

/// What of a translation is shown.
#[derive(Clone, Copy, Debug)]
pub struct Showing {
    pub kind: &'static FigureKind,
    /// The target word that is looked at closely, from 0.
    pub word: usize,
    /// Branches that fell out of the beam.
    pub pruned: bool,
    /// The words are split by spaces already.
    pub pretokenized: bool,
    pub pieces: bool,
}

impl<'a> Scenes<'a> {
    /// For a system, whose rows belong to these words.
    pub fn new(
        system: &'a Ensemble, (rows, stepper): (RowReader, Box<dyn Stepper>), options: &SearchOptions,
        showing: Showing, over: Overlays,
    ) -> Self {
        let candidates = if showing.kind.needs == FigureNeeds::Word { CANDIDATES } else { options.candidates };
        let options = SearchOptions { candidates, trace: showing.kind.needs == FigureNeeds::Search, ..options.clone() };
        let mut models = Provenance::default();
        system.members().iter().for_each(|model| models.model(&model.config.name, &model.digest()));
        Self { system, stepper, options, rows, showing, models, over }
    }

    /// The translation of a sentence, or the one that is given, which may have links by hand.
    pub fn scene(&mut self, source: &str, target: Option<&str>, gold: Option<&Gold>) -> Result<PictureRequest> {
        let read = |side: &dyn engine::text::tokenizer::Encode, text: &str, what: &str| {
            let sentence = line::read(side, text, self.showing.pretokenized);
            sentence.map_err(|why| Error::Input(format!("the {what} {why}")))
        };
        let sentence = read(self.system, source, "sentence")?;
        if sentence.words() == 0 {
            return Err(Error::Input("the sentence has no words, so there is nothing to draw".to_owned()));
        }
        let mut set = Resolved::default();
        let target = target.map(|target| read(self.system.target(), target, "translation")).transpose()?;
        let found = match &target {
            None => {
                set = self.over.set(self.system, &sentence, self.showing.pretokenized)?;
                self.translations(&sentence, &set)?
            }
            Some(target) => Decoded { hypotheses: vec![self.forced(&sentence, target)?], ..Decoded::default() },
        };
        self.picture(sentence, found, (target.as_ref(), gold), set.applied)
    }

    fn translations(&mut self, sentence: &Sentence, set: &Resolved) -> Result<Decoded> {
        let (sources, lists) = ([sentence.ids.as_slice()], [Arc::clone(&set.list)]);
        let (specials, ticket) = (self.system.specials(), CancellationToken::forever());
        let mut found = Decoded::default();
        let mut keep = |_: &[usize], decoded: Vec<Decoded>| {
            found = decoded.into_iter().next().unwrap_or_default();
            Ok(())
        };
        let stepper = self.stepper.as_mut();
        intervene_all(stepper, specials, &sources, &lists, &self.options, 1, &ticket, &mut keep)?;
        let batch = found.hypotheses.len().max(1);
        let translations = found.hypotheses.iter_mut().map(|one| (sources[0], &*set.list, one)).collect();
        self.rows.extend_and_assign(stepper, translations, batch, &ticket)?;
        Ok(found)
    }

    fn forced(&mut self, sentence: &Sentence, target: &Sentence) -> Result<Hypothesis> {
        let pairs = [(sentence.ids.as_slice(), target.ids.as_slice())];
        let (stepper, ticket) = (self.stepper.as_mut(), CancellationToken::forever());
        Ok(self.rows.force_all(stepper, &pairs, 1, &ticket, &mut |_, _| {})?.into_iter().next().unwrap_or_default())
    }

    fn picture(
        &mut self, sentence: Sentence, found: Decoded, (given, gold): (Option<&Sentence>, Option<&Gold>),
        applied: Applied,
    ) -> Result<PictureRequest> {
        let (lead, specials, kind) = (self.system.lead(), self.system.specials(), self.showing.kind);
        let tree = if kind.needs == FigureNeeds::Search { self.tree(&found) } else { Vec::new() };
        let said = |best| words::text(lead, best, &sentence, None, self.showing.pretokenized);
        let text = given.map(|target| target.text.clone()).or_else(|| found.hypotheses.first().map(said));
        let wording = Wording {
            source: &lead.source,
            target: self.system.target(),
            language: &lead.config.target_language,
            unk: specials.unk,
            rows: Default::default(),
        };
        let mut source = ReadSource::new(&wording, sentence, self.showing.pretokenized);
        source.touched = Arc::new(applied);
        let seen = |one| match given {
            Some(target) => view::given(&wording, &source, (target, self.showing.pretokenized), one),
            None => view::view(&wording, &source, one),
        };
        let hypotheses: Vec<_> = found.hypotheses.into_iter().map(seen).collect();
        let none = HypothesisView::default();
        let best = hypotheses.first().unwrap_or(&none);
        let pieces = self.showing.pieces;
        let links = self.over.links(&source.sentence, best);
        let by_hand =
            gold.map(|gold| gold.shown(&source.sentence, best, pieces).ok_or_else(other_words)).transpose()?;
        let specials = Some((specials.eos, specials.unk));
        let making = Making { specials, pieces, links: links.as_ref(), is_given: given.is_some(), ..Making::default() };
        let has_choice = self.rows.reading != RowConvention::default() || lead.config.input_delay().is_some();
        let reading = best.found.alpha.is_some().then_some(self.rows.reading).filter(|_| has_choice);
        let table = AlignmentTable { reading, ..table::build(&source.sentence, best, 0, &making) };
        let word = (kind.needs == FigureNeeds::Word).then_some(self.showing.word);
        let count = table.target.len();
        if let Some(i) = word.filter(|i| *i >= count) {
            return Err(Error::Input(format!("the translation has no word {}; its last is word {count}", i + 1)));
        }
        let how = if given.is_some() { "given translation".to_owned() } else { self.options.to_string() };
        let set = source.touched.describe(best.tokens.len());
        let facts = [
            ("kind", kind.name.to_owned()),
            ("search", how.clone()),
            ("reading", reading.map_or_else(String::new, |reading| reading.name().to_owned())),
            ("units", table.units.map_or_else(String::new, |units| units.name().to_owned())),
            ("word", word.map_or_else(String::new, |i| (i + 1).to_string())),
            ("links", links.map_or_else(String::new, |_| "of the statistical aligner".to_owned())),
            ("interventions", set.clone()),
            ("sentence", source.sentence.text.clone()),
            ("translation", text.unwrap_or_default()),
            ("log p", best.found.log_p.to_string()),
        ];
        let name = self.system.name();
        let rows_of = reading.filter(|reading| *reading != RowConvention::default());
        let rows_of = rows_of.map_or_else(String::new, |reading| format!(", reading {}", reading.name()));
        let set = if set.is_empty() { set } else { format!(". Set by hand: {set}") };
        let caption = format!("{name}, {how}{rows_of}, log p {:.2}{set}", best.found.log_p);
        let mut picture = PictureRequest {
            table: Arc::new(table),
            hypotheses,
            tree,
            word,
            window: Some(lead.config.window().unwrap_or(0)),
            is_normalised: self.options.ranking.length.normalises(),
            title: format!("{name}: {}", kind.about),
            facts: self.models.clone().with(facts).facts,
            kind: kind.name,
            look: FigureStyle { caption: Some(caption), ..FigureStyle::default() },
            ..PictureRequest::default()
        };
        if let Some(links) = by_hand {
            picture.outline_gold(links);
        }
        Ok(picture)
    }

    fn entry(&self, id: u32) -> String {
        self.system.target().token(id).unwrap_or_default().to_owned()
    }

    fn tree(&self, found: &Decoded) -> Vec<DrawnNode<'static>> {
        let trace = TreeTrace {
            nodes: &found.nodes,
            beam: self.options.beam,
            word: &|id| self.entry(id),
            marks: self.system.target().marks().clone(),
            best: found.hypotheses.first().map_or(&[], |best| &best.tokens),
            said: &|_| Said::Free,
        };
        let Showing { pruned, pieces, .. } = self.showing;
        let tree = SearchTree::read(&trace);
        tree.map_or_else(Vec::new, |tree| {
            tree.shown(&tree::ShownTree { steps: tree.steps, pruned, pieces, ..tree::ShownTree::default() }).nodes
        })
    }
}
