//! Whole runs from a configuration file: interrupted and resumed ones give the same numbers, bit by
//! bit, as uninterrupted ones; every way to give text; every rule.

use std::io::Write as _;
use std::time::{Duration, Instant};

use interlinear::models::{Kernels, Model};
use interlinear::{nn::device::Device, training::trainer::TrainingReport};
use serde_json::Value;

use super::{Toy, from, lines, on, resumed};
use crate::{cli, cli::json_of};

const LOG: &str = "out/training/log.jsonl";

const LEFT_BEHIND: &[&str] = &[
    "out/config.json",
    "out/source.tokenizer.json",
    "out/target.tokenizer.json",
    "out/model.safetensors",
    LOG,
    "out/training/checkpoint.safetensors",
];

const SETUPS: &[(usize, &[(&str, &str)])] = &[
    (2, &[]),
    (
        1,
        &[
            ("\"rnnsearch\"", "\"rnnencdec\""),
            ("alignment = 5", "output_rank = 3\nstart = \"papers\""),
            ("rule = \"adam\"\nlearning_rate = 0.01", "rule = \"adadelta\""),
            ("seed = 5", "seed = 6\nbest = \"bleu\""),
        ],
    ),
    (
        2,
        &[
            ("target = \"train.fr\" ", "target = \"train.fr\", links = \"train.links\" "),
            ("seed = 5", "seed = 5\n\n[guide]\nweight = 0.7\ndecay_from = 3\nreading = \"input\""),
        ],
    ),
    (3, &[("rule = \"adam\"", "rule = \"sgd\"\nwarmup = 4\ndecay_from = 9"), ("batch = 4", "batch = 7")]),
    (
        2,
        &[
            ("\"rnnsearch\"", "\"luong\""),
            ("maxout = 4\nalignment = 5", "layers = 2\nattention = \"local-p\"\nwindow = 2\nstart = \"uniform\""),
            ("rule = \"adam\"\nlearning_rate = 0.01", "rule = \"sgd\"\nclip = 5.0\nhalve_after_epochs = 1"),
        ],
    ),
];

#[track_caller]
pub fn assert_same_files(found: &Toy, expected: &Toy, what: &str) {
    for file in LEFT_BEHIND {
        let (found, expected) = (found.read(file), expected.read(file));
        if *file == LOG {
            assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(&expected), "{what}");
        }
        assert!(found == expected, "{what}: {file} differs");
    }
}

fn update_of(report: &TrainingReport) -> Option<u64> {
    match report {
        TrainingReport::Line(line) => Some(line.update),
        TrainingReport::Measure(measure) => Some(measure.update),
        _ => None,
    }
}

#[test]
fn an_interrupted_run_goes_on_as_if_it_had_never_stopped() {
    for (threads, changes) in SETUPS {
        let through = Toy::new(changes);
        let reports = through.train_through("toy.toml", &on(*threads));
        assert!(
            matches!(reports.last(), Some(TrainingReport::Ended { complete: true, position }) if position.update == 22)
        );
        let often = Toy::new(changes);
        // at a measurement between two lines of the log, at a line between two checkpoints, at both
        for (run, stop) in [7, 15, 20].into_iter().enumerate() {
            let options = if run == 0 { on(*threads) } else { resumed(*threads) };
            let reports = often.train("toy.toml", &options, &mut |r| update_of(r) == Some(stop)).expect("stopped");
            assert!(
                matches!(reports.last(), Some(TrainingReport::Ended { complete: false, position }) if position.update == stop)
            );
        }
        let reports = often.train_through("toy.toml", &resumed(*threads));
        assert!(matches!(reports.first(), Some(TrainingReport::Note(_) | TrainingReport::Started { .. })));
        assert_same_files(&often, &through, &format!("{threads} threads, {changes:?}"));
        let log = String::from_utf8(through.read(LOG)).expect("text");
        let updates: Vec<u64> = log.lines().map(|line| json_of(line)["update"].as_u64().expect("a number")).collect();
        assert_eq!(updates, [5, 7, 10, 14, 15, 20, 21, 22, 22], "lines and measurements, the last update with both");
        // one more resume of a run that is done changes nothing
        often.train_through("toy.toml", &resumed(*threads));
        assert_same_files(&often, &through, "done already");
    }
}

#[test]
fn a_run_killed_after_a_checkpoint_repeats_what_it_lost() {
    let (threads, changes) = SETUPS[0];
    let toy = Toy::new(changes);
    let mut old = Vec::new();
    // at update 10 the checkpoint on the disk is that of update 8
    let reports = toy.train("toy.toml", &on(threads), &mut |report| {
        if update_of(report) == Some(10) {
            old = toy.read("out/training/checkpoint.safetensors");
        }
        false
    });
    assert!(reports.is_ok() && !old.is_empty());
    let expected = Toy::new(changes);
    expected.train_through("toy.toml", &on(threads));
    // the log runs ahead of the checkpoint and ends in half a line
    toy.write("out/training/checkpoint.safetensors", &old);
    let mut log = toy.read(LOG);
    log.extend(b"{\"update\":9,\"lo");
    toy.write(LOG, &log);
    let reports = toy.train_through("toy.toml", &resumed(threads));
    let started = reports
        .iter()
        .find_map(|r| if let TrainingReport::Started { position, .. } = r { Some(position.update) } else { None });
    assert_eq!(started, Some(8));
    assert_same_files(&toy, &expected, "killed");
}

pub fn timeless_log(toy: &Toy) -> Vec<Value> {
    let log = String::from_utf8(toy.read(LOG)).expect("text");
    log.lines()
        .map(|line| {
            let mut line = json_of(line);
            let object = line.as_object_mut().expect("an object");
            object.remove("seconds");
            object.remove("words_per_second");
            line
        })
        .collect()
}

#[test]
fn a_killed_process_resumed_gives_the_numbers_of_one_that_was_not() {
    let changes = [("updates = 22", "updates = 60"), ("checkpoint_every = 4", "checkpoint_every = 3")];
    let (killed, through) = (Toy::new(&changes), Toy::new(&changes));
    through.train_through("toy.toml", &on(2));
    let mut child = cli::spawn(&killed.folder, &["train", "toy.toml", "--threads", "2"]);
    let started = Instant::now();
    while !killed.path("out/training/checkpoint.safetensors").exists() && started.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("killed");
    child.wait().expect("gone");
    cli::run_line(&killed.folder, "train toy.toml --resume --threads 2").good();
    assert_eq!(timeless_log(&killed), timeless_log(&through));
    assert!(killed.read("out/model.safetensors") == through.read("out/model.safetensors"), "the best models agree");
}

fn pairs(reports: &[TrainingReport]) -> usize {
    reports
        .iter()
        .find_map(|r| if let TrainingReport::Started { pairs, .. } = r { Some(*pairs) } else { None })
        .expect("started")
}

#[test]
fn text_may_be_packed_split_repeated_and_limited() {
    let plain = Toy::new(&[]);
    plain.train_through("toy.toml", &on(1));
    let split =
        "train = [{ source = \"a.en.gz\", target = \"a.fr.zst\" }, { source = \"b.en.txt\", target = \"b.fr.gz\" }]";
    let packed = Toy::new(&[("train = [{ source = \"train.en\", target = \"train.fr\" }]", split)]);
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).expect("packed");
        encoder.finish().expect("packed")
    };
    let (a, b) = (lines(0, 13), lines(13, 17));
    packed.write("a.en.gz", &gzip(&a.0));
    packed.write("a.fr.zst", &zstd::encode_all(a.1.as_bytes(), 1).expect("packed"));
    packed.write("b.en.txt", b.0.as_bytes());
    packed.write("b.fr.gz", &gzip(&b.1));
    packed.train_through("toy.toml", &on(1));
    assert_same_files(&packed, &plain, "the same text in four files");

    for (keys, expected) in [("repeat = 3", 90), ("limit = 4", 4), ("limit = 4, repeat = 2", 8), ("limit = 1000", 30)] {
        let target = format!("target = \"train.fr\", {keys} ");
        let toy = Toy::new(&[("target = \"train.fr\" ", &target), ("updates = 22", "updates = 1")]);
        assert_eq!(pairs(&toy.train_through("toy.toml", &on(1))), expected, "{keys}");
    }
    let short = Toy::new(&[("max_length = 8", "max_length = 2"), ("updates = 22", "updates = 1")]);
    assert_eq!(pairs(&short.train_through("toy.toml", &on(1))), 12, "longer pairs are left out");
}

#[test]
fn a_run_leaves_a_model_that_loads_and_another_can_start_from_it() {
    for (_, changes) in SETUPS {
        let toy = Toy::new(changes);
        toy.train_through("toy.toml", &on(1));
        let device = Device { candle: candle_core::Device::Cpu, name: "cpu".into(), notice: None };
        let model = Model::load(toy.path("out"), &device).expect("a sound model folder");
        assert!(model.stepper(Kernels::Fused, 1).is_ok());
        assert_eq!((model.source.len(), model.target.len()), (12, 12), "ten words and two specials; at most as set");

        // one update too small to be seen in f16 leaves the weights that it started from
        let mut again = changes.to_vec();
        again.retain(|(from, _)| !from.contains("rule"));
        again.extend([("output = \"out\"", "output = \"second\""), ("updates = 22", "updates = 1")]);
        again.push(("rule = \"adam\"\nlearning_rate = 0.01", "rule = \"sgd\"\nlearning_rate = 1e-12"));
        toy.configure("second.toml", &again);
        toy.train_through("second.toml", &from(&toy.path("out")));
        for file in ["source.tokenizer.json", "target.tokenizer.json"] {
            assert!(toy.read(&format!("second/{file}")) == toy.read(&format!("out/{file}")), "{file} of the first run");
        }
        let second = Model::load(toy.path("second"), &device).expect("a sound model folder");
        // compared as numbers: 0 may have become -0
        assert!(second.weights.iter().zip(model.weights.iter()).all(|(a, b)| a.0 == b.0 && a.1.data == b.1.data));
    }
}

#[test]
fn candle_s_engine_trains_by_the_same_configuration() {
    let changes = [("dropout = 0.2", "dropout = 0.0"), ("updates = 22", "updates = 7")];
    let (fused, plain) = (Toy::new(&changes), Toy::new(&changes));
    fused.train_through("toy.toml", &on(1));
    let mut options = on(1);
    options.plain = Some(candle_core::Device::Cpu);
    plain.train_through("toy.toml", &options);
    for (a, b) in timeless_log(&fused).iter().zip(timeless_log(&plain)) {
        for key in ["loss", "nll", "norm", "development_nll"] {
            if let (Some(a), Some(b)) = (a[key].as_f64(), b[key].as_f64()) {
                assert!((a - b).abs() < 1e-3, "{key}: {a} and {b}");
            }
        }
    }
    let next = Toy::new(&[("dropout = 0.2", "dropout = 0.0"), ("updates = 22", "updates = 9")]);
    for file in LEFT_BEHIND {
        let path = next.path(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        std::fs::write(path, plain.read(file)).expect("copied");
    }
    next.train_through("toy.toml", &resumed(1));
    assert!(next.path(LOG).exists(), "either engine goes on from the other's checkpoint");
}

#[test]
fn a_resumed_run_keeps_its_shards_and_says_so() {
    let (through, often) = (Toy::new(&[]), Toy::new(&[]));
    through.train_through("toy.toml", &on(2));
    often.train("toy.toml", &on(2), &mut |report| update_of(report) == Some(10)).expect("stopped");
    let reports = often.train_through("toy.toml", &resumed(3));
    let told = |report: &TrainingReport| matches!(report, TrainingReport::Note(note) if note.contains("going on with 2 threads"));
    assert_eq!(reports.iter().filter(|report| told(report)).count(), 1);
    assert_same_files(&often, &through, "resumed with another number of threads");
}

#[test]
fn another_measure_begins_anew() {
    let toy = Toy::new(&[("seed = 5", "seed = 5\nbest = \"bleu\""), ("updates = 22", "updates = 7")]);
    toy.train_through("toy.toml", &on(1));
    toy.configure("toy.toml", &[("updates = 22", "updates = 8")]);
    // minus BLEU is below every NLL, so that nothing would ever be kept again
    let reports = toy.train_through("toy.toml", &resumed(1));
    let measures: Vec<_> =
        reports.iter().filter_map(|r| if let TrainingReport::Measure(m) = r { Some(m) } else { None }).collect();
    assert!(measures.len() == 1 && measures[0].best, "{measures:?}");
}

/// The recipe of Luong et al. 2015: the rate is halved from an epoch on, and the run ends with an epoch.
#[test]
fn epochs_halve_the_rate_and_end_the_run() {
    let changes = [
        ("rule = \"adam\"\nlearning_rate = 0.01", "rule = \"sgd\"\nhalve_after_epochs = 2"),
        ("updates = 22", "updates = 1000\nepochs = 4"),
        ("log_every = 5", "log_every = 1"),
    ];
    let toy = Toy::new(&changes);
    let reports = toy.train_through("toy.toml", &on(1));
    let mut rates: Vec<(u64, f32)> = Vec::new();
    for report in &reports {
        if let TrainingReport::Line(line) = report
            && rates.last().is_none_or(|(epoch, rate)| (*epoch, *rate) != (line.epoch, line.rate))
        {
            rates.push((line.epoch, line.rate));
        }
    }
    assert_eq!(rates, [(0, 1.0), (1, 1.0), (2, 0.5), (3, 0.25)]);
    let Some(TrainingReport::Ended { position, complete: true }) = reports.last() else {
        panic!("{:?}", reports.last())
    };
    // thirty pairs in minibatches of four
    assert_eq!((position.epoch, position.update), (4, 32));
    assert_eq!(position.measured_at, Some(32), "the last weights are measured");
}

#[test]
fn vocabularies_are_taken_from_a_model() {
    let toy = Toy::new(&[]);
    toy.train_through("toy.toml", &on(1));
    let vocabulary = "max_length = 8\nvocabulary = \"out\"";
    let luong = ("maxout = 4\nalignment = 5", "attention = \"global\"\nscore = \"dot\"");
    let changes = [("\"out\"", "\"second\""), ("\"rnnsearch\"", "\"luong\""), luong, ("max_length = 8", vocabulary)];
    toy.configure("second.toml", &changes);
    // other text, whose words would be others
    toy.write("train.en", b"eleven twelve\ntwelve\n");
    toy.write("train.fr", b"onze douze\ndouze\n");
    toy.train_through("second.toml", &on(1));
    for side in ["source.tokenizer.json", "target.tokenizer.json"] {
        assert!(toy.read(&format!("out/{side}")) == toy.read(&format!("second/{side}")), "{side}");
    }
    Model::load(toy.path("second"), &Device::cpu()).expect("a model of luong");
}
