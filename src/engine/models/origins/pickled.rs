//! What a pickle holds, as values that name each other by their places.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The most values of all lists of some settings together.
const MOST_SETTINGS: usize = 1 << 16;
/// The longest text of settings and the longest word, in bytes: a pickle may repeat them.
const MOST_TEXT: usize = 1 << 12;
/// The most bytes of all words together.
const MOST_WORDS: usize = 256 << 20;

/// The rest of a sentence where it fails.
pub type PickleResult<T> = Result<T, String>;

/// A value; others stand in it by their places.
#[derive(Debug, PartialEq)]
pub enum Pickled<'a> {
    Nothing,
    Truth(bool),
    Number(i64),
    Real(f64),
    Text(&'a [u8]),
    Class(String),
    List(Vec<usize>),
    Dictionary(Vec<(usize, usize)>),
    Call(usize, usize),
    /// What lies outside of the pickle, and how it is named.
    Stored(usize),
}

/// What a pickle holds.
#[derive(Debug)]
pub struct PickleReader<'a> {
    pub(super) values: Vec<Pickled<'a>>,
    pub(super) result: usize,
}

impl PickleReader<'_> {
    pub fn value(&self, place: usize) -> &Pickled<'_> {
        &self.values[place]
    }

    pub fn text(&self, place: usize) -> Option<&str> {
        if let Pickled::Text(text) = self.value(place) { str::from_utf8(text).ok() } else { None }
    }

    pub fn class(&self, place: usize) -> Option<&str> {
        if let Pickled::Class(name) = self.value(place) { Some(name) } else { None }
    }

    pub fn list(&self, place: usize) -> Option<&[usize]> {
        if let Pickled::List(list) = self.value(place) { Some(list) } else { None }
    }

    /// The bytes of a number of everything that lies outside, by its key: `("storage", kind, key, ..)`.
    pub fn storage_sizes(&self) -> HashMap<&str, usize> {
        let size = |kind: &str| match kind {
            "torch.DoubleStorage" | "torch.LongStorage" => 8,
            "torch.HalfStorage" | "torch.BFloat16Storage" | "torch.ShortStorage" => 2,
            "torch.BoolStorage" | "torch.ByteStorage" | "torch.CharStorage" => 1,
            _ => 4,
        };
        let stored = |value: &Pickled<'_>| {
            let Pickled::Stored(place) = value else { return None };
            let [_, kind, key, ..] = self.list(*place)? else { return None };
            Some((self.text(*key)?, size(self.class(*kind)?)))
        };
        self.values.iter().filter_map(stored).collect()
    }

    pub fn number(&self, place: usize) -> Option<usize> {
        if let Pickled::Number(number) = self.value(place) { usize::try_from(*number).ok() } else { None }
    }

    pub fn result(&self) -> usize {
        self.result
    }

    pub fn get(&self, place: usize, key: &str) -> Option<usize> {
        let Pickled::Dictionary(pairs) = self.value(place) else { return None };
        pairs.iter().rev().find(|(name, _)| self.text(*name) == Some(key)).map(|(_, value)| *value)
    }

    pub fn dictionary(&self, place: usize) -> PickleResult<Vec<(String, usize)>> {
        let Pickled::Dictionary(pairs) = self.value(place) else {
            return Err("is no dictionary by texts".to_owned());
        };
        let pair = |(key, value): &(usize, usize)| Some((self.text(*key)?.to_owned(), *value));
        pairs.iter().map(pair).collect::<Option<_>>().ok_or_else(|| "has a key that is no text".to_owned())
    }

    fn word(&self, place: usize) -> Option<String> {
        self.text(place).filter(|text| text.len() <= MOST_TEXT).map(str::to_owned)
    }

    /// A dictionary as settings: texts, numbers, truths, and lists of them; what else there is is null.
    pub fn settings(&self, place: usize) -> PickleResult<Map<String, Value>> {
        let plain = |place: usize| match self.value(place) {
            Pickled::Truth(truth) => Value::from(*truth),
            Pickled::Number(number) => Value::from(*number),
            Pickled::Real(number) => Value::from(*number),
            Pickled::Text(_) => self.word(place).map_or(Value::Null, Value::from),
            _ => Value::Null,
        };
        let mut most = MOST_SETTINGS;
        let mut value = |place: usize| {
            let Some(list) = self.list(place) else { return plain(place) };
            let list = &list[..list.len().min(most)];
            most -= list.len();
            list.iter().map(|place| plain(*place)).collect()
        };
        Ok(self.dictionary(place)?.into_iter().map(|(key, place)| (key, value(place))).collect())
    }

    pub fn words(&self, place: usize) -> PickleResult<Vec<String>> {
        let mut most = MOST_WORDS;
        let mut word = |at: &usize| {
            let word = self.word(*at)?;
            most = most.checked_sub(word.len())?;
            Some(word)
        };
        let words = self.list(place).and_then(|list| list.iter().map(&mut word).collect());
        words.ok_or_else(|| "is no list of words in UTF-8".to_owned())
    }
}
