//! Floor 9: from hypotheses to words, and the loops over batches that several commands share.

use std::ops::Range;

use crate::analysis::alignment::Alignment;
use crate::analysis::hard::Link;
use crate::analysis::unknown::Replacing;
use crate::analysis::words::merge_alpha;
use crate::analysis::{hard, unknown};
use crate::decoding;
use crate::decoding::{Decoded, Ensemble, Forced, Hypothesis, SearchOptions, Specials};
use crate::error::{Error, Result};
use crate::models::{Model, Stepper};
use crate::text::sentence::{EOS, Sentence, UNK};
use crate::text::tokenizer::Tokenizer;
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

/// Which tokens of a sentence make up each word, `</s>` being one; `None` where every token is a word. Words that were
/// split by spaces are what stands between them.
pub fn pieces(tokenizer: &Tokenizer, sentence: &Sentence, pretokenized: bool) -> Option<Vec<Range<usize>>> {
    if !tokenizer.marks().has_pieces() {
        return None;
    }
    if pretokenized {
        return Some(by_spaces(sentence));
    }
    // The ids of an ensemble's sentence are not those of the vocabulary.
    let ids = tokenizer.encode_with(&sentence.text, None).ids;
    let mut words = tokenizer.word_ranges(&ids);
    // `</s>`, where the sentence ends with it.
    words.extend((ids.len()..sentence.len()).map(|i| i..i + 1));
    let fits = words.last().is_none_or(|last| last.end == sentence.len());
    Some(if fits { words } else { singles(sentence.len()) })
}

/// The tokens between two spaces, as one word each.
fn by_spaces(sentence: &Sentence) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for i in 0..sentence.len() {
        let touches = i > 0 && sentence.spans[i - 1].end == sentence.spans[i].start && sentence.tokens[i] != EOS;
        match words.last_mut() {
            Some(word) if touches => word.end = i + 1,
            _ => words.push(i..i + 1),
        }
    }
    words
}

/// As [`pieces`] of a source sentence.
pub fn source_pieces(model: &Model, source: &Sentence, pretokenized: bool) -> Option<Vec<Range<usize>>> {
    pieces(&model.source, source, pretokenized)
}

/// As [`pieces`] of a translation.
pub fn target_pieces(model: &Model, ids: &[u32]) -> Option<Vec<Range<usize>>> {
    model.target.marks().has_pieces().then(|| model.target.word_ranges(ids))
}

/// Ranges as JSON has them: the first and the one behind the last.
pub fn ends(ranges: Vec<Range<usize>>) -> Vec<[usize; 2]> {
    ranges.into_iter().map(|range| [range.start, range.end]).collect()
}

/// Some tokens, each a word.
pub fn singles(count: usize) -> Vec<Range<usize>> {
    (0..count).map(|i| i..i + 1).collect()
}

/// A sentence whose tokens are words; their ids are those of their first pieces.
fn whole_words(sentence: &Sentence, words: &[Range<usize>]) -> Sentence {
    let mut whole = Sentence { text: sentence.text.clone(), ..Sentence::default() };
    for word in words {
        let (first, last) = (word.start, word.end.saturating_sub(1).max(word.start));
        let span = sentence.spans[first].start..sentence.spans[last].end;
        let is_end = span.is_empty() && sentence.tokens[first] == EOS;
        whole.tokens.push(if is_end { EOS.to_owned() } else { sentence.text[span.clone()].to_owned() });
        whole.spans.push(span);
        whole.ids.push(sentence.ids[first]);
    }
    whole
}

/// The translation as text. Unknown words are replaced through the source words that they are aligned
/// with, where `replacing` is given; pretokenised text stays split by spaces.
pub fn text(
    model: &Model,
    hypothesis: &Hypothesis,
    source: &Sentence,
    replacing: Option<&Replacing>,
    pretokenized: bool,
) -> String {
    let ids = without_eos(model, &hypothesis.tokens);
    let Some(replacing) = replacing else { return join_words(model, &tokens(model, ids), pretokenized) };
    let dictionary = replacing.dictionary.as_ref();
    let (x, y) = (source_pieces(model, source, pretokenized), target_pieces(model, ids));
    if x.is_none() && y.is_none() {
        let unknown = |i: usize| ids[i] == model.config.unk;
        let words = tokens(model, ids);
        let words = unknown::replace(&words, unknown, hypothesis.alpha.as_deref(), source, dictionary);
        return join_words(model, &words, pretokenized);
    }
    let (x, y) = (x.unwrap_or_else(|| singles(source.len())), y.unwrap_or_else(|| singles(ids.len())));
    let source = whole_words(source, &x);
    let alpha = hypothesis.alpha.as_ref().map(|alpha| merge_alpha(&Alignment::new(alpha), &x, &y));
    let pieces = tokens(model, ids);
    let words: Vec<String> = y.iter().map(|word| model.target.marks().word(&pieces[word.clone()])).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let unknown = |i: usize| y[i].len() == 1 && ids[y[i].start] == model.config.unk;
    let words = unknown::replace(&words, unknown, alpha.as_deref(), &source, dictionary);
    if pretokenized { words.join(" ") } else { crate::text::join::join(&model.config.target_language, &words) }
}

/// Tokens put together as the language does it, or words with spaces between where they came so.
pub fn join_words<T: AsRef<str>>(model: &Model, tokens: &[T], pretokenized: bool) -> String {
    let target = &model.target;
    if pretokenized { target.spaced(tokens) } else { target.join(&model.config.target_language, tokens) }
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
    let alpha = Alignment::new(alpha).words(target_tokens, source.words());
    if x.is_none() && y.is_none() {
        return hard::links(&alpha);
    }
    let mut x = x.unwrap_or_else(|| singles(source.words()));
    let mut y = y.unwrap_or_else(|| singles(target_tokens));
    x.retain(|word| word.end <= source.words());
    y.retain(|word| word.end <= target_tokens);
    hard::links(&Alignment::new(&merge_alpha(&alpha, &x, &y)))
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

/// The error at the end of work in which this many lines were refused, each with its own sentence.
pub fn refused(count: usize) -> anyhow::Result<()> {
    match count {
        0 => Ok(()),
        1 => Err(Error::Input("1 line was left empty because a model cannot read it".into()).into()),
        _ => Err(Error::Input(format!("{count} lines were left empty because a model cannot read them")).into()),
    }
}
