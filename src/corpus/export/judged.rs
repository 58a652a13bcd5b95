//! Floor 7: judgements of outputs as others read them: tables of the WMT (MQM), as Marot shows them, and JSON lines of Pearmut.

use std::collections::BTreeSet;
use std::io::Write;
use std::ops::Range;

use serde_json::{Map, Value, json};

use crate::corpus::judgements::judge::{ErrorMark, Judgement};
use crate::corpus::store::corpus::CorpusTable;
use crate::corpus::store::file::Workspace;
use crate::error::Result;
use crate::text::words::{letters_at, place_of};

/// The columns that Marot reads, in its order.
const COLUMNS: &[&str] =
    &["system", "doc", "docSegId", "globalSegId", "rater", "source", "target", "category", "severity", "metadata"];
/// Stands for kind and severity where there are no errors.
const NO_ERROR: &str = "no-error";

/// What a system says of a sentence, from 0.
fn text_of<'a>(corpus: &'a CorpusTable, system: &str, at: usize) -> Option<&'a str> {
    corpus.systems.iter().find(|column| column.system.name == system)?.texts.get(at)
}

/// Where a mark stands in a translation, in bytes; empty where words are missing.
fn place(mark: &ErrorMark, text: &str) -> Range<usize> {
    let (first, behind) = mark.target;
    if first >= behind {
        let at = place_of(text, (first, first + 1)).map_or(text.len(), |word| word.start);
        return at..at;
    }
    let Some(place) = place_of(text, mark.target) else { return text.len()..text.len() };
    mark.letters.map_or_else(|| place.clone(), |letters| letters_at(text, &place, letters))
}

/// A text with a place between `<v>` and `</v>`.
fn tagged(text: &str, place: &Range<usize>) -> String {
    format!("{}<v>{}</v>{}", &text[..place.start], &text[place.clone()], &text[place.end..])
}

/// Writes a row for each mark, and for each translation that has no errors, a cell after the other as Marot splits them.
pub fn mqm(file: &mut dyn Write, rows: &[u32], corpus: &CorpusTable, workspace: &Workspace) -> Result<()> {
    let io = |error: std::io::Error| crate::error::Error::io(workspace.path(), &error);
    let mut row = |cells: &[&str]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace(char::is_control, " ")).collect();
        writeln!(file, "{}", cells.join("\t")).map_err(io)
    };
    row(COLUMNS)?;
    for &at in rows {
        let at = at as usize;
        let Some(by) = corpus.judgements.get(&at) else { continue };
        let name = workspace.sentence(at)?.and_then(|sentence| sentence.name).unwrap_or_default();
        let number = (at + 1).to_string();
        let (doc, segment) = name.split_once(' ').unwrap_or(("corpus", &number));
        let segment = segment.split(' ').next().unwrap_or(&number);
        let source = corpus.sources.get(at).unwrap_or_default();
        for (rater, judgement) in by.iter() {
            for mark in &judgement.marks {
                let Some(text) = text_of(corpus, &mark.system, at) else { continue };
                let target = tagged(text, &place(mark, text));
                let of = place_of(source, mark.source).filter(|_| mark.source.0 < mark.source.1);
                let source = of.map_or_else(|| source.to_owned(), |place| tagged(source, &place));
                let about = if mark.note.is_empty() { json!({}) } else { json!({ "note": mark.note }) }.to_string();
                let head = [mark.system.as_str(), doc, segment, &number, rater, &source, &target];
                row(&[&head[..], &[&mark.category, &capital(&mark.severity), &about]].concat())?;
            }
            for system in &judgement.no_errors {
                let Some(text) = text_of(corpus, system, at) else { continue };
                row(&[system, doc, segment, &number, rater, source, text, NO_ERROR, NO_ERROR, "{}"])?;
            }
        }
    }
    Ok(())
}

/// Severities begin with a capital there.
fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A line of Pearmut for each annotator who judged an output of a sentence, from 0.
pub fn pearmut(at: usize, corpus: &CorpusTable) -> Vec<Value> {
    let Some(by) = corpus.judgements.get(&at) else { return Vec::new() };
    let line = |(annotator, judgement): (&String, &Judgement)| {
        let (mut texts, mut said) = (Map::new(), Map::new());
        let marked = judgement.marks.iter().map(|mark| &mark.system);
        let systems: BTreeSet<&String> = marked.chain(&judgement.no_errors).chain(judgement.ratings.keys()).collect();
        for system in systems {
            let Some(text) = text_of(corpus, system, at) else { continue };
            let marks = judgement.marks.iter().filter(|mark| mark.system == *system);
            let spans: Vec<Value> = marks.map(|mark| span(mark, text)).collect();
            texts.insert(system.clone(), json!(text));
            said.insert(system.clone(), json!({ "score": judgement.ratings.get(system), "error_spans": spans }));
        }
        let mut item = json!({ "item_id": (at + 1).to_string(), "src": corpus.sources.get(at), "tgt": texts });
        if let Some(reference) = corpus.references.get(at) {
            item["ref"] = json!(reference);
        }
        let line = json!({ "user_id": annotator, "item_i": at, "annotation": [said], "item": [item] });
        (!texts_are_none(&line)).then_some(line)
    };
    by.iter().filter_map(line).collect()
}

fn texts_are_none(line: &Value) -> bool {
    line["annotation"][0].as_object().is_none_or(Map::is_empty)
}

/// A mark in letters, the last one included; words that are missing stand behind the text, as its `[missing]` does.
fn span(mark: &ErrorMark, text: &str) -> Value {
    let place = place(mark, text);
    let letters = |to: usize| text[..to].chars().count();
    let (first, last) = if place.is_empty() {
        (letters(text.len()), letters(text.len()))
    } else {
        (letters(place.start), letters(place.end) - 1)
    };
    json!({ "start_i": first, "end_i": last, "category": mark.category, "severity": mark.severity })
}
