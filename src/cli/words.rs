//! Floor 13: from hypotheses to words, and the loops over batches that several commands share.

use std::ops::Range;

use crate::analysis::alignment::Alignment;
use crate::analysis::hard;
use crate::analysis::hard::Link;
use crate::analysis::words::merge_alpha;
use crate::decoding;
use crate::decoding::{Decoded, Ensemble, Forced, Hypothesis, SearchOptions, Specials};
use crate::error::{Error, Result};
use crate::evaluation::rows::ReadRows;
use crate::evaluation::wording::whole_words;
use crate::models::{Model, Stepper};
use crate::text::sentence::Sentence;
use crate::ticket::CancellationToken;

pub use crate::evaluation::wording::{
    join_words, pieces, singles, source_pieces, target_pieces, text, tokens, without_eos,
};

/// The ids that the search must know.
pub fn specials(model: &Model) -> Specials {
    Specials { eos: model.config.eos, unk: model.config.unk }
}

/// What is decoded of each source, by work that is never cancelled.
pub fn decode_all(
    specials: Specials,
    stepper: &mut dyn Stepper,
    sources: &[&[u32]],
    options: &SearchOptions,
    batch: usize,
) -> Result<Vec<Decoded>> {
    let mut done = vec![Decoded::default(); sources.len()];
    let ticket = CancellationToken::forever();
    decoding::decode_all(stepper, specials, sources, options, batch, &ticket, &mut |indexes, decoded| {
        indexes.iter().zip(decoded).for_each(|(&index, decoded)| done[index] = decoded);
        Ok(())
    })?;
    Ok(done)
}

/// What comes of forcing each pair, by work that is never cancelled.
pub fn force_all(
    rows: ReadRows,
    stepper: &mut dyn Stepper,
    pairs: &[(&[u32], &[u32])],
    batch: usize,
) -> Result<Vec<Forced>> {
    let mut done = vec![Forced::default(); pairs.len()];
    rows.force_all(stepper, pairs, batch, &CancellationToken::forever(), &mut |indexes, forced| {
        indexes.iter().zip(forced).for_each(|(&index, forced)| done[index] = forced);
        Ok(())
    })?;
    Ok(done)
}

/// How the rows of a system are read, by name, where training made them belong to other words than those predicted.
pub fn own_reading(system: &Ensemble) -> Option<&'static str> {
    ReadRows::own(system.into()).told()
}

/// For every target word its source word of greatest alpha, `</s>` on neither side; empty where the
/// model has no alignment.
pub fn links(model: &Model, source: &Sentence, hypothesis: &Hypothesis, pretokenized: bool) -> Vec<Link> {
    let Some(alpha) = &hypothesis.alpha else { return Vec::new() };
    let target = without_eos(model, &hypothesis.tokens);
    let pieces = (source_pieces(model, source, pretokenized), target_pieces(model, target));
    word_links(alpha, (source, pieces.0), (target.len(), pieces.1))
}

/// The links of words that stand in for alpha over tokens; `</s>` is left out.
fn word_links(
    alpha: &[Vec<f32>],
    (source, x): (&Sentence, Option<Vec<Range<usize>>>),
    (target_tokens, y): (usize, Option<Vec<Range<usize>>>),
) -> Vec<Link> {
    let alpha = Alignment::from_rows(alpha).words(target_tokens, source.words());
    if x.is_none() && y.is_none() {
        return hard::links(&alpha);
    }
    let mut x = x.unwrap_or_else(|| singles(source.words()));
    let mut y = y.unwrap_or_else(|| singles(target_tokens));
    x.retain(|word| word.end <= source.words());
    y.retain(|word| word.end <= target_tokens);
    hard::links(&merge_alpha(&alpha, &x, &y))
}

/// The words of a pair whose target was forced, and the links between them.
pub struct Worded {
    /// x, as written.
    pub source: Vec<String>,
    /// y, as written.
    pub target: Vec<String>,
    /// For every target word its source word of greatest alpha.
    pub links: Vec<Link>,
}

/// Tokens of a forced pair as words, `</s>` left out.
pub fn worded(
    system: &Ensemble,
    (source, target): (&Sentence, &Sentence),
    alpha: &[Vec<f32>],
    pretokenized: bool,
) -> Worded {
    let x = pieces(&system.lead().source, source, pretokenized);
    let y = pieces(system.target(), target, pretokenized);
    let words = |sentence: &Sentence, pieces: &Option<Vec<Range<usize>>>| {
        let whole = pieces.as_ref().map(|pieces| whole_words(sentence, pieces));
        let sentence = whole.as_ref().unwrap_or(sentence);
        sentence.tokens[..sentence.words()].to_vec()
    };
    let (source_words, target_words) = (words(source, &x), words(target, &y));
    Worded { source: source_words, target: target_words, links: word_links(alpha, (source, x), (target.words(), y)) }
}

/// Refuses what needs an alignment where the model has none.
pub fn require_alignment(system: &Ensemble, flag: &str) -> Result<()> {
    if system.aligns() {
        return Ok(());
    }
    let architecture = |model: &Model| model.config.architecture.name();
    let architectures: Vec<&str> = system.members().iter().map(architecture).collect();
    Err(Error::Input(format!(
        "{flag} needs an alignment and {} ({}) has none; choose an rnnsearch model or a luong model with attention",
        system.name(),
        architectures.join(", ")
    )))
}

/// The error at the end of work in which this many lines were refused, each with its own sentence.
pub fn refused(count: usize) -> anyhow::Result<()> {
    match count {
        0 => Ok(()),
        1 => Err(Error::Input("1 line was left empty because a model cannot read it".into()).into()),
        _ => Err(Error::Input(format!("{count} lines were left empty because a model cannot read them")).into()),
    }
}
