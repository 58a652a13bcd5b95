//! Floor 10: many sentences in batches: words a second, and what share of the greatest rate of products that is.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::bench::decode::{race_all, with_peer};
use crate::cli::bench::race::{BEAM, Course, PeerLap, Race, WORDS};
use crate::cli::bench::rates::Rates;
use crate::cli::bench::report::{Column, Report};
use crate::cli::bench::setup::Setup;
use crate::cli::bench::subject::{Source, Subject};
use crate::cli::bench::timing::quantile;
use crate::cli::bench::{subject, work};

/// Sentences decoded together.
const BATCHES: &[usize] = &[12, 64, 256];
/// The same on a graphics card.
const CARD: &[usize] = &[64, 256];

const COLUMNS: &[Column] = &[
    Column::words("model", "model", 22),
    Column::words("weights", "weights", 7),
    Column::number("threads", "threads", 7, 0),
    Column::number("batch", "batch", 5, 0),
    Column::number("words_per_s", "words/s", 8, 0),
    Column::number("words_per_s_least", "least", 8, 0),
    Column::number("words_per_s_most", "most", 8, 0),
    Column::number("share_of_f32_peak", "% of peak", 9, 0).times(100.0),
    Column::number("bound_f32_words_per_s", "bound f32 words/s", 17, 0),
    Column::number("bound_16_bit_words_per_s", "16-bit", 8, 0),
    Column::words("", "words, log p", 12),
];

const PEER: &[Column] = &[
    Column::number("", "peer words/s", 12, 0),
    Column::number("peer_ratio", "ratio", 6, 2),
    Column::words("", "words, log p", 12),
];

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

fn row(subject: &Subject, course: &Course, race: &Race, rates: &Rates) -> (Vec<Value>, Value) {
    let work = work::decoding(&subject.config, &course.load());
    let words = (course.batch * WORDS) as f64;
    let bound = |bytes| 1000.0 * words / work.bound(bytes, rates).millis;
    let rate = race.ours.rate();
    let peer = race.peer.as_ref().map(PeerLap::rate);
    let values = vec![
        json!(subject.name),
        json!(subject.precision()),
        json!(course.threads),
        json!(course.batch),
        json!(rate),
        json!(quantile(&race.ours.rates, 0.0)),
        json!(quantile(&race.ours.rates, 1.0)),
        json!(work.share_of_peak(words / rate.max(1e-9), rates)),
        json!(bound(4)),
        json!(bound(2)),
        json!(race.apart.map(|apart| apart.to_string())),
        json!(peer),
        json!(peer.map(|peer| rate / peer)),
        json!(race.peer.as_ref().map(|peer| peer.apart.to_string())),
    ];
    (values, Value::Null)
}
