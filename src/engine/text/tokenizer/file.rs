//! Tokenizer files read. Imports floor 0.
//!
//! The library reads a file by trying every kind of model on a copy of its whole vocabulary; the word lists that this
//! program makes are read here directly, and the library gets the rules alone.

use std::{collections::HashMap, path::Path};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokenizers::models::wordlevel::WordLevel;
use tokenizers::{Encoding, NormalizedString, Normalizer as _, NormalizerWrapper};

use crate::error::{Error, Result};
use crate::quiet::catch_quietly;
use crate::text::sentence::{EOS, UNK, is_language};
use crate::text::tokenizer::check::{Rules, check};
use crate::text::{foreign::cutter::ForeignCutter, pieces::PieceMarks};

/// Who cuts text.
pub(super) enum Cutter {
    Library(Box<tokenizers::Tokenizer>),
    Foreign(Box<ForeignCutter>, Vec<u8>),
}

/// What all tokenizers of one file have in common.
pub(super) struct Shared {
    pub(super) cutter: Cutter,
    pub(super) words: Vec<String>,
    pub(super) unk: u32,
    pub(super) eos: u32,
    pub(super) languages: Vec<u32>,
    pub(super) marks: PieceMarks,
    /// Whether what lies beyond a space may change how a word is cut.
    pub(super) crosses_spaces: bool,
    /// Whether words end at spaces and nowhere else, so that text must keep a space between any two to be read again.
    pub(super) only_spaces: bool,
    steps: Vec<NormalizerWrapper>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("words", &self.words.len()).finish_non_exhaustive()
    }
}

const TRIAL: &str = "It is 1 a.m., n'est-ce pas?";

impl Shared {
    pub(super) fn read(origin: &Path, json: &[u8]) -> Result<Self> {
        let Parts { cutter, ids, rules } = match word_list(origin, json) {
            Some(read) => read?,
            None => whole(origin, json)?,
        };
        let special = |word: &str| {
            let missing = || Error::file(origin, format!("has no `{word}` in its vocabulary; add it to the file"));
            cutter.id(word).ok_or_else(missing)
        };
        let (eos, unk) = (special(EOS)?, special(UNK)?);
        let len = ids.values().max().map_or(0, |id| *id as usize + 1);
        if len > 2 * ids.len() + 1000 {
            let message = format!("has only {} words but ids up to {}; number the words from 0", ids.len(), len - 1);
            return Err(Error::file(origin, message));
        }
        let mut words = vec![String::new(); len];
        for (word, id) in ids {
            words[id as usize] = word;
        }
        let steps = match &cutter {
            Cutter::Library(inner) if rules.may_grow => steps(inner.get_normalizer()),
            _ => Vec::new(),
        };
        let is_named = |id: &u32| words.get(*id as usize).is_some_and(|word| is_language(word));
        let languages = (0..words.len() as u32).filter(is_named).collect();
        let shared = Self {
            cutter,
            words,
            unk,
            eos,
            languages,
            marks: rules.marks,
            crosses_spaces: rules.crosses_spaces,
            only_spaces: rules.only_spaces,
            steps,
        };
        match shared.try_to_encode(TRIAL) {
            Ok(_) => Ok(shared),
            Err(panic) => Err(Error::file(origin, format!("has rules that fail on ordinary text ({panic}); {ADVICE}"))),
        }
    }

    /// The pieces of a text with their places; `None` where the rules fail on it, or make it many times longer.
    pub(super) fn encode(&self, text: &str) -> Option<Encoding> {
        self.try_to_encode(text).ok().flatten()
    }

    /// As [`Shared::encode`]; the library has places where a strange file panics.
    fn try_to_encode(&self, text: &str) -> std::result::Result<Option<Encoding>, String> {
        let Cutter::Library(inner) = &self.cutter else { return Ok(None) };
        catch_quietly(|| self.stays_small(text).then(|| inner.encode(text, false).ok()).flatten())
    }

    /// The text as the rules fold it; `None` where there are none, and as [`Shared::encode`].
    pub(super) fn fold(&self, text: &str) -> Option<String> {
        let fold = || {
            let mut normalized = NormalizedString::from(text);
            let Cutter::Library(inner) = &self.cutter else { return None };
            let rules = inner.get_normalizer().filter(|_| self.stays_small(text))?;
            rules.normalize(&mut normalized).is_ok().then(|| normalized.get().to_owned())
        };
        catch_quietly(fold).ok().flatten()
    }

    /// Whether no rule of a foreign file makes the text much longer than it is: a chain of them could fill the memory.
    fn stays_small(&self, text: &str) -> bool {
        let mut normalized = NormalizedString::from(text);
        let most = 4 * text.len() + 1024;
        self.steps.iter().all(|step| step.normalize(&mut normalized).is_ok() && normalized.get().len() <= most)
    }
}

impl Cutter {
    pub(super) fn id(&self, word: &str) -> Option<u32> {
        match self {
            Self::Library(inner) => inner.token_to_id(word),
            Self::Foreign(foreign, _) => foreign.id(word),
        }
    }
}

fn steps(normalizer: Option<&NormalizerWrapper>) -> Vec<NormalizerWrapper> {
    match normalizer {
        None => Vec::new(),
        Some(NormalizerWrapper::Sequence(rules)) => rules.as_ref().iter().flat_map(|rule| steps(Some(rule))).collect(),
        Some(rule) => vec![rule.clone()],
    }
}

struct Parts {
    cutter: Cutter,
    ids: HashMap<String, u32>,
    rules: Rules,
}

const ADVICE: &str = "train the model again or copy the tokenizer file from where the model comes from";

fn incomplete(origin: &Path, error: impl std::fmt::Display) -> Error {
    Error::file(origin, format!("is not a complete Hugging Face tokenizers file ({error}); {ADVICE}"))
}

fn whole(origin: &Path, json: &[u8]) -> Result<Parts> {
    let mut file: Map<String, Value> = serde_json::from_slice(json).map_err(|error| incomplete(origin, error))?;
    let rules = check(origin, &file)?;
    if let Some(foreign) = file.get("model").and_then(|model| ForeignCutter::read(origin, model)) {
        return foreign_parts(origin, &file, foreign?, json);
    }
    forget_the_needless(&mut file);
    if let Some(Value::Object(model)) = file.get_mut("model") {
        // With it the same text would be cut otherwise each time.
        model.insert("dropout".to_owned(), Value::Null);
    }
    let inner = build(Value::Object(file)).map_err(|error| incomplete(origin, error))?;
    let ids = inner.get_vocab(true).into_iter().collect();
    Ok(Parts { cutter: Cutter::Library(Box::new(inner)), ids, rules })
}

fn foreign_parts(origin: &Path, file: &Map<String, Value>, foreign: ForeignCutter, json: &[u8]) -> Result<Parts> {
    for key in ["normalizer", "pre_tokenizer", "added_tokens"] {
        let unused = file.get(key).is_none_or(|rule| rule.is_null() || rule.as_array().is_some_and(Vec::is_empty));
        if !unused {
            return Err(Error::key(origin, key, "is not used with such a model; set it to null"));
        }
    }
    let ids = foreign.words().iter().cloned().zip(0..).collect();
    let only_spaces = matches!(foreign.marks(), PieceMarks::Joins(_));
    let rules = Rules { marks: foreign.marks().clone(), crosses_spaces: true, may_grow: false, only_spaces };
    Ok(Parts { cutter: Cutter::Foreign(Box::new(foreign), json.to_vec()), ids, rules })
}

/// Ids are turned into text by our own rules.
fn forget_the_needless(file: &mut Map<String, Value>) {
    file.insert("decoder".to_owned(), Value::Null);
}

/// The library panics on some files that are not in order.
fn build(file: Value) -> std::result::Result<tokenizers::Tokenizer, String> {
    catch_quietly(|| serde_json::from_value(file)).and_then(|read| read.map_err(|error| error.to_string()))
}

#[derive(Deserialize)]
struct WordList {
    added_tokens: Vec<Value>,
    model: Words,
    #[serde(flatten)]
    rules: Map<String, Value>,
}

#[derive(Deserialize)]
struct Words {
    #[serde(rename = "type")]
    kind: String,
    vocab: HashMap<String, u32>,
    unk_token: String,
}

/// A word list read directly; `None` for any other file, and for one that is not in order, which the library then
/// complains of.
fn word_list(origin: &Path, json: &[u8]) -> Option<Result<Parts>> {
    let WordList { added_tokens, model: Words { kind, vocab, unk_token }, rules: mut file } =
        serde_json::from_slice(json).ok()?;
    if kind != "WordLevel" || !added_tokens.is_empty() {
        return None;
    }
    file.insert("added_tokens".to_owned(), added_tokens.into());
    file.insert("model".to_owned(), json!({"type": kind, "vocab": {}, "unk_token": unk_token}));
    let rules = match check(origin, &file) {
        Ok(rules) => rules,
        Err(error) => return Some(Err(error)),
    };
    forget_the_needless(&mut file);
    let mut inner = build(Value::Object(file)).ok()?;
    let words = vocab.iter().map(|(word, id)| (word.clone(), *id)).collect();
    inner.with_model(WordLevel::builder().vocab(words).unk_token(unk_token).build().ok()?);
    Some(Ok(Parts { cutter: Cutter::Library(Box::new(inner)), ids: vocab, rules }))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::text::tokenizer::Tokenizer;

    /// A list of four words.
    pub const FILE: &str = r#"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 1, "</s>": 0, "house": 3, "the": 2}, "unk_token": "[UNK]"}}"#;

    #[test]
    fn a_word_list_is_read_as_the_library_reads_it() -> Result<()> {
        let origin = Path::new("file");
        let ours = word_list(origin, FILE.as_bytes()).expect("a word list")?;
        let theirs = whole(origin, FILE.as_bytes())?;
        assert_eq!(ours.ids, theirs.ids);
        let (Cutter::Library(ours), Cutter::Library(theirs)) = (ours.cutter, theirs.cutter) else {
            panic!("the library cuts")
        };
        let text = |tokenizer: &tokenizers::Tokenizer| tokenizer.to_string(true).expect("it can be written");
        assert_eq!(text(&ours), text(&theirs));
        let encoded = |tokenizer: &tokenizers::Tokenizer| {
            tokenizer.encode("The HOUSE of", false).expect("it can be read").get_ids().to_vec()
        };
        assert_eq!((encoded(&ours), encoded(&theirs)), (vec![2, 3, 1], vec![2, 3, 1]));
        let added = FILE.replace(r#""added_tokens": []"#, r#""added_tokens": [{"id": 4, "content": "x", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": false}]"#);
        assert!(word_list(origin, added.as_bytes()).is_none());
        assert_eq!(Tokenizer::from_json(origin, added.as_bytes())?.id("x"), Some(4));
        Ok(())
    }
}
