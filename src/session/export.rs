//! Floor 8: a column's shown alignment as text, in the formats that others read. Pure.

use serde_json::Value;
use serde_json::json;

use crate::session::Column;
use crate::session::command::Format;
use crate::session::table::AlignmentTable;
use crate::session::table::LEFT_OUT;
use crate::session::table::Matrix;
use crate::worker::protocol::HypothesisView;

/// The shown alignment in a format; `None` where there is nothing to write (see [`why_not`]).
#[must_use]
pub fn text(column: &Column, format: Format) -> Option<String> {
    let table = column.table.as_deref()?;
    match format {
        Format::Tsv => Some(tsv(table)),
        Format::Json => Some(json_line(column)),
        Format::Pharaoh => table.alpha.as_ref().map(|alpha| pharaoh(table, alpha)),
    }
}

/// The sentence for a column that cannot be written in this format.
#[must_use]
pub fn why_not(column: Option<&Column>, format: Format) -> &'static str {
    let left_out = column.and_then(|column| column.table.as_deref()).is_some_and(|table| table.left_out);
    match format {
        Format::Pharaoh if left_out => LEFT_OUT,
        Format::Pharaoh => "There is no alignment to save, because this model has none or nothing is translated yet",
        Format::Tsv | Format::Json => "There is nothing to save yet, because nothing is translated in this column",
    }
}

/// alpha with source words along the top and target words down the side; without alignment only words and log p.
#[must_use]
pub fn tsv(table: &AlignmentTable) -> String {
    let mut lines = vec!["target\tlog_p".to_owned()];
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
#[must_use]
pub fn json_line(column: &Column) -> String {
    let hypotheses: Vec<Value> = column.hypotheses.iter().map(hypothesis).collect();
    json!({ "source": column.source.tokens, "hypotheses": hypotheses }).to_string() + "\n"
}

fn hypothesis(shown: &HypothesisView) -> Value {
    json!({
        "tokens": shown.tokens,
        "text": shown.text,
        "log_p": shown.log_p,
        "token_log_p": shown.token_log_p,
        "alpha": shown.alpha,
        "finished": shown.finished,
    })
}

/// `i-j` pairs source-target from 0, words only: for every target word its source word of greatest alpha.
#[must_use]
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
