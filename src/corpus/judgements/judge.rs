//! Judgements of sentences: stars, tags, notes, marks of errors, gold links, and the scheme of errors, all
//! with one undo that outlives the program.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};

use crate::judgements::scheme::{ErrorScheme, Renamed};
use crate::store::file::{Workspace, change, list, number, one};
use crate::store::{output::output_links, output::set_gold, output::set_output_links, read::gold_of};
use engine::error::{Error, Result};
use engine::text::{cut::WordRule, links, links::Links, links::read::links_of, words::words_of};

/// Whose judgements those are that nobody put a name to.
pub const NOBODY: &str = "me";
/// Whose marks are the suggestions of a metric, and no person's.
pub const METRIC: &str = "xCOMET";
/// Stands for the kind where a translation that was replaced was said to have no errors.
const FAULTLESS: &str = "no errors";
pub const MOST_STARS: u8 = 5;
pub const MOST_RATING: u8 = 100;
/// Stands for the kind where a translation that was replaced had a rating, which is the severity then.
const RATED: &str = "rating";

/// What one annotator says of one sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Judgement {
    /// 0 (none) to [`MOST_STARS`].
    #[serde(skip_serializing_if = "is_zero")]
    pub stars: u8,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<ErrorMark>,
    /// Systems, by name, whose translation was read and has no errors.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub no_errors: BTreeSet<String>,
    /// Ratings by system name, 0 to [`MOST_RATING`], as in direct assessment and ESA (Kocmi et al. 2024).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ratings: BTreeMap<String, u8>,
    /// Links between source and reference that this annotator drew, in Pharaoh's notation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub links: String,
    /// Marks of translations that were replaced: they are kept, and count for nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<StaleMark>,
}

/// A mark of a translation that was replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StaleMark {
    #[serde(flatten)]
    pub mark: ErrorMark,
    /// The words that were marked, where they are known.
    pub words: String,
}

impl Judgement {
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

    /// Rates a system's translation; `None`: takes that back.
    pub fn rate(&mut self, system: String, rating: Option<u8>) {
        match rating {
            Some(rating) => drop(self.ratings.insert(system, rating.min(MOST_RATING))),
            None => drop(self.ratings.remove(&system)),
        }
    }

    /// A translation that was rated where errors are asked for, too, was judged: without a mark it has none (ESA, Kocmi et al. 2024).
    pub fn settle(&mut self, is_asked: impl Fn(&String) -> bool) {
        let rated = self.ratings.keys().filter(|system| is_asked(system) && !self.judges(system));
        let clean: Vec<String> = rated.cloned().collect();
        self.no_errors.extend(clean);
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

    fn set_apart(&mut self, system: &str, before: Option<&str>, (after, rule): (&str, WordRule)) -> usize {
        let within = |text: &str, mark: &ErrorMark| {
            let (from, to) = mark.target;
            (to <= rule.count(text) && from <= to).then(|| words_of(text, rule, mark.target).to_owned())
        };
        let fits = |mark: &ErrorMark| {
            let now = within(after, mark);
            mark.system != system || now.is_some() && before.is_none_or(|before| within(before, mark) == now)
        };
        let (kept, stale): (Vec<_>, Vec<_>) = std::mem::take(&mut self.marks).into_iter().partition(fits);
        self.marks = kept;
        let mut count = stale.len();
        let words = |mark: &ErrorMark| before.and_then(|before| within(before, mark)).unwrap_or_default();
        self.stale.extend(stale.into_iter().map(|mark| StaleMark { words: words(&mark), mark }));
        if before.is_some() && self.no_errors.remove(system) {
            self.set_whole_apart(system, (FAULTLESS, ""), before);
            count += 1;
        }
        if before.is_some()
            && let Some(rating) = self.ratings.remove(system)
        {
            self.set_whole_apart(system, (RATED, &rating.to_string()), before);
            count += 1;
        }
        count
    }

    fn set_whole_apart(&mut self, system: &str, (category, severity): (&str, &str), before: Option<&str>) {
        let mark = ErrorMark {
            system: system.to_owned(),
            category: category.to_owned(),
            severity: severity.to_owned(),
            ..ErrorMark::default()
        };
        self.stale.push(StaleMark { mark, words: before.unwrap_or_default().to_owned() });
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

/// Letters of a text, from 0: the first and the one behind the last; `None` if the file never closes the span.
pub type Letters = (usize, Option<usize>);

/// The letters of the translation and of the source that a file marks.
pub type MarkSpans = (Option<Letters>, Option<Letters>);

/// An error in a system's translation.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorMark {
    pub system: String,
    /// Words of the translation, the first and the one behind the last, from 0; equal where words are missing there.
    pub target: (usize, usize),
    /// The first letter of these words and the one behind the last, if the error is a part of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub letters: Option<(usize, usize)>,
    /// Words of the source; equal where it concerns none.
    pub source: (usize, usize),
    /// The letters that the mark's file had marked, if words and letters do not imply them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spans: Option<MarkSpans>,
    pub category: String,
    pub severity: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// What acts changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Sentences, from 0, of which something else is said.
    pub judged: BTreeSet<usize>,
    pub golds: BTreeSet<usize>,
    /// The scheme of errors is another.
    pub scheme: bool,
}

impl Changed {
    fn add(&mut self, edit: &Edit) {
        match (place(edit.id), &edit.annotator) {
            (Some(at), Some(_)) => drop(self.judged.insert(at)),
            (Some(at), None) => drop(self.golds.insert(at)),
            (None, by) => self.scheme |= by.is_none(),
        }
    }
}

/// Something to be said: of the sentence with this id (0: the scheme), by an annotator (none: links by hand).
#[derive(Clone, Debug)]
struct Edit {
    id: i64,
    annotator: Option<String>,
    after: Option<String>,
}

impl Edit {
    fn judgement(at: usize, annotator: &str, judgement: &Judgement) -> Self {
        let after = (!judgement.is_empty()).then(|| serde_json::to_string(judgement).unwrap_or_default());
        Self { id: at as i64 + 1, annotator: Some(annotator.to_owned()), after }
    }

    /// Links of an output, with its text behind a tab: an act says both.
    fn output_gold(at: usize, text: &str, gold: Option<&Links>) -> Self {
        let links = gold.map(links::pharaoh).unwrap_or_default();
        Self { id: at as i64 + 1, annotator: None, after: Some(format!("{links}\t{text}")) }
    }

    fn gold(at: usize, gold: Option<&Links>) -> Self {
        Self { id: at as i64 + 1, annotator: None, after: gold.map(links::pharaoh) }
    }
}

/// An act as it was kept: its id, what must stand for it to be taken back, and what will.
struct Act {
    number: i64,
    must: Option<String>,
    edit: Edit,
}

/// Whose marks are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Judges {
    People,
    Metric,
}

impl Judges {
    /// Whether an annotator, by the name, is one of them.
    pub fn are(self, annotator: &str) -> bool {
        (annotator == METRIC) == (self == Self::Metric)
    }

    /// What they say of a sentence.
    pub fn said(self, by: &ByAnnotator) -> impl Iterator<Item = (&String, &Judgement)> {
        by.iter().filter(move |(annotator, _)| self.are(annotator))
    }
}

/// What everyone says of a sentence.
pub type ByAnnotator = BTreeMap<String, Judgement>;

/// Everything that people say of the sentences of a workspace. Copies share what is said of a sentence.
pub type Judgements = BTreeMap<usize, Arc<ByAnnotator>>;

fn place(id: i64) -> Option<usize> {
    usize::try_from(id).ok()?.checked_sub(1)
}

/// A judgement of a sentence, from 0, by an annotator.
pub type Given = (usize, String, Judgement);

fn judgement(row: &Row<'_>, column: usize) -> rusqlite::Result<Judgement> {
    Ok(serde_json::from_str(&row.get::<_, String>(column)?).unwrap_or_default())
}

impl Workspace {
    /// All judgements by sentence and annotator, ratings as [`Campaign::settle`](super::campaign::Campaign::settle) leaves them.
    pub fn judgements(&self) -> Result<Judgements> {
        let mut all = self.judgements_as_given()?;
        for (at, annotator, judgement) in self.campaign()?.map(|campaign| campaign.settled(&all)).unwrap_or_default() {
            Arc::make_mut(all.entry(at).or_default()).insert(annotator, judgement);
        }
        Ok(all)
    }

    pub(super) fn judgements_as_given(&self) -> Result<Judgements> {
        let sql = "SELECT sentence, annotator, document FROM judgement";
        let rows: Vec<(i64, String, Judgement)> =
            self.ask(|all| list(all, sql, [], |row| Ok((row.get(0)?, row.get(1)?, judgement(row, 2)?))))?;
        let mut all = Judgements::new();
        for (id, annotator, judgement) in rows {
            if let Some(at) = place(id) {
                Arc::make_mut(all.entry(at).or_default()).insert(annotator, judgement);
            }
        }
        Ok(all)
    }

    /// The sentences, from 0, with links by hand.
    pub fn golds(&self) -> Result<BTreeSet<usize>> {
        let golds: Vec<_> = self.ask(|all| list(all, "SELECT sentence FROM gold", [], |row| row.get(0).map(place)))?;
        let sql = "SELECT DISTINCT sentence FROM target WHERE links IS NOT NULL";
        let outputs: Vec<_> = self.ask(|all| list(all, sql, [], |row| row.get(0).map(place))).unwrap_or_default();
        Ok(golds.into_iter().chain(outputs).flatten().collect())
    }

    /// What is said of no sentence, which only a damaged file does, as a sentence.
    pub fn stray_judgements(&self) -> Result<Option<String>> {
        let sql = "SELECT (SELECT count(*) FROM judgement WHERE sentence < 1) + (SELECT count(*) FROM gold WHERE sentence < 1)";
        let count = self.ask(|all| number(all, sql, []))?;
        let message = format!("is damaged: {count} of its judgements are of no sentence; they are left out");
        Ok((count > 0).then(|| Error::file(self.path(), message).to_string()))
    }

    /// The scheme of errors.
    pub fn scheme(&self) -> Result<ErrorScheme> {
        let document = self.ask(|all| standing(all, 0, None, None))?;
        Ok(document.and_then(|document| serde_json::from_str(&document).ok()).unwrap_or_default())
    }

    /// Judges a sentence, from 0, in an annotator's name; an act that can be undone.
    pub fn judge(&mut self, at: usize, annotator: &str, judgement: &Judgement) -> Result<Changed> {
        self.act(&[Edit::judgement(at, annotator, judgement)])
    }

    /// Sets the gold links of a sentence, from 0; they also count as this annotator's.
    pub fn draw(&mut self, at: usize, annotator: &str, gold: Option<&Links>) -> Result<Changed> {
        let said = self.judgements_of(at)?.remove(annotator).unwrap_or_default();
        let judgement = Judgement { links: gold.map(links::pharaoh).unwrap_or_default(), ..said };
        self.act(&[Edit::gold(at, gold), Edit::judgement(at, annotator, &judgement)])
    }

    /// Sets the links by hand of an output of a sentence, from 0, by its text.
    pub fn draw_output(&mut self, at: usize, text: &str, gold: Option<&Links>) -> Result<Changed> {
        self.act(&[Edit::output_gold(at, text, gold)])
    }

    pub fn judgements_of(&self, at: usize) -> Result<ByAnnotator> {
        let sql = "SELECT annotator, document FROM judgement WHERE sentence = ?1";
        self.ask(|all| list(all, sql, [at as i64 + 1], |row| Ok((row.get(0)?, judgement(row, 1)?))))
    }

    /// Many judgements and links by hand as one act.
    pub fn judge_all(&mut self, given: &[Given], golds: &[(usize, Links)]) -> Result<()> {
        let judgements = given.iter().map(|(at, by, judgement)| Edit::judgement(*at, by, judgement));
        let edits: Vec<Edit> = judgements.chain(golds.iter().map(|(at, gold)| Edit::gold(*at, Some(gold)))).collect();
        self.act(&edits).map(drop)
    }

    /// Sets the scheme of errors. Marks of kinds and severities that have new names get these too.
    pub fn set_scheme(&mut self, scheme: &ErrorScheme, renamed: &Renamed) -> Result<Changed> {
        let document = serde_json::to_string(scheme).unwrap_or_default();
        let mut edits = vec![Edit { id: 0, annotator: None, after: Some(document) }];
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
                edits.extend(is_new.then(|| Edit::judgement(at, &annotator, &judgement)));
            }
        }
        self.act(&edits)
    }

    fn act(&mut self, edits: &[Edit]) -> Result<Changed> {
        self.at_once(|all| {
            let (mut changed, mut batch) = (None::<Changed>, None);
            for edit in edits {
                let Edit { id, annotator, after } = edit;
                let before = standing(all, *id, annotator.as_deref(), after.as_deref())?;
                if before == *after {
                    continue;
                }
                if changed.is_none() {
                    // acts that are undone are the newest; without any, nothing is searched
                    let undone = "SELECT undone FROM act ORDER BY id DESC LIMIT 1";
                    if one(all, undone, [], |row| row.get(0))?.unwrap_or(false) {
                        all.execute("DELETE FROM act WHERE undone = 1", [])?;
                    }
                    let next = number(all, "SELECT coalesce(max(id), 0) + 1 FROM act", [])?;
                    batch = (edits.len() > 1).then_some(next);
                }
                let sql = "INSERT INTO act(sentence, annotator, before, after, batch) VALUES (?1, ?2, ?3, ?4, ?5)";
                change(all, sql, params![id, annotator, before, after, batch])?;
                stand(all, *id, annotator.as_deref(), after.as_deref())?;
                changed.get_or_insert_default().add(edit);
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

    fn step(&mut self, does_again: bool) -> Result<Option<Changed>> {
        self.at_once(|all| {
            loop {
                let acts = last_acts(all, does_again)?;
                if acts.is_empty() {
                    return Ok(None);
                }
                let mut changed = None;
                for act in acts {
                    let Edit { id, annotator, after } = &act.edit;
                    if standing(all, *id, annotator.as_deref(), after.as_deref())? != act.must {
                        change(all, "DELETE FROM act WHERE id = ?1", [act.number])?;
                        continue;
                    }
                    stand(all, *id, annotator.as_deref(), after.as_deref())?;
                    change(all, "UPDATE act SET undone = ?2 WHERE id = ?1", params![act.number, !does_again])?;
                    changed.get_or_insert_with(Changed::default).add(&act.edit);
                }
                if changed.is_some() {
                    return Ok(changed);
                }
            }
        })
    }
}

/// Sets aside marks of words that an output no longer has; returns how many. This is no act: earlier acts cannot be undone.
pub(crate) fn set_apart(
    all: &Connection, (id, system): (i64, &str), before: Option<&str>, after: (&str, WordRule),
) -> rusqlite::Result<usize> {
    let sql = "SELECT annotator, document FROM judgement WHERE sentence = ?1";
    let by: ByAnnotator = list(all, sql, [id], |row| Ok((row.get(0)?, judgement(row, 1)?)))?;
    let mut count = 0;
    for (annotator, mut judgement) in by {
        let apart = judgement.set_apart(system, before, after);
        if apart > 0 {
            let document = serde_json::to_string(&judgement).unwrap_or_default();
            stand(all, id, Some(&annotator), Some(&document))?;
        }
        count += apart;
    }
    Ok(count)
}

fn last_acts(all: &Connection, does_again: bool) -> rusqlite::Result<Vec<Act>> {
    let (first, columns, order) =
        if does_again { ("min", "before, after", "ASC") } else { ("max", "after, before", "DESC") };
    let sql = format!(
        "SELECT id, sentence, annotator, {columns} FROM act, (SELECT {first}(id) AS next FROM act WHERE undone = ?1)
        WHERE undone = ?1 AND (id = next OR batch = (SELECT batch FROM act WHERE id = next)) ORDER BY id {order}"
    );
    let act = |row: &Row<'_>| {
        let edit = Edit { id: row.get(1)?, annotator: row.get(2)?, after: row.get(4)? };
        Ok(Act { number: row.get(0)?, must: row.get(3)?, edit })
    };
    list(all, &sql, [does_again], act)
}

fn standing(
    all: &Connection, id: i64, annotator: Option<&str>, document: Option<&str>,
) -> rusqlite::Result<Option<String>> {
    match (annotator, document.and_then(|document| document.split_once('\t'))) {
        (None, _) if id == 0 => one(all, "SELECT document FROM setting WHERE name = 'scheme'", [], |row| row.get(0)),
        (None, Some((_, text))) => Ok(Some(format!("{}\t{text}", output_links(all, id, text)?))),
        (None, None) => Ok(gold_of(all, id)?.as_ref().map(links::pharaoh)),
        (Some(annotator), _) => {
            let sql = "SELECT document FROM judgement WHERE sentence = ?1 AND annotator = ?2";
            one(all, sql, params![id, annotator], |row| row.get(0))
        }
    }
}

fn stand(all: &Connection, id: i64, annotator: Option<&str>, document: Option<&str>) -> rusqlite::Result<()> {
    let done = match (annotator, document) {
        (None, None) if id == 0 => change(all, "DELETE FROM setting WHERE name = 'scheme'", []),
        (None, Some(document)) if id == 0 => {
            change(all, "INSERT OR REPLACE INTO setting(name, document) VALUES ('scheme', ?1)", [document])
        }
        (None, Some(line)) if let Some((links, text)) = line.split_once('\t') => {
            return set_output_links(all, id, text, links);
        }
        (None, line) => return set_gold(all, id, line.and_then(links_of).as_ref()),
        (Some(annotator), None) => {
            change(all, "DELETE FROM judgement WHERE sentence = ?1 AND annotator = ?2", params![id, annotator])
        }
        (Some(annotator), Some(document)) => {
            let sql = "INSERT OR REPLACE INTO judgement(sentence, annotator, document) VALUES (?1, ?2, ?3)";
            change(all, sql, params![id, annotator, document])
        }
    };
    done.map(drop)
}
