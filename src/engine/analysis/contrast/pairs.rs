//! Minimal pairs of a list, what models say of them, and the two tables that come of it: a row for each pair and
//! model, and a row for each tag and model. Imports its room and `text`.

use std::sync::Arc;

use crate::analysis::contrast::figures::{PAIR_FIGURES, PairFigure, PairMean};
use crate::analysis::contrast::minimal::{MinimalCounts, MinimalPair, mcnemar, wilson};
use crate::text::cells::{CellTable, TableCell};

/// A source with both translations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContrastPair {
    /// In its file, from 1.
    pub line: usize,
    pub source: String,
    pub targets: [String; 2],
    pub tags: Vec<String>,
}

/// What a model says of all pairs; nothing of those that it cannot read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContrastedModel {
    pub name: String,
    pub found: Vec<Option<MinimalPair>>,
}

/// The tags of a cell, with commas between.
pub fn tags(cell: &str) -> Vec<String> {
    cell.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

fn asked(models: &[ContrastedModel]) -> Vec<&'static PairFigure> {
    let all = || models.iter().flat_map(|model| &model.found).flatten();
    PAIR_FIGURES.iter().filter(|figure| all().any(|pair| (figure.of)(pair).is_some())).collect()
}

/// A row for each pair and model, and of which pair each row is.
pub fn each(pairs: &[ContrastPair], models: &[ContrastedModel]) -> (CellTable, Vec<usize>) {
    let mut head = vec![
        "line", "tag", "model", "difference", "word_difference", "log_p_good", "log_p_bad", "word_good", "word_bad",
        "word_log_p_good", "word_log_p_bad", "unknown",
    ];
    let figures = asked(models);
    head.extend(figures.iter().flat_map(|figure| figure.word.map(|word| word.0).into_iter().chain([figure.heads[0]])));
    head.extend(["source", "good", "bad"]);
    let (mut rows, mut of) = (Vec::new(), Vec::new());
    for (n, pair) in pairs.iter().enumerate() {
        for model in models {
            let Some(found) = &model.found[n] else { continue };
            let number = |number: f64| TableCell::Number(Some(number));
            let text = |text: &String| TableCell::Text(text.clone());
            let mut cells =
                vec![TableCell::Count(pair.line as u64), TableCell::Text(pair.tags.join(",")), text(&model.name)];
            let [good, bad] = found.log_p;
            cells.extend([found.difference(), found.word_difference(), good, bad].map(number));
            cells.extend(found.words.iter().map(text));
            cells.extend(found.word_log_p.map(number));
            cells.push(TableCell::Count(u64::from(found.is_unknown)));
            for figure in &figures {
                let word = figure.word.map(|(_, of)| TableCell::from(of(&found.depends).unwrap_or_default()));
                cells.extend(word.into_iter().chain([TableCell::Number((figure.of)(found))]));
            }
            cells.extend([&pair.source, &pair.targets[0], &pair.targets[1]].map(text));
            rows.push(cells);
            of.push(n);
        }
    }
    (CellTable { head, rows }, of)
}

/// What a model has right of the pairs of a tag.
pub struct ContrastRow {
    pub model: String,
    pub tag: Option<String>,
    pub counts: MinimalCounts,
    /// Against the first model.
    pub p: Option<f64>,
    /// Of each of [`PAIR_FIGURES`] that any pair has.
    pub means: Vec<(&'static PairFigure, Option<PairMean>)>,
}

/// A row for each tag and model, all pairs first.
pub fn summary(pairs: &[ContrastPair], models: &[ContrastedModel]) -> Vec<ContrastRow> {
    let mut tags: Vec<Option<&str>> = vec![None];
    for tag in pairs.iter().flat_map(|pair| &pair.tags) {
        if !tags.contains(&Some(tag)) {
            tags.push(Some(tag));
        }
    }
    let figures = asked(models);
    let row = |tag: Option<&str>, model: &ContrastedModel, is_first: bool| {
        let (mut counts, mut apart) = (MinimalCounts::default(), [0, 0]);
        let is_of = |pair: &ContrastPair| tag.is_none_or(|tag| pair.tags.iter().any(|known| known == tag));
        for (n, _) in pairs.iter().enumerate().filter(|(_, pair)| is_of(pair)) {
            let Some(found) = &model.found[n] else { continue };
            counts.add(found);
            let Some(first) = &models[0].found[n] else { continue };
            let right = [first, found].map(|pair| pair.difference() > 0.0);
            apart[0] += u64::from(right[0] && !right[1]);
            apart[1] += u64::from(right[1] && !right[0]);
        }
        let p = (!is_first).then(|| mcnemar(apart[0], apart[1]));
        let of_tag =
            || pairs.iter().zip(&model.found).filter(|(pair, _)| is_of(pair)).filter_map(|(_, found)| found.as_ref());
        let means = figures.iter().map(|&figure| (figure, figure.mean(of_tag()))).collect();
        ContrastRow { model: model.name.clone(), tag: tag.map(str::to_owned), counts, p, means }
    };
    let of_tag = |tag: Option<&str>| models.iter().enumerate().map(|(n, model)| row(tag, model, n == 0)).collect();
    tags.into_iter().flat_map(|tag| -> Vec<ContrastRow> { of_tag(tag) }).collect()
}

type ContrastColumn = (&'static str, fn(&ContrastRow) -> Option<f64>);

/// The figures of a row.
pub const FIGURES: &[ContrastColumn] = &[
    ("accuracy", |row| row.counts.accuracy()),
    ("low", |row| wilson(row.counts.right, row.counts.pairs).map(|(low, _)| low)),
    ("high", |row| wilson(row.counts.right, row.counts.pairs).map(|(_, high)| high)),
    ("word_accuracy", |row| row.counts.word_accuracy()),
    ("difference", |row| row.counts.mean_difference()),
    ("word_difference", |row| row.counts.mean_word_difference()),
];

pub fn summary_table(rows: &[ContrastRow]) -> CellTable {
    let figures = FIGURES.iter().map(|(name, _)| *name);
    let means = rows.first().map(|row| row.means.iter().flat_map(|(figure, _)| figure.heads)).into_iter().flatten();
    let head =
        ["model", "tag", "pairs"].into_iter().chain(figures).chain(["equal", "unknown", "p"]).chain(means).collect();
    let row = |row: &ContrastRow| {
        let mut cells = vec![
            TableCell::Text(row.model.clone()),
            TableCell::from(row.tag.as_deref().unwrap_or("all")),
            TableCell::Count(row.counts.pairs),
        ];
        cells.extend(FIGURES.iter().map(|(_, of)| TableCell::Number(of(row))));
        cells.extend([row.counts.equal, row.counts.unknown].map(TableCell::Count));
        cells.push(TableCell::P(row.p, row.counts.pairs));
        for (_, mean) in &row.means {
            cells.extend(
                [mean.map(|mean| mean.mean), mean.map(|mean| mean.low), mean.map(|mean| mean.high)]
                    .map(TableCell::Number),
            );
            cells.push(TableCell::Count(mean.map_or(0, |mean| mean.pairs)));
        }
        cells
    };
    CellTable { head, rows: rows.iter().map(row).collect() }
}

/// Both tables of a list, as they are shown and written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContrastTables {
    pub by_tag: Arc<CellTable>,
    pub each: Arc<CellTable>,
    /// Of which pair each row of these is.
    pub of: Vec<usize>,
}

impl ContrastTables {
    pub fn new(pairs: &[ContrastPair], models: &[ContrastedModel]) -> Self {
        let (rows, of) = each(pairs, models);
        Self { by_tag: Arc::new(summary_table(&summary(pairs, models))), each: Arc::new(rows), of }
    }
}
