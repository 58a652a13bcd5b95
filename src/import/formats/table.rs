//! Floor 6: tables, TSV and CSV, whose first row names the columns: `source`, `target` or `reference`, systems by their
//! names, `NAME.log_p`, `NAME.links`. Imports its room.
//!
//! In TSV a cell in quotation marks is unquoted when it is quoted to its end, some lines below where that makes the row as
//! wide as the first; else a row is a line: text with a stray quotation mark is common there. CSV is read by its rules, with commas or semicolons.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::import::facts::{Facts, ImportColumn, Warnings};
use crate::import::format::{FileSample, FormatReader};
use crate::import::formats::links;
use crate::import::input::{ImportInput, Metered, RecordMeter, TextLine, TextLines};
use crate::import::matrix::number;
use crate::import::options::{Base, ColumnRole, ImportOptions, Role};
use crate::import::record::{ImportedOutput, ImportedText, Record};

/// Rows that are looked at before the first is given out.
const PEEKED: usize = 20;
/// The most columns.
const MOST_COLUMNS: usize = 10_000;
/// A row of a CSV file with more lines has probably lost a quotation mark.
const MANY_LINES: usize = 20;
/// Bytes of a row of TSV that is put together of lines, at most.
const LONG_ROW: usize = 1 << 20;

/// Tabs in every line.
pub fn sniff_tsv(sample: &FileSample<'_>) -> u8 {
    let named = sample.has_extension(&["tsv", "tab"]);
    let mut lines = sample.lines().take(PEEKED).peekable();
    let all = lines.peek().is_some() && lines.all(|line| line.contains('\t'));
    match (named, all) {
        (true, true) => 80,
        (true, false) | (false, true) => 40,
        (false, false) => 0,
    }
}

/// The name, and a separator in the first line or one column of numbers.
pub fn sniff_csv(sample: &FileSample<'_>) -> u8 {
    let mut lines = sample.lines().take(PEEKED).skip(1).peekable();
    let are_numbers = lines.peek().is_some() && lines.all(is_number);
    let is_table = sample.first().contains([',', ';']) || are_numbers;
    if sample.has_extension(&["csv"]) && is_table { 80 } else { 0 }
}

/// Starts to read TSV.
pub fn open_tsv(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    open(input, options, facts, |input| {
        Ok(Rows::Tsv(TsvLines { lines: input.lines()?, ahead: VecDeque::new(), width: None }))
    })
}

/// Starts to read CSV.
pub fn open_csv(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    let head = input.head();
    let first = head.lines().next().unwrap_or_default();
    let has_more = first.matches(';').count() > first.matches(',').count();
    let delimiter = if has_more { b';' } else { b',' };
    facts.notes.push(format!("Cells are parted by {}.", if has_more { "semicolons" } else { "commas" }));
    open(input, options, facts, move |input| {
        let mut builder = csv::ReaderBuilder::new();
        builder.delimiter(delimiter).has_headers(false).flexible(true);
        if input.sample.contains(&b'\n') {
            builder.terminator(csv::Terminator::Any(b'\n'));
        }
        let meter = RecordMeter::default();
        Ok(Rows::Csv(Box::new(builder.from_reader(meter.over(input.text()?))), meter, input.path().into()))
    })
}

/// A row: its line and its cells.
type Row = (usize, Vec<String>);

/// The rows of a file.
enum Rows {
    Tsv(TsvLines),
    Csv(Box<csv::Reader<Metered>>, RecordMeter, PathBuf),
}

impl Rows {
    /// The next row that is not blank.
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Row>> {
        match self {
            Self::Tsv(lines) => tsv_row(lines, warnings),
            Self::Csv(reader, meter, path) => csv_row(reader, meter, path, warnings),
        }
    }
}

/// The lines of TSV, and those that were read ahead.
struct TsvLines {
    lines: TextLines,
    ahead: VecDeque<TextLine>,
    /// Cells of the first row.
    width: Option<usize>,
}

impl TsvLines {
    fn take(&mut self, warnings: &mut Warnings) -> Result<Option<TextLine>> {
        if let Some(line) = self.ahead.pop_front() { Ok(Some(line)) } else { self.lines.next(warnings) }
    }

    /// A row whose last quoted cell ends some lines below, if that makes it as wide as the first row; what follows it is
    /// read ahead.
    fn joined(&mut self, text: &str, width: usize, warnings: &mut Warnings) -> Result<Option<String>> {
        let mut joined = text.to_owned();
        for n in 0..MANY_LINES {
            if n == self.ahead.len() {
                let Some(line) = self.lines.next(warnings)? else { break };
                self.ahead.push_back(line);
            }
            let Some(more) = &self.ahead[n].text else { break };
            joined.push(' ');
            joined.push_str(more);
            let count = joined.split('\t').count();
            if count == width && !is_open(&joined) {
                self.ahead.drain(..=n);
                return Ok(Some(joined));
            }
            if count > width || joined.len() > LONG_ROW {
                break;
            }
        }
        Ok(None)
    }
}

/// Whether a cell begins with a quotation mark that is not closed.
fn is_open(row: &str) -> bool {
    row.split('\t').any(|cell| cell.starts_with('"') && cell.matches('"').count() % 2 == 1)
}

fn tsv_row(rows: &mut TsvLines, warnings: &mut Warnings) -> Result<Option<Row>> {
    while let Some(line) = rows.take(warnings)? {
        let Some(mut text) = line.text else { continue };
        // of one column a blank line is an empty cell
        if text.trim().is_empty() && rows.width != Some(1) {
            warnings.add(line.number, "is blank; it is no row");
            continue;
        }
        let count = text.split('\t').count();
        let width = *rows.width.get_or_insert(count);
        if count <= width && is_open(&text) {
            text = rows.joined(&text, width, warnings)?.unwrap_or(text);
        }
        return Ok(Some((line.number, text.split('\t').map(unquoted).collect())));
    }
    Ok(None)
}

/// A cell without its quotation marks, if it is quoted to its end.
pub(crate) fn unquoted(cell: &str) -> String {
    let inner = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"'));
    // Every mark within is doubled, or the first was no quotation of a cell.
    match inner {
        Some(inner) if !inner.replace("\"\"", "").contains('"') => inner.replace("\"\"", "\""),
        _ => cell.to_owned(),
    }
}

fn csv_row(
    reader: &mut csv::Reader<Metered>,
    meter: &RecordMeter,
    path: &Path,
    warnings: &mut Warnings,
) -> Result<Option<Row>> {
    let mut record = csv::StringRecord::new();
    let line = reader.position().line() as usize;
    meter.begin();
    let failed = |error| meter.too_long().unwrap_or_else(|| format!("could not be read as CSV ({error})"));
    let blank = csv::StringRecord::from(vec!["\r"]);
    while record.is_empty() || record == blank {
        if !reader.read_record(&mut record).map_err(|error| Error::line(path, line, failed(error)))? {
            return Ok(None);
        }
    }
    let line = record.position().map_or(line, |position| position.line() as usize);
    let height = reader.position().line() as usize - line;
    if height > MANY_LINES {
        warnings.add(line, format!("begins a row of {height} lines; a quotation mark may not be closed"));
    }
    let cell = |cell: &str| cell.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_broken = |text: &str| text.contains(['\n', '\r']);
    // Where rows end with feeds, the last cell has the return before it.
    let last = record.len().saturating_sub(1);
    let whole = |(n, text): (usize, &str)| {
        let text = if n == last { text.strip_suffix('\r').unwrap_or(text) } else { text };
        if is_broken(text) { cell(text) } else { text.to_owned() }
    };
    Ok(Some((line, record.iter().enumerate().map(whole).collect())))
}

fn open(
    input: &ImportInput,
    options: &ImportOptions,
    facts: &mut Facts,
    rows: impl Fn(&ImportInput) -> Result<Rows>,
) -> Result<Box<dyn FormatReader>> {
    let (mut peeked, mut unheard) = (rows(input)?, Warnings::new(input.path()));
    let mut sample: Vec<Vec<String>> = Vec::new();
    let mut damage = None;
    while sample.len() < PEEKED {
        match peeked.next(&mut unheard) {
            Ok(Some((_, cells))) => sample.push(cells),
            Ok(None) => break,
            Err(error) => {
                damage = Some(error);
                break;
            }
        }
    }
    // Damage behind the first row is told when it is reached in earnest.
    if let Some(error) = damage.filter(|_| sample.is_empty()) {
        return Err(error);
    }
    let Some(first) = sample.first() else { return Err(Error::file(input.path(), "has no rows")) };
    if first.len() > MOST_COLUMNS {
        let message = format!("has {} columns, and at most {MOST_COLUMNS} are read; leave some out", first.len());
        return Err(Error::line(input.path(), 1, message));
    }
    let has_header = options.header.unwrap_or_else(|| is_header(first, &sample[1..], options));
    let names: Vec<String> = if has_header {
        first.iter().map(|name| name.trim().to_owned()).collect()
    } else {
        (1..=first.len()).map(|number| number.to_string()).collect()
    };
    facts.notes.push(if has_header { "The first row names the columns." } else { "No row names the columns." }.into());
    let body = &sample[usize::from(has_header)..];
    let columns = columns(&names, has_header, body, options);
    let holds_numbers = |(place, column): (usize, &ImportColumn)| {
        has_header && column.role == ColumnRole::Extra && are_numbers(body, place)
    };
    if !columns.iter().any(|column| holds_text(&column.role)) && !columns.iter().enumerate().any(holds_numbers) {
        let advice = "name a column `source`, `target` or after a system, or say what the columns hold";
        return Err(Error::file(input.path(), format!("has no column with sentences; {advice}")));
    }
    facts.columns.clone_from(&columns);
    let mut rows = rows(input)?;
    if has_header {
        rows.next(&mut unheard)?;
    }
    let base = options.base.unwrap_or(Base::Zero);
    Ok(Box::new(TableReader { rows, places: places(&columns), columns, base, count: 0 }))
}

fn holds_text(role: &ColumnRole) -> bool {
    matches!(role, ColumnRole::Source | ColumnRole::Reference | ColumnRole::Output(_))
}

/// Whether a first row names columns: it has a name that is known, or languages, or it has none of the numbers that all others are.
fn is_header(row: &[String], body: &[Vec<String>], options: &ImportOptions) -> bool {
    let is_given = |cell: &&String| options.columns.iter().any(|(name, _)| name == cell.trim());
    let has_known = row.iter().any(|cell| known(cell).is_some()) || row.iter().any(|cell| is_given(&cell));
    let is_blank = |place| cells(body, place).next().is_none();
    let is_over_numbers = !body.is_empty()
        && !row.iter().any(|cell| is_number(cell))
        && (0..row.len()).all(|place| are_numbers(body, place) || is_blank(place));
    has_known || is_over_numbers || matches!(row, [one, other, ..] if is_language(one) && is_language(other))
}

/// Names of columns, in small letters, and what they hold.
const NAMES: &[(&[&str], ColumnRole)] = &[
    (&["id", "sid", "segid", "segment_id", "key", "number", "nr", "#"], ColumnRole::Id),
    (&["source", "src", "input", "original", "source_text"], ColumnRole::Source),
    (&["target", "tgt", "trg", "reference", "ref", "translation", "human", "target_text"], ColumnRole::Reference),
    (&["gold", "gold_links", "gold links"], ColumnRole::Gold),
];

/// What a column of a name holds that tells.
fn known(name: &str) -> Option<ColumnRole> {
    let name = name.trim();
    let small = name.to_lowercase();
    if let Some((_, role)) = NAMES.iter().find(|(names, _)| names.contains(&small.as_str())) {
        return Some(role.clone());
    }
    // `reference_2`, `ref 3`, `reference1`.
    let bare = small.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['_', ' ', '.', '-']);
    if bare.len() < small.len() && matches!(bare, "reference" | "ref") {
        return Some(ColumnRole::Reference);
    }
    let (system, what) = name.rsplit_once('.').or_else(|| name.rsplit_once(' '))?;
    match what.to_lowercase().as_str() {
        "log_p" | "logp" => Some(ColumnRole::LogP(system.to_owned())),
        "links" | "alignment" => Some(ColumnRole::Links(system.to_owned())),
        "text" | "output" => Some(ColumnRole::Output(system.to_owned())),
        _ => None,
    }
}

/// `en`, `en-US`, `deu`
fn is_language(name: &str) -> bool {
    let name = name.trim();
    let (language, rest) = name.split_once(['-', '_']).unwrap_or((name, ""));
    let letters = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (2..=3).contains(&language.len()) && language.bytes().all(|byte| byte.is_ascii_lowercase()) && letters(rest)
}

/// What each column holds: as the caller says, else as its name says. Without a header the first is the source, the
/// second its translation. Two languages are source and target; another name is a system's, unless its cells are numbers.
fn columns(names: &[String], has_header: bool, body: &[Vec<String>], options: &ImportOptions) -> Vec<ImportColumn> {
    let target = match options.target_role() {
        Role::Output(system) => ColumnRole::Output(system),
        _ => ColumnRole::Reference,
    };
    let mut sides = [ColumnRole::Source, target.clone()].into_iter();
    let has_sides = names.iter().any(|name| matches!(known(name), Some(ColumnRole::Source | ColumnRole::Reference)));
    let is_system = |(place, name): (usize, &String)| {
        let given = options.columns.iter().find(|(given, _)| given == name).map(|(_, role)| role.clone());
        match given.or_else(|| known(name)) {
            Some(role) => matches!(role, ColumnRole::Output(_)),
            None => !name.is_empty() && !are_numbers(body, place) && !is_of_workspace(name, body, place),
        }
    };
    let has_systems = has_header && has_sides && names.iter().enumerate().any(is_system);
    let mut role = |place: usize, name: &str| {
        if let Some((_, role)) = options.columns.iter().find(|(given, _)| given == name) {
            return role.clone();
        }
        let is_side = if has_header { !has_sides && is_language(name) } else { !are_numbers(body, place) };
        match known(name).filter(|_| has_header) {
            // Beside columns of systems it is what its name says, whatever the file as a whole is taken for.
            Some(ColumnRole::Reference) if has_systems => ColumnRole::Reference,
            Some(ColumnRole::Reference) => target.clone(),
            Some(role) => role,
            None if is_side => sides.next().unwrap_or(ColumnRole::Output(name.to_owned())),
            None if name.is_empty() || are_numbers(body, place) => ColumnRole::Extra,
            None if has_header && is_of_workspace(name, body, place) => ColumnRole::Extra,
            None => ColumnRole::Output(name.to_owned()),
        }
    };
    let column = |(place, name): (usize, &String)| ImportColumn { name: name.clone(), role: role(place, name) };
    let mut columns: Vec<ImportColumn> = names.iter().enumerate().map(column).collect();
    name_log_p(&mut columns);
    columns
}

/// What a table of page Corpus has beside texts: what people said, and measures, which are empty where there is nothing to
/// measure.
fn is_of_workspace(name: &str, body: &[Vec<String>], place: usize) -> bool {
    let is_measure = measure(name).is_some() || MEASURES.contains(&name);
    is_remark(name) || is_measure && cells(body, place).all(is_number)
}

/// Whether a column is of remarks or groups, whatever stands in it.
pub(crate) fn is_remark(name: &str) -> bool {
    REMARKS.contains(&name)
}

/// Columns of remarks in a table of page Corpus, and of what sentences are gathered under.
const REMARKS: &[&str] = &["bead", "tags", "notes", "doc", "docid", "document", "domain", "genre"];
/// Columns of numbers that are of no system.
const MEASURES: &[&str] = &["words", "reference_words", "stars", "marks"];

/// A measure of a system, or of one less another: `bleu.1`, `bleu.1-2`.
fn measure(name: &str) -> Option<(&str, &str)> {
    let (name, systems) = name.rsplit_once('.')?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let is_number = |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let (first, second) = systems.split_once('-').unwrap_or((systems, "1"));
    (is_name && is_number(first) && is_number(second)).then_some((name, systems))
}

/// `logp.2` is that of the second system; other measures are made anew.
fn name_log_p(columns: &mut [ImportColumn]) {
    let systems: Vec<String> = columns.iter().filter_map(|column| output_of(&column.role)).map(str::to_owned).collect();
    for column in columns.iter_mut().filter(|column| column.role == ColumnRole::Extra) {
        let number =
            measure(&column.name).filter(|(name, _)| *name == "logp").and_then(|(_, of)| of.parse::<usize>().ok());
        if let Some(system) = number.and_then(|number| systems.get(number.checked_sub(1)?)) {
            column.role = ColumnRole::LogP(system.clone());
        }
    }
}

fn output_of(role: &ColumnRole) -> Option<&str> {
    if let ColumnRole::Output(system) = role { Some(system) } else { None }
}

/// Whether the cells of a column are numbers, as far as they are there.
fn are_numbers(body: &[Vec<String>], place: usize) -> bool {
    let mut cells = cells(body, place).peekable();
    cells.peek().is_some() && cells.all(is_number)
}

fn is_number(cell: &str) -> bool {
    cell.trim().parse::<f64>().is_ok()
}

/// The cells of a column that are not blank.
fn cells(body: &[Vec<String>], place: usize) -> impl Iterator<Item = &str> {
    body.iter().filter_map(move |row| row.get(place)).map(|cell| cell.trim()).filter(|cell| !cell.is_empty())
}

struct TableReader {
    rows: Rows,
    columns: Vec<ImportColumn>,
    /// Of each column the place of its system among the systems.
    places: Vec<usize>,
    base: Base,
    count: usize,
}

impl FormatReader for TableReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        let Some((line, cells)) = self.rows.next(warnings)? else { return Ok(None) };
        self.count += 1;
        if cells.len() != self.columns.len() {
            let (cells, columns) = (cells.len(), self.columns.len());
            let what = if cells < columns { "those that are missing are blank" } else { "the others are left out" };
            warnings.add(line, format!("has {cells} cells, but there are {columns} columns; {what}"));
        }
        let mut record = Record { sentence: self.count, line, ..Record::default() };
        let mut references = 0;
        let mut outputs = vec![None; self.places.iter().max().map_or(0, |most| most + 1)];
        for ((column, place), cell) in self.columns.iter().zip(&self.places).zip(cells) {
            if column.role == ColumnRole::Reference {
                references += 1;
                if references > 1 {
                    record.further.push(cell.trim().to_owned());
                    continue;
                }
            }
            fill(&mut record, &mut outputs[*place], column, cell, self.base, warnings);
        }
        record.outputs = outputs.into_iter().flatten().collect();
        Ok(Some(record))
    }
}

/// The system of a column.
fn system_of(role: &ColumnRole) -> Option<&String> {
    match role {
        ColumnRole::Output(system) | ColumnRole::LogP(system) | ColumnRole::Links(system) => Some(system),
        _ => None,
    }
}

/// Of each column the place of its system among the systems, as they come; 0 where it is of none.
fn places(columns: &[ImportColumn]) -> Vec<usize> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut places = Vec::with_capacity(columns.len());
    for column in columns {
        let next = known.len();
        places.push(system_of(&column.role).map_or(0, |system| *known.entry(system).or_insert(next)));
    }
    places
}

/// Puts a cell into its place; `said` is the output of the column's system.
fn fill(
    record: &mut Record,
    said: &mut Option<ImportedOutput>,
    column: &ImportColumn,
    cell: String,
    base: Base,
    warnings: &mut Warnings,
) {
    let line = record.line;
    let about = |message: String| format!("column `{}` {message}", column.name);
    match &column.role {
        ColumnRole::Id => record.id = Some(cell),
        ColumnRole::Source => record.source = Some(ImportedText::plain(cell)),
        ColumnRole::Extra => record.extra.push((column.name.clone(), cell)),
        // A cell without words says nothing: no reference, no translation.
        ColumnRole::Reference
        | ColumnRole::Output(_)
        | ColumnRole::LogP(_)
        | ColumnRole::Links(_)
        | ColumnRole::Gold
            if cell.trim().is_empty() => {}
        ColumnRole::Reference => record.reference = Some(ImportedText::plain(cell)),
        ColumnRole::Output(system) => output(said, system).text = cell,
        ColumnRole::LogP(system) => match number(cell.trim()) {
            Some(log_p) => output(said, system).log_p = Some(log_p),
            None => warnings.add(line, about(format!("has `{cell:.40}`, which is no number"))),
        },
        ColumnRole::Links(system) => match links::cell(&cell, base) {
            Ok(links) => output(said, system).links = Some(links.all().into_iter().map(|(link, _)| link).collect()),
            Err(message) => warnings.add(line, about(format!("is left out: {message}"))),
        },
        ColumnRole::Gold => match links::cell(&cell, base) {
            Ok(links) => record.gold = Some(links),
            Err(message) => warnings.add(line, about(format!("is left out: {message}"))),
        },
    }
}

/// The output of a system, which is put there when its first cell comes.
fn output<'a>(said: &'a mut Option<ImportedOutput>, system: &str) -> &'a mut ImportedOutput {
    said.get_or_insert_with(|| ImportedOutput::plain(system, String::new()))
}
