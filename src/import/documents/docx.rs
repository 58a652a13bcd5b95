//! Floor 6: the paragraphs of DOCX: a zip package whose `word/document.xml` has paragraphs (`p`) of runs with texts (`t`). Deleted
//! words (`delText`), codes of fields (`instrText`), headers and notes are other elements or files, and left out. Imports its room.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;
use zip::ZipArchive;

use crate::error::{Error, Result};
use crate::import::documents::ImportedDocument;

/// The text of a document in its package.
const TEXT: &str = "word/document.xml";
/// Bytes of it at most, unpacked.
const MOST: u64 = 1 << 29;

/// The paragraphs of a package.
pub fn read(path: &Path) -> Result<ImportedDocument> {
    let file = File::open(path).map_err(|error| Error::io(path, &error))?;
    let damaged =
        |why: String| Error::file(path, format!("could not be unpacked ({why}); save it again as DOCX, or as text"));
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(error.to_string()))?;
    if archive.index_for_name(TEXT).is_none() {
        return Err(Error::file(path, "is a zip package, but no DOCX; save the document as DOCX, HTML or text"));
    }
    let entry = archive.by_name(TEXT).map_err(|error| damaged(error.to_string()))?;
    let mut xml = String::new();
    entry.take(MOST + 1).read_to_string(&mut xml).map_err(|error| damaged(error.to_string()))?;
    if xml.len() as u64 > MOST {
        return Err(Error::file(path, format!("has more than {MOST} bytes of text; split it")));
    }
    paragraphs(&xml).map_err(|why| Error::file(path, format!("has no well-formed {TEXT} ({why}); save it again")))
}

fn paragraphs(xml: &str) -> std::result::Result<ImportedDocument, quick_xml::Error> {
    let mut reader = Reader::from_str(xml);
    let (mut document, mut paragraph, mut is_text) = (ImportedDocument::default(), String::new(), false);
    // texts in boxes lie within paragraphs, and come twice: as they are, and for old programs
    let mut fallbacks = 0;
    loop {
        match reader.read_event()? {
            Event::Start(start) => match start.local_name().as_ref() {
                "t" => is_text = fallbacks == 0,
                "Fallback" => fallbacks += 1,
                "p" => document.push(&std::mem::take(&mut paragraph)),
                _ => {}
            },
            Event::Empty(start) => match start.local_name().as_ref() {
                "tab" | "br" | "cr" => paragraph.push(' '),
                "noBreakHyphen" => paragraph.push('-'),
                _ => {}
            },
            Event::End(end) => match end.local_name().as_ref() {
                "t" => is_text = false,
                "Fallback" => fallbacks -= 1,
                "p" => document.push(&std::mem::take(&mut paragraph)),
                _ => {}
            },
            Event::Text(text) if is_text => paragraph.push_str(&text.xml10_content()),
            Event::CData(text) if is_text => paragraph.push_str(&text.xml10_content()),
            Event::GeneralRef(reference) if is_text => match reference.resolve_char_ref() {
                Ok(Some(letter)) => paragraph.push(letter),
                _ => {
                    paragraph.push_str(resolve_predefined_entity(&reference.borrow().into_inner()).unwrap_or_default());
                }
            },
            Event::Eof => return Ok(document),
            _ => {}
        }
    }
}
