//! A sentence as the models read it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The string of the end-of-sentence token.
pub const EOS: &str = "</s>";
/// The string of the unknown-word token.
pub const UNK: &str = "[UNK]";

/// Whether an entry of a vocabulary names the language to translate into, as `>>fra<<`. Models of several target
/// languages read it before the text.
pub fn is_language(token: &str) -> bool {
    token.len() > 4 && token.starts_with(">>") && token.ends_with("<<")
}

/// Most words of a sentence that a model reads, `</s>` not counted.
pub const MAX_SOURCE_TOKENS: usize = 1_000;

/// Most bytes of a text that is tokenised at all.
pub const MAX_SOURCE_BYTES: usize = 100_000;

/// A tokenised sentence. `tokens`, `spans` and `ids` have the same length T_x; where `source_eos` holds the last token
/// is [`EOS`] with an empty span at the end of `text`, and a target language that was chosen is the first, with an
/// empty span at its start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// The text as typed.
    pub text: String,
    /// The words as typed (unknown words too, never the string `[UNK]`).
    pub tokens: Vec<String>,
    /// Byte ranges of the tokens in `text`.
    pub spans: Vec<Range<usize>>,
    /// Ids in the vocabulary; unknown words have the id of [`UNK`].
    pub ids: Vec<u32>,
}

impl Sentence {
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Number of words: tokens without the `</s>` at the end and the language that was chosen for it.
    pub fn words(&self) -> usize {
        let ended =
            self.tokens.last().is_some_and(|word| word == EOS) && self.spans.last().is_some_and(Range::is_empty);
        self.tokens.len() - usize::from(ended) - usize::from(self.is_led())
    }

    /// Whether its first token is a target language that was chosen, and not typed.
    pub fn is_led(&self) -> bool {
        self.tokens.first().is_some_and(|word| is_language(word)) && self.spans.first().is_some_and(Range::is_empty)
    }
}
