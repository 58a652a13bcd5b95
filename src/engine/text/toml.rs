//! Reads TOML that may come from a stranger.

use serde::de::DeserializeOwned;

/// The most opening brackets of a text, those of table headers not counted.
const MOST_BRACKETS: usize = 600;

/// Why a text is not read, and the byte where.
pub struct TomlFault {
    pub at: usize,
    pub message: String,
    pub is_too_deep: bool,
}

/// Reads a text with at most [`MOST_BRACKETS`] opening brackets outside of table headers: the library's parser goes one
/// call deeper at each that is never closed, and would overflow the stack.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, TomlFault> {
    let lines = text.split_inclusive('\n').scan(0, |start, line| {
        *start += line.len();
        Some((*start - line.len(), line))
    });
    let mut brackets = lines
        .filter(|(_, line)| !is_header(line.trim()))
        .flat_map(|(start, line)| line.match_indices(['[', '{']).map(move |(at, _)| start + at));
    if let Some(at) = brackets.nth(MOST_BRACKETS) {
        let message = format!("has more than {MOST_BRACKETS} opening brackets, too many for such a file");
        return Err(TomlFault { at, message, is_too_deep: true });
    }
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        TomlFault { at, message: error.message().to_owned(), is_too_deep: false }
    })
}

/// `[name]` or `[[name]]` with bare keys: brackets that are closed on their own line.
fn is_header(line: &str) -> bool {
    let inside = |open, close| line.strip_prefix(open).and_then(|rest: &str| rest.strip_suffix(close));
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    inside("[[", "]]").or_else(|| inside("[", "]")).is_some_and(|name| name.chars().all(is_bare))
}
