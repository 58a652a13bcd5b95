//! Measured figures as they come: printed as tables in Markdown, row by row, and kept for a file of JSON.

use std::io::Write as _;
use std::path::Path;

use serde_json::{Map, Value};

use crate::output::LineOutput;
use engine::text::write::write_atomic;

/// A column of a table. Its name says the unit, and is the key in the record.
#[derive(Clone, Copy, Debug)]
pub struct BenchColumn {
    name: &'static str,
    width: usize,
    /// Digits behind the point; `None`: words, to the left.
    digits: Option<usize>,
}

impl BenchColumn {
    pub const fn words(name: &'static str, width: usize) -> Self {
        Self { name, width, digits: None }
    }

    /// Numbers with so many digits behind the point, to the right.
    pub const fn number(name: &'static str, digits: usize) -> Self {
        Self { name, width: 7, digits: Some(digits) }
    }

    fn cell(&self, value: &Value) -> String {
        match (value, self.digits, value.as_f64()) {
            (Value::Null, ..) => "-".to_owned(),
            (_, Some(digits), Some(number)) => format!("{number:.digits$}"),
            (Value::String(words), ..) => words.clone(),
            (other, ..) => other.to_string(),
        }
    }
}

/// The tables of one run.
pub struct Figures {
    output: LineOutput,
    columns: Vec<BenchColumn>,
    section: String,
    record: Map<String, Value>,
}

impl Default for Figures {
    fn default() -> Self {
        Self { output: LineOutput::stdout(), columns: Vec::new(), section: String::new(), record: Map::new() }
    }
}

impl Figures {
    /// Begins a section, whose rows are recorded under its name.
    pub fn section(&mut self, name: &str) -> anyhow::Result<()> {
        name.clone_into(&mut self.section);
        self.record.insert(name.to_owned(), Value::Array(Vec::new()));
        self.line(&format!("\n### {name}"))
    }

    pub fn line(&mut self, line: &str) -> anyhow::Result<()> {
        self.output.text(&format!("{line}\n"))?;
        self.output.flush()
    }

    /// The head of a table, whose rows follow.
    pub fn head(&mut self, columns: &[BenchColumn]) -> anyhow::Result<()> {
        self.columns = columns.to_vec();
        let (names, rules): (Vec<_>, Vec<_>) = columns
            .iter()
            .map(|column| (column.name.to_owned(), column.digits.map_or("---", |_| "--:").to_owned()))
            .unzip();
        self.line("")?;
        self.cells(&names)?;
        self.cells(&rules)
    }

    /// A row under the last head, a value for each column.
    pub fn row(&mut self, values: &[Value]) -> anyhow::Result<()> {
        let cells: Vec<String> = self.columns.iter().zip(values).map(|(column, value)| column.cell(value)).collect();
        self.cells(&cells)?;
        let named = self.columns.iter().zip(values).map(|(column, value)| (column.name.to_owned(), value.clone()));
        let row = Value::Object(named.collect());
        if let Some(Value::Array(rows)) = self.record.get_mut(&self.section) {
            rows.push(row);
        }
        Ok(())
    }

    fn cells(&mut self, cells: &[String]) -> anyhow::Result<()> {
        let cell = |(column, cell): (&BenchColumn, &String)| {
            let width = column.width.max(column.name.chars().count());
            if column.digits.is_none() { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        };
        let line: Vec<String> = self.columns.iter().zip(cells).map(cell).collect();
        self.line(&format!("| {} |", line.join(" | ")))
    }

    /// Everything that was recorded goes to this file.
    pub fn finish(self, json: Option<&Path>) -> anyhow::Result<()> {
        self.output.finish()?;
        let Some(path) = json else { return Ok(()) };
        let record = serde_json::to_string_pretty(&Value::Object(self.record))?;
        Ok(write_atomic(path, |file| writeln!(file, "{record}"))?)
    }
}

/// The value below which a share `q` of `values` lies: the element at `q` times the count, in order. 0 for none.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let index = (q * sorted.len() as f64) as usize;
    sorted.get(index.min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_elements_and_cells_have_their_digits() {
        let values = [5.0, 1.0, 4.0, 2.0, 3.0];
        for (q, value) in [(0.0, 1.0), (0.5, 3.0), (0.95, 5.0), (1.0, 5.0)] {
            assert_eq!(quantile(&values, q), value);
        }
        assert_eq!(quantile(&[], 0.5), 0.0);
        let column = BenchColumn::number("ms", 1);
        assert_eq!([1.25.into(), Value::Null, "none".into()].map(|value| column.cell(&value)), ["1.2", "-", "none"]);
    }
}
