//! Two documents, or a table of beads, as beads that can be edited, behind the window.

use std::path::{Path, PathBuf};

use crate::jobs::queue::work::Work;
use engine::{error::Result, text::reader::require_file};
use import::documents::align::{DocumentOptions, align, cut_again};
use import::documents::beads::{BeadRow, read};

/// Documents to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentsOrder {
    Align([PathBuf; 2]),
    Open(PathBuf),
}

/// Documents that were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentsFound {
    pub beads: Vec<BeadRow>,
    pub note: Option<String>,
}

impl DocumentsOrder {
    pub(crate) fn run(self, work: &Work<'_>) -> Result<DocumentsFound> {
        let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).display().to_string();
        match self {
            Self::Align([source, target]) => {
                work.say(tr!("Aligning the sentences of {} and {}", name(&source), name(&target)));
                require_file(&source)?;
                require_file(&target)?;
                let (beads, is_short) =
                    align([&source, &target], &DocumentOptions::default(), work.library.threads, &work.ticket)?;
                let short =
                    tr!("The documents have too few sentences to learn words from; they are aligned by length alone");
                Ok(DocumentsFound { beads, note: is_short.then(|| short.to_owned()) })
            }
            Self::Open(table) => {
                work.say(tr!("Reading {}", name(&table)));
                require_file(&table)?;
                let mut note = None;
                let mut beads = read(&table, &mut |message| note = note.take().or(Some(message.to_owned())))?;
                cut_again(&mut beads);
                Ok(DocumentsFound { beads, note })
            }
        }
    }
}
