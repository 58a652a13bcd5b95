//! Floor 6: the paragraphs of HTML, read as browsers read it (`html5gum`). Imports its room.

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};

use crate::import::documents::ImportedDocument;

/// Elements that stand within a line; any other ends a paragraph.
const WITHIN: &[&str] = &[
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img",
    "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt",
    "u", "var", "wbr",
];
/// Elements whose text is no text of the document.
const HIDDEN: &[&str] = &[
    "head", "title", "script", "style", "template", "noscript", "iframe", "textarea", "select", "svg", "math", "rt",
    "rp",
];

/// The paragraphs of a page.
pub fn read(page: &str) -> ImportedDocument {
    let (mut document, mut paragraph) = (ImportedDocument::default(), String::new());
    // elements within hidden ones, of the outermost that is open
    let mut hidden: Option<(Vec<u8>, usize)> = None;
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(page, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => match &mut hidden {
                // `<head>` need not be closed.
                Some((name, _)) if (name == b"head" || name == b"title") && *tag.name == *b"body" => hidden = None,
                Some((name, depth)) if *name == **tag.name => *depth += 1,
                Some(_) => {}
                None if is_in(HIDDEN, &tag.name) && !tag.self_closing => hidden = Some((tag.name.to_vec(), 1)),
                None if *tag.name == *b"br" => paragraph.push(' '),
                None if !is_in(WITHIN, &tag.name) => document.push(&std::mem::take(&mut paragraph)),
                None => {}
            },
            Token::EndTag(tag) => match &mut hidden {
                Some((name, depth)) if *name == **tag.name => {
                    *depth -= 1;
                    if *depth == 0 {
                        hidden = None;
                    }
                }
                Some(_) => {}
                None if !is_in(WITHIN, &tag.name) => document.push(&std::mem::take(&mut paragraph)),
                None => {}
            },
            Token::String(text) if hidden.is_none() => {
                // soft hyphens are where a browser may break a word
                paragraph.extend(String::from_utf8_lossy(&text).chars().filter(|c| *c != '\u{ad}'));
            }
            _ => {}
        }
    }
    document.push(&paragraph);
    document
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
        let found = read(page).paragraphs;
        assert_eq!(found, ["A title", "One bold word & more here", "Two", "first", "second", "énd"]);
    }
}
