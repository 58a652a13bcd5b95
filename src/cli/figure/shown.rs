//! Floor 13: a hypothesis in the words that a figure shows: its tokens, or whole words where a vocabulary has pieces.

use crate::analysis::alignment::Alignment;
use crate::analysis::unknown;
use crate::analysis::words::{merge_alpha, merge_log_p, merge_sources};
use crate::decoding::{Ensemble, Hypothesis};
use crate::text::sentence::Sentence;
use crate::text::words::{translated, vocabulary_words, whole_words};

/// A word of a translation.
pub struct ShownWord {
    /// As the vocabulary has it.
    pub text: String,
    /// It is `[UNK]`.
    pub is_unk: bool,
    /// It is `</s>`.
    pub is_eos: bool,
    /// The source word of greatest alpha, where this one is unknown.
    pub typed: Option<String>,
    /// log p of all its pieces.
    pub log_p: f32,
}

/// A source and one of its translations.
pub struct ShownPart {
    /// The source, cut as its columns are.
    pub source: Sentence,
    /// A word for each row.
    pub words: Vec<ShownWord>,
    /// alpha_ij, [words, source words].
    pub alpha: Option<Alignment>,
    /// p_t; none where it counts pieces and words are shown.
    pub p_t: Option<Vec<f32>>,
}

/// The tokens of a hypothesis as they are.
pub fn tokens(system: &Ensemble, source: &Sentence, hypothesis: &Hypothesis) -> ShownPart {
    let specials = system.specials();
    let alpha = hypothesis.alpha.as_deref().map(Alignment::from_rows);
    let word = |(i, id): (usize, &u32)| {
        let is_unk = *id == specials.unk;
        let alpha = alpha.as_ref().filter(|_| is_unk);
        let typed = alpha.and_then(|alpha| unknown::attended(alpha, i, source)).map(|j| source.tokens[j].clone());
        ShownWord {
            text: system.target().token(*id).unwrap_or_default().to_owned(),
            is_unk,
            is_eos: *id == specials.eos,
            typed,
            log_p: hypothesis.token_log_p.get(i).copied().unwrap_or(0.0),
        }
    };
    let words = hypothesis.tokens.iter().enumerate().map(word).collect();
    ShownPart { source: source.clone(), words, alpha, p_t: hypothesis.p_t.clone() }
}

/// Whole words: columns of alpha added, rows averaged, log p added. Tokens where neither vocabulary has pieces.
pub fn words(system: &Ensemble, source: &Sentence, hypothesis: &Hypothesis, pretokenized: bool) -> ShownPart {
    if !system.lead().source.marks().has_pieces() && !system.target().marks().has_pieces() {
        return tokens(system, source, hypothesis);
    }
    let x = vocabulary_words(&system.lead().source, source, pretokenized);
    let (y, texts) = translated(system.target(), &hypothesis.tokens);
    let whole = whole_words(source, &x);
    let alpha = hypothesis.alpha.as_deref().map(Alignment::from_rows);
    let across = alpha.as_ref().map(|alpha| {
        let merged = merge_sources(alpha, &x);
        Hypothesis { alpha: Some(merged.iter().map(<[f32]>::to_vec).collect()), ..hypothesis.clone() }
    });
    let pieces = tokens(system, &whole, across.as_ref().unwrap_or(hypothesis)).words;
    let log_p = merge_log_p(&hypothesis.token_log_p, &y);
    let word = |((pieces_of, text), log_p): ((&std::ops::Range<usize>, String), f32)| {
        let first = &pieces[pieces_of.start];
        ShownWord { text, log_p, is_unk: first.is_unk, is_eos: first.is_eos, typed: first.typed.clone() }
    };
    let words = y.iter().zip(texts).zip(log_p).map(word).collect();
    let alpha = alpha.map(|alpha| merge_alpha(&alpha, &x, &y));
    ShownPart { source: whole, words, alpha, p_t: None }
}
