//! A line of a file as a model reads it: raw or split by spaces already, and not too long.

use crate::text::sentence::{MAX_SOURCE_BYTES, MAX_SOURCE_TOKENS, Sentence};
use crate::text::tokenizer::Encode;

/// The sentence of a text; where the words are split by spaces already, each is looked up whole.
pub fn encode(tokenizer: &dyn Encode, text: &str, pretokenized: bool) -> Sentence {
    if !pretokenized {
        return tokenizer.encode(text);
    }
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    tokenizer.encode_words(&words)
}

/// As [`encode`], unless a model does not read so much, or asks for more of it
/// ([`Tokenizer::refuses`](crate::text::tokenizer::Tokenizer::refuses)).
pub fn read(tokenizer: &dyn Encode, text: &str, pretokenized: bool) -> Result<Sentence, String> {
    if text.len() > MAX_SOURCE_BYTES {
        return Err(too_many_bytes(text.len()));
    }
    let sentence = encode(tokenizer, text, pretokenized);
    match sentence.words() {
        words if words > MAX_SOURCE_TOKENS => Err(too_many_words(words)),
        0 => Ok(sentence),
        _ => tokenizer.refuses(&sentence).map_or(Ok(sentence), Err),
    }
}

/// Refuses a line of so many bytes.
pub fn too_many_bytes(bytes: usize) -> String {
    format!("has {bytes} bytes, more than the {MAX_SOURCE_BYTES} that a model reads; cut it into sentences")
}

/// Refuses a line of so many words.
pub fn too_many_words(words: usize) -> String {
    format!("has {words} words, more than the {MAX_SOURCE_TOKENS} that a model reads; cut it into sentences")
}

/// Refuses a line without words, where the model needs one.
pub const NO_WORDS: &str = "has no words, and this model needs at least one; take the line out";
