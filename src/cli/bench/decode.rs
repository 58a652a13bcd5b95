//! Floor 9: one sentence at a time: 20 words in and 20 out, beam 5, on one thread and on two, beside the readable
//! form, the bound of the machine and a peer.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::bench::machine::Rates;
use crate::cli::bench::race::{BEAM, Course, Race, Racer};
use crate::cli::bench::report::{Column, Report};
use crate::cli::bench::subject::{Source, Subject};
use crate::cli::bench::{Setup, peer_must_have_run, subject, work};
use crate::models::Kernels;

const COLUMNS: &[Column] = &[
    Column::left("model", 22),
    Column::left("weights", 7),
    Column::right("threads", 7),
    Column::right("ms/sentence", 11),
    Column::right("p5", 7),
    Column::right("p95", 7),
    Column::right("bound f32 ms", 12),
    Column::left("by", 8),
    Column::right("products ms", 11),
    Column::right("bound 16-bit ms", 15),
    Column::right("of bound", 8),
    Column::right("readable ms", 11),
    Column::right("ratio", 6),
    Column::left("words, log p", 12),
];

const PEER: &[Column] = &[Column::right("peer ms", 8), Column::right("ratio", 6), Column::left("words, log p", 12)];

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

/// The cells and the record of a row.
type MakeRow = fn(&Setup, &Subject, &Course, &Race, &Rates) -> (Vec<String>, Value);

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
            let (cells, record) = row(setup, &subject, &course, &race, &rates);
            report.row(&cells)?;
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

fn row(setup: &Setup, subject: &Subject, course: &Course, race: &Race, rates: &Rates) -> (Vec<String>, Value) {
    let work = work::decoding(&subject.config, &course.load());
    let (f32, half) = (work.bound(4, rates), work.bound(2, rates));
    let timing = &race.ours.timing;
    let millis = 1000.0 * timing.median();
    let mut record = describe(setup, subject, course, race);
    record["sentence_millis"] = json!(millis);
    record["sentence_millis_p5"] = json!(1000.0 * timing.p5());
    record["sentence_millis_p95"] = json!(1000.0 * timing.p95());
    record["bound_f32"] = f32.json();
    record["bound_16_bit"] = half.json();
    record["of_bound_f32"] = json!(millis / f32.millis);
    let mut cells = vec![
        subject.name.clone(),
        subject.precision().to_owned(),
        course.threads.to_string(),
        format!("{millis:.2}"),
        format!("{:.2}", 1000.0 * timing.p5()),
        format!("{:.2}", 1000.0 * timing.p95()),
        format!("{:.2}", f32.millis),
        f32.by.to_owned(),
        format!("{:.2}", f32.products_millis),
        format!("{:.2}", half.millis),
        format!("{:.2}", millis / f32.millis),
    ];
    let readable = race.readable.as_ref().map(|lap| 1000.0 * lap.timing.median());
    record["readable_millis"] = json!(readable);
    cells.extend(compared(readable, readable.map(|readable| readable / millis)));
    cells.push(race.apart.map_or_else(|| "-".into(), |apart| apart.to_string()));
    if setup.peer.is_some() {
        let peer = race.peer.as_ref().map(super::race::PeerLap::millis);
        record["peer_ratio"] = json!(peer.map(|peer| peer / millis));
        cells.extend(compared(peer, peer.map(|peer| peer / millis)));
        cells.push(race.peer.as_ref().map_or_else(|| "-".into(), |peer| peer.apart.to_string()));
    }
    (cells, record)
}

/// A figure of another program and the ratio to ours.
fn compared(figure: Option<f64>, ratio: Option<f64>) -> [String; 2] {
    let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
    [cell(figure), cell(ratio)]
}

/// What is known of a row before its figures.
pub fn describe(setup: &Setup, subject: &Subject, course: &Course, race: &Race) -> Value {
    let config = &subject.config;
    let timing = &race.ours.timing;
    let engine = if setup.runtime.engine == Kernels::Fused { "fused" } else { "readable" };
    json!({
        "model": subject.name, "architecture": config.architecture.name(), "weights": subject.precision(),
        "hidden": config.hidden, "vocabulary": config.target_vocabulary,
        "engine": engine, "device": subject.device().name, "threads": course.threads, "batch": course.batch,
        "beam": BEAM, "sentences": course.count, "passes": timing.passes(), "words_per_s": race.ours.rate(),
        "spread": timing.spread(), "apart": race.apart.map(|apart| apart.json()),
        "peer": race.peer.as_ref().map(super::race::PeerLap::json), "peer_refused": race.refused,
    })
}
