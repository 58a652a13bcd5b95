//! From the tokens of a translation to its text, unknown words replaced where that is asked for.

use crate::analysis::{alignment::Alignment, unknown, unknown::Replacing, words::merge_alpha};
use crate::text::sentence::{Sentence, UNK};
use crate::text::words::{translated, vocabulary_words, whole_words};
use crate::{decoding::Hypothesis, models::Model, text::join::join};

/// The words of ids, `</s>` and `[UNK]` among them.
pub fn tokens<'a>(model: &'a Model, ids: &[u32]) -> Vec<&'a str> {
    ids.iter().map(|&id| model.target.token(id).unwrap_or(UNK)).collect()
}

/// The translation as text. Unknown words give way to what stands for the source words that they are aligned with,
/// where `replacing` says so; pretokenised text stays split by spaces.
pub fn text(
    model: &Model, hypothesis: &Hypothesis, source: &Sentence, replacing: Option<&Replacing>, pretokenized: bool,
) -> String {
    let ids = without_eos(model, &hypothesis.tokens);
    let Some(replacing) = replacing else { return join_words(model, &tokens(model, ids), pretokenized) };
    let dictionary = replacing.dictionary.as_ref();
    let x = vocabulary_words(&model.source, source, pretokenized);
    let (y, words) = translated(&model.target, ids);
    let source = whole_words(source, &x);
    let alpha = hypothesis.came_from().map(|alpha| merge_alpha(&Alignment::from_rows(alpha), &x, &y));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let unknown = |i: usize| y[i].len() == 1 && ids[y[i].start] == model.config.unk;
    let words = unknown::replace(&words, unknown, alpha.as_ref(), &source, dictionary);
    if pretokenized { words.join(" ") } else { join(&model.config.target_language, &words) }
}

/// Tokens put together as the language does it, or words with spaces between where they came so.
pub fn join_words<T: AsRef<str>>(model: &Model, tokens: &[T], pretokenized: bool) -> String {
    let target = &model.target;
    if pretokenized { target.spaced(tokens) } else { target.join(&model.config.target_language, tokens) }
}

/// The words before `</s>`.
pub fn without_eos<'a>(model: &Model, ids: &'a [u32]) -> &'a [u32] {
    match ids.split_last() {
        Some((&last, words)) if last == model.config.eos => words,
        _ => ids,
    }
}
