//! Floor 6: the training log, one JSON object a line.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::text::write::write_inside;

/// An open log.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Opens a log for a run that stands at `update`: lines of later updates, which a killed run
    /// had written after its last checkpoint, are dropped.
    pub fn open(path: &Path, update: u64) -> Result<Self> {
        let io = |e: std::io::Error| Error::io(path, &e);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, &e))?;
        }
        let mut kept = String::new();
        // a pipe would wait for someone who writes to it; it is replaced
        if path.is_file() {
            for line in BufReader::new(File::open(path).map_err(io)?).lines() {
                let Ok(line) = line else { break };
                let at = serde_json::from_str::<serde_json::Value>(&line).ok().and_then(|v| v.get("update")?.as_u64());
                if at.is_some_and(|at| at <= update) {
                    kept.push_str(&line);
                    kept.push('\n');
                }
            }
        }
        write_inside(path, |w| w.write_all(kept.as_bytes()))?;
        let file = File::options().append(true).open(path).map_err(io)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Adds one object.
    pub fn append(&mut self, line: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_string(line).map_err(|e| Error::Internal(e.to_string()))?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).map_err(|e| Error::io(&self.path, &e))
    }
}
