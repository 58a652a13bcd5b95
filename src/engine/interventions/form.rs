//! Interventions in words and positions, the same for a file, the window, the saved state, the command line and a
//! corpus. Ids differ between vocabularies, so words are text.
//!
//! ```json
//! {"version": 1, "source": "the old house", "prefix": "la", "temperature": 0.5,
//!  "force": [{"position": 2, "word": "vieille"}], "forbid": [{"word": "ancienne"}],
//!  "pin": [{"row": 3, "alpha": {"word": "house"}}], "mask": [{"position": 1}],
//!  "leave_out": [{"layer": 6, "head": 1}, {"attention": "source", "layer": 2, "head": 3}]}
//! ```
//!
//! Positions count from 1 in JSON and from 0 here.

use std::{ops::Range, path::Path};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::{models::transformer::heads::HeadPlace, text::sentence::EOS};

/// The version of the format that is written and read.
pub const VERSION: u32 = 1;

/// What is changed while one sentence is translated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interventions {
    pub version: u32,
    /// The sentence that it was made for; another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The name of the model that it was made with, for the window; any other may read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Text that the translation begins with; where this is resolved, and in the window, its words are forced ones.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// Words that are said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub force: Vec<Force>,
    /// Words that are not said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbid: Vec<Forbid>,
    /// Rows of alpha that are given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pin: Vec<Pin>,
    /// Source words that get no weight where alpha is not pinned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mask: Vec<Place>,
    /// Heads of a Transformer whose output is zero.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leave_out: Vec<HeadPlace>,
    /// T of softmax(e_i / T) where alpha is not pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
}

impl Default for Interventions {
    fn default() -> Self {
        Self {
            version: VERSION,
            source: None,
            model: None,
            prefix: String::new(),
            force: Vec::new(),
            forbid: Vec::new(),
            pin: Vec::new(),
            mask: Vec::new(),
            leave_out: Vec::new(),
            temperature: None,
        }
    }
}

/// A target word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a word is text, or an object with `text`")]
pub enum Word {
    /// An entry of the vocabulary as it writes it; where it has none, text.
    Entry(String),
    /// Text that is still to be cut, which may become several entries: `{"text": "la maison"}`.
    Typed(#[serde(with = "typed")] String),
}

impl Word {
    pub fn text(&self) -> &str {
        match self {
            Self::Entry(text) | Self::Typed(text) => text,
        }
    }
}

mod typed {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Typed {
        text: String,
    }

    pub(super) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        Typed { text: text.to_owned() }.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        Typed::deserialize(deserializer).map(|typed| typed.text)
    }
}

/// A position from 0 that is written from 1. One that is written 0 is [`usize::MAX`] until it is resolved, which names
/// its key.
mod from_one {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    pub(super) fn serialize<S: Serializer>(i: &usize, serializer: S) -> Result<S::Ok, S::Error> {
        i.wrapping_add(1).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
        usize::deserialize(deserializer).map(|i| i.wrapping_sub(1))
    }

    /// As above, where there may be none.
    pub(super) mod or_none {
        use super::{Deserialize, Deserializer, Serialize, Serializer};

        #[derive(Serialize, Deserialize)]
        struct Position(#[serde(with = "super")] usize);

        #[expect(clippy::ref_option, reason = "serde calls it with a reference")]
        pub(in super::super) fn serialize<S: Serializer>(i: &Option<usize>, serializer: S) -> Result<S::Ok, S::Error> {
            i.map(Position).serialize(serializer)
        }

        pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<usize>, D::Error> {
            Ok(Option::deserialize(deserializer)?.map(|Position(i)| i))
        }
    }
}

/// A word that is said at a position, or from it on where it is cut into pieces. What stands behind a typed word at the
/// beginning stands behind all its pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Force {
    #[serde(rename = "position", with = "from_one")]
    pub i: usize,
    pub word: Word,
    /// The model had chosen it, and it only stands still because of what is changed behind it; for the window.
    #[serde(default, skip_serializing_if = "is_false")]
    pub held: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(held: &bool) -> bool {
    !held
}

/// A word that is not said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forbid {
    #[serde(rename = "position", default, skip_serializing_if = "Option::is_none", with = "from_one::or_none")]
    pub i: Option<usize>,
    pub word: Word,
}

/// A row of alpha that is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    #[serde(rename = "row", with = "from_one")]
    pub i: usize,
    pub alpha: SetAlpha,
}

/// What a row of alpha becomes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SetAlpha {
    Weights(Vec<f32>),
    Position(#[serde(with = "from_one")] usize),
    Word(String),
    /// The same for every source token.
    Uniform,
    Permuted(u64),
}

/// A source word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    Position(#[serde(with = "from_one")] usize),
    Word(String),
    /// What stands at these bytes of the sentence, however a model cuts it; an empty place is `</s>`.
    Bytes(Range<usize>),
}

#[derive(Deserialize)]
struct Head {
    version: Option<u32>,
}

pub fn is_object(text: &str) -> bool {
    serde_json::from_str::<Head>(text).is_ok()
}

impl Interventions {
    pub fn row_bytes(&self) -> usize {
        let weights = |pin: &Pin| if let SetAlpha::Weights(weights) = &pin.alpha { weights.len() } else { 0 };
        size_of::<f32>() * self.pin.iter().map(weights).sum::<usize>()
    }

    /// Reads one object; `lines` is the number of lines before `text` in the file.
    pub fn parse(path: &Path, lines: usize, text: &str) -> Result<Self> {
        let wrong = |error: serde_json::Error| {
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
            let advice = "write an object of interventions as `interlinear translate --help` describes it";
            Error::line(path, lines + error.line().max(1), format!("{message}; {advice}"))
        };
        let head: Head = serde_json::from_str(text).map_err(wrong)?;
        match head.version {
            Some(VERSION) => serde_json::from_str(text).map_err(wrong),
            Some(version) => {
                let message = format!("is {version}, but this program reads version {VERSION}");
                Err(Error::key(path, "version", message))
            }
            None => Err(Error::line(path, lines + 1, format!("has no `version`; write \"version\": {VERSION}"))),
        }
    }

    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| Error::Internal(error.to_string()))
    }

    pub fn is_empty(&self) -> bool {
        *self == Self { source: self.source.clone(), model: self.model.clone(), ..Self::default() }
    }

    pub fn changes_alpha(&self) -> bool {
        !self.pin.is_empty() || !self.mask.is_empty() || self.temperature.is_some()
    }

    /// How many forced words the translation begins with, one behind the other.
    pub fn begun(&self) -> usize {
        self.force.iter().enumerate().take_while(|(n, force)| *n == force.i).count()
    }

    /// The words that the translation begins with.
    pub fn beginning(&self) -> &[Force] {
        &self.force[..self.begun()]
    }

    pub fn begin_with(&mut self, start: &[Force]) {
        let behind = self.force.split_off(self.begun());
        self.force = start.to_vec();
        self.force.extend(behind.into_iter().filter(|force| force.i >= start.len()));
    }

    pub fn pin(&mut self, pin: Pin) {
        self.free(pin.i);
        let at = self.pin.partition_point(|other| other.i < pin.i);
        self.pin.insert(at, pin);
    }

    pub fn free(&mut self, i: usize) {
        self.pin.retain(|pin| pin.i != i);
    }

    /// What still means something for another text: nothing that belongs to a position or a source word.
    pub fn for_other_text(&self) -> Self {
        let forbid = self.forbid.iter().filter(|forbid| forbid.i.is_none()).cloned().collect();
        Self { forbid, leave_out: self.leave_out.clone(), temperature: self.temperature, ..Self::default() }
    }

    /// What was set for `source` as it is for every sentence: words that are only held are free, and source words are
    /// hidden wherever they stand.
    pub fn for_every_sentence(&self, source: &str) -> Self {
        let word = |place: &Place| match place {
            // the target language stands before the text
            Place::Bytes(bytes) if bytes.end == 0 => Place::Position(0),
            Place::Bytes(bytes) => {
                let word = source.get(bytes.clone()).filter(|word| !word.is_empty()).unwrap_or(EOS);
                Place::Word(word.to_owned())
            }
            Place::Position(_) | Place::Word(_) => place.clone(),
        };
        let force = self.force.iter().filter(|force| !force.held).cloned().collect();
        Self { source: None, model: None, force, mask: self.mask.iter().map(word).collect(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_for_a_sentence_is_said_in_words_that_others_have() {
        let force = |i, word: &str, held| Force { i, word: Word::Entry(word.to_owned()), held };
        let set = Interventions {
            force: vec![force(0, "le", true), force(1, "vieux", false), force(4, "vent", false)],
            forbid: vec![Forbid { i: None, word: Word::Typed("moulin".to_owned()) }],
            pin: vec![
                Pin { i: 2, alpha: SetAlpha::Weights(vec![0.5, 0.5]) },
                Pin { i: 3, alpha: SetAlpha::Permuted(7) },
            ],
            mask: vec![Place::Bytes(4..7), Place::Bytes(12..12)],
            temperature: Some(0.5),
            ..Interventions::default()
        };
        let json = set.for_every_sentence("the old mill").to_json().expect("JSON");
        let expected = r#"{"version":1,"force":[{"position":2,"word":"vieux"},{"position":5,"word":"vent"}],"forbid":[{"word":{"text":"moulin"}}],"pin":[{"row":3,"alpha":{"weights":[0.5,0.5]}},{"row":4,"alpha":{"permuted":7}}],"mask":[{"word":"old"},{"word":"</s>"}],"temperature":0.5}"#;
        assert_eq!(json, expected);
        let again =
            Interventions::parse(Path::new("a"), 0, &set.to_json().expect("JSON")).expect("it reads what it wrote");
        assert_eq!(again, set);
    }
}
