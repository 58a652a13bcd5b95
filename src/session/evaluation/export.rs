//! Floor 8: the figures of an evaluation as text for other programs. Pure.

use serde_json::Value;
use serde_json::json;

use crate::analysis::bootstrap::Paired;
use crate::evaluation::Row;
use crate::evaluation::Unk;
use crate::worker::corpus::evaluate::Aligned;
use crate::worker::corpus::evaluate::Compared;
use crate::worker::corpus::evaluate::Evaluated;
use crate::worker::corpus::evaluate::Measured;

/// What files the figures can be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// A row for each model, set, kind of output and length.
    Tsv,
    /// The same for a program, with how it was measured.
    Json,
}

impl TableFormat {
    /// The end of a file name.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Tsv => "tsv",
            Self::Json => "json",
        }
    }
}

/// The figures in a format.
#[must_use]
pub fn text(results: &Evaluated, format: TableFormat) -> String {
    match format {
        TableFormat::Tsv => tsv(results),
        TableFormat::Json => format!("{:#}\n", json(results)),
    }
}

fn tsv(results: &Evaluated) -> String {
    let mut text =
        "model\tset\tunk\tlength\tsentences\twords\tnll\tnll_per_word\tperplexity\tbleu\tchrf2\twords_per_second\n"
            .to_owned();
    let figure = |value: Option<f64>, digits: usize| value.map(|value| format!("{value:.digits$}")).unwrap_or_default();
    for Measured { report, words_per_second, .. } in results.models.iter().map(AsRef::as_ref) {
        for row in &report.rows {
            let cells = [
                report.name.replace(char::is_control, " "),
                row.set.name().to_owned(),
                unk_name(row.unk).to_owned(),
                row.length().to_owned(),
                row.sentences.to_string(),
                row.words.to_string(),
                figure(row.nll_per_sentence(), 6),
                figure(row.nll_per_word(), 6),
                figure(row.perplexity(), 6),
                figure(row.bleu, 4),
                figure(row.chrf, 4),
                format!("{words_per_second:.1}"),
            ];
            text += &(cells.join("\t") + "\n");
        }
    }
    text
}

fn json(results: &Evaluated) -> Value {
    let row = |row: &Row| {
        json!({"set": row.set.name(), "unk": unk_name(row.unk), "length": row.length(), "sentences": row.sentences,
               "words": row.words, "nll": row.nll, "nll_per_sentence": row.nll_per_sentence(),
               "nll_per_word": row.nll_per_word(), "perplexity": row.perplexity(), "bleu": row.bleu,
               "chrf2": row.chrf})
    };
    let model = |measured: &Measured| {
        let report = &measured.report;
        json!({"name": report.name, "architecture": report.architecture,
               "folder": report.folder.display().to_string(), "beam": report.search.beam,
               "length": report.search.ranking.length.to_string(), "coverage": report.search.ranking.coverage,
               "words_per_second": measured.words_per_second, "alignments": alignments(measured),
               "rows": report.rows.iter().map(row).collect::<Vec<_>>()})
    };
    let first = results.models.first().map(|measured| &measured.report);
    json!({"test_set": first.map(|report| report.test_set.clone()),
           "bleu_signature": first.map(|report| report.bleu_signature.clone()),
           "chrf2_signature": first.map(|report| report.chrf_signature.clone()),
           "gold": results.gold_note, "reverse": results.reverse, "left_out": results.left_out,
           "models": results.models.iter().map(|measured| model(measured)).collect::<Vec<_>>(),
           "comparisons": results.comparisons.iter().map(|one| comparison(results, one)).collect::<Vec<_>>()})
}

/// AER and what it is made of, for each way to read links off alpha; why not, as a sentence; null without gold.
fn alignments(measured: &Measured) -> Value {
    let row = |row: &Aligned| {
        let rates = row.counts.rates();
        json!({"direction": row.direction, "reading": row.extraction.reading.name(), "threshold": row.extraction.threshold,
               "precision": rates.precision, "recall": rates.recall, "aer": rates.aer})
    };
    match &measured.alignments {
        None => Value::Null,
        Some(Ok(rows)) => rows.iter().map(row).collect(),
        Some(Err(message)) => json!(message),
    }
}

fn comparison(results: &Evaluated, compared: &Compared) -> Value {
    let name = |place: usize| results.models.get(place).map(|measured| measured.report.name.clone());
    let paired = |paired: &Paired| {
        json!({"difference": paired.difference.value, "low": paired.difference.low, "high": paired.difference.high,
               "p_value": paired.p_value, "second_wins": paired.second_wins, "resamples": paired.resamples})
    };
    json!({"first": name(compared.pair.0), "second": name(compared.pair.1), "unk": unk_name(compared.by.unk),
           "bleu": paired(&compared.by.bleu), "chrf2": paired(&compared.by.chrf)})
}

/// What happened to unknown words in the output.
#[must_use]
pub fn unk_name(unk: Unk) -> &'static str {
    match unk {
        Unk::Allowed => "allowed",
        Unk::Forbidden => "forbidden",
    }
}
