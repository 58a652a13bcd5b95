//! The paragraphs of HTML, read as browsers read it (`html5gum`).

use std::sync::LazyLock;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};
use regex::Regex;

use crate::documents::document::ImportedDocument;

/// Elements that stand within a line; any other ends a paragraph.
const WITHIN: &[&str] = &[
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "button", "cite", "code", "data", "dfn", "em", "font", "i",
    "img", "ins", "kbd", "label", "mark", "nobr", "q", "rb", "ruby", "s", "samp", "small", "span", "strike", "strong",
    "sub", "sup", "time", "tt", "u", "var", "wbr",
];
/// Elements whose text is no text of the document: it was deleted, is read aloud, or stands for what a browser cannot show.
const HIDDEN: &[&str] = &[
    "head", "title", "script", "style", "template", "noscript", "noframes", "iframe", "textarea", "select", "datalist",
    "svg", "math", "rt", "rp", "rtc", "del", "audio", "video", "canvas", "object",
];

/// Elements that have nothing in them, and no end.
const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];
/// Elements that end where the next of some begins: their ends may be left out.
const ENDED: &[(&str, &[&str])] = &[
    ("li", &["li"]),
    ("dt", &["dt", "dd"]),
    ("dd", &["dt", "dd"]),
    ("tr", &["tr", "tbody"]),
    ("td", &["td", "th", "tr"]),
    ("th", &["td", "th", "tr"]),
    ("head", &["body"]),
    ("title", &["body"]),
];
/// What marks of notes are called, or lead to.
const NOTES: &[&str] = &["footnote", "noteref", "fnref", "_ftn", "cite_note", "cite-note"];

/// The most quoted attributes of an element: the tokenizer calls itself for each.
const MOST_ATTRIBUTES: usize = 4000;
static ATTRIBUTE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"[^>=]*=+\s*(?:"[^"]*"|'[^']*')"#).ok());

fn has_too_many(page: &str) -> bool {
    let (mut count, mut end) = (0, 0);
    ATTRIBUTE.iter().flat_map(|attribute| attribute.find_iter(page)).any(|found| {
        count = if found.start() == end { count + 1 } else { 1 };
        end = found.end();
        count > MOST_ATTRIBUTES
    })
}

/// The paragraphs of a page, or why there are too many.
pub fn read(page: &str) -> Result<ImportedDocument, String> {
    if has_too_many(page) {
        return Err(format!("has an element with more than {MOST_ATTRIBUTES} attributes; remove it"));
    }
    let (mut document, mut paragraph) = (ImportedDocument::default(), String::new());
    // the hidden element that is open, and the elements that are open in it
    let mut hidden: Vec<Vec<u8>> = Vec::new();
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(page, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                while hidden.last().is_some_and(|open| ends(open, &tag.name)) {
                    hidden.pop();
                }
                let is_empty = tag.self_closing || is_in(VOID, &tag.name);
                if !hidden.is_empty() || !is_empty && is_hidden(&tag) {
                    hidden.extend((!is_empty).then(|| tag.name.to_vec()));
                } else if *tag.name == *b"br" {
                    paragraph.push(' ');
                } else if !is_within(&tag.name) {
                    document.push(&std::mem::take(&mut paragraph))?;
                }
            }
            Token::EndTag(tag) => {
                match hidden.iter().rposition(|open| *open == *tag.name) {
                    Some(at) => {
                        hidden.truncate(at);
                        continue;
                    }
                    // the end of what a hidden element without an end is in
                    None if !is_within(&tag.name) && *tag.name != *b"p" => {
                        let may_end = hidden.first().is_some_and(|open| {
                            *open == *b"p" || ENDED.iter().any(|(name, _)| name.as_bytes() == open)
                        });
                        if may_end {
                            hidden.clear();
                        }
                    }
                    None => {}
                }
                if hidden.is_empty() && !is_within(&tag.name) {
                    document.push(&std::mem::take(&mut paragraph))?;
                }
            }
            Token::String(text) if hidden.is_empty() => {
                // soft hyphens are where a browser may break a word
                paragraph.extend(String::from_utf8_lossy(&text).chars().filter(|c| *c != '\u{ad}'));
            }
            _ => {}
        }
    }
    document.push(&paragraph)?;
    Ok(document)
}

fn ends(open: &[u8], next: &[u8]) -> bool {
    open == b"p" && !is_within(next) || ENDED.iter().any(|(name, by)| name.as_bytes() == open && is_in(by, next))
}

/// Whether a browser does not show an element, or it is the mark of a note.
fn is_hidden(tag: &StartTag<()>) -> bool {
    let about = |name: &str| {
        let value = tag.attributes.get(name.as_bytes());
        value.map(|value| String::from_utf8_lossy(value).to_lowercase().replace(' ', ""))
    };
    let style = about("style").unwrap_or_default();
    let is_note = |name: &&str| {
        about(name).is_some_and(|value| NOTES.iter().any(|note| value.contains(note)) || value.starts_with("#fn"))
    };
    is_in(HIDDEN, &tag.name)
        || about("hidden").is_some()
        || *tag.name == *b"dialog" && about("open").is_none()
        || style.contains("display:none")
        || style.contains("visibility:hidden")
        || is_in(&["a", "sup"], &tag.name) && ["class", "role", "epub:type", "id", "href"].iter().any(is_note)
}

/// Whether a line goes on within an element: one of these, or one of somebody's own, such as Word's `st1:city` and `o:p`.
fn is_within(name: &[u8]) -> bool {
    is_in(WITHIN, name) || name.contains(&b':') || name.contains(&b'-')
}

fn is_in(names: &[&str], name: &[u8]) -> bool {
    names.iter().any(|known| known.as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_its_paragraphs_and_no_scripts() {
        let page = "<!doctype html><head><title>no</title><script>if (a < b) { '<p>no' }</script><body class=x><h1>A&nbsp;title</h1>\
            <p>One <b>bold</b>\n word &amp; more<br>here<p>Two<ul><li>first<li>sec<!-- no -->ond</ul><style>p {}</style>&eacute;nd";
        let found = read(page).expect("short").paragraphs;
        assert_eq!(found, ["A title", "One bold word & more here", "Two", "first", "second", "énd"]);
    }

    #[test]
    fn an_element_with_many_attributes_does_not_use_up_the_stack() {
        let page = format!("<p {}>Text.", "a=\"x\" ".repeat(100_000));
        assert!(read(&page).expect_err("too many").contains("more than 4000 attributes"));
    }
}
