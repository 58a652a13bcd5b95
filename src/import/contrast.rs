//! Floor 6: tables of minimal pairs: `source`, `good`, `bad` and perhaps `tag`. Imports its room.

use std::path::Path;

use crate::analysis::contrast::pairs::{ContrastPair, tags};
use crate::error::{Error, Result};
use crate::import;
use crate::import::{ColumnRole, ImportOptions, Record};

/// The columns of the translations, the good one first.
pub const COLUMNS: [&str; 2] = ["good", "bad"];
/// Pairs that are read at once.
const WINDOW: usize = 500;

/// Reads a table; `tell` hears of what is odd in it.
///
/// # Errors
/// A sentence about the file: it cannot be read, or has not all three columns.
pub fn read(path: &Path, tell: &mut dyn FnMut(&str)) -> Result<Vec<ContrastPair>> {
    let outputs = COLUMNS.iter().map(|name| ((*name).to_owned(), ColumnRole::Output((*name).to_owned())));
    let columns =
        outputs.chain([("tag".to_owned(), ColumnRole::Extra), ("tags".to_owned(), ColumnRole::Extra)]).collect();
    let mut file = import::open(path, &ImportOptions { columns, ..ImportOptions::default() })?;
    let has = |role: &ColumnRole| file.facts.columns.iter().any(|column| column.role == *role);
    let mut roles = COLUMNS.iter().map(|name| ColumnRole::Output((*name).to_owned())).chain([ColumnRole::Source]);
    if !roles.all(|role| has(&role)) {
        let message = "has no columns `source`, `good` and `bad`; name them in the first row, tabs or commas between";
        return Err(Error::file(path, message));
    }
    let mut pairs = Vec::new();
    loop {
        let window = file.window(WINDOW)?;
        if window.is_empty() {
            return Ok(pairs);
        }
        let (records, warnings) = window.read();
        warnings.kept.iter().for_each(|warning| tell(&warning.sentence));
        pairs.extend(records.into_iter().map(of_record));
    }
}

fn of_record(record: Record) -> ContrastPair {
    let said = |name: &str| {
        let output = record.outputs.iter().find(|output| output.system.as_deref() == Some(name));
        output.map(|output| output.text.clone()).unwrap_or_default()
    };
    let named = record.extra.iter().filter(|(name, _)| name == "tag" || name == "tags");
    ContrastPair {
        line: record.line,
        targets: COLUMNS.map(said),
        tags: named.flat_map(|(_, cell)| tags(cell)).collect(),
        source: record.source.map(|source| source.text).unwrap_or_default(),
    }
}
