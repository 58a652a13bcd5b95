//! Floor 7: what leaves a workspace: the rows of the table as TSV, JSON lines, links, figures or a report.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::analysis::alignment::Alignment;
use crate::analysis::hard;
use crate::analysis::hard::{Link, links_above, pharaoh};
use crate::analysis::symmetrize::SYMMETRIZATIONS;
use crate::corpus::export::arrays;
use crate::corpus::export::columnar;
use crate::corpus::export::picture;
use crate::corpus::judgements::judgement_io;
use crate::corpus::measures::measures::MEASURES;
use crate::corpus::overview::report;
use crate::corpus::query::column::Column;
use crate::corpus::store::corpus::Corpus;
use crate::corpus::store::file::Workspace;
use crate::corpus::store::kinds::{MOST_IN_REPORT, columns};
use crate::corpus::store::output::Output;
use crate::error::{Error, Result};
use crate::figure::fonts::Fonts;
use crate::figure::formats::format_of;
use crate::figure::page::Page;
use crate::text::links;
use crate::text::tsv::{Cell, Tsv};
use crate::text::write::write_atomic;

pub use crate::corpus::store::kinds::{Format, Kind, Links, Out, all_columns};

/// Writes it.
///
/// # Errors
/// A sentence about the file, or about a workspace without what is asked for.
pub fn write(out: &Out, corpus: &Corpus, workspace: &Workspace) -> Result<()> {
    match out.kind {
        Kind::Figures(system, format) => return figures(out, (system, format), workspace, corpus),
        Kind::Matrices => return arrays::tables(&out.path, &out.rows, corpus, workspace),
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
///
/// # Errors
/// As [`write`].
pub fn to(file: &mut dyn Write, out: &Out, corpus: &Corpus, workspace: &Workspace) -> Result<()> {
    let io = |error: std::io::Error| Error::io(&out.path, &error);
    match out.kind {
        Kind::Tsv => tsv(file, out, corpus).map_err(io),
        Kind::JudgementTable => judgement_io::table(file, &out.rows, corpus).map_err(io),
        Kind::Report => file.write_all(report::report(out, corpus, workspace)?.as_bytes()).map_err(io),
        Kind::Figures(..) => Err(Error::Input("figures need a folder; name one".to_owned())),
        Kind::Matrices => Err(Error::Input("tables of alignments need a folder; name one".to_owned())),
        Kind::Parquet => columnar::parquet(file, &out.rows, &columns(out, corpus), corpus).map_err(io),
        Kind::Arrays => arrays::npz(file, &out.path, &out.rows, corpus, workspace),
        Kind::Jsonl | Kind::Pharaoh(..) | Kind::Gold | Kind::Judgements => {
            for &at in out.rows.iter() {
                let line = line(out.kind, at as usize, corpus, workspace)?;
                if let Some(line) = line {
                    writeln!(file, "{line}").map_err(io)?;
                }
            }
            Ok(())
        }
    }
}

fn tsv(file: &mut dyn Write, out: &Out, corpus: &Corpus) -> std::io::Result<()> {
    let columns = columns(out, corpus);
    let mut table = Tsv::bare(file);
    let texts = ["number", "source", "reference"].into_iter().map(Cell::plain);
    let systems = corpus.systems.iter().map(|column| Cell::from(&column.system.name));
    let numbers = columns.iter().map(|column| Cell::Plain(column.name()));
    let head: Vec<Cell> =
        texts.chain(systems).chain(numbers).chain([Cell::plain("tags"), Cell::plain("notes")]).collect();
    table.row(head)?;
    for &at in out.rows.iter() {
        let at = at as usize;
        let text = |text: Option<&str>| Cell::from(text.unwrap_or_default());
        let mut row = vec![Cell::plain(&(at + 1)), text(corpus.sources.get(at)), text(corpus.references.get(at))];
        row.extend(corpus.systems.iter().map(|column| text(column.texts.get(at))));
        row.extend(columns.iter().map(|column| number(column.value(corpus, at))));
        let by = corpus.judgements.get(&at);
        let tags: Vec<&str> =
            by.iter().flat_map(|by| by.values()).flat_map(|one| &one.tags).map(String::as_str).collect();
        let notes: Vec<&str> =
            by.iter().flat_map(|by| by.values()).map(|one| one.note.as_str()).filter(|note| !note.is_empty()).collect();
        row.extend([Cell::from(tags.join(", ").as_str()), Cell::from(notes.join(" / ").as_str())]);
        table.row(row)?;
    }
    table.finish()
}

/// In full, so that nothing is lost; empty where there is none.
fn number(number: f32) -> Cell {
    Cell::Plain(if number.is_nan() { String::new() } else { number.to_string() })
}

fn line(kind: Kind, at: usize, corpus: &Corpus, workspace: &Workspace) -> Result<Option<String>> {
    match kind {
        Kind::Jsonl => object(at, corpus, workspace).map(|object| Some(object.to_string())),
        Kind::Gold => Ok(Some(workspace.gold(at)?.as_ref().map(links::pharaoh).unwrap_or_default())),
        Kind::Pharaoh(system, how) => {
            let Some(column) = corpus.systems.get(system) else {
                return Err(Error::Input(format!("there is no system {}", system + 1)));
            };
            let output = workspace.output(column.system.id, at)?;
            let found = output.as_ref().and_then(|output| links_of(output, how));
            Ok(Some(found.as_deref().map(pharaoh).unwrap_or_default()))
        }
        Kind::Judgements => {
            let Some(by) = corpus.judgements.get(&at) else { return Ok(None) };
            let gold = workspace.gold(at)?.as_ref().map(links::pharaoh);
            Ok(Some(
                json!({ "sentence": at + 1, "source": corpus.sources.get(at), "by": by.as_ref(), "gold": gold })
                    .to_string(),
            ))
        }
        Kind::Tsv
        | Kind::Parquet
        | Kind::Arrays
        | Kind::Matrices
        | Kind::JudgementTable
        | Kind::Report
        | Kind::Figures(..) => Ok(None),
    }
}

/// Links of an output; those that came without weights as they are.
fn links_of(output: &Output, how: Links) -> Option<Vec<Link>> {
    let Some(alignment) = output.alignment() else { return output.hard_links() };
    match how {
        Links::Greatest => output.hard_links(),
        Links::Above(hundredths) => Some(links_above(&alignment, f32::from(hundredths) / 100.0)),
        Links::Symmetrised(at) => {
            let backward: Vec<Link> = hard::links(&alignment.turned()).into_iter().map(Link::turned).collect();
            let rule = SYMMETRIZATIONS.get(at)?;
            Some((rule.combine)(&hard::links(&alignment), &backward))
        }
    }
}

/// An output as JSON has it.
#[derive(Serialize)]
struct Said<'a> {
    text: &'a str,
    source: &'a [String],
    target: &'a [String],
    log_p: Option<f32>,
    word_log_p: &'a [f32],
    alpha: Option<&'a Alignment>,
    links: Option<String>,
}

fn object(at: usize, corpus: &Corpus, workspace: &Workspace) -> Result<Value> {
    let mut systems = Map::new();
    for (number, column) in corpus.systems.iter().enumerate() {
        let Some(output) = workspace.output(column.system.id, at)? else { continue };
        let said = Said {
            text: &output.text,
            source: &output.source,
            target: &output.target,
            log_p: output.log_p,
            word_log_p: &output.word_log_p,
            alpha: output.alpha.as_ref(),
            links: output.hard_links().as_deref().map(pharaoh),
        };
        let mut said = serde_json::to_value(said).unwrap_or_default();
        let numbers = MEASURES.iter().enumerate().map(|(measure, entry)| {
            let number = Column::Output(measure, number).value(corpus, at);
            (entry.name.to_owned(), if number.is_nan() { Value::Null } else { json!(number) })
        });
        said["measures"] = numbers.collect::<Map<String, Value>>().into();
        systems.insert(column.system.name.clone(), said);
    }
    let gold = workspace.gold(at)?.as_ref().map(links::pharaoh);
    Ok(json!({
        "number": at + 1,
        "source": corpus.sources.get(at),
        "reference": corpus.references.get(at),
        "systems": systems,
        "gold": gold,
        "judgements": corpus.judgements.get(&at).map(AsRef::as_ref),
    }))
}

fn figures(out: &Out, (system, format): (usize, Format), workspace: &Workspace, corpus: &Corpus) -> Result<()> {
    if out.rows.len() > MOST_IN_REPORT {
        let message =
            format!("{} sentences are chosen, and at most {MOST_IN_REPORT} are drawn at once", out.rows.len());
        return Err(Error::Input(format!("{message}; narrow the conditions")));
    }
    let Some(column) = corpus.systems.get(system) else {
        return Err(Error::Input(format!("there is no system {}", system + 1)));
    };
    std::fs::create_dir_all(&out.path).map_err(|error| Error::io(&out.path, &error))?;
    let fonts = Fonts::default();
    for &at in out.rows.iter() {
        let Some(output) = workspace.output(column.system.id, at as usize)? else { continue };
        let path: PathBuf = out.path.join(format!("sentence-{:06}.{}", at + 1, format.name()));
        let title = format!("{}, sentence {}", column.system.name, at + 1);
        let draw = |figure: &crate::figure::Figure<'_>| (format_of(&path)?.write)(figure, &Page::default(), &fonts);
        let Some(bytes) = picture::drawn(&output, &title, draw) else { continue };
        let bytes = bytes?;
        write_atomic(&path, |file| file.write_all(&bytes))?;
    }
    Ok(())
}

/// How a file of a kind is called at first.
pub fn file_name(kind: Kind, workspace: &Path) -> String {
    let stem = workspace.file_stem().map_or_else(|| "workspace".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let mut name = stem;
    let _ = match kind {
        Kind::Tsv => write!(name, ".tsv"),
        Kind::Jsonl => write!(name, ".jsonl"),
        Kind::Parquet => write!(name, ".parquet"),
        Kind::Arrays => write!(name, ".npz"),
        Kind::Matrices => write!(name, "-alignments"),
        Kind::Pharaoh(system, _) => write!(name, ".{}.links", system + 1),
        Kind::Gold => write!(name, ".gold"),
        Kind::Judgements => write!(name, ".judgements.jsonl"),
        Kind::JudgementTable => write!(name, ".judgements.tsv"),
        Kind::Report => write!(name, ".html"),
        Kind::Figures(..) => write!(name, "-figures"),
    };
    name
}
