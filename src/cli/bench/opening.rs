//! Floor 9: opening and searching a long list without a display: a file of a million lines, made for the measurement
//! and thrown away.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use crate::cli::bench::Setup;
use crate::cli::bench::report::{Column, Report};
use crate::error::{Error, Result};
use crate::session::measure;

/// Lines of the file, and of that of the quick form.
const LINES: (usize, usize) = (1_000_000, 2_000);
/// What is looked for: in every line, in one of a thousand, nowhere.
const NEEDLES: &[(&str, &str)] = &[("every line", "RIVER"), ("one in 1,000", "blue 77;"), ("no line", "violet")];

const COLUMNS: &[Column] = &[
    Column::left("search finds", 12),
    Column::right("lines", 9),
    Column::right("MB", 6),
    Column::right("first lines ms", 14),
    Column::right("all lines ms", 12),
    Column::right("search ms", 9),
    Column::right("longest turn ms", 15),
    Column::right("memory MB", 9),
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
        let mega = |bytes: u64| bytes as f64 / 1e6;
        report.row(&[
            (*what).to_owned(),
            figures.lines.to_string(),
            format!("{:.0}", mega(figures.bytes)),
            format!("{:.1}", figures.first_millis),
            format!("{:.0}", figures.whole_millis),
            format!("{:.0}", figures.search_millis),
            format!("{:.1}", figures.longest_turn_millis),
            figures.memory_bytes.map_or_else(|| "-".to_owned(), |bytes| format!("{:.0}", mega(bytes))),
        ])?;
        rows.push(json!({"finds": what, "found": figures.found, "lines": figures.lines, "bytes": figures.bytes,
                         "first_millis": figures.first_millis, "whole_millis": figures.whole_millis,
                         "search_millis": figures.search_millis, "longest_turn_millis": figures.longest_turn_millis,
                         "memory_bytes": figures.memory_bytes}));
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
