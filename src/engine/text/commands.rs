//! Letters of a text that a terminal or a typesetter obeys instead of showing. Imports floor 0.

use crate::error::{Error, Result};

pub fn is_turn(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// A control character, those above ASCII included, or a change of direction.
pub fn is_command(c: char) -> bool {
    c.is_control() || is_turn(c)
}

/// A line of JSON in which they are escaped; whoever reads it gets the same texts. `f32` come back bit for bit.
pub fn json(record: &impl serde::Serialize) -> Result<String> {
    let json = serde_json::to_string(record).map_err(|error| Error::Internal(error.to_string()))?;
    if !json.contains(is_command) {
        return Ok(json);
    }
    let escape = |c: char| if is_command(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Ok(json.chars().map(escape).collect())
}
