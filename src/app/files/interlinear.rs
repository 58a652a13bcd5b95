//! Floor 9: the sentence and its translations as the rows of interlinear text, with what was typed under them. Pure.

use std::borrow::Cow;

use crate::analysis::hard;
use crate::analysis::reading::Reading;
use crate::analysis::words::links_of_parts;
use crate::app::document::column::Column;
use crate::app::document::interlinear::{HandTier, InterlinearPlan, LinksBy, RowChoice, TextRow};
use crate::app::document::table;
use crate::app::state::AppState;
use crate::figure::interlinear::{GlossTier, GlossedSentence, GlossedText, through};
use crate::text::links::Links;
use crate::text::words;

/// A row as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextRowShown {
    pub row: TextRow,
    /// What it is called.
    pub name: String,
    pub words: Vec<String>,
    /// From the words of the sentence; none of the sentence itself.
    pub links: Links,
    /// From the words of the row above.
    pub between: Links,
    /// What links it, and what could; nothing of what no model says.
    pub by: Option<LinksBy>,
    pub choices: Vec<LinksBy>,
    /// Lines under it, each with its place in the plan.
    pub tiers: Vec<(usize, GlossTier)>,
}

/// The rows that could be shown, as they were chosen and in their order.
pub fn choices(app: &AppState) -> Vec<RowChoice> {
    let plan = &app.document.scene().interlinear;
    let mut others = columns(app);
    // what has no links stands at the foot, so that the others are neighbours
    others
        .sort_by_key(|(_, column)| column.facts.as_ref().is_some_and(|facts| !facts.has_alignment && !facts.has_head));
    let others = others.into_iter().map(|(row, _)| RowChoice { row, ..RowChoice::default() });
    let reference = RowChoice { row: TextRow::Reference, is_hidden: true, ..RowChoice::default() };
    let mut all = plan.rows.clone();
    for other in others.chain(reference_of(app).map(|_| reference)) {
        if !all.iter().any(|known| known.row == other.row) {
            all.push(other);
        }
    }
    all
}

/// The columns that translate the sentence as it stands, each by its own name.
fn columns(app: &AppState) -> Vec<(TextRow, &Column)> {
    let mut rows: Vec<(TextRow, &Column)> = Vec::new();
    let reads = |column: &&Column| app.document.scene().text_of(column.variant) == app.document.source();
    for column in app.document.columns().iter().filter(reads) {
        let name = column.name();
        let names = std::iter::once(name.clone()).chain((2..).map(|n| format!("{name} {n}")));
        let is_free = |row: &TextRow| !rows.iter().any(|(known, _)| known == row);
        if let Some(row) = names.map(TextRow::Model).find(is_free) {
            rows.push((row, column));
        }
    }
    rows
}

/// The rows from top to bottom, the sentence first; those whose text is not there yet, or left out, are none.
pub fn rows(app: &AppState) -> Vec<TextRowShown> {
    let plan = &app.document.scene().interlinear;
    let columns = columns(app);
    let first =
        TextRowShown { words: cut(app.document.source()), name: tr!("Sentence").to_owned(), ..Default::default() };
    let mut rows = vec![first];
    for choice in choices(app).into_iter().filter(|choice| !choice.is_hidden) {
        let column = || columns.iter().find(|(row, _)| *row == choice.row).map(|(_, column)| *column);
        let row = match &choice.row {
            TextRow::Source => None,
            TextRow::Reference => reference(app),
            TextRow::Model(name) => column().and_then(|column| of_column(app, column, choice.links, name)),
        };
        if let (Some(row), Some(above)) = (row, rows.last()) {
            let between = match &above.row {
                TextRow::Source => row.links.clone(),
                _ => through(&above.links.turned(), &row.links),
            };
            rows.push(TextRowShown { between, row: choice.row, ..row });
        }
    }
    for row in &mut rows {
        row.tiers = tiers(plan, row);
    }
    rows
}

fn cut(text: &str) -> Vec<String> {
    words::words(text).map(str::to_owned).collect()
}

fn tiers(plan: &InterlinearPlan, row: &TextRowShown) -> Vec<(usize, GlossTier)> {
    let own = plan.tiers.iter().enumerate().filter(|(_, tier)| tier.under == row.row);
    let tier = |(at, tier): (usize, &HandTier)| {
        (at, GlossTier { name: tier.name.clone(), cells: tier.cells(&row.words), is_gloss: tier.is_gloss })
    };
    own.map(tier).collect()
}

fn reference_of(app: &AppState) -> Option<String> {
    app.gold().map(|gold| gold.reference.clone()).or_else(|| app.reference().map(Cow::into_owned))
}

/// The reference, with its links by hand where they are known.
fn reference(app: &AppState) -> Option<TextRowShown> {
    let text = reference_of(app)?;
    let links = app.gold().map(|gold| gold.links.clone()).unwrap_or_default();
    Some(TextRowShown { name: tr!("Reference").to_owned(), words: cut(&text), links, ..Default::default() })
}

fn of_column(app: &AppState, column: &Column, by: Option<LinksBy>, name: &str) -> Option<TextRowShown> {
    let table = column.table.as_deref().filter(|_| column.source.text == app.document.source())?;
    let settings = app.view.settings();
    let facts = column.facts.as_ref();
    let (shown, aligned) =
        if table.is_given { (column.read()?, &column.given_links) } else { (column.shown()?, &column.links) };
    let mut choices = Vec::new();
    choices.extend(shown.alpha.is_some().then_some(LinksBy::Alpha));
    choices.extend(shown.head.is_some().then_some(LinksBy::Head));
    choices.extend(column.aligner(settings).map(|_| LinksBy::Aligner));
    let best = if choices.contains(&LinksBy::Head) { Some(LinksBy::Head) } else { choices.first().copied() };
    let by = by.filter(|by| choices.contains(by)).or(best);
    let (source, target) = table::sides(&column.source, shown)?;
    let sides = (&source, &target);
    let threshold = app.document.scene().interlinear.threshold;
    let links = match by {
        None => None,
        Some(LinksBy::Alpha) => {
            let rows = table::rows_by(shown, settings.of_alpha(facts).unwrap_or_default());
            rows.map(|rows| links_of_parts(rows, sides, |alpha| hard::links_above(alpha, threshold)))
        }
        Some(LinksBy::Head) => table::rows_by(shown, (Reading::Head, 0))
            .map(|rows| links_of_parts(rows, sides, |words| Reading::Head.links(words))),
        Some(LinksBy::Aligner) => {
            aligned.as_ref().map(|links| links.spread(&source.places.places, &target.places.places))
        }
    };
    let (name, words) = (name.to_owned(), cut(&table.text));
    Some(TextRowShown { name, words, links: links.unwrap_or_default(), by, choices, ..Default::default() })
}

/// The sentence with all its rows, and each translation that has lines of its own as a sentence with the other one below. Nothing where there is no
/// text.
pub fn sentences(app: &AppState) -> Vec<GlossedSentence> {
    let rows = rows(app);
    let Some((source, others)) = rows.split_first().filter(|(source, _)| !source.words.is_empty()) else {
        return Vec::new();
    };
    let is_said = |tier: &GlossTier| tier.cells.iter().any(|cell| !cell.is_empty());
    let own = |row: &TextRowShown| row.tiers.iter().map(|(_, tier)| tier.clone()).filter(is_said).collect::<Vec<_>>();
    let text = |(n, row): (usize, &TextRowShown)| GlossedText {
        name: row.name.clone(),
        words: row.words.clone(),
        links: row.links.clone(),
        between: (n > 0).then(|| row.between.clone()),
        ..GlossedText::default()
    };
    let texts = others.iter().enumerate().map(text).collect();
    let first = GlossedSentence { words: source.words.clone(), tiers: own(source), texts, ..Default::default() };
    let glossed = others.iter().filter_map(|row| {
        let tiers = Some(own(row)).filter(|tiers| !tiers.is_empty())?;
        let (name, words) = (source.name.clone(), source.words.clone());
        let back = GlossedText { name, words, links: row.links.turned(), ..GlossedText::default() };
        Some(GlossedSentence { words: row.words.clone(), tiers, texts: vec![back], ..Default::default() })
    });
    std::iter::once(first).chain(glossed).collect()
}
