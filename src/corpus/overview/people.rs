//! What people say of systems, and whether metrics say the same: errors and ratings of each system, and how each
//! column of a metric goes with each of people.

use crate::judgements::judge::{Judges, METRIC};
use crate::measures::score::{SEED, score};
use crate::{query::column::TableColumn, store::corpus::CorpusTable};
use engine::analysis::bootstrap::Interval;
use engine::analysis::correlation::{STATISTICS, ScoredPair, agreement};
use engine::text::cells::{CellTable, TableCell};

pub const JUDGED: &[&str] = &[
    "system", "by", "judgements", "sentences", "words", "marks", "weight", "weight per word", "MQM", "low", "high",
    "ratings", "mean rating",
];
pub const METRICS: &[&str] = &["metric", "people", "level", "statistic", "value", "low", "high", "sentences", "n"];
/// Fewer sentences, or systems, tell nothing.
const FEWEST: (usize, usize) = (10, 3);
/// How files call the scores that people gave, by mt-metrics-eval's names.
const GOLD: &[&str] =
    &["human", "gold", "mqm", "rating_given", "da", "da_sqm", "sqm", "psqm", "esa", "wmt", "wmt_raw", "wmt_z", "z"];
/// How measures begin of which less is better.
const WORSE_UP: &[&str] = &["ter", "wer", "metricx", "mqm", "errors", "suggested"];

/// What people and a metric say of each system, over some sentences; no rows where nobody judged anything.
pub fn judged(corpus: &CorpusTable, rows: &[u32]) -> CellTable {
    let mut table = CellTable { head: JUDGED.to_vec(), rows: Vec::new() };
    let is_there = |judges: &Judges| match judges {
        Judges::People => corpus.counts.errors_judged + corpus.counts.ratings > 0,
        Judges::Metric => corpus.counts.annotators.contains_key(METRIC),
    };
    for judges in [Judges::People, Judges::Metric].into_iter().filter(is_there) {
        for (system, column) in corpus.systems.iter().enumerate() {
            let score = score(corpus, system, rows.iter().map(|at| *at as usize), judges);
            let by = rows.iter().filter_map(|at| corpus.judgements.get(&(*at as usize)));
            let (mut ratings, mut means) = (0, Vec::new());
            for by in by {
                let given = judges.said(by).filter_map(|(_, said)| said.ratings.get(&column.system.name));
                let (sum, count) = given.fold((0.0, 0), |(sum, count), rating| (sum + f64::from(*rating), count + 1));
                means.extend((count > 0).then(|| sum / count as f64));
                ratings += count;
            }
            let mqm = score.mqm();
            let mqm = |of: fn(Interval) -> f64| TableCell::Number(mqm.map(of));
            let count = |count: usize| TableCell::Count(count as u64);
            let none = score.per_word().is_none().then(|| TableCell::from("none judged"));
            table.rows.push(vec![
                TableCell::from(column.system.name.as_str()),
                TableCell::from(if judges == Judges::People { "people" } else { METRIC }),
                count(score.judgements),
                count(score.segments.len()),
                count(score.words),
                count(score.marks),
                TableCell::Number(Some(score.weight)),
                none.unwrap_or(TableCell::Number(score.per_word())),
                mqm(|mqm| mqm.value),
                mqm(|mqm| mqm.low),
                mqm(|mqm| mqm.high),
                count(ratings),
                TableCell::Number((ratings > 0).then(|| means.iter().sum::<f64>() / means.len() as f64)),
            ]);
        }
    }
    table
}

/// Compares metrics and people, a pair of them at a step.
#[derive(Default)]
pub struct MetricCount {
    rows: Vec<u32>,
    waiting: Vec<[TableColumn; 2]>,
    cells: Vec<Vec<TableCell>>,
}

impl MetricCount {
    pub fn new(corpus: &CorpusTable, rows: &[u32]) -> Self {
        let is_of_people = |at: &usize| GOLD.contains(&corpus.measures[*at].name) && corpus.measures[*at].is_given();
        let is_metric = |at: &usize| {
            let measure = &corpus.measures[*at];
            // A ratio of lengths is best near 1, not where it is greatest.
            (measure.compares() && measure.name != "ref_ratio") || measure.name == "mean_logp" || measure.is_given()
        };
        let (gold, metrics): (Vec<_>, Vec<_>) = (0..corpus.measures.len()).filter(is_metric).partition(is_of_people);
        let of = |at| TableColumn::Output(at, 0);
        let own = [TableColumn::Rating(0), TableColumn::Weight(Judges::People, 0), TableColumn::Errors(0)];
        let own = own.into_iter().filter(|_| corpus.counts.errors_judged + corpus.counts.ratings > 0);
        let people: Vec<TableColumn> = own.chain(gold.into_iter().map(of)).collect();
        let metrics = metrics.into_iter().map(of).chain([TableColumn::Weight(Judges::Metric, 0)]);
        let waiting = metrics.rev().flat_map(|metric| people.iter().rev().map(move |people| [metric, *people]));
        Self { rows: rows.to_vec(), waiting: waiting.collect(), cells: Vec::new() }
    }

    /// Compares the next two; false when all is done.
    pub fn step(&mut self, corpus: &CorpusTable) -> bool {
        if let Some(pair) = self.waiting.pop() {
            self.compare(corpus, pair);
        }
        !self.waiting.is_empty()
    }

    fn compare(&mut self, corpus: &CorpusTable, pair: [TableColumn; 2]) {
        let is_rival = |at: &usize| !corpus.systems[*at].system.is_forced();
        let systems: Vec<usize> = (0..corpus.systems.len()).filter(is_rival).collect();
        let (mut all, mut segments) = (Vec::new(), 0);
        for at in self.rows.iter().map(|at| *at as usize) {
            let before = all.len();
            for &system in &systems {
                let [metric, people] = pair.map(|of| f64::from(of.of_system(system).value(corpus, at)));
                if !metric.is_nan() && !people.is_nan() {
                    all.push(ScoredPair { segment: segments, system: system as u32, metric, people });
                }
            }
            segments += u32::from(all.len() > before);
        }
        if all.is_empty() {
            return;
        }
        let names = pair.map(|of| of.name(corpus).trim_end_matches(".1").to_owned());
        // Numbers below 0 are turned already, as mt-metrics-eval has MQM.
        let is_turned = |n: usize, of: fn(&ScoredPair) -> f64| {
            WORSE_UP.iter().any(|start| names[n].starts_with(start)) && all.iter().all(|one| of(one) >= 0.0)
        };
        let [metric, people] =
            [is_turned(0, |one| one.metric), is_turned(1, |one| one.people)].map(|is| if is { -1.0 } else { 1.0 });
        for one in &mut all {
            (one.metric, one.people) = (metric * one.metric, people * one.people);
        }
        let compared = systems.iter().filter(|at| all.iter().any(|one| one.system as usize == **at)).count();
        let found = agreement(&all, SEED);
        for (level, n, found) in [("system", compared, &found[..4]), ("segment", all.len(), &found[4..])] {
            let is_few = (segments as usize) < FEWEST.0 || level == "system" && compared < FEWEST.1;
            for (statistic, found) in STATISTICS.iter().zip(found) {
                let number = |of: fn(Interval) -> f64| TableCell::Number(found.filter(|_| !is_few).map(of));
                let names = [&names[0], &names[1], level, *statistic].map(TableCell::from);
                let value = if is_few { TableCell::from("too few") } else { number(|found| found.value) };
                let numbers = [value, number(|found| found.low), number(|found| found.high)];
                let counts = [segments as usize, n].map(|count| TableCell::Count(count as u64));
                self.cells.push(names.into_iter().chain(numbers).chain(counts).collect());
            }
        }
    }

    /// What came of it.
    pub fn table(self) -> CellTable {
        CellTable { head: METRICS.to_vec(), rows: self.cells }
    }
}
