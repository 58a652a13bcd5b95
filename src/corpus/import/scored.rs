//! Scores that a tool printed, a line each: those of `comet-score` (`a.fr  Segment 0  score: 0.8275`), the tables of
//! the WMT's metrics tasks (system, score and number of the sentence), and a number a line. They are refused as a
//! whole unless they are scores of the sentences that came last.

use std::{collections::BTreeMap, path::Path};

use crate::import::report::ImportReport;
use crate::import::scores::{fits, named};
use crate::store::{file::Workspace, read::StoredSystem};
use engine::error::{Error, Result};
use import::decimal::{Decimals, NumberCount, UNCLEAR, is_missing, is_number, number};
use import::input::ImportInput;
use import::recognise::{score_cells, score_places, score_separator};
use import::{ImportOptions, Role, Warnings, guess};

const PEEKED: usize = 20;

struct ScoreLine {
    line: usize,
    system: String,
    sentence: usize,
    cell: String,
}

/// A file of scores.
pub struct ScoreFile {
    title: String,
    lines: Vec<ScoreLine>,
    report: ImportReport,
}

fn comet(line: &str) -> Option<(&str, usize, &str)> {
    let (before, score) = line.rsplit_once("score:")?;
    let (system, segment) = before.rsplit_once("Segment")?;
    Some((system.trim(), segment.trim().parse().ok()?, score.trim()))
}

/// The scores of a file; `None` if it is of another kind.
pub fn read(path: &Path, options: &ImportOptions) -> Result<Option<ScoreFile>> {
    let is_given = matches!(options.role, Some(Role::Scores(_)));
    if !is_given && (options.format.is_some() || options.role.is_some()) {
        return Ok(None);
    }
    let Ok(input) = ImportInput::open(path, options.encoding.as_deref()) else { return Ok(None) };
    let head = input.head();
    let first: Vec<&str> = head.lines().filter(|line| !line.trim().is_empty()).take(PEEKED).collect();
    let places = first.first().and_then(|line| score_places(line));
    let is_known = places.is_some() || first.iter().any(|line| comet(line).is_some());
    let is_table =
        || guess(path).is_ok_and(|all| all.first().is_some_and(|(entry, _)| !matches!(entry.name, "text" | "matrix")));
    if !is_known && !(is_given && (first.first().is_some_and(|line| is_number(line)) || !is_table())) {
        return Ok(None);
    }
    let separator = first.first().map_or(' ', |line| score_separator(line));
    let heads = first.first().map_or_else(Vec::new, |line| score_cells(line, separator));
    // A line without a head begins with the name.
    let name = |[.., score]: [usize; 3]| heads.get(if is_number(heads[score]) { 0 } else { score }).copied();
    let title = places.and_then(name).unwrap_or("COMET").to_owned();
    let mut file = ScoreFile { title, lines: Vec::new(), report: ImportReport::default() };
    let (mut lines, mut unheard) = (input.lines()?, Warnings::new(path));
    while let Some(line) = lines.next(&mut unheard)? {
        let text = line.text.unwrap_or_default();
        let words = score_cells(&text, separator);
        let found = match (places, &words[..]) {
            _ if !is_known => Some(("", line.number - 1, text.trim())),
            (Some(places), words) if words.len() == heads.len() => {
                let [system, sentence, score] = places.map(|place| words[place]);
                sentence.parse::<usize>().ok().map(|n| (system, n, score))
            }
            _ => comet(&text),
        };
        if let Some((system, sentence, cell)) = found {
            let (system, cell) = (system.to_owned(), cell.to_owned());
            file.lines.push(ScoreLine { line: line.number, system, sentence, cell });
        } else if !text.trim().is_empty() && !text.contains("score") {
            file.report.warn(path, line.number, "has no score; it is left out");
        }
    }
    // Tables of the WMT count from 1, others from 0.
    if places.is_some() && file.lines.iter().all(|line| line.sentence > 0) {
        file.lines.iter_mut().for_each(|line| line.sentence -= 1);
    }
    // Blank lines at the end are no sentences.
    while file.lines.last().is_some_and(|last| last.cell.is_empty()) {
        file.lines.pop();
    }
    Ok(Some(file))
}

fn system_of<'a>(name: &str, systems: &'a [StoredSystem]) -> Option<&'a StoredSystem> {
    let (name, file) = (name.trim(), Path::new(name));
    let is_its = |known: &&StoredSystem| {
        let path = Path::new(&known.about.file);
        file.file_name().is_some() && path.file_name() == file.file_name()
            || file.file_stem() == Some(known.name.as_ref())
    };
    systems.iter().find(|known| known.name == name).or_else(|| systems.iter().find(is_its))
}

/// Adds the scores; nothing is written if they do not fit.
pub fn import(
    workspace: &mut Workspace, (path, options): (&Path, &ImportOptions), file: ScoreFile,
) -> Result<ImportReport> {
    let ScoreFile { title, lines, mut report } = file;
    let decimals = decimals(path, &lines)?;
    let systems = systems_of(workspace, (path, options), &title, &lines, &mut report)?;
    fits(workspace, path, lines.iter().map(|score| score.sentence + 1).max().unwrap_or_default())?;
    let (first, mut missing) = (workspace.newest()?.start, 0);
    let mut scores: BTreeMap<&(String, i64), BTreeMap<usize, f32>> = BTreeMap::new();
    for ScoreLine { line, system, sentence, cell } in &lines {
        let Some(of) = systems.get(system.as_str()) else { continue };
        let Some(score) = number(cell, decimals) else {
            missing += usize::from(is_missing(cell));
            if !is_missing(cell) {
                report.warn(path, *line, &format!("has `{cell:.40}`, which is no number"));
            }
            continue;
        };
        if scores.entry(of).or_default().insert(first + sentence, score as f32).is_some() {
            let message =
                format!("gives sentence {} a second score of the same system; nothing was imported", sentence + 1);
            return Err(Error::line(path, *line, message));
        }
    }
    report.facts.push("Scores, a line each.".to_owned());
    if missing > 0 {
        report.facts.push(format!("Sentences without a number, such as `-`, `n/a` or `NaN`: {missing}."));
    }
    for ((title, system), scores) in scores {
        report.scores += scores.len();
        workspace.add_scores(*system, title, &scores)?;
    }
    workspace.fold()?;
    Ok(report)
}

fn decimals(path: &Path, lines: &[ScoreLine]) -> Result<Decimals> {
    let mut count = NumberCount::default();
    for score in lines {
        count.add(&score.cell);
    }
    let is_other = |score: &&ScoreLine| !is_number(&score.cell) && !is_missing(&score.cell);
    if let Some(other) = lines.iter().find(is_other).filter(|_| count.others > count.numbers) {
        let message =
            format!("has `{:.40}`, and most other lines are no numbers either; nothing was imported", other.cell);
        return Err(Error::line(path, other.line, message));
    }
    if count.decimals() == Decimals::Unclear {
        let message = format!("has numbers that cannot be read: {UNCLEAR}. Nothing was imported");
        return Err(Error::file(path, message));
    }
    Ok(count.decimals())
}

fn systems_of<'a>(
    workspace: &Workspace, (path, options): (&Path, &ImportOptions), title: &str, lines: &'a [ScoreLine],
    report: &mut ImportReport,
) -> Result<BTreeMap<&'a str, (String, i64)>> {
    let systems = workspace.systems()?;
    let known: Vec<String> = systems.iter().map(|system| system.name.clone()).collect();
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for score in lines {
        names.entry(&score.system).or_insert(score.line);
    }
    let mut found = BTreeMap::new();
    for (name, line) in &names {
        let same = system_of(name, &systems);
        let of = match &options.role {
            Some(Role::Scores(column)) => {
                let (title, system) = named(column, &known, path)?;
                // The only one may be called anything.
                let same = if names.len() == 1 { system_of(&system, &systems) } else { same };
                same.filter(|same| same.name == system).map(|same| (title, same.id))
            }
            _ => same
                .or(systems.first().filter(|_| names.len() + known.len() == 2))
                .map(|same| (title.to_owned(), same.id)),
        };
        match of {
            Some(of) => drop(found.insert(*name, of)),
            None => report.warn(path, *line, &format!("begins scores of `{name}`, which are left out")),
        }
    }
    if found.is_empty() {
        let (names, known) = (names.into_keys().collect::<Vec<_>>().join(", "), known.join(", "));
        let advice = "name the scores of each with --scores COMET.NAME=FILE, one file a system";
        return Err(Error::file(
            path,
            format!("has scores of {names}, but the corpus has outputs of {known}; {advice}"),
        ));
    }
    Ok(found)
}
