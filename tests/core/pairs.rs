//! A phrase table in memory: what it finds; and the corpus lane that reads, scores, compares and writes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use interlinear::aligner::bundled::AlignerFiles;
use interlinear::corpus::overview::test_set::Unk;
use interlinear::decoding::{SearchOptions, force};
use interlinear::jobs::Store;
use interlinear::jobs::gate::ForegroundGate;
use interlinear::jobs::queue::evaluate::{Evaluate, TestFiles};
use interlinear::jobs::queue::phrases::{PhraseOrder, SAMPLES, Samples, Scored};
use interlinear::jobs::queue::{Found, JobQueue, QueueNews, QueueOrder};
use interlinear::models::{Kernels, Model};
use interlinear::nn::device::{Device, DeviceChoice};
use interlinear::text::pairs::Pairs;
use interlinear::text::phrases::PhraseTable;
use interlinear::ticket::CancellationToken;
use interlinear::training::curves::Curves;
use interlinear::training::state::Checkpoint;

use crate::cli::reference;

const TABLE: &str = "s2 s3 ||| t2 T3 ||| 0.5 0.25\n\
s9 ||| t2 ||| 1 0.5\n\
s2 s3 ||| t4 ||| 0.5 0.75\n\
S2 ||| t2 t3 t4 ||| 1 1\n\
s9 ||| t7 t3 ||| 0.1 0\n";

fn read(most: usize) -> Pairs {
    let table = PhraseTable::new(Path::new("table"), Box::new(std::io::Cursor::new(TABLE.as_bytes())));
    Pairs::read(table, most, &mut |_, _| Ok(())).expect("it is a table")
}

#[test]
fn pairs_are_found_by_source_and_by_what_they_hold() {
    let pairs = read(100);
    assert_eq!((pairs.len(), pairs.sources(), pairs.features(), pairs.is_cut()), (5, 3, 2, false));
    let source = pairs.find_source("s2 s3").expect("it is there");
    assert_eq!(pairs.of_source(source), [0, 2]);
    assert_eq!((pairs.source(4), pairs.target(4), pairs.feature(4, 1)), ("s9", "t7 t3", Some(0.1)));
    assert_eq!((pairs.feature(4, 3), pairs.feature(4, 0), pairs.feature(5, 1)), (None, None, None));
    let found: [(&str, &[u32]); 6] =
        [("t3", &[0, 3, 4]), ("S2", &[0, 2, 3]), ("2", &[0, 1, 2, 3]), ("t2 t3 t4", &[3]), ("x", &[]), ("", &[])];
    for (needle, wanted) in found {
        assert_eq!(pairs.search(needle), wanted, "{needle}");
    }
    let names = |sources: Vec<usize>| -> Vec<String> {
        sources.into_iter().map(|source| pairs.source_phrase(source).to_owned()).collect()
    };
    assert_eq!(names(pairs.suggest("S2", 9)), ["s2 s3", "S2"]);
    assert_eq!(names(pairs.suggest("3", 9)), ["s2 s3"]);
    assert_eq!(names(pairs.suggest("s", 2)), ["s2 s3", "s9"]);
    assert_eq!(names(pairs.largest(2)), ["s2 s3", "s9"], "several words go first");
    assert!(read(3).is_cut() && read(3).len() == 3);
}

#[test]
fn a_table_without_pairs_is_refused() {
    let empty = PhraseTable::new(Path::new("table"), Box::new(std::io::Cursor::new(Vec::new())));
    let error = Pairs::read(empty, 9, &mut |_, _| Ok(())).expect_err("it is empty").to_string();
    assert_eq!(error, "table: is empty; give a phrase table with at least one pair");
}

/// Gives the lane an order and waits for what comes of it.
fn perform(lane: &JobQueue<QueueOrder>, number: u64, order: PhraseOrder) -> QueueNews {
    perform_any(lane, number, QueueOrder::Phrases(order))
}

/// As [`perform`] of any kind of order.
fn perform_any(lane: &JobQueue<QueueOrder>, number: u64, order: QueueOrder) -> QueueNews {
    lane.submit(number, order);
    loop {
        let event = lane.news.next_within(Duration::from_secs(30)).expect("every order ends");
        if event.number == number && !matches!(event.kind, QueueNews::Progress(_)) {
            return event.kind;
        }
    }
}

#[test]
fn the_lane_reads_scores_compares_and_writes_a_table() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().join("table.txt");
    std::fs::write(&path, TABLE).expect("written");
    let lane: JobQueue<QueueOrder> = JobQueue::spawn(Store::new(1).library(), ForegroundGate::new(), Arc::new(|| {}));
    let QueueNews::Found(Found::Phrases(Scored::Read(pairs))) =
        perform(&lane, 1, PhraseOrder::Read { table: path.clone() })
    else {
        panic!("the table is read");
    };
    let model = reference("rnnencdec");
    let order =
        PhraseOrder::Score { model: model.clone(), device: DeviceChoice::Cpu, pairs: Arc::clone(&pairs), feature: 1 };
    let QueueNews::Found(Found::Phrases(Scored::Compared(scores, 1, chart))) = perform(&lane, 2, order) else {
        panic!("the table is scored");
    };
    assert_eq!((chart.points.len(), chart.left_out, &scores.model), (5, 0, &model));
    let loaded = Model::load(&model, &Device::cpu()).expect("the fixture loads");
    let mut stepper = loaded.stepper(Kernels::Fused, 1).expect("a stepper");
    for pair in 0..pairs.len() {
        let source = loaded.source.encode(pairs.source(pair)).ids;
        let target = loaded.target.encode_with(pairs.target(pair), Some(loaded.config.eos)).ids;
        let forced = force(stepper.as_mut(), &[(&source, &target)], &CancellationToken::forever()).expect("forced");
        assert!((scores.log_p[pair] - forced[0].log_p).abs() < 1e-4, "pair {pair}");
        assert_eq!(chart.point(pair).expect("it has a point")[1], scores.log_p[pair]);
    }
    let QueueNews::Found(Found::Phrases(Scored::Compared(_, 2, chart))) =
        perform(&lane, 3, PhraseOrder::Compare(scores.clone(), 2))
    else {
        panic!("the table is compared");
    };
    assert_eq!((chart.points.len(), chart.left_out), (4, 1), "0 has no logarithm");
    let sample =
        |seed: u64| PhraseOrder::Sample { model: model.clone(), device: DeviceChoice::Cpu, source: "s9".into(), seed };
    let samples: Vec<Samples> = [(6, 1), (7, 1), (8, 2)]
        .map(|(number, seed)| match perform(&lane, number, sample(seed)) {
            QueueNews::Found(Found::Phrases(Scored::Sampled(samples))) => samples,
            other => panic!("samples are drawn, not {other:?}"),
        })
        .into();
    assert_eq!(samples[0], samples[1], "a seed draws the same again");
    assert_ne!(samples[0].drawn, samples[2].drawn);
    for samples in samples {
        assert_eq!(samples.drawn.iter().map(|drawn| drawn.count).sum::<usize>(), SAMPLES);
        assert!(samples.drawn.is_sorted_by(|a, b| a.log_p >= b.log_p));
    }
    let out: PathBuf = folder.path().join("scores.tsv");
    let written = perform(&lane, 4, PhraseOrder::Export { path: out.clone(), scores: scores.clone(), feature: 1 });
    assert_eq!(written, QueueNews::Found(Found::Phrases(Scored::Written(out.clone()))));
    let text = std::fs::read_to_string(out).expect("it is there");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines.len()), ("source\ttarget\tfeature_1\tlog_p", 6));
    assert_eq!(lines[5], format!("s9\tt7 t3\t0.1\t{}", scores.log_p[4]));
    let QueueNews::Failed(message) = perform(&lane, 5, PhraseOrder::Read { table: folder.path().join("no") }) else {
        panic!("there is no such file");
    };
    assert!(message.ends_with("no: does not exist; check the path"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_pipe_as_phrase_table_or_test_set_held_up_all_orders() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (pipe, plain) = (folder.path().join("pipe"), folder.path().join("plain"));
    std::fs::write(&plain, "s9\n").expect("written");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let lane: JobQueue<QueueOrder> = JobQueue::spawn(Store::new(1).library(), ForegroundGate::new(), Arc::new(|| {}));
    let refused = |number: u64, order: QueueOrder| match perform_any(&lane, number, order) {
        QueueNews::Failed(message) => assert!(message.contains("pipe: is a pipe or a device"), "{message}"),
        other => panic!("{other:?}"),
    };
    refused(1, QueueOrder::Phrases(PhraseOrder::Read { table: pipe.clone() }));
    for (at, (source, reference, gold)) in
        [(&pipe, &plain, None), (&plain, &pipe, None), (&plain, &plain, Some(pipe.clone()))].into_iter().enumerate()
    {
        let order = Evaluate {
            systems: vec![crate::cli::reference("rnnencdec").into()],
            device: DeviceChoice::Cpu,
            test: TestFiles {
                source: Some(source.clone()),
                references: vec![reference.clone()],
                gold,
                ..TestFiles::default()
            },
            search: SearchOptions::default(),
            unk: vec![Unk::Allowed],
            aligner: AlignerFiles::default(),
        };
        refused(at as u64 + 2, QueueOrder::Evaluate(order));
    }
    let error = Curves::load(&pipe).expect_err("it is no log").to_string();
    assert!(error.contains("pipe: is a pipe or a device"), "{error}");
    let error = Checkpoint::load(&pipe, 1).expect_err("it is no checkpoint").to_string();
    assert!(error.contains("pipe: is a pipe or a device"), "{error}");
}
