//! What a table says of its sentences besides texts: stars, tags and notes, as the table of page Corpus has them, and
//! documents, domains and genres, which become tags.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::params;

use crate::judgements::judge::{Judgement, MOST_STARS};
use crate::store::file::Workspace;
use engine::error::Result;
use import::Record;

/// Columns of what sentences are gathered under, and what stands before it in the tag.
const GROUPS: [(&str, &str); 5] =
    [("doc", "doc"), ("docid", "doc"), ("document", "doc"), ("domain", "domain"), ("genre", "genre")];

pub(crate) fn remarks(record: &Record) -> Option<Judgement> {
    let cell = |name: &str| record.extra.iter().find(|(known, _)| known == name).map_or("", |(_, cell)| cell.trim());
    let tags = cell("tags").split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned);
    let groups = GROUPS.iter().map(|(column, group)| (group, cell(column))).filter(|(_, name)| !name.is_empty());
    // Commas part tags where they are written.
    let groups = groups.map(|(group, name)| format!("{group}:{}", name.replace(',', " ")));
    let judgement = Judgement {
        stars: cell("stars").parse().unwrap_or(0).min(MOST_STARS),
        tags: tags.chain(groups).collect(),
        note: cell("notes").to_owned(),
        ..Judgement::default()
    };
    (!judgement.is_empty()).then_some(judgement)
}

impl Workspace {
    pub(crate) fn add_remarks(&mut self, annotator: &str, remarks: &[(usize, Judgement)]) -> Result<()> {
        self.at_once(|all| {
            let mut find = all.prepare_cached("SELECT annotator, document FROM judgement WHERE sentence = ?1")?;
            let sql = "INSERT OR REPLACE INTO judgement(sentence, annotator, document) VALUES (?1, ?2, ?3)";
            let mut set = all.prepare_cached(sql)?;
            for (at, remark) in remarks {
                let id = *at as i64 + 1;
                let rows = find.query_map([id], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
                let mut by = BTreeMap::new();
                for row in rows {
                    let (name, document): (String, String) = row?;
                    by.insert(name, serde_json::from_str(&document).unwrap_or_default());
                }
                if let Some(judgement) = joined(&by, annotator, remark) {
                    set.execute(params![id, annotator, serde_json::to_string(&judgement).unwrap_or_default()])?;
                }
            }
            Ok(())
        })
    }
}

fn joined(by: &BTreeMap<String, Judgement>, annotator: &str, remark: &Judgement) -> Option<Judgement> {
    let tags: BTreeSet<&String> = by.values().flat_map(|one| &one.tags).collect();
    let notes: Vec<&str> = by.values().map(|one| one.note.as_str()).filter(|note| !note.is_empty()).collect();
    let before = by.get(annotator).cloned().unwrap_or_default();
    let mut after = before.clone();
    after.tags.extend(remark.tags.iter().filter(|tag| !tags.contains(tag)).cloned());
    // Notes of several annotators stand in one cell.
    if !notes.contains(&remark.note.as_str()) && notes.join(" / ") != remark.note {
        after.note.clone_from(&remark.note);
    }
    if by.values().all(|one| one.stars < remark.stars) {
        after.stars = remark.stars;
    }
    (after != before).then_some(after)
}
