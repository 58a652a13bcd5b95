//! Floor 13: the figures of `interlinear evaluate` as tables for reading.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::analysis::bootstrap::Paired;
use crate::cli::columns::TextTable;
use crate::corpus::measures::scores::many_pairs;
use crate::corpus::overview::evaluated::{Evaluated, EvaluationReport, MeasuredSystem, ScoresRow};
use crate::corpus::overview::figures::{figure, lines};
use crate::corpus::overview::test_set::Unk;

/// All of it.
pub fn table(evaluated: &Evaluated) -> String {
    let models = &evaluated.models;
    let mut parts = vec![at_a_glance(models), summary(models)];
    parts.extend(by_length(evaluated));
    parts.extend(bootstrap(evaluated));
    parts.extend(alignments(evaluated));
    parts.push(notes(evaluated));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn reports(models: &[Arc<MeasuredSystem>]) -> impl Iterator<Item = &EvaluationReport> {
    models.iter().map(|measured| &measured.report)
}

/// BLEU as table 1 of Bahdanau et al. has it: a row for each model, a column for each set and kind of output.
fn at_a_glance(models: &[Arc<MeasuredSystem>]) -> String {
    let Some(first) = reports(models).next().filter(|report| !report.unk.is_empty()) else {
        return String::new();
    };
    let sets: Vec<&ScoresRow> = first.rows.iter().filter(|row| row.bucket.is_none()).collect();
    let head = sets.iter().map(|row| match row.unk {
        Unk::Allowed => row.set.name().to_owned(),
        Unk::Forbidden => format!("{}, UNK forbidden", row.set.name()),
    });
    let mut table = TextTable::new(["BLEU".to_owned()].into_iter().chain(head));
    for report in reports(models) {
        let bleu = sets.iter().map(|at| figure(report.row(at.set, at.unk).and_then(|row| row.scores.bleu), 2));
        table.row([report.name.clone()].into_iter().chain(bleu));
    }
    table.text()
}

/// All lengths together: sets and kinds of output, and under each the models.
fn summary(models: &[Arc<MeasuredSystem>]) -> String {
    let Some(first) = reports(models).next() else { return String::new() };
    let mut table =
        TextTable::new(["set", "UNK", "model", "sentences", "words", "NLL", "NLL/word", "perplexity", "BLEU", "chrF2"]);
    for at in first.rows.iter().filter(|row| row.bucket.is_none()) {
        for report in reports(models) {
            let Some(row) = report.row(at.set, at.unk) else { continue };
            table.row([
                row.set.name().to_owned(),
                row.unk.name().to_owned(),
                report.name.clone(),
                row.scores.sentences.to_string(),
                row.scores.words.to_string(),
                figure(row.scores.nll_per_sentence(), 3),
                figure(row.scores.nll_per_word(), 4),
                figure(row.scores.perplexity(), 3),
                figure(row.scores.bleu, 2),
                figure(row.scores.chrf, 2),
            ]);
        }
    }
    table.text()
}

/// By length: a table for each set and kind of output, a row for each bucket; for each model BLEU, or the perplexity
/// where there are no translations.
fn by_length(evaluated: &Evaluated) -> Vec<String> {
    let models = &evaluated.models;
    let Some(first) = reports(models).next() else { return Vec::new() };
    let translated = !first.unk.is_empty();
    let mut tables = Vec::new();
    for all in first.rows.iter().filter(|row| row.bucket.is_none()) {
        let here = |row: &ScoresRow| row.set == all.set && row.unk == all.unk;
        let buckets = evaluated.buckets(all.set, all.unk);
        if buckets.is_empty() {
            continue;
        }
        let mut title = format!("{}, {}", if translated { "BLEU" } else { "perplexity" }, all.set.name());
        if first.unk.len() > 1 {
            let _ = write!(title, ", UNK {}", all.unk.name());
        }
        let names = reports(models).flat_map(|report| ["sentences".to_owned(), report.name.clone()]);
        let mut table = TextTable::new([title].into_iter().chain(names));
        for bucket in buckets {
            let cells = reports(models).flat_map(|report| {
                let row = report.rows.iter().find(|row| here(row) && row.bucket.as_ref() == Some(bucket));
                let value = row.and_then(|row| if translated { row.scores.bleu } else { row.scores.perplexity() });
                [row.map_or(0, |row| row.scores.sentences).to_string(), figure(value, 2)]
            });
            table.row([bucket.name.clone()].into_iter().chain(cells));
        }
        tables.push(table.text());
    }
    tables
}

/// Each model against the first.
fn bootstrap(evaluated: &Evaluated) -> Option<String> {
    let first = &reports(&evaluated.models).next()?.name;
    let head = ["UNK", "metric", "score", "95 %", "difference", "95 %", "wins", "p bs", "p ar"];
    let mut table =
        TextTable::new([format!("against {first}")].into_iter().chain(head.iter().map(ToString::to_string)));
    for against in &evaluated.comparisons {
        let name = evaluated.models.get(against.pair.1).map_or("", |measured| &measured.report.name);
        for (metric, paired) in [("BLEU", &against.by.bleu), ("chrF2", &against.by.chrf)] {
            let row = [name, against.unk.name(), metric].map(str::to_owned);
            table.row(row.into_iter().chain(interval_cells(paired)));
        }
    }
    (!evaluated.comparisons.is_empty()).then(|| table.text())
}

fn interval_cells(paired: &Paired) -> [String; 7] {
    let span = |low: f64, high: f64| format!("{low:.2}..{high:.2}");
    [
        figure(Some(paired.second.value), 2),
        span(paired.second.low, paired.second.high),
        format!("{:+.2}", paired.difference.value),
        span(paired.difference.low, paired.difference.high),
        figure(Some(paired.second_wins), 3),
        figure(Some(paired.p_value), 4),
        figure(paired.p_randomised, 4),
    ]
}

/// Alignments against the gold ones.
fn alignments(evaluated: &Evaluated) -> Option<String> {
    let lines = lines(evaluated);
    // what else may matter has columns of its own, where it was measured
    let has_more = lines.iter().any(|line| line.importance.is_some());
    let more = |cells: [String; 2]| cells.into_iter().filter(move |_| has_more);
    let first = ["alignment", "direction", "reading", "links"].map(str::to_owned);
    let last = ["found", "precision", "recall", "AER"].map(str::to_owned);
    let heads = first.into_iter().chain(more(["importance".to_owned(), "tau".to_owned()])).chain(last);
    let mut table = TextTable::new(heads);
    for line in &lines {
        let rates = line.counts.rates();
        let rule = |rule: Option<f32>| rule.map_or_else(|| "greatest".to_owned(), |theta| format!("alpha >= {theta}"));
        let rule = line.rule.map_or_else(|| "-".to_owned(), rule);
        let name = [line.name.to_owned(), line.direction.to_owned(), line.reading.unwrap_or("-").to_owned(), rule];
        let this = line.importance.map_or(("-", None), |importance| importance);
        let this = more([this.0.to_owned(), figure(this.1, 4)]);
        let rates = [rates.precision, rates.recall, rates.aer].map(|rate| figure(rate, 4));
        table.row(name.into_iter().chain(this).chain([line.counts.found.to_string()]).chain(rates));
    }
    (!lines.is_empty()).then(|| table.text())
}

/// How it was obtained.
fn notes(evaluated: &Evaluated) -> String {
    let mut text = String::new();
    for measured in &evaluated.models {
        let report = &measured.report;
        let search = &report.search;
        let _ = write!(text, "{} ({}), {}", report.name, report.architecture, report.folder.display());
        if let Some(seconds) = report.seconds.filter(|_| !report.unk.is_empty()) {
            let _ = write!(
                text,
                ", beam {}, rank {}, coverage {}: {seconds:.1} s, {} sentences/s, {} words/s",
                search.beam,
                search.ranking.length,
                search.ranking.coverage,
                figure(report.sentences_per_second(), 1),
                figure(measured.words_per_second, 0)
            );
        }
        if let Some(mixing) = report.mixing.filter(|mixing| !mixing.is_pivot()) {
            let _ = write!(text, ", mean {}, alignment of {}", mixing.average, mixing.alignment);
        }
        if report.replaced {
            text.push_str(", unknown words replaced");
        }
        let _ = writeln!(text, " on {} with {} threads", measured.device, measured.threads);
    }
    text.push_str(
        "NLL of the first reference, in nats; words and lengths are those between spaces, </s> counted in references\n",
    );
    text.extend(evaluated.incomparable().map(|why| why + "\n"));
    if let Some(report) = reports(&evaluated.models).next().filter(|report| !report.unk.is_empty()) {
        let _ = writeln!(text, "BLEU {}\nchrF2 {}", report.bleu_signature, report.chrf_signature);
    }
    if let Some(against) = evaluated.comparisons.first() {
        let resamples = against.by.bleu.resamples;
        let _ =
            writeln!(text, "p bs: paired bootstrap, {resamples} resamples, two-sided; p ar: approximate randomisation");
        text.extend(many_pairs(evaluated.comparisons.len()).map(|note| note + "\n"));
    }
    text
}
