//! Floor 3: the vectors that a model has for words and phrases (Cho et al. 2014, section 4.4).
//!
//! A word is its row of an embedding matrix. A phrase is the context c of RNNencdec (Cho's equation for c,
//! section 2.2), and the mean of its annotations h_j where a model has no such vector (Bahdanau et al. 2015, eq. 7).

use crate::error::Result;
use crate::models::Model;
use crate::models::Stepper;
use crate::models::checkpoint::Array;

/// Which vocabulary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Side {
    /// The language that is read.
    #[default]
    Source,
    /// The language that is written.
    Target,
}

impl Side {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Target => "target",
        }
    }
}

/// What stands for a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhraseVector {
    /// The one context vector c. [n]
    Context,
    /// The mean of the annotations of its words, `</s>` left aside. [2n] or [n]
    MeanAnnotation,
}

impl PhraseVector {
    /// What it is, in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Context => "context c",
            Self::MeanAnnotation => "mean of the annotations h_j",
        }
    }
}

/// The embedding matrix of a side, a row for each word: [K, m].
///
/// # Errors
/// When the weights lack it.
pub fn embedding(model: &Model, side: Side) -> Result<&Array> {
    model.weights.get(match side {
        Side::Source => "source_embedding",
        Side::Target => "target_embedding",
    })
}

/// The vectors of phrases (ids, none empty), read in one batch, and what they are; `eos` is the id that ends
/// them where they are ended. `None` where the model has nothing that stands for a phrase.
///
/// # Errors
/// When the device refuses or an id lies outside the vocabulary.
pub fn phrases(
    stepper: &mut dyn Stepper,
    sources: &[&[u32]],
    eos: Option<u32>,
) -> Result<Option<(PhraseVector, Vec<Vec<f32>>)>> {
    stepper.begin(sources)?;
    let contexts: Option<Vec<_>> = (0..sources.len()).map(|sentence| stepper.context(sentence)).collect();
    if let Some(contexts) = contexts {
        return Ok(Some((PhraseVector::Context, contexts)));
    }
    let mean_of = |(sentence, source): (usize, &&[u32])| {
        let mut h = stepper.annotations(sentence)?;
        if h.len() > 1 && source.last().copied() == eos {
            h.pop();
        }
        Some(mean(&h))
    };
    let means: Option<Vec<_>> = sources.iter().enumerate().map(mean_of).collect();
    Ok(means.map(|means| (PhraseVector::MeanAnnotation, means)))
}

fn mean(rows: &[Vec<f32>]) -> Vec<f32> {
    let mut sum = vec![0.0; rows.first().map_or(0, Vec::len)];
    for row in rows {
        for (sum, x) in sum.iter_mut().zip(row) {
            *sum += x;
        }
    }
    let share = 1.0 / rows.len().max(1) as f32;
    sum.iter().map(|sum| sum * share).collect()
}
