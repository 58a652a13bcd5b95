//! Floor 9: many sentences in batches: words a second, and what share of the greatest rate of products that is.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::bench::decode::{describe, race_all, with_peer};
use crate::cli::bench::machine::Rates;
use crate::cli::bench::race::{BEAM, Course, PeerLap, Race};
use crate::cli::bench::report::{Column, Report};
use crate::cli::bench::subject::{Source, Subject};
use crate::cli::bench::timing::quantile;
use crate::cli::bench::{Setup, subject, work};

/// Sentences decoded together.
const BATCHES: &[usize] = &[12, 64, 256];
/// The same on a graphics card.
const CARD: &[usize] = &[64, 256];

const COLUMNS: &[Column] = &[
    Column::left("model", 22),
    Column::left("weights", 7),
    Column::right("threads", 7),
    Column::right("batch", 5),
    Column::right("words/s", 8),
    Column::right("least", 8),
    Column::right("most", 8),
    Column::right("% of peak", 9),
    Column::right("bound f32 words/s", 17),
    Column::right("16-bit", 8),
    Column::left("words, log p", 12),
];

const PEER: &[Column] =
    &[Column::right("peer words/s", 12), Column::right("ratio", 6), Column::left("words, log p", 12)];

/// Measures every bundled model (or the one given) and random ones, on as many threads as there are to use.
pub fn run(setup: &Setup, report: &mut Report<'_>) -> anyhow::Result<Value> {
    let random = vec![Source::random(subject::small(), true), Source::random(subject::paper(), true)];
    report.line(&format!("batches of sentences, beam {BEAM}, 20 words in and out; {}", setup.compared()))?;
    report.head(&with_peer(setup.peer.is_some(), COLUMNS, PEER))?;
    let threads = setup.threads().last().copied().unwrap_or(1);
    let courses =
        |subject: &Subject| batches(setup).iter().map(|&batch| course(setup, subject, batch, threads)).collect();
    race_all(setup, report, random, &courses, row)
}

fn batches(setup: &Setup) -> &'static [usize] {
    match (setup.quick, setup.runtime.device.is_cpu()) {
        (true, _) => &[3],
        (false, true) => BATCHES,
        (false, false) => CARD,
    }
}

fn course(setup: &Setup, subject: &Subject, batch: usize, threads: usize) -> Course {
    // a large model takes long enough with one batch of each size
    let count = if setup.quick || subject.is_large() { batch } else { batch.max(128) };
    let patience = match (setup.quick, setup.peer.is_some()) {
        (true, _) => 0,
        (false, true) => 8,
        (false, false) => 3,
    };
    Course { batch, threads, count, readable: 2, patience: Duration::from_secs(patience) }
}

fn row(setup: &Setup, subject: &Subject, course: &Course, race: &Race, rates: &Rates) -> (Vec<String>, Value) {
    let work = work::decoding(&subject.config, &course.load());
    let words = (course.batch * super::race::WORDS) as f64;
    let bound = |bytes| 1000.0 * words / work.bound(bytes, rates).millis;
    let rate = race.ours.rate();
    let share = work.share_of_peak(words / rate.max(1e-9), rates);
    let (least, most) = (quantile(&race.ours.rates, 0.0), quantile(&race.ours.rates, 1.0));
    let mut record = describe(setup, subject, course, race);
    record["words_per_s_least"] = json!(least);
    record["words_per_s_most"] = json!(most);
    record["share_of_f32_peak"] = json!(share);
    record["bound_f32_words_per_s"] = json!(bound(4));
    record["bound_16_bit_words_per_s"] = json!(bound(2));
    let mut cells = vec![
        subject.name.clone(),
        subject.precision().to_owned(),
        course.threads.to_string(),
        course.batch.to_string(),
        format!("{rate:.0}"),
        format!("{least:.0}"),
        format!("{most:.0}"),
        format!("{:.0}", 100.0 * share),
        format!("{:.0}", bound(4)),
        format!("{:.0}", bound(2)),
        race.apart.map_or_else(|| "-".into(), |apart| apart.to_string()),
    ];
    if setup.peer.is_some() {
        let peer = race.peer.as_ref().map(PeerLap::rate);
        record["peer_ratio"] = json!(peer.map(|peer| rate / peer));
        let cell = |value: Option<f64>, digits| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.digits$}"));
        cells.extend([cell(peer, 0), cell(peer.map(|peer| rate / peer), 2)]);
        cells.push(race.peer.as_ref().map_or_else(|| "-".into(), |peer| peer.apart.to_string()));
    }
    (cells, record)
}
