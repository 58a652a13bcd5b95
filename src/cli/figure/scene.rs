//! Floor 13: a translation as what figures are made of.

use std::borrow::Cow;

use crate::analysis::alignment::Alignment;
use crate::analysis::reading::Reading;
use crate::app::document::scene::CANDIDATES;
use crate::app::document::tree;
use crate::app::document::tree::{SearchTree, TreeTrace};
use crate::cli::figure::shown::{self, ShownPart, ShownWord};
use crate::cli::words;
use crate::decoding::{Decoded, Ensemble, Forced, Hypothesis, SearchOptions};
use crate::error::{Error, Result};
use crate::evaluation::alignment::readings;
use crate::evaluation::rows::ReadRows;
use crate::figure::beam::BeamRow;
use crate::figure::heatmap::layout::Gaze;
use crate::figure::inspected::Inspected;
use crate::figure::label::{Label, Tone, source_text, target_text};
use crate::figure::provenance::Provenance;
use crate::figure::sheet::{FigureKind, FigureNeeds, PictureSheet};
use crate::figure::tree::DrawnNode;
use crate::interventions::Said;
use crate::models::Stepper;
use crate::text::line;
use crate::text::sentence::{EOS, Sentence};
use crate::ticket::CancellationToken;

/// A given translation, where there is one.
pub type Target<'a> = Option<&'a str>;

/// What makes scenes of sentences.
pub struct Scenes<'a> {
    system: &'a Ensemble,
    stepper: Box<dyn Stepper>,
    options: SearchOptions,
    rows: ReadRows,
    showing: Showing,
    /// Names and digests of the models.
    models: Vec<(String, String)>,
}

/// What of a translation is shown.
#[derive(Clone, Copy, Debug)]
pub struct Showing {
    /// What the kind of figure needs.
    pub needs: FigureNeeds,
    /// The target word that is looked at closely, from 0.
    pub word: usize,
    /// Branches that fell out of the beam.
    pub pruned: bool,
    /// The words are split by spaces already.
    pub pretokenized: bool,
    /// The pieces of words.
    pub pieces: bool,
}

/// A sentence and its translations, in words and numbers.
pub struct FigureScene {
    /// All but what it borrows from below.
    sheet: PictureSheet<'static>,
    /// Rows by the words that they belong to.
    alpha: Option<Alignment>,
    p_t: Option<Vec<f32>>,
    window: usize,
    text: String,
    /// Which model it is and how it searched.
    pub caption: String,
}

impl<'a> Scenes<'a> {
    /// For a system.
    ///
    /// # Errors
    /// A reading that the rows of this system do not have.
    pub fn new(
        system: &'a Ensemble,
        stepper: Box<dyn Stepper>,
        options: &SearchOptions,
        wanted: Option<Reading>,
        showing: Showing,
    ) -> Result<Self> {
        let candidates = if showing.needs == FigureNeeds::Word { CANDIDATES } else { options.candidates };
        let options = SearchOptions { candidates, trace: showing.needs == FigureNeeds::Search, ..options.clone() };
        let shown = || system.shown().iter().map(|&n| &system.members()[n].config);
        let rows = ReadRows::wanted(system.into(), wanted);
        let reading = rows.reading;
        let has = |config| readings(config).contains(&reading);
        if reading != Reading::default() && (rows.delay == 0 || !shown().all(has)) {
            let (name, reading) = (system.name(), reading.name());
            return Err(Error::Input(format!(
                "the rows of {name} belong to the words that were predicted; leave out --reading {reading}"
            )));
        }
        let mut models = Vec::new();
        for model in system.members() {
            models.push(("model".to_owned(), model.config.name.clone()));
            models.push(("digest".to_owned(), format!("sha256:{}", model.digest())));
        }
        Ok(Self { system, stepper, options, rows, showing, models })
    }

    /// The translation of a sentence, or the one that is given.
    ///
    /// # Errors
    /// A sentence without words or with too many; what the model refuses.
    pub fn scene(&mut self, source: &str, target: Target<'_>) -> Result<FigureScene> {
        let read = |side: &dyn crate::text::tokenizer::Encode, text: &str, what: &str| {
            let sentence = line::read(side, text, self.showing.pretokenized);
            sentence.map_err(|why| Error::Input(format!("the {what} {why}")))
        };
        let sentence = read(self.system, source, "sentence")?;
        if sentence.words() == 0 {
            return Err(Error::Input("the sentence has no words, so there is nothing to draw".to_owned()));
        }
        let found = match target {
            None => self.translations(&sentence)?,
            Some(target) => {
                let target = read(self.system.target(), target, "translation")?;
                Decoded { hypotheses: vec![self.forced(&sentence, &target)?], ..Decoded::default() }
            }
        };
        let mut scene = self.worded(&sentence, &found.hypotheses, target.is_some());
        match self.showing.needs {
            FigureNeeds::Nothing | FigureNeeds::Alignment => {}
            FigureNeeds::Search => scene.sheet.tree = self.tree(&found),
            FigureNeeds::Word => scene.sheet.word = Some(self.inspected(&found, &scene)?),
        }
        Ok(scene)
    }

    fn translations(&mut self, sentence: &Sentence) -> Result<Decoded> {
        let sources = [sentence.ids.as_slice()];
        let found = words::decode_all(self.system.specials(), self.stepper.as_mut(), &sources, &self.options, 1)?;
        let mut found = found.into_iter().next().unwrap_or_default();
        let batch = found.hypotheses.len().max(1);
        let translations = found.hypotheses.iter_mut().map(|one| (sources[0], &[][..], one)).collect();
        self.rows.settle(self.stepper.as_mut(), translations, batch, &CancellationToken::forever())?;
        Ok(found)
    }

    fn forced(&mut self, sentence: &Sentence, target: &Sentence) -> Result<Hypothesis> {
        let pairs = [(sentence.ids.as_slice(), target.ids.as_slice())];
        let found = words::force_all(self.rows, self.stepper.as_mut(), &pairs, 1)?;
        let Forced { token_log_p, log_p, alpha, energies, p_t } = found.into_iter().next().unwrap_or_default();
        let tokens = target.ids.clone();
        Ok(Hypothesis { tokens, token_log_p, log_p, alpha, energies, p_t, finished: true, ..Hypothesis::default() })
    }

    fn worded(&self, sentence: &Sentence, hypotheses: &[Hypothesis], is_given: bool) -> FigureScene {
        let (lead, unk) = (self.system.lead(), self.system.specials().unk);
        let none = Hypothesis::default();
        let best = hypotheses.first().unwrap_or(&none);
        let shown = self.shown(sentence, best);
        let source =
            shown.source.tokens.iter().zip(&shown.source.ids).zip(&shown.source.spans).map(|((text, id), span)| {
                let (is_unk, is_eos) = (*id == unk, text == EOS && span.is_empty());
                Label {
                    text: Cow::Owned(source_text(text, is_unk).into_owned()),
                    tone: Tone::of(is_unk, is_eos),
                    ..Label::default()
                }
            });
        let target = shown.words.iter().map(label);
        let text = words::text(lead, best, sentence, None, self.showing.pretokenized);
        let how = if is_given { "given translation".to_owned() } else { format!("beam {}", self.options.beam) };
        let row = |(n, hypothesis): (usize, &Hypothesis)| self.row(sentence, n, hypothesis);
        let has_choice = self.rows.reading != Reading::default() || lead.config.input_delay().is_some();
        let reading = best.alpha.is_some().then_some(self.rows.reading).filter(|_| has_choice);
        let mut facts = self.models.clone();
        let mut fact = |name: &str, value: String| facts.push((name.to_owned(), value));
        fact("search", how.clone());
        if let Some(reading) = reading {
            fact("reading", reading.name().to_owned());
        }
        if lead.source.marks().has_pieces() || lead.target.marks().has_pieces() {
            fact("units", if self.showing.pieces { "pieces" } else { "words" }.to_owned());
        }
        if self.showing.needs == FigureNeeds::Word {
            fact("word", (self.showing.word + 1).to_string());
        }
        fact("sentence", sentence.text.clone());
        fact("translation", text.clone());
        fact("log p", best.log_p.to_string());
        fact("program", format!("Interlinear {}", env!("CARGO_PKG_VERSION")));
        let name = self.system.name();
        let rows_of = reading.filter(|reading| *reading != Reading::default());
        let rows_of = rows_of.map_or_else(String::new, |reading| format!(", reading {}", reading.name()));
        let caption = format!("{name}, {how}{rows_of}, log p {:.2}", best.log_p);
        let sheet = PictureSheet {
            source: source.collect(),
            target: target.collect(),
            corner: reading.map(Reading::row_text),
            beam: hypotheses.iter().enumerate().map(row).collect(),
            provenance: Provenance { title: name, facts },
            ..PictureSheet::default()
        };
        let window = lead.config.window().unwrap_or(0);
        FigureScene { sheet, alpha: shown.alpha, p_t: shown.p_t, window, text, caption }
    }

    fn shown(&self, sentence: &Sentence, hypothesis: &Hypothesis) -> ShownPart {
        if self.showing.pieces {
            return shown::tokens(self.system, sentence, hypothesis);
        }
        shown::words(self.system, sentence, hypothesis, self.showing.pretokenized)
    }

    fn entry(&self, id: u32) -> String {
        self.system.target().token(id).unwrap_or_default().to_owned()
    }

    /// The search that found a translation.
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

    /// The target word that is looked at closely.
    fn inspected(&self, found: &Decoded, scene: &FigureScene) -> Result<Inspected<'static>> {
        let (i, none) = (self.showing.word, Hypothesis::default());
        let best = found.hypotheses.first().unwrap_or(&none);
        let words = if self.showing.pieces {
            (0..best.tokens.len()).map(|i| i..i + 1).collect()
        } else {
            self.system.target().word_ranges(&best.tokens)
        };
        let (Some(part), Some(label)) = (words.get(i), scene.sheet.target.get(i)) else {
            let count = words.len();
            return Err(Error::Input(format!("the translation has no word {}; its last is word {count}", i + 1)));
        };
        let first = self.entry(best.tokens[part.start]);
        let log_p = best.token_log_p[part.clone()].iter().sum();
        let candidates = best.candidates.get(part.start).map_or(&[][..], Vec::as_slice);
        let candidates = candidates.iter().map(|&(id, log_p)| (self.entry(id), log_p.exp()));
        Ok(Inspected {
            text: label.text.clone(),
            caption: Inspected::caption(i, words.len(), log_p).into(),
            heading: Inspected::heading((part.len() > 1).then_some(first.as_str())).into(),
            candidates: candidates.map(|(text, p)| (Cow::Owned(text.clone()), p, text == first)).collect(),
            alpha: scene.alpha.as_ref().map(|alpha| alpha.row(i).to_vec().into()),
        })
    }

    fn row(&self, sentence: &Sentence, n: usize, hypothesis: &Hypothesis) -> BeamRow<'static> {
        let words = self.shown(sentence, hypothesis).words;
        let rank = self.options.ranking.length.normalises().then_some(hypothesis.rank);
        let words = words.iter().map(|word| (label(word).text, word.log_p)).collect();
        BeamRow { place: n + 1, log_p: hypothesis.log_p, rank, words, ..BeamRow::default() }
    }
}

fn label(word: &ShownWord) -> Label<'static> {
    let text = target_text(&word.text, word.is_unk, word.typed.as_deref(), false).into_owned();
    Label { text: Cow::Owned(text), tone: Tone::of(word.is_unk, word.is_eos), ..Label::default() }
}

impl FigureScene {
    /// The translation.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// As figures take it.
    pub fn sheet(&self, kind: &FigureKind) -> PictureSheet<'_> {
        let Provenance { title, mut facts } = self.sheet.provenance.clone();
        facts.insert(0, ("kind".to_owned(), kind.name.to_owned()));
        PictureSheet {
            alpha: self.alpha.as_ref(),
            gaze: self.p_t.as_deref().map(|p_t| Gaze { p_t, window: self.window }),
            provenance: Provenance { title: format!("{title}: {}", kind.about), facts },
            ..self.sheet.clone()
        }
    }
}
