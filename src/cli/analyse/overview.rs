//! The tables of an overview that `analyse --overview` prints.

use crate::output::{LineOutput, notify};
use corpus::overview::compute::{CountedThing, OverviewOptions, first_pair};
use corpus::overview::tables::{OverviewTable, TABLES, overview};
use corpus::store::{corpus::CorpusTable, file::Workspace};
use corpus::{overview::tables, query::expensive::FilterResources};
use engine::error::Error;

pub(super) fn overviews_of(
    (names, asked, is_json): (&[String], Option<(usize, usize)>, bool),
    (corpus, workspace): (&CorpusTable, &Workspace), rows: &[u32], means: &mut FilterResources,
    output: &mut LineOutput,
) -> anyhow::Result<()> {
    let is_asked = |table: &&OverviewTable| names.iter().any(|name| name == table.name);
    let only: Vec<CountedThing> = TABLES.iter().filter(is_asked).map(|table| table.counted).collect();
    let (count, pair @ (first, second)) = (corpus.systems.len(), asked.unwrap_or_else(|| first_pair(corpus)));
    let is_paired = only.iter().any(|thing| matches!(thing, CountedThing::Pair | CountedThing::Ngrams));
    if is_paired && count > 1 && (first.max(second) >= count || first == second) {
        let message = match asked {
            Some(_) => {
                format!("--pair {},{} names no two systems; there are {count}, counted from 1", first + 1, second + 1)
            }
            None => "forced references translate nothing, so that no two systems can be compared; run another model"
                .to_owned(),
        };
        return Err(Error::Input(message).into());
    }
    let is_forced = |at: &usize| corpus.systems.get(*at).is_some_and(|column| column.system.is_forced());
    if let Some((first, second)) = asked
        && let Some(at) = [first, second].into_iter().find(is_forced)
    {
        let name = &corpus.systems[at].system.name;
        let message = format!("--pair, system {} ({name}) is a reference that was forced", at + 1);
        return Err(Error::Input(format!("{message} and translates nothing; choose two that translate")).into());
    }
    let options = OverviewOptions { only, pair, most: usize::MAX };
    let overview = overview(corpus, workspace, rows, &options, means)?;
    for (n, table) in TABLES.iter().filter(is_asked).enumerate() {
        if n > 0 && !is_json {
            output.line("")?;
        }
        if is_json {
            tables::json(table, &overview, corpus).iter().try_for_each(|row| output.json(row))?;
        } else {
            output.text(&tables::tsv(table, &overview, corpus))?;
        }
    }
    let has_scores = |table: &OverviewTable| matches!(table.counted, CountedThing::Lengths | CountedThing::Pair);
    if TABLES.iter().filter(is_asked).any(has_scores) {
        overview.notes.iter().for_each(|note| notify(note));
    }
    Ok(())
}
