//! Floor 8: a column's shown alignment as text, in the formats that others read. Pure.
//!
//! Where a row may be read by two words (Luong et al. 2015, footnote 14) the rows are those of the shown reading,
//! and TSV and JSON name it. Pharaoh has no place for a name; [`note`] says it to the user.

use serde_json::{Value, json};

use crate::analysis::reading::Reading;
use crate::session::column::Column;
use crate::session::pages::sentence::command::AlignmentFormat;
use crate::session::table::{AlignmentTable, LEFT_OUT, Matrix};
use crate::text::tsv;
use crate::text::tsv::Cell;
use crate::worker::protocol::HypothesisView;

/// The shown alignment in a format; `None` where there is nothing to write (see [`why_not`]).
pub fn text(column: &Column, format: AlignmentFormat) -> Option<String> {
    let table = column.table.as_deref()?;
    match format {
        AlignmentFormat::Tsv => Some(alignment_tsv(table)),
        AlignmentFormat::Json => Some(json_line(column)),
        AlignmentFormat::Pharaoh => table.alpha.as_ref().map(|alpha| pharaoh(table, alpha)),
    }
}

/// The sentence for a column that cannot be written in this format.
pub fn why_not(column: Option<&Column>, format: AlignmentFormat) -> &'static str {
    let left_out = column.and_then(|column| column.table.as_deref()).is_some_and(|table| table.left_out);
    match format {
        AlignmentFormat::Pharaoh if left_out => LEFT_OUT,
        AlignmentFormat::Pharaoh => {
            "There is no alignment to save, because this model has none or nothing is translated yet"
        }
        AlignmentFormat::Tsv | AlignmentFormat::Json => {
            "There is nothing to save yet, because nothing is translated in this column"
        }
    }
}

/// What the user should know about the file, where the file itself cannot say it.
pub fn note(column: &Column, format: AlignmentFormat) -> Option<String> {
    let reading = column.table.as_ref()?.reading?;
    (format == AlignmentFormat::Pharaoh)
        .then(|| format!("The links are those of the reading \"{}\". {}", reading.name(), reading.about()))
}

/// alpha with source words along the top and target words down the side; without alignment only words and log p.
pub fn alignment_tsv(table: &AlignmentTable) -> String {
    let first = table.reading.map_or_else(|| "target".to_owned(), |reading| format!("target ({})", reading.name()));
    let columns = if table.alpha.is_some() { &table.source[..] } else { &[] };
    let words = columns.iter().map(|word| Cell::from(&word.text));
    let head = [Cell::from(&first), Cell::from("log_p")].into_iter().chain(words).collect();
    let body = table.target.iter().enumerate().map(|(i, word)| {
        let alpha_i = table.alpha.as_ref().map_or(&[][..], |alpha| alpha.row(i));
        let numbers = std::iter::once(&word.log_p).chain(alpha_i).map(Cell::plain);
        std::iter::once(Cell::from(&word.text)).chain(numbers).collect()
    });
    tsv::rows(std::iter::once(head).chain(body))
}

/// The JSON line of `interlinear translate`, all hypotheses, best first.
pub fn json_line(column: &Column) -> String {
    let reading = column.table.as_ref().and_then(|table| table.reading);
    let hypotheses: Vec<Value> = column.hypotheses.iter().map(|one| hypothesis(one, reading)).collect();
    let mut line = json!({ "source": column.source.tokens, "hypotheses": hypotheses });
    if let Some(reading) = reading {
        line["reading"] = reading.name().into();
    }
    line.to_string() + "\n"
}

/// A word that has no row under this reading has zeros and the position `null`.
fn hypothesis(shown: &HypothesisView, reading: Option<Reading>) -> Value {
    let reading = reading.unwrap_or_default();
    let mut value = json!({
        "tokens": shown.tokens,
        "text": shown.text,
        "log_p": shown.log_p,
        "token_log_p": shown.token_log_p,
        "alpha": shown.alpha.as_deref().map(|alpha| reading.assign(alpha)),
        "finished": shown.finished,
    });
    if let Some(p_t) = &shown.p_t {
        value["p_t"] = (0..p_t.len()).map(|i| reading.row(i, p_t.len()).map(|t| p_t[t])).collect();
    }
    value
}

/// `i-j` pairs source-target from 0, words only: for every target word its source word of greatest alpha. A word that
/// looks nowhere, as one without a row under the shown reading, has no pair.
pub fn pharaoh(table: &AlignmentTable, alpha: &Matrix) -> String {
    let words = table.target.iter().enumerate().filter(|(_, word)| !word.is_eos);
    let pairs: Vec<String> =
        words.filter_map(|(i, _)| Some(format!("{}-{i}", greatest(table, alpha.row(i))?))).collect();
    pairs.join(" ") + "\n"
}

/// The word of greatest alpha, the first of equal ones; `None` where alpha is 0 at every word.
fn greatest(table: &AlignmentTable, row: &[f32]) -> Option<usize> {
    let mut best: Option<(usize, f32)> = None;
    for (j, &value) in row.iter().enumerate().filter(|(j, _)| !table.source[*j].is_eos) {
        if value > best.map_or(0.0, |(_, most)| most) {
            best = Some((j, value));
        }
    }
    best.map(|(j, _)| j)
}
