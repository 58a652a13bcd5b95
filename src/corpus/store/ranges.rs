//! Floor 7: the ranges of numbers in a line of conditions, read and changed as text: what is drawn with the mouse and what
//! is typed are one.

use crate::corpus::query::column::TableColumn;
use crate::corpus::query::filter::{range, split};
use crate::corpus::store::corpus::CorpusTable;

/// From and to, both among them; infinite where an end is open.
pub type Range = (f32, f32);

/// The range of a column in a line of conditions; the last where there are several.
pub fn range_of(line: &str, column: TableColumn, corpus: &CorpusTable) -> Option<Range> {
    split(line).ok()?.iter().rev().find_map(|word| ranged(word, column, corpus))
}

fn ranged(word: &str, column: TableColumn, corpus: &CorpusTable) -> Option<Range> {
    let (name, rest) = word.split_once('=')?;
    let range = range(rest, word).ok()??;
    (!name.ends_with(['<', '>']) && TableColumn::named(name, corpus).ok()? == column).then_some(range)
}

/// The line with another range of a column in the place of the old one, behind the others where there was none; `None`
/// takes it away.
pub fn with_range(line: &str, column: TableColumn, wanted: Option<Range>, corpus: &CorpusTable) -> String {
    // Half a quote is being typed: nothing of it is lost.
    let Ok(words) = split(line) else { return line.to_owned() };
    let mut wanted = wanted.map(|(low, high)| written(column, corpus, low, high));
    let mut kept: Vec<String> = Vec::new();
    for word in words {
        if ranged(&word, column, corpus).is_none() {
            kept.push(word);
        } else if let Some(new) = wanted.take() {
            kept.push(new);
        }
    }
    kept.extend(wanted);
    kept.join(" ")
}

/// A range as it is typed, rounded to the digits that the column is shown with.
pub fn written(column: TableColumn, corpus: &CorpusTable, low: f32, high: f32) -> String {
    let number = |number: f32| if number.is_finite() { text(column, corpus, number) } else { String::new() };
    format!("{}={}..{}", column.name(corpus), number(low), number(high))
}

/// A number of a column without needless zeros.
pub fn text(column: TableColumn, corpus: &CorpusTable, number: f32) -> String {
    let text = column.text(corpus, number);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// The line with one more condition; the same line where it has it already.
pub fn with_condition(line: &str, condition: &str) -> String {
    let line = line.trim();
    if condition.is_empty() || split(line).is_ok_and(|words| words.iter().any(|word| word == condition)) {
        return line.to_owned();
    }
    if line.is_empty() { condition.to_owned() } else { format!("{line} {condition}") }
}

/// A word or several as conditions have them, in quotation marks where that is needed.
pub fn quoted(words: &str) -> String {
    if words.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\\')) {
        format!("\"{}\"", words.replace('"', "\\\""))
    } else {
        words.to_owned()
    }
}
