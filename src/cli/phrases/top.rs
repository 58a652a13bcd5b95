//! The top targets of source phrases, by the model and by the table, side by side: tables 2 of Cho et al. 2014.

use std::{cmp::Ordering, path::Path};

use serde::Serialize;

use crate::phrases::arguments::{Scorer, WINDOW_LINES};
use crate::{args::TableFormat, output::LineOutput};
use engine::error::{Error, Result};
use engine::text::phrases::{PhraseEntry, PhraseTable, feature};
use engine::text::{readable::unescaped, tsv, tsv::TsvCell};
use engine::{decoding::phrases::ScoredPhrases, ticket::CancellationToken};

struct Group {
    source: String,
    targets: Vec<Target>,
}

struct Target {
    text: String,
    number: usize,
    table: f64,
    log_p: f32,
}

pub(super) fn run(
    mut scorer: Scorer, mut table: PhraseTable, (path, n, phrases): (&Path, usize, &[String]), format: TableFormat,
    k: usize,
) -> anyhow::Result<()> {
    let name = scorer.model.config.name.clone();
    let mut output = LineOutput::stdout();
    if format == TableFormat::Tsv {
        output.text(&tsv::text(&HEAD, []))?;
    }
    let mut show = |groups: &mut [Group], output: &mut LineOutput| -> anyhow::Result<()> {
        score(&mut scorer, path, groups)?;
        for group in groups.iter().filter(|group| !group.targets.is_empty()) {
            let record = record(group, k);
            match format {
                TableFormat::Json => output.json(&record)?,
                TableFormat::Tsv => output.text(&rows(&record))?,
                TableFormat::Text => text(&record, n, &name, output)?,
            }
        }
        output.flush()
    };
    if phrases.is_empty() {
        let mut reading = Groups { table: &mut table, n, next: None };
        loop {
            let mut groups = reading.window()?;
            if groups.is_empty() {
                break;
            }
            show(&mut groups, &mut output)?;
        }
        return output.flush();
    }
    let mut groups = find(&mut table, phrases, n)?;
    show(&mut groups, &mut output)?;
    output.flush()?;
    let missing: Vec<String> =
        groups.iter().filter(|group| group.targets.is_empty()).map(|group| format!("`{}`", group.source)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!("has no source phrase {}; write phrases as the table does", missing.join(", "));
    Err(Error::file(table.path(), message).into())
}

fn target(table: &PhraseTable, entry: &PhraseEntry, n: usize) -> Result<Target> {
    let score = feature(table.path(), entry, n, "--table-feature")?;
    Ok(Target { text: entry.target().to_owned(), number: entry.number, table: score, log_p: 0.0 })
}

fn find(table: &mut PhraseTable, phrases: &[String], n: usize) -> Result<Vec<Group>> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    let mut groups: Vec<Group> =
        phrases.iter().map(|phrase| Group { source: words(phrase), targets: Vec::new() }).collect();
    while let Some(entry) = table.next() {
        let entry = entry?;
        let plain = unescaped(entry.source());
        for group in groups.iter_mut().filter(|group| group.source == entry.source() || group.source == plain) {
            group.targets.push(target(table, &entry, n)?);
        }
    }
    Ok(groups)
}

struct Groups<'a> {
    table: &'a mut PhraseTable,
    n: usize,
    next: Option<PhraseEntry>,
}

impl Groups<'_> {
    /// The groups of the next lines; a group is never cut.
    fn window(&mut self) -> Result<Vec<Group>> {
        let (mut groups, mut lines): (Vec<Group>, _) = (Vec::new(), 0);
        loop {
            let Some(entry) = self.next.take().map(Ok).or_else(|| self.table.next()).transpose()? else {
                return Ok(groups);
            };
            let target = target(self.table, &entry, self.n)?;
            match groups.last_mut().filter(|group| group.source == entry.source()) {
                Some(group) => group.targets.push(target),
                None if lines >= WINDOW_LINES => {
                    self.next = Some(entry);
                    return Ok(groups);
                }
                None => groups.push(Group { source: entry.source().to_owned(), targets: vec![target] }),
            }
            lines += 1;
        }
    }
}

fn score(scorer: &mut Scorer, path: &Path, groups: &mut [Group]) -> Result<()> {
    let mut phrases = ScoredPhrases::new(&scorer.model, scorer.options);
    for group in groups.iter() {
        for target in &group.targets {
            let pushed = phrases.push(&group.source, &target.text);
            pushed.map_err(|message| Error::line(path, target.number, message))?;
        }
    }
    let log_p = phrases.score(scorer.stepper.as_mut(), &CancellationToken::forever(), &mut |_| Ok(()))?;
    let targets = groups.iter_mut().flat_map(|group| &mut group.targets);
    targets.zip(log_p).for_each(|(target, log_p)| target.log_p = log_p);
    Ok(())
}

#[derive(Serialize)]
struct Placed<'a> {
    target: &'a str,
    log_p: f32,
    table: f64,
}

#[derive(Serialize)]
struct Record<'a> {
    source: &'a str,
    targets: usize,
    model: Vec<Placed<'a>>,
    table: Vec<Placed<'a>>,
}

const HEAD: [&str; 8] =
    ["source", "rank", "model_target", "model_log_p", "model_table", "table_target", "table_log_p", "table_table"];

fn record(group: &Group, k: usize) -> Record<'_> {
    let placed = |order: Vec<usize>| -> Vec<Placed<'_>> {
        let place = |&index: &usize| &group.targets[index];
        order.iter().map(place).map(|t| Placed { target: &t.text, log_p: t.log_p, table: t.table }).collect()
    };
    let targets = &group.targets;
    let by_model = placed(best(&targets.iter().map(|t| f64::from(t.log_p)).collect::<Vec<_>>(), k));
    let by_table = placed(best(&targets.iter().map(|t| t.table).collect::<Vec<_>>(), k));
    Record { source: &group.source, targets: targets.len(), model: by_model, table: by_table }
}

fn best(values: &[f64], k: usize) -> Vec<usize> {
    let descending = |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
        (false, false) => b.partial_cmp(&a).unwrap_or(Ordering::Equal),
        (a, b) => a.cmp(&b),
    };
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| descending(values[*a], values[*b]));
    order.truncate(k);
    order
}

fn rows(record: &Record) -> String {
    let pairs = record.model.iter().zip(&record.table).enumerate();
    tsv::rows(pairs.map(|(rank, (model, table))| {
        vec![
            record.source.into(),
            TsvCell::plain(&(rank + 1)),
            model.target.into(),
            TsvCell::plain(&model.log_p),
            TsvCell::plain(&model.table),
            table.target.into(),
            TsvCell::plain(&table.log_p),
            TsvCell::plain(&table.table),
        ]
    }))
}

fn text(record: &Record, n: usize, model: &str, output: &mut LineOutput) -> anyhow::Result<()> {
    let targets = if record.targets == 1 { "1 target".into() } else { format!("{} targets", record.targets) };
    let heads = [format!("log p of {model}"), "target".into(), format!("feature {n}"), "target".into()];
    let rows: Vec<[String; 4]> = std::iter::once(heads)
        .chain(record.model.iter().zip(&record.table).map(|(model, table)| {
            let score = |value: f64| format!("{value:.4}");
            [score(f64::from(model.log_p)), model.target.to_owned(), score(table.table), table.target.to_owned()]
        }))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second, third) = (width(0), width(1), width(2));
    output.line(&format!("{} ({targets})", record.source))?;
    for [log_p, by_model, score, by_table] in &rows {
        let pad = " ".repeat(second - by_model.chars().count());
        output.line(&format!("  {log_p:>first$}  {by_model}{pad}  {score:>third$}  {by_table}"))?;
    }
    output.line("")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_greatest_come_first_and_numbers_before_what_is_none() {
        let values = [0.1, f64::NAN, 0.5, 0.5, -2.0];
        for (k, expect) in [(2, &[2, 3][..]), (9, &[2, 3, 0, 4, 1]), (0, &[])] {
            assert_eq!(super::best(&values, k), expect);
        }
    }
}
