//! A pipe in the place of a file: nothing waits for it.
#![cfg(unix)]

use std::sync::Arc;
use std::time::Duration;

use interlinear::aligner::bundled::AlignerFiles;
use interlinear::corpus::overview::test_set::Unk;
use interlinear::decoding::SearchOptions;
use interlinear::jobs::Store;
use interlinear::jobs::gate::ForegroundGate;
use interlinear::jobs::queue::evaluate::{Evaluate, TestFiles};
use interlinear::jobs::queue::{JobQueue, QueueNews, QueueOrder};
use interlinear::nn::device::DeviceChoice;
use interlinear::training::curves::Curves;
use interlinear::training::state::Checkpoint;
/// Gives the lane an order and waits for what comes of it.
fn perform(lane: &JobQueue<QueueOrder>, number: u64, order: QueueOrder) -> QueueNews {
    lane.submit(number, order);
    loop {
        let event = lane.news.next_within(Duration::from_secs(30)).expect("every order ends");
        if event.number == number && !matches!(event.kind, QueueNews::Progress(_)) {
            return event.kind;
        }
    }
}

#[test]
fn a_pipe_as_test_set_held_up_all_orders() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (pipe, plain) = (folder.path().join("pipe"), folder.path().join("plain"));
    std::fs::write(&plain, "s9\n").expect("written");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let lane: JobQueue<QueueOrder> = JobQueue::spawn(Store::new(1).library(), ForegroundGate::new(), Arc::new(|| {}));
    let refused = |number: u64, order: QueueOrder| match perform(&lane, number, order) {
        QueueNews::Failed(message) => assert!(message.contains("pipe: is a pipe or a device"), "{message}"),
        other => panic!("{other:?}"),
    };
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
        refused(at as u64 + 1, QueueOrder::Evaluate(order));
    }
    let error = Curves::load(&pipe).expect_err("it is no log").to_string();
    assert!(error.contains("pipe: is a pipe or a device"), "{error}");
    let error = Checkpoint::load(&pipe, 1).expect_err("it is no checkpoint").to_string();
    assert!(error.contains("pipe: is a pipe or a device"), "{error}");
}
