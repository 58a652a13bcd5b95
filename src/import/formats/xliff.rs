//! XLIFF 1.2 (OASIS 2008) and 2.0 (OASIS 2014): source and target of each unit or segment. Codes of other programs
//! within a text are left out, what they mark stays; suggestions next to a unit are skipped.

use crate::facts::{Facts, Warnings};
use crate::format::{FileSample, FormatReader};
use crate::formats::xml::{Tag, Xml, XmlEvent, likeness};
use crate::options::{ImportOptions, Role};
use crate::{input::ImportInput, record::Record};
use engine::error::{Error, Result};

const CODES: &[&str] = &["bpt", "ept", "it", "ph", "sub"];
/// Elements with sources and targets that are no translation of the document.
const ASIDE: &[&str] = &["alt-trans", "matches", "glossary", "ignorable", "seg-source", "bin-unit"];

pub fn sniff(sample: &FileSample<'_>) -> u8 {
    if sample.first().trim_start().starts_with('<') && sample.head.contains("<xliff") { 95 } else { 0 }
}

pub fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    let mut peeked = Xml::open(input)?;
    let (mut version, mut languages) = (None, (None, None));
    loop {
        peeked.begin();
        match peeked.advance()? {
            XmlEvent::Start(tag) if tag.name == "xliff" => {
                version = tag.get("version").map(str::to_owned);
                languages = (tag.get("srcLang").map(str::to_owned), tag.get("trgLang").map(str::to_owned));
            }
            XmlEvent::Start(tag) if tag.name == "file" => {
                let own = |name: &str| tag.get(name).map(str::to_owned);
                languages = (languages.0.or(own("source-language")), languages.1.or(own("target-language")));
                break;
            }
            XmlEvent::Eof => return Err(Error::file(input.path(), "has no `file` element and nothing to read")),
            _ => {}
        }
    }
    facts.notes.extend(version.map(|version| format!("XLIFF {version}.")));
    let (source, target) = options.languages.clone();
    let wanted = (source.or(languages.0), target.or(languages.1));
    facts.languages = wanted.clone().0.zip(wanted.clone().1);
    Ok(Box::new(XliffReader {
        xml: Xml::open(input)?,
        wanted,
        unit: String::new(),
        open: None,
        role: options.target_role(),
        count: 0,
    }))
}

struct XliffReader {
    xml: Xml,
    wanted: (Option<String>, Option<String>),
    unit: String,
    open: Option<Record>,
    role: Role,
    count: usize,
}

impl FormatReader for XliffReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        loop {
            if self.open.is_none() {
                self.xml.begin();
            }
            match self.xml.advance()? {
                XmlEvent::Start(tag) => self.start(&tag, warnings)?,
                XmlEvent::End(name) if name == "trans-unit" || name == "segment" => {
                    if let Some(record) = self.open.take() {
                        if record.source.is_none() {
                            warnings.add(record.line, "begins a unit without a source");
                        }
                        return Ok(Some(record));
                    }
                }
                XmlEvent::Eof if self.open.is_some() => {
                    let message =
                        "is the last, within a unit; the file may be truncated, and what comes before it was read";
                    return Err(Error::line(self.xml.path(), self.xml.line(), message));
                }
                XmlEvent::Eof => return Ok(None),
                XmlEvent::Empty(_) | XmlEvent::End(_) => {}
            }
        }
    }
}

impl XliffReader {
    fn start(&mut self, tag: &Tag, warnings: &mut Warnings) -> Result<()> {
        let id = tag.get("id").unwrap_or_default();
        match tag.name.as_str() {
            name if ASIDE.contains(&name) => self.xml.skip(name)?,
            "file" => {
                let other = |name: &str, wanted: &Option<String>| {
                    let (own, wanted) = tag.get(name).zip(wanted.as_deref())?;
                    (likeness(wanted, own) == 0).then(|| own.to_owned())
                };
                let other =
                    other("target-language", &self.wanted.1).or_else(|| other("source-language", &self.wanted.0));
                if let Some(other) = other {
                    let (line, advice) = (self.xml.line(), "in `analyse` --languages takes them");
                    warnings.add(
                        line,
                        format!("begins a file of another language, {other}; its texts are left out, and {advice}"),
                    );
                    self.xml.skip("file")?;
                }
            }
            "trans-unit" => self.begin(id.to_owned()),
            "unit" => id.clone_into(&mut self.unit),
            "segment" => {
                let unit = self.unit.as_str();
                self.begin(if id.is_empty() { unit.to_owned() } else { format!("{unit}/{id}") });
            }
            name @ ("source" | "target") => {
                let text = self.xml.text(name, CODES, warnings)?;
                self.side(tag, text);
            }
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, id: String) {
        self.count += 1;
        let (sentence, line) = (self.count, self.xml.line());
        let id = Some(id).filter(|id| !id.is_empty());
        self.open = Some(Record { sentence, line, id, ..Record::default() });
    }

    fn side(&mut self, tag: &Tag, text: String) {
        let Some(record) = &mut self.open else { return };
        if tag.name == "source" {
            record.put(&Role::Source, text);
            return;
        }
        record.extra.extend(tag.get("state").map(|state| ("state".to_owned(), state.to_owned())));
        // An empty reference is one that nobody has made yet.
        if self.role != Role::Reference || !text.is_empty() {
            record.put(&self.role, text);
        }
    }
}
