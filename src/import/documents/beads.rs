//! Beads as rows of a table that people edit: their kind, their score, the sentences of both sides.

use std::{ops::Range, path::Path, sync::Arc};

use crate::{ColumnRole, ImportedText, Record};
use engine::error::Result;
use engine::text::tsv::{TsvCell, text};

/// Sentences that translate each other; either side may be empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BeadRow {
    /// How many sentences each side has, such as `2-1`; of a table as it says.
    pub kind: String,
    /// In nats a word ([`Bead`](engine::aligner::sentences::beads::Bead)); `None` where it is not known, as of a row that was edited.
    pub score: Option<f32>,
    pub sides: [Vec<String>; 2],
}

impl BeadRow {
    pub fn new(sides: [Vec<String>; 2], score: Option<f32>) -> Self {
        Self { kind: format!("{}-{}", sides[0].len(), sides[1].len()), score, sides }
    }

    /// The sentences of a side in a row.
    pub fn text(&self, side: usize) -> String {
        self.sides[side].join(" ")
    }

    /// Both sides have text.
    pub fn is_whole(&self) -> bool {
        self.sides.iter().all(|side| side.iter().any(|text| !text.is_empty()))
    }
}

/// The table of some rows, which [`read`] reads again.
pub fn table<'a>(rows: impl IntoIterator<Item = &'a BeadRow>) -> String {
    let cells = |row: &BeadRow| {
        let score = row.score.map_or_else(String::new, |score| score.to_string());
        let [source, target] = [row.text(0), row.text(1)];
        vec![TsvCell::plain(&row.kind), TsvCell::Plain(score), TsvCell::Text(source), TsvCell::Text(target)]
    };
    text(&["bead", "score", "source", "target"], rows.into_iter().map(cells))
}

/// Rows of a table, the text of each side as one sentence; `notify` gets warnings.
pub fn read(path: &Path, notify: &mut dyn FnMut(&str)) -> Result<Vec<BeadRow>> {
    let extra = ["bead", "score"].map(|name| (name.to_owned(), ColumnRole::Extra));
    let lacks = "has no columns `source` and `target`; name them in the first row, tabs between";
    let records = crate::table(path, extra.into(), (&[ColumnRole::Source, ColumnRole::Reference], lacks), notify)?;
    let row = |record: Record| {
        let extra = |name: &str| record.extra.iter().find(|(known, _)| known == name).map(|(_, cell)| cell.trim());
        let side = |text: Option<&ImportedText>| {
            let text = text.map_or("", |text| text.text.trim());
            (!text.is_empty()).then(|| text.to_owned()).into_iter().collect()
        };
        BeadRow {
            kind: extra("bead").unwrap_or_default().to_owned(),
            score: extra("score").and_then(|score| score.parse().ok()),
            sides: [side(record.source.as_ref()), side(record.reference.as_ref())],
        }
    };
    Ok(records.into_iter().map(row).collect())
}

/// What is done with a bead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeadEdit {
    /// It is one with the next.
    Join,
    /// The first sentence of each side is a bead of its own; of one and one each side.
    Split,
    Remove,
    /// The first sentence of a side, 0 for the source, goes to the bead before.
    Up(usize),
    /// The last one goes to the bead behind.
    Down(usize),
}

/// Beads that are edited.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BeadList {
    /// As they are now.
    pub rows: Vec<Arc<BeadRow>>,
    /// Where something is now, and what was there.
    before: Vec<BeadChange>,
    /// The same of what was taken back.
    after: Vec<BeadChange>,
}

type BeadChange = (Range<usize>, Vec<Arc<BeadRow>>);

impl BeadList {
    /// These beads, and nothing done.
    pub fn new(rows: Vec<BeadRow>) -> Self {
        Self { rows: rows.into_iter().map(Arc::new).collect(), ..Self::default() }
    }

    pub fn is_edited(&self) -> bool {
        !self.before.is_empty()
    }

    pub fn undo(&mut self) {
        if let Some(change) = self.before.pop() {
            let change = self.swap(change);
            self.after.push(change);
        }
    }

    pub fn redo(&mut self) {
        if let Some(change) = self.after.pop() {
            let change = self.swap(change);
            self.before.push(change);
        }
    }

    fn swap(&mut self, (place, rows): BeadChange) -> BeadChange {
        let now = place.start..place.start + rows.len();
        (now, self.rows.splice(place, rows).collect())
    }

    /// Others come in their place; what was edited comes back by undo.
    pub fn replace(&mut self, rows: Vec<BeadRow>) {
        if self.rows.is_empty() {
            *self = Self::new(rows);
        } else {
            self.put(0..self.rows.len(), rows.into_iter().map(Arc::new).collect());
        }
    }

    fn put(&mut self, place: Range<usize>, new: Vec<Arc<BeadRow>>) {
        let change = self.swap((place, new));
        self.before.push(change);
        self.after.clear();
    }

    /// Edits the bead of this place; nothing happens where it cannot be done.
    pub fn edit(&mut self, at: usize, edit: BeadEdit) {
        let Some(mut sides) = self.rows.get(at).map(|row| row.sides.clone()) else { return };
        let row = |at: Option<usize>| at.and_then(|at| self.rows.get(at)).map(|row| row.sides.clone());
        let (place, new) = match edit {
            BeadEdit::Remove => (at..at + 1, Vec::new()),
            BeadEdit::Join => {
                let Some(next) = row(Some(at + 1)) else { return };
                sides.iter_mut().zip(next).for_each(|(side, next)| side.extend(next));
                (at..at + 2, vec![sides])
            }
            BeadEdit::Split => {
                let is_single = sides.iter().all(|side| side.len() <= 1);
                let rest = if is_single {
                    [Vec::new(), std::mem::take(&mut sides[1])]
                } else {
                    [0, 1].map(|side| sides[side].split_off(sides[side].len().min(1)))
                };
                (at..at + 1, vec![sides, rest])
            }
            BeadEdit::Up(side) | BeadEdit::Down(side) if !sides[side].is_empty() => {
                let is_down = edit == BeadEdit::Down(side);
                let found = row(if is_down { Some(at + 1) } else { at.checked_sub(1) });
                let first = at - usize::from(!is_down && found.is_some());
                let place = first..first + 1 + usize::from(found.is_some());
                let mut other = found.unwrap_or_default();
                if is_down {
                    other[side].splice(..0, sides[side].pop());
                    (place, vec![sides, other])
                } else {
                    other[side].push(sides[side].remove(0));
                    (place, vec![other, sides])
                }
            }
            BeadEdit::Up(_) | BeadEdit::Down(_) => return,
        };
        let is_bare = |sides: &[Vec<String>; 2]| sides.iter().all(Vec::is_empty);
        let new: Vec<Arc<BeadRow>> =
            new.into_iter().filter(|sides| !is_bare(sides)).map(|sides| Arc::new(BeadRow::new(sides, None))).collect();
        // of what cannot be split, the one that is left is the one that was there
        if new.iter().map(|row| &row.sides).eq(self.rows[place.clone()].iter().map(|row| &row.sides)) {
            return;
        }
        self.put(place, new);
    }
}
