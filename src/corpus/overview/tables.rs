//! An overview as tables of words and numbers, for files, the command line and reports: a row for each system and
//! thing, the condition that shows its sentences in the last column.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::import::aligned::{Linker, THRESHOLDS};
use crate::measures::frequencies::{class_name, class_range};
use crate::measures::scores::{OverviewGroup, SystemScores};
use crate::overview::compute::{
    CountedThing, Counting, Overview, OverviewOptions, SHOWN_JUMP, first_pair, jump_condition, ngram_condition,
};
use crate::overview::{html::html_table, pairs::name};
use crate::overview::{pairs, parts, people};
use crate::query::expensive::FilterResources;
use crate::store::{corpus::CorpusTable, file::Workspace, read::StoredSystem};
use engine::analysis::{aer::AerCounts, bootstrap::significance::TOO_FEW};
use engine::text::cells::{CellTable, TableCell};
use engine::text::{tsv, tsv::TsvCell};
use engine::{aligner::bundled::AlignerChoice, error::Result};
use figure::svg::escaped;

const MOST_IN_REPORT: usize = 25;

/// A table.
pub struct OverviewTable {
    pub name: &'static str,
    pub title: &'static str,
    pub head: &'static [&'static str],
    pub counted: CountedThing,
    rows: Rows,
}

const fn scores_by(group: &'static str) -> [&'static str; 14] {
    [
        group, "system", "sentences", "BLEU", "chrF2", "aligned", "AER", "show", "TER", "BP", "ratio", "hyp_len",
        "ref_len", "signature",
    ]
}

type Rows = fn(&Overview, &[&StoredSystem]) -> Vec<Vec<String>>;

const fn table(
    name: &'static str, title: &'static str, counted: CountedThing, rows: Rows, head: &'static [&'static str],
) -> OverviewTable {
    OverviewTable { name, title, head, counted, rows }
}

pub const TABLES: &[OverviewTable] = &[
    table("length", "Scores by words of the source", CountedThing::Lengths, lengths, &scores_by("words")),
    table(
        "likelihood",
        "Probability of the references by words of the source",
        CountedThing::Lengths,
        likelihood,
        &[
            "words", "system", "sentences", "words of references", "NLL", "NLL per word", "perplexity", "tokens",
            "NLL per token", "show",
        ],
    ),
    table(
        "alignment",
        "Alignment error by how links are read off",
        CountedThing::Links,
        by_links,
        &["links", "system", "found", "sure", "precision", "recall", "AER"],
    ),
    table("tags", "Scores by tag", CountedThing::Lengths, tags, &scores_by("tag")),
    table(
        "frequency",
        "Words by their frequency",
        CountedThing::Frequencies,
        frequencies,
        &["frequency", "system", "reference", "output", "right", "precision", "recall", "F1", "show"],
    ),
    table(
        "words",
        "Source words that go wrong",
        CountedThing::Words,
        words,
        &["word", "system", "sentences", "wrong", "said", "right", "wanted", "found", "recall", "show"],
    ),
    table(
        "pos",
        "Source words by part of speech",
        CountedThing::Parts,
        |overview, _| cells(&overview.parts),
        parts::HEAD,
    ),
    table(
        "ngrams",
        "N-grams that one system has right more often",
        CountedThing::Ngrams,
        ngrams,
        &["n-gram", "system", "right", "right in the other", "ratio", "show"],
    ),
    table("jumps", "Jumps of the alignment", CountedThing::Jumps, jumps, &["jump", "system", "times", "share", "show"]),
    table(
        "pair",
        "Two systems by BLEU, chrF2 and TER",
        CountedThing::Pair,
        pairs::pair,
        &[
            "first", "second", "better", "equal", "worse", "first less second", "low", "high", "p", "wins", "ties",
            "losses", "p --paired-ar", "Holm", "Holm --paired-ar", "score",
        ],
    ),
    table("scores", "Two systems by scores of others", CountedThing::Scores, pairs::given_scores, pairs::MATRIX_HEAD),
    table("ranks", "Ranks of systems", CountedThing::Pair, pairs::ranks, &["score", "rank", "system", "value"]),
    table("matrix", "Every two systems", CountedThing::Pair, pairs::matrix, pairs::MATRIX_HEAD),
    table(
        "judged",
        "Errors and ratings of each system",
        CountedThing::Judged,
        |overview, _| cells(&overview.judged),
        people::JUDGED,
    ),
    table(
        "metrics",
        "Do metrics and people agree",
        CountedThing::Metrics,
        |overview, _| cells(&overview.metrics),
        people::METRICS,
    ),
];

pub(crate) fn number(number: Option<f64>, digits: usize) -> String {
    number.map_or_else(String::new, |number| format!("{number:.digits$}"))
}

fn cells(table: &CellTable) -> Vec<Vec<String>> {
    let cell = |cell: &TableCell| match cell {
        TableCell::Number(value) | TableCell::P(value, _) => number(*value, 4),
        cell => cell.shown(),
    };
    table.rows.iter().map(|row| row.iter().map(cell).collect()).collect()
}

fn lengths(overview: &Overview, systems: &[&StoredSystem]) -> Vec<Vec<String>> {
    scored(std::iter::once(&overview.all).chain(&overview.lengths), overview, systems)
}

fn tags(overview: &Overview, systems: &[&StoredSystem]) -> Vec<Vec<String>> {
    scored(&overview.tags, overview, systems)
}

fn scored<'a>(
    groups: impl IntoIterator<Item = &'a OverviewGroup>, overview: &Overview, systems: &[&StoredSystem],
) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for group in groups {
        for (system, scores) in group.scores.iter().enumerate() {
            rows.push(vec![
                if group.name().is_empty() { "all".to_owned() } else { group.name() },
                name(systems, system),
                scores.sentences.to_string(),
                number(scores.bleu(), 2),
                number(scores.chrf(), 2),
                scores.aligned.to_string(),
                number(scores.aer(), 4),
                overview.scored(group, system),
                number(scores.ter(), 2),
                number(scores.brevity_penalty(), 4),
                number(scores.ratio(), 4),
                scores.counts.bleu.hypothesis_tokens.to_string(),
                scores.counts.bleu.reference_tokens.to_string(),
                overview.notes.first().and_then(|note| note.strip_prefix("BLEU ")).unwrap_or_default().to_owned(),
            ]);
        }
    }
    rows
}

fn likelihood(overview: &Overview, systems: &[&StoredSystem]) -> Vec<Vec<String>> {
    let groups = std::iter::once(&overview.all).chain(&overview.lengths);
    let all = groups.flat_map(|group| group.scores.iter().enumerate().map(move |(n, scores)| (group, n, scores)));
    let row = |(group, system, scores): (&OverviewGroup, usize, &SystemScores)| {
        vec![
            if group.name().is_empty() { "all".to_owned() } else { group.name() },
            name(systems, system),
            scores.sentences.to_string(),
            scores.words.to_string(),
            number(Some(scores.nll), 2),
            number(scores.nll_per_word(), 4),
            number(scores.perplexity(), 3),
            scores.tokens.to_string(),
            number(scores.nll_per_token(), 4),
            overview.scored(group, system),
        ]
    };
    all.filter(|(.., scores)| scores.words > 0).map(row).collect()
}

fn by_links(overview: &Overview, systems: &[&StoredSystem]) -> Vec<Vec<String>> {
    let all = overview.by_links.iter().enumerate();
    let all = all.flat_map(|(system, errors)| errors.iter().enumerate().map(move |(n, counts)| (system, n, counts)));
    let row = |(system, n, counts): (usize, usize, &AerCounts)| {
        let threshold = n.checked_sub(1).and_then(|n| THRESHOLDS.get(n));
        let rates = counts.rates();
        let mut row = vec![
            threshold.map_or_else(|| "greatest".to_owned(), |theta| format!("alpha >= {theta}")),
            name(systems, system),
            counts.found.to_string(),
            counts.sure.to_string(),
        ];
        row.extend([rates.precision, rates.recall, rates.aer].map(|rate| number(rate, 4)));
        row
    };
    all.map(row).collect()
}

fn frequencies(overview: &Overview, systems: &[&StoredSystem]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for class in &overview.classes {
        for (system, words) in class.words.iter().enumerate() {
            rows.push(vec![
                class_name(class.range),
                name(systems, system),
                words.reference.to_string(),
                words.output.to_string(),
                words.right.to_string(),
                number(words.precision(), 4),
                number(words.recall(), 4),
                number(words.f1(), 4),
                format!("freq.{}={}", system + 1, class_range(class.range)),
            ]);
        }
    }
    rows
}

fn words(overview: &Overview, systems: &[&StoredSystem]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (system, words) in overview.words.iter().enumerate() {
        for word in words {
            let fate = &word.fate;
            rows.push(vec![
                word.word.clone(),
                name(systems, system),
                word.sentences.to_string(),
                word.wrong.to_string(),
                fate.said.to_string(),
                fate.right.to_string(),
                fate.wanted.to_string(),
                fate.found.to_string(),
                number((fate.wanted > 0).then(|| fate.found as f64 / fate.wanted as f64), 4),
                word.condition(system),
            ]);
        }
    }
    rows
}

fn ngrams(overview: &Overview, systems: &[&StoredSystem]) -> Vec<Vec<String>> {
    let Some(pair) = &overview.pair else { return Vec::new() };
    let mut rows = Vec::new();
    for (one, other, ngrams) in [(pair.first, pair.second, &pair.ngrams[0]), (pair.second, pair.first, &pair.ngrams[1])]
    {
        for ngram in ngrams {
            rows.push(vec![
                ngram.words.clone(),
                name(systems, one),
                ngram.one.to_string(),
                ngram.other.to_string(),
                format!("{:.4}", ngram.ratio),
                ngram_condition(one, other, &ngram.words),
            ]);
        }
    }
    rows
}

fn jumps(overview: &Overview, systems: &[&StoredSystem]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (system, counts) in overview.jumps.iter().enumerate() {
        let Some(counts) = counts else { continue };
        let all: u64 = counts.iter().sum();
        for (n, count) in counts.iter().enumerate() {
            let jump = n as i32 - SHOWN_JUMP;
            rows.push(vec![
                jump_name(jump),
                name(systems, system),
                count.to_string(),
                number((all > 0).then(|| *count as f64 / all as f64), 4),
                jump_condition(system, jump),
            ]);
        }
    }
    rows
}

/// A jump as it is shown.
pub fn jump_name(jump: i32) -> String {
    let sign = if jump < 0 { "\u{2212}" } else { "" };
    let more = if jump.abs() >= SHOWN_JUMP { if jump < 0 { "\u{2264}" } else { "\u{2265}" } } else { "" };
    format!("{more}{sign}{}", jump.abs())
}

fn systems(corpus: &CorpusTable) -> Vec<&StoredSystem> {
    corpus.systems.iter().map(|column| &column.system).collect()
}

fn is_text(head: &str) -> bool {
    matches!(head, "word" | "part" | "tag" | "n-gram" | "system" | "score" | "first" | "second" | "metric")
}

/// A table as JSON lines: numbers are numbers, and p of too few sentences is `null`.
pub fn json(table: &OverviewTable, overview: &Overview, corpus: &CorpusTable) -> Vec<Map<String, Value>> {
    let value = |head: &str, text: &str| match text.trim_start_matches("< ").parse::<f64>() {
        Ok(number) if number.is_finite() && !is_text(head) => {
            text.parse::<u64>().map_or(json!(number), |count| json!(count))
        }
        _ if text == TOO_FEW || text.is_empty() => Value::Null,
        _ => json!(text),
    };
    let row = |row: Vec<String>| {
        let cells = table.head.iter().zip(row).map(|(head, text)| ((*head).to_owned(), value(head, &text)));
        std::iter::once(("table".to_owned(), json!(table.name))).chain(cells).collect()
    };
    (table.rows)(overview, &systems(corpus)).into_iter().map(row).collect()
}

/// A table as lines with tabs.
pub fn tsv(table: &OverviewTable, overview: &Overview, corpus: &CorpusTable) -> String {
    let body = (table.rows)(overview, &systems(corpus)).into_iter();
    let is_text = |n: usize| table.head.get(n).is_some_and(|head| is_text(head));
    let cell = |(n, text): (usize, &String)| if is_text(n) { TsvCell::from(text) } else { TsvCell::plain(text) };
    tsv::text(table.head, body.map(|row| row.iter().enumerate().map(cell).collect()))
}

/// Counts the requested part of all rows at once.
pub fn overview(
    corpus: &CorpusTable, workspace: &Workspace, rows: &[u32], options: &OverviewOptions, means: &mut FilterResources,
) -> Result<Overview> {
    let is_wanted = |thing| options.only.is_empty() || options.only.contains(&thing);
    let counts = is_wanted(CountedThing::Frequencies);
    let frequencies = if counts { means.frequencies(corpus, &mut || true)? } else { std::sync::Arc::default() };
    let linker = Linker::new(
        means.aligner.as_ref().filter(|_| is_wanted(CountedThing::Words) || is_wanted(CountedThing::Parts)),
        corpus.rules,
    )?;
    let mut counting = Counting::new(std::sync::Arc::new(corpus.clone()), rows, options, frequencies, linker);
    while counting.step(workspace, 1000)? {}
    Ok(counting.finish())
}

/// The tables of a report; `aligner` links what is not linked yet, as in [`FilterResources::set`].
pub fn html(
    corpus: &CorpusTable, workspace: &Workspace, rows: &[u32], aligner: Option<&AlignerChoice>,
) -> Result<String> {
    if corpus.systems.is_empty() {
        return Ok(String::new());
    }
    let options = OverviewOptions { pair: first_pair(corpus), most: usize::MAX, ..OverviewOptions::default() };
    let mut means = FilterResources::default();
    means.set(workspace.look().frequencies, aligner.cloned());
    let overview = overview(corpus, workspace, rows, &options, &mut means)?;
    let systems = systems(corpus);
    let mut html = String::new();
    for table in TABLES {
        let mut rows = (table.rows)(&overview, &systems);
        if matches!(table.name, "words" | "ngrams") {
            rows = shortened(rows);
        }
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(html, "<h2>{}</h2>", escaped(table.title));
        if table.name == "matrix" {
            html += &pairs::html(&overview, &systems);
        }
        // What is to be typed, and what the first table has, takes too much room on paper.
        let is_shown = |n: &usize| !matches!(table.head[*n], "show" | "hyp_len" | "ref_len" | "signature");
        let shown: Vec<usize> = (0..table.head.len()).filter(is_shown).collect();
        let rows: Vec<Vec<String>> = rows.iter().map(|row| shown.iter().map(|n| row[*n].clone()).collect()).collect();
        if table.name != "matrix" {
            html += &html_table(shown.iter().map(|n| (table.head[*n], "")), &rows);
        }
        let _ = match table.name {
            "frequency" => writeln!(html, "<p>Frequencies are counted in {}.</p>", escaped(&overview.origin)),
            "words" | "pos" => writeln!(html, "<p>References are linked: {}.</p>", escaped(&overview.linked_by())),
            "judged" => {
                let (name, weights) = (corpus.scheme.name(), escaped(&corpus.scheme.weights()));
                let mqm =
                    "MQM and the mean rating are means over sentences of the means over annotators; less MQM is better";
                writeln!(
                    html,
                    "<p>Weights of the scheme {name}: {weights}. {mqm}. low and high: 95 % of the resamples of MQM.</p>"
                )
            }
            "metrics" => writeln!(html, "<p>{METRICS_NOTE}</p>"),
            _ => Ok(()),
        };
    }
    Ok(html)
}

const METRICS_NOTE: &str = "Signs are turned so that more is better on both sides. By system: means of the sentences that have both \
    numbers. By segment: all translations, and pairs of each sentence with calibrated ties (acc_eq). low and high: 95 % of the resamples.";

fn shortened(rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let mut seen = std::collections::HashMap::new();
    let mut is_early = |row: &Vec<String>| {
        let count = seen.entry(row.get(1).cloned().unwrap_or_default()).or_insert(0);
        *count += 1;
        *count <= MOST_IN_REPORT
    };
    rows.into_iter().filter(|row| is_early(row)).collect()
}
