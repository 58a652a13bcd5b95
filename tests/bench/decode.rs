//! Sentences one at a time and in batches: 20 words in and 20 out, beam 5, beside the readable form, the bound of the
//! machine and a peer.

use std::time::Duration;

use serde_json::{Value, json};

use crate::race::{BEAM, Course, PeerLap, Race, Racer, WORDS};
use crate::subject::{Source, Subject};
use crate::{Setup, machine::Rates, peer, subject, work};
use interlinear::cli::bench::figures::{BenchColumn, Figures, quantile};

/// Sentences decoded together, and the same on a graphics card.
const BATCHES: (&[usize], &[usize]) = (&[12, 64, 256], &[64, 256]);

const SENTENCE: &[BenchColumn] = &[
    BenchColumn::words("model", 22),
    BenchColumn::words("weights", 7),
    BenchColumn::number("threads", 0),
    BenchColumn::number("ms/sentence", 2),
    BenchColumn::number("p5", 2),
    BenchColumn::number("p95", 2),
    BenchColumn::number("bound f32 ms", 2),
    BenchColumn::words("by", 8),
    BenchColumn::number("products ms", 2),
    BenchColumn::number("bound 16-bit ms", 2),
    BenchColumn::number("of bound", 2),
    BenchColumn::number("readable ms", 2),
    BenchColumn::number("ratio", 2),
    BenchColumn::words("words, log p", 12),
    BenchColumn::number("peer ms", 2),
    BenchColumn::number("peer ratio", 2),
    BenchColumn::words("peer words, log p", 12),
    BenchColumn::words("peer", 22),
];

const BATCHED: &[BenchColumn] = &[
    BenchColumn::words("model", 22),
    BenchColumn::words("weights", 7),
    BenchColumn::number("threads", 0),
    BenchColumn::number("batch", 0),
    BenchColumn::number("words/s", 0),
    BenchColumn::number("least", 0),
    BenchColumn::number("most", 0),
    BenchColumn::number("% of peak", 0),
    BenchColumn::number("bound f32 words/s", 0),
    BenchColumn::number("16-bit", 0),
    BenchColumn::words("words, log p", 12),
    BenchColumn::number("peer words/s", 0),
    BenchColumn::number("peer ratio", 2),
    BenchColumn::words("peer words, log p", 12),
    BenchColumn::words("peer", 22),
];

const OF_PEER: usize = 4;

pub fn sentences(setup: &Setup, figures: &mut Figures) -> anyhow::Result<()> {
    let mut random = vec![
        Source::Random(Box::new(subject::small()), true),
        Source::Random(Box::new(subject::small()), false),
        Source::Random(Box::new(subject::paper()), true),
        Source::Random(Box::new(subject::paper()), false),
        Source::Random(Box::new(subject::paper_encdec()), true),
        Source::Random(Box::new(subject::paper_luong()), true),
        Source::Random(Box::new(subject::base_transformer()), false),
        Source::Random(Box::new(subject::tiny_transformer()), false),
    ];
    random.extend(subject::of_toolkits().map(|config| Source::Random(Box::new(config), false)));
    figures.line(&format!("one sentence at a time, beam {BEAM}, 20 words in and out; {}", setup.compared()))?;
    figures.line(&format!("bounds: {}", work::BOUNDS))?;
    let courses =
        |subject: &Subject| setup.threads().into_iter().map(|threads| alone(setup, subject, threads)).collect();
    race_all(setup, figures, (random, SENTENCE), &courses, sentence)
}

pub fn corpora(setup: &Setup, figures: &mut Figures) -> anyhow::Result<()> {
    let random = vec![
        Source::Random(Box::new(subject::small()), true),
        Source::Random(Box::new(subject::paper()), true),
        Source::Random(Box::new(subject::base_transformer()), false),
        Source::Random(Box::new(subject::tiny_transformer()), false),
    ];
    figures.line(&format!("batches of sentences, beam {BEAM}, 20 words in and out; {}", setup.compared()))?;
    let batches = match (setup.quick, setup.runtime.device.is_cpu()) {
        (true, _) => &[3],
        (false, true) => BATCHES.0,
        (false, false) => BATCHES.1,
    };
    let courses = |subject: &Subject| batches.iter().map(|&batch| together(setup, subject, batch)).collect();
    race_all(setup, figures, (random, BATCHED), &courses, batch)
}

type Row = fn(&Subject, &Course, &Race, Option<&PeerLap>, &Rates) -> Vec<Value>;

fn race_all(
    setup: &Setup, figures: &mut Figures, (random, columns): (Vec<Source>, &[BenchColumn]),
    courses: &dyn Fn(&Subject) -> Vec<Course>, row: Row,
) -> anyhow::Result<()> {
    let has_peer = !setup.peers.is_empty();
    figures.head(if has_peer { columns } else { &columns[..columns.len() - OF_PEER] })?;
    let (mut ran, mut refusals) = (false, Vec::new());
    for source in Source::all(setup, random) {
        let subject = source.subject(&setup.runtime.device)?;
        let mut racer = Racer::new(setup, &subject)?;
        for course in courses(&subject) {
            let race = racer.race(&course)?;
            let rates = setup.rates(course.threads)?;
            // a row for each peer, or one
            for peer in 0..race.peers.len().max(1) {
                figures.row(&row(&subject, &course, &race, race.peers.get(peer), &rates))?;
            }
            let is_near = race.apart.is_none_or(|apart| apart.is_near());
            anyhow::ensure!(is_near || !setup.quick, "{}: the two forms translate differently", subject.config.name);
            ran |= !race.peers.is_empty();
            refusals.extend(race.refused.iter().map(|why| format!("{}: {why}", subject.config.name)));
        }
    }
    refusals.iter().try_for_each(|why| figures.line(&format!("\n{why}")))?;
    peer::must_have_run(has_peer, ran)
}

fn alone(setup: &Setup, subject: &Subject, threads: usize) -> Course {
    // a peer takes long to start, so there is more to do for it then
    let (count, readable) = match (setup.quick, subject.is_large(), !setup.peers.is_empty()) {
        (true, ..) => (3, 2),
        (_, true, false) => (6, 1),
        (_, true, true) => (10, 1),
        (_, false, _) => (40, 4),
    };
    let patience = if setup.peers.is_empty() { 2 } else { 12 };
    Course { batch: 1, threads, count, readable, patience: Duration::from_secs(patience) }
}

fn together(setup: &Setup, subject: &Subject, batch: usize) -> Course {
    let threads = setup.most_threads();
    let count = if setup.quick || subject.is_large() { batch } else { batch.max(128) };
    let patience = match (setup.quick, !setup.peers.is_empty()) {
        (true, _) => 0,
        (false, true) => 8,
        (false, false) => 3,
    };
    Course { batch, threads, count, readable: 2, patience: Duration::from_secs(patience) }
}

fn sentence(subject: &Subject, course: &Course, race: &Race, lap: Option<&PeerLap>, rates: &Rates) -> Vec<Value> {
    let work = work::decoding(&subject.config, &course.load());
    let (f32, half) = (work.bound(4, rates), work.bound(2, rates));
    let timing = &race.ours.timing;
    let millis = timing.millis(0.5);
    let readable = race.readable.as_ref().map(|lap| lap.timing.millis(0.5));
    let peer = lap.map(|lap| quantile(&lap.millis, 0.5));
    vec![
        json!(subject.config.name),
        json!(subject.precision()),
        json!(course.threads),
        json!(millis),
        json!(timing.millis(0.05)),
        json!(timing.millis(0.95)),
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
        json!(lap.map(|lap| lap.apart.to_string())),
        json!(lap.map(|lap| lap.name.as_str())),
    ]
}

fn batch(subject: &Subject, course: &Course, race: &Race, lap: Option<&PeerLap>, rates: &Rates) -> Vec<Value> {
    let work = work::decoding(&subject.config, &course.load());
    let words = (course.batch * WORDS) as f64;
    let bound = |bytes| 1000.0 * words / work.bound(bytes, rates).millis;
    let [least, rate, most] = [0.0, 0.5, 1.0].map(|share| quantile(&race.ours.rates, share));
    let peer = lap.map(|lap| quantile(&lap.rates, 0.5));
    vec![
        json!(subject.config.name),
        json!(subject.precision()),
        json!(course.threads),
        json!(course.batch),
        json!(rate),
        json!(least),
        json!(most),
        json!(100.0 * work.share_of_peak(words / rate.max(1e-9), rates)),
        json!(bound(4)),
        json!(bound(2)),
        json!(race.apart.map(|apart| apart.to_string())),
        json!(peer),
        json!(peer.map(|peer| rate / peer)),
        json!(lap.map(|lap| lap.apart.to_string())),
        json!(lap.map(|lap| lap.name.as_str())),
    ]
}
