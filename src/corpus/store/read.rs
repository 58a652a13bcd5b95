//! Single sentences, systems and outputs, read back.

use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};

use crate::store::file::{Workspace, list, number, one};
use crate::store::output::{SystemOutput, unpack};
use engine::error::{Error, Result};
use engine::text::{links::Links, links::read::links_of};

/// A source sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredSentence {
    pub source: String,
    pub reference: Option<String>,
    pub further: Vec<String>,
    pub name: Option<String>,
    pub origin: i64,
    pub line: usize,
}

impl StoredSentence {
    /// A reference, counted from 0; `None` where there is none.
    pub fn reference(&self, n: usize) -> Option<&str> {
        match n.checked_sub(1) {
            None => self.reference.as_deref(),
            Some(n) => self.further.get(n).map(String::as_str).filter(|text| !text.is_empty()),
        }
    }

    /// All that outputs are compared with.
    pub fn references(&self) -> Vec<&str> {
        compared(self.reference.as_deref(), self.further.iter().map(String::as_str))
    }
}

/// The references that outputs are compared with; a blank one counts only where there is no other, as in sacreBLEU.
pub fn compared<'a>(first: Option<&'a str>, further: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let further = further.filter(|text| !text.trim().is_empty());
    let mut all: Vec<&str> = first.into_iter().chain(further).collect();
    if all.len() > 1 && all[0].trim().is_empty() {
        all.remove(0);
    }
    all
}

/// References by which the script of a corpus is known.
pub const SAMPLE: usize = 200;

pub const MOST_REFERENCES: usize = 16;

/// A system that says something of sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSystem {
    pub id: i64,
    /// As it is shown; no two have the same.
    pub name: String,
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
    pub no_unk: bool,
    /// How members of an ensemble become one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub mixing: String,
    /// Which word a row of its alignments belongs to; empty: the word that was predicted.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reading: String,
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
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
}

impl StoredAbout {
    /// What it is, for reports and for files: names and values, none of what is not known.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts: Vec<(&'static str, String)> = self.folders.iter().map(|one| ("model", file_name(one))).collect();
        facts.extend(self.digests.iter().map(|digest| ("digest", format!("sha256:{digest}"))));
        facts.push(("beam", if self.beam > 0 { self.beam.to_string() } else { String::new() }));
        facts.push(("ranked by", self.ranking.clone()));
        facts.push(("[UNK]", if self.no_unk { "forbidden".to_owned() } else { String::new() }));
        facts.push(("ensemble of", self.mixing.clone()));
        facts.push(("reading", self.reading.clone()));
        facts.push(match self.interventions.lines().count() {
            0 | 1 => ("interventions", self.interventions.clone()),
            _ => ("interventions", "for each sentence".to_owned()),
        });
        facts.push(("file", file_name(&self.file)));
        facts.push(("read as", self.facts.clone()));
        let version = if self.version.is_empty() { String::new() } else { format!("Interlinear {}", self.version) };
        facts.push(("run by", version));
        facts.retain(|(_, value)| !value.is_empty() && value != "sha256:");
        facts
    }
}

fn file_name(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
}

/// The ranking of a system whose outputs are the references.
pub const FORCED: &str = "forced";

/// How the name of an oracle begins.
pub const ORACLE_OF: &str = "oracle of ";

const MOST_SENTENCES: i64 = 1 << 26;
/// So many sentences or more are not believed without a look: a file with holes may be small and say that it is long.
const MANY: i64 = 1 << 20;
const LOOKED_AT: i64 = 64;

fn is_whole(all: &Connection, len: i64) -> rusqlite::Result<bool> {
    let mut find = all.prepare_cached("SELECT 1 FROM sentence WHERE id = ?1")?;
    let mut found = 0;
    for n in 1..=LOOKED_AT {
        // A damaged page says nothing of the others.
        found += i64::from(find.exists([len / LOOKED_AT * n]).unwrap_or(true));
    }
    Ok(2 * found > LOOKED_AT)
}

impl StoredSystem {
    /// Whether its outputs are the references that a model was forced through.
    pub fn is_forced(&self) -> bool {
        self.about.ranking == FORCED
    }

    /// Whether it made its outputs itself: forced systems and oracles do not compete.
    pub fn competes(&self) -> bool {
        !self.is_forced() && !self.name.starts_with(ORACLE_OF)
    }
}

pub(crate) fn key(system: i64, sentence: i64) -> i64 {
    system << 32 | sentence
}

impl Workspace {
    /// How many sentences there are.
    pub fn len(&self) -> Result<usize> {
        // In a damaged file an id may be any number, and a sentence takes at least so many bytes.
        let sql = "SELECT min(coalesce(max(id), 0), (SELECT page_count * page_size / 8 FROM pragma_page_count,
            pragma_page_size)) FROM sentence";
        let len = |all: &Connection| {
            let len = number(all, sql, [])?.clamp(0, MOST_SENTENCES);
            if len < MANY || is_whole(all, len)? {
                return Ok(len);
            }
            number(all, "SELECT count(*) FROM sentence", []).map(|count| count.min(len))
        };
        self.ask(len).map(|len| len as usize)
    }

    pub fn is_empty(&self) -> Result<bool> {
        self.len().map(|count| count == 0)
    }

    /// Every system, in the order in which they came.
    pub fn systems(&self) -> Result<Vec<StoredSystem>> {
        self.ask(|all| list(all, "SELECT id, name, about FROM system ORDER BY id", [], stored_system))
    }

    /// A sentence, from 0.
    pub fn sentence(&self, at: usize) -> Result<Option<StoredSentence>> {
        let sql = "SELECT source, reference, name, origin, line FROM sentence WHERE id = ?1";
        let mut found = self.ask(|all| one(all, sql, [at as i64 + 1], sentence))?;
        self.ask(|all| add_further(all, at, found.as_mut_slice()))?;
        Ok(found)
    }

    /// The sentences of a range, from 0, as far as there are any.
    pub fn sentences(&self, range: std::ops::Range<usize>) -> Result<Vec<StoredSentence>> {
        let sql = "SELECT source, reference, name, origin, line FROM sentence WHERE id > ?1 AND id <= ?2 ORDER BY id";
        let mut found: Vec<_> = self.ask(|all| list(all, sql, [range.start as i64, range.end as i64], sentence))?;
        self.ask(|all| add_further(all, range.start, &mut found))?;
        Ok(found)
    }

    /// How many references a sentence has at most; at least 1.
    pub fn references(&self) -> Result<usize> {
        self.ask(count_references)
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

    /// The places, from 0, of the sentences that the last file with sources brought.
    pub fn newest(&self) -> Result<std::ops::Range<usize>> {
        let sql = "SELECT coalesce(min(id), 1) - 1, coalesce(max(id), 0) FROM sentence
            WHERE origin = (SELECT max(origin) FROM sentence)";
        let row = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
        let (first, end) = self.ask(|all| one(all, sql, [], row))?.unwrap_or_default();
        let len = self.len()?;
        Ok(usize::try_from(first).unwrap_or(0).min(len)..usize::try_from(end).unwrap_or(0).min(len))
    }

    /// What a system says of a sentence, from 0, in words alone.
    pub fn output_text(&self, system: i64, at: usize) -> Result<Option<String>> {
        let sql = "SELECT text FROM output WHERE key = ?1";
        self.ask(|all| one(all, sql, [key(system, at as i64 + 1)], |row| row.get(0)))
    }

    /// The names of sentences, each with its place, from 0.
    pub fn names(&self) -> Result<Vec<(String, usize)>> {
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)? as usize));
        self.ask(|all| list(all, "SELECT name, id - 1 FROM sentence WHERE id > 0 AND name IS NOT NULL", [], row))
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

/// How many references a sentence has at most; at least 1. In a damaged file a key may be any number.
pub(crate) fn count_references(all: &Connection) -> rusqlite::Result<usize> {
    let last = number(all, "SELECT coalesce(max(key) >> 32, 0) FROM reference", [])?;
    Ok(usize::try_from(last).unwrap_or_default().min(MOST_REFERENCES - 1) + 1)
}

fn add_further(all: &Connection, first: usize, sentences: &mut [StoredSentence]) -> rusqlite::Result<()> {
    if sentences.is_empty() {
        return Ok(());
    }
    for n in 1..count_references(all)? {
        let keys = [key(n as i64, first as i64), key(n as i64, (first + sentences.len()) as i64)];
        let sql = "SELECT key, text FROM reference WHERE key > ?1 AND key <= ?2";
        let texts: Vec<(i64, String)> = list(all, sql, keys, |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (key, text) in texts {
            let sentence = &mut sentences[(key - keys[0] - 1) as usize];
            sentence.further.resize(sentence.further.len().max(n), String::new());
            sentence.further[n - 1] = text;
        }
    }
    Ok(())
}

pub(crate) fn gold_of(all: &Connection, id: i64) -> rusqlite::Result<Option<Links>> {
    let sql = "SELECT links FROM gold WHERE sentence = ?1";
    one(all, sql, [id], |row| Ok(links_of(&row.get::<_, String>(0)?))).map(Option::flatten)
}

pub(crate) fn stored_system(row: &Row<'_>) -> rusqlite::Result<StoredSystem> {
    // A newer program may have written more than this one knows.
    let about = serde_json::from_str(&row.get::<_, String>(2)?).unwrap_or_default();
    Ok(StoredSystem { id: row.get(0)?, name: row.get(1)?, about })
}

fn sentence(row: &Row<'_>) -> rusqlite::Result<StoredSentence> {
    Ok(StoredSentence {
        source: row.get(0)?,
        reference: row.get(1)?,
        name: row.get(2)?,
        origin: row.get(3)?,
        line: row.get::<_, i64>(4)? as usize,
        further: Vec::new(),
    })
}
