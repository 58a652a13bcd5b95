//! The thread of a corpus, one that need not be saved: it lies in a temporary folder, which goes with it.

use std::path::Path;

use crate::jobs::{corpus::calls::CorpusNews, corpus::open::CorpusHandler};
use engine::error::{Error, Result};

impl CorpusHandler<'_> {
    /// Makes an empty corpus, and opens it.
    pub(super) fn begin_unsaved(&mut self) -> Result<()> {
        let folder = tempfile::tempdir().map_err(|error| Error::io(std::env::temp_dir(), &error))?;
        let path = folder.path().join("corpus.ilws");
        self.tell(CorpusNews::Made { path: path.clone(), is_saved: false });
        self.open(&path)?;
        self.at.unsaved = Some(folder);
        Ok(())
    }

    /// Writes the corpus into a file of its own, and goes on with that.
    pub(super) fn save_as(&mut self, path: &Path) -> Result<()> {
        self.workspace()?.copy(path)?;
        self.tell(CorpusNews::Made { path: path.to_owned(), is_saved: true });
        self.open(path)
    }
}
