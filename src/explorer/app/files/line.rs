//! The JSON line of a translation and that of a scored pair, which `translate` and `score` print and the
//! window saves. Positions count from 0, words are `[FIRST, BEHIND THE LAST]` of their tokens.

use std::{borrow::Cow, ops::Range};

use serde::Serialize;
use serde_json::Value;

use engine::interventions::{Applied, Interventions, Said};
use engine::text::links::{Link, Links};

pub type Ends = Vec<[usize; 2]>;

/// The translations of a sentence.
#[derive(Debug, Default, Serialize)]
pub struct TranslationLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub source: &'a [String],
    /// The words of the source, where tokens are pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<Ends>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interventions: Option<&'a Interventions>,
    /// Whose rows those of alpha are, where they are not those of the predicted words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<&'static str>,
    pub hypotheses: Vec<HypothesisLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<HypothesisLine<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<Value>,
    /// Which rows of the alignment were trained on given links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guided: Option<&'a str>,
}

/// A translation.
#[derive(Debug, Default, Serialize)]
pub struct HypothesisLine<'a> {
    pub tokens: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<Ends>,
    pub text: Cow<'a, str>,
    /// log p(y | x).
    pub log_p: f32,
    /// log p(y_i | y_<i, x).
    pub token_log_p: &'a [f32],
    /// alpha_ij, a row for each token; zeros for a token that has none.
    pub alpha: Option<Cow<'a, [Vec<f32>]>>,
    /// The aligned position of each token; NaN, which is written as null, for one that has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_t: Option<Cow<'a, [f32]>>,
    /// Where each token comes from by an alignment head, rows as of alpha.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Cow<'a, [Vec<f32>]>>,
    pub finished: bool,
    #[serde(flatten)]
    pub set: Option<SetLine>,
    /// Those of an aligner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<LinksLine>,
    /// Whose it is, where it is not the model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<&'static str>,
}

/// What of a translation was given to the model.
#[derive(Debug, Serialize)]
pub struct SetLine {
    pub forced: Vec<bool>,
    pub pinned: Vec<bool>,
    /// Of the tokens that were.
    pub log_p_forced: f32,
    pub log_p_free: f32,
}

impl SetLine {
    pub fn of(applied: &Applied, token_log_p: &[f32]) -> Self {
        let (log_p_forced, log_p_free) = applied.parts(token_log_p);
        let (said, rows) = (applied.all_said(token_log_p.len()), applied.pinned());
        Self {
            pinned: (0..said.len()).map(|i| rows.contains(&i)).collect(),
            forced: said.into_iter().map(|said| said != Said::Free).collect(),
            log_p_forced,
            log_p_free,
        }
    }
}

/// Links between words.
#[derive(Debug, Serialize)]
pub struct LinksLine {
    of: &'static str,
    sure: Vec<[usize; 2]>,
    possible: Vec<[usize; 2]>,
}

impl LinksLine {
    pub fn of_aligner(links: &Links) -> Self {
        let pairs = |links: &[Link]| links.iter().map(|link| [link.source, link.target]).collect();
        let of = "the statistical aligner that comes with the program";
        Self { of, sure: pairs(links.sure()), possible: pairs(links.possible()) }
    }
}

/// A pair whose target was forced; without numbers where a model cannot read it.
#[derive(Debug, Serialize)]
pub struct ScoreLine<'a> {
    pub source: &'a [String],
    pub target: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<WordsLine>,
    /// log p(y | x).
    pub log_p: Option<f32>,
    /// The same divided by the words of y as its language cuts them, `</s>` counted.
    pub log_p_per_word: Option<f32>,
    /// The same divided by the tokens of y, `</s>` counted.
    pub log_p_per_token: Option<f32>,
    /// log p(y_i | y_<i, x).
    pub token_log_p: Option<&'a [f32]>,
    /// alpha_ij, a row for each target token.
    pub alpha: Option<&'a [Vec<f32>]>,
    /// e_ij, before the softmax.
    pub energies: Option<&'a [Vec<f32>]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<&'a [Vec<f32>]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<&'static str>,
    /// The aligned position of each target token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_t: Option<&'a [f32]>,
}

/// The words of a pair.
#[derive(Debug, Serialize)]
pub struct WordsLine {
    pub source: Ends,
    pub target: Ends,
}

pub fn ends(words: &[Range<usize>]) -> Ends {
    words.iter().map(|word| [word.start, word.end]).collect()
}
