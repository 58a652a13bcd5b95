//! Tables of minimal pairs: `source`, `good`, `bad` and perhaps `tag`.

use std::path::Path;

use crate::{ColumnRole, Record};
use engine::analysis::contrast::pairs::{ContrastPair, tags};
use engine::error::Result;

/// The columns of the translations, the good one first.
pub const COLUMNS: [&str; 2] = ["good", "bad"];

/// Reads a table with all three columns; `notify` gets warnings.
pub fn read(path: &Path, notify: &mut dyn FnMut(&str)) -> Result<Vec<ContrastPair>> {
    let outputs = COLUMNS.iter().map(|name| ((*name).to_owned(), ColumnRole::Output((*name).to_owned())));
    let columns =
        outputs.chain([("tag".to_owned(), ColumnRole::Extra), ("tags".to_owned(), ColumnRole::Extra)]).collect();
    let outputs = COLUMNS.iter().map(|name| ColumnRole::Output((*name).to_owned()));
    let needed: Vec<ColumnRole> = outputs.chain([ColumnRole::Source]).collect();
    let lacks = "has no columns `source`, `good` and `bad`; name them in the first row, tabs or commas between";
    Ok(crate::table(path, columns, (&needed, lacks), notify)?.into_iter().map(of_record).collect())
}

fn of_record(record: Record) -> ContrastPair {
    let said = |name: &str| {
        let output = record.outputs.iter().find(|output| output.system.as_deref() == Some(name));
        output.map(|output| output.text.clone()).unwrap_or_default()
    };
    let named = record.extra.iter().filter(|(name, _)| matches!(name.to_lowercase().as_str(), "tag" | "tags"));
    ContrastPair {
        line: record.line,
        targets: COLUMNS.map(said),
        tags: named.flat_map(|(_, cell)| tags(cell)).collect(),
        source: record.source.map(|source| source.text).unwrap_or_default(),
    }
}
