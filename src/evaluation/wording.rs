//! Floor 6: from the tokens of a translation to its text, unknown words replaced where that is asked for.

use std::ops::Range;

use crate::analysis::alignment::Alignment;
use crate::analysis::unknown;
use crate::analysis::unknown::Replacing;
use crate::analysis::words::merge_alpha;
use crate::decoding::Hypothesis;
use crate::models::Model;
use crate::text::sentence::{EOS, Sentence, UNK};
use crate::text::tokenizer::Tokenizer;

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

/// Some tokens, each a word.
pub fn singles(count: usize) -> Vec<Range<usize>> {
    (0..count).map(|i| i..i + 1).collect()
}

/// A sentence whose tokens are words; their ids are those of their first pieces.
pub fn whole_words(sentence: &Sentence, words: &[Range<usize>]) -> Sentence {
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
    let Some(replacing) = replacing else { return join_words(model, &tokens(model, ids), pretokenized) };
    let dictionary = replacing.dictionary.as_ref();
    let (x, y) = (source_pieces(model, source, pretokenized), target_pieces(model, ids));
    let alpha = hypothesis.alpha.as_deref().map(Alignment::from_rows);
    if x.is_none() && y.is_none() {
        let unknown = |i: usize| ids[i] == model.config.unk;
        let words = tokens(model, ids);
        let words = unknown::replace(&words, unknown, alpha.as_ref(), source, dictionary);
        return join_words(model, &words, pretokenized);
    }
    let (x, y) = (x.unwrap_or_else(|| singles(source.len())), y.unwrap_or_else(|| singles(ids.len())));
    let source = whole_words(source, &x);
    let alpha = alpha.map(|alpha| merge_alpha(&alpha, &x, &y));
    let pieces = tokens(model, ids);
    let words: Vec<String> = y.iter().map(|word| model.target.marks().word(&pieces[word.clone()])).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let unknown = |i: usize| y[i].len() == 1 && ids[y[i].start] == model.config.unk;
    let words = unknown::replace(&words, unknown, alpha.as_ref(), &source, dictionary);
    if pretokenized { words.join(" ") } else { crate::text::join::join(&model.config.target_language, &words) }
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
