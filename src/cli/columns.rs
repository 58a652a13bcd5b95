//! Tables whose columns stand under each other.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::{args::TableFormat, output::LineOutput};
use engine::text::cells::{CellTable, TableCell};

/// Rows of cells; the first is the head. Numbers are right-aligned, words left-aligned.
#[derive(Clone, Debug, Default)]
pub struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with these heads.
    pub fn new<T: Into<String>>(head: impl IntoIterator<Item = T>) -> Self {
        Self { rows: vec![head.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row. What would break a line in two becomes a space.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cell = |cell: T| -> String { cell.into().replace(char::is_control, " ") };
        self.rows.push(cells.into_iter().map(cell).collect());
    }

    /// The lines, each column as wide as its widest cell.
    pub fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |row: &Vec<String>, column: usize| row.get(column).map_or("", String::as_str).to_owned();
        let width = |column| self.rows.iter().map(|row| cell(row, column).chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let numeric: Vec<bool> =
            (0..columns).map(|column| self.rows[1..].iter().all(|row| is_number(&cell(row, column)))).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, &width) in widths.iter().enumerate() {
                let space = if column == 0 { "" } else { "  " };
                let cell = cell(row, column);
                let _ = if numeric[column] {
                    write!(line, "{space}{cell:>width$}")
                } else {
                    write!(line, "{space}{cell:<width$}")
                };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// A number with so many digits, or a dash where there is none.
pub fn figure(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

/// Prints a table in a format.
pub fn print(format: TableFormat, cells: &CellTable, output: &mut LineOutput) -> anyhow::Result<()> {
    match format {
        TableFormat::Text => {
            let mut table = TextTable::new(cells.head.iter().map(|name| name.replace('_', " ")));
            cells.rows.iter().for_each(|row| table.row(row.iter().map(TableCell::shown)));
            output.text(&table.text())
        }
        TableFormat::Tsv => output.text(&cells.tsv()),
        TableFormat::Json => cells.rows.iter().try_for_each(|row| {
            let value = |cell: &TableCell| match cell {
                TableCell::Text(text) => json!(text),
                TableCell::Count(count) => json!(count),
                TableCell::Number(number) | TableCell::P(number, _) => json!(number),
            };
            let object = cells.head.iter().zip(row).map(|(name, cell)| ((*name).to_owned(), value(cell)));
            output.json(&object.collect::<Map<String, Value>>())
        }),
    }
}

fn is_number(cell: &str) -> bool {
    let cell = cell.strip_prefix("< ").unwrap_or(cell);
    matches!(cell, "" | "-" | "too few") || cell.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other() {
        let mut table = TextTable::new(["name", "words", ""]);
        table.row(["é", "12", "so"]);
        table.row(["longer name", "-"]);
        assert_eq!(table.text(), "name         words\né               12  so\nlonger name      -\n");
    }
}
