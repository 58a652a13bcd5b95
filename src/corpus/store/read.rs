//! Floor 7: single sentences, systems and outputs, read back.

use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};

use crate::corpus::store::file::{Workspace, list, number, one};
use crate::corpus::store::output::{SystemOutput, unpack};
use crate::error::{Error, Result};
use crate::text::links::Links;
use crate::text::links::read::links_of;

/// A source sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredSentence {
    /// Its text.
    pub source: String,
    /// A translation by people.
    pub reference: Option<String>,
    /// Its name in the file that it came from.
    pub name: Option<String>,
    /// The file that it came from.
    pub origin: i64,
    /// Its line there, from 1.
    pub line: usize,
}

/// A system that says something of sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSystem {
    /// From 1.
    pub id: i64,
    /// As it is shown; no two have the same.
    pub name: String,
    /// What it is.
    pub about: StoredAbout,
}

/// What a system is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredAbout {
    /// Model folders: one, or those of an ensemble; none of a file of outputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// The beginning of the digest of each model's weights.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub digests: Vec<String>,
    /// Hypotheses of the beam; 0 where that is not known.
    pub beam: usize,
    /// How hypotheses are ranked: log p / |y|^a.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ranking: String,
    /// `[UNK]` was forbidden.
    pub no_unk: bool,
    /// How members of an ensemble become one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub mixing: String,
    /// Which word a row of its alignments belongs to; empty: the word that was predicted.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reading: String,
    /// The file of outputs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// How it was read: format, encoding, orientation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub facts: String,
    /// The interventions that it was run with, as a file of interventions has them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub interventions: String,
    /// The languages of its models, source and target, such as `en>fr`; empty where that is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub languages: String,
    /// The version of the program that ran it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
}

/// The ranking of a system whose outputs are the references.
pub const FORCED: &str = "forced";

impl StoredSystem {
    /// Its outputs are the references that a model was forced through: it translates nothing, so that it is no rival of
    /// others.
    pub fn is_forced(&self) -> bool {
        self.about.ranking == FORCED
    }
}

/// The key of an output.
pub(crate) fn key(system: i64, sentence: i64) -> i64 {
    system << 32 | sentence
}

impl Workspace {
    /// How many sentences there are.
    pub fn len(&self) -> Result<usize> {
        // In a damaged file an id may be any number, and a sentence takes at least so many bytes.
        let sql = "SELECT min(coalesce(max(id), 0), (SELECT page_count * page_size / 8 FROM pragma_page_count,
            pragma_page_size)) FROM sentence";
        self.ask(|all| number(all, sql, [])).map(|count| count.max(0) as usize)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> Result<bool> {
        self.len().map(|count| count == 0)
    }

    /// Every system, in the order in which they came.
    pub fn systems(&self) -> Result<Vec<StoredSystem>> {
        let system = |row: &Row<'_>| {
            // A newer program may have written more than this one knows.
            let about = serde_json::from_str(&row.get::<_, String>(2)?).unwrap_or_default();
            Ok(StoredSystem { id: row.get(0)?, name: row.get(1)?, about })
        };
        self.ask(|all| list(all, "SELECT id, name, about FROM system ORDER BY id", [], system))
    }

    /// A sentence, from 0.
    pub fn sentence(&self, at: usize) -> Result<Option<StoredSentence>> {
        let sql = "SELECT source, reference, name, origin, line FROM sentence WHERE id = ?1";
        self.ask(|all| one(all, sql, [at as i64 + 1], sentence))
    }

    /// The sentences of a range, from 0, as far as there are any.
    pub fn sentences(&self, range: std::ops::Range<usize>) -> Result<Vec<StoredSentence>> {
        let sql = "SELECT source, reference, name, origin, line FROM sentence WHERE id > ?1 AND id <= ?2 ORDER BY id";
        self.ask(|all| list(all, sql, [range.start as i64, range.end as i64], sentence))
    }

    /// What a system says of a sentence, from 0.
    pub fn output(&self, system: i64, at: usize) -> Result<Option<SystemOutput>> {
        let sql = "SELECT output.text, sentence.source, body.packed FROM output JOIN body USING (key)
            LEFT JOIN sentence ON sentence.id = ?2 WHERE key = ?1";
        let row = |row: &Row<'_>| {
            let source: Option<String> = row.get(1)?;
            Ok(unpack(row.get(0)?, &source.unwrap_or_default(), &row.get::<_, Vec<u8>>(2)?))
        };
        let found = self.ask(|all| one(all, sql, [key(system, at as i64 + 1), at as i64 + 1], row))?;
        let damaged = || {
            let message = format!("what a system says of sentence {} is damaged; let it run again", at + 1);
            Error::file(self.path(), message)
        };
        found.map(|output| output.ok_or_else(damaged)).transpose()
    }

    /// Sentences, from 0, that a system has not been asked about, at most so many, from `from` on.
    pub fn missing(&self, system: i64, from: usize, most: usize) -> Result<Vec<usize>> {
        let sql = "SELECT id - 1 FROM sentence WHERE id > ?2 AND NOT EXISTS
            (SELECT 1 FROM output WHERE key = (?1 << 32 | sentence.id)) ORDER BY id LIMIT ?3";
        self.ask(|all| list(all, sql, [system, from as i64, most as i64], |row| Ok(row.get::<_, i64>(0)? as usize)))
    }

    /// The place, from 0, of the first sentence of the file that brought sentences last.
    pub fn newest(&self) -> Result<usize> {
        let sql = "SELECT coalesce(min(id), 1) FROM sentence WHERE origin = (SELECT max(origin) FROM sentence)";
        self.ask(|all| number(all, sql, [])).map(|first| usize::try_from(first).unwrap_or(1).saturating_sub(1))
    }

    /// The places, from 0, of the sentences with these letters, spaces aside and with straight apostrophes: the first few.
    pub fn places_of(&self, letters: &str) -> Result<Vec<usize>> {
        let sql = "SELECT id - 1 FROM sentence
            WHERE replace(replace(replace(source, ' ', ''), char(160), ''), char(8217), char(39)) = ?1 AND id > 0 ORDER BY id LIMIT 100";
        self.ask(|all| list(all, sql, [letters], |row| Ok(row.get::<_, i64>(0)? as usize)))
    }

    /// How many sentences a system has been asked about.
    pub fn outputs(&self, system: i64) -> Result<usize> {
        let sql = "SELECT count(*) FROM output WHERE key > ?1 << 32 AND key < (?1 + 1) << 32";
        self.ask(|all| number(all, sql, [system])).map(|count| count as usize)
    }

    /// Links by hand of a sentence, from 0.
    pub fn gold(&self, at: usize) -> Result<Option<Links>> {
        self.ask(|all| gold_of(all, at as i64 + 1))
    }

    /// Links by hand of the sentences of a range, from 0, as far as there are any.
    pub fn golds_of(&self, range: std::ops::Range<usize>) -> Result<Vec<(usize, Links)>> {
        let sql = "SELECT sentence - 1, links FROM gold WHERE sentence > ?1 AND sentence <= ?2";
        let gold = |row: &Row<'_>| {
            let at = row.get::<_, i64>(0)? as usize;
            Ok(links_of(&row.get::<_, String>(1)?).map(|links| (at, links)))
        };
        let golds: Vec<_> = self.ask(|all| list(all, sql, [range.start as i64, range.end as i64], gold))?;
        Ok(golds.into_iter().flatten().collect())
    }
}

/// Links by hand of a sentence, by its id.
pub(crate) fn gold_of(all: &Connection, id: i64) -> rusqlite::Result<Option<Links>> {
    let sql = "SELECT links FROM gold WHERE sentence = ?1";
    one(all, sql, [id], |row| Ok(links_of(&row.get::<_, String>(0)?))).map(Option::flatten)
}

fn sentence(row: &Row<'_>) -> rusqlite::Result<StoredSentence> {
    Ok(StoredSentence {
        source: row.get(0)?,
        reference: row.get(1)?,
        name: row.get(2)?,
        origin: row.get(3)?,
        line: row.get::<_, i64>(4)? as usize,
    })
}
