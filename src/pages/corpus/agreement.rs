//! Floor 11: two annotators compared, as page Corpus shows it. A leaf.

/// A condition that shows where two annotators differ.
pub fn condition(first: &str, second: &str) -> String {
    let names = format!("{first},{second}");
    if names.contains(char::is_whitespace) { format!("differs:\"{names}\"") } else { format!("differs:{names}") }
}
