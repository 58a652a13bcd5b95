//! Judgements of outputs as others read them: tables of the WMT (MQM), as Marot shows them, and JSON lines of Pearmut.

use std::{collections::BTreeSet, io::Write};

use serde_json::{Map, Value, json};

use crate::import::{mqm::capital, rated::NO_DOCUMENT, spans::units};
use crate::judgements::judge::{ErrorMark, Judgement, Judges, Letters};
use crate::store::{corpus::CorpusTable, file::Workspace, rules::SideRules};
use engine::error::Result;

/// The columns that Marot reads, in its order.
const COLUMNS: &[&str] =
    &["system", "doc", "docSegId", "globalSegId", "rater", "source", "target", "category", "severity", "metadata"];
const NO_ERROR: &str = "No-error";

fn text_of<'a>(corpus: &'a CorpusTable, system: &str, at: usize) -> Option<&'a str> {
    corpus.systems.iter().find(|column| column.system.name == system)?.texts.get(at)
}

fn tagged(text: &str, letters: Option<Letters>) -> String {
    let Some((first, behind)) = letters else { return text.to_owned() };
    let byte = |letter: usize| text.char_indices().nth(letter).map_or(text.len(), |(at, _)| at);
    let (from, to) = (byte(first), behind.map_or(text.len(), byte));
    let end = if behind.is_some() { "</v>" } else { "" };
    format!("{}<v>{}{end}{}", &text[..from], &text[from..to], &text[to..])
}

/// The document, its segment and the segment of all documents, as names of imported sentences have them.
fn place(name: &str, number: &str) -> [String; 3] {
    let mut parts: Vec<&str> = name.rsplitn(3, ' ').collect();
    parts.reverse();
    match parts[..] {
        [doc, segment, all] => [doc, segment, all],
        [doc, segment] => [doc, segment, number],
        _ => [NO_DOCUMENT.trim_end(), number, number],
    }
    .map(str::to_owned)
}

/// Writes a row for each mark, and for each translation that has no errors, a cell after the other as Marot splits them.
pub fn mqm(
    file: &mut dyn Write, (rows, judges): (&[u32], Judges), corpus: &CorpusTable, workspace: &Workspace,
) -> Result<()> {
    let io = |error: std::io::Error| engine::error::Error::io(workspace.path(), &error);
    let mut row = |cells: &[&str]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace(char::is_control, " ")).collect();
        writeln!(file, "{}", cells.join("\t")).map_err(io)
    };
    row(COLUMNS)?;
    for &at in rows {
        let at = at as usize;
        let Some(by) = corpus.judgements.get(&at) else { continue };
        let name = workspace.sentence(at)?.and_then(|sentence| sentence.name).unwrap_or_default();
        let [doc, segment, number] = place(&name, &(at + 1).to_string());
        let source = corpus.sources.get(at).unwrap_or_default();
        for (rater, judgement) in judges.said(by) {
            for mark in &judgement.marks {
                let Some(text) = text_of(corpus, &mark.system, at) else { continue };
                let spans = mark.spans_in((text, source, corpus.rules));
                let (target, source) = (tagged(text, spans.0), tagged(source, spans.1));
                let about = if mark.note.is_empty() { json!({}) } else { json!({ "note": mark.note }) }.to_string();
                let head = [mark.system.as_str(), &doc, &segment, &number, rater, &source, &target];
                row(&[&head[..], &[&mark.category, &capital(&mark.severity), &about]].concat())?;
            }
            for system in &judgement.no_errors {
                let Some(text) = text_of(corpus, system, at) else { continue };
                row(&[system, &doc, &segment, &number, rater, source, text, NO_ERROR, NO_ERROR, "{}"])?;
            }
        }
    }
    Ok(())
}

/// A line of Pearmut for each person who judged an output of a sentence, from 0.
pub fn pearmut(at: usize, corpus: &CorpusTable) -> Vec<Value> {
    let Some(by) = corpus.judgements.get(&at) else { return Vec::new() };
    let line = |(annotator, judgement): (&String, &Judgement)| {
        let (mut texts, mut said) = (Map::new(), Map::new());
        let marked = judgement.marks.iter().map(|mark| &mark.system);
        let systems: BTreeSet<&String> = marked.chain(&judgement.no_errors).chain(judgement.ratings.keys()).collect();
        for system in systems {
            let Some(text) = text_of(corpus, system, at) else { continue };
            let marks = judgement.marks.iter().filter(|mark| mark.system == *system);
            let source = corpus.sources.get(at).unwrap_or_default();
            let spans: Vec<Value> = marks.map(|mark| span(mark, (text, source, corpus.rules))).collect();
            texts.insert(system.clone(), json!(text));
            let (score, none) = (judgement.ratings.get(system), judgement.no_errors.contains(system));
            said.insert(system.clone(), json!({ "score": score, "error_spans": spans, "no_errors": none }));
        }
        let mut item = json!({ "item_id": (at + 1).to_string(), "src": corpus.sources.get(at), "tgt": texts });
        if let Some(reference) = corpus.references.get(at) {
            item["ref"] = json!(reference);
        }
        let line = json!({ "user_id": annotator, "item_i": at, "annotation": [said], "item": [item] });
        (!line["annotation"][0].as_object().is_none_or(Map::is_empty)).then_some(line)
    };
    Judges::People.said(by).filter_map(line).collect()
}

/// A mark as Pearmut counts, the last unit included; words that are missing stand behind the text, as its `[missing]` does.
fn span(mark: &ErrorMark, texts: (&str, &str, SideRules)) -> Value {
    let of_letters: Vec<usize> = units(texts.0).collect();
    let end = of_letters.len();
    let (first, behind) = mark.spans_in(texts).0.unwrap_or((usize::MAX, None));
    let unit = |letter: usize| of_letters.partition_point(|of| *of < letter);
    let behind = behind.map_or(end, unit);
    let place = if unit(first) < behind { [unit(first), behind - 1] } else { [end; 2] };
    let (category, severity) = (&mark.category, &mark.severity);
    let mark = ErrorMark { spans: Some(mark.spans_in(texts)), ..mark.clone() };
    json!({ "start_i": place[0], "end_i": place[1], "category": category, "severity": severity, "mark": mark })
}
