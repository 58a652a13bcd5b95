//! What a tokenizer file says about itself, before the library reads it. Imports floor 0.

use std::path::Path;

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::text::{language::normalizer, pieces::PieceMarks};

/// What must be null, and why.
const UNUSED: &[(&str, &str)] = &[
    ("truncation", "would drop words of long sentences"),
    ("padding", "would add words to short sentences"),
    ("post_processor", "would add words that the models here do not read"),
];

const MOST_CONTENT: usize = 16;

/// What the rules of a file come to.
pub(super) struct Rules {
    /// How pieces say where words begin.
    pub(super) marks: PieceMarks,
    /// Whether what lies beyond a space may change how a word is cut, so that a line must be read as a whole.
    pub(super) crosses_spaces: bool,
    /// Whether folding may make a text much longer.
    pub(super) may_grow: bool,
    pub(super) only_spaces: bool,
}

/// Checks a file, whose `model` need not be whole.
pub(super) fn check(origin: &Path, file: &Map<String, Value>) -> Result<Rules> {
    let part = |key: &str| file.get(key).unwrap_or(&Value::Null);
    for (key, why) in UNUSED {
        if !part(key).is_null() {
            return Err(Error::key(origin, *key, format!("{why}; set it to null")));
        }
    }
    let (folding, cutting) = (part("normalizer"), part("pre_tokenizer"));
    if longest_content(folding) > MOST_CONTENT {
        let message = format!("has a rule that puts more than {MOST_CONTENT} bytes in place of a text; shorten it");
        return Err(Error::key(origin, "normalizer", message));
    }
    let is_plain = *folding == normalizer() || is_plain(folding);
    let has_added = part("added_tokens").as_array().is_some_and(|added| !added.is_empty());
    Ok(Rules {
        marks: marks(part("model"), folding, cutting),
        crosses_spaces: !is_plain || has_added || !cuts_at_spaces(cutting),
        may_grow: !is_plain,
        only_spaces: kind(cutting) == "Split" && cutting["pattern"]["String"] == " ",
    })
}

fn each(rule: &Value) -> Vec<&Value> {
    let inner = ["normalizers", "pretokenizers"].iter().find_map(|key| rule[*key].as_array());
    inner.map_or_else(|| vec![rule], |rules| rules.iter().flat_map(each).collect())
}

fn kind(rule: &Value) -> &str {
    rule["type"].as_str().unwrap_or_default()
}

fn longest_content(folding: &Value) -> usize {
    let content = |rule: &Value| {
        ["content", "prepend"].iter().filter_map(|key| rule[*key].as_str()).map(str::len).max().unwrap_or(0)
    };
    each(folding).into_iter().map(content).max().unwrap_or(0)
}

fn is_plain(folding: &Value) -> bool {
    let plain = |rule: &Value| {
        matches!(kind(rule), "NFC" | "NFD" | "NFKC" | "NFKD" | "Lowercase" | "StripAccents" | "BertNormalizer")
    };
    folding.is_null() || each(folding).into_iter().all(plain)
}

/// Whether the first cut is made at every space, which also takes the spaces away.
fn cuts_at_spaces(cutting: &Value) -> bool {
    let first = each(cutting).into_iter().next();
    first.is_some_and(|rule| matches!(kind(rule), "WhitespaceSplit" | "Whitespace" | "BertPreTokenizer"))
}

fn marks(model: &Value, folding: &Value, cutting: &Value) -> PieceMarks {
    let text = |key: &str| model[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    if kind(model) == "WordLevel" {
        return PieceMarks::Words;
    }
    if let Some(mark) = text("continuing_subword_prefix") {
        return PieceMarks::Continues(mark);
    }
    if let Some(mark) = text("end_of_word_suffix") {
        return PieceMarks::Ends(mark);
    }
    let rules = || each(cutting).into_iter().chain(each(folding));
    let begins = |rule: &Value| match kind(rule) {
        "Metaspace" => Some(rule["replacement"].as_str().unwrap_or("\u{2581}").to_owned()),
        "Prepend" => rule["prepend"].as_str().map(str::to_owned),
        // The byte of a space, as the library writes it.
        "ByteLevel" => Some("\u{120}".to_owned()),
        _ => None,
    };
    rules().find_map(begins).map_or(PieceMarks::Words, PieceMarks::Starts)
}
