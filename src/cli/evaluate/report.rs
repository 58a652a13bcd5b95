//! Floor 9: the figures of `interlinear evaluate` as a table, for a spreadsheet and for a program.

use std::fmt::Write as _;

use serde_json::Value;
use serde_json::json;

use crate::analysis::bleu;

/// What one model made of the test set.
pub struct Report {
    /// The model's name.
    pub name: String,
    /// Its architecture.
    pub architecture: &'static str,
    /// Where it lies.
    pub folder: String,
    /// The beam it was searched with.
    pub beam: usize,
    /// Where it ran.
    pub device: String,
    /// On so many threads.
    pub threads: usize,
    /// How long translating took.
    pub seconds: f64,
    /// Sentences translated.
    pub sentences: usize,
    /// Words produced, `</s>` counted.
    pub words: usize,
    /// The figures.
    pub rows: Vec<Row>,
}

/// The figures of some sentences.
pub struct Row {
    /// All sentences, or those without unknown words.
    pub set: &'static str,
    /// The bucket of source lengths.
    pub length: &'static str,
    /// How many.
    pub sentences: usize,
    /// Target words of the reference, `</s>` counted.
    pub words: usize,
    /// NLL of the reference, in nats, summed.
    pub nll: f64,
    /// BLEU, from 0 to 100; `None` of no sentences.
    pub bleu: Option<f64>,
}

impl Row {
    /// In nats; `None` of no sentences.
    fn nll_per_sentence(&self) -> Option<f64> {
        (self.sentences > 0).then(|| self.nll / self.sentences as f64)
    }

    /// exp(NLL / words); `None` of no words.
    fn perplexity(&self) -> Option<f64> {
        (self.words > 0).then(|| (self.nll / self.words as f64).exp())
    }
}

/// A figure with so many digits; a dash where there is none.
fn figure(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

impl Report {
    fn words_per_second(&self) -> f64 {
        self.words as f64 / self.seconds.max(1e-9)
    }

    fn sentences_per_second(&self) -> f64 {
        self.sentences as f64 / self.seconds.max(1e-9)
    }
}

/// For reading.
pub fn table(reports: &[Report]) -> String {
    let mut text = String::new();
    for report in reports {
        let _ = writeln!(text, "{} ({}), {}, beam {}", report.name, report.architecture, report.folder, report.beam);
        let head = ["set", "length", "sentences", "words", "NLL", "perplexity", "BLEU"];
        let [set, length, sentences, words, nll, perplexity, bleu] = head;
        let _ = writeln!(text, "{set:<12} {length:<7} {sentences:>9} {words:>9} {nll:>9} {perplexity:>11} {bleu:>7}");
        for row in &report.rows {
            let _ = writeln!(
                text,
                "{:<12} {:<7} {:>9} {:>9} {:>9} {:>11} {:>7}",
                row.set,
                row.length,
                row.sentences,
                row.words,
                figure(row.nll_per_sentence(), 3),
                figure(row.perplexity(), 3),
                figure(row.bleu, 2)
            );
        }
        let _ = writeln!(
            text,
            "{:.1} sentences/s, {:.0} words/s on {} with {} threads\n",
            report.sentences_per_second(),
            report.words_per_second(),
            report.device,
            report.threads
        );
    }
    let _ = writeln!(
        text,
        "NLL of the reference a sentence, in nats; perplexity a word, </s> counted; length in source words"
    );
    let _ = writeln!(text, "BLEU {}", bleu::SIGNATURE);
    text
}

/// For a spreadsheet: one row for each model, set and bucket.
pub fn tsv(reports: &[Report]) -> String {
    let mut text = String::from("model\tset\tlength\tsentences\twords\tnll\tperplexity\tbleu\twords_per_second\n");
    for report in reports {
        for row in &report.rows {
            let _ = writeln!(
                text,
                "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.1}",
                report.name.replace(char::is_control, " "),
                row.set,
                row.length,
                row.sentences,
                row.words,
                figure(row.nll_per_sentence(), 6),
                figure(row.perplexity(), 6),
                figure(row.bleu, 4),
                report.words_per_second()
            );
        }
    }
    text
}

/// For a program.
pub fn json(reports: &[Report]) -> Value {
    let row = |row: &Row| {
        json!({"set": row.set, "length": row.length, "sentences": row.sentences, "words": row.words, "nll": row.nll,
               "nll_per_sentence": row.nll_per_sentence(), "perplexity": row.perplexity(), "bleu": row.bleu})
    };
    let model = |report: &Report| {
        json!({"name": report.name, "architecture": report.architecture, "folder": report.folder, "beam": report.beam,
               "device": report.device, "threads": report.threads, "seconds": report.seconds,
               "sentences_per_second": report.sentences_per_second(), "words_per_second": report.words_per_second(),
               "rows": report.rows.iter().map(row).collect::<Vec<_>>()})
    };
    json!({"bleu_signature": bleu::SIGNATURE, "models": reports.iter().map(model).collect::<Vec<_>>()})
}
