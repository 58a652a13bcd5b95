//! Floor 6: what TMX and XLIFF share: XML read event by event with its lines, and the text of a segment without the
//! codes of other programs in it. Imports its room.

use std::path::{Path, PathBuf};

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::error::{Error, Result};
use crate::import::facts::Warnings;
use crate::import::input::{ImportInput, Metered, RecordMeter};

/// The events of a file.
pub struct Xml {
    path: PathBuf,
    reader: Reader<Metered>,
    buffer: Vec<u8>,
    meter: RecordMeter,
}

/// What happens in a file, so far as anyone here wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happens {
    /// An element begins.
    Start(Tag),
    /// An element without anything in it.
    Empty(Tag),
    /// An element of this name ends.
    End(String),
    /// The file ends.
    Eof,
}

/// The name of an element, without its prefix, and its attributes, with theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// Its name.
    pub name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    fn new(start: &BytesStart<'_>) -> Self {
        let mut attributes = start.attributes();
        let pair = |attribute: quick_xml::events::attributes::Attribute<'_>| {
            let value = quick_xml::escape::unescape(attribute.value.as_ref()).map(std::borrow::Cow::into_owned);
            (attribute.key.as_ref().to_owned(), value.unwrap_or_default())
        };
        Self {
            name: start.local_name().as_ref().to_owned(),
            attributes: attributes.with_checks(false).flatten().map(pair).collect(),
        }
    }

    /// An attribute's value.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl Xml {
    /// Opens a file at its start.
    pub fn open(input: &ImportInput) -> Result<Self> {
        let meter = RecordMeter::default();
        let reader = Reader::from_reader(meter.over(input.text()?));
        Ok(Self { path: input.path().into(), reader, buffer: Vec::new(), meter })
    }

    /// A record begins, or has not begun: what was read so far is not kept.
    pub fn begin(&self) {
        self.meter.begin();
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The line that is read at present, from 1.
    pub fn line(&self) -> usize {
        self.meter.line()
    }

    /// The next element that begins or ends.
    pub fn advance(&mut self) -> Result<Happens> {
        loop {
            let happens = match self.event()? {
                Event::Start(start) => Happens::Start(Tag::new(&start)),
                Event::Empty(start) => Happens::Empty(Tag::new(&start)),
                Event::End(end) => Happens::End(end.local_name().as_ref().to_owned()),
                Event::Eof => Happens::Eof,
                _ => continue,
            };
            return Ok(happens);
        }
    }

    fn event(&mut self) -> Result<Event<'_>> {
        self.buffer.clear();
        let line = self.meter.line();
        self.reader.read_event_into(&mut self.buffer).map_err(|error| {
            let malformed = || format!("is no well-formed XML from here on ({error}); what comes before it was read");
            Error::line(&self.path, line, self.meter.too_long().unwrap_or_else(malformed))
        })
    }

    /// Passes over all that is within the element of this name that has just begun.
    pub fn skip(&mut self, name: &str) -> Result<()> {
        let mut depth = 1;
        while depth > 0 {
            self.begin();
            match self.advance()? {
                Happens::Start(tag) if tag.name == name => depth += 1,
                Happens::End(end) if end == name => depth -= 1,
                Happens::Eof => return Err(self.cut(name)),
                _ => {}
            }
        }
        Ok(())
    }

    /// The text of the element of this name that has just begun, without what is within elements named in `codes`.
    pub fn text(&mut self, name: &str, codes: &[&str], warnings: &mut Warnings) -> Result<String> {
        let (mut text, mut within, mut depth) = (String::new(), 0, 1);
        let line = self.line();
        let mut unknown = None;
        while depth > 0 {
            match self.event()? {
                Event::Start(start) => {
                    let tag = start.local_name();
                    depth += usize::from(tag.as_ref() == name);
                    within += usize::from(codes.contains(&tag.as_ref()));
                }
                Event::End(end) => {
                    let tag = end.local_name();
                    depth -= usize::from(tag.as_ref() == name);
                    within -= usize::from(codes.contains(&tag.as_ref()) && within > 0);
                }
                Event::Empty(start) if within == 0 && start.local_name().as_ref() == "cp" => {
                    text.extend(code_point(&Tag::new(&start)));
                }
                Event::Text(part) if within == 0 => text.push_str(&part.xml10_content()),
                Event::CData(part) if within == 0 => text.push_str(&part.xml10_content()),
                Event::GeneralRef(reference) if within == 0 => match resolved(&reference) {
                    Some(letters) => text.push_str(&letters),
                    None => unknown = Some(reference.borrow().into_inner().into_owned()),
                },
                Event::Eof => return Err(self.cut(name)),
                _ => {}
            }
        }
        if let Some(name) = unknown {
            warnings.add(line, format!("has `&{name:.40};`, which stands for nothing here; it is left out"));
        }
        Ok(tidied(&text))
    }

    fn cut(&self, name: &str) -> Error {
        Error::line(&self.path, self.line(), format!("is the last, within `{name}`; the file may be truncated"))
    }
}

/// A character that XML cannot hold, of XLIFF 2: `<cp hex="001F"/>`
fn code_point(tag: &Tag) -> Option<char> {
    tag.get("hex").and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32)
}

fn resolved(reference: &BytesRef<'_>) -> Option<String> {
    match reference.resolve_char_ref() {
        Ok(Some(letter)) => Some(letter.to_string()),
        Ok(None) => resolve_predefined_entity(&reference.borrow().into_inner()).map(str::to_owned),
        Err(_) => None,
    }
}

/// Line breaks are those of the file, not of the text.
fn tidied(text: &str) -> String {
    if text.contains(['\n', '\r']) {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    } else {
        text.trim().to_owned()
    }
}

/// Whether a file's language is the one that is asked for: `en` takes `en-US` too.
pub fn is_language(asked: &str, found: &str) -> bool {
    let (asked, found) = (asked.to_lowercase().replace('_', "-"), found.to_lowercase().replace('_', "-"));
    found.strip_prefix(&asked).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}
