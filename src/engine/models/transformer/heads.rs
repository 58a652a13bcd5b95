//! The heads of a Transformer by their places, and what in them is other than the model's own.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::models::transformer::sizes::{DecoderCell, TransformerSizes};

/// What looks at what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeadKind {
    #[default]
    Cross,
    Source,
    Target,
}

impl HeadKind {
    pub const ALL: [Self; 3] = [Self::Cross, Self::Source, Self::Target];

    pub fn name(self) -> &'static str {
        match self {
            Self::Cross => "cross",
            Self::Source => "source",
            Self::Target => "target",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Cross => id!("cross-attention"),
            Self::Source => id!("source self-attention"),
            Self::Target => id!("target self-attention"),
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    fn is_cross(&self) -> bool {
        *self == Self::Cross
    }
}

/// A head; layer and head count from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadPlace {
    #[serde(default, skip_serializing_if = "HeadKind::is_cross")]
    pub attention: HeadKind,
    pub layer: usize,
    pub head: usize,
}

impl fmt::Display for HeadPlace {
    /// `6.1` of cross-attention, else `source 2.3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.attention.is_cross() {
            write!(f, "{} ", self.attention.name())?;
        }
        write!(f, "{}.{}", self.layer, self.head)
    }
}

/// What is other than the model's own in the heads of a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadChanges {
    /// Heads whose output is zero, as Michel et al. 2019 (Are Sixteen Heads Really Better than One?, eq. 2) leave them
    /// out.
    pub left_out: Vec<HeadPlace>,
    /// Source words at which no head of cross-attention looks, from 0; the other words share their weight.
    pub masked: Vec<usize>,
}

impl HeadChanges {
    pub fn is_empty(&self) -> bool {
        self.left_out.is_empty() && self.masked.is_empty()
    }

    pub fn left_out_of(&self, attention: HeadKind, layer: usize) -> impl Iterator<Item = usize> {
        let is_here = move |place: &&HeadPlace| place.attention == attention && place.layer == layer;
        self.left_out.iter().filter(is_here).map(|place| place.head)
    }
}

impl TransformerSizes {
    fn layers_of(&self, attention: HeadKind) -> usize {
        match attention {
            HeadKind::Source => self.encoder_layers,
            HeadKind::Target if self.cell == DecoderCell::Ssru => 0,
            HeadKind::Cross | HeadKind::Target => self.decoder_layers,
        }
    }

    pub fn places(&self, attention: HeadKind) -> impl Iterator<Item = HeadPlace> {
        let heads = self.heads;
        let of = move |layer| (1..=heads).map(move |head| HeadPlace { attention, layer, head });
        (1..=self.layers_of(attention)).flat_map(of)
    }

    pub fn lacks(&self, place: HeadPlace) -> Option<String> {
        let HeadPlace { attention, layer, head } = place;
        let layers = self.layers_of(attention);
        if (1..=layers).contains(&layer) && (1..=self.heads).contains(&head) {
            return None;
        }
        Some(if layers == 0 {
            "is no head of this model, whose decoder reads the words before with an SSRU".to_owned()
        } else {
            let title = attention.title();
            format!("is no head of this model, which has {layers} layers of {title} with {} heads each", self.heads)
        })
    }

    pub fn changes_for(&self, changes: &[HeadChanges], sources: &[&[u32]]) -> Result<Vec<HeadChanges>> {
        if changes.iter().all(HeadChanges::is_empty) {
            return Ok(Vec::new());
        }
        let mut all = changes.to_vec();
        all.resize_with(sources.len(), HeadChanges::default);
        for (changes, source) in all.iter().zip(sources) {
            let lacks = |place: &HeadPlace| Some(format!("{place}, which is to be left out, {}", self.lacks(*place)?));
            if let Some(message) = changes.left_out.iter().find_map(lacks) {
                return Err(Error::Input(message));
            }
            if let Some(j) = changes.masked.iter().find(|j| **j >= source.len()) {
                return Err(Error::Internal(format!("source word {} of {} was masked", j + 1, source.len())));
            }
        }
        Ok(all)
    }
}
