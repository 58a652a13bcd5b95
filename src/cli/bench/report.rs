//! Floor 10: what the sections print: lines and aligned rows as they are measured, the same tables in Markdown, and the
//! record of each row. A column says once how a figure is called in the table and in the record.

use serde_json::{Map, Value};

use crate::cli::output::Output;

/// A column of a table. Its name says the unit.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its key in the record; empty: it is left out there.
    key: &'static str,
    name: &'static str,
    width: usize,
    /// Digits behind the point; `None`: words, to the left.
    digits: Option<usize>,
    /// The table shows the recorded number times this.
    times: f64,
}

impl Column {
    /// Words, to the left.
    pub const fn words(key: &'static str, name: &'static str, width: usize) -> Self {
        Self { key, name, width, digits: None, times: 1.0 }
    }

    /// Numbers with so many digits behind the point, to the right.
    pub const fn number(key: &'static str, name: &'static str, width: usize, digits: usize) -> Self {
        Self { key, name, width, digits: Some(digits), times: 1.0 }
    }

    /// The same, shown as so many times what is recorded.
    pub const fn times(self, times: f64) -> Self {
        Self { times, ..self }
    }

    /// `-` for what is not there.
    fn cell(&self, value: &Value) -> String {
        match (value, self.digits, value.as_f64()) {
            (Value::Null, ..) => "-".to_owned(),
            (_, Some(digits), Some(number)) => format!("{:.digits$}", self.times * number),
            (Value::String(words), ..) => words.clone(),
            (other, ..) => other.to_string(),
        }
    }
}

/// Prints as it goes.
pub struct Report<'a> {
    output: &'a mut Output,
    columns: Vec<Column>,
    markdown: String,
    notes: Vec<String>,
}

impl<'a> Report<'a> {
    /// Nothing yet.
    pub fn new(output: &'a mut Output) -> Self {
        Self { output, columns: Vec::new(), markdown: String::new(), notes: Vec::new() }
    }

    /// Everything so far, in Markdown.
    pub fn markdown(&mut self) -> &str {
        self.flush_notes();
        &self.markdown
    }

    /// Begins a section.
    pub fn section(&mut self, name: &str) -> anyhow::Result<()> {
        self.flush_notes();
        self.markdown.push_str(&format!("\n### {name}\n"));
        self.print(&format!("\n{name}"))
    }

    /// A line of words.
    pub fn line(&mut self, line: &str) -> anyhow::Result<()> {
        self.flush_notes();
        self.markdown.push_str(&format!("\n{line}\n"));
        self.print(line)
    }

    /// A remark on the row above; it stands below the table in Markdown.
    pub fn note(&mut self, note: &str) -> anyhow::Result<()> {
        self.notes.push(note.to_owned());
        self.print(&format!("  {note}"))
    }

    fn flush_notes(&mut self) {
        for note in std::mem::take(&mut self.notes) {
            self.markdown.push_str(&format!("\n{note}\n"));
        }
    }

    /// The head of a table, whose rows follow.
    pub fn head(&mut self, columns: &[Column]) -> anyhow::Result<()> {
        self.columns = columns.to_vec();
        let names: Vec<String> = columns.iter().map(|column| column.name.to_owned()).collect();
        let rule: Vec<&str> = columns.iter().map(|column| column.digits.map_or("---", |_| "---:")).collect();
        self.markdown.push_str(&format!("\n| {} |\n|{}|\n", names.join(" | "), rule.join("|")));
        let line = aligned(&self.columns, &names);
        self.print(&line)
    }

    /// A row under the last head, a value for each column; answers with the record: these values and `more`.
    pub fn row(&mut self, values: &[Value], more: Value) -> anyhow::Result<Value> {
        let cells: Vec<String> = self.columns.iter().zip(values).map(|(column, value)| column.cell(value)).collect();
        self.markdown.push_str(&format!("| {} |\n", cells.join(" | ")));
        let line = aligned(&self.columns, &cells);
        self.print(&line)?;
        let named = self.columns.iter().zip(values).filter(|(column, _)| !column.key.is_empty());
        let mut record: Map<String, Value> =
            named.map(|(column, value)| (column.key.to_owned(), value.clone())).collect();
        if let Value::Object(more) = more {
            record.extend(more);
        }
        Ok(Value::Object(record))
    }

    fn print(&mut self, line: &str) -> anyhow::Result<()> {
        self.output.text(&format!("{line}\n"))?;
        self.output.flush()
    }
}

/// Cells under each other; what is too long for a column of words is cut, a number never.
fn aligned(columns: &[Column], cells: &[String]) -> String {
    let mut line = String::new();
    for (column, cell) in columns.iter().zip(cells) {
        if !line.is_empty() {
            line.push_str("  ");
        }
        let width = column.width.max(column.name.chars().count());
        if column.digits.is_none() {
            line.push_str(&format!("{cell:<width$.width$}"));
        } else {
            line.push_str(&format!("{cell:>width$}"));
        }
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const COLUMNS: [Column; 3] = [
        Column::words("model", "model", 8),
        Column::number("share", "% share", 7, 1).times(100.0),
        Column::words("", "by", 6),
    ];

    #[test]
    fn rows_stand_under_their_heads_and_are_recorded_by_key() {
        let row = |values: &[Value; 3]| {
            aligned(&COLUMNS, &COLUMNS.iter().zip(values).map(|(column, value)| column.cell(value)).collect::<Vec<_>>())
        };
        assert_eq!(row(&[json!("a model"), json!(0.015), json!("memory")]), "a model       1.5  memory");
        assert_eq!(row(&[json!("far too long"), json!(null), json!("")]), "far too         -");
        let mut output = Output::stdout();
        let mut report = Report::new(&mut output);
        report.head(&COLUMNS).expect("printed");
        let record = report.row(&[json!("a"), json!(0.5), json!("b")], json!({"more": 1})).expect("printed");
        assert_eq!(record, json!({"model": "a", "share": 0.5, "more": 1}));
    }
}
