//! The sentence and its translations as the rows of interlinear text, with what was typed under them. Pure.

use std::borrow::Cow;

use crate::app::document::interlinear::{HandTier, InterlinearPlan, LinksBy, RowChoice, TextRow};
use crate::app::{document::column::Column, document::table, state::AppState};
use engine::analysis::{hard, row_convention::RowConvention, words::over_words};
use engine::error::Result;
use engine::text::{cut::WordRule, join::join, links::Links};
use figure::interlinear::{GlossTier, GlossedSentence, GlossedText, picture, through};
use figure::{Figure, measure::SansSerif, palette::LIGHT};

/// A row as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextRowShown {
    pub row: TextRow,
    pub name: String,
    pub text: String,
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

pub fn choices(app: &AppState) -> Vec<RowChoice> {
    let plan = &app.document.state.interlinear;
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

fn columns(app: &AppState) -> Vec<(TextRow, &Column)> {
    let mut rows: Vec<(TextRow, &Column)> = Vec::new();
    let reads = |column: &&Column| app.document.state.text_of(column.variant) == app.document.source();
    for column in app.document.columns.iter().filter(reads) {
        let name = column.name();
        let names = std::iter::once(name.clone()).chain((2..).map(|n| format!("{name} {n}")));
        let is_free = |row: &TextRow| !rows.iter().any(|(known, _)| known == row);
        if let Some(row) = names.map(TextRow::Model).find(is_free) {
            rows.push((row, column));
        }
    }
    rows
}

/// Rows from top to bottom, the sentence first; without those whose text is missing.
pub fn rows(app: &AppState) -> Vec<TextRowShown> {
    let plan = &app.document.state.interlinear;
    let columns = columns(app);
    let rules = columns.iter().find_map(|(_, column)| column.shown()).map(|shown| shown.rules).unwrap_or_default();
    let mut rows = vec![TextRowShown::new(tr!("Sentence"), app.document.source(), rules[0])];
    for choice in choices(app).into_iter().filter(|choice| !choice.is_hidden) {
        let column = || columns.iter().find(|(row, _)| *row == choice.row).map(|(_, column)| *column);
        let row = match &choice.row {
            TextRow::Source => None,
            TextRow::Reference => reference(app, rules),
            TextRow::Model(name) => column().and_then(|column| of_column(app, column, (choice.links, rules[0]), name)),
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

/// The sentence and its rows as a figure. Error: it is higher than a page can be.
pub fn picture(app: &AppState, sentences: &[GlossedSentence]) -> Result<Figure<'static>> {
    let mut figure = picture::picture(sentences, app.view.drawing.page.width_mm, &SansSerif, &LIGHT)?;
    let about = &mut figure.provenance;
    picture::TITLE.clone_into(&mut about.title);
    for (_, column) in columns(app) {
        about.model(&column.model(), column.facts.as_ref().map_or("", |facts| &facts.digest));
        about.fact("search", format!("beam {}", app.document.state.search_of(column.variant).beam));
    }
    about.fact("sentence", app.document.source());
    about.program();
    Ok(figure)
}

impl TextRowShown {
    fn new(name: &str, text: &str, rule: WordRule) -> Self {
        let words = rule.owned(text);
        Self { name: name.to_owned(), text: text.to_owned(), words, ..Self::default() }
    }
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

fn reference(app: &AppState, rules: [WordRule; 2]) -> Option<TextRowShown> {
    let links = app.gold().map(|gold| gold.links_of(rules)).unwrap_or_default();
    Some(TextRowShown { links, ..TextRowShown::new(tr!("Reference"), &reference_of(app)?, rules[1]) })
}

fn of_column(
    app: &AppState, column: &Column, (by, rule): (Option<LinksBy>, WordRule), name: &str,
) -> Option<TextRowShown> {
    let table = column.table.as_deref().filter(|_| column.source.text == app.document.source())?;
    let settings = &app.view.settings;
    let facts = column.facts.as_ref();
    let (shown, aligned) =
        if table.is_given { (column.read()?, &column.given.links) } else { (column.shown()?, &column.links) };
    let mut choices = Vec::new();
    choices.extend(shown.found.alpha.is_some().then_some(LinksBy::Alpha));
    choices.extend(shown.found.head.is_some().then_some(LinksBy::Head));
    choices.extend(column.aligner(settings).map(|_| LinksBy::Aligner));
    let best = if choices.contains(&LinksBy::Head) { Some(LinksBy::Head) } else { choices.first().copied() };
    let by = by.filter(|by| choices.contains(by)).or(best);
    let (source, target) = table::sides_by([rule, shown.rules[1]], &column.source, shown)?;
    let read = |reading| table::rows_by(shown, reading).map(|rows| over_words(rows, &source, &target));
    let sure = |links| Links::new(links, Vec::new());
    let threshold = app.document.state.interlinear.threshold;
    let links = match by {
        None => None,
        Some(LinksBy::Alpha) => {
            let words = read(settings.of_alpha(facts).unwrap_or_default());
            words.map(|words| sure(hard::links_above(&words, threshold)))
        }
        Some(LinksBy::Head) => read((RowConvention::Head, 0)).map(|words| sure(RowConvention::Head.links(&words))),
        Some(LinksBy::Aligner) => {
            aligned.as_ref().map(|links| links.spread(&source.places.places, &target.places.places))
        }
    };
    let mut row = TextRowShown::new(name, &table.text, shown.rules[1]);
    // Tokens with spaces between are put together as the language writes them, unless the text came cut.
    if shown.rules[1] != WordRule::Given && row.text == row.words.join(" ") {
        row.text = join(facts.map_or("", |facts| &facts.target_language), &row.words);
    }
    Some(TextRowShown { links: links.unwrap_or_default(), by, choices, ..row })
}

/// The sentence with its rows, and each translation with its own lines; empty without text.
pub fn sentences(app: &AppState) -> Vec<GlossedSentence> {
    let rows = rows(app);
    let Some((source, others)) = rows.split_first().filter(|(source, _)| !source.words.is_empty()) else {
        return Vec::new();
    };
    let is_said = |tier: &GlossTier| tier.cells.iter().any(|cell| !cell.is_empty());
    let own = |row: &TextRowShown| row.tiers.iter().map(|(_, tier)| tier.clone()).filter(is_said).collect::<Vec<_>>();
    let text = |(n, row): (usize, &TextRowShown)| GlossedText {
        name: row.name.clone(),
        text: row.text.clone(),
        words: row.words.clone(),
        links: row.links.clone(),
        between: (n > 0).then(|| row.between.clone()),
        ..GlossedText::default()
    };
    let texts = others.iter().enumerate().map(text).collect();
    let sentence = |row: &TextRowShown, tiers, texts| GlossedSentence {
        text: row.text.clone(),
        words: row.words.clone(),
        tiers,
        texts,
        ..GlossedSentence::default()
    };
    let first = sentence(source, own(source), texts);
    let glossed = others.iter().filter_map(|row| {
        let tiers = Some(own(row)).filter(|tiers| !tiers.is_empty())?;
        let (name, text, words) = (source.name.clone(), source.text.clone(), source.words.clone());
        let back = GlossedText { name, text, words, links: row.links.turned(), ..GlossedText::default() };
        Some(sentence(row, tiers, vec![back]))
    });
    std::iter::once(first).chain(glossed).collect()
}
