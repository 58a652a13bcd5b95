//! What is read of a model of another toolkit, and what reads it.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::models::{checkpoint::Weights, config::Config, entry::shapes};

/// A model of another toolkit, in our form.
#[derive(Debug)]
pub struct Foreign {
    pub config: Config,
    /// Exactly the tensors of [`shapes`], matrices as \[out, in\].
    pub weights: Weights,
    pub source: Vec<u8>,
    pub target: Vec<u8>,
    /// A model card in Markdown: toolkit, release, languages, licence, and which attention is the alignment and why.
    pub card: String,
    pub file: PathBuf,
}

impl Foreign {
    pub fn check(&self) -> Result<()> {
        let expected = shapes(&self.config);
        for (name, shape) in &expected {
            let found = self.weights.shape(name).map_err(|_| Error::tensor(&self.file, name, "is missing"))?;
            if found != shape {
                let message = format!("has the shape {found:?} where {shape:?} was expected");
                return Err(Error::tensor(&self.file, name, message));
            }
        }
        match self.weights.names().find(|name| !expected.iter().any(|(known, _)| known == name)) {
            Some(extra) => Err(Error::tensor(&self.file, extra, "is not part of this architecture")),
            None => Ok(()),
        }
    }
}

/// One line of [`ORIGINS`](super::ORIGINS).
pub struct OriginEntry {
    pub name: &'static str,
    pub about: &'static str,
    /// Whether a path, a folder or a file, is such a model; looks at names and first bytes alone.
    pub finds: fn(&Path) -> bool,
    pub read: fn(&Path) -> Result<Foreign>,
}
