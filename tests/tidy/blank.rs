//! Code without comments and the insides of literals, so that a word in a sentence never counts.

use crate::is_word;

/// Blanks comments and the insides of string and character literals; newlines stay where they are.
pub fn blank(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = skip(rest, out.chars().next_back());
        if skipped == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            out.extend(rest[..skipped].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[skipped..];
        }
    }
    out
}

/// Length in bytes of the comment or literal that `rest` begins with, or 0.
fn skip(rest: &str, before: Option<char>) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return nested_comment(rest);
    }
    if rest.starts_with('"') {
        return escaped(rest, '"');
    }
    if rest.starts_with('r') && !before.is_some_and(|c| is_word(c) && c != 'b') {
        return raw_string(rest);
    }
    if rest.starts_with('\'') {
        return character(rest);
    }
    0
}

fn nested_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// A literal that begins and ends with `quote`, backslashes escaping.
fn escaped(rest: &str, quote: char) -> usize {
    let mut escape = false;
    for (at, c) in rest.char_indices().skip(1) {
        if !escape && c == quote {
            return at + c.len_utf8();
        }
        escape = !escape && c == '\\';
    }
    rest.len()
}

fn raw_string(rest: &str) -> usize {
    let hashes = rest[1..].chars().take_while(|c| *c == '#').count();
    if !rest[1 + hashes..].starts_with('"') {
        return 0;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let body = 2 + hashes;
    rest[body..].find(&end).map_or(rest.len(), |at| body + at + end.len())
}

/// `'x'` and `'\n'`, but not the lifetime `'a`.
fn character(rest: &str) -> usize {
    let mut chars = rest.chars().skip(1);
    match (chars.next(), chars.next()) {
        (Some('\\'), _) => escaped(rest, '\''),
        (Some(c), Some('\'')) => c.len_utf8() + 2,
        _ => 0,
    }
}

#[test]
fn blanking_keeps_every_line() {
    let text = "a // b\n\"c\nd\" /* e\n*/ 'f' '\\'' &'g h r\"i\" é\n";
    let code = blank(text);
    assert_eq!(code.lines().count(), text.lines().count());
    assert_eq!(code.split_whitespace().collect::<String>(), "a&'ghé");
}
