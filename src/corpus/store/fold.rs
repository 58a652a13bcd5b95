//! Numbers that came one window of sentences after the other are folded into columns, and texts are packed beside
//! them, so that a million sentences open at once. What is folded leaves an empty row behind, by which other windows
//! hear of it.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use crate::store::blocks::{
    Loose, MOST_PIECES, Written, column, keep, lay_over, loose, pack_numbers, pack_texts, packed_numbers,
    place_of_numbers,
};
use crate::store::file::{Workspace, change, list};
use crate::store::{read::count_references, texts::PIECE};
use engine::error::Result;

/// Bytes of numbers that are folded in one step; who else wants to write waits so long.
const STEP: usize = 1 << 26;
/// Loose rows and bytes beyond which reading columns is slow.
const MUCH: (i64, i64) = (100, 1 << 22);

impl Workspace {
    /// Folds what came since the last time. Others may read and write meanwhile; when it is cut short, nothing is lost.
    pub fn fold(&mut self) -> Result<()> {
        let sql = "SELECT DISTINCT system FROM numbers INDEXED BY loose WHERE length(packed) > 0";
        let systems: Vec<i64> = self.ask(|all| list(all, sql, [], |row| row.get(0)))?;
        for system in systems {
            while self.at_once(|all| fold(all, system))? {}
        }
        Ok(())
    }

    /// Folds if so much came since the last time that columns are slow to read.
    pub fn fold_much(&mut self) -> Result<()> {
        let sql =
            "SELECT count(*), coalesce(sum(length(packed)), 0) FROM numbers INDEXED BY loose WHERE length(packed) > 0";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
        let (rows, bytes) = self.ask(|all| all.query_row(sql, [], read))?;
        if rows > MUCH.0 || bytes > MUCH.1 { self.fold() } else { Ok(()) }
    }
}

fn fold(all: &Connection, system: i64) -> rusqlite::Result<bool> {
    let rows = loose(all, system, usize::MAX >> 1, STEP)?;
    // First the room is made that the columns will take.
    for row in &rows {
        let sql = "UPDATE numbers SET packed = x'', count = ?2 WHERE id = ?1";
        change(all, sql, [row.id, row.places().len() as i64])?;
    }
    let mut pieces: BTreeMap<usize, Vec<&Loose>> = BTreeMap::new();
    for row in &rows {
        let places = row.places();
        // A damaged file may tell of any places.
        let last = places.end.div_ceil(PIECE).min(MOST_PIECES);
        (places.start / PIECE..last).for_each(|n| pieces.entry(n).or_default().push(row));
    }
    let names: BTreeSet<&str> = rows.iter().flat_map(|row| row.names.iter().map(String::as_str)).collect();
    for name in names {
        let id = add_column(all, name)?;
        for (n, rows) in &pieces {
            fold_piece(all, place_of_numbers(system, id, *n), (name, *n), rows)?;
        }
    }
    let count = count_references(all)?;
    for n in pieces.keys() {
        Written::of(system, count).into_iter().try_for_each(|written| pack_texts(all, written, *n))?;
    }
    Ok(!rows.is_empty())
}

fn fold_piece(all: &Connection, key: i64, (name, n): (&str, usize), rows: &[&Loose]) -> rusqlite::Result<()> {
    let mut numbers = packed_numbers(all, key)?;
    lay_over(&mut numbers, name, n, rows.iter().copied());
    match numbers.iter().filter(|number| !number.is_nan()).count() {
        0 => change(all, "DELETE FROM block WHERE key = ?1", [key]).map(drop),
        count => keep(all, key, count, pack_numbers(&numbers)?),
    }
}

fn add_column(all: &Connection, name: &str) -> rusqlite::Result<i64> {
    if let Some(id) = column(all, name)? {
        return Ok(id);
    }
    change(all, "INSERT INTO name(name) VALUES (?1)", [name])?;
    Ok(all.last_insert_rowid())
}
