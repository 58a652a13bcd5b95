//! Floor 7: the figures of what was measured, for spreadsheets and programs. Pure.

use serde_json::{Value, json};

use crate::analysis::aer;
use crate::analysis::bootstrap::Interval;
use crate::analysis::bootstrap::significance::unsigned;
use crate::corpus::measures::scores::SystemScores;
use crate::corpus::overview::evaluated::{Comparison, Evaluated, EvaluatedScores};
use crate::corpus::overview::gold::{AlignmentErrorReport, AlignmentErrorRow};
use crate::evaluation::alignment::Extraction;
use crate::text::tsv;
use crate::text::tsv::TsvCell;

/// A number with so many digits, or a dash where there is none.
pub fn figure(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

/// Links that were measured, whatever they were read off.
pub struct Line<'a> {
    pub name: &'a str,
    /// The model of the other direction.
    pub reverse: Option<&'a str>,
    pub row: &'a AlignmentErrorRow,
}

impl Line<'_> {
    /// Which word a row of alpha belongs to; a dash of what is no alpha.
    pub fn reading(&self) -> &'static str {
        self.row.extraction.map_or("-", |extraction| extraction.reading.name())
    }
}

/// All that was measured against links by hand: alpha, then what needs no model.
pub fn lines(evaluated: &Evaluated) -> Vec<Line<'_>> {
    let alpha = evaluated.models.iter().filter_map(|measured| Some((measured, measured.aligned()?)));
    let alpha = alpha.flat_map(|(measured, report)| {
        report.rows.iter().map(|row| Line { name: &measured.name, reverse: report.reverse.as_deref(), row })
    });
    let others = evaluated.baselines.iter().map(|baseline| (baseline.name, &baseline.rows));
    alpha.chain(others.flat_map(|(name, rows)| rows.iter().map(move |row| Line { name, reverse: None, row }))).collect()
}

/// The tables, a blank line between them.
pub fn tsv(evaluated: &Evaluated) -> String {
    let tables = [Some(scores(evaluated)), bootstrap(evaluated), alignments(evaluated)];
    tables.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// A table of these heads, which tabs part.
fn table(head: &str, rows: impl Iterator<Item = Vec<TsvCell>>) -> String {
    tsv::text(&head.split('\t').collect::<Vec<_>>(), rows)
}

/// A row: names of models, then numbers and words of this program.
fn row<'a>(names: impl IntoIterator<Item = &'a str>, rest: impl IntoIterator<Item = String>) -> Vec<TsvCell> {
    names.into_iter().map(TsvCell::from).chain(rest.into_iter().map(TsvCell::Plain)).collect()
}

/// One row for each model, set, kind of output and bucket.
pub fn scores(evaluated: &Evaluated) -> String {
    let head = "model\tset\tunk\tlength\tsentences\twords\tnll\tnll_per_word\tperplexity\tbleu\tchrf2\twords_per_second\ttokens\tnll_per_token\tter\tbp\tratio\thyp_len\tref_len\tbleu_signature";
    let [signature, ..] = &evaluated.signatures();
    let rows = evaluated.models.iter().enumerate().flat_map(|(system, measured)| {
        let all = evaluated.scores.iter().flat_map(move |of| of.of(system).map(move |scores| (of, scores)));
        all.map(|(of, (length, scores))| {
            let rest = [
                of.set.name().to_owned(),
                of.unk.name().to_owned(),
                length.to_owned(),
                scores.sentences.to_string(),
                scores.words.to_string(),
                figure(scores.nll_per_sentence(), 6),
                figure(scores.nll_per_word(), 6),
                figure(scores.perplexity(), 6),
                figure(scores.bleu(), 4),
                figure(scores.chrf(), 4),
                figure(measured.words_per_second.filter(|_| !evaluated.unk.is_empty()), 1),
                scores.tokens.to_string(),
                figure(scores.nll_per_token(), 6),
                figure(scores.ter(), 4),
                figure(scores.brevity_penalty(), 4),
                figure(scores.ratio(), 4),
                scores.counts.bleu.hypothesis_tokens.to_string(),
                scores.counts.bleu.reference_tokens.to_string(),
                signature.clone(),
            ];
            row([measured.name.as_str()], rest)
        })
    });
    table(head, rows)
}

/// One row for each two models that were compared, kind of output and metric.
pub fn bootstrap(evaluated: &Evaluated) -> Option<String> {
    let head = "first\tsecond\tunk\tmetric\tfirst_score\tsecond_score\tdifference\tlow\thigh\tsecond_wins\tp_value\tresamples\tp_ar\tp_holm\tp_ar_holm";
    let rows = evaluated.comparisons.iter().flat_map(|against| {
        against.by.named().map(|(metric, paired)| {
            let Interval { value, low, high, .. } = paired.difference;
            let numbers = [paired.first.value, paired.second.value].map(|number| format!("{number:.4}"));
            let numbers = numbers.into_iter().chain([value, low, high].map(|number| unsigned(number, 4)));
            let p = paired.p_texts().map(|p| if p.is_empty() { "-".to_owned() } else { p });
            let [p_value, p @ ..] = p;
            let words = [against.unk.name().to_owned(), metric.to_lowercase()].into_iter().chain(numbers);
            let words = words.chain([format!("{:.4}", paired.second_wins), p_value]);
            row(
                [evaluated.name(against.pair.0), evaluated.name(against.pair.1)],
                words.chain([paired.resamples.to_string()]).chain(p),
            )
        })
    });
    (!evaluated.comparisons.is_empty()).then(|| table(head, rows))
}

/// One row for each of [`lines`].
pub fn alignments(evaluated: &Evaluated) -> Option<String> {
    let head = "model\treverse_model\tdirection\treading\tthreshold\tlinks\tsure\tprecision\trecall\taer";
    let lines = lines(evaluated);
    let dash = || "-".to_owned();
    let rows = lines.iter().map(|line| {
        let AlignmentErrorRow { direction, extraction, counts } = line.row;
        let rates = counts.rates();
        let rest = [
            direction.name().to_owned(),
            line.reading().to_owned(),
            extraction.and_then(|extraction| extraction.threshold).map_or_else(dash, |theta| theta.to_string()),
            counts.found.to_string(),
            counts.sure.to_string(),
            figure(rates.precision, 6),
            figure(rates.recall, 6),
            figure(rates.aer, 6),
        ];
        row([line.name, line.reverse.unwrap_or("-")], rest)
    });
    (!lines.is_empty()).then(|| table(head, rows))
}

/// Everything but the sentences.
pub fn json(evaluated: &Evaluated) -> Value {
    let gold = evaluated.gold.as_ref().map(|(file, note)| json!({"file": file.display().to_string(), "note": note}));
    let baselines = evaluated.baselines.iter().map(|baseline| {
        let row = |row: &AlignmentErrorRow| with(json!({"direction": row.direction.name()}), &row.counts);
        json!({"name": baseline.name, "rows": baseline.rows.iter().map(row).collect::<Vec<_>>()})
    });
    let [bleu, chrf, ter] = evaluated.signatures();
    json!({"test_set": evaluated.test_set.name(),
           "bleu_signature": bleu,
           "chrf2_signature": chrf, "ter_signature": ter,
           "gold": gold,
           "models": (0..evaluated.models.len()).map(|at| model(evaluated, at)).collect::<Vec<_>>(),
           "baselines": baselines.collect::<Vec<_>>()})
}

/// As [`json`], with every two models, not only each with the first, and what was left out.
pub fn json_of_all(evaluated: &Evaluated) -> Value {
    let mut all = json(evaluated);
    let comparisons = evaluated.comparisons.iter().map(|against| {
        let mut object = comparison(against.unk.name(), &against.by);
        object["first"] = json!(evaluated.name(against.pair.0));
        object["second"] = json!(evaluated.name(against.pair.1));
        object
    });
    all["comparisons"] = comparisons.collect();
    all["left_out"] = json!(evaluated.left_out);
    all
}

/// What was counted of links, and its rates.
fn with(mut object: Value, counts: &aer::AerCounts) -> Value {
    let rates = counts.rates();
    object["links"] = json!(counts.found);
    object["sure"] = json!(counts.sure);
    object["links_sure"] = json!(counts.found_sure);
    object["links_possible"] = json!(counts.found_possible);
    object["precision"] = json!(rates.precision);
    object["recall"] = json!(rates.recall);
    object["aer"] = json!(rates.aer);
    object
}

fn model(evaluated: &Evaluated, at: usize) -> Value {
    let (measured, search) = (&evaluated.models[at], &evaluated.search);
    let mixing = measured.mixing.as_ref();
    let against = evaluated.comparisons.iter().filter(|against| against.pair == (0, at));
    let against = against.map(|against| comparison(against.unk.name(), &against.by));
    let rows = evaluated.scores.iter().flat_map(|of| of.of(at).map(move |scores| object(of, scores)));
    json!({"name": measured.name, "architecture": measured.architecture,
           "folder": measured.folder.display().to_string(), "average": mixing.map(|mixing| mixing.average.to_string()),
           "alignment_of": mixing.map(|mixing| mixing.alignment.to_string()), "beam": search.beam,
           "max_length": search.max_length, "length": search.ranking.length.to_string(),
           "coverage": search.ranking.coverage, "batch": evaluated.batch, "unk_replaced": measured.replaced,
           "device": measured.device, "threads": measured.threads, "seconds": measured.seconds,
           "sentences_per_second": measured.sentences_per_second, "words_per_second": measured.words_per_second,
           "rows": rows.collect::<Vec<_>>(),
           "against_first": against.collect::<Vec<_>>(),
           "alignment": measured.aligned().map(alignment)})
}

/// A row of scores; what is not known is `null`.
fn object(of: &EvaluatedScores, (length, scores): (&str, &SystemScores)) -> Value {
    json!({"set": of.set.name(), "unk": of.unk.name(), "length": length, "sentences": scores.sentences,
           "words": scores.words, "nll": scores.nll, "nll_per_sentence": scores.nll_per_sentence(),
           "nll_per_word": scores.nll_per_word(), "perplexity": scores.perplexity(), "tokens": scores.tokens,
           "nll_per_token": scores.nll_per_token(), "bleu": scores.bleu(), "chrf2": scores.chrf(), "ter": scores.ter(),
           "brevity_penalty": scores.brevity_penalty(), "ratio": scores.ratio(),
           "hyp_len": scores.counts.bleu.hypothesis_tokens, "ref_len": scores.counts.bleu.reference_tokens})
}

/// Two systems, by each score.
fn comparison(unk: &str, by: &Comparison) -> Value {
    json!({"unk": unk, "bleu": by.bleu, "chrf2": by.chrf, "ter": by.ter})
}

fn alignment(report: &AlignmentErrorReport) -> Value {
    let row = |row: &AlignmentErrorRow| {
        let Extraction { reading, threshold } = row.extraction.unwrap_or_default();
        let how = json!({"direction": row.direction.name(), "reading": reading.name(), "threshold": threshold});
        with(how, &row.counts)
    };
    json!({"reverse_model": report.reverse, "rows": report.rows.iter().map(row).collect::<Vec<_>>()})
}
