//! Floor 8: the thread of a corpus, one that need not be saved: it lies in a temporary folder, which goes with it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::corpus::overview::evaluated::Evaluated;
use crate::corpus::overview::keep::keep;
use crate::corpus::store::file::Workspace;
use crate::error::{Error, Result};
use crate::jobs::corpus::calls::CorpusNews;
use crate::jobs::corpus::open::Open;

impl Open<'_> {
    /// Makes a corpus of what was measured, and opens it.
    pub(super) fn make(&mut self, evaluated: &Arc<Evaluated>) -> Result<()> {
        let made = made(evaluated, &mut |share| {
            self.tell(CorpusNews::busy(id!("Putting the sentences into a corpus"), share));
            self.check()
        });
        self.tell(CorpusNews::Idle);
        let (folder, path) = made?;
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

fn made(evaluated: &Evaluated, hear: &mut dyn FnMut(f32) -> Result<()>) -> Result<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::tempdir().map_err(|error| Error::io(std::env::temp_dir(), &error))?;
    let test_set = evaluated.test_set.name();
    let name = Path::new(&test_set).file_stem().unwrap_or("test set".as_ref());
    let path = folder.path().join(name).with_extension("ilws");
    keep(evaluated, &mut Workspace::open(&path)?, hear)?;
    Ok((folder, path))
}
