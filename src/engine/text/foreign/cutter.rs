//! Tokenizer files with foreign rules, read: text to places and ids as the origin has them. Imports floor 0.

use std::{ops::Range, path::Path};

use ahash::AHashMap;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize as _;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::text::foreign::codes::{Codes, JOINER};
use crate::text::pieces::{PieceMarks, SPACE};
use crate::text::sentence::{UNK, is_language};
use crate::text::{
    foreign::form::ForeignModel, foreign::normal::Normal, foreign::punctuation, foreign::segmenter::Segmenter,
    foreign::sentencepiece::SentencePiece,
};

/// Rules of another toolkit, with the ids of its vocabulary.
#[derive(Debug)]
pub struct ForeignCutter {
    rules: Rules,
    pieces: Vec<u32>,
    /// Ids are those of the pieces, so that no other text has one.
    are_pieces: bool,
    /// Whether a text may begin with the name of a target language, as `>>fra<<`.
    names_target: bool,
    punctuation: bool,
    words: Vec<String>,
    ids: AHashMap<String, u32>,
    unk: u32,
    marks: PieceMarks,
}

#[derive(Debug)]
enum Rules {
    SentencePiece(Box<Segmenter>),
    Codes(Codes),
}

impl ForeignCutter {
    pub fn read(origin: &Path, model: &Value) -> Option<Result<Self>> {
        matches!(model["type"].as_str(), Some("SentencePiece" | "BpeCodes")).then(|| Self::known(origin, model))
    }

    fn known(origin: &Path, model: &Value) -> Result<Self> {
        let wrong = |what: &dyn std::fmt::Display| Error::key(origin, "model", format!("cannot be read: {what}"));
        let model = ForeignModel::deserialize(model).map_err(|error| wrong(&error))?;
        let (rules, words, pieces, marks, folds) = match model {
            ForeignModel::SentencePiece { spm, vocabulary, punctuation } => {
                let spm = BASE64_STANDARD.decode(spm).map_err(|error| wrong(&error))?;
                let spm = SentencePiece::from_bytes(origin, &spm)?;
                let pieces =
                    vocabulary.is_some().then(|| spm.pieces.iter().map(|piece| piece.text.clone()).collect::<Vec<_>>());
                let words = vocabulary.map_or_else(|| spm.words(), Ok)?;
                let space = SPACE.to_owned();
                let marks = if spm.space_at_end { PieceMarks::Ends(space) } else { PieceMarks::Starts(space) };
                let rules = Rules::SentencePiece(Box::new(Segmenter::new(origin, &spm)?));
                (rules, words, pieces, marks, punctuation)
            }
            ForeignModel::BpeCodes { codes, vocabulary } => {
                let rules = Rules::Codes(Codes::read(origin, &codes)?);
                (rules, vocabulary, Some(Vec::new()), PieceMarks::Joins(JOINER.to_owned()), false)
            }
        };
        let ids: AHashMap<String, u32> = words.iter().cloned().zip(0..).collect();
        if ids.len() != words.len() {
            return Err(Error::key(origin, "model.vocabulary", "has a word twice"));
        }
        let unk = *ids.get(UNK).ok_or_else(|| Error::key(origin, "model.vocabulary", format!("has no `{UNK}`")))?;
        let are_pieces = pieces.is_none();
        let names_target = !are_pieces && words.iter().any(|word| is_language(word));
        let id = |piece: String| ids.get(&piece).copied().unwrap_or(unk);
        let pieces = match pieces {
            None => (0..words.len() as u32).collect(),
            Some(pieces) => pieces.into_iter().map(id).collect(),
        };
        Ok(Self { rules, pieces, are_pieces, names_target, punctuation: folds, words, ids, unk, marks })
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }

    pub fn id(&self, word: &str) -> Option<u32> {
        self.ids.get(word).copied()
    }

    pub fn marks(&self) -> &PieceMarks {
        &self.marks
    }

    /// The pieces of a text: their places in it, without the spaces around them, and their ids. A piece that is nothing
    /// but a space has an empty place, and so have all bytes of a letter but the first.
    pub fn cut(&self, text: &str) -> Vec<(Range<usize>, u32)> {
        let mut cut = Vec::new();
        let (target, start) = self.target(text);
        cut.extend(target);
        match &self.rules {
            Rules::SentencePiece(segmenter) => self.cut_pieces(segmenter, text, start, &mut cut),
            Rules::Codes(codes) => {
                for word in text[start..].trim_matches(['\r', '\n', ' ']).split(' ').filter(|word| !word.is_empty()) {
                    let place = word.as_ptr() as usize - text.as_ptr() as usize;
                    for part in codes.cut(word) {
                        let joiner = if part.end < word.len() { JOINER } else { "" };
                        let id = self.id(&format!("{}{joiner}", &word[part.clone()])).unwrap_or(self.unk);
                        cut.push((place + part.start..place + part.end, id));
                    }
                }
            }
        }
        cut
    }

    fn target(&self, text: &str) -> (Option<(Range<usize>, u32)>, usize) {
        let start = text.len() - text.trim_start().len();
        let name = text[start..].starts_with(">>").then(|| text[start..].find("<<")).flatten();
        match name.filter(|_| self.names_target) {
            Some(length) => {
                let place = start..start + length + 2;
                let id = self.id(&text[place.clone()]).unwrap_or(self.unk);
                (Some((place.clone(), id)), place.end)
            }
            None => (None, 0),
        }
    }

    fn cut_pieces(&self, segmenter: &Segmenter, text: &str, start: usize, cut: &mut Vec<(Range<usize>, u32)>) {
        let typed = &text[start..];
        let folded = if self.punctuation { punctuation::fold(typed) } else { Normal::same(typed) };
        let normal = segmenter.normalize(&folded.text).after(&folded);
        for (part, piece) in segmenter.cut(&normal.text) {
            let letters = &normal.text[part.clone()];
            let place = visible(text, normal.origin(&part), start);
            let bytes = segmenter.bytes(letters).filter(|_| piece.is_none());
            if let Some(bytes) = bytes {
                let rest = place.end..place.end;
                let places = std::iter::once(place).chain(std::iter::repeat(rest));
                cut.extend(places.zip(bytes.map(|byte| self.pieces[byte as usize])));
                continue;
            }
            let id = match piece {
                Some(piece) => self.pieces[piece as usize],
                None if self.are_pieces => self.unk,
                None => self.id(letters).unwrap_or(self.unk),
            };
            cut.push((place, id));
        }
    }
}

fn visible(text: &str, place: Range<usize>, start: usize) -> Range<usize> {
    let place = start + place.start..start + place.end;
    let typed = text.get(place.clone()).unwrap_or_default();
    let begin = place.start + (typed.len() - typed.trim_start().len());
    begin..begin + typed.trim().len()
}
