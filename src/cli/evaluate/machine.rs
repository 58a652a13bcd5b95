//! Floor 10: the figures of `interlinear evaluate` for spreadsheets and programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::analysis::aer;
use crate::analysis::bootstrap::{Interval, Paired};
use crate::cli::columns::figure;
use crate::cli::evaluate::gold::GoldSet;
use crate::cli::evaluate::report::Told;
use crate::evaluation::alignment::Baseline;
use crate::evaluation::compare::Comparison;
use crate::evaluation::{alignment, figures};
use crate::text::tsv::one_cell;

/// The tables, a blank line between them.
pub fn tsv(told: &[Told], baselines: &[Baseline]) -> String {
    [Some(figures(told)), bootstrap(told), alignments(told, baselines)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("\n")
}

/// One row for each model, set, kind of output and bucket.
pub fn figures(told: &[Told]) -> String {
    let mut text = figures::HEADER.to_owned();
    for Told { report, .. } in told {
        let speed = report.words_per_second().filter(|_| !report.unk.is_empty());
        text.extend(report.rows.iter().map(|row| figures::line(&one_cell(&report.name), row, speed, "-")));
    }
    text
}

/// One row for each model but the first, kind of output and metric.
pub fn bootstrap(told: &[Told]) -> Option<String> {
    let first = told.first().map(|told| one_cell(&told.report.name))?;
    let mut text = String::from(
        "first\tsecond\tunk\tmetric\tfirst_score\tsecond_score\tdifference\tlow\thigh\tsecond_wins\tp_value\tresamples\n",
    );
    let head = text.len();
    for Told { report, comparisons, .. } in told {
        for comparison in comparisons {
            for (metric, paired) in [("bleu", &comparison.bleu), ("chrf2", &comparison.chrf)] {
                let _ = writeln!(
                    text,
                    "{first}\t{}\t{}\t{metric}\t{:.4}\t{:.4}\t{:.4}\t{:.4}\t{:.4}\t{:.4}\t{:.4}\t{}",
                    one_cell(&report.name),
                    comparison.unk.name(),
                    paired.first.value,
                    paired.second.value,
                    paired.difference.value,
                    paired.difference.low,
                    paired.difference.high,
                    paired.second_wins,
                    paired.p_value,
                    paired.resamples
                );
            }
        }
    }
    (text.len() > head).then_some(text)
}

/// One row for each model, direction, reading and rule, for each other definition of what matters, and for what needs
/// no model.
pub fn alignments(told: &[Told], baselines: &[Baseline]) -> Option<String> {
    let mut text = String::from(
        "model\treverse_model\tdirection\treading\tthreshold\timportance\tkendall_with_alpha\tlinks\tsure\tprecision\trecall\taer\n",
    );
    let head = text.len();
    for report in told.iter().filter_map(|told| told.alignment.as_ref()) {
        for row in &report.rows {
            let rates = row.counts.rates();
            let cells = [
                one_cell(&report.name),
                report.reverse.as_deref().map_or_else(|| "-".to_owned(), one_cell),
                row.direction.name().to_owned(),
                row.extraction.reading.name().to_owned(),
                row.extraction.threshold.map_or_else(|| "-".to_owned(), |theta| theta.to_string()),
                "-".to_owned(),
                "-".to_owned(),
                row.counts.found.to_string(),
                row.counts.sure.to_string(),
                figure(rates.precision, 6),
                figure(rates.recall, 6),
                figure(rates.aer, 6),
            ];
            let _ = writeln!(text, "{}", cells.join("\t"));
        }
    }
    for (told, row) in told.iter().flat_map(|told| told.importances.iter().map(move |row| (told, row))) {
        let (rates, name) = (row.counts.rates(), one_cell(&told.report.name));
        let tau = figure(row.kendall, 6);
        let _ =
            write!(text, "{name}\t-\tforward\t-\t-\t{}\t{tau}\t{}\t{}", row.name, row.counts.found, row.counts.sure);
        for rate in [rates.precision, rates.recall, rates.aer] {
            let _ = write!(text, "\t{}", figure(rate, 6));
        }
        text.push('\n');
    }
    for (baseline, (direction, counts)) in baselines.iter().flat_map(|one| one.rows.iter().map(move |row| (one, row))) {
        let rates = counts.rates();
        let _ = write!(text, "{}\t-\t{direction}\t-\t-\t-\t-\t{}\t{}", baseline.name, counts.found, counts.sure);
        for rate in [rates.precision, rates.recall, rates.aer] {
            let _ = write!(text, "\t{}", figure(rate, 6));
        }
        text.push('\n');
    }
    (text.len() > head).then_some(text)
}

/// Everything but the sentences.
pub fn json(told: &[Told], gold: Option<&GoldSet>, baselines: &[Baseline]) -> Value {
    let first = told.first().map(|told| &told.report);
    let gold = gold.map(|set| json!({"file": set.path.display().to_string(), "note": set.gold.note}));
    json!({"test_set": first.map(|report| report.test_set.clone()),
           "bleu_signature": first.map(|report| report.bleu_signature.clone()),
           "chrf2_signature": first.map(|report| report.chrf_signature.clone()),
           "gold": gold,
           "models": told.iter().map(model).collect::<Vec<_>>(),
           "baselines": baselines.iter().map(baseline).collect::<Vec<_>>()})
}

fn baseline(baseline: &Baseline) -> Value {
    let row = |(direction, counts): &(&str, aer::Counts)| {
        let rates = counts.rates();
        json!({"direction": direction, "links": counts.found, "sure": counts.sure,
               "links_sure": counts.found_sure, "links_possible": counts.found_possible,
               "precision": rates.precision, "recall": rates.recall, "aer": rates.aer})
    };
    json!({"name": baseline.name, "rows": baseline.rows.iter().map(row).collect::<Vec<_>>()})
}

fn model(told: &Told) -> Value {
    let report = &told.report;
    json!({"name": report.name, "architecture": report.architecture,
           "folder": report.folder.display().to_string(), "average": report.mixing.map(|mixing| mixing.average.to_string()),
           "alignment_of": report.mixing.map(|mixing| mixing.alignment.to_string()), "beam": report.search.beam,
           "max_length": report.search.max_length, "length": report.search.ranking.length.to_string(),
           "coverage": report.search.ranking.coverage, "batch": report.batch, "unk_replaced": report.replaced, "device": told.device,
           "threads": told.threads, "seconds": report.seconds,
           "sentences_per_second": report.sentences_per_second(), "words_per_second": report.words_per_second(),
           "rows": report.rows.iter().map(figures::object).collect::<Vec<_>>(),
           "against_first": told.comparisons.iter().map(comparison).collect::<Vec<_>>(),
           "alignment": told.alignment.as_ref().map(alignment),
           "importances": told.importances.iter().map(importance).collect::<Vec<_>>()})
}

fn importance(row: &alignment::ImportanceRow) -> Value {
    let (counts, rates) = (&row.counts, row.counts.rates());
    json!({"name": row.name, "kendall_with_alpha": row.kendall, "links": counts.found, "sure": counts.sure,
           "links_sure": counts.found_sure, "links_possible": counts.found_possible,
           "precision": rates.precision, "recall": rates.recall, "aer": rates.aer})
}

fn comparison(comparison: &Comparison) -> Value {
    json!({"unk": comparison.unk.name(), "bleu": paired(&comparison.bleu), "chrf2": paired(&comparison.chrf)})
}

fn paired(paired: &Paired) -> Value {
    json!({"first": interval(&paired.first), "second": interval(&paired.second),
           "difference": interval(&paired.difference), "second_wins": paired.second_wins,
           "p_value": paired.p_value, "resamples": paired.resamples})
}

fn interval(interval: &Interval) -> Value {
    json!({"value": interval.value, "mean": interval.mean, "low": interval.low, "high": interval.high})
}

fn alignment(report: &alignment::Report) -> Value {
    let row = |row: &alignment::Row| {
        let (counts, rates) = (&row.counts, row.counts.rates());
        json!({"direction": row.direction.name(), "reading": row.extraction.reading.name(),
               "threshold": row.extraction.threshold, "links": counts.found, "sure": counts.sure,
               "links_sure": counts.found_sure, "links_possible": counts.found_possible,
               "precision": rates.precision, "recall": rates.recall, "aer": rates.aer})
    };
    json!({"reverse_model": report.reverse, "rows": report.rows.iter().map(row).collect::<Vec<_>>()})
}
