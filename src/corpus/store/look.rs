//! How a workspace is looked at, kept in the file itself: which columns are shown, in which order.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::store::file::{Workspace, one};
use engine::error::Result;

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
