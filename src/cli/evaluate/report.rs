//! The figures of `interlinear evaluate`: tables for reading, for spreadsheets, and JSON.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::columns::{TextTable, figure};
use crate::evaluate::evaluated::{Against, Evaluated, EvaluatedScores, length, unk_name};
use corpus::{measures::scores::SystemScores, overview::gold::AlignmentErrorRow};
use engine::analysis::aer;
use engine::analysis::bootstrap::significance::{signed, unsigned};
use engine::analysis::bootstrap::{Interval, LEAST_SENTENCES, Paired};
use engine::text::{tsv, tsv::TsvCell};

/// A figure of some sentences.
enum Figure {
    Count(usize),
    Number(Option<f64>),
}

use self::Figure::{Count, Number};

/// A figure under its names in TSV, JSON and the table, empty where it does not stand there, and with its digits in TSV and the table.
type FigureColumn = ([&'static str; 3], [usize; 2], fn(&SystemScores) -> Figure);

/// Every figure of the scores, in the order of the columns.
const FIGURES: &[FigureColumn] = &[
    (["sentences", "sentences", "sentences"], [0, 0], |of| Count(of.sentences)),
    (["words", "words", "words"], [0, 0], |of| Count(of.words)),
    (["nll", "nll_per_sentence", "NLL"], [6, 3], |of| Number(of.nll_per_sentence())),
    (["", "nll", ""], [0, 0], |of| Number(Some(of.nll))),
    (["nll_per_word", "nll_per_word", "NLL/word"], [6, 4], |of| Number(of.nll_per_word())),
    (["perplexity", "perplexity", "perplexity"], [6, 3], |of| Number(of.perplexity())),
    (["bleu", "bleu", "BLEU"], [4, 2], |of| Number(of.bleu())),
    (["chrf2", "chrf2", "chrF2"], [4, 2], |of| Number(of.chrf())),
    ([SPEED, "", ""], [1, 0], |_| Number(None)),
    (["tokens", "tokens", ""], [0, 0], |of| Count(of.tokens)),
    (["nll_per_token", "nll_per_token", ""], [6, 0], |of| Number(of.nll_per_token())),
    (["ter", "ter", "TER"], [4, 2], |of| Number(of.ter())),
    (["bp", "brevity_penalty", "BP"], [4, 3], |of| Number(of.brevity_penalty())),
    (["ratio", "ratio", "ratio"], [4, 3], |of| Number(of.ratio())),
    (["hyp_len", "hyp_len", ""], [0, 0], |of| Count(of.counts.bleu.hypothesis_tokens as usize)),
    (["ref_len", "ref_len", ""], [0, 0], |of| Count(of.counts.bleu.reference_tokens as usize)),
];

/// The column that is one of the model, not of the sentences.
const SPEED: &str = "words_per_second";

impl Figure {
    fn text(self, digits: usize) -> String {
        match self {
            Count(count) => count.to_string(),
            Number(number) => figure(number, digits),
        }
    }

    /// What is not known is `null`.
    fn json(self) -> Value {
        match self {
            Count(count) => json!(count),
            Number(number) => json!(number),
        }
    }
}

/// The figures that have a name in TSV (0), JSON (1) or the table (2).
fn figures(place: usize) -> impl Iterator<Item = (&'static str, &'static FigureColumn)> {
    FIGURES.iter().map(move |column| (column.0[place], column)).filter(|(name, _)| !name.is_empty())
}

/// All tables for reading.
pub fn table(evaluated: &Evaluated) -> String {
    let mut parts = vec![at_a_glance(evaluated), summary(evaluated)];
    parts.extend(by_length(evaluated));
    parts.extend(bootstrap_table(evaluated));
    parts.extend(alignment_table(evaluated));
    parts.push(notes(evaluated));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// BLEU as table 1 of Bahdanau et al. has it: a row for each model, a column for each set and kind of output.
fn at_a_glance(evaluated: &Evaluated) -> String {
    if evaluated.unk.is_empty() {
        return String::new();
    }
    let forbidden = unk_name(true);
    let name = |of: &EvaluatedScores| {
        if of.unk == forbidden { format!("{}, UNK forbidden", of.set) } else { of.set.to_owned() }
    };
    let head = evaluated.scores.iter().map(name);
    let mut table = TextTable::new(["BLEU".to_owned()].into_iter().chain(head));
    for (at, model) in evaluated.models.iter().enumerate() {
        let bleu = evaluated.scores.iter().map(|of| figure(of.groups[0].scores[at].bleu(), 2));
        table.row([model.name.clone()].into_iter().chain(bleu));
    }
    table.text()
}

/// All lengths together: sets and kinds of output, and under each the models.
fn summary(evaluated: &Evaluated) -> String {
    let mut table = TextTable::new(["set", "UNK", "model"].into_iter().chain(figures(2).map(|(name, _)| name)));
    for of in &evaluated.scores {
        for (model, scores) in evaluated.models.iter().zip(&of.groups[0].scores) {
            let names = [of.set.to_owned(), of.unk.to_owned(), model.name.clone()];
            let figures = figures(2).map(|(_, (_, digits, value))| value(scores).text(digits[1]));
            table.row(names.into_iter().chain(figures));
        }
    }
    table.text()
}

/// By length: a table for each set and kind of output, a row for each bucket; for each model BLEU, or the perplexity
/// where there are no translations.
fn by_length(evaluated: &Evaluated) -> Vec<String> {
    let translated = !evaluated.unk.is_empty();
    let mut tables = Vec::new();
    for of in evaluated.scores.iter().filter(|of| of.groups.len() > 1) {
        let mut title = format!("{}, {}", if translated { "BLEU" } else { "perplexity" }, of.set);
        if evaluated.unk.len() > 1 {
            let _ = write!(title, ", UNK {}", of.unk);
        }
        let names = evaluated.models.iter().flat_map(|model| ["sentences".to_owned(), model.name.clone()]);
        let mut table = TextTable::new([title].into_iter().chain(names));
        for group in &of.groups[1..] {
            let cells = group.scores.iter().flat_map(|scores| {
                let value = if translated { scores.bleu() } else { scores.perplexity() };
                [scores.sentences.to_string(), figure(value, 2)]
            });
            table.row(std::iter::once(length(group).to_owned()).chain(cells));
        }
        tables.push(table.text());
    }
    tables
}

/// Each comparison by each score.
fn compared(evaluated: &Evaluated) -> impl Iterator<Item = (&Against, &'static str, &Paired)> {
    evaluated.comparisons.iter().flat_map(|against| against.by.iter().map(move |(name, by)| (against, *name, by)))
}

/// Whether there are several pairs, whose p is corrected.
fn is_corrected(evaluated: &Evaluated) -> bool {
    compared(evaluated).any(|(.., paired)| paired.p_holm.is_some())
}

fn p_texts(paired: &Paired) -> [String; 4] {
    paired.p_texts().map(|p| if p.is_empty() { "-".to_owned() } else { p })
}

/// Each model against the first.
fn bootstrap_table(evaluated: &Evaluated) -> Option<String> {
    let span = |of: &Interval| format!("{}..{}", unsigned(of.low, 2), unsigned(of.high, 2));
    let head = ["UNK", "metric", "score", "95 %", "difference", "95 %", "wins", "p bs", "p ar", "Holm bs", "Holm ar"];
    let width = if is_corrected(evaluated) { head.len() } else { head.len() - 2 };
    let first = format!("against {}", evaluated.models[0].name);
    let mut table = TextTable::new([first.as_str()].into_iter().chain(head[..width].iter().copied()));
    for (against, metric, paired) in compared(evaluated) {
        let row = [&evaluated.models[against.pair.1].name, against.unk, metric].map(str::to_owned);
        let Paired { second, difference, second_wins, .. } = paired;
        let cells = row.into_iter().chain([
            figure(Some(second.value), 2),
            span(second),
            signed(difference.value, 2),
            span(difference),
            figure(Some(*second_wins), 3),
        ]);
        table.row(cells.chain(p_texts(paired)).take(1 + width));
    }
    (!evaluated.comparisons.is_empty()).then(|| table.text())
}

/// Links that were measured, whatever they were read off.
struct Line<'a> {
    name: &'a str,
    /// The model of the other direction.
    reverse: Option<&'a str>,
    row: &'a AlignmentErrorRow,
}

impl Line<'_> {
    /// Which word a row of alpha belongs to; a dash of what is no alpha.
    fn reading(&self) -> String {
        self.row.extraction.map_or("-", |extraction| extraction.reading.name()).to_owned()
    }

    /// Precision, recall and AER.
    fn rates(&self, digits: usize) -> [String; 3] {
        let rates = self.row.counts.rates();
        [rates.precision, rates.recall, rates.aer].map(|rate| figure(rate, digits))
    }
}

/// All that was measured against links by hand: alpha, then what needs no model.
fn lines(evaluated: &Evaluated) -> Vec<Line<'_>> {
    let alpha = evaluated.models.iter().filter_map(|model| Some((model, model.alignment.as_ref()?)));
    let alpha = alpha.flat_map(|(model, report)| {
        report.rows.iter().map(|row| Line { name: &model.name, reverse: report.reverse.as_deref(), row })
    });
    let others = evaluated.baselines.iter().map(|baseline| (baseline.name, &baseline.rows));
    alpha.chain(others.flat_map(|(name, rows)| rows.iter().map(move |row| Line { name, reverse: None, row }))).collect()
}

/// Alignments against the gold ones.
fn alignment_table(evaluated: &Evaluated) -> Option<String> {
    let lines = lines(evaluated);
    let mut table =
        TextTable::new(["alignment", "direction", "reading", "links", "found", "precision", "recall", "AER"]);
    for line in &lines {
        let rule = match line.row.extraction.map(|extraction| extraction.threshold) {
            Some(Some(theta)) => format!("alpha >= {theta}"),
            Some(None) => "greatest".to_owned(),
            None => "-".to_owned(),
        };
        let name = [line.name.to_owned(), line.row.direction.name().to_owned(), line.reading(), rule];
        table.row(name.into_iter().chain([line.row.counts.found.to_string()]).chain(line.rates(4)));
    }
    (!lines.is_empty()).then(|| table.text())
}

/// How it was obtained.
fn notes(evaluated: &Evaluated) -> String {
    let mut text = String::new();
    let (search, translated) = (&evaluated.search, !evaluated.unk.is_empty());
    for model in &evaluated.models {
        let _ = write!(text, "{} ({}), {}", model.name, model.architecture, model.folder.display());
        if translated {
            let _ = write!(
                text,
                ", beam {}, rank {}, coverage {}: {:.1} s, {:.1} sentences/s, {:.0} words/s",
                search.beam,
                search.ranking.length,
                search.ranking.coverage,
                model.seconds,
                model.per_second(model.sentences),
                model.per_second(model.words)
            );
        }
        if let Some(mixing) = model.mixing {
            let _ = write!(text, ", mean {}, alignment of {}", mixing.average, mixing.alignment);
        }
        if model.replaced {
            text.push_str(", unknown words replaced");
        }
        let _ = writeln!(text, " on {} with {} threads", model.device, model.threads);
    }
    text.push_str(
        "NLL of the first reference, in nats; words and lengths are those between spaces, </s> counted in references\n",
    );
    text.extend(evaluated.incomparable().map(|why| why + "\n"));
    if translated {
        let [bleu, chrf, ter] = evaluated.signatures();
        let _ = writeln!(text, "BLEU {bleu}\nchrF2 {chrf}\nTER {ter}");
    }
    if let Some((.., Paired { resamples, sentences, .. })) = compared(evaluated).next() {
        let _ =
            writeln!(text, "p bs: paired bootstrap, {resamples} resamples, two-sided; p ar: approximate randomisation");
        if is_corrected(evaluated) {
            text.push_str("Holm: p corrected for the number of pairs, step by step down (Holm 1979)\n");
        }
        if *sentences < LEAST_SENTENCES {
            let _ = writeln!(text, "too few: fewer than {LEAST_SENTENCES} sentences have no p");
        }
    }
    text
}

/// The tables for spreadsheets, a blank line between them.
pub fn tsv(evaluated: &Evaluated) -> String {
    let tables = [Some(scores(evaluated)), bootstrap(evaluated), alignments(evaluated)];
    tables.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// A row: names of models, then numbers and words of this program.
fn row<'a>(names: impl IntoIterator<Item = &'a str>, rest: impl IntoIterator<Item = String>) -> Vec<TsvCell> {
    names.into_iter().map(TsvCell::from).chain(rest.into_iter().map(TsvCell::Plain)).collect()
}

/// One row for each model, set, kind of output and bucket.
pub fn scores(evaluated: &Evaluated) -> String {
    let head = ["model", "set", "unk", "length"].into_iter().chain(figures(0).map(|(name, _)| name));
    let head: Vec<&str> = head.chain(["bleu_signature"]).collect();
    let [signature, ..] = &evaluated.signatures();
    let rows = evaluated.models.iter().enumerate().flat_map(|(at, model)| {
        let speed = (!evaluated.unk.is_empty()).then(|| model.per_second(model.words));
        let groups = evaluated.scores.iter().flat_map(|of| of.groups.iter().map(move |group| (of, group)));
        groups.map(move |(of, group)| {
            let names = [of.set, of.unk, length(group)].map(str::to_owned);
            let figures = figures(0).map(|(name, (_, digits, value))| match name {
                SPEED => figure(speed, digits[0]),
                _ => value(&group.scores[at]).text(digits[0]),
            });
            row([model.name.as_str()], names.into_iter().chain(figures).chain([signature.clone()]))
        })
    });
    tsv::text(&head, rows)
}

/// One row for each two models that were compared, kind of output and metric.
pub fn bootstrap(evaluated: &Evaluated) -> Option<String> {
    let head = [
        "first", "second", "unk", "metric", "first_score", "second_score", "difference", "low", "high", "second_wins",
        "p_value", "resamples", "p_ar", "p_holm", "p_ar_holm",
    ];
    let rows = compared(evaluated).map(|(against, metric, paired)| {
        let Interval { value, low, high, .. } = paired.difference;
        let numbers = [paired.first.value, paired.second.value].map(|number| format!("{number:.4}"));
        let numbers = numbers.into_iter().chain([value, low, high].map(|number| unsigned(number, 4)));
        let [p_value, p @ ..] = p_texts(paired);
        let words = [against.unk.to_owned(), metric.to_lowercase()].into_iter().chain(numbers);
        let words = words.chain([format!("{:.4}", paired.second_wins), p_value, paired.resamples.to_string()]);
        let name = |at: usize| evaluated.models[at].name.as_str();
        row([name(against.pair.0), name(against.pair.1)], words.chain(p))
    });
    (!evaluated.comparisons.is_empty()).then(|| tsv::text(&head, rows))
}

/// One row for each alignment that was measured.
pub fn alignments(evaluated: &Evaluated) -> Option<String> {
    let head =
        ["model", "reverse_model", "direction", "reading", "threshold", "links", "sure", "precision", "recall", "aer"];
    let lines = lines(evaluated);
    let rows = lines.iter().map(|line| {
        let AlignmentErrorRow { direction, extraction, counts } = line.row;
        let threshold = extraction.and_then(|extraction| extraction.threshold);
        let threshold = threshold.map_or_else(|| "-".to_owned(), |theta| theta.to_string());
        let how = [direction.name().to_owned(), line.reading(), threshold];
        let rest = how.into_iter().chain([counts.found.to_string(), counts.sure.to_string()]).chain(line.rates(6));
        row([line.name, line.reverse.unwrap_or("-")], rest)
    });
    (!lines.is_empty()).then(|| tsv::text(&head, rows))
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
    let against = against.map(|against| {
        let by = against.by.iter().map(|(name, paired)| (name.to_lowercase(), json!(paired)));
        by.chain([("unk".to_owned(), json!(against.unk))]).collect::<Map<_, _>>()
    });
    let groups = evaluated.scores.iter().flat_map(|of| of.groups.iter().map(move |group| (of, group)));
    let rows = groups.map(|(of, group)| {
        let names = [("set", json!(of.set)), ("unk", json!(of.unk)), ("length", json!(length(group)))];
        let figures = figures(1).map(|(name, (.., value))| (name, value(&group.scores[at]).json()));
        names.into_iter().chain(figures).map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>()
    });
    let alignment = measured.alignment.as_ref().map(|report| {
        let row = |row: &AlignmentErrorRow| {
            let how = row.extraction.unwrap_or_default();
            let (direction, reading) = (row.direction.name(), how.reading.name());
            with(json!({"direction": direction, "reading": reading, "threshold": how.threshold}), &row.counts)
        };
        json!({"reverse_model": report.reverse, "rows": report.rows.iter().map(row).collect::<Vec<_>>()})
    });
    json!({"name": measured.name, "architecture": measured.architecture,
           "folder": measured.folder.display().to_string(), "average": mixing.map(|mixing| mixing.average.to_string()),
           "alignment_of": mixing.map(|mixing| mixing.alignment.to_string()), "beam": search.beam,
           "max_length": search.max_length, "length": search.ranking.length.to_string(),
           "coverage": search.ranking.coverage, "batch": evaluated.batch, "unk_replaced": measured.replaced,
           "device": measured.device, "threads": measured.threads, "seconds": measured.seconds,
           "sentences_per_second": measured.per_second(measured.sentences),
           "words_per_second": measured.per_second(measured.words),
           "rows": rows.collect::<Vec<_>>(),
           "against_first": against.collect::<Vec<_>>(),
           "alignment": alignment})
}
