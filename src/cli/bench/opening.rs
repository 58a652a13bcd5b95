//! Floor 9: opening a long list: a file of a million short lines, made for the measurement and thrown away.

use std::io::BufWriter;
use std::io::Write as _;
use std::path::Path;

use serde_json::Value;
use serde_json::json;

use crate::cli::bench::Setup;
use crate::cli::bench::report::Column;
use crate::cli::bench::report::Report;
use crate::error::Error;
use crate::error::Result;
use crate::session::figures::OpeningFigures;
use crate::session::measure;

/// Lines of the file.
const LINES: usize = 1_000_000;
/// What every line is made of; its number stands between, so that no two are the same.
const WORDS: [&str; 2] = ["the child who counted to", "was asked to begin again from the start ."];

const COLUMNS: &[Column] = &[
    Column::right("lines", 9),
    Column::right("MB", 6),
    Column::right("first shown ms", 14),
    Column::right("all lines ms", 12),
    Column::right("search ms", 9),
    Column::right("longest wait of a frame ms", 26),
    Column::right("memory MB", 9),
];

/// Makes the file, opens it as the window does, and searches it for its last line.
pub fn run(setup: &Setup, report: &mut Report<'_>) -> anyhow::Result<Value> {
    let lines = if setup.quick { 5_000 } else { LINES };
    let folder = tempfile::tempdir().map_err(|error| Error::io(&std::env::temp_dir(), &error))?;
    let path = folder.path().join("lines.txt");
    write(&path, lines)?;
    report.head(COLUMNS)?;
    let mut rows = Vec::new();
    let figures = measure::opening(&path, &format!(" {} ", lines - 1))?;
    anyhow::ensure!(figures.lines == lines && figures.found == 1, "{lines} lines were opened as {figures:?}");
    report.row(&cells(&figures))?;
    rows.push(json!({
        "lines": figures.lines, "bytes": figures.bytes, "first_millis": figures.first_millis,
        "whole_millis": figures.whole_millis, "search_millis": figures.search_millis,
        "longest_turn_millis": figures.longest_turn_millis, "memory_bytes": figures.memory_bytes,
    }));
    Ok(Value::Array(rows))
}

fn cells(figures: &OpeningFigures) -> [String; 7] {
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
    [
        figures.lines.to_string(),
        megabytes(figures.bytes),
        format!("{:.0}", figures.first_millis),
        format!("{:.0}", figures.whole_millis),
        format!("{:.0}", figures.search_millis),
        format!("{:.1}", figures.longest_turn_millis),
        figures.memory_bytes.map_or_else(|| "-".to_owned(), megabytes),
    ]
}

fn write(path: &Path, lines: usize) -> Result<()> {
    let failed = |error| Error::io(path, &error);
    let mut file = BufWriter::new(std::fs::File::create(path).map_err(failed)?);
    for line in 0..lines {
        writeln!(file, "{} {line} {}", WORDS[0], WORDS[1]).map_err(failed)?;
    }
    file.flush().map_err(failed)
}
