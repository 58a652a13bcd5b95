//! Floor 8: tables as tab-separated values that a spreadsheet reads as they are meant: a word never becomes a formula,
//! and never leaves its cell. A leaf.

use std::borrow::Cow;

use csv::{Terminator, Writer, WriterBuilder};

/// What a cell begins with that a spreadsheet takes for a formula.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// Someone's words.
    Text(&'a str),
    /// A number, as it is printed.
    Number(String),
}

impl Cell<'_> {
    /// A number, as it is printed.
    pub fn number(value: &impl ToString) -> Self {
        Self::Number(value.to_string())
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

/// A table that is written row by row. Rows may have as many cells as they like.
pub struct Tsv(Writer<Vec<u8>>);

impl Default for Tsv {
    fn default() -> Self {
        let mut builder = WriterBuilder::new();
        Self(builder.delimiter(b'\t').terminator(Terminator::Any(b'\n')).flexible(true).from_writer(Vec::new()))
    }
}

impl Tsv {
    /// Adds a row.
    pub fn row<'a>(&mut self, cells: impl IntoIterator<Item = Cell<'a>>) {
        for cell in cells {
            let text = match &cell {
                Cell::Text(text) => word(text),
                Cell::Number(number) => Cow::Borrowed(number.as_str()),
            };
            // Writing to memory does not fail.
            let _ = self.0.write_field(text.as_bytes());
        }
        let _ = self.0.write_record(None::<&[u8]>);
    }

    /// The whole table.
    pub fn text(self) -> String {
        let bytes = self.0.into_inner().unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// A text as a spreadsheet reads it as text: in one line, and with an apostrophe before what looks like a formula.
pub fn word(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(FORMULA);
    if !is_formula && !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let plain = text.replace(char::is_control, " ");
    Cow::Owned(if is_formula { format!("'{plain}") } else { plain })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words_in_a_spreadsheet() {
        for (text, cell) in [
            ("maison", "maison"),
            ("=1+1", "'=1+1"),
            ("+", "'+"),
            ("-3", "'-3"),
            ("@home", "'@home"),
            ("\"", "\"\"\"\""),
            ("say \"no\"", "\"say \"\"no\"\"\""),
            ("a\tb\nc", "a b c"),
            ("l'eau", "l'eau"),
        ] {
            let mut tsv = Tsv::default();
            tsv.row([text.into(), Cell::number(&-1.5)]);
            assert_eq!(tsv.text(), format!("{cell}\t-1.5\n"), "{text:?}");
        }
    }
}
