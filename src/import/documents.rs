//! Documents as paragraphs, whatever keeps them: plain text, HTML, and DOCX of word processors. What is no text
//! (scripts, deleted words, notes of other programs) is left out.

pub mod align;
pub mod beads;
mod document;
mod docx;
mod html;

use std::io::Read as _;
use std::path::Path;

use crate::{documents::document::MOST_TEXT, input::ImportInput};
use engine::error::{Error, Result};
use engine::text::reader::require_file;

pub use crate::documents::document::ImportedDocument;

/// What parts paragraphs in a plain text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParagraphBreaks {
    /// Blank lines where there are any, else every line.
    #[default]
    Guess,
    /// Blank lines: lines are broken wherever they are full.
    Blank,
    Lines,
}

impl ImportedDocument {
    /// Reads a document; the error names the file.
    pub fn open(path: &Path, breaks: ParagraphBreaks) -> Result<Self> {
        require_file(path)?;
        let start = start(path)?;
        if start.starts_with(b"%PDF") {
            let message =
                "is a PDF, which says where letters stand and not what they say; save it as text, DOCX or HTML";
            return Err(Error::file(path, message));
        }
        let document = if start.starts_with(b"PK\x03\x04") {
            docx::read(path)?
        } else {
            let input = ImportInput::open(path, None)?;
            let mut text = String::new();
            let read = input.text()?.take(MOST_TEXT + 1).read_to_string(&mut text);
            read.map_err(|error| Error::io(path, &error))?;
            if text.len() as u64 > MOST_TEXT {
                return Err(Error::file(path, format!("is longer than {MOST_TEXT} bytes when unpacked; split it")));
            }
            let document = if is_html(&input) { html::read(&text) } else { plain(&text, breaks) };
            document.map_err(|why| Error::file(path, why))?
        };
        if document.paragraphs.is_empty() {
            return Err(Error::file(path, "has no text; give a document with sentences"));
        }
        Ok(document)
    }
}

fn start(path: &Path) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| Error::io(path, &error);
    let mut start = Vec::new();
    std::fs::File::open(path).map_err(failed)?.take(4).read_to_end(&mut start).map_err(failed)?;
    Ok(start)
}

fn is_html(input: &ImportInput) -> bool {
    let (name, head) = (input.name(), input.head());
    let head = head.trim_start().to_lowercase();
    let is_named =
        Path::new(&name).extension().is_some_and(|ending| ["html", "htm", "xhtml"].iter().any(|own| ending == *own));
    is_named || head.starts_with("<!doctype html") || head.starts_with("<html")
}

fn plain(text: &str, breaks: ParagraphBreaks) -> std::result::Result<ImportedDocument, String> {
    let has_blank = || text.trim().lines().any(|line| line.trim().is_empty());
    let mut document = ImportedDocument::default();
    if breaks == ParagraphBreaks::Lines || breaks == ParagraphBreaks::Guess && !has_blank() {
        text.lines().try_for_each(|line| document.push(line))?;
        return Ok(document);
    }
    let mut paragraph = String::new();
    for line in text.lines().chain([""]) {
        if line.trim().is_empty() {
            document.push(&std::mem::take(&mut paragraph))?;
        }
        paragraph.push_str(line);
        paragraph.push('\n');
    }
    Ok(document)
}
