//! Floor 10: opening and searching a long list without a display: a file of a million lines, made for the measurement
//! and thrown away.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use crate::app::measure;
use crate::cli::bench::report::{Column, Report};
use crate::cli::bench::setup::Setup;
use crate::error::{Error, Result};

/// Lines of the file, and of that of the quick form.
const LINES: (usize, usize) = (1_000_000, 2_000);
/// What is looked for: in every line, in one of a thousand, nowhere.
const NEEDLES: &[(&str, &str)] = &[("every line", "RIVER"), ("one in 1,000", "blue 77;"), ("no line", "violet")];

const COLUMNS: &[Column] = &[
    Column::words("finds", "search finds", 12),
    Column::number("lines", "lines", 9, 0),
    Column::number("bytes", "MB", 6, 0).times(1e-6),
    Column::number("first_millis", "first lines ms", 14, 1),
    Column::number("whole_millis", "all lines ms", 12, 0),
    Column::number("search_millis", "search ms", 9, 0),
    Column::number("longest_turn_millis", "longest turn ms", 15, 1),
    Column::number("memory_bytes", "memory MB", 9, 0).times(1e-6),
];

/// Opens the file as the window does, once for each thing to look for.
pub fn run(setup: &Setup, report: &mut Report<'_>) -> anyhow::Result<Value> {
    let lines = if setup.quick { LINES.1 } else { LINES.0 };
    let folder = tempfile::tempdir().map_err(|error| Error::io(std::env::temp_dir(), &error))?;
    let path = folder.path().join("lines.txt");
    write(&path, lines)?;
    report
        .line("memory is the most beyond that of before; a turn is what one frame takes in, at most 4 ms by itself")?;
    report.head(COLUMNS)?;
    let mut rows = Vec::new();
    for (what, needle) in NEEDLES {
        let figures = measure::opening(&path, needle)?;
        anyhow::ensure!(figures.lines == lines, "{lines} lines were opened as {}", figures.lines);
        let millis = [figures.first_millis, figures.whole_millis, figures.search_millis, figures.longest_turn_millis];
        let mut row = vec![json!(what), json!(figures.lines), json!(figures.bytes)];
        row.extend(millis.map(Value::from));
        row.push(json!(figures.memory_bytes));
        rows.push(report.row(&row, json!({"found": figures.found}))?);
    }
    Ok(Value::Array(rows))
}

/// Lines of about 120 bytes, no two alike; written as they are made, since memory is measured.
fn write(path: &Path, lines: usize) -> Result<()> {
    let failed = |error| Error::io(path, &error);
    let mut file = BufWriter::new(std::fs::File::create(path).map_err(failed)?);
    for n in 0..lines {
        let (children, blue) = (n % 97, n % 1000);
        let line = format!(
            "Line {n}: the old bicycle stood behind the house near the river, where {children} children of the village \
             played; blue {blue}; red."
        );
        writeln!(file, "{line}").map_err(failed)?;
    }
    file.flush().map_err(failed)
}
