//! What is wrong with a configuration, a text or a checkpoint ends in one sentence that names it.

use interlinear::error::Error;
use interlinear::training::{RunOptions, data};
use interlinear::training::{settings::TrainingSettings, trainer::TrainingReport, vocabularies::TrainingTokenizers};

use super::{GUIDED, Toy, from, on, resumed};

use crate::forever;

#[track_caller]
fn assert_refused(toy: &Toy, options: &RunOptions, names: &[&str], what: &str) -> Error {
    let Err(error) = toy.train("toy.toml", options, &mut |_| false) else { panic!("{what}: was not refused") };
    let sentence = error.to_string();
    assert!(error.is_users(), "{what}: {sentence}");
    for name in names {
        assert!(sentence.contains(name), "{what}: no `{name}` in: {sentence}");
    }
    error
}

const LINE: &str = "line #";

const CONFIGURATIONS: &[(&str, &str, &[&str])] = &[
    ("seed = 5", "sede = 5", &["toy.toml", LINE, "sede"]),
    ("hidden = 6", "hidden = 6\nlayres = 2", &["toy.toml", LINE, "layres"]),
    ("hidden = 6", "hidden = 6\nlayers = 2", &["toy.toml", "model.layers", "luong", "rnnsearch"]),
    ("\"rnnsearch\"", "\"luong\"", &["toy.toml", "model.maxout", "luong"]),
    (LUONG, "attention = \"everywhere\"", &["toy.toml", "model.attention", "everywhere", "local-m"]),
    (LUONG, "score = \"cosine\"", &["toy.toml", "score", "cosine", "concat"]),
    (LUONG, "attention = \"local-m\"\nscore = \"location\"", &["toy.toml", "score", "location", "local-m"]),
    (LUONG, "window = 3", &["toy.toml", "window", "local"]),
    (LUONG, "layers = 0", &["toy.toml", "layers"]),
    ("alignment = 5", "alignment = 5\n[optimizer]", &["toy.toml"]),
    ("hidden = 6", "hidden = \"six\"", &["toy.toml", LINE, "six"]),
    ("hidden = 6", "hidden = -6", &["toy.toml", LINE]),
    ("hidden = 6", "hidden = 0", &["toy.toml", "model.hidden"]),
    ("hidden = 6\n", "", &["toy.toml", "hidden"]),
    ("hidden = 6", "hidden = = 6", &["toy.toml", LINE]),
    ("source_vocabulary = 14", "source_vocabulary = 2", &["model.source_vocabulary"]),
    ("alignment = 5", "", &["toy.toml", "model.alignment", "rnnsearch"]),
    ("alignment = 5", "alignment = 5\noutput_rank = 2", &["toy.toml", "output_rank", "rnnencdec"]),
    ("\"rnnsearch\"", "\"transformer\"", &["model.architecture", "transformer", "rnnsearch", "rnnencdec"]),
    ("target_language = \"fr\"", "target_language = \"le français\"", &["target_language", "BCP 47"]),
    ("rule = \"adam\"", "rule = \"adagrad\"", &[LINE, "adagrad", "adadelta"]),
    ("learning_rate = 0.01", "learning_rate = -0.01", &["optimizer.learning_rate"]),
    ("learning_rate = 0.01", "learning_rate = nan", &["optimizer.learning_rate"]),
    ("learning_rate = 0.01", "epsilon = 0.0", &["optimizer.epsilon"]),
    ("learning_rate = 0.01", "clip = 0.0", &["optimizer.clip"]),
    ("learning_rate = 0.01", "beta1 = 1.0", &["optimizer.beta1"]),
    ("dropout = 0.2", "dropout = 1.5", &["schedule.dropout"]),
    ("batch = 4", "batch = 0", &["schedule.batch"]),
    ("[{ source = \"train.en\", target = \"train.fr\" }]", "[]", &["data.train"]),
    ("target = \"train.fr\" ", "target = \"train.fr\", repeat = 0 ", &["repeat"]),
    ("target = \"train.fr\" ", "target = \"train.fr\", limit = 0 ", &["train.en"]),
    ("train.en", "nowhere.en", &["nowhere.en", "does not exist"]),
    ("seed = 5", "seed = 5\n[guide]", &["toy.toml", "guide", "links", "data.train"]),
    ("target = \"train.fr\" ", "target = \"train.fr\", links = \"train.links\" ", &["toy.toml", "guide", "weight"]),
    ("target = \"dev.fr\" ", "target = \"dev.fr\", links = \"dev.links\" ", &["data.development", "links"]),
    (
        "target = \"train.fr\" ",
        "target = \"train.fr\", links = \"a\", link_words = \"all\" ",
        &["all", "spaces", "tokens"],
    ),
    ("dev.fr", "nowhere.fr", &["nowhere.fr", "does not exist"]),
];

const LUONG: &str = "maxout = 4\nalignment = 5";

#[test]
fn a_wrong_configuration_is_named() {
    for (from, to, names) in CONFIGURATIONS {
        let mut changes = vec![(*from, *to)];
        if *from == LUONG {
            changes.push(("\"rnnsearch\"", "\"luong\""));
        }
        let toy = Toy::new(&changes);
        let text = String::from_utf8(toy.read("toy.toml")).expect("text");
        let changed = text.find(to).map_or(0, |at| text[..at + to.len()].lines().count());
        let line = format!("line {changed}:");
        let names: Vec<&str> = names.iter().map(|name| if *name == LINE { line.as_str() } else { *name }).collect();
        assert_refused(&toy, &on(1), &names, to);
    }
    let toy = Toy::new(&[]);
    toy.write("toy.toml", b"name = \"\xff\"");
    assert_refused(&toy, &on(1), &["toy.toml", "UTF-8"], "not text");
    std::fs::remove_file(toy.path("toy.toml")).expect("removed");
    assert_refused(&toy, &on(1), &["toy.toml", "does not exist"], "no configuration");
}

const TEXTS: &[(&str, &[u8], &[&str])] = &[
    ("train.fr", b"un\ndeux\n", &["train.fr", "line 2", "train.en", "translations line by line"]),
    ("train.en", b"one\ntwo\n", &["train.en", "line 2", "train.fr"]),
    ("dev.en", b"one\n", &["dev.en", "line 1", "dev.fr"]),
    ("train.en", b"one\ntwo \xc3\x28\nthree\n", &["train.en", "line 2", "UTF-8"]),
    ("train.fr", b"un\ndeux\n\xff\n", &["train.fr", "line 3", "UTF-8"]),
    ("train.en", b"", &["train.fr"]),
    ("train.en", b"\x1f\x8b\x08\x00\x00", &["train.en"]),
    ("dev.en", b"\n\n\n\n\n\n\n", &["dev.en"]),
];

const GUIDANCE: &[(&str, &str, &[&str])] = &[
    ("weight = 1.0", "weight = -1.0", &["guide.weight"]),
    ("weight = 1.0", "weight = nan", &["guide.weight"]),
    ("weight = 1.0", "final_weight = -0.5", &["guide.final_weight"]),
    ("weight = 1.0", "decay_from = 5\ndecay_until = 5", &["guide.decay_until", "decay_from"]),
    ("weight = 1.0", "reading = \"aloud\"", &["guide.reading", "aloud", "predicted", "input"]),
    ("weight = 1.0", "wait = 1.0", &["wait"]),
    ("alignment = 5", "", &["toy.toml", "alignment"]),
    ("train.links", "nowhere.links", &["nowhere.links"]),
    (LUONG, "attention = \"none\"", &["toy.toml", "guide", "luong", "none"]),
    (LUONG, "score = \"location\"\n[guide]\nreading = \"input\"", &["guide.reading", "predicted"]),
];

#[test]
fn wrong_guidance_is_named() {
    for (from, to, names) in GUIDANCE {
        let mut changes = GUIDED.to_vec();
        if to.contains("[guide]") {
            changes[1] = ("seed = 5", "seed = 5 ");
        }
        changes.push((from, to));
        if *from == LUONG {
            changes.push(("\"rnnsearch\"", "\"luong\""));
        }
        assert_refused(&Toy::new(&changes), &on(1), names, to);
    }
}

#[test]
fn a_wrong_text_is_named() {
    for (file, bytes, names) in TEXTS {
        let toy = Toy::new(&[]);
        toy.write(file, bytes);
        assert_refused(&toy, &on(1), names, file);
    }
}

#[test]
fn a_checkpoint_that_does_not_fit_is_named() {
    const CHECKPOINT: &str = "out/training/checkpoint.safetensors";
    let name = &["checkpoint.safetensors"][..];
    let toy = Toy::new(&[("updates = 22", "updates = 2")]);
    assert_refused(&toy, &resumed(1), &["checkpoint.safetensors", "without --resume"], "nothing to resume");
    toy.train_through("toy.toml", &on(1));
    assert_refused(&toy, &on(1), &["checkpoint.safetensors", "--resume", "output"], "there is a run already");

    for change in [
        ("hidden = 6", "hidden = 7"),
        ("rule = \"adam\"", "rule = \"sgd\""),
        ("rule = \"adam\"", "rule = \"adadelta\""),
    ] {
        toy.configure("toy.toml", &[change]);
        assert_refused(&toy, &resumed(1), &["checkpoint.safetensors", "--resume"], change.1);
    }
    toy.configure("toy.toml", &[]);
    let sound = toy.read(CHECKPOINT);
    let flipped: Vec<u8> = sound.iter().enumerate().map(|(i, b)| if i == 3 { b ^ 0x55 } else { *b }).collect();
    for (bytes, what) in [
        (&sound[..sound.len() / 2], "cut"),
        (&[], "empty"),
        (b"not a checkpoint at all", "foreign"),
        (&flipped, "damaged"),
    ] {
        toy.write(CHECKPOINT, bytes);
        assert_refused(&toy, &resumed(1), name, what);
    }
    let model = toy.read("out/model.safetensors");
    toy.write(CHECKPOINT, &model);
    assert_refused(&toy, &resumed(1), name, "a model instead");
    let sparse = std::fs::File::create(toy.path(CHECKPOINT)).expect("a file");
    sparse.set_len(1 << 36).expect("a file of holes");
    assert_refused(&toy, &resumed(1), &["checkpoint.safetensors", "too many"], "64 GB of nothing");
    toy.write(CHECKPOINT, &sound);
    toy.train_through("toy.toml", &resumed(1));
}

#[test]
fn a_model_that_cannot_be_started_from_is_named() {
    let first = Toy::new(&[("updates = 22", "updates = 1")]);
    first.train_through("toy.toml", &on(1));
    let model = first.path("out");
    let other = Toy::new(&[("hidden = 6", "hidden = 5")]);
    assert_refused(&other, &from(&model), &["model.safetensors", "tensor"], "another size");
    let toy = Toy::new(&[]);
    assert_refused(&toy, &from(&toy.path("nowhere")), &["nowhere"], "no folder");
    let config = String::from_utf8(first.read("out/config.json")).expect("text").replace("\"eos\": 0", "\"eos\": 2");
    first.write("out/config.json", config.as_bytes());
    assert_refused(&toy, &from(&model), &["config.json", "eos"], "other ids");
}

#[test]
fn a_finished_model_is_not_written_over() {
    let toy = Toy::new(&[("updates = 22", "updates = 1")]);
    toy.train_through("toy.toml", &on(1));
    std::fs::remove_dir_all(toy.path("out/training")).expect("removed");
    let (model, config) = (toy.read("out/model.safetensors"), toy.read("out/config.json"));
    assert_refused(&toy, &on(1), &["model.safetensors", "output"], "a model is there");
    let onto_itself = toy.path("out/../out");
    assert_refused(&toy, &from(&onto_itself), &["out", "start from"], "from itself");
    assert!(toy.read("out/model.safetensors") == model && toy.read("out/config.json") == config);
}

#[test]
fn a_run_in_another_order_is_not_gone_on_with() {
    let toy = Toy::new(&[("updates = 22", "updates = 2")]);
    toy.train_through("toy.toml", &on(1));
    for (change, name) in [
        (("batch = 4", "batch = 5"), "`schedule.batch` was 4, and now it is 5"),
        (("sorted = 2", "sorted = 3"), "`schedule.sorted` was 2"),
        (("seed = 5", "seed = 6"), "`schedule.seed` was 5"),
        (("max_length = 8", "max_length = 2"), "the number of pairs of training text was 30, and now it is 12"),
    ] {
        toy.configure("toy.toml", &[change]);
        assert_refused(&toy, &resumed(1), &["checkpoint.safetensors", name, "--resume"], change.1);
    }
    for change in [
        ("updates = 22", "updates = 3"),
        ("learning_rate = 0.01", "learning_rate = 0.02\ndecay_from = 2"),
        ("dropout = 0.2", "dropout = 0.1"),
    ] {
        toy.configure("toy.toml", &[change]);
        let stop = toy.train("toy.toml", &resumed(1), &mut |report| matches!(report, TrainingReport::Started { .. }));
        assert!(stop.is_ok(), "{} may change", change.1);
    }
}

#[test]
fn keys_were_ignored_in_silence_where_the_plain_engine_trains() {
    for (key, changes) in [
        (
            "`schedule.sampled_words`",
            &[("seed = 5", "seed = 5\nsampled_words = 4"), ("label_smoothing = 0.1", "label_smoothing = 0.0")][..],
        ),
        ("`schedule.precision`", &[("seed = 5", "seed = 5\nprecision = \"bf16\"")]),
    ] {
        let toy = Toy::new(&[changes, &[("updates = 22", "updates = 2")]].concat());
        for (plain, expect) in [(Some(candle_core::Device::Cpu), 1), (None, 0)] {
            let reports = toy.train_through("toy.toml", &RunOptions { plain, ..on(1) });
            let said = |report: &&TrainingReport| matches!(report, TrainingReport::Note(text) if text.contains(key));
            assert_eq!(reports.iter().filter(said).count(), expect, "{key}");
            std::fs::remove_dir_all(toy.path("out")).expect("ours");
        }
    }
}

#[test]
fn a_text_that_does_not_fit_into_memory_was_read_until_the_process_was_killed() {
    let toy = Toy::new(&[]);
    let settings = TrainingSettings::load(&toy.path("toy.toml")).expect("sound");
    let tokenizers = TrainingTokenizers::build(&settings, &forever()).expect("there are words");
    let config = settings.config(tokenizers.source.len(), tokenizers.target.len());
    let read = |memory| data::training(&settings, &config, &tokenizers, Some(memory), &forever());
    let need = read(1 << 30).expect("it fits").pairs.bytes();
    assert_eq!(read(2 * need).expect("it just fits").pairs.bytes(), need);
    let told = read(2 * need - 1).expect_err("it does not fit").to_string();
    assert!(told.contains("train.en take more than") && told.contains("set a `limit`"), "{told}");
}
