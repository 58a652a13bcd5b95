//! Floor 7: links by hand as the file keeps them.

use rusqlite::{Connection, params};

use crate::corpus::store::file::change;
use crate::text::links;
use crate::text::links::Links;

/// Sets or takes away the links by hand of a sentence.
pub(crate) fn set_gold(all: &Connection, id: i64, gold: Option<&Links>) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO gold(sentence, links) VALUES (?1, ?2)";
    let done = match gold {
        None => change(all, "DELETE FROM gold WHERE sentence = ?1", [id]),
        Some(gold) => change(all, sql, params![id, links::pharaoh(gold)]),
    };
    done.map(drop)
}
