//! The paragraphs of DOCX: a zip package whose `word/document.xml` has paragraphs (`p`) of runs (`r`) with texts (`t`).
//! What was deleted or moved away, hidden letters, codes of fields (`instrText`), headers and notes are left out.

use std::collections::{HashMap, HashSet};
use std::io::{BufReader, Read as _};
use std::{fs::File, path::Path};

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, escape::resolve_predefined_entity};
use zip::ZipArchive;

use crate::documents::document::ImportedDocument;
use engine::error::{Error, Result};

const TEXT: &str = "word/document.xml";
const STYLES: &str = "word/styles.xml";
const MOST: u64 = 1 << 27;
/// Elements whose texts are not of the document: fallbacks, deleted and moved text, former formats, phonetic guides.
const PAST: &[&str] = &["Fallback", "del", "moveFrom", "rPrChange", "pPrChange", "rt"];

/// The paragraphs of a package.
pub fn read(path: &Path) -> Result<ImportedDocument> {
    let file = File::open(path).map_err(|error| Error::io(path, &error))?;
    let damaged =
        |why: String| Error::file(path, format!("could not be unpacked ({why}); save it again as DOCX, or as text"));
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(error.to_string()))?;
    if archive.index_for_name(TEXT).is_none() {
        return Err(Error::file(path, "is a zip package, but no DOCX; save the document as DOCX, HTML or text"));
    }
    let mut unpacked = |name: &str| {
        let mut xml = String::new();
        let entry = archive.by_name(name).map_err(|error| damaged(error.to_string()))?;
        entry.take(MOST + 1).read_to_string(&mut xml).map_err(|error| damaged(error.to_string()))?;
        if xml.len() as u64 > MOST {
            return Err(Error::file(path, format!("has more than {MOST} bytes in {name}; split it")));
        }
        Ok(xml)
    };
    let styles = unpacked(STYLES).map_or_else(|_| HashSet::new(), |xml| hidden_styles(&xml));
    paragraphs(&unpacked(TEXT)?, &styles).map_err(|why| Error::file(path, why))
}

/// An attribute, whatever its prefix.
fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let is_it = |key: &str| key.rsplit(':').next() == Some(name);
    let found = tag.attributes().with_checks(false).flatten().find(|one| is_it(one.key.as_ref()))?;
    Some(found.value.into_owned())
}

/// What `vanish` says of letters: that they are hidden, or, by `w:val="0"`, that they are not.
fn vanishes(tag: &BytesStart<'_>) -> bool {
    !attribute(tag, "val").is_some_and(|value| ["0", "false", "off"].contains(&value.as_str()))
}

/// The most styles that stand on each other in Word.
const DEEPEST: usize = 11;

/// The styles whose letters are hidden, by themselves or by what they are based on, as far as the file of styles is sound.
fn hidden_styles(xml: &str) -> HashSet<String> {
    let (mut reader, mut found, mut style) = (Reader::from_str(xml), HashMap::new(), None);
    let mut based = Vec::new();
    while let Ok(event) = reader.read_event() {
        let (Event::Start(tag) | Event::Empty(tag)) = event else {
            if event == Event::Eof {
                break;
            }
            continue;
        };
        match tag.local_name().as_ref() {
            "style" => style = attribute(&tag, "styleId"),
            "vanish" => found.extend(style.clone().map(|style| (style, vanishes(&tag)))),
            "basedOn" => based.extend(style.clone().zip(attribute(&tag, "val"))),
            _ => {}
        }
    }
    for (style, on) in std::iter::repeat_n(&based, DEEPEST).flatten() {
        if let Some(is_hidden) = found.get(on).copied() {
            found.entry(style.clone()).or_insert(is_hidden);
        }
    }
    found.into_iter().filter(|(_, is_hidden)| *is_hidden).map(|(style, _)| style).collect()
}

fn paragraphs(xml: &str, styles: &HashSet<String>) -> std::result::Result<ImportedDocument, String> {
    let mut reader = Reader::from_str(xml);
    let (mut document, mut paragraph, mut is_text) = (ImportedDocument::default(), String::new(), false);
    let mut past = 0;
    // whether the letters of the paragraph, and of each run that is open, are hidden: a box with paragraphs lies within a run
    let (mut is_hidden, mut runs): (bool, Vec<Option<bool>>) = (false, Vec::new());
    loop {
        let event = reader.read_event();
        let event = event.map_err(|why| format!("has no well-formed {TEXT} ({why}); save it again"))?;
        let (Event::Start(tag) | Event::Empty(tag)) = &event else {
            match event {
                Event::End(end) => match end.local_name().as_ref() {
                    "t" => is_text = false,
                    "r" => drop(runs.pop()),
                    "p" => document.push(&std::mem::take(&mut paragraph))?,
                    name => past -= i32::from(PAST.contains(&name)),
                },
                Event::Text(text) if is_text => paragraph.push_str(&text.xml10_content()),
                Event::CData(text) if is_text => paragraph.push_str(&text.xml10_content()),
                Event::GeneralRef(reference) if is_text => match reference.resolve_char_ref() {
                    Ok(Some(letter)) => paragraph.push(letter),
                    _ => {
                        paragraph
                            .push_str(resolve_predefined_entity(&reference.borrow().into_inner()).unwrap_or_default());
                    }
                },
                Event::Eof => return Ok(document),
                _ => {}
            }
            continue;
        };
        let is_open = matches!(event, Event::Start(_));
        let is_seen = past == 0 && !runs.last().copied().flatten().unwrap_or(is_hidden);
        match tag.local_name().as_ref() {
            "t" => is_text = is_open && is_seen,
            "r" if is_open => runs.push(None),
            "p" if is_open => {
                is_hidden = false;
                document.push(&std::mem::take(&mut paragraph))?;
            }
            "tab" | "br" | "cr" if is_seen => paragraph.push(' '),
            "noBreakHyphen" if is_seen => paragraph.push('-'),
            "pStyle" if past == 0 => is_hidden = attribute(tag, "val").is_some_and(|style| styles.contains(&style)),
            name @ ("vanish" | "rStyle") if past == 0 => {
                let hides = if name == "vanish" {
                    Some(vanishes(tag))
                } else {
                    attribute(tag, "val").filter(|style| styles.contains(style)).map(|_| true)
                };
                // of the sign at the end of a paragraph it says nothing of the letters
                if let Some(run) = runs.last_mut() {
                    *run = hides.or(*run);
                }
            }
            name => past += i32::from(is_open && PAST.contains(&name)),
        }
    }
}
