//! Floor 9: the figures of `interlinear evaluate` as tables, for a spreadsheet and for a program.

use std::fmt::Write as _;

use serde_json::Value;
use serde_json::json;

use crate::cli::columns::Table;
use crate::cli::columns::figure;
use crate::evaluation::Report;
use crate::evaluation::Row;
use crate::evaluation::Unk;

/// What one model made of the test set, and where.
pub struct Told {
    /// The figures.
    pub report: Report,
    /// Where it ran.
    pub device: String,
    /// On so many threads.
    pub threads: usize,
}

/// What happened to unknown words in the output.
fn unk_name(unk: Unk) -> &'static str {
    match unk {
        Unk::Allowed => "allowed",
        Unk::Forbidden => "forbidden",
    }
}

/// For reading.
pub fn table(told: &[Told]) -> String {
    let mut text = summary(told);
    for by_length in by_length(told) {
        let _ = write!(text, "\n{by_length}");
    }
    text.push('\n');
    for told in told {
        let report = &told.report;
        let _ = writeln!(
            text,
            "{} ({}), {}, beam {}: {} sentences/s, {} words/s on {} with {} threads",
            report.name,
            report.architecture,
            report.folder.display(),
            report.search.beam,
            figure(report.sentences_per_second(), 1),
            figure(report.words_per_second(), 0),
            told.device,
            told.threads
        );
    }
    text.push_str("NLL of the first reference, in nats; perplexity a word, </s> counted; length in source words\n");
    if let Some(Told { report, .. }) = told.first() {
        let _ = writeln!(text, "BLEU {}\nchrF2 {}", report.bleu_signature, report.chrf_signature);
    }
    text
}

/// All lengths together: sets and kinds of output, and under each the models.
fn summary(told: &[Told]) -> String {
    let mut table = Table::new([
        "sentences",
        "UNK in output",
        "model",
        "count",
        "words",
        "NLL",
        "NLL/word",
        "perplexity",
        "BLEU",
        "chrF2",
    ]);
    let Some(first) = told.first() else { return String::new() };
    for at in first.report.rows.iter().filter(|row| row.bucket.is_none()) {
        for Told { report, .. } in told {
            let Some(row) = report.row(at.set, at.unk) else { continue };
            table.row([
                row.set.name().to_owned(),
                unk_name(row.unk).to_owned(),
                report.name.clone(),
                row.sentences.to_string(),
                row.words.to_string(),
                figure(row.nll_per_sentence(), 3),
                figure(row.nll_per_word(), 4),
                figure(row.perplexity(), 3),
                figure(row.bleu, 2),
                figure(row.chrf, 2),
            ]);
        }
    }
    table.text()
}

/// BLEU by length: a table for each set and kind of output, a row for each bucket, a column for each model.
fn by_length(told: &[Told]) -> Vec<String> {
    let mut tables = Vec::new();
    let Some(first) = told.first() else { return tables };
    for all in first.report.rows.iter().filter(|row| row.bucket.is_none()) {
        let here = |row: &&Row| row.set == all.set && row.unk == all.unk && row.bucket.is_some();
        let buckets: Vec<&Row> = first.report.rows.iter().filter(here).collect();
        if buckets.is_empty() {
            continue;
        }
        let mut title = format!("BLEU, {}", all.set.name());
        if first.report.unk.len() > 1 {
            let _ = write!(title, ", UNK {}", unk_name(all.unk));
        }
        let names = told.iter().map(|told| told.report.name.clone());
        let mut table = Table::new([title, "count".to_owned()].into_iter().chain(names));
        for bucket in buckets {
            let same = |row: &&Row| here(row) && row.bucket == bucket.bucket;
            let bleu = |told: &Told| figure(told.report.rows.iter().find(same).and_then(|row| row.bleu), 2);
            table.row(
                [bucket.length().to_owned(), bucket.sentences.to_string()].into_iter().chain(told.iter().map(bleu)),
            );
        }
        tables.push(table.text());
    }
    tables
}

/// For a spreadsheet: one row for each model, set, kind of output and bucket.
pub fn tsv(told: &[Told]) -> String {
    let mut text = String::from(
        "model\tset\tunk\tlength\tsentences\twords\tnll\tnll_per_word\tperplexity\tbleu\tchrf2\twords_per_second\n",
    );
    for Told { report, .. } in told {
        for row in &report.rows {
            let _ = writeln!(
                text,
                "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
                report.name.replace(char::is_control, " "),
                row.set.name(),
                unk_name(row.unk),
                row.length(),
                row.sentences,
                row.words,
                figure(row.nll_per_sentence(), 6),
                figure(row.nll_per_word(), 6),
                figure(row.perplexity(), 6),
                figure(row.bleu, 4),
                figure(row.chrf, 4),
                figure(report.words_per_second(), 1)
            );
        }
    }
    text
}

/// For a program.
pub fn json(told: &[Told]) -> Value {
    let row = |row: &Row| {
        json!({"set": row.set.name(), "unk": unk_name(row.unk), "length": row.length(), "sentences": row.sentences,
               "words": row.words, "nll": row.nll, "nll_per_sentence": row.nll_per_sentence(),
               "nll_per_word": row.nll_per_word(), "perplexity": row.perplexity(), "bleu": row.bleu, "chrf2": row.chrf})
    };
    let model = |told: &Told| {
        let report = &told.report;
        json!({"name": report.name, "architecture": report.architecture,
               "folder": report.folder.display().to_string(), "beam": report.search.beam,
               "length": report.search.ranking.length.to_string(), "coverage": report.search.ranking.coverage, "device": told.device,
               "threads": told.threads, "seconds": report.seconds,
               "sentences_per_second": report.sentences_per_second(), "words_per_second": report.words_per_second(),
               "rows": report.rows.iter().map(row).collect::<Vec<_>>()})
    };
    let first = told.first().map(|told| &told.report);
    json!({"test_set": first.map(|report| report.test_set.clone()),
           "bleu_signature": first.map(|report| report.bleu_signature.clone()),
           "chrf2_signature": first.map(|report| report.chrf_signature.clone()),
           "models": told.iter().map(model).collect::<Vec<_>>()})
}
