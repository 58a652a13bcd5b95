//! One thread, one slot: requests are served alone and through the worker. No test sleeps; they wait for events.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::{path::PathBuf, sync::mpsc::channel, time::Duration};

use interlinear::decoding::ensemble::{AlignmentOf, Mixing};
use interlinear::decoding::{SearchOptions, SystemSpec};
use interlinear::jobs::live::protocol::{ColumnSpec, Event, HypothesisView, MAX_SOURCE_TOKENS, Request};
use interlinear::jobs::{Store, Wake, Worker, serve};
use interlinear::jobs::{files::disk::Disk, live::mailbox::Mailbox};
use interlinear::models::{Kernels, Model};
use interlinear::nn::device::{Device, DeviceChoice};
use interlinear::ticket::{CancellationToken, Generation};

use crate::{cli::reference, counted, forever};

pub const PATIENCE: Duration = Duration::from_secs(20);

pub fn request(number: u64, source: &str, folders: &[PathBuf]) -> Request {
    let columns = folders.iter().zip(1..).map(|(folder, column)| ColumnSpec {
        column,
        system: folder.into(),
        device: DeviceChoice::Cpu,
        engine: Kernels::Fused,
        options: SearchOptions { trace: true, candidates: 3, max_length: Some(8), ..SearchOptions::default() },
        interventions: std::sync::Arc::default(),
        decode: true,
        given: None,
        source: None,
    });
    Request { number, source: source.to_owned(), columns: columns.collect(), near: None }
}

pub fn serve_all(request: &Request, store: &mut Store, ticket: &CancellationToken) -> Vec<Event> {
    let mut events = Vec::new();
    serve(request, store, ticket, &mut |event| events.push(event));
    events
}

pub fn store() -> Store {
    Store::new(2).with_every_row()
}

pub fn story(events: &[Event], of: u64) -> Vec<&'static str> {
    let mut story: Vec<&str> = events
        .iter()
        .filter(|event| event.address().1 == of && !matches!(event, Event::Fingerprint { .. }))
        .map(|event| match event {
            Event::Fingerprint { .. } => "fingerprint",
            Event::Loading { .. } => "loading",
            Event::Loaded { .. } => "loaded",
            Event::LoadFailed { .. } => "load failed",
            Event::Started { .. } => "started",
            Event::Expanded { .. } => "row",
            Event::Finished { .. } => "finished",
            Event::Given { .. } => "given",
            Event::Untouched { .. } => "untouched",
            Event::Near { .. } => "near",
            Event::Failed { .. } => "failed",
        })
        .collect();
    story.dedup();
    story
}

#[test]
fn two_models_are_loaded_and_translate_side_by_side() {
    let mut store = store();
    let both = [reference("rnnsearch"), reference("rnnencdec")];
    let events = serve_all(&request(1, "s9 s31 unheard", &both), &mut store, &forever());
    for column in [1, 2] {
        let told = story(&events, column);
        // A model so small may be there before anyone can tell that it is being read.
        let told = told.strip_prefix(&["loading"]).unwrap_or(&told);
        assert_eq!(told, ["loaded", "started", "row", "finished"]);
    }
    for event in &events {
        match event {
            Event::Loaded { column, facts } => {
                assert_eq!(facts.has_alignment, *column == 1);
                assert!(facts.sizes.parameters > 0 && facts.name.starts_with("rnn") && !facts.citation.is_empty());
            }
            Event::Started { source, context, column, .. } => {
                assert_eq!(source.tokens, ["s9", "s31", "unheard", "</s>"]);
                assert_eq!(source.ids[2], 1);
                assert_eq!(context.is_some(), *column == 2);
            }
            Event::Finished { result, column, .. } => {
                let best = &result.hypotheses[0];
                assert_eq!(best.tokens.len(), best.found.token_log_p.len());
                assert_eq!(best.found.alpha.as_ref().map(Vec::len), (*column == 1).then_some(best.tokens.len()));
                assert!(best.candidates.iter().all(|best| best.len() == 3));
                assert!(
                    !result.nodes.is_empty() && result.nodes.iter().all(|node| result.words.contains_key(&node.token))
                );
                assert!(result.first_row_millis <= result.millis && result.words_per_second > 0.0);
            }
            _ => {}
        }
    }
    let told = |event: &Event| match event {
        Event::Fingerprint { digest, .. } => Some(digest.len()),
        _ => None,
    };
    assert_eq!(events.iter().rev().map_while(told).collect::<Vec<_>>(), [64, 64], "fingerprints come last");
    let again = serve_all(&request(2, "s9", &both), &mut store, &forever());
    assert_eq!(again.iter().find_map(told), None);
    assert_eq!(story(&again, 1), ["started", "row", "finished"], "a model is loaded once");
}

#[test]
fn fingerprints_keep_nobody_waiting_and_are_not_forgotten() {
    let mut store = store();
    let wanted = request(1, "", &[reference("rnnsearch"), reference("rnnencdec")]);
    let (tickets, mut told) = (Generation::new(), Vec::new());
    for _ in 0..3 {
        let ticket = tickets.next();
        serve(&wanted, &mut store, &ticket, &mut |event| {
            if let Event::Fingerprint { column, digest } = event {
                told.push((column, digest.len()));
                tickets.cancel();
            }
        });
    }
    assert_eq!(told, [(1, 64), (2, 64)], "one of them each time that there was time");
}

#[test]
fn a_fingerprint_is_given_up_and_worked_out_later() {
    let model = Model::load(reference("rnnsearch"), &Device::cpu()).expect("a fixture");
    assert_eq!(model.digest_while(&|| false), None);
    let digest = model.digest();
    assert_eq!(digest.len(), 64);
    assert_eq!(model.digest_while(&|| false), Some(digest), "known once and for all");
}

#[test]
fn rows_grow_by_one_word_each() {
    let mut store = store();
    let events = serve_all(&request(1, "s9 s31 s17", &[reference("rnnsearch")]), &mut store, &forever());
    let rows: Vec<usize> = events
        .iter()
        .filter_map(|event| if let Event::Expanded { best, .. } = event { Some(best.tokens.len()) } else { None })
        .collect();
    assert!(rows.len() > 1);
    assert_eq!(rows[0], 1);
    assert!(rows.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{rows:?}");
}

#[test]
fn what_is_too_large_to_keep_is_left_out_and_says_so() {
    let both = [reference("rnnsearch"), reference("rnnencdec")];
    let mut wanted = request(1, "s9 s31 s17", &both);
    for spec in &mut wanted.columns {
        // Wide enough that several are finished.
        (spec.options.most_numbers, spec.options.beam) = (0, 40);
    }
    let mut seen = 0;
    for event in serve_all(&wanted, &mut store(), &forever()) {
        let Event::Finished { column, result, .. } = event else { continue };
        assert!(result.hypotheses.len() > 1, "{:?}", result.hypotheses);
        for (n, hypothesis) in result.hypotheses.iter().enumerate() {
            let (has, left_out) = (column == 1 && n == 0, column == 1 && n > 0);
            assert_eq!((hypothesis.found.alpha.is_some(), hypothesis.found.left_out), (has, left_out));
            assert_eq!(hypothesis.candidates.len(), hypothesis.tokens.len());
        }
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[test]
fn columns_of_one_folder_share_one_model() {
    let mut store = store();
    let same = [reference("rnnsearch"), reference("rnnsearch")];
    let events = serve_all(&request(1, "s9", &same), &mut store, &forever());
    assert_eq!(store.models(), 1);
    for column in [1, 2] {
        assert!(story(&events, column).ends_with(&["loaded", "started", "row", "finished"]));
    }
    serve_all(&request(2, "", &[]), &mut store, &forever());
    assert_eq!(store.models(), 0, "what no column wants is forgotten");
}

#[test]
fn blank_text_and_settled_columns_only_load() {
    let mut store = store();
    let events = serve_all(&request(1, " \n\t", &[reference("rnnsearch")]), &mut store, &forever());
    assert!(story(&events, 1).ends_with(&["loaded"]));
    let mut settled = request(2, "s9", &[reference("rnnsearch")]);
    settled.columns[0].decode = false;
    assert!(serve_all(&settled, &mut store, &forever()).is_empty());
}

#[test]
fn a_stale_ticket_stops_at_once_and_silently() {
    let mut store = store();
    let folders = [reference("rnnsearch")];
    serve_all(&request(1, "", &folders), &mut store, &forever());

    let (counter, ticket) = counted();
    counter.cancel();
    assert!(serve_all(&request(2, "s9", &folders), &mut store, &ticket).is_empty());

    // Cancelled in the middle: at the first row.
    let ticket = counter.next();
    let mut events = Vec::new();
    let mut emit = |event: Event| {
        if matches!(event, Event::Expanded { .. }) {
            counter.cancel();
        }
        events.push(event);
    };
    serve(&request(3, "s9 s31", &folders), &mut store, &ticket, &mut emit);
    assert_eq!(story(&events, 1), ["started", "row"]);
    let rows = events.iter().filter(|event| matches!(event, Event::Expanded { .. })).count();
    assert_eq!(rows, 1);
    let next = serve_all(&request(4, "s9 s31", &folders), &mut store, &forever());
    assert_eq!(story(&next, 1), ["started", "row", "finished"], "the next request finds everything in order");
}

#[test]
fn a_ticket_that_asks_stops_within_a_translation_and_the_column_begins_anew() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    const LOOKS: usize = 12;
    let ticket = CancellationToken::asking(|| ASKED.fetch_add(1, Ordering::AcqRel) >= LOOKS);
    let mut store = store();
    let request = request(1, "s3 s4 s5 s6", &[reference("rnnsearch")]);
    let cut = serve_all(&request, &mut store, &ticket);
    let words = |events: &[Event]| events.iter().filter(|event| matches!(event, Event::Expanded { .. })).count();
    let ends = |events: &[Event]| events.iter().any(|event| matches!(event, Event::Finished { .. }));
    assert!(ASKED.load(Ordering::Acquire) > LOOKS && !ends(&cut), "{:?}", story(&cut, 1));
    let whole = serve_all(&request, &mut store, &forever());
    assert!(ends(&whole) && words(&whole) > words(&cut), "{:?}", story(&whole, 1));
}

#[test]
fn a_failed_load_is_a_sentence_in_its_column_alone() {
    let mut store = store();
    let folders = [reference("no-such-model"), reference("rnnsearch")];
    let events = serve_all(&request(1, "s9", &folders), &mut store, &forever());
    assert!(story(&events, 1).ends_with(&["load failed"]));
    assert!(story(&events, 2).ends_with(&["finished"]));
    let message = events
        .iter()
        .find_map(|event| if let Event::LoadFailed { message, .. } = event { Some(message) } else { None });
    assert!(message.is_some_and(|message| message.contains("no-such-model")));
    let again = serve_all(&request(2, "s9 s9", &folders), &mut store, &forever());
    assert!(story(&again, 1).is_empty(), "it is told once and not tried at each letter");
    let mut fresh = request(3, "s9", &folders);
    fresh.columns[0].column = 7;
    assert_eq!(story(&serve_all(&fresh, &mut store, &forever()), 7).last(), Some(&"load failed"), "it tries again");
}

#[test]
fn a_missing_device_is_a_sentence() {
    let mut wanted = request(1, "s9", &[reference("rnnsearch"), reference("rnnsearch")]);
    wanted.columns[0].device = DeviceChoice::Cuda(97);
    let events = serve_all(&wanted, &mut store(), &forever());
    assert!(story(&events, 1).ends_with(&["load failed"]));
    assert!(story(&events, 2).ends_with(&["finished"]));
}

#[test]
fn hard_texts_are_sentences_or_translations() {
    let words = |n: usize| vec!["s9"; n].join(" ");
    let cases = [
        (words(MAX_SOURCE_TOKENS), None),
        (words(MAX_SOURCE_TOKENS + 1), Some("1,001 words")),
        ("x".repeat(1 << 20), Some("1,048,576 bytes")),
        ("\u{1}\u{7f} \u{0}".to_owned(), Some("no words")),
        ("🙂🙂 👩‍👩‍👧".to_owned(), None),
        ("اللغة العربية s9".to_owned(), None),
        ("s9\ns31\r\ns4\u{2028}s5".to_owned(), None),
    ];
    let mut store = store();
    for (text, refusal) in cases {
        let events = serve_all(&request(1, &text, &[reference("rnnsearch")]), &mut store, &forever());
        match events.iter().rfind(|event| !matches!(event, Event::Fingerprint { .. })) {
            Some(Event::Failed { message, .. }) => {
                assert!(refusal.is_some_and(|words| message.contains(words)), "{message}");
            }
            Some(Event::Finished { .. }) => assert_eq!(refusal, None),
            other => panic!("unexpected end {other:?}"),
        }
    }
}

fn worker() -> Worker {
    Worker::spawn_with(store(), Arc::new(|| {}))
}

fn until(worker: &Worker, done: impl Fn(&Event) -> bool) -> Vec<Event> {
    let mut events = Vec::new();
    loop {
        let event = worker.next_within(PATIENCE).expect("an event before the patience ends");
        let end = done(&event);
        events.push(event);
        if end {
            return events;
        }
    }
}

#[test]
fn a_panic_in_a_request_is_a_sentence_and_the_next_one_works() {
    let mut store = store();
    let folders = [reference("rnnsearch")];
    serve_all(&request(1, "", &folders), &mut store, &forever());
    let mut events = Vec::new();
    let mut emit = |event: Event| {
        assert!(!matches!(event, Event::Expanded { .. }), "planted");
        events.push(event);
    };
    serve(&request(2, "s9", &folders), &mut store, &forever(), &mut emit);
    let failed =
        events.iter().any(|event| matches!(event, Event::Failed { message, .. } if message.contains("planted")));
    assert!(failed, "{events:?}");
    let next = serve_all(&request(3, "s9", &folders), &mut store, &forever());
    assert_eq!(story(&next, 1), ["started", "row", "finished"]);
}

#[test]
fn of_many_requests_the_latest_wins() {
    let (armed, (held, holding), (release, released)) = (Arc::new(AtomicBool::new(false)), channel(), channel::<()>());
    let (arm, (woke, wakes)) = (Arc::clone(&armed), channel());
    let released = Mutex::new(released);
    let wake: Wake = Arc::new(move || {
        if arm.swap(false, Ordering::AcqRel) {
            // The worker stands here, in the middle of the first request, until the others have come.
            let _ = held.send(());
            let _ = released.lock().map(|released| released.recv());
        }
        let _ = woke.send(());
    });
    let worker = Worker::spawn_with(store(), wake);
    let folders = [reference("rnnsearch")];
    worker.submit(request(1, "", &folders));
    // The last that the first request has to say; told later, it would be held in place of the second.
    for _ in until(&worker, |event| matches!(event, Event::Fingerprint { .. })) {
        wakes.recv_timeout(PATIENCE).expect("one wake for each event");
    }
    armed.store(true, Ordering::Release);
    worker.submit(request(2, "s9 s31", &folders));
    holding.recv_timeout(PATIENCE).expect("the worker has begun");
    for number in 3..=50 {
        worker.submit(request(number, "s9 s31", &folders));
    }
    release.send(()).expect("the worker waits");
    let events = until(&worker, |event| matches!(event, Event::Finished { .. }));
    let numbers: Vec<u64> = events.iter().filter_map(|event| event.address().0).collect();
    assert!(numbers.iter().all(|number| *number == 2 || *number == 50), "{numbers:?}");
    assert_eq!(numbers.last(), Some(&50));
    assert_eq!(numbers.iter().filter(|number| **number == 2).count(), 1, "the first was stopped at its first event");
}

#[test]
fn events_are_sent_before_waking() {
    let seen = Arc::new(AtomicUsize::new(0));
    let (sender, woken) = channel();
    let count = Arc::clone(&seen);
    let wake: Wake = Arc::new(move || {
        count.fetch_add(1, Ordering::AcqRel);
        let _ = sender.send(());
    });
    let worker = Worker::spawn_with(store(), wake);
    worker.submit(request(1, "s9", &[reference("rnnsearch")]));
    let mut finished = false;
    while !finished {
        woken.recv_timeout(PATIENCE).expect("woken");
        // One wake, at least one event: nothing is left lying without somebody being told.
        let event = worker.try_next().expect("what was announced is there");
        finished = matches!(event, Event::Finished { .. });
    }
    assert!(seen.load(Ordering::Acquire) > 0);
}

#[test]
fn a_window_that_never_looks_holds_nothing_up() {
    let worker = worker();
    let folders = vec![reference("rnnsearch"); 40];
    for number in 1..=3 {
        worker.submit(request(number, "s9 s31 s17 s4", &folders));
    }
    // Far more events than there is room for; dropping must not wait for a reader.
    drop(worker);
}

#[test]
fn the_mailbox_keeps_the_newest_and_closes() {
    let mailbox = Mailbox::new();
    assert_eq!(mailbox.put(1), None);
    assert_eq!(mailbox.put(2), Some(1));
    assert_eq!(mailbox.take(), Some(2));
    mailbox.put(3);
    mailbox.put(5);
    assert_eq!(mailbox.take_newest(0, Duration::ZERO), 5);
    mailbox.put(4);
    mailbox.close();
    assert_eq!(mailbox.take_newest(3, PATIENCE), 4, "closing ends the wait");
    assert_eq!(mailbox.take(), None);
}

#[test]
fn the_last_save_is_written_when_the_program_ends() {
    let saved = Arc::new(Mutex::new(Vec::new()));
    let mut disk: Disk<u32> = Disk::spawn(PATIENCE, Arc::new(|| {}));
    for n in 1..=3 {
        let saved = Arc::clone(&saved);
        disk.save_soon(Box::new(move || {
            saved.lock().map(|mut saved| saved.push(n)).ok();
            None
        }));
    }
    disk.run("test", Box::new(|| Some(7)));
    assert_eq!(disk.news.next_within(PATIENCE), Some(7));
    drop(disk);
    assert_eq!(saved.lock().map(|saved| saved.clone()).unwrap_or_default(), [3]);
}

#[test]
fn an_ensemble_is_a_column_whose_alignment_is_a_members_or_the_mean() {
    let members = [reference("luong-global-general"), reference("rnnsearch")];
    let mut store = store();
    let mut run = |alignment| {
        let mut wanted = request(1, "s9 s3", &members[..1]);
        let mixing = Mixing { alignment, ..Mixing::default() };
        wanted.columns[0].system = SystemSpec { members: members.iter().map(Into::into).collect(), mixing };
        let events = serve_all(&wanted, &mut store, &forever());
        assert_eq!(story(&events, 1).last(), Some(&"finished"), "{events:?}");
        let facts = events.iter().find_map(|event| match event {
            Event::Loaded { facts, .. } => Some(facts.clone()),
            _ => None,
        });
        let found = events.into_iter().find_map(|event| match event {
            Event::Finished { result, .. } => result.hypotheses.into_iter().next(),
            _ => None,
        });
        (facts.expect("told anew"), found.expect("a translation"))
    };
    let (facts, mean) = run(AlignmentOf::Mean);
    assert_eq!(facts.members.iter().map(|member| member.has_alignment).collect::<Vec<_>>(), [true, true]);
    assert!(facts.name.contains(" + ") && facts.has_alignment && facts.input_delay.is_none());
    let (facts, first) = run(AlignmentOf::Member(0));
    assert_eq!(facts.input_delay, Some(1), "the rows shown are those of Luong's model alone");
    let (_, second) = run(AlignmentOf::Member(1));
    assert_eq!(mean.tokens, first.tokens, "what is shown does not change what is said");
    let cell = |one: &HypothesisView| one.found.alpha.as_ref().map(|alpha| alpha[0][0]).expect("an alignment");
    assert!((cell(&mean) - 0.5 * (cell(&first) + cell(&second))).abs() < 1e-5);
    assert!((cell(&first) - cell(&second)).abs() > 1e-3, "the members look elsewhere");
    run(AlignmentOf::Mean);
}

#[test]
fn models_of_different_target_words_are_no_ensemble() {
    let members = vec![reference("rnnsearch"), reference("rnnencdec")];
    let mut wanted = request(1, "s9 s3", &members);
    wanted.columns[0].system =
        SystemSpec { members: members.iter().map(Into::into).collect(), mixing: Mixing::default() };
    let events = serve_all(&wanted, &mut store(), &forever());
    assert_eq!(story(&events, 2).last(), Some(&"finished"), "the other column goes on");
    let told = events.iter().find_map(|event| match event {
        Event::LoadFailed { column: 1, message } => Some(message.clone()),
        _ => None,
    });
    assert!(told.as_ref().is_some_and(|message| message.contains("target vocabulary")), "{told:?}");
}
