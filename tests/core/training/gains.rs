//! What is offered beside the papers' training: subwords, minibatches by words, averaged weights, rates that fall, a
//! larger vocabulary on the way.

use interlinear::training::settings::{Decay, OptimizerSettings, ScheduleSettings, TrainingSettings};
use interlinear::training::trainer::{DevelopmentScore, TrainingReport};
use interlinear::{models::Model, models::checkpoint::Weights, models::config::Config, nn::device::Device};
use interlinear::{text::corpus::ParallelText, training::RunOptions, training::vocabularies::TrainingTokenizers};

use super::runs::assert_same_files;
use super::{GUIDED, Toy, from, on, resumed};

const BPE: (&str, &str) = ("embedding = 5", "tokens = \"bpe\"\nembedding = 5");
const SIZES: [(&str, &str); 3] = [
    ("source_vocabulary = 14", "source_vocabulary = 34"),
    ("target_vocabulary = 12", "target_vocabulary = 37"),
    ("max_length = 8", "max_length = 30"),
];

fn train_twice(changes: &[(&str, &str)], what: &str) -> (Toy, Vec<TrainingReport>) {
    let (through, often) = (Toy::new(changes), Toy::new(changes));
    let reports = through.train_through("toy.toml", &on(2));
    let stop = |report: &TrainingReport| matches!(report, TrainingReport::Measure(measure) if measure.update == 14);
    often.train("toy.toml", &on(2), &mut |report| stop(report)).expect("stopped");
    often.train_through("toy.toml", &resumed(2));
    assert_same_files(&often, &through, what);
    (through, reports)
}

#[test]
fn a_guided_run_on_subwords_goes_on_as_if_it_had_never_stopped() {
    let (toy, reports) = train_twice(&[GUIDED, &[BPE], &SIZES].concat(), "subwords a side");
    assert!(reports.iter().any(|report| matches!(report, TrainingReport::Line(line) if line.guide.is_some())));
    let model = Model::load(toy.path("out"), &Device::cpu()).expect("a sound model");
    assert_eq!(model.guided(), Some("predicted"), "a model that was told says so");
    let further = Toy::new(&[&[BPE, ("updates = 22", "updates = 15")], &SIZES[..]].concat());
    further.train_through("toy.toml", &from(&toy.path("out")));
    let model_on = Model::load(further.path("out"), &Device::cpu()).expect("a sound model");
    assert_eq!(model_on.guided(), Some("predicted"), "and what it was told stays when it is trained on");
    let pieces = model.source.encode("eight").ids.len();
    assert!(pieces > 1, "a rare word is cut into pieces, `eight` into {pieces}");
    assert!(model.config.source_vocabulary <= 34 && model.config.target_vocabulary <= 37);
}

#[test]
fn both_sides_may_share_one_vocabulary_of_subwords() {
    let joint = ("embedding = 5", "tokens = \"bpe\"\njoint = true\nembedding = 5");
    let sizes = [
        ("source_vocabulary = 14", "source_vocabulary = 60"),
        ("target_vocabulary = 12", "target_vocabulary = 60"),
        SIZES[2],
    ];
    let toy = Toy::new(&[&[joint, ("updates = 22", "updates = 2")], &sizes[..]].concat());
    toy.train_through("toy.toml", &on(1));
    let TrainingTokenizers { source, target } = TrainingTokenizers::load(&toy.path("out")).expect("two tokenizers");
    assert_eq!(source.len(), target.len());
    assert!((0..source.len() as u32).all(|id| source.token(id) == target.token(id)));
    for (changes, name) in [
        ([joint, SIZES[0], SIZES[1]], "same number"),
        ([("embedding = 5", "joint = true\nembedding = 5"), sizes[0], sizes[1]], "bpe"),
        ([BPE, ("source_vocabulary = 14", "source_vocabulary = 5"), sizes[1]], "letters"),
    ] {
        let error = Toy::new(&changes).train("toy.toml", &on(1), &mut |_| false).expect_err(name);
        assert!(error.is_users() && error.to_string().contains(name), "{error}");
    }
}

#[test]
fn minibatches_may_be_cut_by_words() {
    let mut corpus = ParallelText::default();
    let lengths = [3, 9, 2, 2, 5, 1, 4, 4, 30, 6, 2, 1, 7];
    for length in lengths {
        corpus.push(&[0], &vec![0; length]);
    }
    let batches = corpus.batches_of_words(1, 0, 12, 6);
    let mut seen: Vec<u32> = batches.iter().flatten().copied().collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..lengths.len() as u32).collect::<Vec<_>>(), "every pair once");
    for batch in batches.iter() {
        let longest = batch.iter().map(|i| lengths[*i as usize]).max().unwrap_or(0);
        assert!(batch.len() == 1 || longest * batch.len() <= 12, "{batch:?}");
    }
    assert!(batches.len() < lengths.len() && corpus.batches_of_words(1, 0, 12, 6) == batches);
    let (toy, _) = train_twice(&[("batch = 4", "batch = 4\nbatch_words = 14")], "minibatches by words");
    toy.configure("toy.toml", &[("batch = 4", "batch = 4\nbatch_words = 15"), ("updates = 22", "updates = 23")]);
    let error = toy.train("toy.toml", &resumed(2), &mut |_| false).expect_err("another order");
    assert!(error.to_string().contains("`schedule.batch_words` was 14, and now it is 15"), "{error}");
}

fn measures(reports: &[TrainingReport]) -> Vec<&DevelopmentScore> {
    reports.iter().filter_map(|r| if let TrainingReport::Measure(measure) = r { Some(measure) } else { None }).collect()
}

#[test]
fn the_mean_of_measured_weights_is_kept_where_it_is_better() {
    // a rate at which single weights jump about
    let changes = [
        ("learning_rate = 0.01", "learning_rate = 0.05"),
        ("updates = 22", "updates = 60"),
        ("measure_every = 7", "measure_every = 2"),
        ("bleu_sentences = 3", "bleu_sentences = 0\naverage = 4"),
    ];
    let (toy, reports) = train_twice(&changes, "averaged weights");
    let measures = measures(&reports);
    assert_eq!(measures[0].average_nll, None, "the first has no other to be averaged with");
    assert!(measures[1..].iter().all(|measure| measure.average_nll.is_some()));
    let least = |nll: &dyn Fn(&DevelopmentScore) -> f64| measures.iter().map(|m| nll(m)).fold(f64::INFINITY, f64::min);
    let (single, mean) = (least(&|m| m.development_nll), least(&|m| m.average_nll.unwrap_or(f64::INFINITY)));
    let Some(TrainingReport::Ended { position, .. }) = reports.last() else { panic!("{:?}", reports.last()) };
    assert_eq!(position.best, Some(single.min(mean)), "{single} and {mean}");
    Model::load(toy.path("out"), &Device::cpu()).expect("a sound model");
}

#[test]
fn rates_fall_as_they_are_asked_to() {
    let settings = |optimizer: OptimizerSettings| {
        let mut settings = TrainingSettings::load(&Toy::new(&[]).path("toy.toml")).expect("sound");
        settings.optimizer = OptimizerSettings { learning_rate: Some(1.0), final_rate: 0.1, ..optimizer };
        settings.schedule = ScheduleSettings { updates: 110, ..settings.schedule };
        settings
    };
    let rates = |decay, decay_from, warmup| {
        let settings = settings(OptimizerSettings { decay, decay_from, warmup, ..OptimizerSettings::default() });
        [0, 10, 60, 110].map(|update| (settings.optimizer.rate_at(update, 0, 110) * 1000.0).round() / 1000.0)
    };
    assert_eq!(rates(Decay::Linear, None, 0), [1.0; 4]);
    assert_eq!(rates(Decay::Linear, Some(10), 0), [1.0, 1.0, 0.55, 0.1]);
    assert_eq!(rates(Decay::Cosine, Some(10), 0), [1.0, 1.0, 0.55, 0.1]);
    assert_eq!(rates(Decay::Cosine, None, 10), [0.1, 1.0, 0.55, 0.1]);
    assert_eq!(rates(Decay::InverseSqrt, None, 10), [0.1, 1.0, 0.408, 0.302]);
    let toy = Toy::new(&[("learning_rate = 0.01", "decay = \"inverse-sqrt\"")]);
    let error = toy.train("toy.toml", &on(1), &mut |_| false).expect_err("nowhere to fall from");
    assert!(error.to_string().contains("optimizer.decay") && error.to_string().contains("warmup"), "{error}");
}

#[test]
fn a_run_goes_on_from_a_model_with_a_larger_shortlist() {
    let toy = Toy::new(&[
        ("source_vocabulary = 14", "source_vocabulary = 8"),
        ("target_vocabulary = 12", "target_vocabulary = 7"),
    ]);
    toy.train_through("toy.toml", &on(1));
    for (name, changes) in [
        (
            "larger",
            vec![
                ("\"out\"", "\"larger\""),
                ("updates = 22", "updates = 1"),
                ("learning_rate = 0.01", "learning_rate = 1e-12"),
            ],
        ),
        ("other", vec![("\"out\"", "\"other\""), ("hidden = 6", "hidden = 4")]),
    ] {
        toy.configure(&format!("{name}.toml"), &changes);
    }
    let options = RunOptions { new_vocabulary: true, ..from(&toy.path("out")) };
    let reports = toy.train_through("larger.toml", &options);
    let told = |report: &TrainingReport| matches!(report, TrainingReport::Note(note) if note.contains("8 of 12 source words and 7 of 12"));
    assert!(reports.iter().any(told), "{reports:?}");
    let load = |folder: &str| {
        let config = Config::load(&toy.path(&format!("{folder}/config.json"))).expect("sound");
        let shapes = interlinear::models::shapes(&config);
        let weights = Weights::load(&toy.path(&format!("{folder}/model.safetensors")), &shapes).expect("sound");
        (weights, TrainingTokenizers::load(&toy.path(folder)).expect("sound"))
    };
    let ((old, before), (new, now)) = (load("out"), load("larger"));
    let row = |weights: &Weights, name: &str, id: u32| {
        let array = weights.get(name).expect("a tensor");
        let width = array.data.len() / array.shape[0];
        array.data[id as usize * width..(id as usize + 1) * width].to_vec()
    };
    for id in 0..before.target.len() as u32 {
        let other = now.target.id(before.target.token(id).expect("a word")).expect("the larger one has it");
        for name in ["target_embedding", "readout.W_o", "readout.b_w"] {
            let pair = (row(&old, name, id), row(&new, name, other));
            assert!(pair.0.iter().zip(&pair.1).all(|(a, b)| (a - b).abs() < 1e-3), "{name} {id}: {pair:?}");
        }
    }
    let error = toy.train("other.toml", &options, &mut |_| false).expect_err("another size");
    assert!(error.is_users() && error.to_string().contains("vocabulary only"), "{error}");
}

#[test]
fn a_wider_model_begins_with_the_translations_of_the_narrow_one() {
    let toy = Toy::new(&[]);
    toy.train_through("toy.toml", &on(1));
    let wider = ["embedding", "hidden", "maxout", "alignment"];
    let first = |name: &str, sizes: &[(String, String)]| {
        let sizes = sizes.iter().map(|(is, becomes)| (is.as_str(), becomes.as_str()));
        let output = format!("\"{name}\"");
        let still = [("\"out\"", output.as_str()), ("updates = 22", "updates = 1"), ("= 0.01", "= 1e-12")];
        let configuration = format!("{name}.toml");
        toy.configure(&configuration, &still.into_iter().chain(sizes).collect::<Vec<_>>());
        let reports = toy.train_through(&configuration, &from(&toy.path("out")));
        let measured = |report: &TrainingReport| match report {
            TrainingReport::Measure(measure) => Some(measure.development_nll),
            _ => None,
        };
        reports.iter().find_map(measured).expect("measured")
    };
    let settings = std::fs::read_to_string(toy.path("toy.toml")).expect("there");
    let sizes = wider.map(|key| {
        let line = settings.lines().find(|line| line.starts_with(&format!("{key} = "))).expect(key);
        let size: usize = line.rsplit(' ').next().and_then(|size| size.parse().ok()).expect("a size");
        (line.to_owned(), format!("{key} = {}", size + 3))
    });
    let (narrow, wide) = (first("narrow", &[]), first("wide", &sizes));
    assert!((narrow - wide).abs() < 1e-5, "{narrow} {wide}");
    let config = Config::load(&toy.path("wide/config.json")).expect("sound");
    assert_eq!(config.hidden, 9);
    let narrower = sizes.map(|(is, _)| (is.clone(), format!("{} 2", is.rsplit_once(' ').expect("a size").0)));
    for (is, becomes) in &narrower {
        toy.configure("less.toml", &[("\"out\"", "\"less\""), (is, becomes)]);
        let error = toy.train("less.toml", &from(&toy.path("out")), &mut |_| false).expect_err("fewer units");
        assert!(error.is_users() && error.to_string().contains("have more units"), "{error}");
    }
}
