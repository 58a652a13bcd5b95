//! Floor 7: what people say of sentences: stars, tags, notes, marks of errors, links by hand, and the scheme of errors,
//! all with one undo that outlives the program.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use crate::corpus::judgements::scheme::{ErrorScheme, Renamed};
use crate::corpus::store::file::Workspace;
use crate::corpus::store::read::gold_of;
use crate::corpus::store::write::set_gold;
use crate::error::{Error, Result};
use crate::text::links;
use crate::text::links::Links;
use crate::text::links::read::links_of;

/// Whose judgements those are that nobody put a name to.
pub const NOBODY: &str = "me";
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
    pub marks: Vec<ErrorMark>,
    /// Systems, by name, whose translation was read and has no errors.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub no_errors: BTreeSet<String>,
    /// Links between source and reference that this annotator drew, in Pharaoh's notation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub links: String,
}

impl Judgement {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the errors of a system's translation were judged: some are marked, or it was said that there are none.
    pub fn judges(&self, system: &str) -> bool {
        self.no_errors.contains(system) || self.marks.iter().any(|mark| mark.system == system)
    }

    /// Whether the errors of any system's translation were judged.
    pub fn judges_any(&self) -> bool {
        !self.no_errors.is_empty() || !self.marks.is_empty()
    }

    /// Marks an error; its system is not without any more.
    pub fn mark(&mut self, mark: ErrorMark) {
        self.no_errors.remove(&mark.system);
        self.marks.push(mark);
    }

    /// Says that a system's translation has no errors, or takes that back. Where errors are marked it cannot be said.
    pub fn turn_no_errors(&mut self, system: String) {
        let is_marked = self.marks.iter().any(|mark| mark.system == system);
        if !self.no_errors.remove(&system) && !is_marked {
            self.no_errors.insert(system);
        }
    }

    /// The links of this annotator, where there are any.
    pub fn drawn(&self) -> Option<Links> {
        (!self.links.is_empty()).then(|| links_of(&self.links)).flatten()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(stars: &u8) -> bool {
    *stars == 0
}

/// An error in a system's translation.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorMark {
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

/// What acts changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// The sentence, from 0; of several the first. `None`: the scheme alone.
    pub at: Option<usize>,
    /// Sentences, from 0, of which something else is said.
    pub judged: Vec<usize>,
    /// Sentences whose links by hand changed, which [`Workspace::measure`] must hear of.
    pub golds: Vec<usize>,
    /// The scheme of errors is another.
    pub scheme: bool,
}

impl Changed {
    fn add(&mut self, deed: &Deed) {
        let Some(at) = place(deed.id) else {
            self.scheme |= deed.annotator.is_none();
            return;
        };
        self.at = Some(self.at.map_or(at, |first| first.min(at)));
        let changed = if deed.annotator.is_none() { &mut self.golds } else { &mut self.judged };
        changed.push(at);
    }
}

/// Something to be said: of the sentence with this id (0: the scheme), by an annotator (none: links by hand).
#[derive(Clone, Debug)]
struct Deed {
    id: i64,
    annotator: Option<String>,
    after: Option<String>,
}

impl Deed {
    fn judgement(at: usize, annotator: &str, judgement: &Judgement) -> Self {
        let after = (!judgement.is_empty()).then(|| serde_json::to_string(judgement).unwrap_or_default());
        Self { id: at as i64 + 1, annotator: Some(annotator.to_owned()), after }
    }

    fn gold(at: usize, gold: Option<&Links>) -> Self {
        Self { id: at as i64 + 1, annotator: None, after: gold.map(links::pharaoh) }
    }
}

/// An act as it was kept: its id, what must stand for it to be taken back, and what will.
struct Act {
    number: i64,
    must: Option<String>,
    deed: Deed,
}

/// What everyone says of a sentence.
pub type ByAnnotator = BTreeMap<String, Judgement>;

/// Everything that people say of the sentences of a workspace. Copies share what is said of a sentence.
pub type Judgements = BTreeMap<usize, Arc<ByAnnotator>>;

/// The place of a sentence, from 0; `None` of a number that no sentence has, as a damaged file may name.
fn place(id: i64) -> Option<usize> {
    usize::try_from(id).ok()?.checked_sub(1)
}

/// A judgement of a sentence, from 0, by an annotator.
pub type Given = (usize, String, Judgement);

impl Workspace {
    /// Everything that was said, by sentence and annotator.
    pub fn judgements(&self) -> Result<Judgements> {
        let mut all = Judgements::new();
        let mut read = || {
            let mut find = self.connection.prepare_cached("SELECT sentence, annotator, document FROM judgement")?;
            let mut rows = find.query([])?;
            while let Some(row) = rows.next()? {
                let Some(at) = place(row.get(0)?) else { continue };
                let judgement = serde_json::from_str(&row.get::<_, String>(2)?).unwrap_or_default();
                Arc::make_mut(all.entry(at).or_default()).insert(row.get(1)?, judgement);
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
            find.query_map([], |row| row.get(0).map(place))?.filter_map(rusqlite::Result::transpose).collect()
        };
        self.tell(read())
    }

    /// What is said of no sentence, which only a damaged file does, as a sentence.
    ///
    /// # Errors
    /// A sentence about the file.
    pub fn stray_judgements(&self) -> Result<Option<String>> {
        let sql = "SELECT (SELECT count(*) FROM judgement WHERE sentence < 1) + (SELECT count(*) FROM gold WHERE sentence < 1)";
        let count: i64 = self.tell(self.connection.query_row(sql, [], |row| row.get(0)))?;
        let message = format!("is damaged: {count} of its judgements are of no sentence; they are left out");
        Ok((count > 0).then(|| Error::file(self.path(), message).to_string()))
    }

    /// The scheme of errors.
    pub fn scheme(&self) -> Result<ErrorScheme> {
        let document = self.tell(standing(&self.connection, 0, None))?;
        Ok(document.and_then(|document| serde_json::from_str(&document).ok()).unwrap_or_default())
    }

    /// Judges a sentence, from 0, in an annotator's name; an act that can be undone.
    pub fn judge(&mut self, at: usize, annotator: &str, judgement: &Judgement) -> Result<()> {
        self.act(&[Deed::judgement(at, annotator, judgement)]).map(drop)
    }

    /// Sets the links by hand of a sentence, from 0, or takes them away; an act that can be undone.
    pub fn set_gold(&mut self, at: usize, gold: Option<&Links>) -> Result<()> {
        self.act(&[Deed::gold(at, gold)]).map(drop)
    }

    /// Sets the links by hand of a sentence, from 0, in an annotator's name: they are its links from now on, and those
    /// that this annotator drew.
    pub fn draw(&mut self, at: usize, annotator: &str, gold: Option<&Links>) -> Result<()> {
        let said = self.judgements_of(at)?.remove(annotator).unwrap_or_default();
        let judgement = Judgement { links: gold.map(links::pharaoh).unwrap_or_default(), ..said };
        self.act(&[Deed::gold(at, gold), Deed::judgement(at, annotator, &judgement)]).map(drop)
    }

    /// What everyone says of a sentence, from 0.
    pub fn judgements_of(&self, at: usize) -> Result<ByAnnotator> {
        let read = || {
            let mut find =
                self.connection.prepare_cached("SELECT annotator, document FROM judgement WHERE sentence = ?1")?;
            let rows = find.query_map([at as i64 + 1], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
            rows.collect::<rusqlite::Result<Vec<(String, String)>>>()
        };
        let said = self.tell(read())?.into_iter();
        Ok(said.map(|(name, document)| (name, serde_json::from_str(&document).unwrap_or_default())).collect())
    }

    /// Many judgements and links by hand as one act.
    pub fn judge_all(&mut self, given: &[Given], golds: &[(usize, Links)]) -> Result<()> {
        let judgements = given.iter().map(|(at, by, judgement)| Deed::judgement(*at, by, judgement));
        let deeds: Vec<Deed> = judgements.chain(golds.iter().map(|(at, gold)| Deed::gold(*at, Some(gold)))).collect();
        self.act(&deeds).map(drop)
    }

    /// Sets the scheme of errors. Marks of kinds and severities that have new names get these too.
    pub fn set_scheme(&mut self, scheme: &ErrorScheme, renamed: &Renamed) -> Result<Changed> {
        let document = serde_json::to_string(scheme).unwrap_or_default();
        let mut deeds = vec![Deed { id: 0, annotator: None, after: Some(document) }];
        let new = |names: &[(String, String)], name: &mut String| {
            let to = names.iter().find(|(old, _)| old == name).map(|(_, to)| to.clone());
            let is_new = to.is_some();
            *name = to.unwrap_or_else(|| std::mem::take(name));
            is_new
        };
        for (at, by) in self.judgements()? {
            for (annotator, mut judgement) in Arc::unwrap_or_clone(by) {
                let mut is_new = false;
                for mark in &mut judgement.marks {
                    is_new |= new(&renamed.kinds, &mut mark.category);
                    is_new |= new(&renamed.severities, &mut mark.severity);
                }
                deeds.extend(is_new.then(|| Deed::judgement(at, &annotator, &judgement)));
            }
        }
        self.act(&deeds)
    }

    /// Does several things as one act.
    fn act(&mut self, deeds: &[Deed]) -> Result<Changed> {
        self.at_once(|all| {
            let (mut changed, mut batch) = (None::<Changed>, None);
            for deed in deeds {
                let Deed { id, annotator, after } = deed;
                let before = standing(all, *id, annotator.as_deref())?;
                if before == *after {
                    continue;
                }
                if changed.is_none() {
                    all.execute("DELETE FROM act WHERE undone = 1", [])?;
                    let next = all.query_row("SELECT coalesce(max(id), 0) + 1 FROM act", [], |row| row.get(0))?;
                    batch = (deeds.len() > 1).then_some::<i64>(next);
                }
                let sql = "INSERT INTO act(sentence, annotator, before, after, batch) VALUES (?1, ?2, ?3, ?4, ?5)";
                all.prepare_cached(sql)?.execute(params![id, annotator, before, after, batch])?;
                stand(all, *id, annotator.as_deref(), after.as_deref())?;
                changed.get_or_insert_default().add(deed);
            }
            Ok(changed.unwrap_or_default())
        })
    }

    /// Takes back the last act; `None` where there is none.
    pub fn undo(&mut self) -> Result<Option<Changed>> {
        self.step(false)
    }

    /// Does again what was taken back last; `None` where there is nothing.
    pub fn redo(&mut self) -> Result<Option<Changed>> {
        self.step(true)
    }

    /// An act whose result was replaced meanwhile, as by an import, is forgotten and the next one is taken.
    fn step(&mut self, does_again: bool) -> Result<Option<Changed>> {
        self.at_once(|all| {
            loop {
                let acts = last_acts(all, does_again)?;
                if acts.is_empty() {
                    return Ok(None);
                }
                let mut changed = None;
                for act in acts {
                    let Deed { id, annotator, after } = &act.deed;
                    if standing(all, *id, annotator.as_deref())? != act.must {
                        all.prepare_cached("DELETE FROM act WHERE id = ?1")?.execute([act.number])?;
                        continue;
                    }
                    stand(all, *id, annotator.as_deref(), after.as_deref())?;
                    let mut mark = all.prepare_cached("UPDATE act SET undone = ?2 WHERE id = ?1")?;
                    mark.execute(params![act.number, !does_again])?;
                    changed.get_or_insert_with(Changed::default).add(&act.deed);
                }
                if changed.is_some() {
                    return Ok(changed);
                }
            }
        })
    }
}

/// The acts that are next to be taken back, or to be done again: one, or a batch, in the order in which that is done.
fn last_acts(all: &Connection, does_again: bool) -> rusqlite::Result<Vec<Act>> {
    let (first, columns, order) =
        if does_again { ("min", "before, after", "ASC") } else { ("max", "after, before", "DESC") };
    let sql = format!(
        "SELECT id, sentence, annotator, {columns} FROM act, (SELECT {first}(id) AS next FROM act WHERE undone = ?1)
        WHERE undone = ?1 AND (id = next OR batch = (SELECT batch FROM act WHERE id = next)) ORDER BY id {order}"
    );
    let mut find = all.prepare_cached(&sql)?;
    let act = |row: &rusqlite::Row<'_>| {
        let deed = Deed { id: row.get(1)?, annotator: row.get(2)?, after: row.get(4)? };
        Ok(Act { number: row.get(0)?, must: row.get(3)?, deed })
    };
    find.query_map([does_again], act)?.collect()
}

/// What is said now.
fn standing(all: &Connection, id: i64, annotator: Option<&str>) -> rusqlite::Result<Option<String>> {
    match annotator {
        None if id == 0 => {
            let mut find = all.prepare_cached("SELECT document FROM setting WHERE name = 'scheme'")?;
            find.query_row([], |row| row.get(0)).optional()
        }
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
        (None, None) if id == 0 => all.execute("DELETE FROM setting WHERE name = 'scheme'", []).map(drop),
        (None, Some(document)) if id == 0 => {
            let sql = "INSERT OR REPLACE INTO setting(name, document) VALUES ('scheme', ?1)";
            all.prepare_cached(sql)?.execute([document]).map(drop)
        }
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
