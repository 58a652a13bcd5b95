//! Floor 9: what the sections print: lines and aligned rows as they are measured, and the same tables in Markdown.

use crate::cli::output::Output;

/// A column of a table. Its name says the unit.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    name: &'static str,
    width: usize,
    left: bool,
}

impl Column {
    /// Words, to the left.
    pub const fn left(name: &'static str, width: usize) -> Self {
        Self { name, width, left: true }
    }

    /// Numbers, to the right.
    pub const fn right(name: &'static str, width: usize) -> Self {
        Self { name, width, left: false }
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
        let rule: Vec<&str> = columns.iter().map(|column| if column.left { "---" } else { "---:" }).collect();
        self.markdown.push_str(&format!("\n| {} |\n|{}|\n", names.join(" | "), rule.join("|")));
        let line = aligned(&self.columns, &names);
        self.print(&line)
    }

    /// A row under the last head.
    pub fn row(&mut self, cells: &[String]) -> anyhow::Result<()> {
        self.markdown.push_str(&format!("| {} |\n", cells.join(" | ")));
        let line = aligned(&self.columns, cells);
        self.print(&line)
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
        if column.left {
            line.push_str(&format!("{cell:<width$.width$}"));
        } else {
            line.push_str(&format!("{cell:>width$}"));
        }
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_under_their_heads() {
        let columns = [Column::left("model", 8), Column::right("ms", 5), Column::left("by", 6)];
        let row = |cells: [&str; 3]| aligned(&columns, &cells.map(str::to_owned));
        assert_eq!(row(["a model", "1.5", "memory"]), "a model     1.5  memory");
        assert_eq!(row(["far too long", "-", ""]), "far too       -");
    }
}
