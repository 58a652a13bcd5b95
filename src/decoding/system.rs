//! Floor 4: which system translates: a model, or several as one.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::decoding::ensemble::Mixing;
use crate::models::choice::ModelSpec;

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
    /// Its model, where it is one alone.
    pub fn only(&self) -> Option<&ModelSpec> {
        if let [only] = self.members.as_slice() { Some(only) } else { None }
    }

    /// Whether it is several models.
    pub fn is_ensemble(&self) -> bool {
        self.members.len() > 1
    }

    /// The names of its models.
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
