//! What is evaluated: a model, or several that translate as one. Both are measured by the same code.

use std::path::PathBuf;

use crate::decoding::{Ensemble, Specials};
use crate::models::{Kernels, Model};
use crate::{decoding::ensemble::Mixing, text::tokenizer::Encode};

/// A model, or several that translate as one.
#[derive(Clone, Copy, Debug)]
pub enum EvaluatedSystem<'a> {
    Model(&'a Model),
    Ensemble(&'a Ensemble),
}

impl<'a> From<&'a Model> for EvaluatedSystem<'a> {
    fn from(model: &'a Model) -> Self {
        Self::Model(model)
    }
}

impl<'a> From<&'a Ensemble> for EvaluatedSystem<'a> {
    /// An ensemble of one model is that model.
    fn from(ensemble: &'a Ensemble) -> Self {
        match ensemble.members() {
            [only] => Self::Model(only),
            _ => Self::Ensemble(ensemble),
        }
    }
}

impl<'a> EvaluatedSystem<'a> {
    /// The model; of an ensemble the member whose source words are the columns of its alignment. All that concerns
    /// target words is the same for every member.
    pub fn lead(self) -> &'a Model {
        match self {
            Self::Model(model) => model,
            Self::Ensemble(ensemble) => ensemble.lead(),
        }
    }

    /// What reads a source text.
    pub fn source(self) -> &'a dyn Encode {
        match self {
            Self::Model(model) => &model.source,
            Self::Ensemble(ensemble) => ensemble,
        }
    }

    pub fn name(self) -> String {
        match self {
            Self::Model(model) => model.config.name.clone(),
            Self::Ensemble(ensemble) => ensemble.name(),
        }
    }

    /// The architecture, or `ensemble`.
    pub fn architecture(self) -> &'static str {
        match self {
            Self::Model(model) => model.config.architecture.name(),
            Self::Ensemble(_) => "ensemble",
        }
    }

    /// Where it lies; of an ensemble the folders of its members with ` + ` between.
    pub fn folder(self) -> PathBuf {
        match self {
            Self::Model(model) => model.folder.clone(),
            Self::Ensemble(ensemble) => PathBuf::from(ensemble.folder()),
        }
    }

    /// How its members become one; `None` of one model.
    pub fn mixing(self) -> Option<Mixing> {
        match self {
            Self::Model(_) => None,
            Self::Ensemble(ensemble) => Some(ensemble.mixing()),
        }
    }

    pub fn aligns(self) -> bool {
        match self {
            Self::Model(model) => model.config.aligns(),
            Self::Ensemble(ensemble) => ensemble.aligns(),
        }
    }

    pub fn has_head(self) -> bool {
        let has = |model: &Model| model.head(Kernels::Fused).is_ok_and(|head| head.is_some());
        match self {
            Self::Model(model) => has(model),
            Self::Ensemble(ensemble) => ensemble.members().iter().any(has),
        }
    }

    pub fn input_delay(self) -> Option<usize> {
        match self {
            Self::Model(model) => model.config.input_delay(),
            Self::Ensemble(ensemble) => ensemble.input_delay(),
        }
    }

    /// The reading of the rows that training guided by given links; `None` where it did not, or where the members whose
    /// alignment is shown differ.
    pub fn guided(self) -> Option<&'a str> {
        match self {
            Self::Model(model) => model.guided(),
            Self::Ensemble(ensemble) => {
                let mut guided = ensemble.shown().iter().map(|&n| ensemble.members()[n].guided());
                let first = guided.next()??;
                guided.all(|other| other == Some(first)).then_some(first)
            }
        }
    }

    pub fn specials(self) -> Specials {
        Specials::of(&self.lead().config)
    }
}
