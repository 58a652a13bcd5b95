//! Scores of others on their way in: columns such as `COMET.1` or `COMET.mine`, of the first system or of that named
//! mine; and numbers of the sentences themselves, such as `difficulty`.

use std::{collections::BTreeMap, path::Path};

use crate::measures::table::{CorpusMeasure, MEASURES, OF_PEOPLE, OF_SENTENCE, OF_SENTENCES};
use crate::measures::{oracle, oracle::greatest, oracle::ranked_by};
use crate::store::read::ORACLE_OF;
use crate::{import::report::ImportReport, store::file::Workspace};
use engine::analysis::bleu::BleuSettings;
use engine::error::{Error, Result};
use import::decimal::is_missing;
use import::formats::table::{holds_text, is_remark, output_of};
use import::{ColumnRole, Facts, ImportColumn, Record};
use import::{ImportOptions, ImportedOutput};

/// Scores of some records by title and system (none: of the sentences), then by the place of the sentence, from 0.
pub(super) type GivenScores = BTreeMap<(String, Option<String>), BTreeMap<usize, f32>>;

fn is_own(title: &str) -> bool {
    let mut own = MEASURES.iter().chain(OF_SENTENCES).map(|measure| measure.name);
    OF_PEOPLE.contains(&title) || own.any(|name| name == title)
}

pub(super) fn is_score(column: &str, cell: &str) -> bool {
    let title = column.rsplit_once('.').map_or(column, |(title, _)| title);
    !is_own(title) && !is_remark(column) && cell.trim().parse::<f32>().is_ok()
}

fn score_column(column: &str, systems: &[String]) -> Option<(String, String)> {
    column.match_indices('.').find_map(|(dot, _)| {
        let (title, of) = (column[..dot].trim(), column[dot + 1..].trim());
        let place = || of.parse::<usize>().ok()?.checked_sub(1);
        let system = systems.iter().find(|system| *system == of).or_else(|| systems.get(place()?))?;
        (!title.is_empty() && !is_own(title)).then(|| (title.to_owned(), system.clone()))
    })
}

pub(super) fn check(workspace: &Workspace, path: &Path, facts: &Facts) -> Result<()> {
    let is_placed = |column: &ImportColumn| column.role == ColumnRole::Id || holds_text(&column.role);
    match facts.sentences {
        Some(rows) if !facts.columns.is_empty() && !facts.columns.iter().any(is_placed) => fits(workspace, path, rows),
        _ => Ok(()),
    }
}

pub(super) fn fits(workspace: &Workspace, path: &Path, count: usize) -> Result<()> {
    let sentences = workspace.newest()?.len();
    if count == sentences {
        return Ok(());
    }
    let message = format!(
        "has scores of {count} sentences, but the corpus has {sentences} from the last import of sources. Nothing was imported; give a \
         score for each, or add a column `source`"
    );
    Err(Error::file(path, message))
}

pub(super) fn named(column: &str, systems: &[String], path: &Path) -> Result<(String, String)> {
    score_column(column, systems).ok_or_else(|| {
        let message = format!(
            "`{column}` names no score of a system; write its name, a point, and a system: COMET.1 is of the first; there are {}: {}",
            systems.len(),
            systems.join(", ")
        );
        Error::file(path, message)
    })
}

fn of_sentences<'a>(columns: &'a [ImportColumn], systems: &[String], report: &mut ImportReport) -> Vec<&'a str> {
    let numbers = columns.iter().filter(|column| column.role == ColumnRole::Number).map(|column| column.name.as_str());
    let mut of_sentences = Vec::new();
    for name in numbers.filter(|name| !is_remark(name) && score_column(name, systems).is_none()) {
        let (title, of) = name.rsplit_once('.').unwrap_or((name, ""));
        let is_difference = of.contains('-') && of.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if is_own(title) || is_difference {
            continue;
        }
        let is_system = systems.iter().any(|system| system == name);
        let is_free = title.starts_with(char::is_alphabetic) && !is_own(CorpusMeasure::given(title, OF_SENTENCE).name);
        if is_free && !is_system {
            of_sentences.push(name);
            continue;
        }
        let fact = if is_system {
            format!(
                "The numbers of column `{name}` are left out, since a system is called so: `COMET.{name}` in the first row makes them its \
                 scores."
            )
        } else {
            format!("The numbers of column `{name}` are left out: give it another name in the first row.")
        };
        if !report.facts.contains(&fact) {
            report.facts.push(fact);
        }
    }
    of_sentences
}

/// The scores of some records; columns of numbers without a system are of the sentences.
pub(super) fn given_scores(
    window: &[(usize, Record)], known: &[String], columns: &[ImportColumn], path: &Path, report: &mut ImportReport,
) -> Result<GivenScores> {
    let mut scores = GivenScores::new();
    // Of a table the first row may lack outputs.
    let in_table = columns.iter().filter_map(|column| output_of(&column.role)).map(str::to_owned);
    let own = window.first().into_iter().flat_map(|(_, record)| &record.outputs);
    let mut systems: Vec<String> = in_table.collect();
    if systems.is_empty() {
        systems = own.filter_map(|output| output.system.clone()).collect();
    }
    if systems.is_empty() {
        systems.extend_from_slice(known);
    } else {
        // A number is that of the file, a name may be any.
        systems.extend(known.iter().filter(|name| name.parse::<usize>().is_err()).cloned());
    }
    let numbers = of_sentences(columns, &systems, report);
    for (at, record) in window {
        for (column, cell) in record.extra.iter().filter(|(_, cell)| !is_missing(cell)) {
            let of = score_column(column, &systems).map(|(title, system)| (title, Some(system)));
            let is_bare = record.source.is_none() && record.reference.is_none() && record.outputs.is_empty();
            let may = numbers.contains(&column.as_str()) && !(is_bare && column.contains('.'));
            let Some(of) = of.or_else(|| may.then(|| (column.clone(), None))) else {
                // A table has columns of all kinds; a file of nothing else is meant to be scores.
                if is_bare && columns.iter().all(|of| of.name != *column || of.role == ColumnRole::Number) {
                    named(column, &systems, path)?;
                }
                continue;
            };
            match cell.trim().parse::<f32>() {
                Ok(score) if score.is_finite() => drop(scores.entry(of).or_default().insert(*at, score)),
                _ => report.warn(path, record.line, &format!("has `{}` for {column}, which is no number", cell.trim())),
            }
        }
    }
    for ((_, system), scores) in &scores {
        *(if system.is_some() { &mut report.scores } else { &mut report.numbers }) += scores.len();
    }
    Ok(scores)
}

/// The title of the score that says where the oracle stands in its list, from 1.
const ORACLE: &str = "oracle place";

/// What systems output in a record; an unnamed one is called by the `stem`.
pub(super) fn said<'r>(
    (at, record): (usize, &'r Record), (stem, options, bleu): (&str, &ImportOptions, &BleuSettings),
    references: &[&str], oracles: &mut GivenScores,
) -> std::result::Result<Vec<(String, &'r ImportedOutput)>, String> {
    let mut lists: Vec<(String, Vec<&ImportedOutput>)> = Vec::new();
    for output in &record.outputs {
        let name = output.system.as_deref().unwrap_or(stem);
        match lists.iter_mut().find(|(other, _)| other == name) {
            Some((_, list)) => list.push(output),
            None => lists.push((name.to_owned(), vec![output])),
        }
    }
    let mut said = Vec::new();
    for (name, list) in lists {
        let texts = list.iter().map(|output| output.text.as_str());
        let oracle =
            options.oracle.filter(|_| list.len() > 1).and_then(|by| oracle::oracle(by, texts, references, bleu));
        said.push((name.clone(), list[0]));
        if let Some(best) = oracle {
            oracles.entry((ORACLE.to_owned(), Some(name.clone()))).or_default().insert(at, (best + 1) as f32);
            said.push((format!("{ORACLE_OF}{name}"), list[best]));
        }
        if let Some(rerank) = &options.rerank {
            match ranked_by(&list, rerank) {
                Ok(ranks) => said.push((format!("{name} by {rerank}"), list[greatest(ranks).unwrap_or_default()])),
                // A text of single sentences has nothing to be put into another order.
                Err(_) if list.len() == 1 => {}
                Err(why) => return Err(why),
            }
        }
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_names_a_score_and_its_system() {
        let systems = ["mine", "a.b"].map(str::to_owned);
        let cases = [
            ("COMET.1", Some(("COMET", "mine"))),
            ("COMET.mine", Some(("COMET", "mine"))),
            ("COMET-22.a.b", Some(("COMET-22", "a.b"))),
            ("COMET.3", None),
            ("COMET.0", None),
            ("COMET", None),
            (".1", None),
            ("bleu.1", None),
            ("errors.1", None),
            ("COMET.1-2", None),
        ];
        for (column, wanted) in cases {
            let found = score_column(column, &systems);
            assert_eq!(found.as_ref().map(|(title, system)| (title.as_str(), system.as_str())), wanted, "{column}");
        }
    }
}
