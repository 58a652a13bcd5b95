//! Tables for spreadsheets and programs: columns with tabs between, a row a line.
//!
//! A cell is quoted as CSV does it where it holds a tab, a line end or a quotation mark. Texts are written as they are, unless
//! [`guard_formulas`] was called: then a text that a spreadsheet takes for a formula, such as `=1+1` or `-il`, gets an apostrophe before it.

use std::borrow::Cow;
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static FOR_SPREADSHEETS: AtomicBool = AtomicBool::new(false);

pub fn guard_formulas() {
    FOR_SPREADSHEETS.store(true, Ordering::Relaxed);
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum TsvCell {
    /// What people wrote, or a model.
    Text(String),
    /// A number, or a word of this program.
    Plain(String),
}

impl TsvCell {
    pub fn plain(value: &(impl ToString + ?Sized)) -> Self {
        Self::Plain(value.to_string())
    }

    fn written(&self, guards: bool) -> Cow<'_, str> {
        match self {
            Self::Text(text) => text_cell(text, guards),
            Self::Plain(text) => text.into(),
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

/// A text without what a terminal obeys; line ends and tabs stay. A guard goes before what looks like a formula or like
/// a guard.
fn text_cell(text: &str, guards: bool) -> Cow<'_, str> {
    let is_obeyed = |c: char| c.is_control() && !c.is_whitespace();
    let text: Cow<'_, str> = if text.contains(is_obeyed) { text.replace(is_obeyed, " ").into() } else { text.into() };
    if guards && is_formula(&text) { format!("'{text}").into() } else { text }
}

pub fn is_formula(text: &str) -> bool {
    text.len() > 1 && text.trim_start_matches('\'').starts_with(['=', '+', '-', '@'])
}

/// A text as it was before [`guard_formulas`].
pub fn as_typed(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|_| is_formula(cell)).unwrap_or(cell)
}

/// Writes rows; [`Tsv::finish`] must be called.
pub struct Tsv<W: Write>(BufWriter<W>);

impl<W: Write> Tsv<W> {
    pub fn new(output: W, head: impl IntoIterator<Item = impl AsRef<str>>) -> std::io::Result<Self> {
        let mut tsv = Self::bare(output);
        tsv.row(head.into_iter().map(|name| TsvCell::plain(name.as_ref())))?;
        Ok(tsv)
    }

    pub fn bare(output: W) -> Self {
        Self(BufWriter::new(output))
    }

    /// Writes a row. One with a text that looks guarded and is not is quoted throughout, by which readers know it.
    pub fn row(&mut self, cells: impl IntoIterator<Item = TsvCell>) -> std::io::Result<()> {
        let guards = FOR_SPREADSHEETS.load(Ordering::Relaxed);
        let cells: Vec<TsvCell> = cells.into_iter().collect();
        let cells: Vec<Cow<'_, str>> = cells.iter().map(|cell| cell.written(guards)).collect();
        let is_blank = matches!(&cells[..], [only] if only.is_empty());
        let all = is_blank || !guards && cells.iter().any(|cell| as_typed(cell) != cell);
        for (n, cell) in cells.iter().enumerate() {
            self.0.write_all(if n > 0 { b"\t" } else { b"" })?;
            if all || cell.contains(['"', '\t', '\n', '\r']) {
                write!(self.0, "\"{}\"", cell.replace('"', "\"\""))?;
            } else {
                self.0.write_all(cell.as_bytes())?;
            }
        }
        self.0.write_all(b"\n")
    }

    pub fn finish(mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

pub fn text(head: &[&str], body: impl IntoIterator<Item = Vec<TsvCell>>) -> String {
    let head = head.iter().map(|name| TsvCell::plain(*name)).collect();
    rows(std::iter::once(head).chain(body))
}

pub fn rows(rows: impl IntoIterator<Item = Vec<TsvCell>>) -> String {
    let mut bytes = Vec::new();
    let mut tsv = Tsv::bare(&mut bytes);
    let on_a_line = |cell| match cell {
        TsvCell::Text(text) => TsvCell::Text(text.replace(char::is_control, " ")),
        plain @ TsvCell::Plain(_) => plain,
    };
    let mut rows = rows.into_iter().map(|row| row.into_iter().map(on_a_line));
    let written = rows.try_for_each(|row| tsv.row(row)).and_then(|()| tsv.finish());
    // Memory can be written, and cells are UTF-8.
    written.ok().and_then(|()| String::from_utf8(bytes).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_as_text_has_a_line_for_each_row() {
        assert_eq!(rows([vec!["a\tb\nc".into(), "\"".into()]]), "a b c\t\"\"\"\"\n");
    }

    #[test]
    fn texts_are_written_as_they_are_and_guarded_where_that_is_asked_for() {
        for (text, plain, guarded) in [
            ("=1+1", "=1+1", "'=1+1"),
            ("-il", "-il", "'-il"),
            ("-", "-", "-"),
            ("'-il", "'-il", "''-il"),
            ("'tis", "'tis", "'tis"),
            ("a\u{1b}[1m\u{85}", "a [1m\u{85}", "a [1m\u{85}"),
        ] {
            assert_eq!([false, true].map(|guards| text_cell(text, guards).into_owned()), [plain, guarded]);
            assert_eq!(as_typed(guarded), plain);
        }
        for (cells, written) in [
            (vec!["-il".into(), TsvCell::plain(&-1.5)], "-il\t-1.5\n"),
            (vec!["\"".into(), "a\tb\nc".into()], "\"\"\"\"\t\"a\tb\nc\"\n"),
            (vec!["'-il".into(), TsvCell::plain(&1)], "\"'-il\"\t\"1\"\n"),
            (vec!["".into()], "\"\"\n"),
        ] {
            let mut bytes = Vec::new();
            let mut tsv = Tsv::bare(&mut bytes);
            tsv.row(cells).and_then(|()| tsv.finish()).expect("memory can be written");
            assert_eq!(String::from_utf8_lossy(&bytes), written);
        }
    }
}
