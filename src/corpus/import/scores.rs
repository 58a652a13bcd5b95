//! Floor 7: scores of others on their way in: columns such as `COMET.1` or `COMET.mine`, of the first system or of that named
//! mine.

use std::collections::BTreeMap;
use std::path::Path;

use crate::corpus::import::report::ImportReport;
use crate::corpus::measures::table::{MEASURES, OF_SENTENCES};
use crate::error::{Error, Result};
use crate::import::Record;

/// The scores of a window of records: by title and system, then by the place of the sentence, from 0.
pub(super) type GivenScores = BTreeMap<(String, String), BTreeMap<usize, f32>>;

/// The title and the system of a column of scores. A number counts the systems; measures that are made here are none.
fn score_column(column: &str, systems: &[String]) -> Option<(String, String)> {
    let is_own = |title: &str| {
        let mut own = MEASURES.iter().chain(OF_SENTENCES).map(|measure| measure.name);
        matches!(title, "errors" | "rating" | "stars" | "marks" | "number") || own.any(|name| name == title)
    };
    column.match_indices('.').find_map(|(dot, _)| {
        let (title, of) = (column[..dot].trim(), column[dot + 1..].trim());
        let place = || of.parse::<usize>().ok()?.checked_sub(1);
        let system = systems.iter().find(|system| *system == of).or_else(|| systems.get(place()?))?;
        (!title.is_empty() && !is_own(title)).then(|| (title.to_owned(), system.clone()))
    })
}

/// The scores of some records, each with its place. `known` are the systems of the workspace; those that a file itself has come
/// before them.
pub(super) fn given_scores(
    window: &[(usize, Record)],
    known: &[String],
    path: &Path,
    report: &mut ImportReport,
) -> Result<GivenScores> {
    let mut scores = GivenScores::new();
    let own = window.first().into_iter().flat_map(|(_, record)| &record.outputs);
    let mut systems: Vec<String> = own.filter_map(|output| output.system.clone()).collect();
    if systems.is_empty() {
        systems.extend_from_slice(known);
    } else {
        // A number is that of the file, a name may be any.
        systems.extend(known.iter().filter(|name| name.parse::<usize>().is_err()).cloned());
    }
    for (at, record) in window {
        for (column, cell) in record.extra.iter().filter(|(_, cell)| !cell.trim().is_empty()) {
            let Some(of) = score_column(column, &systems) else {
                // A table has columns of all kinds; a file of nothing else is meant to be scores.
                if record.source.is_none() && record.reference.is_none() && record.outputs.is_empty() {
                    let message = format!(
                        "`{column}` names no score of a system; write its name, a point, and a system: COMET.1 is of the first; there \
                         are {}: {}",
                        systems.len(),
                        systems.join(", ")
                    );
                    return Err(Error::file(path, message));
                }
                continue;
            };
            match cell.trim().parse::<f32>() {
                Ok(score) if score.is_finite() => drop(scores.entry(of).or_default().insert(*at, score)),
                _ => report.warn(path, record.line, &format!("has `{}` for {column}, which is no number", cell.trim())),
            }
        }
    }
    report.scores += scores.values().map(BTreeMap::len).sum::<usize>();
    Ok(scores)
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
