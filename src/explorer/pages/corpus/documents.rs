//! Page Corpus, two documents that become pairs of sentences: the files, the beads as they are edited. A leaf.

use std::{path::PathBuf, sync::Arc};

use engine::text::cells::{CellTable, TableCell};
use import::documents::beads::{BeadEdit, BeadList, BeadRow, table};

/// A command for documents.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentCommand {
    /// Shows the sheet, or the corpus again.
    Show(bool),
    /// Chooses the document, 0, or its translation, 1.
    Choose(usize, PathBuf),
    Open(PathBuf),
    Select(usize),
    Edit(BeadEdit),
    Undo,
    Redo,
    Save(PathBuf),
    /// Puts the pairs into the corpus that is open, or into a new one.
    Put(Option<PathBuf>),
}

/// The two aligned documents.
#[derive(Clone, Debug, Default)]
pub struct DocumentSheet {
    /// It stands in the place of the corpus.
    pub is_open: bool,
    /// The document and its translation.
    pub files: [Option<PathBuf>; 2],
    /// The table of beads that was opened in place of both.
    pub table_file: Option<PathBuf>,
    pub task: Option<u64>,
    pub beads: BeadList,
    pub table: Arc<CellTable>,
    pub selected: Option<usize>,
}

impl DocumentSheet {
    pub fn take(&mut self, beads: Vec<BeadRow>) {
        (self.task, self.selected) = (None, None);
        self.beads.replace(beads);
        self.show();
    }

    pub fn edit(&mut self, edit: BeadEdit) {
        let Some(at) = self.selected else { return };
        let before = self.beads.rows.len();
        self.beads.edit(at, edit);
        // The chosen bead stays so where one came before it, and that before it is chosen where it went into that.
        if matches!(edit, BeadEdit::Up(_)) {
            let moved = self.beads.rows.len() as isize - before as isize;
            self.selected = Some(at.saturating_add_signed(moved));
        }
        self.show();
    }

    /// Undoes the last edit, or redoes it.
    pub fn take_back(&mut self, again: bool) {
        if again {
            self.beads.redo();
        } else {
            self.beads.undo();
        }
        self.show();
    }

    /// The beads as the command line writes them.
    pub fn text(&self) -> String {
        table(self.beads.rows.iter().map(AsRef::as_ref))
    }

    /// The texts of the beads with two sides.
    pub fn pairs(&self) -> Vec<[String; 2]> {
        self.beads.rows.iter().filter(|row| row.is_whole()).map(|row| [row.text(0), row.text(1)]).collect()
    }

    pub fn name(&self) -> String {
        let name = |path: &PathBuf| path.file_name().map(|name| name.display().to_string());
        self.files.iter().chain([&self.table_file]).flatten().filter_map(name).collect::<Vec<_>>().join(", ")
    }

    fn show(&mut self) {
        let number = |score: f32| f64::from((score * 1000.0).round()) / 1000.0;
        let row = |(n, row): (usize, &Arc<BeadRow>)| {
            vec![
                TableCell::Count(n as u64 + 1),
                TableCell::Text(row.kind.clone()),
                TableCell::Number(row.score.map(number)),
                TableCell::Text(row.text(0)),
                TableCell::Text(row.text(1)),
            ]
        };
        let rows = self.beads.rows.iter().enumerate().map(row).collect();
        self.table = Arc::new(CellTable { head: vec!["number", "bead", "score", "source", "target"], rows });
        let last = self.beads.rows.len().checked_sub(1);
        self.selected = self.selected.and_then(|at| Some(at.min(last?)));
    }
}
