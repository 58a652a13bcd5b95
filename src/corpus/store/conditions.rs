//! Floor 7: a line of conditions with one more, as text.

use crate::corpus::query::filter::split;

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
