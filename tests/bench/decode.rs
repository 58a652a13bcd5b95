//! Sentences one at a time and in batches: 20 words in and 20 out, beam 5, beside the readable form, the bound of the
//! machine and a peer.

use std::time::Duration;

use serde_json::{Value, json};

use crate::peer::{self, Laps};
use crate::race::{BEAM, Course, Race, Racer, WORDS, peer_apart};
use crate::subject::{Source, Subject};
use crate::work::{self, Work};
use crate::{Setup, machine::Rates, subject};
use interlinear::cli::bench::figures::{BenchColumn, Figures, quantile};

/// Sentences decoded together, and the same on a graphics card.
const BATCHES: (&[usize], &[usize]) = (&[12, 64, 256], &[64, 256]);

/// What a row begins with, and what it ends with where there are peers.
const MODEL: [BenchColumn; 3] =
    [BenchColumn::words("model", 22), BenchColumn::words("weights", 7), BenchColumn::number("threads", 0)];
const PEER: [BenchColumn; 5] = [
    BenchColumn::number("peer", 1),
    BenchColumn::number("ratio", 2),
    BenchColumn::words("peer words, log p", 12),
    BenchColumn::words("best setting", 12),
    BenchColumn::words("peer's name", 22),
];

const SENTENCE: &[BenchColumn] = &[
    BenchColumn::number("ms/sentence", 2),
    BenchColumn::number("p5", 2),
    BenchColumn::number("p95", 2),
    BenchColumn::number("MB read", 0),
    BenchColumn::number("GOP", 2),
    BenchColumn::number("bound ms", 2),
    BenchColumn::words("by", 8),
    BenchColumn::number("of bound %", 0),
    BenchColumn::number("readable ms", 1),
    BenchColumn::words("words, log p", 12),
    BenchColumn::words("others", 6),
];

const BATCHED: &[BenchColumn] = &[
    BenchColumn::number("batch", 0),
    BenchColumn::number("words/s", 0),
    BenchColumn::number("least", 0),
    BenchColumn::number("most", 0),
    BenchColumn::number("bound words/s", 0),
    BenchColumn::words("by", 8),
    BenchColumn::number("of bound %", 0),
    BenchColumn::words("words, log p", 12),
    BenchColumn::words("others", 6),
];

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
    let courses = |subject: &Subject| {
        let all = setup.threads().into_iter().flat_map(|threads| batches.iter().map(move |&batch| (threads, batch)));
        all.map(|(threads, batch)| together(setup, subject, threads, batch)).collect()
    };
    race_all(setup, figures, (random, BATCHED), &courses, batch)
}

/// As in the efficiency tasks of WMT and WNGT: the best word at each step, batches, one core. They count source words,
/// and here a translation has as many.
pub fn competition(setup: &Setup, figures: &mut Figures) -> anyhow::Result<()> {
    let random = vec![Source::Random(Box::new(subject::tiny_transformer()), false)];
    figures.line("beam 1, one core, batches of 64, 20 words in and out")?;
    let courses = |subject: &Subject| {
        let batch = if setup.quick { 3 } else { 64 };
        let course = together(setup, subject, 1, batch);
        vec![Course { beam: 1, count: 4 * batch, ..course }]
    };
    race_all(setup, figures, (random, BATCHED), &courses, batch)
}

type Row = fn(&Course, &Race, &Work, &Rates) -> Vec<Value>;

fn race_all(
    setup: &Setup, figures: &mut Figures, (random, columns): (Vec<Source>, &[BenchColumn]),
    courses: &dyn Fn(&Subject) -> Vec<Course>, row: Row,
) -> anyhow::Result<()> {
    let has_peer = !setup.peers.is_empty();
    figures.head(&[&MODEL[..], columns, if has_peer { &PEER } else { &[] }].concat())?;
    let (mut ran, mut refusals) = (false, Vec::new());
    for source in Source::all(setup, random).into_iter().filter(|source| source.is_meant(&setup.only)) {
        let subject = source.subject(&setup.runtime.device)?;
        let mut racer = Racer::new(setup, &subject)?;
        for course in courses(&subject) {
            let race = racer.race(&course)?;
            let rates = setup.rates(course.threads)?;
            let work = work::decoding(&subject.config, &course.load());
            let model = [json!(subject.config.name), json!(subject.precision()), json!(course.threads)];
            let own = row(&course, &race, &work, &rates);
            // a row for each peer that ran, or one
            let peers: Vec<_> = race.peers.iter().filter_map(|laps| beside(&course, &race, laps)).collect();
            let none = [const { Value::Null }; PEER.len()];
            for peer in peers.iter().chain((peers.is_empty()).then_some(&none)) {
                figures.row(&[&model[..], &own, peer].concat())?;
            }
            let is_near = race.apart.is_none_or(|apart| apart.is_near());
            anyhow::ensure!(is_near || !setup.quick, "{}: the two forms translate differently", subject.config.name);
            ran |= !peers.is_empty();
            let refused = race.peers.iter().filter_map(|laps| Some((laps.name(), laps.refused.as_ref()?)));
            refusals.extend(refused.map(|(peer, why)| format!("{}: {peer}: {why}", subject.config.name)));
        }
    }
    refusals.dedup();
    refusals.iter().try_for_each(|why| figures.line(&format!("\n{why}")))?;
    peer::must_have_run(has_peer, ran)
}

/// A peer at its best: milliseconds of a sentence or words a second, how many times it is behind, and what it said.
fn beside(course: &Course, race: &Race, laps: &Laps) -> Option<[Value; PEER.len()]> {
    let (setting, lap) = laps.at_its_best()?;
    let (number, ratio) = if course.batch == 1 {
        let millis = 1000.0 * peer::numbers(lap, "median_s", 0.5);
        (millis, millis / race.ours.timing.millis(0.5))
    } else {
        let rate = peer::numbers(lap, "words_per_s", 0.5);
        (rate, quantile(&race.ours.rates, 0.5) / rate)
    };
    let apart = peer_apart(&race.ours.best, lap.last()?);
    Some([json!(number), json!(ratio), json!(apart.to_string()), json!(setting), json!(laps.name())])
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
    Course { beam: BEAM, batch: 1, threads, count, readable, patience: Duration::from_secs(patience) }
}

fn together(setup: &Setup, subject: &Subject, threads: usize, batch: usize) -> Course {
    let count = if setup.quick || subject.is_large() { batch } else { batch.max(128) };
    let patience = match (setup.quick, !setup.peers.is_empty()) {
        (true, _) => 0,
        (false, true) => 8,
        (false, false) => 3,
    };
    Course { beam: BEAM, batch, threads, count, readable: 2, patience: Duration::from_secs(patience) }
}

fn sentence(_: &Course, race: &Race, work: &Work, rates: &Rates) -> Vec<Value> {
    let (bound, timing) = (work.bound(rates), &race.ours.timing);
    let millis = timing.millis(0.5);
    vec![
        json!(millis),
        json!(timing.millis(0.05)),
        json!(timing.millis(0.95)),
        json!(work.megabytes()),
        json!(work.giga_operations()),
        json!(bound.millis),
        json!(bound.by),
        json!(100.0 * bound.millis / millis),
        json!(race.readable.as_ref().map(|lap| lap.timing.millis(0.5))),
        json!(race.apart.map(|apart| apart.to_string())),
        json!(race.others.to_string()),
    ]
}

fn batch(course: &Course, race: &Race, work: &Work, rates: &Rates) -> Vec<Value> {
    let bound = work.bound(rates);
    let most_words = 1000.0 * (course.batch * WORDS) as f64 / bound.millis;
    let [least, rate, most] = [0.0, 0.5, 1.0].map(|share| quantile(&race.ours.rates, share));
    vec![
        json!(course.batch),
        json!(rate),
        json!(least),
        json!(most),
        json!(most_words),
        json!(bound.by),
        json!(100.0 * rate / most_words),
        json!(race.apart.map(|apart| apart.to_string())),
        json!(race.others.to_string()),
    ]
}
