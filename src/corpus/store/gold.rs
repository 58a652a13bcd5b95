//! Links by hand as the file keeps them.

use rusqlite::{Connection, Row, params};

use crate::store::file::{Workspace, change, list, one};
use engine::error::Result;
use engine::text::{links, links::Links, links::read::links_of, words::words};

pub(crate) fn set_gold(all: &Connection, id: i64, gold: Option<&Links>) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO gold(sentence, links) VALUES (?1, ?2)";
    let done = match gold {
        None => change(all, "DELETE FROM gold WHERE sentence = ?1", [id]),
        Some(gold) => change(all, sql, params![id, links::pharaoh(gold)]),
    };
    done.map(drop)
}

pub(crate) fn output_links(all: &Connection, id: i64, text: &str) -> rusqlite::Result<String> {
    let sql = "SELECT links FROM target WHERE sentence = ?1 AND text = ?2";
    let links = one(all, sql, params![id, text], |row| row.get::<_, Option<String>>(0))?;
    Ok(links.flatten().unwrap_or_default())
}

pub(crate) fn set_output_links(all: &Connection, id: i64, text: &str, links: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO target(sentence, text, links) VALUES (?1, ?2, nullif(?3, ''))
        ON CONFLICT DO UPDATE SET links = excluded.links";
    change(all, sql, params![id, text, links]).map(drop)
}

impl Workspace {
    /// Links by hand of an output of a sentence, from 0: those of the first reference where it says that, else its own.
    pub fn gold_of_output(&self, at: usize, text: &str, reference: Option<&str>) -> Result<Option<Links>> {
        if is_said(text, reference) {
            return self.gold(at);
        }
        let links = self.ask(|all| output_links(all, at as i64 + 1, text))?;
        Ok(links_of(&links).filter(|links| !links.all().is_empty()))
    }

    /// All links by hand of outputs of a sentence, from 0, by their texts.
    pub fn output_golds(&self, at: usize) -> Vec<(String, Links)> {
        let sql = "SELECT text, links FROM target WHERE sentence = ?1 AND links IS NOT NULL ORDER BY text";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?));
        let all: Vec<(String, String)> = self.ask(|all| list(all, sql, [at as i64 + 1], row)).unwrap_or_default();
        all.into_iter().filter_map(|(text, links)| Some((text, links_of(&links)?))).collect()
    }
}

/// Whether an output says the reference.
pub fn is_said(text: &str, reference: Option<&str>) -> bool {
    reference.is_some_and(|reference| words(reference).eq(words(text)))
}
