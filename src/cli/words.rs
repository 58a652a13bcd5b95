//! Floor 9: from hypotheses to words, and the loops over batches that several commands share.

use crate::analysis::alignment::Alignment;
use crate::analysis::hard::Link;
use crate::analysis::unknown::Replacing;
use crate::analysis::{hard, unknown};
use crate::decoding;
use crate::decoding::{Decoded, Ensemble, Forced, Hypothesis, SearchOptions, Specials};
use crate::error::{Error, Result};
use crate::models::{Model, Stepper};
use crate::text::join::join;
use crate::text::sentence::{Sentence, UNK};
use crate::ticket::Ticket;

/// The ids that the search must know.
pub fn specials(model: &Model) -> Specials {
    Specials { eos: model.config.eos, unk: model.config.unk }
}

/// [`decoding::decode_all`] for work that is never cancelled.
pub fn decode_all(
    specials: Specials,
    stepper: &mut dyn Stepper,
    sources: &[&[u32]],
    options: &SearchOptions,
    batch: usize,
    done: &mut dyn FnMut(&[usize], Vec<Decoded>),
) -> Result<()> {
    let ticket = Ticket::forever();
    decoding::decode_all(stepper, specials, sources, options, batch, &ticket, &mut |indexes, decoded| {
        done(indexes, decoded);
        Ok(())
    })
}

/// [`decoding::force_all`] for work that is never cancelled.
pub fn force_all(
    stepper: &mut dyn Stepper,
    pairs: &[(&[u32], &[u32])],
    batch: usize,
    done: &mut dyn FnMut(&[usize], Vec<Forced>),
) -> Result<()> {
    decoding::force_all(stepper, pairs, batch, &Ticket::forever(), &mut |indexes, forced| {
        done(indexes, forced);
        Ok(())
    })
}

/// The words of ids, `</s>` and `[UNK]` among them.
pub fn tokens<'a>(model: &'a Model, ids: &[u32]) -> Vec<&'a str> {
    ids.iter().map(|&id| model.target.token(id).unwrap_or(UNK)).collect()
}

/// The translation as text. Unknown words give way to what stands for the source words that they are aligned
/// with, where `replacing` says so; pretokenised text stays split by spaces.
pub fn text(
    model: &Model,
    hypothesis: &Hypothesis,
    source: &Sentence,
    replacing: Option<&Replacing>,
    pretokenized: bool,
) -> String {
    let ids = without_eos(model, &hypothesis.tokens);
    let words = tokens(model, ids);
    let Some(replacing) = replacing else { return join_words(model, &words, pretokenized) };
    let unknown = |i: usize| ids[i] == model.config.unk;
    let dictionary = replacing.dictionary.as_ref();
    join_words(model, &unknown::replace(&words, unknown, hypothesis.alpha.as_deref(), source, dictionary), pretokenized)
}

/// Words put together as the language does it, or with spaces where they came so.
pub fn join_words<T: AsRef<str>>(model: &Model, words: &[T], pretokenized: bool) -> String {
    if pretokenized {
        return words.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(" ");
    }
    join(&model.config.target_language, words)
}

/// For every target word its source word of greatest alpha, `</s>` on neither side; empty where the
/// model has no alignment.
pub fn links(model: &Model, source: &Sentence, hypothesis: &Hypothesis) -> Vec<Link> {
    let Some(alpha) = &hypothesis.alpha else { return Vec::new() };
    let target_words = without_eos(model, &hypothesis.tokens).len();
    hard::links(&Alignment::new(alpha).words(target_words, source.words()))
}

/// The words before `</s>`.
pub fn without_eos<'a>(model: &Model, ids: &'a [u32]) -> &'a [u32] {
    match ids.split_last() {
        Some((&last, words)) if last == model.config.eos => words,
        _ => ids,
    }
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

/// The end of work during which so many lines were refused, each with its own sentence.
pub fn refused(count: usize) -> anyhow::Result<()> {
    match count {
        0 => Ok(()),
        1 => Err(Error::Input("1 line was left empty because a model cannot read it".into()).into()),
        _ => Err(Error::Input(format!("{count} lines were left empty because a model cannot read them")).into()),
    }
}
