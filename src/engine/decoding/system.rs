//! Which system translates: a model, or several as one.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::{decoding::ensemble::average::Average, models::choice::ModelSpec};

/// Whose alignment an ensemble shows. Of a file, what is not understood is the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AlignmentOf {
    /// The mean of the members that have one; none where none has.
    #[default]
    Mean,
    /// That of member n, from 0; it must have one.
    Member(usize),
}

impl fmt::Display for AlignmentOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => f.write_str("mean"),
            Self::Member(n) => write!(f, "{}", n + 1),
        }
    }
}

impl FromStr for AlignmentOf {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.parse::<usize>() {
            _ if text == "mean" => Ok(Self::Mean),
            Ok(n) if n > 0 => Ok(Self::Member(n - 1)),
            _ => Err(Error::Input("write mean, or the number of a model, counted from 1".to_owned())),
        }
    }
}

impl Serialize for AlignmentOf {
    fn serialize<S: Serializer>(&self, output: S) -> std::result::Result<S::Ok, S::Error> {
        output.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AlignmentOf {
    fn deserialize<D: Deserializer<'de>>(input: D) -> std::result::Result<Self, D::Error> {
        Ok(String::deserialize(input)?.parse().unwrap_or_default())
    }
}

/// How members become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Mixing {
    pub average: Average,
    /// Whose alignment is shown.
    pub alignment: AlignmentOf,
}

/// A model, or several that translate as one ([`Ensemble`](crate::decoding::Ensemble) is what is loaded of it).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "SavedSystem", into = "SavedSystem")]
pub struct SystemSpec {
    /// Its models; more than one is an ensemble.
    pub members: Vec<ModelSpec>,
    /// How several become one.
    pub mixing: Mixing,
}

/// A system as it is saved: a model is its text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum SavedSystem {
    Model(ModelSpec),
    Ensemble {
        #[serde(default)]
        members: Vec<ModelSpec>,
        #[serde(flatten)]
        mixing: Mixing,
    },
}

impl From<SavedSystem> for SystemSpec {
    fn from(saved: SavedSystem) -> Self {
        match saved {
            SavedSystem::Model(model) => model.into(),
            SavedSystem::Ensemble { members, mixing } => Self { members, mixing },
        }
    }
}

impl From<SystemSpec> for SavedSystem {
    fn from(SystemSpec { mut members, mixing }: SystemSpec) -> Self {
        match members.pop() {
            Some(only) if members.is_empty() => Self::Model(only),
            last => Self::Ensemble { members: members.into_iter().chain(last).collect(), mixing },
        }
    }
}

impl<M: Into<ModelSpec>> From<M> for SystemSpec {
    fn from(model: M) -> Self {
        Self { members: vec![model.into()], mixing: Mixing::default() }
    }
}

impl SystemSpec {
    pub fn only(&self) -> Option<&ModelSpec> {
        if let [only] = self.members.as_slice() { Some(only) } else { None }
    }

    pub fn is_ensemble(&self) -> bool {
        self.members.len() > 1
    }

    pub fn name(&self) -> String {
        let names: Vec<String> = self.members.iter().map(ModelSpec::name).collect();
        names.join(" + ")
    }
}

impl fmt::Display for SystemSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let models: Vec<String> = self.members.iter().map(ModelSpec::to_string).collect();
        f.write_str(&models.join(" + "))
    }
}
