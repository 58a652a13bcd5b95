//! Tokenizer files of foreign rules, as they are written. Imports floor 0.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{Error, Result};

/// The `model` of such a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub(super) enum ForeignModel {
    SentencePiece {
        /// The bytes of the `.spm` file, in base 64.
        spm: String,
        /// Words by id, where the ids are not those of the pieces.
        vocabulary: Option<Vec<String>>,
        punctuation: bool,
    },
    BpeCodes {
        codes: String,
        vocabulary: Vec<String>,
    },
}

impl ForeignModel {
    pub(super) fn file(&self) -> Result<Vec<u8>> {
        file(&json!(self), &Value::Null)
    }
}

/// A tokenizer file of a model and a rule for cutting text before it.
pub(super) fn file(model: &Value, pre_tokenizer: &Value) -> Result<Vec<u8>> {
    let file = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": pre_tokenizer, "post_processor": null, "decoder": null, "model": model,
    });
    serde_json::to_vec(&file).map_err(|error| Error::Internal(error.to_string()))
}
