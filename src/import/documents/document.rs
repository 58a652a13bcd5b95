//! A document while it is read, paragraph by paragraph.

use engine::text::reader::MOST_LINE;

/// Bytes of a text at most, unpacked, and of what is kept of it, where each paragraph costs so many more.
pub(super) const MOST_TEXT: u64 = 1 << 26;
const PARAGRAPH: usize = 64;

/// A document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedDocument {
    pub paragraphs: Vec<String>,
    bytes: usize,
}

impl ImportedDocument {
    pub(super) fn push(&mut self, text: &str) -> Result<(), String> {
        if text.len() > MOST_LINE {
            return Err(format!("has a paragraph of more than {MOST_LINE} bytes; split it"));
        }
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            self.bytes += text.len() + PARAGRAPH;
            self.paragraphs.push(text);
        }
        let is_long = self.bytes as u64 > MOST_TEXT;
        if is_long { Err(format!("has too much text: more than {MOST_TEXT} bytes; split it")) } else { Ok(()) }
    }
}
