//! Tables of texts and numbers, as they are shown and as they are written. Imports its room.

use crate::text::tsv::{TsvCell, rows};

/// The fewest pairs whose p is shown.
pub const FEWEST_PAIRS: u64 = 10;

/// A p as people read it: four digits, and not 0 where it is only small.
pub fn p_shown(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum TableCell {
    /// What people or models wrote.
    Text(String),
    Count(u64),
    /// `None`: it is not known.
    Number(Option<f64>),
    /// p of a test over so many pairs.
    P(Option<f64>, u64),
}

impl TableCell {
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(number) => number.map_or_else(|| "-".to_owned(), |number| format!("{number:.4}")),
            Self::P(Some(_), pairs) if *pairs < FEWEST_PAIRS => tr!("too few").to_owned(),
            Self::P(p, _) => p.map_or_else(|| "-".to_owned(), p_shown),
        }
    }

    /// What numbers are sorted by; one that is not known is below all.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Text(_) => None,
            Self::Count(count) => Some(*count as f64),
            Self::Number(number) | Self::P(number, _) => Some(number.unwrap_or(f64::NEG_INFINITY)),
        }
    }

    fn written(&self) -> TsvCell {
        match self {
            Self::Text(text) => TsvCell::from(text),
            Self::Count(count) => TsvCell::plain(count),
            Self::Number(number) | Self::P(number, _) => {
                TsvCell::Plain(number.map_or_else(String::new, |number| number.to_string()))
            }
        }
    }
}

impl From<&str> for TableCell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Rows of cells under heads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellTable {
    /// As a file has them.
    pub head: Vec<&'static str>,
    pub rows: Vec<Vec<TableCell>>,
}

impl CellTable {
    /// As a file with tabs between cells.
    pub fn tsv(&self) -> String {
        let head = self.head.iter().map(|name| TsvCell::plain(*name)).collect();
        rows(std::iter::once(head).chain(self.rows.iter().map(|row| row.iter().map(TableCell::written).collect())))
    }

    pub fn sorted(&self, column: usize, is_falling: bool) -> Vec<u32> {
        let mut places: Vec<u32> = (0..self.rows.len() as u32).collect();
        let key = |row: &Vec<TableCell>| match row.get(column) {
            Some(cell) => (cell.number(), cell.shown().to_lowercase()),
            None => (None, String::new()),
        };
        let keys: Vec<_> = self.rows.iter().map(key).collect();
        places.sort_by(|one, other| {
            let ((one, one_text), (other, other_text)) = (&keys[*one as usize], &keys[*other as usize]);
            let order = match (one, other) {
                (Some(one), Some(other)) => one.total_cmp(other),
                _ => one_text.cmp(other_text),
            };
            if is_falling { order.reverse() } else { order }
        });
        places
    }
}
