//! What TMX and XLIFF share: XML read event by event with its lines, and the text of a segment without the codes of
//! other programs in it.

use std::path::{Path, PathBuf};

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, escape::resolve_predefined_entity};

use crate::facts::Warnings;
use crate::input::{ImportInput, Metered, RecordMeter};
use engine::error::{Error, Result};
use engine::text::unspaced::is_unspaced;

/// The events of a file.
pub struct Xml {
    path: PathBuf,
    reader: Reader<Metered>,
    buffer: Vec<u8>,
    meter: RecordMeter,
}

/// What happens in a file, so far as anyone here wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum XmlEvent {
    Start(Tag),
    Empty(Tag),
    End(String),
    Eof,
}

/// The name of an element, without its prefix, and its attributes, with theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag {
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

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn line(&self) -> usize {
        self.meter.line()
    }

    pub fn advance(&mut self) -> Result<XmlEvent> {
        loop {
            let happens = match self.event()? {
                Event::Start(start) => XmlEvent::Start(Tag::new(&start)),
                Event::Empty(start) => XmlEvent::Empty(Tag::new(&start)),
                Event::End(end) => XmlEvent::End(end.local_name().as_ref().to_owned()),
                Event::Eof => XmlEvent::Eof,
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
                XmlEvent::Start(tag) if tag.name == name => depth += 1,
                XmlEvent::End(end) if end == name => depth -= 1,
                XmlEvent::Eof => return Err(self.cut(name)),
                _ => {}
            }
        }
        Ok(())
    }

    /// The text of the element that has just begun, without elements in `codes`; a code that stood for a space leaves one.
    pub fn text(&mut self, name: &str, codes: &[&str], warnings: &mut Warnings) -> Result<String> {
        let (mut text, mut within, mut depth) = (Spaced::default(), 0, 1);
        let line = self.line();
        let (mut unknown, mut code, mut outer) = (None, String::new(), Tag::default());
        while depth > 0 {
            let event = self.event()?;
            let part = match &event {
                Event::Text(part) => Some(part.xml10_content().into_owned()),
                Event::CData(part) => Some(part.xml10_content().into_owned()),
                Event::GeneralRef(reference) => resolved(reference).or_else(|| {
                    unknown = Some(reference.borrow().into_inner().into_owned());
                    None
                }),
                _ => None,
            };
            if let Some(part) = part {
                if within > 0 { code.push_str(&part) } else { text.push(&part) }
            }
            match event {
                Event::Start(start) => {
                    let tag = Tag::new(&start);
                    depth += usize::from(tag.name == name);
                    let is_code = codes.contains(&tag.name.as_str());
                    if within == 0 && !is_code {
                        text.leave(&tag, "");
                    } else if within == 0 {
                        (outer, code) = (tag, String::new());
                    }
                    within += usize::from(is_code);
                }
                Event::End(end) => {
                    let tag = end.local_name();
                    depth -= usize::from(tag.as_ref() == name);
                    if within > 0 && codes.contains(&tag.as_ref()) {
                        within -= 1;
                        if within == 0 {
                            text.leave(&outer, &code);
                        }
                    }
                }
                Event::Empty(start) if within == 0 => {
                    let tag = Tag::new(&start);
                    match code_point(&tag).filter(|_| tag.name == "cp") {
                        Some(letter) => text.push(letter.encode_utf8(&mut [0; 4])),
                        None => text.leave(&tag, ""),
                    }
                }
                Event::Eof => return Err(self.cut(name)),
                _ => {}
            }
        }
        if let Some(name) = unknown {
            warnings.add(line, format!("has `&{name:.40};`, which stands for nothing here; it is left out"));
        }
        Ok(tidied(&text.text))
    }

    fn cut(&self, name: &str) -> Error {
        let message =
            format!("is the last, within `{name}`; the file may be truncated, and what comes before it was read");
        Error::line(&self.path, self.line(), message)
    }
}

/// A character that XML cannot hold, of XLIFF 2: `<cp hex="001F"/>`
fn code_point(tag: &Tag) -> Option<char> {
    tag.get("hex").and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32)
}

fn resolved(reference: &BytesRef<'_>) -> Option<String> {
    match reference.resolve_char_ref() {
        Ok(Some(letter)) => Some(letter.to_string()),
        // HTML's, which programs leave in
        Ok(None) if *reference.borrow().into_inner() == *"nbsp" => Some("\u{a0}".to_owned()),
        Ok(None) => resolve_predefined_entity(&reference.borrow().into_inner()).map(str::to_owned),
        Err(_) => None,
    }
}

fn tidied(text: &str) -> String {
    if text.contains(['\n', '\r']) {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    } else {
        text.trim().to_owned()
    }
}

#[derive(Default)]
struct Spaced {
    text: String,
    has_gap: bool,
    is_left: bool,
}

impl Spaced {
    fn push(&mut self, part: &str) {
        let is_left = std::mem::take(&mut self.is_left) && self.text.ends_with(char::is_whitespace);
        let part = if is_left { part.trim_start() } else { part };
        let Some(first) = part.chars().next() else { return };
        let opens = matches!(first, '(' | '[' | '{' | '<' | '"' | '\'' | '-' | '$' | '#' | '&');
        let is_sign = !first.is_alphanumeric() && (first.is_ascii_punctuation() && !opens || is_unspaced(first));
        if self.has_gap
            && !first.is_whitespace()
            && !is_sign
            && !self.text.is_empty()
            && !self.text.ends_with(char::is_whitespace)
        {
            self.text.push(' ');
        }
        self.has_gap = false;
        self.text.push_str(part);
    }

    fn leave(&mut self, tag: &Tag, code: &str) {
        self.has_gap |= is_gap(tag, code);
        self.is_left = true;
    }
}

const BREAKS: &[&str] = &[
    "br", "p", "div", "li", "ul", "ol", "td", "th", "tr", "table", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "tab",
    "lb", "pb", "w:br", "w:tab", "w:p", "x-br", "x-p", "x-li", "x-td", "xlf:lb", "xlf:pb", "x-html-br",
    "text:line-break", "text:tab",
];

/// Whether an element stands for a space: a break or a placeholder, not formatting.
fn is_gap(tag: &Tag, code: &str) -> bool {
    let about = |name: &str| tag.get(name).unwrap_or_default().to_lowercase();
    let (kinds, code) = (["ctype", "type", "subType"].map(about), code.trim().to_lowercase());
    let shown = ["equiv-text", "equiv", "disp"].map(about).into_iter().find(|shown| !shown.is_empty());
    let code = if code.is_empty() { shown.unwrap_or_default() } else { code };
    let is_part = |c: char| c.is_alphanumeric() || c == ':' || c == '-';
    let named = code.trim_start_matches(['<', '/']).split(|c| !is_part(c)).next().unwrap_or_default();
    let is_break = |name: &str| BREAKS.contains(&name);
    if code.starts_with('<') && is_break(named) || kinds.iter().any(|kind| is_break(kind)) {
        return true;
    }
    if ["\\par", "\\line", "\\tab"].iter().any(|code_of| code.contains(code_of)) {
        return true;
    }
    let is_alone = matches!(tag.name.as_str(), "ph" | "x" | "ut");
    is_alone && kinds.iter().all(String::is_empty) && !code.starts_with(['<', '\\', '}']) && !code.starts_with("{\\")
}

/// Similarity of languages: 3 equal, 2 one without its country, 1 other countries, 0 another language or script.
pub fn likeness(one: &str, other: &str) -> usize {
    let [one, other] = [one, other].map(|language| language.to_lowercase().replace('_', "-"));
    let subtags = |language: &str| language.split('-').map(str::to_owned).collect::<Vec<_>>();
    let (one, other) = (subtags(&one), subtags(&other));
    let script = |subtags: &[String]| subtags.iter().skip(1).find(|subtag| subtag.len() == 4).cloned();
    match (script(&one), script(&other)) {
        _ if one == other => 3,
        _ if one[0] != other[0] => 0,
        _ if one.starts_with(&other) || other.starts_with(&one) => 2,
        (Some(one), Some(other)) if one != other => 0,
        _ => 1,
    }
}
