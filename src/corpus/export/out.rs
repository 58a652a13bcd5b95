//! What leaves a workspace: the rows of the table as TSV, JSON lines, links, figures or a report.

use std::{io::Write, path::PathBuf};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::export::{arrays, judged, judgement_table, picture};
use crate::measures::{aggregate, table::CorpusMeasure};
use crate::store::corpus::{CorpusTable, SystemColumn};
use crate::store::kinds::{MOST_FIGURES, columns};
use crate::store::output::{PRECISION, SystemOutput};
use crate::store::{file::Workspace, rules::SideRules};
use crate::{export::provenance::provenance, judgements::judge::Judges, overview::report, query::column::TableColumn};
use engine::analysis::hard::{Link, links_above, pharaoh};
use engine::analysis::{alignment::Alignment, hard, symmetrize::SYMMETRIZATIONS};
use engine::error::{Error, Result};
use engine::text::tsv::{Tsv, TsvCell};
use engine::text::write::{FolderDraft, write_atomic};
use engine::text::{commands, links, links::Links};
use figure::{fonts::Fonts, formats::format_of, page::FigurePage, provenance::beside};
use import::formats::table::{NO_OUTPUT, SIGNATURE, head_of};

pub use crate::store::kinds::{AttentionFormat, ExportFormat, LinkRule, Out, all_columns};

/// Writes it. Tables and links have their provenance in a file beside them.
pub fn write(out: &Out, corpus: &CorpusTable, workspace: &Workspace) -> Result<()> {
    match out.kind {
        ExportFormat::Figures(system, format) => return figures(out, (system, format), workspace, corpus),
        ExportFormat::Matrices => return arrays::tables(&out.path, &out.rows, corpus, workspace),
        ExportFormat::Tsv | ExportFormat::Pharaoh(..) => {
            let system = if let ExportFormat::Pharaoh(system, _) = out.kind { Some(system) } else { None };
            let about = provenance(corpus, system).json();
            write_atomic(&beside(&out.path), |file| writeln!(file, "{about:#}"))?;
        }
        _ => {}
    }
    let mut failed = None;
    let written = write_atomic(&out.path, |file| {
        to(file, out, corpus, workspace).map_err(|error| {
            failed = Some(error);
            std::io::Error::other("told below")
        })
    });
    failed.map_or(written, Err)
}

/// Writes it into a stream; figures cannot go there.
pub fn to(file: &mut dyn Write, out: &Out, corpus: &CorpusTable, workspace: &Workspace) -> Result<()> {
    let io = |error: std::io::Error| Error::io(&out.path, &error);
    match out.kind {
        ExportFormat::Tsv => tsv(file, out, corpus).map_err(io),
        ExportFormat::JudgementTable => judgement_table::table(file, &out.rows, corpus).map_err(io),
        ExportFormat::Mqm => judged::mqm(file, (&out.rows, Judges::People), corpus, workspace),
        ExportFormat::Suggestions => judged::mqm(file, (&out.rows, Judges::Metric), corpus, workspace),
        ExportFormat::Tasks => tasks(file, corpus).map_err(io),
        ExportFormat::Report => file.write_all(report::report(out, corpus, workspace)?.as_bytes()).map_err(io),
        ExportFormat::Figures(..) => Err(Error::Input("figures need a folder; name one".to_owned())),
        ExportFormat::Matrices => Err(Error::Input("tables of alignments need a folder; name one".to_owned())),
        ExportFormat::Arrays => arrays::npz(file, &out.path, &out.rows, corpus, workspace),
        ExportFormat::Pearmut => {
            let mut lines = out.rows.iter().flat_map(|at| judged::pearmut(*at as usize, corpus));
            lines.try_for_each(|line| writeln!(file, "{}", commands::json(&line)?).map_err(io))
        }
        ExportFormat::Jsonl
        | ExportFormat::Pharaoh(..)
        | ExportFormat::Gold
        | ExportFormat::OutputGold(_)
        | ExportFormat::Judgements => {
            for (n, &at) in out.rows.iter().enumerate() {
                if let Some(line) = line(out, (n, at as usize), corpus, workspace)? {
                    writeln!(file, "{line}").map_err(io)?;
                }
            }
            Ok(())
        }
    }
}

fn tsv(file: &mut dyn Write, out: &Out, corpus: &CorpusTable) -> std::io::Result<()> {
    let columns = columns(out, corpus);
    let mut table = Tsv::bare(file);
    let texts = ["number", "source"].into_iter().map(TsvCell::plain);
    let references = corpus.reference_names().map(TsvCell::Plain);
    let systems = corpus.systems.iter().map(|column| {
        let texts = out.rows.iter().filter_map(|at| column.texts.get(*at as usize));
        TsvCell::from(&head_of(&column.system.name, texts))
    });
    let numbers = columns.iter().map(|column| TsvCell::Plain(column.name(corpus)));
    let has_bleu = columns.iter().any(|column| column.measure(corpus).is_some_and(CorpusMeasure::counts_tokens));
    let signature = has_bleu.then(|| TsvCell::Plain(sentence_signature(corpus, &out.rows)));
    // An empty cell is a translation without words.
    let silent = |at: u32| -> Vec<&str> {
        let silent = corpus.systems.iter().filter(|column| column.texts.get(at as usize).is_none());
        silent.map(|column| column.system.name.as_str()).collect()
    };
    let has_silent = out.rows.iter().any(|at| !silent(*at).is_empty());
    let head: Vec<TsvCell> = texts
        .chain(references)
        .chain(systems)
        .chain(has_silent.then(|| TsvCell::plain(NO_OUTPUT.0)))
        .chain(numbers)
        .chain(["tags", "notes"].into_iter().chain(signature.is_some().then_some(SIGNATURE)).map(TsvCell::plain))
        .collect();
    table.row(head)?;
    for &at in out.rows.iter() {
        let of_none = has_silent.then(|| TsvCell::from(silent(at).join(NO_OUTPUT.1).as_str()));
        let at = at as usize;
        let text = |text: Option<&str>| TsvCell::from(text.unwrap_or_default());
        let mut row = vec![TsvCell::plain(&(at + 1))];
        row.extend(corpus.texts().map(|texts| text(texts.get(at))).chain(of_none));
        row.extend(columns.iter().map(|column| number(column.value(corpus, at))));
        let by = corpus.judgements.get(&at);
        let tags: Vec<&str> =
            by.iter().flat_map(|by| by.values()).flat_map(|one| &one.tags).map(String::as_str).collect();
        let notes: Vec<&str> =
            by.iter().flat_map(|by| by.values()).map(|one| one.note.as_str()).filter(|note| !note.is_empty()).collect();
        row.extend([TsvCell::from(tags.join(", ").as_str()), TsvCell::from(notes.join(" / ").as_str())]);
        row.extend(signature.clone());
        table.row(row)?;
    }
    table.finish()
}

fn sentence_signature(corpus: &CorpusTable, rows: &[u32]) -> String {
    aggregate::signatures(corpus, rows)[0].replace("eff:no", "eff:yes")
}

/// Who judges which sentence of the campaign, in which order, and whether that is done.
fn tasks(file: &mut dyn Write, corpus: &CorpusTable) -> std::io::Result<()> {
    let mut table = Tsv::new(file, ["annotator", "task", "sentence", "done", "source"])?;
    if let Some(campaign) = &corpus.campaign {
        for annotator in &campaign.annotators {
            for (n, at) in campaign.tasks(annotator).into_iter().map(|at| at as usize).enumerate() {
                let is_done = campaign.is_done_by(corpus, annotator, at);
                table.row([
                    TsvCell::from(annotator),
                    TsvCell::plain(&(n + 1)),
                    TsvCell::plain(&(at + 1)),
                    TsvCell::plain(if is_done { "yes" } else { "no" }),
                    TsvCell::from(corpus.sources.get(at).unwrap_or_default()),
                ])?;
            }
        }
    }
    table.finish()
}

fn number(number: f32) -> TsvCell {
    TsvCell::Plain(if number.is_nan() { String::new() } else { number.to_string() })
}

fn line(out: &Out, (n, at): (usize, usize), corpus: &CorpusTable, workspace: &Workspace) -> Result<Option<String>> {
    let counted = SideRules::of_lines(out.link_tokens, corpus.rules);
    match out.kind {
        ExportFormat::Jsonl => {
            let mut object = object(at, corpus, workspace)?;
            if n == 0 {
                object["provenance"] = provenance(corpus, None).json();
            }
            commands::json(&object).map(Some)
        }
        ExportFormat::Gold => {
            let (source, target) = (corpus.sources.get(at).unwrap_or_default(), corpus.references.get(at));
            // without a reference its words are not known
            let side = if target.is_some() { counted.target } else { corpus.rules.target };
            let counted = SideRules { target: side, ..counted };
            let respread = |gold: Links| counted.respread(&gold, corpus.rules, (source, target.unwrap_or_default()));
            Ok(Some(workspace.gold(at)?.map(|gold| links::pharaoh(&respread(gold))).unwrap_or_default()))
        }
        ExportFormat::OutputGold(system) => {
            let text = column_of(system, corpus)?.texts.get(at).unwrap_or_default();
            let source = corpus.sources.get(at).unwrap_or_default();
            let gold = workspace.gold_of_output(at, text, corpus.references.get(at))?;
            let respread = gold.map(|gold| links::pharaoh(&counted.respread(&gold, corpus.rules, (source, text))));
            Ok(Some(respread.unwrap_or_default()))
        }
        ExportFormat::Pharaoh(system, how) => {
            let output = workspace.output(column_of(system, corpus)?.system.id, at)?;
            let source = corpus.sources.get(at).unwrap_or_default();
            let found = output.as_ref().and_then(|output| {
                let links = links_of(output, source, (how, corpus.rules))?;
                Some(counted.respread_links(&links, corpus.rules, (source, &output.text)))
            });
            Ok(Some(found.as_deref().map(pharaoh).unwrap_or_default()))
        }
        ExportFormat::Judgements => {
            let Some(by) = corpus.judgements.get(&at) else { return Ok(None) };
            let gold = workspace.gold(at)?.as_ref().map(links::pharaoh);
            let said = json!({ "sentence": at + 1, "source": corpus.sources.get(at), "by": by.as_ref(), "gold": gold, "words": corpus.rules });
            commands::json(&said).map(Some)
        }
        _ => Ok(None),
    }
}

fn column_of(system: usize, corpus: &CorpusTable) -> Result<&SystemColumn> {
    corpus.systems.get(system).ok_or_else(|| Error::Input(format!("there is no system {}", system + 1)))
}

/// Links of an output between the words of the corpus; those that came with it as they are.
pub fn links_of(output: &SystemOutput, source: &str, (how, rules): (LinkRule, SideRules)) -> Option<Vec<Link>> {
    if output.links.is_some() || how == LinkRule::Greatest {
        return output.word_links(source, rules);
    }
    let alignment = output.word_alignment(source, rules)?;
    match how {
        LinkRule::Greatest => None,
        LinkRule::Above(hundredths) => Some(links_above(&alignment, f32::from(hundredths) / 100.0)),
        LinkRule::Symmetrised(at) => {
            let backward: Vec<Link> = hard::links(&alignment.turned()).into_iter().map(Link::turned).collect();
            let rule = SYMMETRIZATIONS.get(at)?;
            Some((rule.combine)(&output.reading().links(&alignment), &backward))
        }
    }
}

#[derive(Serialize)]
struct Said<'a> {
    /// Its place among the systems, from 1, as columns name it.
    number: usize,
    text: &'a str,
    source: &'a [String],
    target: &'a [String],
    log_p: Option<f32>,
    token_count: usize,
    word_log_p: &'a [f32],
    alpha: Option<&'a Alignment>,
    links: Option<String>,
}

fn as_printed(value: &impl Serialize) -> Value {
    serde_json::to_string(value).and_then(|text| serde_json::from_str(&text)).unwrap_or_default()
}

fn object(at: usize, corpus: &CorpusTable, workspace: &Workspace) -> Result<Value> {
    let mut systems = Map::new();
    for (number, column) in corpus.systems.iter().enumerate() {
        let Some(output) = workspace.output(column.system.id, at)? else { continue };
        let said = Said {
            number: number + 1,
            text: &output.text,
            source: &output.source,
            target: &output.target,
            log_p: output.log_p,
            token_count: output.token_count,
            word_log_p: &output.word_log_p,
            alpha: output.alpha.as_ref(),
            links: output.word_links(corpus.sources.get(at).unwrap_or_default(), corpus.rules).as_deref().map(pharaoh),
        };
        let mut said = as_printed(&said);
        let numbers = corpus.measures.iter().enumerate().map(|(measure, entry)| {
            let number = TableColumn::Output(measure, number).value(corpus, at);
            (entry.name.to_owned(), if number.is_nan() { Value::Null } else { as_printed(&number) })
        });
        if output.alpha.is_some() && output.links.is_some() {
            said["links_given"] = true.into();
        }
        if output.alpha.is_some() {
            said["alpha_precision"] = PRECISION.into();
        }
        said["measures"] = numbers.collect::<Map<String, Value>>().into();
        systems.insert(column.system.name.clone(), said);
    }
    let gold = workspace.gold(at)?.as_ref().map(links::pharaoh);
    let mut object = json!({
        "number": at + 1,
        "words": corpus.rules,
        "source": corpus.sources.get(at),
        "reference": corpus.references.get(at),
        "systems": systems,
        "gold": gold,
        "judgements": corpus.judgements.get(&at).map(AsRef::as_ref),
    });
    if !corpus.further.is_empty() {
        let all = [&corpus.references].into_iter().chain(&corpus.further).map(|texts| texts.get(at));
        object["references"] = all.collect();
    }
    if !corpus.systems.is_empty() {
        object["bleu_signature"] = sentence_signature(corpus, &[at as u32]).into();
    }
    if let Some(parts) = workspace.parts(at, corpus.sources.get(at).unwrap_or_default()) {
        object["parts"] = parts.join(" ").into();
    }
    let targets = workspace.all_target_parts(at)?;
    if !targets.is_empty() {
        object["target_parts"] =
            targets.into_iter().map(|(text, parts)| (text, parts.into())).collect::<Map<_, _>>().into();
    }
    let given = corpus.of_sentences().enumerate().filter(|(_, measure)| measure.is_given());
    let numbers =
        given.map(|(n, measure)| (measure.name.to_owned(), as_printed(&TableColumn::Sentence(n).value(corpus, at))));
    let numbers: Map<String, Value> = numbers.collect();
    if !numbers.is_empty() {
        object["measures"] = numbers.into();
    }
    Ok(object)
}

fn figures(
    out: &Out, (system, format): (usize, AttentionFormat), workspace: &Workspace, corpus: &CorpusTable,
) -> Result<()> {
    if out.rows.len() > MOST_FIGURES {
        let message = format!("{} sentences are chosen, and at most {MOST_FIGURES} are drawn at once", out.rows.len());
        return Err(Error::Input(format!("{message}; narrow the conditions")));
    }
    let column = column_of(system, corpus)?;
    let folder = FolderDraft::new(&out.path)?;
    let fonts = Fonts::default();
    for &at in out.rows.iter() {
        let Some(output) = workspace.output(column.system.id, at as usize)? else { continue };
        let path: PathBuf = folder.path().join(format!("sentence-{:06}.{}", at + 1, format.name()));
        let mut about = provenance(corpus, Some(system));
        about.title = format!("{}, sentence {}", column.system.name, at + 1);
        about.fact("sentence", corpus.sources.get(at as usize).unwrap_or_default());
        about.fact("translation", &output.text);
        about.fact("log p", output.log_p.map_or_else(String::new, |log_p| log_p.to_string()));
        let draw = |figure: &figure::Figure<'_>| (format_of(&path)?.write)(figure, &FigurePage::default(), &fonts);
        let Some(bytes) = picture::drawn(&output, about, true, draw) else { continue };
        let bytes = bytes?;
        write_atomic(&path, |file| file.write_all(&bytes))?;
    }
    folder.keep()
}
