//! How long a function and how wide a public struct may be.

use std::ops::Range;

use crate::{Fault, Source, is_word};

/// The longest function, in lines from `fn` to its closing brace.
pub const LONGEST_FUNCTION: usize = 80;

/// The most fields of a public struct.
pub const MOST_FIELDS: usize = 20;

/// Functions of tests count too.
pub fn functions(source: &Source) -> Vec<Fault> {
    let begins = source.code.match_indices("fn ").filter(|(at, _)| !source.code[..*at].ends_with(is_word));
    let lines = |(at, _): (usize, &str)| {
        let code = &source.code[at..];
        let lines = code[..braces(code)?.end].lines().count();
        let say = || format!("a function of {lines} lines; split what has more than {LONGEST_FUNCTION}");
        (lines > LONGEST_FUNCTION).then(|| (line_of(source, at), say()))
    };
    begins.filter_map(lines).collect()
}

pub fn fields(source: &Source) -> Vec<Fault> {
    let begins = source.library().match_indices("pub struct ");
    let fields = |(at, _): (usize, &str)| {
        let code = &source.code[at..];
        let fields = outermost_colons(&code[braces(code)?]);
        let say = || format!("a struct of {fields} fields; group what has more than {MOST_FIELDS}");
        (fields > MOST_FIELDS).then(|| (line_of(source, at), say()))
    };
    begins.filter_map(fields).collect()
}

fn line_of(source: &Source, at: usize) -> usize {
    1 + source.code[..at].matches('\n').count()
}

/// From the first brace of an item that `code` begins with to behind its last one; nothing where a semicolon ends it.
fn braces(code: &str) -> Option<Range<usize>> {
    let (mut depth, mut from) = (0_usize, 0);
    for (at, c) in code.char_indices() {
        match c {
            ';' if depth == 0 => return None,
            '(' | '[' | '{' => {
                if depth == 0 && c == '{' {
                    from = at;
                }
                depth += 1;
            }
            ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 && c == '}' {
                    return Some(from..at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Colons that are no part of a path and stand in the outermost braces: one a field.
fn outermost_colons(code: &str) -> usize {
    let (mut depth, mut colons) = (0_usize, 0);
    for c in code.replace("::", "").chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ':' => colons += usize::from(depth == 1),
            _ => {}
        }
    }
    colons
}
