//! Floor 8: what is asked as one: a model, or several.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::jobs::live::protocol::EnsembleSpec;

/// A model folder, or several models that translate as one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Candidate {
    /// A model.
    Model(PathBuf),
    /// Several.
    Ensemble(EnsembleSpec),
}

impl Candidate {
    /// The folders of its models.
    pub fn folders(&self) -> &[PathBuf] {
        match self {
            Self::Model(folder) => std::slice::from_ref(folder),
            Self::Ensemble(ensemble) => &ensemble.members,
        }
    }

    /// The same, to put them elsewhere.
    pub fn folders_mut(&mut self) -> &mut [PathBuf] {
        match self {
            Self::Model(folder) => std::slice::from_mut(folder),
            Self::Ensemble(ensemble) => &mut ensemble.members,
        }
    }
}

impl From<PathBuf> for Candidate {
    fn from(folder: PathBuf) -> Self {
        Self::Model(folder)
    }
}
