//! Floor 7: what people say of sentences: stars, tags, notes, marks of errors, links by hand, each with one undo that
//! outlives the program.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::text::links;
use crate::text::links::Links;
use crate::text::links::read::links_of;
use crate::workspace::file::Workspace;
use crate::workspace::read::gold_of;
use crate::workspace::write::set_gold;

/// The most stars.
pub const MOST_STARS: u8 = 5;

/// What one annotator says of one sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Judgement {
    /// 0 (none) to [`MOST_STARS`].
    #[serde(skip_serializing_if = "is_zero")]
    pub stars: u8,
    /// Words that sentences are gathered under.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<String>,
    /// Free text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

impl Judgement {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(stars: &u8) -> bool {
    *stars == 0
}

/// An error in a system's translation.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Mark {
    /// The name of the system.
    pub system: String,
    /// Words of the translation, the first and the one behind the last, from 0; equal where words are missing there.
    pub target: (usize, usize),
    /// Words of the source; equal where it concerns none.
    pub source: (usize, usize),
    /// A line of the scheme.
    pub category: String,
    /// A severity of the scheme.
    pub severity: String,
    /// Free text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Kinds of errors and how bad they may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scheme {
    /// Kinds, `group/kind`.
    pub categories: Vec<String>,
    /// Severities and what each weighs.
    pub severities: Vec<(String, f32)>,
}

impl Default for Scheme {
    /// The core of MQM (Multidimensional Quality Metrics) with its usual weights.
    fn default() -> Self {
        let categories = [
            "accuracy/addition",
            "accuracy/omission",
            "accuracy/mistranslation",
            "accuracy/untranslated",
            "fluency/grammar",
            "fluency/spelling",
            "fluency/punctuation",
            "fluency/register",
            "fluency/inconsistency",
            "terminology",
            "style",
            "locale",
            "other",
        ];
        let severities = [("neutral", 0.0), ("minor", 1.0), ("major", 5.0), ("critical", 25.0)];
        Self {
            categories: categories.map(str::to_owned).to_vec(),
            severities: severities.map(|(name, weight)| (name.to_owned(), weight)).to_vec(),
        }
    }
}

/// What an act changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The sentence, from 0.
    pub at: usize,
    /// Links by hand changed, which [`Workspace::measure`] must hear of.
    pub is_gold: bool,
}

/// An act: its id, the sentence, the annotator (none: links by hand), what must stand, what will.
type Act = (i64, i64, Option<String>, Option<String>, Option<String>);

/// Everything that people say of the sentences of a workspace.
pub type Judgements = BTreeMap<usize, BTreeMap<String, Judgement>>;

impl Workspace {
    /// Everything that was said, by sentence and annotator.
    pub fn judgements(&self) -> Result<Judgements> {
        let mut all = Judgements::new();
        let mut read = || {
            let mut find = self.connection.prepare_cached("SELECT sentence, annotator, document FROM judgement")?;
            let mut rows = find.query([])?;
            while let Some(row) = rows.next()? {
                let at = row.get::<_, i64>(0)? as usize - 1;
                let judgement = serde_json::from_str(&row.get::<_, String>(2)?).unwrap_or_default();
                all.entry(at).or_default().insert(row.get(1)?, judgement);
            }
            Ok(())
        };
        self.tell(read())?;
        Ok(all)
    }

    /// The sentences, from 0, with links by hand.
    pub fn golds(&self) -> Result<BTreeSet<usize>> {
        let read = || {
            let mut find = self.connection.prepare_cached("SELECT sentence FROM gold")?;
            find.query_map([], |row| row.get::<_, i64>(0).map(|id| id as usize - 1))?.collect()
        };
        self.tell(read())
    }

    /// Judges a sentence, from 0, in an annotator's name; an act that can be undone.
    pub fn judge(&mut self, at: usize, annotator: &str, judgement: &Judgement) -> Result<()> {
        let after = (!judgement.is_empty()).then(|| serde_json::to_string(judgement).unwrap_or_default());
        self.act(at, Some(annotator), after.as_deref())
    }

    /// Sets the links by hand of a sentence, from 0, or takes them away; an act that can be undone.
    pub fn set_gold(&mut self, at: usize, gold: Option<&Links>) -> Result<()> {
        self.act(at, None, gold.map(links::pharaoh).as_deref())
    }

    fn act(&mut self, at: usize, annotator: Option<&str>, after: Option<&str>) -> Result<()> {
        let id = at as i64 + 1;
        self.at_once(|all| {
            let before = standing(all, id, annotator)?;
            if before.as_deref() == after {
                return Ok(());
            }
            all.execute("DELETE FROM act WHERE undone = 1", [])?;
            let sql = "INSERT INTO act(sentence, annotator, before, after) VALUES (?1, ?2, ?3, ?4)";
            all.prepare_cached(sql)?.execute(params![id, annotator, before, after])?;
            stand(all, id, annotator, after)
        })
    }

    /// Takes back the last act; `None` where there is none.
    pub fn undo(&mut self) -> Result<Option<Changed>> {
        let sql = "SELECT id, sentence, annotator, after, before FROM act WHERE undone = 0 ORDER BY id DESC LIMIT 1";
        self.step(sql, true)
    }

    /// Does again what was taken back last; `None` where there is nothing.
    pub fn redo(&mut self) -> Result<Option<Changed>> {
        self.step("SELECT id, sentence, annotator, before, after FROM act WHERE undone = 1 ORDER BY id LIMIT 1", false)
    }

    /// An act whose result was replaced meanwhile, as by an import, is forgotten and the next one is taken.
    fn step(&mut self, find: &str, is_undone: bool) -> Result<Option<Changed>> {
        self.at_once(|all| {
            loop {
                let row =
                    |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
                let found: Option<Act> = all.query_row(find, [], row).optional()?;
                let Some((act, id, annotator, from, to)) = found else { return Ok(None) };
                if standing(all, id, annotator.as_deref())? != from {
                    all.execute("DELETE FROM act WHERE id = ?1", [act])?;
                    continue;
                }
                stand(all, id, annotator.as_deref(), to.as_deref())?;
                all.execute("UPDATE act SET undone = ?2 WHERE id = ?1", params![act, is_undone])?;
                return Ok(Some(Changed { at: id as usize - 1, is_gold: annotator.is_none() }));
            }
        })
    }
}

/// What is said now.
fn standing(all: &Connection, id: i64, annotator: Option<&str>) -> rusqlite::Result<Option<String>> {
    match annotator {
        None => Ok(gold_of(all, id)?.as_ref().map(links::pharaoh)),
        Some(annotator) => {
            let sql = "SELECT document FROM judgement WHERE sentence = ?1 AND annotator = ?2";
            all.prepare_cached(sql)?.query_row(params![id, annotator], |row| row.get(0)).optional()
        }
    }
}

/// Says it.
fn stand(all: &Connection, id: i64, annotator: Option<&str>, document: Option<&str>) -> rusqlite::Result<()> {
    match (annotator, document) {
        (None, line) => set_gold(all, id, line.and_then(links_of).as_ref()),
        (Some(annotator), None) => {
            let sql = "DELETE FROM judgement WHERE sentence = ?1 AND annotator = ?2";
            all.prepare_cached(sql)?.execute(params![id, annotator]).map(drop)
        }
        (Some(annotator), Some(document)) => {
            let sql = "INSERT OR REPLACE INTO judgement(sentence, annotator, document) VALUES (?1, ?2, ?3)";
            all.prepare_cached(sql)?.execute(params![id, annotator, document]).map(drop)
        }
    }
}
