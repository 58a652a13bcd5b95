//! Several models that translate as one.
//!
//! At every step the members' probabilities of each word are averaged, as Bahdanau's and Luong's groups did
//! (Jean et al. 2015; Luong et al. 2015, section 4.2), or their log-probabilities, which is the geometric mean and is
//! normalised again, so that log p stays a log-probability. Members may be of any architecture, but must have
//! the same target words under the same ids. Their source words may differ: each member reads the text by itself
//! ([`readings`]). The alignment is that of one member or the mean of those that have one ([`mixture`]).
//!
//! One model is an ensemble too: it then translates exactly as it does alone.

pub mod average;
pub mod mixture;
pub mod readings;

use std::sync::Arc;

use crate::decoding::{Specials, SystemSpec};
use crate::decoding::{ensemble::mixture::Mixture, ensemble::readings::Readings};
use crate::error::{Error, Result};
use crate::models::{Kernels, Model, Stepper};
use crate::text::tokenizer::{Encode, Tokenizer};
use crate::{nn::device::Device, text::sentence::Sentence};

pub use crate::decoding::ensemble::average::{AVERAGES, Average};
pub use crate::decoding::system::{AlignmentOf, Mixing};

/// Models that translate as one.
#[derive(Clone, Debug)]
pub struct Ensemble {
    members: Vec<Model>,
    mixing: Mixing,
    /// The member whose words are the columns of the alignment.
    lead: usize,
    shown: Vec<usize>,
    readings: Arc<Readings>,
}

impl Ensemble {
    /// Makes one of loaded models.
    pub fn new(members: Vec<Model>, mixing: Mixing) -> Result<Self> {
        let Some(first) = members.first() else {
            return Err(Error::Input("an ensemble needs at least one model".to_owned()));
        };
        members[1..].iter().try_for_each(|other| check_words(first, other))?;
        let shown = shown(&members, mixing.alignment)?;
        let everyone: Vec<usize> = (0..members.len()).collect();
        let candidates = if shown.is_empty() { &everyone } else { &shown };
        // A lead with `</s>` has a column for everything that the others look at.
        let ended = candidates.iter().find(|&&member| members[member].config.source_eos);
        let lead = *ended.unwrap_or(&candidates[0]);
        let ends: Vec<bool> = members.iter().map(|member| member.config.source_eos).collect();
        let readings = Arc::new(Readings::new(first.config.eos, first.config.unk, &ends));
        Ok(Self { members, mixing, lead, shown, readings })
    }

    /// Loads the models and makes one of them.
    pub fn load(system: &SystemSpec, device: &Device) -> Result<Self> {
        let members: Result<_> = system.members.iter().map(|model| Model::load(model, device)).collect();
        Self::new(members?, system.mixing)
    }

    /// What the search drives; feed it the ids of this ensemble's own [`Encode::encode`].
    pub fn stepper(&self, engine: Kernels, threads: usize) -> Result<Box<dyn Stepper>> {
        self.made_of(&|member| member.stepper(engine, threads))
    }

    /// As [`Ensemble::stepper`], telling as well where each word comes from by the mean of the members that have an
    /// alignment head.
    pub fn stepper_with_head(&self, engine: Kernels, threads: usize) -> Result<Box<dyn Stepper>> {
        self.made_of(&|member| member.stepper_with_head(engine, threads))
    }

    fn made_of(&self, make: &dyn Fn(&Model) -> Result<Box<dyn Stepper>>) -> Result<Box<dyn Stepper>> {
        if let [only] = self.members.as_slice() {
            return make(only);
        }
        let steppers: Result<_> = self.members.iter().map(make).collect();
        let (readings, shown) = (Arc::clone(&self.readings), self.shown.clone());
        Ok(Box::new(Mixture::new(steppers?, readings, self.mixing.average, shown)))
    }

    /// The member whose words are the columns of the alignment. All that concerns the target words (tokenizer,
    /// language, the ids of `</s>` and `[UNK]`) is the same for every member.
    pub fn lead(&self) -> &Model {
        &self.members[self.lead]
    }

    pub fn members(&self) -> &[Model] {
        &self.members
    }

    pub fn shown(&self) -> &[usize] {
        &self.shown
    }

    /// How they become one.
    pub fn mixing(&self) -> Mixing {
        self.mixing
    }

    pub fn target(&self) -> &Tokenizer {
        &self.lead().target
    }

    /// The ids that the search must know.
    pub fn specials(&self) -> Specials {
        Specials::of(&self.lead().config)
    }

    pub fn aligns(&self) -> bool {
        !self.shown.is_empty()
    }

    /// Rows between the row that predicts a word and the first whose state has read it
    /// ([`Config::input_delay`](crate::models::config::Config::input_delay)); `None` where the members whose alignment
    /// is shown have none or differ.
    pub fn input_delay(&self) -> Option<usize> {
        let mut delays = self.shown.iter().map(|&n| self.members[n].config.input_delay());
        let first = delays.next()??;
        delays.all(|delay| delay == Some(first)).then_some(first)
    }

    pub fn name(&self) -> String {
        let names: Vec<&str> = self.members.iter().map(|member| member.config.name.as_str()).collect();
        names.join(" + ")
    }

    pub fn folder(&self) -> String {
        let folders: Vec<String> = self.members.iter().map(|member| member.folder.display().to_string()).collect();
        folders.join(" + ")
    }

    /// The sentence of the lead, its ids standing for what every member reads there.
    fn merge(&self, read: impl Fn(&Tokenizer) -> Sentence) -> Sentence {
        if self.members.len() == 1 {
            return read(&self.lead().source);
        }
        let sentences: Vec<Sentence> = self.members.iter().map(|member| read(&member.source)).collect();
        self.readings.merge(&sentences, self.lead)
    }
}

impl From<Model> for Ensemble {
    fn from(model: Model) -> Self {
        let (eos, unk, ends) = (model.config.eos, model.config.unk, [model.config.source_eos]);
        let shown = if model.config.aligns() { vec![0] } else { Vec::new() };
        let readings = Arc::new(Readings::new(eos, unk, &ends));
        Self { members: vec![model], mixing: Mixing::default(), lead: 0, shown, readings }
    }
}

impl Encode for Ensemble {
    fn encode(&self, text: &str) -> Sentence {
        self.merge(|tokenizer| tokenizer.encode(text))
    }

    fn encode_words(&self, words: &[&str]) -> Sentence {
        self.merge(|tokenizer| tokenizer.encode_words(words))
    }

    fn refuses(&self, sentence: &Sentence) -> Option<String> {
        self.lead().source.refuses(sentence)
    }
}

fn shown(members: &[Model], alignment: AlignmentOf) -> Result<Vec<usize>> {
    let n = match alignment {
        AlignmentOf::Mean => return Ok((0..members.len()).filter(|&n| members[n].config.aligns()).collect()),
        AlignmentOf::Member(n) => n,
    };
    match members.get(n) {
        Some(member) if member.config.aligns() => Ok(vec![n]),
        Some(member) => Err(Error::Input(format!(
            "the alignment of model {} was asked for, but {} ({}) has none; choose another model or the mean",
            n + 1,
            member.config.name,
            member.config.architecture.name()
        ))),
        None => Err(Error::Input(format!(
            "the alignment of model {} was asked for, but the ensemble has only {}",
            n + 1,
            members.len()
        ))),
    }
}

/// An average of probabilities means something only where they are probabilities of the same words.
fn check_words(first: &Model, other: &Model) -> Result<()> {
    let (a, b) = (first.folder.display(), other.folder.display());
    let advice = "the members of an ensemble must have been trained with one target vocabulary";
    let (mine, theirs) = (first.target.len(), other.target.len());
    if mine != theirs {
        let sentence = format!("{a} has {mine} target words, but {b} has {theirs}; {advice}");
        return Err(Error::Input(sentence));
    }
    let word = |model: &Model, id: u32| model.target.token(id).unwrap_or_default().to_owned();
    let differs = |id: &u32| first.target.token(*id) != other.target.token(*id);
    match (0..mine as u32).find(differs) {
        None => Ok(()),
        Some(id) => Err(Error::Input(format!(
            "the target word {id} is \"{}\" in {a}, but \"{}\" in {b}; {advice}",
            word(first, id),
            word(other, id)
        ))),
    }
}
