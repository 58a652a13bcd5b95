//! Floor 10: one sentence at a time: 20 words in and 20 out, beam 5, on one thread and on two, beside the readable
//! form, the bound of the machine and a peer.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::bench::race::{BEAM, Course, PeerLap, Race, Racer};
use crate::cli::bench::rates::Rates;
use crate::cli::bench::report::{Column, Report};
use crate::cli::bench::setup::{Setup, peer_must_have_run};
use crate::cli::bench::subject::{Source, Subject};
use crate::cli::bench::{subject, work};
use crate::models::Kernels;

const COLUMNS: &[Column] = &[
    Column::words("model", "model", 22),
    Column::words("weights", "weights", 7),
    Column::number("threads", "threads", 7, 0),
    Column::number("sentence_millis", "ms/sentence", 11, 2),
    Column::number("sentence_millis_p5", "p5", 7, 2),
    Column::number("sentence_millis_p95", "p95", 7, 2),
    Column::number("", "bound f32 ms", 12, 2),
    Column::words("", "by", 8),
    Column::number("", "products ms", 11, 2),
    Column::number("", "bound 16-bit ms", 15, 2),
    Column::number("of_bound_f32", "of bound", 8, 2),
    Column::number("readable_millis", "readable ms", 11, 2),
    Column::number("", "ratio", 6, 2),
    Column::words("", "words, log p", 12),
];

const PEER: &[Column] = &[
    Column::number("", "peer ms", 8, 2),
    Column::number("peer_ratio", "ratio", 6, 2),
    Column::words("", "words, log p", 12),
];

/// Measures every bundled model (or the one given) and random ones of a bundled and of the papers' sizes.
pub fn run(setup: &Setup, report: &mut Report<'_>) -> anyhow::Result<Value> {
    let random = vec![
        Source::random(subject::small(), true),
        Source::random(subject::small(), false),
        Source::random(subject::paper(), true),
        Source::random(subject::paper(), false),
        Source::random(subject::paper_encdec(), true),
        Source::random(subject::paper_luong(), true),
    ];
    report.line(&format!("one sentence at a time, beam {BEAM}, 20 words in and out; {}", setup.compared()))?;
    report.line(&format!("bounds: {}", work::BOUNDS))?;
    report.head(&with_peer(setup.peer.is_some(), COLUMNS, PEER))?;
    let courses =
        |subject: &Subject| setup.threads().into_iter().map(|threads| course(setup, subject, threads)).collect();
    race_all(setup, report, random, &courses, row)
}

/// The values of a row, those of a peer last, and what else is recorded.
type MakeRow = fn(&Subject, &Course, &Race, &Rates) -> (Vec<Value>, Value);

/// Runs every model over its courses; a row each.
pub fn race_all(
    setup: &Setup,
    report: &mut Report<'_>,
    random: Vec<Source>,
    courses: &dyn Fn(&Subject) -> Vec<Course>,
    row: MakeRow,
) -> anyhow::Result<Value> {
    let mut rows = Vec::new();
    for source in Source::all(setup, random) {
        let subject = source.subject(&setup.runtime.device)?;
        let mut racer = Racer::new(setup, &subject)?;
        for course in courses(&subject) {
            let race = racer.race(&course)?;
            let rates = setup.rates(course.threads)?;
            let (values, figures) = row(&subject, &course, &race, &rates);
            let mut record = report.row(&values, describe(setup, &subject, &course, &race))?;
            for (key, value) in figures.as_object().into_iter().flatten() {
                record[key] = value.clone();
            }
            // why a peer left a model out
            race.refused.as_ref().map_or(Ok(()), |why| report.note(why))?;
            rows.push(record);
        }
    }
    peer_must_have_run(setup.peer.is_some(), &rows)?;
    Ok(Value::Array(rows))
}

/// The columns, and those of a peer where there is one.
pub fn with_peer(is_there: bool, columns: &[Column], peer: &[Column]) -> Vec<Column> {
    [columns, if is_there { peer } else { &[] }].concat()
}

fn course(setup: &Setup, subject: &Subject, threads: usize) -> Course {
    // a peer takes long to start, so there is more to do for it then
    let (count, readable) = match (setup.quick, subject.is_large(), setup.peer.is_some()) {
        (true, ..) => (3, 2),
        (_, true, false) => (6, 1),
        (_, true, true) => (10, 1),
        (_, false, _) => (40, 4),
    };
    let patience = if setup.peer.is_some() { 12 } else { 2 };
    Course { batch: 1, threads, count, readable, patience: Duration::from_secs(patience) }
}

fn row(subject: &Subject, course: &Course, race: &Race, rates: &Rates) -> (Vec<Value>, Value) {
    let work = work::decoding(&subject.config, &course.load());
    let (f32, half) = (work.bound(4, rates), work.bound(2, rates));
    let timing = &race.ours.timing;
    let millis = 1000.0 * timing.median();
    let readable = race.readable.as_ref().map(|lap| 1000.0 * lap.timing.median());
    let peer = race.peer.as_ref().map(PeerLap::millis);
    let values = vec![
        json!(subject.name),
        json!(subject.precision()),
        json!(course.threads),
        json!(millis),
        json!(1000.0 * timing.p5()),
        json!(1000.0 * timing.p95()),
        json!(f32.millis),
        json!(f32.by),
        json!(f32.products_millis),
        json!(half.millis),
        json!(millis / f32.millis),
        json!(readable),
        json!(readable.map(|readable| readable / millis)),
        json!(race.apart.map(|apart| apart.to_string())),
        json!(peer),
        json!(peer.map(|peer| peer / millis)),
        json!(race.peer.as_ref().map(|peer| peer.apart.to_string())),
    ];
    (values, json!({"bound_f32": f32.json(), "bound_16_bit": half.json()}))
}

/// What is known of a row beside its figures.
fn describe(setup: &Setup, subject: &Subject, course: &Course, race: &Race) -> Value {
    let config = &subject.config;
    let timing = &race.ours.timing;
    let engine = if setup.runtime.engine == Kernels::Fused { "fused" } else { "readable" };
    json!({
        "architecture": config.architecture.name(), "hidden": config.hidden, "vocabulary": config.target_vocabulary,
        "engine": engine, "device": subject.device().name, "batch": course.batch,
        "beam": BEAM, "sentences": course.count, "passes": timing.passes(), "words_per_s": race.ours.rate(),
        "spread": timing.spread(), "apart": race.apart.map(|apart| apart.json()),
        "peer": race.peer.as_ref().map(PeerLap::json), "peer_refused": race.refused,
    })
}
