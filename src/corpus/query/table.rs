//! The rows of the table: which sentences, in which order.

use std::cmp::Ordering;

use crate::query::column::{TableColumn, TextColumn};
use crate::{query::filter::Filter, store::corpus::CorpusTable};
use engine::error::{Error, Result};

/// What rows are put in order by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Number(TableColumn),
    Text(TextColumn),
}

/// How rows are put in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sorting {
    pub key: Key,
    pub is_descending: bool,
}

impl Sorting {
    /// `bleu.1-2`, or `-bleu.1-2` for the greatest first; or a [`TextColumn`].
    pub fn named(name: &str, corpus: &CorpusTable) -> Result<Self> {
        let (is_descending, name) = name.strip_prefix('-').map_or((false, name), |name| (true, name));
        let text = TextColumn::named(name).map(|column| match column {
            // A system that is not there is told as of a number.
            TextColumn::Output(system) if system >= corpus.systems.len() => Err(no_system(name, system, corpus)),
            column => Ok(Key::Text(column)),
        });
        let number = || {
            let column = TableColumn::named(name, corpus).map(Key::Number);
            column.map_err(|error| Error::Input(format!("{error}; texts are sorted by source, reference and output.N")))
        };
        let key = text.unwrap_or_else(number)?;
        Ok(Self { key, is_descending })
    }

    /// Whether what people say decides the order.
    pub fn reads_judgements(&self) -> bool {
        matches!(self.key, Key::Number(column) if column.is_judged())
    }
}

fn no_system(name: &str, system: usize, corpus: &CorpusTable) -> Error {
    let count = corpus.systems.len();
    Error::Input(format!("`{name}` names system {}; there are {count}, counted from 1", system + 1))
}

/// The places of the shown sentences, in order; those without the sorted value come last.
pub fn rows(corpus: &CorpusTable, filter: &Filter, sorting: Option<&Sorting>) -> Vec<u32> {
    let mut rows: Vec<u32> = if filter.is_empty() {
        (0..corpus.len() as u32).collect()
    } else {
        let shown = filter.shown(corpus);
        (0..corpus.len() as u32).filter(|at| shown[*at as usize]).collect()
    };
    match sorting {
        None => {}
        Some(Sorting { key: Key::Number(column), is_descending }) => {
            let key =
                |at: &u32| u64::from(rank(column.value(corpus, *at as usize), *is_descending)) << 32 | u64::from(*at);
            let mut keyed: Vec<u64> = rows.iter().map(key).collect();
            // The place decides among equals, so no stable sort is needed.
            keyed.sort_unstable();
            rows = keyed.into_iter().map(|keyed| keyed as u32).collect();
        }
        Some(Sorting { key: Key::Text(column), is_descending }) => {
            let texts = column.texts(corpus);
            let key = |at: u32| (texts.and_then(|texts| texts.get(at as usize)).map(str::to_lowercase), at);
            let mut keyed: Vec<(Option<String>, u32)> = rows.into_iter().map(key).collect();
            keyed.sort_by(|(one, _), (other, _)| by_letters(one.as_deref(), other.as_deref(), *is_descending));
            rows = keyed.into_iter().map(|(_, at)| at).collect();
        }
    }
    rows
}

fn by_letters(one: Option<&str>, other: Option<&str>, is_descending: bool) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) if is_descending => other.cmp(one),
        (Some(one), Some(other)) => one.cmp(other),
        (one, other) => other.is_some().cmp(&one.is_some()),
    }
}

fn rank(value: f32, is_descending: bool) -> u32 {
    if value.is_nan() {
        return u32::MAX;
    }
    // The order of IEEE 754 numbers as that of integers; -0 is 0.
    let bits = (value + 0.0).to_bits();
    let rising = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    if is_descending { !rising } else { rising }
}
