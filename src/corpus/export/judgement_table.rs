//! What people say of sentences as a table, as [`judgement_io`](crate::judgements::judgement_io) reads it.

use std::io::Write;

use serde_json::json;

use crate::judgements::judge::{ErrorMark, Judgement, StaleMark};
use crate::judgements::judgement_io::{APART, BAR, LETTERS, NO_ERRORS, RATING, SPANS, UNKNOWN, WORD_RULES, YES};
use crate::{judgements::spans::span, store::corpus::CorpusTable};
use engine::text::tsv::{Tsv, TsvCell};

/// The columns of a table. A judgement has a row for each mark, and one for each system that has no errors.
const COLUMNS: &[&str] = &[
    "sentence", "source", "annotator", "stars", "tags", "note", "links", "system", NO_ERRORS, RATING, "words", LETTERS,
    "source_words", "category", "severity", "remark", APART, SPANS, WORD_RULES,
];
/// Writes the judgements of some sentences as a table.
pub fn table(file: &mut dyn Write, rows: &[u32], corpus: &CorpusTable) -> std::io::Result<()> {
    let mut table = Tsv::new(file, COLUMNS)?;
    for &at in rows {
        for (annotator, judgement) in corpus.judgements.get(&(at as usize)).into_iter().flat_map(|by| by.iter()) {
            for (n, of) in rows_of(judgement).into_iter().enumerate() {
                table.row(cells(corpus, at as usize, annotator, (n == 0).then_some(judgement), of))?;
            }
        }
    }
    table.finish()
}

#[derive(Clone, Copy, Default)]
struct RowOf<'a> {
    system: &'a str,
    no_errors: &'static str,
    rating: Option<u8>,
    mark: Option<&'a ErrorMark>,
    apart: &'a str,
}

fn rows_of<'a>(judgement: &'a Judgement) -> Vec<RowOf<'a>> {
    let of = |mark: &'a ErrorMark| RowOf { system: &mark.system, mark: Some(mark), ..RowOf::default() };
    let marks = judgement.marks.iter().map(of);
    let apart = judgement
        .stale
        .iter()
        .map(|StaleMark { mark, words }| RowOf { apart: if words.is_empty() { UNKNOWN } else { words }, ..of(mark) });
    let clean = judgement.no_errors.iter().map(|system| RowOf { system, no_errors: YES, ..RowOf::default() });
    let rated =
        judgement.ratings.iter().map(|(system, rating)| RowOf { system, rating: Some(*rating), ..RowOf::default() });
    let mut all: Vec<RowOf<'_>> = marks.chain(apart).chain(clean).chain(rated).collect();
    if all.is_empty() {
        all.push(RowOf::default());
    }
    all
}

fn cells(
    corpus: &CorpusTable, at: usize, annotator: &str, judgement: Option<&Judgement>, of: RowOf<'_>,
) -> Vec<TsvCell> {
    let RowOf { system, no_errors, rating, mark, apart } = of;
    let none = Judgement::default();
    let said = judgement.unwrap_or(&none);
    let stars = if said.stars == 0 { String::new() } else { said.stars.to_string() };
    let tags: Vec<&str> = said.tags.iter().map(String::as_str).collect();
    let source = mark.filter(|mark| mark.source != (0, 0)).map(|mark| span(mark.source));
    let has_numbers = mark.is_some() || !said.links.is_empty();
    let text = |of: fn(&ErrorMark) -> &String| TsvCell::from(mark.map_or("", |mark| of(mark).as_str()));
    vec![
        TsvCell::plain(&(at + 1)),
        TsvCell::from(corpus.sources.get(at).unwrap_or_default()),
        TsvCell::from(annotator),
        TsvCell::Plain(stars),
        TsvCell::from(tags.join(BAR).as_str()),
        TsvCell::from(&said.note),
        TsvCell::plain(said.links.as_str()),
        TsvCell::from(system),
        TsvCell::plain(no_errors),
        TsvCell::Plain(rating.map(|rating| rating.to_string()).unwrap_or_default()),
        TsvCell::Plain(mark.map(|mark| span(mark.target)).unwrap_or_default()),
        TsvCell::Plain(mark.and_then(|mark| mark.letters).map(span).unwrap_or_default()),
        TsvCell::Plain(source.unwrap_or_default()),
        text(|mark| &mark.category),
        text(|mark| &mark.severity),
        text(|mark| &mark.note),
        TsvCell::from(apart),
        TsvCell::Plain(mark.and_then(|mark| mark.spans).map(|spans| json!(spans).to_string()).unwrap_or_default()),
        TsvCell::Plain(if has_numbers { json!(corpus.rules).to_string() } else { String::new() }),
    ]
}
