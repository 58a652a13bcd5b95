//! The rows of tables: how the cells of a file are separated, quoted and guarded, and the cells as they were typed.
//!
//! A row of TSV is a line with tabs, and quotation marks are text, unless every cell with one is quoted as CSV does
//! it: most tables of sentences are raw. CSV is read by its rules, with commas or semicolons.

use std::{path::PathBuf, sync::LazyLock};

use regex::Regex;

use crate::decimal::{NumberCount, is_number};
use crate::facts::Warnings;
use crate::input::{ImportInput, Metered, RecordMeter, TextLines};
use engine::error::{Error, Result};
use engine::text::tsv::{as_typed, is_formula};

/// A row of a CSV file with more lines has probably lost a quotation mark.
const MANY_LINES: usize = 20;
/// Lines by which a delimiter is known.
const PEEKED: usize = 20;
/// Bytes of a quoted row of TSV, at most.
const LONG_ROW: usize = 1 << 20;

/// How cells are written.
#[derive(Clone, Copy, Debug)]
pub struct TableStyle {
    pub delimiter: u8,
    is_quoted: bool,
    /// Whether an apostrophe guards what looks like a formula.
    is_guarded: bool,
    names_delimiter: bool,
}

/// The delimiter that the first line names, as Excel does it: `sep=;`.
pub fn separator(head: &str) -> Option<u8> {
    let first = head.lines().next()?.trim_start_matches('\u{feff}').trim_matches(['"', ' ']);
    let (name, rest) = first.split_at_checked(4)?;
    let rest = if rest == "\\t" { "\t" } else { rest };
    matches!(rest.as_bytes(), [b',' | b';' | b'\t' | b'|' | b':']).then_some(())?;
    name.eq_ignore_ascii_case("sep=").then(|| rest.as_bytes()[0])
}

impl TableStyle {
    /// That of a file with tabs.
    pub fn tsv(input: &ImportInput) -> Result<Self> {
        let names_delimiter = separator(&input.head()).is_some();
        let (is_quoted, is_marked) = quoting(input)?;
        Ok(Self { delimiter: b'\t', is_quoted, is_guarded: !is_marked, names_delimiter })
    }

    /// That of a file with commas or what else its first line has.
    pub fn csv(input: &ImportInput) -> Self {
        let head = input.head();
        let names_delimiter = separator(&head).is_some();
        Self { delimiter: comma(&head), is_quoted: true, is_guarded: true, names_delimiter }
    }

    /// That of a file with tabs, or else with commas.
    pub fn of(input: &ImportInput) -> Result<Self> {
        if parted(&input.head()).1 == b'\t' { Self::tsv(input) } else { Ok(Self::csv(input)) }
    }
}

fn comma(head: &str) -> u8 {
    let first = head.lines().next().unwrap_or_default();
    let count = |delimiter: char| first.matches(delimiter).count();
    // Where there is one column its commas belong to the cells.
    let guess = if count(',') > count(';') || count(',') > 0 && count(',') == count(';') { b',' } else { b';' };
    let has_all = |delimiter: char| head.lines().take(PEEKED).all(|line| line.is_empty() || line.contains(delimiter));
    let guess = if has_all(';') && !has_all(',') { b';' } else { guess };
    separator(head).unwrap_or(guess)
}

fn parted(head: &str) -> (&str, u8) {
    let named = separator(head);
    let mut lines = head.lines().filter(|line| !line.trim().is_empty()).skip(usize::from(named.is_some()));
    let first = lines.next().unwrap_or_default();
    (first, named.unwrap_or_else(|| if first.contains('\t') { b'\t' } else { comma(first) }))
}

/// What the first line calls the columns, in small letters.
pub fn heads(head: &str) -> Vec<String> {
    let (first, delimiter) = parted(head);
    first.split(char::from(delimiter)).map(|name| name.trim().trim_matches('"').to_lowercase()).collect()
}

/// Whether every cell with a quotation mark is quoted, and whether some row shows that nothing is guarded.
/// A quotation from one row into another does not count: those lines are rows.
fn quoting(input: &ImportInput) -> Result<(bool, bool)> {
    let (mut lines, mut unheard) = (input.lines()?, Warnings::new(input.path()));
    let (mut width, mut is_quoted, mut is_marked, mut is_quoted_throughout) = (None, false, false, false);
    let (mut row, mut marks, mut are_rows) = (String::new(), 0, true);
    // Damage is told when it is reached in earnest.
    while let Ok(Some(line)) = lines.next(&mut unheard) {
        let Some(text) = line.text else { return Ok((false, false)) };
        let tabs = text.matches('\t').count();
        let new_marks = text.matches('"').count();
        if marks == 0 && new_marks == 0 {
            width = width.or((!text.trim().is_empty()).then_some(tabs + 1));
            continue;
        }
        are_rows &= width == Some(tabs + 1);
        if marks > 0 {
            row.push('\n');
        }
        (row, marks) = (row + &text, marks + new_marks);
        if row.len() > LONG_ROW {
            return Ok((false, false));
        }
        if marks % 2 == 1 {
            continue;
        }
        let Some(cells) = quoted_cells(&row) else { return Ok((false, false)) };
        let has_needless = NEEDLESS.as_ref().is_some_and(|needless| needless.is_match(&row));
        is_quoted_throughout |= width.is_none() && has_needless;
        let fits = *width.get_or_insert(cells.len()) == cells.len();
        let moves = row.contains('\n') || cells.len() != row.matches('\t').count() + 1;
        if moves && (!fits || are_rows) {
            return Ok((false, false));
        }
        let looks_guarded = cells.iter().any(|cell| as_typed(cell) != cell);
        is_marked |= has_needless && looks_guarded && !is_quoted_throughout;
        is_quoted = true;
        row.clear();
        (marks, are_rows) = (0, true);
    }
    Ok((is_quoted && marks == 0, is_marked))
}

/// A row whose quotation marks all quote cells.
static QUOTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let cell = r#"(?:"(?:[^"]|"")*"|[^"\t]*)"#;
    Regex::new(&format!(r"\A{cell}(?:\t{cell})*\z")).ok()
});
/// A cell that is quoted and need not be.
static NEEDLESS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"(?:\A|\t)"[^"\t\r\n]+"(?:\t|\z)"#).ok());

fn quoted_cells(row: &str) -> Option<csv::StringRecord> {
    QUOTED.as_ref().filter(|quoted| quoted.is_match(row))?;
    let mut builder = csv::ReaderBuilder::new();
    let mut reader = builder.delimiter(b'\t').has_headers(false).from_reader(row.as_bytes());
    reader.records().next()?.ok()
}

/// The rows of a file.
pub struct Rows {
    kind: Kind,
    style: TableStyle,
    width: Option<usize>,
}

enum Kind {
    Lines(TextLines),
    Csv(Box<csv::Reader<Metered>>, RecordMeter, PathBuf),
}

impl Rows {
    /// From the first row on.
    pub fn open(input: &ImportInput, style: TableStyle) -> Result<Self> {
        let mut rows = if style.is_quoted {
            // A return alone ends rows only where nothing else does.
            let is_feed = input.sample.contains(&b'\n');
            let ends = if is_feed { csv::Terminator::Any(b'\n') } else { csv::Terminator::CRLF };
            let mut builder = csv::ReaderBuilder::new();
            builder.delimiter(style.delimiter).has_headers(false).flexible(true).terminator(ends);
            let meter = RecordMeter::default();
            let reader = Box::new(builder.from_reader(meter.over(input.text()?)));
            Self { kind: Kind::Csv(reader, meter, input.path().into()), style, width: None }
        } else {
            Self { kind: Kind::Lines(input.lines()?), style, width: None }
        };
        if style.names_delimiter {
            rows.row(&mut Warnings::new(input.path()))?;
            rows.width = None;
        }
        Ok(rows)
    }

    /// The next row that is not blank: its line and its cells.
    pub fn next(&mut self, warnings: &mut Warnings) -> Result<Option<(usize, Vec<String>)>> {
        while let Some((line, mut cells)) = self.row(warnings)? {
            let width = *self.width.get_or_insert(cells.len());
            // of one column a blank line is an empty cell
            if width > 1 && cells.iter().all(|cell| cell.trim().is_empty()) {
                warnings.add(line, "is blank; it is no row");
                continue;
            }
            if self.style.is_guarded {
                for cell in &mut cells {
                    *cell = as_typed(cell).to_owned();
                }
            }
            return Ok(Some((line, cells)));
        }
        Ok(None)
    }

    fn row(&mut self, warnings: &mut Warnings) -> Result<Option<(usize, Vec<String>)>> {
        match &mut self.kind {
            Kind::Lines(lines) => {
                while let Some(line) = lines.next(warnings)? {
                    let Some(text) = line.text else { continue };
                    return Ok(Some((line.number, text.split('\t').map(str::to_owned).collect())));
                }
                Ok(None)
            }
            Kind::Csv(reader, meter, path) => {
                let mut record = csv::StringRecord::new();
                let line = reader.position().line() as usize;
                meter.begin();
                let failed = |error| meter.too_long().unwrap_or_else(|| format!("could not be read as CSV ({error})"));
                // Where rows end with feeds, a blank one has the return before it.
                while record.is_empty() || record == vec!["\r"] {
                    if !reader.read_record(&mut record).map_err(|error| Error::line(&*path, line, failed(error)))? {
                        return Ok(None);
                    }
                }
                let line = record.position().map_or(line, |position| position.line() as usize);
                let height = reader.position().line() as usize - line;
                if height > MANY_LINES {
                    warnings.add(line, format!("begins a row of {height} lines; a quotation mark may not be closed"));
                }
                let mut cells: Vec<String> = record.iter().map(str::to_owned).collect();
                if let Some(last) = cells.last_mut().filter(|last| last.ends_with('\r')) {
                    last.pop();
                }
                Ok(Some((line, cells)))
            }
        }
    }
}

/// What all rows of a table but the first have, by column, and how they are written.
pub struct TableSurvey {
    pub style: TableStyle,
    pub first: Vec<String>,
    pub columns: Vec<ColumnSurvey>,
    pub rows: usize,
    /// Those with more cells than the first, blank ones aside.
    pub wide: usize,
}

/// What is in a column.
#[derive(Clone, Debug, Default)]
pub struct ColumnSurvey {
    /// Cells that are there, and those that have text.
    pub cells: usize,
    pub filled: usize,
    pub numbers: NumberCount,
    pub sample: Vec<String>,
}

const SAMPLE: usize = 20;

impl TableSurvey {
    /// Reads the table once; refuses one without rows.
    pub fn of(input: &ImportInput, style: TableStyle) -> Result<Self> {
        let bare = TableStyle { is_guarded: false, ..style };
        let (mut rows, mut unheard) = (Rows::open(input, bare)?, Warnings::new(input.path()));
        let Some((_, first)) = rows.next(&mut unheard)? else { return Err(Error::file(input.path(), "has no rows")) };
        let columns = vec![ColumnSurvey::default(); first.len()];
        let mut survey = Self { style, first, columns, rows: 0, wide: 0 };
        let (mut has_guards, mut has_formulas) = (false, false);
        let heads = survey.first.clone();
        let mut next = Some(heads);
        while let Some(cells) = next {
            for cell in cells.iter().filter(|cell| is_formula(cell)) {
                let is_guarded = cell.starts_with('\'');
                has_guards |= is_guarded;
                has_formulas |= !is_guarded && !is_number(cell) && cell.parse::<f64>().is_err();
            }
            next = rows.next(&mut unheard).ok().flatten().map(|(_, cells)| cells);
            if let Some(cells) = &next {
                survey.add(cells);
            }
        }
        survey.style.is_guarded &= has_guards && !has_formulas;
        if survey.style.is_guarded {
            let typed = |cell: &mut String| *cell = as_typed(cell).to_owned();
            survey.first.iter_mut().chain(survey.columns.iter_mut().flat_map(|of| &mut of.sample)).for_each(typed);
        }
        Ok(survey)
    }

    fn add(&mut self, cells: &[String]) {
        self.rows += 1;
        self.wide += usize::from(cells.iter().skip(self.columns.len()).any(|cell| !cell.trim().is_empty()));
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.cells += 1;
            column.filled += usize::from(!cell.trim().is_empty());
            column.numbers.add(cell);
            if column.sample.len() < SAMPLE {
                column.sample.push(cell.clone());
            }
        }
    }
}
