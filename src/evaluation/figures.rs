//! Floor 6: the figures of a report for spreadsheets and programs: one line, one object a row. Pure.

use serde_json::{Value, json};

use crate::evaluation::Row;

/// The names of the cells of [`line`], with the line's end.
pub const HEADER: &str =
    "model\tset\tunk\tlength\tsentences\twords\tnll\tnll_per_word\tperplexity\tbleu\tchrf2\twords_per_second\n";

/// One row of the table of `model`, tab-separated, with the line's end; `none` is written where a number is not known.
pub fn line(model: &str, row: &Row, words_per_second: Option<f64>, none: &str) -> String {
    let figure = |value: Option<f64>, digits: usize| match value {
        Some(value) => format!("{value:.digits$}"),
        None => none.to_owned(),
    };
    let cells = [
        plain(model),
        row.set.name().to_owned(),
        row.unk.name().to_owned(),
        row.length().to_owned(),
        row.sentences.to_string(),
        row.words.to_string(),
        figure(row.nll_per_sentence(), 6),
        figure(row.nll_per_word(), 6),
        figure(row.perplexity(), 6),
        figure(row.bleu, 4),
        figure(row.chrf, 4),
        figure(words_per_second, 1),
    ];
    cells.join("\t") + "\n"
}

/// The same row as an object; what is not known is `null`.
pub fn object(row: &Row) -> Value {
    json!({"set": row.set.name(), "unk": row.unk.name(), "length": row.length(), "sentences": row.sentences,
           "words": row.words, "nll": row.nll, "nll_per_sentence": row.nll_per_sentence(),
           "nll_per_word": row.nll_per_word(), "perplexity": row.perplexity(), "bleu": row.bleu, "chrf2": row.chrf})
}

/// A name that stays in its cell.
pub fn plain(name: &str) -> String {
    name.replace(char::is_control, " ")
}
