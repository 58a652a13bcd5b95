//! The vectors of words (rows of an embedding) and of phrases: the context c of RNNencdec (Cho et al. 2014, section
//! 4.4), or the mean of the annotations h_j where a model has no such vector (Bahdanau et al. 2015, eq. 7).

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::models::{checkpoint::Array, folder::Model, stepper::Stepper};
use crate::text::tokenizer::Tokenizer;

const BATCH: usize = 64;
const BATCH_WORDS: usize = 4096;

/// Which vocabulary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum VocabularySide {
    #[default]
    Source,
    Target,
}

impl VocabularySide {
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
    pub fn name(self) -> &'static str {
        match self {
            Self::Context => id!("context c"),
            Self::MeanAnnotation => id!("mean of the annotations h_j"),
        }
    }
}

pub fn embedding(model: &Model, side: VocabularySide) -> Result<&Array> {
    model.weights.get(match side {
        VocabularySide::Source => "source_embedding",
        VocabularySide::Target => model.config.target_embedding(),
    })
}

/// The vectors of some words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WordVectors {
    /// Ascending ids: in a shortlist the most frequent words come first.
    pub ids: Vec<u32>,
    pub dimension: usize,
    /// A row for each id. [words, m]
    pub rows: Vec<f32>,
}

/// The first `most` words of a side with their vectors; `</s>` and holes of a foreign vocabulary are left out.
pub fn words(model: &Model, side: VocabularySide, most: usize) -> Result<WordVectors> {
    let table = embedding(model, side)?;
    let dimension = table.shape.get(1).copied().unwrap_or(0);
    let vocabulary = tokenizer(model, side);
    let is_word = |id: &u32| *id != model.config.eos && vocabulary.token(*id).is_some_and(|word| !word.is_empty());
    let ids: Vec<u32> = (0..vocabulary.len() as u32).filter(is_word).take(most).collect();
    let row = |id: &u32| table.data.get(*id as usize * dimension..(*id as usize + 1) * dimension);
    let rows = ids.iter().filter_map(row).flatten().copied().collect();
    Ok(WordVectors { ids, dimension, rows })
}

pub fn tokenizer(model: &Model, side: VocabularySide) -> &Tokenizer {
    match side {
        VocabularySide::Source => &model.source,
        VocabularySide::Target => &model.target,
    }
}

/// The vectors of some phrases.
#[derive(Clone, Debug, PartialEq)]
pub struct PhraseVectors {
    pub vector: PhraseVector,
    pub dimension: usize,
    /// A row for each phrase, in the order given. [phrases, dimension]
    pub rows: Vec<f32>,
}

/// Reads phrases (ids, none empty) in batches of similar length; `done` gets the number read, and its error stops it.
pub fn phrases(
    name: &str, stepper: &mut dyn Stepper, sources: &[&[u32]], eos: Option<u32>,
    done: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<PhraseVectors> {
    let nothing = || Error::Input(format!("{name} has no vector for a phrase; choose another model or map words"));
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|&at| sources[at].len());
    let mut kind = PhraseVector::Context;
    let mut read: Vec<Vec<f32>> = vec![Vec::new(); sources.len()];
    let mut from = 0;
    while from < order.len() {
        // Sorted by length, so the last of a batch is the longest.
        let fits = |count: usize| count == 1 || count * sources[order[from + count - 1]].len() <= BATCH_WORDS;
        let count = (1..=(order.len() - from).min(BATCH)).take_while(|count| fits(*count)).count();
        let batch = &order[from..from + count];
        let chosen: Vec<&[u32]> = batch.iter().map(|&at| sources[at]).collect();
        let (vector, rows) = read_batch(stepper, &chosen, eos)?.ok_or_else(nothing)?;
        kind = vector;
        for (&at, row) in batch.iter().zip(rows) {
            read[at] = row;
        }
        from += count;
        done(from)?;
    }
    Ok(PhraseVectors { vector: kind, dimension: read.first().map_or(0, Vec::len), rows: read.concat() })
}

fn read_batch(
    stepper: &mut dyn Stepper, sources: &[&[u32]], eos: Option<u32>,
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
