//! A line of conditions with one more, as text.

use crate::query::line::parts;

/// The line with one more condition, which holds whatever the line has; the same line where it has it already.
pub fn with_condition(line: &str, condition: &str) -> String {
    let line = line.trim();
    let parts = parts(line).unwrap_or_default();
    let is_either = parts.iter().any(|part| part == "OR");
    if condition.is_empty() || !is_either && parts.iter().any(|part| part == condition) {
        return line.to_owned();
    }
    match line {
        "" => condition.to_owned(),
        _ if is_either => format!("({line}) {condition}"),
        _ => format!("{line} {condition}"),
    }
}

/// A word or several as conditions have them, in quotation marks where that is needed.
pub fn quoted(words: &str) -> String {
    if words.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\\')) {
        format!("\"{}\"", words.replace('"', "\\\""))
    } else {
        words.to_owned()
    }
}
