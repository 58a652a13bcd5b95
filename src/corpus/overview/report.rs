//! A report: one page of HTML that needs nothing beside it, to be kept, sent and printed.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::judgements::judge::{ErrorMark, Judgement, Judges};
use crate::measures::{aggregate, scores::SENTENCE_BLEU, table::CorpusMeasure};
use crate::overview::html::{heads, html_table};
use crate::overview::{tables, tables::number};
use crate::store::corpus::{CorpusTable, SystemColumn};
use crate::store::kinds::{Out, columns};
use crate::{export::picture, query::column::TableColumn, store::file::Workspace};
use engine::{error::Result, text::words::words_of};
use figure::provenance::Provenance;
use figure::svg::{escaped, inline};

const STYLE: &str = "body{font:11pt/1.45 Georgia,'Times New Roman',serif;max-width:60em;margin:2em auto;padding:0 1em;color:#111;background:#fff}\
h1{font-size:1.7em}h2{font-size:1.3em;margin-top:2em}h3{font-size:1em;margin:0 0 .4em}\
table{border-collapse:collapse;font-size:.85em;font-variant-numeric:tabular-nums}td,th{border:1px solid #bbb;padding:.2em .6em;text-align:right}\
td:first-child,th:first-child{text-align:left}th{background:#f0f0f0}.wide{overflow-x:auto}\
article{border-top:1px solid #999;padding:1em 0;break-inside:avoid}dl{margin:.3em 0;display:grid;grid-template-columns:max-content 1fr;gap:.15em 1em}\
dt{color:#555}dd{margin:0}.note{border-left:3px solid #888;padding-left:.8em;margin:.5em 0}.figures{display:flex;flex-wrap:wrap;gap:1em}\
figure{margin:.5em 0}figcaption{font-size:.8em;color:#555}figure svg{max-width:100%;height:auto}@media print{.wide{overflow:visible}\
table:has(th:nth-child(9)){font-size:.56em}table:has(th:nth-child(9)) :is(td,th){padding:.15em .3em}}";

/// The report of the chosen rows.
pub fn report(out: &Out, corpus: &CorpusTable, workspace: &Workspace) -> Result<String> {
    let name = workspace.path().file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let mut body = head(out, corpus);
    body += &systems(corpus, &workspace.systems()?);
    body += &aggregates(out, corpus);
    body += &tables::html(corpus, workspace, &out.rows, out.aligner.as_ref())?;
    body += "<h2>Sentences</h2>\n";
    for (n, &at) in out.rows.iter().enumerate() {
        let workspace = (n < out.pictures).then_some(workspace);
        body += &sentence(at as usize, out, corpus, workspace)?;
    }
    let title = escaped(if out.title.is_empty() { &name } else { &out.title });
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <style>{STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n{body}</body></html>\n"
    ))
}

fn head(out: &Out, corpus: &CorpusTable) -> String {
    let chosen = if out.chosen.is_empty() { String::new() } else { format!(" Chosen: {}.", escaped(&out.chosen)) };
    let of = corpus.len();
    let program = env!("CARGO_PKG_VERSION");
    let pictures = match out.pictures {
        most if most < out.rows.len() => format!(" The first {most} below have pictures of their alignments."),
        _ => String::new(),
    };
    let count = out.rows.len();
    format!("<p>{count} of {of} sentences.{chosen}{pictures} Made by Interlinear {program}.</p>\n")
}

fn systems(corpus: &CorpusTable, systems: &[crate::store::read::StoredSystem]) -> String {
    if corpus.systems.is_empty() {
        return String::new();
    }
    let mut html = "<h2>Systems</h2>\n<dl>".to_owned();
    for (number, system) in systems.iter().enumerate() {
        let facts: Vec<String> =
            system.about.facts().into_iter().map(|(name, value)| format!("{name} {value}")).collect();
        let name = escaped(&system.name);
        let _ = write!(html, "<dt>{}. {name}</dt><dd>{}</dd>", number + 1, escaped(&facts.join("; ")));
    }
    html + "</dl>\n"
}

fn aggregates(out: &Out, corpus: &CorpusTable) -> String {
    if corpus.systems.is_empty() {
        return String::new();
    }
    let row = |(system, column): (usize, &SystemColumn)| {
        let scores = aggregate::scores(corpus, system, &out.rows);
        let mut row = vec![column.system.name.clone(), scores.sentences.to_string()];
        row.extend([scores.bleu(), scores.chrf(), scores.ter()].map(|score| number(score, 1)));
        row.extend([scores.brevity_penalty(), scores.ratio()].map(|score| number(score, 3)));
        row
    };
    let rows: Vec<Vec<String>> = corpus.systems.iter().enumerate().map(row).collect();
    let mut table = html_table(heads(&["System", "sentences", "BLEU", "chrF2", "TER", "BP", "ref. ratio"]), &rows);
    for note in aggregate::notes(corpus, &out.rows) {
        let _ = writeln!(table, "<p>{}</p>", escaped(&note));
    }
    let of = |(n, measure): (usize, &CorpusMeasure)| {
        let mean = |system| number(aggregate::mean(corpus, system, n, &out.rows), measure.digits.max(2));
        let means: Vec<String> = (0..corpus.systems.len()).map(mean).collect();
        let is_there = !measure.compares() && means.iter().any(|mean| !mean.is_empty());
        is_there.then(|| std::iter::once(measure.title.to_owned()).chain(means).collect())
    };
    let means: Vec<Vec<String>> = corpus.measures.iter().enumerate().filter_map(of).collect();
    let names = corpus.systems.iter().map(|column| (column.system.name.as_str(), ""));
    table += &html_table(std::iter::once(("Mean of the sentences", "")).chain(names), &means);
    let log_p = corpus.measures.iter().position(|measure| measure.name == "logp");
    let has_log_p = |system: &usize| log_p.is_some_and(|at| aggregate::mean(corpus, *system, at, &out.rows).is_some());
    if (0..corpus.systems.len()).filter(has_log_p).count() > 1 {
        let _ = writeln!(table, "<p>{LOG_P}</p>");
    }
    let _ = writeln!(table, "<p>{SENTENCE_BLEU}.</p>");
    format!("<h2>All chosen sentences</h2>\n{table}")
}

const LOG_P: &str = "log p of two systems is to be compared only where both read and write the same words: one that writes [UNK] \
                     has a greater log p than one that must spell the word.";

fn sentence(at: usize, out: &Out, corpus: &CorpusTable, workspace: Option<&Workspace>) -> Result<String> {
    let mut html = format!("<article><h3>{}</h3>\n<dl>", at + 1);
    let mut line = |name: &str, text: Option<&str>| {
        if let Some(text) = text {
            let _ = write!(html, "<dt>{}</dt><dd dir=\"auto\">{}</dd>", escaped(name), escaped(text));
        }
    };
    line("Source", corpus.sources.get(at));
    line("Reference", corpus.references.get(at));
    for (n, texts) in corpus.further.iter().enumerate() {
        line(&format!("Reference {}", n + 2), texts.get(at));
    }
    for column in &corpus.systems {
        line(&column.system.name, column.texts.get(at));
    }
    html += "</dl>\n";
    html += &numbers(at, out, corpus);
    for (annotator, judgement) in corpus.judgements.get(&at).into_iter().flat_map(|by| by.iter()) {
        html += &judged(corpus, at, annotator, judgement);
    }
    let mut figures = String::new();
    for (column, workspace) in
        workspace.iter().flat_map(|workspace| corpus.systems.iter().map(move |one| (one, workspace)))
    {
        let Some(output) = workspace.output(column.system.id, at)? else { continue };
        let name = &column.system.name;
        if let Some(svg) =
            picture::drawn(&output, Provenance { title: name.clone(), ..Provenance::default() }, false, inline)
        {
            let _ = writeln!(figures, "<figure>{}<figcaption>{}</figcaption></figure>", svg, escaped(name));
        }
    }
    if !figures.is_empty() {
        let _ = write!(html, "<div class=\"figures\">{figures}</div>");
    }
    html += "</article>\n";
    Ok(html)
}

fn numbers(at: usize, out: &Out, corpus: &CorpusTable) -> String {
    let there = |column: &TableColumn| !column.value(corpus, at).is_nan();
    let columns: Vec<TableColumn> = columns(out, corpus).into_iter().filter(there).collect();
    let text = |column: &TableColumn| column.text(corpus, column.value(corpus, at));
    let (of_outputs, others): (Vec<_>, Vec<_>) =
        columns.into_iter().partition(|column| matches!(column, TableColumn::Output(..)));
    let mut html = String::new();
    if !others.is_empty() {
        let texts: Vec<String> =
            others.iter().map(|column| format!("{} {}", column.title(corpus), text(column))).collect();
        html += &format!("<p>{}</p>\n", escaped(&texts.join(", ")));
    }
    let measure = |column: &TableColumn| if let TableColumn::Output(of, _) = column { Some(*of) } else { None };
    let measures: BTreeSet<usize> = of_outputs.iter().filter_map(measure).collect();
    let row = |(system, column): (usize, &SystemColumn)| {
        let own = |of: &usize| TableColumn::Output(*of, system);
        let is_there = measures.iter().any(|of| of_outputs.contains(&own(of)));
        let cell = |of: &usize| if of_outputs.contains(&own(of)) { text(&own(of)) } else { String::new() };
        is_there.then(|| std::iter::once(column.system.name.clone()).chain(measures.iter().map(cell)).collect())
    };
    let rows: Vec<Vec<String>> = corpus.systems.iter().enumerate().filter_map(row).collect();
    if !rows.is_empty() {
        html += &html_table(heads(&[""]).chain(measures.iter().map(|of| (corpus.measures[*of].title, ""))), &rows);
    }
    html
}

fn marked(corpus: &CorpusTable, at: usize, mark: &ErrorMark) -> String {
    let within = |text: Option<&str>, rule, span| words_of(text.unwrap_or_default(), rule, span).to_owned();
    let column = corpus.systems.iter().find(|column| column.system.name == mark.system);
    let said = within(column.and_then(|column| column.texts.get(at)), corpus.rules.target, mark.target);
    let source = within(corpus.sources.get(at), corpus.rules.source, mark.source);
    let quoted = |before: &str, words: &str| match words {
        "" => String::new(),
        _ => format!("{before} \u{201c}{words}\u{201d}"),
    };
    quoted("", &said) + &quoted(" for", &source)
}

fn judged(corpus: &CorpusTable, at: usize, annotator: &str, judgement: &Judgement) -> String {
    let mut parts: Vec<String> = Vec::new();
    if judgement.stars > 0 {
        parts.push("\u{2605}".repeat(usize::from(judgement.stars)));
    }
    parts.extend(judgement.tags.iter().map(|tag| format!("#{tag}")));
    parts.extend((!judgement.note.is_empty()).then(|| judgement.note.clone()));
    parts.extend(judgement.no_errors.iter().map(|system| format!("no errors in {system}")));
    parts.extend(judgement.ratings.iter().map(|(system, rating)| format!("{system} rated {rating}")));
    for mark in &judgement.marks {
        let words = format!("words {} to {}", mark.target.0 + 1, mark.target.1);
        let place = if mark.target.0 == mark.target.1 { format!("before word {}", mark.target.0 + 1) } else { words };
        let note = if mark.note.is_empty() { String::new() } else { format!(": {}", mark.note) };
        let words = marked(corpus, at, mark);
        parts.push(format!("{} ({}) in {}, {place}{words}{note}", mark.category, mark.severity, mark.system));
    }
    for stale in &judgement.stale {
        let (mark, words) = (&stale.mark, &stale.words);
        parts.push(format!(
            "set apart: {} in \u{201c}{words}\u{201d}, which {} does not say any more",
            mark.category, mark.system
        ));
    }
    let suggests = if Judges::Metric.are(annotator) { " suggests" } else { "" };
    format!("<p class=\"note\">{}{suggests}: {}</p>\n", escaped(annotator), escaped(&parts.join("; ")))
}
