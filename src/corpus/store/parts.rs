//! Parts of speech as the file keeps them: a text for each source, and for each reference or output by its own text,
//! that has them, with one for each of its words and spaces between.

use std::{collections::BTreeMap, path::PathBuf};

use rusqlite::params;
use serde::{Deserialize, Serialize};

use crate::store::file::{Workspace, change, list, one};
use engine::error::Result;

impl Workspace {
    /// Keeps the parts of speech of sentences, by their places from 0.
    pub fn set_parts(&mut self, parts: &[(usize, String)]) -> Result<()> {
        self.at_once(|all| {
            let sql = "INSERT OR REPLACE INTO part(sentence, words) VALUES (?1, ?2)";
            parts.iter().try_for_each(|(at, words)| change(all, sql, params![*at as i64 + 1, words]).map(drop))
        })
    }

    /// Whether any sentence has parts of speech.
    pub fn has_parts(&self) -> bool {
        let find = |all| one(all, "SELECT sentence FROM part LIMIT 1", [], |row| row.get::<_, i64>(0));
        self.ask(find).ok().flatten().is_some()
    }

    /// The parts of speech of the words of a source; `None` where it has not one for each.
    pub fn parts(&self, at: usize, source: &str) -> Option<Vec<String>> {
        let find = |all| {
            one(all, "SELECT words FROM part WHERE sentence = ?1", [at as i64 + 1], |row| row.get::<_, String>(0))
        };
        let parts: Vec<String> = self.ask(find).ok().flatten()?.split(' ').map(str::to_owned).collect();
        Some(parts).filter(|parts| parts.len() == self.rules().source.count(source))
    }

    /// Keeps the parts of speech of references and outputs, by the places of their sentences from 0 and by their texts.
    pub fn set_target_parts(&mut self, parts: &[(usize, String, String)]) -> Result<()> {
        self.at_once(|all| {
            let sql = "INSERT INTO target(sentence, text, parts) VALUES (?1, ?2, ?3)
                ON CONFLICT DO UPDATE SET parts = excluded.parts";
            let set =
                |(at, text, parts): &(usize, String, String)| change(all, sql, params![*at as i64 + 1, text, parts]);
            parts.iter().try_for_each(|one| set(one).map(drop))
        })
    }

    /// Whether any reference or output has parts of speech.
    pub fn has_target_parts(&self) -> bool {
        let sql = "SELECT sentence FROM target WHERE parts IS NOT NULL LIMIT 1";
        let find = |all| one(all, sql, [], |row| row.get::<_, i64>(0));
        self.ask(find).ok().flatten().is_some()
    }

    /// The parts of speech of the words of a reference or output; `None` where it has not one for each.
    pub fn target_parts(&self, at: usize, text: &str) -> Option<Vec<String>> {
        let sql = "SELECT parts FROM target WHERE sentence = ?1 AND text = ?2";
        let find = |all| one(all, sql, params![at as i64 + 1, text], |row| row.get::<_, Option<String>>(0));
        let parts = self.ask(find).ok().flatten().flatten()?;
        let parts: Vec<String> = parts.split(' ').map(str::to_owned).collect();
        Some(parts).filter(|parts| parts.len() == self.rules().target.count(text))
    }

    /// What [`Workspace::set_target_parts`] keeps of a sentence, by text.
    pub fn all_target_parts(&self, at: usize) -> Result<Vec<(String, String)>> {
        if !self.has_target_parts() {
            return Ok(Vec::new());
        }
        let sql = "SELECT text, parts FROM target WHERE sentence = ?1 AND parts IS NOT NULL ORDER BY text";
        self.ask(|all| list(all, sql, [at as i64 + 1], |row| Ok((row.get(0)?, row.get(1)?))))
    }

    pub(crate) fn targets(&self, mut is_wanted: impl FnMut(usize, &str) -> bool) -> Result<Vec<(usize, String)>> {
        let sql = "SELECT id - 1, reference FROM sentence WHERE id > 0 AND reference IS NOT NULL
            UNION SELECT (key & 0xFFFFFFFF) - 1, text FROM reference UNION SELECT (key & 0xFFFFFFFF) - 1, text FROM output";
        self.ask(|all| {
            let (mut find, mut found) = (all.prepare_cached(sql)?, Vec::new());
            let mut rows = find.query([])?;
            while let Some(row) = rows.next()? {
                let (at, text) = (row.get::<_, i64>(0)?.max(0) as usize, row.get_ref(1)?.as_str().unwrap_or_default());
                if is_wanted(at, text) {
                    found.push((at, text.to_owned()));
                }
            }
            Ok(found)
        })
    }
}

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileVersion {
    /// Columns that are shown or hidden against what is shown at first, by their names.
    pub shown: BTreeMap<String, bool>,
    /// The two systems whose differences are columns, by their places; those of the first two are always.
    pub pair: Option<(usize, usize)>,
    /// Columns that were moved, and those before them, in order, by their names.
    pub order: Vec<String>,
    /// What the rows are sorted by, as it is written in a command line; empty: their order in the file.
    pub sorting: String,
    /// Where frequencies of words are read from; none: the references are counted.
    pub frequencies: Option<PathBuf>,
    /// The aligner file that links words of this corpus before any other; none: as elsewhere.
    pub aligner: Option<PathBuf>,
}

impl Workspace {
    /// How it was looked at last; as at first where nothing is kept, or nothing that can be read.
    pub fn look(&self) -> FileVersion {
        let find = |all| one(all, "SELECT document FROM look WHERE id = 1", [], |row| row.get::<_, String>(0));
        let document = self.ask(find).ok().flatten();
        document.and_then(|document| serde_json::from_str(&document).ok()).unwrap_or_default()
    }

    /// Keeps how it is looked at, where anything can be kept.
    pub fn keep_look(&mut self, look: &FileVersion) -> Result<()> {
        if self.is_fixed() {
            return Ok(());
        }
        let document = serde_json::to_string(look).unwrap_or_default();
        self.at_once(|all| all.execute("INSERT OR REPLACE INTO look VALUES (1, ?1)", [&document]).map(drop))
    }
}
