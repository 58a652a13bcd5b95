//! Tables, TSV and CSV, whose first row names the columns: `source`, `target` or `reference`, systems by their names,
//! `NAME.log_p`, `NAME.links`.

use std::collections::HashMap;

use crate::decimal::{Decimals, UNCLEAR, is_missing, is_number, number};
use crate::facts::{Facts, ImportColumn, Warnings};
use crate::format::{FileSample, FormatReader};
use crate::formats::rows::{ColumnSurvey, Rows, TableStyle, TableSurvey, separator};
use crate::options::{Base, ColumnRole, ImportOptions, Role};
use crate::record::{ImportedOutput, ImportedText, Record};
use crate::{formats::links, input::ImportInput};
use engine::error::{Error, Result};
use engine::text::language::is_name as is_name_of_language;

const PEEKED: usize = 20;
const MOST_COLUMNS: usize = 10_000;
/// The column that lists the systems without output if their cell is empty, and the separator of the names.
pub const NO_OUTPUT: (&str, &str) = ("no_output", " | ");

/// Tabs in every line; whatever its name, where all have the same number.
pub fn sniff_tsv(sample: &FileSample<'_>) -> u8 {
    let named = sample.has_extension(&["tsv", "tab"]);
    let tabs: Vec<usize> = sample.lines().take(PEEKED).map(|line| line.matches('\t').count()).collect();
    let all = !tabs.is_empty() && !tabs.contains(&0);
    match (named, all) {
        _ if separator(sample.head) == Some(b'\t') => 90,
        (true, true) => 80,
        (false, true) if sample.has_extension(&["csv"]) && tabs.iter().all(|count| *count == tabs[0]) => 85,
        (true, false) | (false, true) => 40,
        (false, false) => 0,
    }
}

/// The name, and a separator or a known head in the first line, or one column of numbers.
pub fn sniff_csv(sample: &FileSample<'_>) -> u8 {
    let mut lines = sample.lines().take(PEEKED).skip(1).peekable();
    let are_numbers = lines.peek().is_some() && lines.all(is_number);
    let is_table = sample.first().contains([',', ';']) || are_numbers || known(sample.first()).is_some();
    match separator(sample.head) {
        Some(delimiter) if delimiter != b'\t' => 90,
        _ if sample.has_extension(&["csv"]) && is_table => 80,
        _ => 0,
    }
}

/// Starts to read TSV.
pub fn open_tsv(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    open(input, options, facts, TableStyle::tsv(input)?)
}

/// Starts to read CSV.
pub fn open_csv(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    let style = TableStyle::csv(input);
    facts.notes.push(format!("Cells are separated by `{}`.", style.delimiter.escape_ascii()));
    open(input, options, facts, style)
}

fn open(
    input: &ImportInput, options: &ImportOptions, facts: &mut Facts, style: TableStyle,
) -> Result<Box<dyn FormatReader>> {
    let survey = TableSurvey::of(input, style)?;
    let width = survey.first.len();
    if width > MOST_COLUMNS {
        let message = format!("has {width} columns, and at most {MOST_COLUMNS} are read; leave some out");
        return Err(Error::line(input.path(), 1, message));
    }
    if survey.wide * 2 > survey.rows {
        let (wide, rows) = (survey.wide, survey.rows);
        let message = format!(
            "has {width} columns in its first row, and {wide} of the other {rows} rows have more. Give each column a name, and \
             save the file with one separator throughout; nothing was imported"
        );
        return Err(Error::file(input.path(), message));
    }
    let has_header = options.header.unwrap_or_else(|| is_header(&survey, options));
    facts.notes.push(if has_header { "The first row names the columns." } else { "No row names the columns." }.into());
    let names = if has_header {
        survey.first.iter().map(|name| name.trim().to_owned()).collect()
    } else {
        (1..=width).map(|number| number.to_string()).collect()
    };
    let table = Table { names, has_header, survey, options };
    let mut columns = table.columns();
    if let Some(place) = columns.iter().position(|column| is_name("system", &column.name)) {
        let sample = &table.survey.columns[place].sample;
        let has_words = sample.iter().any(|cell| cell.trim().contains(char::is_whitespace));
        let is_again = sample.iter().enumerate().any(|(n, cell)| sample[..n].contains(cell));
        let texts = columns.iter().filter(|column| holds_text(&column.role)).count();
        if columns[place].role == ColumnRole::Output(columns[place].name.clone()) && texts > 2 && !has_words && is_again
        {
            let message =
                "has a row for each sentence and system; give it a row for each sentence, and a column for each system";
            return Err(Error::file(input.path(), message));
        }
    }
    table.take_role(&mut columns).map_err(|message| Error::file(input.path(), message))?;
    table.leave_out(&mut columns, facts);
    let is_score = |column: &ImportColumn| column.role == ColumnRole::Number && !is_number(&column.name);
    if !columns.iter().any(|column| holds_text(&column.role) || is_score(column)) {
        let advice = "name a column `source`, `target` or after a system";
        return Err(Error::file(input.path(), format!("has no column with sentences; {advice}")));
    }
    facts.columns.clone_from(&columns);
    facts.sentences = Some(table.survey.rows + usize::from(!has_header));
    let decimals = (0..width).map(|place| table.decimals(place)).collect();
    let mut rows = Rows::open(input, table.survey.style)?;
    if has_header {
        rows.next(&mut Warnings::new(input.path()))?;
    }
    let base = options.base.unwrap_or(Base::Zero);
    Ok(Box::new(TableReader { rows, places: places(&columns), columns, decimals, base, count: 0 }))
}

/// Whether a column has sentences.
pub fn holds_text(role: &ColumnRole) -> bool {
    matches!(role, ColumnRole::Source | ColumnRole::Reference | ColumnRole::Output(_))
}

/// Whether a first row names columns: it has a name that is known, or languages, or a word over numbers.
fn is_header(survey: &TableSurvey, options: &ImportOptions) -> bool {
    let row = &survey.first;
    let is_given = |cell: &&String| options.columns.iter().any(|(name, _)| is_name(name, cell));
    let has_known = row.iter().any(|cell| known(cell).is_some()) || row.iter().any(|cell| is_given(&cell));
    let mut columns = row.iter().zip(&survey.columns).filter(|(_, column)| column.filled > 0);
    let is_word = |cell: &str| !is_number(cell) && !is_missing(cell);
    let is_over_numbers = survey.rows > 0
        && if survey.rows == 1 {
            columns.all(|(cell, column)| !is_number(cell) && column.numbers.are_numbers())
        } else {
            columns.any(|(cell, column)| is_word(cell) && column.numbers.are_numbers() && column.filled > 1)
        };
    has_known || is_over_numbers || matches!(&row[..], [one, other, ..] if is_language(one) && is_language(other))
}

fn is_name(name: &str, column: &str) -> bool {
    name.to_lowercase() == column.trim().to_lowercase()
}

fn is_list(cell: &str) -> bool {
    let inner = cell.trim().strip_prefix('[').and_then(|cell| cell.strip_suffix(']'));
    inner.is_some_and(|inner| inner.split(',').all(is_number))
}

const NAMES: &[(&[&str], ColumnRole)] = &[
    (&["id", "sid", "segid", "segment_id", "key", "number", "nr", "#"], ColumnRole::Id),
    (&["source", "src", "input", "original", "source_text"], ColumnRole::Source),
    (&["target", "tgt", "trg", "reference", "ref", "translation", "human", "target_text"], ColumnRole::Reference),
    (&["gold", "gold_links", "gold links"], ColumnRole::Gold),
];

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

/// The head of a column by which these texts are read as outputs of the system, whatever it is called and says.
pub fn head_of<'a>(system: &str, texts: impl Iterator<Item = &'a str>) -> String {
    let mut texts = texts.filter(|text| !text.trim().is_empty()).peekable();
    let is_other = known(system).is_some() || is_remark(system) || measure(system).is_some();
    let are_numbers = texts.peek().is_some() && texts.all(|text| is_missing(text) || is_number(text) || is_list(text));
    if is_other || are_numbers || MEASURES.contains(&system) { format!("{system}.output") } else { system.to_owned() }
}

/// `en`, `en-US`, `deu`, `German`
fn is_language(name: &str) -> bool {
    let name = name.trim();
    let (language, rest) = name.split_once(['-', '_']).unwrap_or((name, ""));
    let letters = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_tag =
        (2..=3).contains(&language.len()) && language.bytes().all(|byte| byte.is_ascii_lowercase()) && letters(rest);
    is_tag || is_name_of_language(name)
}

struct Table<'a> {
    names: Vec<String>,
    has_header: bool,
    survey: TableSurvey,
    options: &'a ImportOptions,
}

impl Table<'_> {
    /// The roles of the columns: from the options, else by name, else by position (source, translation) and content.
    fn columns(&self) -> Vec<ImportColumn> {
        let target = match self.options.target_role() {
            Role::Output(system) => ColumnRole::Output(system),
            _ => ColumnRole::Reference,
        };
        let mut sides = [ColumnRole::Source, target.clone()].into_iter();
        let is_side = |name: &String| matches!(known(name), Some(ColumnRole::Source | ColumnRole::Reference));
        let has_sides = self.names.iter().any(is_side);
        let is_system = |(place, name): (usize, &String)| match self.given(name).or_else(|| known(name)) {
            Some(role) => matches!(role, ColumnRole::Output(_)),
            None => !name.is_empty() && !self.are_numbers(place) && !self.is_beside_texts(place),
        };
        let has_systems = self.has_header && has_sides && self.names.iter().enumerate().any(is_system);
        let mut role = |place: usize, name: &str| {
            if let Some(role) = self.given(name) {
                return role;
            }
            match known(name).filter(|_| self.has_header) {
                // Beside columns of systems it is what its name says, whatever the file as a whole is taken for.
                Some(ColumnRole::Reference) if has_systems => ColumnRole::Reference,
                Some(ColumnRole::Reference) => target.clone(),
                Some(role) => role,
                None if !self.has_header => match self.bare_role(place) {
                    Some(role) => role,
                    None => sides.next().unwrap_or(ColumnRole::Output(name.to_owned())),
                },
                None if !has_sides && is_language(name) => sides.next().unwrap_or(ColumnRole::Output(name.to_owned())),
                None if self.are_numbers(place) => ColumnRole::Number,
                None if name.is_empty() || self.is_beside_texts(place) => ColumnRole::Extra,
                None => ColumnRole::Output(name.to_owned()),
            }
        };
        let column = |(place, name): (usize, &String)| ImportColumn { name: name.clone(), role: role(place, name) };
        let mut columns: Vec<ImportColumn> = self.names.iter().enumerate().map(column).collect();
        name_log_p(&mut columns);
        columns
    }

    fn given(&self, name: &str) -> Option<ColumnRole> {
        self.options.columns.iter().find(|(given, _)| is_name(given, name)).map(|(_, role)| role.clone())
    }

    /// What a column without a name holds that is no text: names of sentences first, and numbers or languages anywhere.
    fn bare_role(&self, place: usize) -> Option<ColumnRole> {
        let mut cells: Vec<&str> = vec![self.survey.first[place].trim()];
        cells.extend(self.survey.columns[place].sample.iter().map(|cell| cell.trim()));
        let is_id = |cell: &&str| !cell.contains(char::is_whitespace) && cell.contains(|c: char| c.is_ascii_digit());
        let is_first = place == 0 && self.names.len() > 1 && cells.iter().all(is_id);
        // Sentences of Tatoeba have a language, and pairs for Anki a licence.
        let is_about = self.names.len() > 2 && cells.iter().all(|cell| is_language(cell) || cell.starts_with("CC-BY "));
        cells.sort_unstable();
        let is_id = is_first && cells.windows(2).all(|pair| pair[0] != pair[1]);
        match (is_id, self.are_numbers(place)) {
            (true, _) => Some(ColumnRole::Id),
            (false, true) => Some(ColumnRole::Number),
            (false, false) => (is_first || is_about).then_some(ColumnRole::Extra),
        }
    }

    /// Whether the cells are numbers; in a column named as a score, such as `COMET.mine`, all may be missing.
    fn are_numbers(&self, place: usize) -> bool {
        let count = &self.survey.columns[place].numbers;
        let is_first = self.has_header || is_number(&self.survey.first[place]) || is_missing(&self.survey.first[place]);
        let of_system = self.names[place].rsplit_once('.').map(|(_, of)| of.trim()).filter(|_| self.has_header);
        let is_score = of_system.is_some_and(|of| {
            let is_known = is_number(of) || self.names.iter().any(|name| name == of);
            count.numbers + count.missing > 0 && count.others == 0 || is_known && count.numbers > count.others
        });
        is_first && (count.are_numbers() || is_score)
    }

    /// Judgements, lists of numbers and measures, which stand next to texts in tables.
    fn is_beside_texts(&self, place: usize) -> bool {
        let name = self.names[place].as_str();
        let is_measure = measure(name).is_some() || MEASURES.contains(&name);
        let ColumnSurvey { filled, numbers, sample, .. } = &self.survey.columns[place];
        let are_lists = *filled > 0 && sample.iter().all(|cell| is_list(cell));
        is_remark(name) || is_measure && numbers.others == 0 || are_lists
    }

    /// Whether page Corpus wrote it.
    fn is_own(&self) -> bool {
        ["number", "tags", "notes"].iter().all(|own| self.names.iter().any(|name| name == own))
    }

    fn decimals(&self, place: usize) -> Option<Decimals> {
        self.are_numbers(place).then(|| self.survey.columns[place].numbers.decimals())
    }

    fn take_role(&self, columns: &mut [ImportColumn]) -> std::result::Result<(), String> {
        let role = match &self.options.role {
            Some(Role::Source) => ColumnRole::Source,
            Some(Role::Reference) => ColumnRole::Reference,
            Some(Role::Output(system)) => ColumnRole::Output(system.clone()),
            Some(Role::Scores(name)) => {
                let mut all: Vec<_> = columns.iter_mut().filter(|column| column.role == ColumnRole::Number).collect();
                let [only] = &mut all[..] else {
                    let count = all.len();
                    return Err(format!("has {count} columns of numbers, and scores need one; leave out the others"));
                };
                only.name.clone_from(name);
                return Ok(());
            }
            Some(Role::Gold) | None => return Ok(()),
        };
        let mut texts = columns.iter_mut().filter(|column| holds_text(&column.role));
        if let (Some(only), None) = (texts.next(), texts.next()) {
            only.role = role;
        }
        Ok(())
    }

    /// Leaves out what is there twice or has nothing, and notes what is read in a way that one should know.
    fn leave_out(&self, columns: &mut [ImportColumn], facts: &mut Facts) {
        let is_own = self.is_own();
        for place in 0..columns.len() {
            let (column, survey) = (columns[place].clone(), &self.survey.columns[place]);
            let mut note = |text: String| facts.notes.push(format!("Column `{}`: {text}.", column.name));
            let is_twice = columns[..place].iter().any(|other| other.role == column.role);
            match &column.role {
                ColumnRole::Output(_) | ColumnRole::Source if is_twice => {
                    note("it is left out, since an earlier one holds the same".to_owned());
                    columns[place].role = ColumnRole::Extra;
                }
                ColumnRole::Output(_) if self.survey.rows > 0 && survey.filled == 0 && !is_own => {
                    note("it is empty, so it is no output of a system".to_owned());
                    columns[place].role = ColumnRole::Extra;
                }
                ColumnRole::Output(_) if survey.filled < survey.cells && !is_own => {
                    note(format!("empty cells ({}) are translations without words", survey.cells - survey.filled));
                }
                ColumnRole::Number | ColumnRole::LogP(_) => {
                    match survey.numbers.decimals() {
                        Decimals::Point => {}
                        Decimals::Comma => note("its numbers have decimal commas".to_owned()),
                        Decimals::Unclear => note(format!("numbers with a comma are left out: {UNCLEAR}")),
                    }
                    if survey.numbers.missing > 0 {
                        note(format!("cells such as `-`, `n/a` or `NaN` ({}) have no number", survey.numbers.missing));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether a column is of remarks or groups, whatever stands in it.
pub fn is_remark(name: &str) -> bool {
    name == SIGNATURE || REMARKS.contains(&name.to_lowercase().as_str())
}

/// Columns of remarks in a table of page Corpus, and of what sentences are gathered under.
const REMARKS: &[&str] =
    &["bead", "tags", "notes", "doc", "docid", "document", "domain", "genre", "comment", "comments", "lp", NO_OUTPUT.0];
/// The column of the signature of BLEU there.
pub const SIGNATURE: &str = "bleu_signature";
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
    for column in columns.iter_mut().filter(|column| column.role == ColumnRole::Number) {
        let number =
            measure(&column.name).filter(|(name, _)| *name == "logp").and_then(|(_, of)| of.parse::<usize>().ok());
        if let Some(system) = number.and_then(|number| systems.get(number.checked_sub(1)?)) {
            column.role = ColumnRole::LogP(system.clone());
        }
    }
}

/// The system that a column has the outputs of.
pub fn output_of(role: &ColumnRole) -> Option<&str> {
    if let ColumnRole::Output(system) = role { Some(system) } else { None }
}

struct TableReader {
    rows: Rows,
    columns: Vec<ImportColumn>,
    /// Of each column the place of its system among the systems.
    places: Vec<usize>,
    decimals: Vec<Option<Decimals>>,
    base: Base,
    count: usize,
}

impl FormatReader for TableReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        let Some((line, mut cells)) = self.rows.next(warnings)? else { return Ok(None) };
        self.count += 1;
        // A separator at the end of a row begins no cell.
        while cells.len() > self.columns.len() && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
            cells.pop();
        }
        if cells.len() != self.columns.len() {
            let (cells, columns) = (cells.len(), self.columns.len());
            let what = if cells < columns { "those that are missing are blank" } else { "the others are left out" };
            warnings.add(line, format!("has {cells} cells, but there are {columns} columns; {what}"));
        }
        let mut record = Record { sentence: self.count, line, ..Record::default() };
        let mut references = 0;
        let mut outputs = vec![None; self.places.iter().max().map_or(0, |most| most + 1)];
        for (n, (column, cell)) in self.columns.iter().zip(cells).enumerate() {
            let place = &self.places[n];
            let cell = if holds_text(&column.role) { on_one_line(cell) } else { plain_number(cell, self.decimals[n]) };
            if column.role == ColumnRole::Reference {
                references += 1;
                if references > 1 {
                    record.further.push(cell);
                    continue;
                }
            }
            fill(&mut record, &mut outputs[*place], column, cell, self.base, warnings);
        }
        let silent = record.extra.iter().find(|(name, _)| name == NO_OUTPUT.0).map_or("", |(_, cell)| cell);
        let speaks = |output: &ImportedOutput| {
            !output.text.is_empty() || silent.split(NO_OUTPUT.1).all(|name| output.system.as_deref() != Some(name))
        };
        record.outputs = outputs.into_iter().flatten().filter(speaks).collect();
        Ok(Some(record))
    }
}

fn on_one_line(cell: String) -> String {
    if cell.contains(['\n', '\r']) { cell.split_whitespace().collect::<Vec<_>>().join(" ") } else { cell }
}

fn plain_number(cell: String, decimals: Option<Decimals>) -> String {
    let other = decimals.filter(|of| *of == Decimals::Comma || cell.contains([',', '%', '\u{2212}']));
    other.and_then(|of| number(&cell, of)).map_or(cell, |number| number.to_string())
}

fn system_of(role: &ColumnRole) -> Option<&String> {
    match role {
        ColumnRole::Output(system) | ColumnRole::LogP(system) | ColumnRole::Links(system) => Some(system),
        _ => None,
    }
}

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
    record: &mut Record, said: &mut Option<ImportedOutput>, column: &ImportColumn, cell: String, base: Base,
    warnings: &mut Warnings,
) {
    let line = record.line;
    let about = |message: String| format!("column `{}` {message}", column.name);
    match &column.role {
        ColumnRole::Id => record.id = Some(cell),
        ColumnRole::Source => record.source = Some(ImportedText::plain(cell)),
        ColumnRole::Number | ColumnRole::Extra => record.extra.push((column.name.clone(), cell)),
        // A cell without words is no reference; it is a translation without words.
        ColumnRole::Reference | ColumnRole::LogP(_) | ColumnRole::Links(_) | ColumnRole::Gold
            if cell.trim().is_empty() => {}
        ColumnRole::Reference => record.reference = Some(ImportedText::plain(cell)),
        ColumnRole::Output(system) => output(said, system).text = cell,
        ColumnRole::LogP(system) => match number(&cell, Decimals::Point) {
            Some(log_p) => output(said, system).log_p = Some(log_p as f32),
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

fn output<'a>(said: &'a mut Option<ImportedOutput>, system: &str) -> &'a mut ImportedOutput {
    said.get_or_insert_with(|| ImportedOutput::plain(system, String::new()))
}
