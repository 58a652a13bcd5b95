//! Floor 13: from hypotheses to words, and the loops over batches that several commands share.

use crate::analysis::alignment::Alignment;
use crate::analysis::hard::Link;
use crate::analysis::reading::Reading;
use crate::analysis::words::{links_of_parts, merge_alpha, over_words};
use crate::decoding;
use crate::decoding::{Decoded, Ensemble, Forced, Hypothesis, SearchOptions, Specials};
use crate::error::{Error, Result};
use crate::evaluation::rows::ReadRows;
use crate::models::{Model, Stepper};
use crate::text::links::Links;
use crate::text::sentence::Sentence;
use crate::text::tokenizer::Tokenizer;
use crate::text::words::{SideWords, vocabulary_words, whole_words};
use crate::ticket::CancellationToken;

pub use crate::evaluation::wording::{join_words, text, tokens, without_eos};

/// The ids that the search must know.
pub fn specials(model: &Model) -> Specials {
    Specials::of(&model.config)
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

/// Rows of a translation, and how links are read off them.
pub type ReadBy<'a> = Option<(&'a [Vec<f32>], Reading)>;

/// The rows of an alignment head where there are some, else those of alpha.
pub fn read_by<'a>(head: Option<&'a [Vec<f32>]>, alpha: Option<&'a [Vec<f32>]>) -> ReadBy<'a> {
    let head = head.map(|head| (head, Reading::Head));
    head.or_else(|| Some((alpha?, Reading::default())))
}

/// Those of a forced target.
pub fn came_from(forced: &Forced) -> ReadBy<'_> {
    read_by(forced.head.as_deref(), forced.alpha.as_deref())
}

/// The links of a translation by some rows of it: for every word of its text the word of the source's text of greatest alpha, as
/// [`crate::text::words`] counts them; empty where the model has no alignment.
pub fn links(
    model: &Model,
    source: &Sentence,
    (hypothesis, rows): (&Hypothesis, ReadBy<'_>),
    pretokenized: bool,
) -> Vec<Link> {
    word_links(rows, sides(model, source, hypothesis, pretokenized))
}

/// The same for people to read, as [`links_of_parts`] has them.
pub fn glossing_links(
    model: &Model,
    source: &Sentence,
    (hypothesis, (rows, reading)): (&Hypothesis, (&[Vec<f32>], Reading)),
) -> Links {
    let links = |(x, y): (SideWords, SideWords)| links_of_parts(rows, (&x, &y), |words| reading.links(words));
    sides(model, source, hypothesis, false).map(links).unwrap_or_default()
}

/// The same of a pair whose target was forced.
pub fn forced_links(
    system: &Ensemble,
    (source, target): (&Sentence, &Sentence),
    rows: ReadBy<'_>,
    pretokenized: bool,
) -> Vec<Link> {
    let source = side(&system.lead().source, source, pretokenized);
    word_links(rows, source.zip(side(system.target(), target, pretokenized)))
}

/// Both sides of a translation.
fn sides(
    model: &Model,
    source: &Sentence,
    hypothesis: &Hypothesis,
    pretokenized: bool,
) -> Option<(SideWords, SideWords)> {
    let said = text(model, hypothesis, source, None, pretokenized);
    let target = SideWords::of_translation(&model.target, without_eos(model, &hypothesis.tokens), &said, pretokenized);
    side(&model.source, source, pretokenized).zip(target)
}

fn side(tokenizer: &Tokenizer, sentence: &Sentence, pretokenized: bool) -> Option<SideWords> {
    SideWords::of_sentence(tokenizer, sentence, &sentence.text, pretokenized)
}

fn word_links(rows: ReadBy<'_>, sides: Option<(SideWords, SideWords)>) -> Vec<Link> {
    let words = rows.zip(sides);
    words.map_or_else(Vec::new, |((rows, reading), (x, y))| reading.links(&over_words(rows, &x, &y)))
}

/// The words of the vocabularies in a pair whose target was forced, and the links between them.
pub struct Worded {
    /// x, as written.
    pub source: Vec<String>,
    /// y, as written.
    pub target: Vec<String>,
    /// For every target word its source word of greatest weight.
    pub links: Vec<Link>,
}

/// Tokens of a forced pair as words, `</s>` left out.
pub fn worded(
    system: &Ensemble,
    (source, target): (&Sentence, &Sentence),
    (rows, reading): (&[Vec<f32>], Reading),
    pretokenized: bool,
) -> Worded {
    let x = vocabulary_words(&system.lead().source, source, pretokenized);
    let y = vocabulary_words(system.target(), target, pretokenized);
    let (source, target) = (whole_words(source, &x), whole_words(target, &y));
    let alpha = merge_alpha(&Alignment::from_rows(rows), &x, &y).words(target.words(), source.words());
    let words = |sentence: Sentence| sentence.tokens[..sentence.words()].to_vec();
    Worded { source: words(source), target: words(target), links: reading.links(&alpha) }
}

/// Refuses what needs an alignment where the model has none, and no alignment head that is to be used.
pub fn require_alignment(system: &Ensemble, has_head: bool, flag: &str) -> Result<()> {
    if system.aligns() || has_head {
        return Ok(());
    }
    let architecture = |model: &Model| model.config.architecture.name();
    let architectures: Vec<&str> = system.members().iter().map(architecture).collect();
    Err(Error::Input(format!(
        "{flag} needs an alignment and {} ({}) has none; choose an rnnsearch model or a luong model with attention, or learn an \
         alignment head for it with `interlinear train --head`",
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
