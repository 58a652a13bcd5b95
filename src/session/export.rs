//! Floor 8: a column's shown alignment as text, in the formats that others read. Pure.
//!
//! Where a row may be read by two words (Luong et al. 2015, footnote 14) the rows are those of the shown reading,
//! and TSV and JSON name it. Pharaoh has no place for a name; [`note`] says it to the user.

use serde_json::{Value, json};

use crate::analysis::reading::Reading;
use crate::session::Column;
use crate::session::command::Format;
use crate::session::table::{AlignmentTable, LEFT_OUT, Matrix};
use crate::worker::protocol::HypothesisView;

/// The shown alignment in a format; `None` where there is nothing to write (see [`why_not`]).
pub fn text(column: &Column, format: Format) -> Option<String> {
    let table = column.table.as_deref()?;
    match format {
        Format::Tsv => Some(tsv(table)),
        Format::Json => Some(json_line(column)),
        Format::Pharaoh => table.alpha.as_ref().map(|alpha| pharaoh(table, alpha)),
    }
}

/// The sentence for a column that cannot be written in this format.
pub fn why_not(column: Option<&Column>, format: Format) -> &'static str {
    let left_out = column.and_then(|column| column.table.as_deref()).is_some_and(|table| table.left_out);
    match format {
        Format::Pharaoh if left_out => LEFT_OUT,
        Format::Pharaoh => "There is no alignment to save, because this model has none or nothing is translated yet",
        Format::Tsv | Format::Json => "There is nothing to save yet, because nothing is translated in this column",
    }
}

/// What the user should know about the file, where the file itself cannot say it.
pub fn note(column: &Column, format: Format) -> Option<String> {
    let reading = column.table.as_ref()?.reading?;
    (format == Format::Pharaoh)
        .then(|| format!("The links are those of the reading \"{}\". {}", reading.name(), reading.about()))
}

/// alpha with source words along the top and target words down the side; without alignment only words and log p.
pub fn tsv(table: &AlignmentTable) -> String {
    let first = table.reading.map_or_else(|| "target".to_owned(), |reading| format!("target ({})", reading.name()));
    let mut lines = vec![format!("{first}\tlog_p")];
    if table.alpha.is_some() {
        for word in &table.source {
            lines[0].push('\t');
            lines[0].push_str(&cell(&word.text));
        }
    }
    for (i, word) in table.target.iter().enumerate() {
        let mut line = format!("{}\t{}", cell(&word.text), word.log_p);
        for value in table.alpha.as_ref().map_or(&[][..], |alpha| alpha.row(i)) {
            line.push('\t');
            line.push_str(&value.to_string());
        }
        lines.push(line);
    }
    lines.join("\n") + "\n"
}

/// A word without the characters that TSV is made of.
fn cell(word: &str) -> String {
    word.replace(['\t', '\n', '\r'], " ")
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

/// `i-j` pairs source-target from 0, words only: for every target word its source word of greatest alpha.
pub fn pharaoh(table: &AlignmentTable, alpha: &Matrix) -> String {
    let words = table.target.iter().enumerate().filter(|(_, word)| !word.is_eos);
    let pairs: Vec<String> =
        words.filter_map(|(i, _)| Some(format!("{}-{i}", greatest(table, alpha.row(i))?))).collect();
    pairs.join(" ") + "\n"
}

fn greatest(table: &AlignmentTable, row: &[f32]) -> Option<usize> {
    let words = row.iter().enumerate().filter(|(j, _)| !table.source[*j].is_eos);
    // The first of equal ones, as when reading from the left.
    words
        .fold(
            None,
            |best: Option<(usize, f32)>, (j, &value)| {
                if best.is_none_or(|(_, most)| value > most) { Some((j, value)) } else { best }
            },
        )
        .map(|(j, _)| j)
}
