//! Alignments by hand as XML: for each sentence its two texts and its links, counted from 1.
//!
//! ```xml
//! <s id="7"><english>the old mill</english><czech>stary mlyn</czech><sure>2-1 3-2</sure><possible>1-2</possible></s>
//! ```
//!
//! The first text is the source, whatever the names of the elements. Imports its room.

use crate::facts::{Facts, ImportFact, Warnings};
use crate::format::{FileSample, FormatReader};
use crate::formats::xml::{Xml, XmlEvent};
use crate::options::{Base, ImportOptions, LinkOrder};
use crate::record::{ImportedText, Record};
use crate::{formats::links::cell, input::ImportInput};
use engine::error::Result;
use engine::text::{links::Links, readable::tokens, words::words};

/// Sentences with links in elements.
pub fn sniff(sample: &FileSample<'_>) -> u8 {
    let has = |text: &str| sample.head.contains(text);
    if sample.first().starts_with('<') && has("<s ") && (has("<sure>") || has("<sure/>") || has("<possible>")) {
        95
    } else {
        0
    }
}

pub fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    let base = options.base.unwrap_or(Base::One);
    let order = options.order.unwrap_or(LinkOrder::SourceFirst);
    facts.base = ImportFact::known(base, if options.base.is_some() { "as was asked" } else { "as such files count" });
    facts.order =
        ImportFact::known(order, if options.order.is_some() { "as was asked" } else { "the first text is the source" });
    Ok(Box::new(XmlReader { xml: Xml::open(input)?, base, order, count: 0 }))
}

struct XmlReader {
    xml: Xml,
    base: Base,
    order: LinkOrder,
    count: usize,
}

impl FormatReader for XmlReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        loop {
            self.xml.begin();
            match self.xml.advance()? {
                XmlEvent::Start(tag) if tag.name == "s" => {
                    self.count += 1;
                    let id = tag.get("id").map(str::to_owned);
                    return self.sentence(id, warnings).map(Some);
                }
                XmlEvent::Eof => return Ok(None),
                _ => {}
            }
        }
    }
}

impl XmlReader {
    fn sentence(&mut self, id: Option<String>, warnings: &mut Warnings) -> Result<Record> {
        let line = self.xml.line();
        let (mut texts, mut sure, mut possible) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            match self.xml.advance()? {
                XmlEvent::Start(tag) => {
                    let text = self.xml.text(&tag.name, &[], warnings)?;
                    let list = match tag.name.as_str() {
                        "sure" => &mut sure,
                        "possible" => &mut possible,
                        _ => {
                            texts.push(text);
                            continue;
                        }
                    };
                    match cell(&text, self.base) {
                        Ok(links) => list.extend(links.all().into_iter().map(|(link, _)| link)),
                        Err(why) => warnings.add(self.xml.line(), format!("{why}; these links are left out")),
                    }
                }
                XmlEvent::End(name) if name == "s" => break,
                XmlEvent::Eof => break,
                XmlEvent::Empty(_) | XmlEvent::End(_) => {}
            }
        }
        let mut gold = Links::new(sure, possible);
        let mut texts = texts.into_iter().map(|text| ImportedText { tokens: Some(tokens(&text)), text });
        let (mut source, mut reference) = (texts.next(), texts.next());
        if self.order == LinkOrder::TargetFirst {
            gold = gold.turned();
            std::mem::swap(&mut source, &mut reference);
        }
        let count = |text: &Option<ImportedText>| text.as_ref().map_or(usize::MAX, |text| words(&text.text).count());
        let (s, t) = (count(&source), count(&reference));
        let is_inside = |gold: &Links| gold.all().iter().all(|(link, _)| link.source < s && link.target < t);
        if !is_inside(&gold) {
            let message =
                format!("has a link beyond its {s} and {t} words; the links of sentence {} are left out", self.count);
            warnings.add(line, message);
            gold = Links::default();
        }
        Ok(Record { sentence: self.count, line, id, source, reference, gold: Some(gold), ..Record::default() })
    }
}
