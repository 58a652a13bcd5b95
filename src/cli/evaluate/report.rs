//! Floor 10: the figures of `interlinear evaluate` as tables for reading.

use std::fmt::Write as _;

use crate::analysis::bootstrap::Paired;
use crate::cli::columns::{Table, figure};
use crate::evaluation::alignment::{Baseline, ImportanceRow};
use crate::evaluation::compare::Comparison;
use crate::evaluation::{Report, Row, Unk, alignment};

/// What one model made of the test set, and where.
pub struct Told {
    /// The figures.
    pub report: Report,
    /// Those of its alignments, where they were measured.
    pub alignment: Option<alignment::Report>,
    /// What else may matter than alpha, where that was measured.
    pub importances: Vec<ImportanceRow>,
    /// The first model and this one, where they were compared.
    pub comparisons: Vec<Comparison>,
    /// Where it ran.
    pub device: String,
    /// On so many threads.
    pub threads: usize,
}

/// How links were read off alpha.
pub fn rule_name(row: &alignment::Row) -> String {
    row.extraction.threshold.map_or_else(|| "greatest".to_owned(), |theta| format!("alpha >= {theta}"))
}

/// All of it.
pub fn table(told: &[Told], baselines: &[Baseline]) -> String {
    let mut parts = vec![at_a_glance(told), summary(told)];
    parts.extend(by_length(told));
    parts.extend(bootstrap(told));
    parts.extend(alignments(told, baselines));
    parts.push(notes(told));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// BLEU as table 1 of Bahdanau et al. has it: a row for each model, a column for each set and kind of output.
fn at_a_glance(told: &[Told]) -> String {
    let Some(first) = told.first().map(|told| &told.report).filter(|report| !report.unk.is_empty()) else {
        return String::new();
    };
    let sets: Vec<&Row> = first.rows.iter().filter(|row| row.bucket.is_none()).collect();
    let head = sets.iter().map(|row| match row.unk {
        Unk::Allowed => row.set.name().to_owned(),
        Unk::Forbidden => format!("{}, UNK forbidden", row.set.name()),
    });
    let mut table = Table::new(["BLEU".to_owned()].into_iter().chain(head));
    for Told { report, .. } in told {
        let bleu = sets.iter().map(|at| figure(report.row(at.set, at.unk).and_then(|row| row.bleu), 2));
        table.row([report.name.clone()].into_iter().chain(bleu));
    }
    table.text()
}

/// All lengths together: sets and kinds of output, and under each the models.
fn summary(told: &[Told]) -> String {
    let Some(first) = told.first() else { return String::new() };
    let mut table =
        Table::new(["set", "UNK", "model", "sentences", "words", "NLL", "NLL/word", "perplexity", "BLEU", "chrF2"]);
    for at in first.report.rows.iter().filter(|row| row.bucket.is_none()) {
        for Told { report, .. } in told {
            let Some(row) = report.row(at.set, at.unk) else { continue };
            table.row([
                row.set.name().to_owned(),
                row.unk.name().to_owned(),
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

/// By length: a table for each set and kind of output, a row for each bucket; for each model BLEU, or the perplexity
/// where there are no translations.
fn by_length(told: &[Told]) -> Vec<String> {
    let Some(first) = told.first().map(|told| &told.report) else { return Vec::new() };
    let translated = !first.unk.is_empty();
    let mut tables = Vec::new();
    for all in first.rows.iter().filter(|row| row.bucket.is_none()) {
        let here = |row: &&Row| row.set == all.set && row.unk == all.unk && row.bucket.is_some();
        // Another model may cut sentences into more words, and have buckets that the first has not.
        let mut buckets: Vec<&Row> = Vec::new();
        for row in told.iter().flat_map(|told| told.report.rows.iter().filter(here)) {
            if buckets.iter().all(|known| known.bucket != row.bucket) {
                buckets.push(row);
            }
        }
        if buckets.is_empty() {
            continue;
        }
        buckets.sort_by_key(|row| row.bucket.as_ref().map(|bucket| bucket.from));
        let mut title = format!("{}, {}", if translated { "BLEU" } else { "perplexity" }, all.set.name());
        if first.unk.len() > 1 {
            let _ = write!(title, ", UNK {}", all.unk.name());
        }
        let names = told.iter().flat_map(|told| ["sentences".to_owned(), told.report.name.clone()]);
        let mut table = Table::new([title].into_iter().chain(names));
        for bucket in buckets {
            let same = |row: &&Row| here(row) && row.bucket == bucket.bucket;
            let cells = told.iter().flat_map(|told| {
                let row = told.report.rows.iter().find(same);
                let value = row.and_then(|row| if translated { row.bleu } else { row.perplexity() });
                [row.map_or(0, |row| row.sentences).to_string(), figure(value, 2)]
            });
            table.row([bucket.length().to_owned()].into_iter().chain(cells));
        }
        tables.push(table.text());
    }
    tables
}

/// Each model against the first.
fn bootstrap(told: &[Told]) -> Option<String> {
    let first = &told.first()?.report.name;
    let head = ["UNK", "metric", "score", "95 %", "difference", "95 %", "wins", "p"];
    let mut table = Table::new([format!("against {first}")].into_iter().chain(head.iter().map(ToString::to_string)));
    let mut resamples = None;
    for Told { report, comparisons, .. } in told {
        for comparison in comparisons {
            for (metric, paired) in [("BLEU", &comparison.bleu), ("chrF2", &comparison.chrf)] {
                resamples = Some(paired.resamples);
                table.row(
                    [report.name.clone(), comparison.unk.name().to_owned(), metric.to_owned()]
                        .into_iter()
                        .chain(interval_cells(paired)),
                );
            }
        }
    }
    resamples.map(|_| table.text())
}

fn interval_cells(paired: &Paired) -> [String; 6] {
    let span = |low: f64, high: f64| format!("{low:.2}..{high:.2}");
    [
        figure(Some(paired.second.value), 2),
        span(paired.second.low, paired.second.high),
        format!("{:+.2}", paired.difference.value),
        span(paired.difference.low, paired.difference.high),
        figure(Some(paired.second_wins), 3),
        figure(Some(paired.p_value), 4),
    ]
}

/// Alignments against the gold ones.
fn alignments(told: &[Told], baselines: &[Baseline]) -> Option<String> {
    // what else may matter has columns of its own, where it was measured
    let has_more = told.iter().any(|told| !told.importances.is_empty());
    let more = |cells: [String; 2]| cells.into_iter().filter(move |_| has_more);
    let none = || more(["-".to_owned(), "-".to_owned()]);
    let first = ["alignment", "direction", "reading", "links"].map(str::to_owned);
    let last = ["found", "precision", "recall", "AER"].map(str::to_owned);
    let heads = first.into_iter().chain(more(["importance".to_owned(), "tau".to_owned()])).chain(last);
    let mut table = Table::new(heads);
    let mut any = false;
    for report in told.iter().filter_map(|told| told.alignment.as_ref()) {
        for row in &report.rows {
            any = true;
            let rates = row.counts.rates();
            let name = [
                report.name.clone(),
                row.direction.name().to_owned(),
                row.extraction.reading.name().to_owned(),
                rule_name(row),
            ];
            let rates = [rates.precision, rates.recall, rates.aer].map(|rate| figure(rate, 4));
            table.row(name.into_iter().chain(none()).chain([row.counts.found.to_string()]).chain(rates));
        }
    }
    for (told, row) in told.iter().flat_map(|told| told.importances.iter().map(move |row| (told, row))) {
        any = true;
        let rates = row.counts.rates();
        let name = [told.report.name.as_str(), "forward", "-", "greatest"].map(str::to_owned);
        let this = more([row.name.to_owned(), figure(row.kendall, 4)]);
        let rates = [rates.precision, rates.recall, rates.aer].map(|rate| figure(rate, 4));
        table.row(name.into_iter().chain(this).chain([row.counts.found.to_string()]).chain(rates));
    }
    for (baseline, (direction, counts)) in baselines.iter().flat_map(|one| one.rows.iter().map(move |row| (one, row))) {
        any = true;
        let rates = counts.rates();
        let name = [baseline.name, direction, "-", "-"].map(str::to_owned);
        let rates = [rates.precision, rates.recall, rates.aer].map(|rate| figure(rate, 4));
        table.row(name.into_iter().chain(none()).chain([counts.found.to_string()]).chain(rates));
    }
    any.then(|| table.text())
}

/// How it was obtained.
fn notes(told: &[Told]) -> String {
    let mut text = String::new();
    for told in told {
        let report = &told.report;
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
                figure(report.words_per_second(), 0)
            );
        }
        if let Some(mixing) = report.mixing {
            let _ = write!(text, ", mean {}, alignment of {}", mixing.average, mixing.alignment);
        }
        if report.replaced {
            text.push_str(", unknown words replaced");
        }
        let _ = writeln!(text, " on {} with {} threads", told.device, told.threads);
    }
    text.push_str("NLL of the first reference, in nats; perplexity a word, </s> counted; length in source words\n");
    if let Some(report) = told.first().map(|told| &told.report).filter(|report| !report.unk.is_empty()) {
        let _ = writeln!(text, "BLEU {}\nchrF2 {}", report.bleu_signature, report.chrf_signature);
    }
    if let Some(paired) = told.iter().find_map(|told| told.comparisons.first()) {
        let _ = writeln!(text, "paired bootstrap, {} resamples", paired.bleu.resamples);
    }
    text
}
