//! Floor 1: tables for spreadsheets and programs: columns with tabs between, a row a line.
//!
//! Cells are quoted where that is needed, by the `csv` library. A text that a spreadsheet
//! would take for a formula, such as `=1+1` or `-il`, gets an apostrophe before it; numbers stay as they are.

use std::io::Write;

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum TsvCell {
    /// What people wrote, or a model.
    Text(String),
    /// A number, or a word of this program.
    Plain(String),
}

impl TsvCell {
    /// A number, or a word of this program.
    pub fn plain(value: &(impl ToString + ?Sized)) -> Self {
        Self::Plain(value.to_string())
    }

    /// As it is written.
    fn written(self) -> String {
        match self {
            Self::Text(text) => text_cell(&text),
            Self::Plain(text) => text,
        }
    }
}

impl From<&str> for TsvCell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for TsvCell {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

/// Control characters become spaces, a formula becomes text.
fn text_cell(text: &str) -> String {
    let text = text.replace(char::is_control, " ");
    let mut chars = text.chars();
    let starts_a_formula = chars.next().is_some_and(|c| matches!(c, '=' | '+' | '-' | '@')) && chars.next().is_some();
    if starts_a_formula { format!("'{text}") } else { text }
}

/// A text as it was before [`TsvCell::Text`] was written.
pub fn as_typed(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|rest| rest.starts_with(['=', '+', '-', '@']) && rest.len() > 1).unwrap_or(cell)
}

/// Writes rows; [`Tsv::finish`] must be called.
pub struct Tsv<W: Write>(csv::Writer<W>);

impl<W: Write> Tsv<W> {
    /// A table with these heads.
    pub fn new(output: W, head: impl IntoIterator<Item = impl AsRef<str>>) -> std::io::Result<Self> {
        let mut tsv = Self::bare(output);
        tsv.row(head.into_iter().map(|name| TsvCell::plain(name.as_ref())))?;
        Ok(tsv)
    }

    /// A table without heads.
    pub fn bare(output: W) -> Self {
        Self(csv::WriterBuilder::new().delimiter(b'\t').flexible(true).from_writer(output))
    }

    /// Writes a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = TsvCell>) -> std::io::Result<()> {
        let written = self.0.write_record(cells.into_iter().map(TsvCell::written));
        written.map_err(|error| match error.into_kind() {
            // a closed pipe stays what it is
            csv::ErrorKind::Io(error) => error,
            other => std::io::Error::other(format!("{other:?}")),
        })
    }

    /// Writes out what is left.
    pub fn finish(mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// A table as text.
pub fn text(head: &[&str], body: impl IntoIterator<Item = Vec<TsvCell>>) -> String {
    let head = head.iter().map(|name| TsvCell::plain(*name)).collect();
    rows(std::iter::once(head).chain(body))
}

/// Rows as text.
pub fn rows(rows: impl IntoIterator<Item = Vec<TsvCell>>) -> String {
    let mut bytes = Vec::new();
    let mut tsv = Tsv::bare(&mut bytes);
    let written = rows.into_iter().try_for_each(|row| tsv.row(row)).and_then(|()| tsv.finish());
    // Memory can be written, and cells are UTF-8.
    written.ok().and_then(|()| String::from_utf8(bytes).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spreadsheet_reads_formulas_and_lone_quotes_as_text() {
        for (cell, written) in [
            (TsvCell::from("=1+1"), "'=1+1"),
            (TsvCell::from("-il"), "'-il"),
            (TsvCell::from("@SUM(A1)"), "'@SUM(A1)"),
            (TsvCell::from("-"), "-"),
            (TsvCell::from("\""), "\"\"\"\""),
            (TsvCell::from("a\tb\nc\u{1b}[1m"), "a b c [1m"),
            (TsvCell::plain(&-1.5), "-1.5"),
        ] {
            let table = text(&["a", "b"], [vec![cell, TsvCell::plain(&1)]]);
            assert_eq!(table, format!("a\tb\n{written}\t1\n"));
        }
    }
}
