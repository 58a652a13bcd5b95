//! The readable models against the reference numbers, their gradients against differences, and every
//! way in which a model folder can be wrong.
//!
//! `tests/fixtures/reference/` holds one small folder an architecture. Its `expected.jsonl` was computed
//! in float64 by an independent program written from the papers' equations, one sentence at a time.

use std::{collections::HashMap, path::Path};

use candle_core::{DType, Tensor, Var};
use interlinear::models::checkpoint::{Array, Weights};
use interlinear::models::config::{Architecture, AttentionKind, Config, LuongSizes};
use interlinear::models::init::{InitScheme, initial_weights};
use interlinear::models::loss::{Regularizer, Trainable, trainable};
use interlinear::models::{Kernels, MODELS, Model, Need, StepOutput, StepRow, Stepper, shapes};
use interlinear::{app::catalogue::CATALOGUE, error::Error, models::folder::card};
use interlinear::{nn::device::Device, text::tokenizer::Tokenizers};
use serde_json::Value;

use crate::bad_input::copy_of;
use crate::cli::{json_of, reference};
use crate::folder::{Files as _, Folder};

pub const FOLDERS: [&str; 12] = [
    "rnnsearch", "rnnencdec", "rnnencdec-rank", "luong-none", "luong-global-dot", "luong-global-general",
    "luong-global-concat", "luong-global-location", "luong-local-m-dot", "luong-local-m-general", "luong-local-p-dot",
    "luong-local-p-general",
];
pub const FOREIGN: [&str; 5] =
    ["../marian/post", "../marian/ssru", "../origins/mt-random", "../origins/onmt-brnn", "../origins/joey-gru"];
const ENGINES: [Kernels; 2] = [Kernels::Plain, Kernels::Fused];
const TOLERANCE: f32 = 1e-4;

pub fn load(name: &str) -> Model {
    Model::load(reference(name), &Device::cpu()).unwrap_or_else(|error| panic!("{error}"))
}

pub struct Case {
    pub source: Vec<u32>,
    pub target: Vec<u32>,
    pub token_log_p: Vec<f32>,
    pub alpha: Option<Vec<Vec<f32>>>,
    pub energies: Option<Vec<Vec<f32>>>,
}

/// The models of the fixtures and their names.
pub fn loaded() -> impl Iterator<Item = (&'static str, Model)> {
    FOLDERS.iter().map(|folder| (*folder, load(folder)))
}

pub fn cases(model: &Model) -> Vec<Case> {
    let text = model.folder.text("expected.jsonl");
    let lines = text.lines().map(json_of);
    let ids = |value: &Value, tokenizer: &interlinear::text::tokenizer::Tokenizer| -> Vec<u32> {
        let words = value.as_array().expect("a list of words").iter();
        words.map(|word| tokenizer.id(word.as_str().expect("a word")).expect("a known word")).collect()
    };
    lines
        .filter(|line| line["kind"] == "score")
        .map(|line| Case {
            source: ids(&line["source"], &model.source),
            target: ids(&line["target"], &model.target),
            token_log_p: serde_json::from_value(line["token_log_p"].clone()).expect("numbers"),
            alpha: serde_json::from_value(line["alpha"].clone()).expect("rows or null"),
            energies: serde_json::from_value(line["energies"].clone()).expect("rows or null"),
        })
        .collect()
}

#[track_caller]
pub fn assert_close(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (j, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= TOLERANCE, "{what} [{j}]: {a} is not {b}");
    }
}

fn check_batch(what: &str, stepper: &mut dyn Stepper, cases: &[&Case]) {
    let sources: Vec<&[u32]> = cases.iter().map(|case| case.source.as_slice()).collect();
    stepper.begin(&sources).expect("encodes");
    let mut before: Vec<usize> = (0..cases.len()).collect();
    let mut output = StepOutput::default();
    for i in 0.. {
        let live: Vec<usize> = before.iter().copied().filter(|k| i < cases[*k].target.len()).collect();
        if live.is_empty() {
            break;
        }
        let row = |k: &usize| StepRow {
            sentence: *k,
            parent: before.iter().position(|b| b == k).unwrap_or(0),
            y_prev: (i > 0).then(|| cases[*k].target[i - 1]),
        };
        stepper.step(&live.iter().map(row).collect::<Vec<_>>(), &Need::all(), &mut output).expect("steps");
        assert_eq!(output.rows, live.len());
        for (r, k) in live.iter().enumerate() {
            check_row(&format!("{what}, case {k}, word {i}"), &output, r, cases[*k], i);
        }
        before = live;
    }
}

fn check_row(what: &str, output: &StepOutput, r: usize, case: &Case, i: usize) {
    let log_p = output.log_p_row(r);
    assert_close(&format!("{what}: log p"), &[log_p[case.target[i] as usize]], &[case.token_log_p[i]]);
    let total: f32 = log_p.iter().map(|x| x.exp()).sum();
    assert_close(&format!("{what}: sum of p"), &[total], &[1.0]);
    let (alpha, energies) = (output.alpha_row(r, case.source.len()), output.energies_row(r, case.source.len()));
    match (&case.alpha, &case.energies) {
        (Some(expected_alpha), Some(expected_energies)) => {
            assert_close(&format!("{what}: alpha"), alpha.expect("aligns"), &expected_alpha[i]);
            assert_close(&format!("{what}: energies"), energies.expect("aligns"), &expected_energies[i]);
        }
        _ => assert!(alpha.is_none() && energies.is_none(), "{what}: an alignment was invented"),
    }
}

#[test]
fn every_reference_case_holds_alone_and_padded_into_one_batch() {
    for (folder, model) in loaded() {
        let cases = cases(&model);
        assert!(cases.len() >= 3, "{folder}");
        for engine in ENGINES {
            let mut stepper = model.stepper(engine, 2).expect("a stepper");
            let all: Vec<&Case> = cases.iter().collect();
            check_batch(&format!("{folder}, {engine:?}, batch"), stepper.as_mut(), &all);
            for case in &all {
                check_batch(&format!("{folder}, {engine:?}, alone"), stepper.as_mut(), &[case]);
            }
        }
    }
}

#[test]
fn rows_may_be_repeated_reordered_and_dropped() {
    for (folder, model) in loaded() {
        let cases = cases(&model);
        let long: Vec<&Case> = cases.iter().filter(|case| case.target.len() >= 3).collect();
        let (a, b) = (long[0], long[1]);
        for engine in ENGINES {
            let what = format!("{folder}, {engine:?}");
            let mut stepper = model.stepper(engine, 1).expect("a stepper");
            stepper.begin(&[&a.source, &b.source]).expect("encodes");
            let mut output = StepOutput::default();
            let first = |sentence| StepRow { sentence, parent: 0, y_prev: None };
            stepper.step(&[first(0), first(0), first(1)], &Need::all(), &mut output).expect("steps");
            for (r, case) in [(0, a), (1, a), (2, b)] {
                check_row(&what, &output, r, case, 0);
            }
            let next =
                |sentence, parent, case: &Case, i: usize| StepRow { sentence, parent, y_prev: Some(case.target[i]) };
            stepper.step(&[next(1, 2, b, 0), next(0, 1, a, 0)], &Need::all(), &mut output).expect("steps");
            for (r, case) in [(0, b), (1, a)] {
                check_row(&what, &output, r, case, 1);
            }
            stepper.step(&[next(0, 1, a, 1)], &Need::all(), &mut output).expect("steps");
            check_row(&what, &output, 0, a, 2);
        }
    }
}

#[test]
fn only_the_encoder_decoder_has_a_context_vector() {
    for (folder, model) in loaded() {
        let cases = cases(&model);
        let mut contexts: Vec<Option<Vec<f32>>> = Vec::new();
        for engine in ENGINES {
            let mut stepper = model.stepper(engine, 1).expect("a stepper");
            assert!(stepper.context(0).is_none(), "{folder}: nothing was read yet");
            stepper.begin(&[&cases[1].source, &cases[0].source]).expect("encodes");
            contexts.push(stepper.context(1));
        }
        let [Some(plain), Some(fused)] = contexts.as_slice() else {
            assert!(contexts.iter().all(Option::is_none) && model.config.architecture != Architecture::RNN_ENC_DEC);
            continue;
        };
        assert_eq!((plain.len(), model.config.architecture), (model.config.hidden, Architecture::RNN_ENC_DEC));
        assert_close(folder, fused, plain);
    }
}

pub fn variables(weights: &Weights, dtype: DType) -> (HashMap<String, Tensor>, Vec<(String, Var)>) {
    let variable = |name: &str| {
        let tensor =
            weights.tensor(name, &candle_core::Device::Cpu).expect("a tensor").to_dtype(dtype).expect("converts");
        (name.to_owned(), Var::from_tensor(&tensor).expect("a variable"))
    };
    let variables: Vec<(String, Var)> = weights.names().map(variable).collect();
    let tensors = variables.iter().map(|(name, variable)| (name.clone(), variable.as_tensor().clone())).collect();
    (tensors, variables)
}

#[test]
fn the_training_path_sums_the_reference_log_probabilities() {
    for (folder, model) in loaded() {
        let cases = cases(&model);
        let (tensors, _) = variables(&model.weights, DType::F32);
        let model = trainable(&model.config, &tensors).expect("a model");
        for range in [0..1, 1..2, 0..cases.len()] {
            let sources: Vec<&[u32]> = cases[range.clone()].iter().map(|case| case.source.as_slice()).collect();
            let targets: Vec<&[u32]> = cases[range.clone()].iter().map(|case| case.target.as_slice()).collect();
            let expected: f32 = cases[range.clone()].iter().flat_map(|case| &case.token_log_p).sum();
            let (loss, words) = model.loss(&sources, &targets).expect("a loss");
            assert_eq!(words, targets.iter().map(|target| target.len()).sum::<usize>());
            let loss: f32 = loss.to_scalar().expect("a number");
            assert!((loss + expected).abs() < 1e-3 * words as f32, "{folder} {range:?}: {loss} is not {}", -expected);
        }
    }
}

pub fn tiny(architecture: Architecture, output_rank: Option<usize>) -> Config {
    Config {
        name: "tiny".into(),
        source_language: "en".into(),
        target_language: "fr".into(),
        source_vocabulary: 7,
        target_vocabulary: 6,
        embedding: 3,
        maxout: 2,
        alignment: if architecture == Architecture::RNN_SEARCH { 5 } else { 0 },
        output_rank,
        ..Config::bare(architecture, 4)
    }
}

fn tiny_configs() -> [Config; 3] {
    [
        tiny(Architecture::RNN_SEARCH, None),
        tiny(Architecture::RNN_ENC_DEC, None),
        tiny(Architecture::RNN_ENC_DEC, Some(2)),
    ]
}

fn objective(model: &dyn Trainable, (dropout, smoothing): (f64, f64)) -> Tensor {
    let (sources, targets): ([&[u32]; 3], [&[u32]; 3]) =
        ([&[2, 5, 0], &[6, 0], &[3, 4, 1, 0]], [&[2, 0], &[5, 3, 4, 0], &[0]]);
    let mut regularizer = Regularizer::new(dropout, smoothing, 11);
    model.training_loss(&sources, &targets, &mut regularizer).expect("a loss").objective
}

#[test]
fn gradients_agree_with_differences_in_float64() {
    for config in tiny_configs() {
        let mut weights = initial_weights(&config, InitScheme::Scaled, 3);
        // Biases start at 0; other values make their gradients more telling.
        weights
            .iter_mut()
            .for_each(|(_, array)| array.data.iter_mut().enumerate().for_each(|(i, x)| *x += 0.05 * (i as f32).sin()));
        let (tensors, variables) = variables(&weights, DType::F64);
        let model = trainable(&config, &tensors).expect("a model");
        for settings in [(0.0, 0.0), (0.3, 0.1)] {
            check_gradients(config.architecture.name(), model.as_ref(), &variables, settings, 4);
        }
    }
}

pub fn check_gradients(
    what: &str, model: &dyn Trainable, variables: &[(String, Var)], settings: (f64, f64), count: usize,
) {
    const STEP: f64 = 1e-5;
    let gradients = objective(model, settings).backward().expect("gradients");
    for (name, variable) in variables {
        let gradient = gradients.get(variable).unwrap_or_else(|| panic!("{what}: {name} has no gradient"));
        let gradient: Vec<f64> = gradient.flatten_all().expect("flat").to_vec1().expect("numbers");
        let values: Vec<f64> = variable.flatten_all().expect("flat").to_vec1().expect("numbers");
        let evaluate = |index: usize, change: f64| {
            let mut moved = values.clone();
            moved[index] += change;
            let moved = Tensor::from_vec(moved, variable.shape(), variable.device()).expect("a tensor");
            variable.set(&moved).expect("set");
            objective(model, settings).to_scalar::<f64>().expect("a number")
        };
        for index in (values.len() % 2..values.len()).step_by(1 + values.len() / count) {
            let difference = (evaluate(index, STEP) - evaluate(index, -STEP)) / (2.0 * STEP);
            evaluate(index, 0.0);
            let error = (gradient[index] - difference).abs();
            assert!(
                error < 1e-7 * (1.0 + difference.abs()),
                "{what}: {name}[{index}]: {} is not {difference}",
                gradient[index]
            );
        }
    }
}

#[test]
fn label_smoothing_mixes_in_the_mean_over_all_words() {
    let config = tiny(Architecture::RNN_SEARCH, None);
    let (tensors, _) = variables(&initial_weights(&config, InitScheme::Scaled, 4), DType::F64);
    let model = trainable(&config, &tensors).expect("a model");
    let loss = |epsilon| objective(model.as_ref(), (0.0, epsilon)).to_scalar::<f64>().expect("a number");
    // The objective is linear in epsilon, and at epsilon 1 it is the mean over all words.
    let (plain, half, all) = (loss(0.0), loss(0.5), loss(1.0));
    assert!((half - f64::midpoint(plain, all)).abs() < 1e-9);
    let (mut sum, k) = (0.0, config.target_vocabulary as u32);
    for word in 0..k {
        sum += model.loss(&[&[2, 0]], &[&[word]]).expect("a loss").0.to_scalar::<f64>().expect("a number");
    }
    let smoothed = model.training_loss(&[&[2, 0]], &[&[3]], &mut Regularizer::new(0.0, 1.0, 0)).expect("a loss");
    let smoothed = smoothed.objective.to_scalar::<f64>().expect("a number");
    assert!((smoothed - sum / f64::from(k)).abs() < 1e-9);
}

fn deviation(array: &Array) -> f64 {
    (array.data.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / array.data.len() as f64).sqrt()
}

#[test]
fn starts_are_those_of_the_appendix_and_repeat() {
    let config =
        Config { embedding: 30, hidden: 40, maxout: 20, alignment: 50, ..tiny(Architecture::RNN_SEARCH, None) };
    let weights = initial_weights(&config, InitScheme::Paper, 7);
    assert_eq!(weights, initial_weights(&config, InitScheme::Paper, 7));
    assert_ne!(weights, initial_weights(&config, InitScheme::Paper, 8));
    for (name, array) in weights.iter() {
        let expected = match name.rsplit('.').next().unwrap_or(name) {
            "U" | "U_z" | "U_r" => 1.0 / (config.hidden as f64).sqrt(),
            "W_a" | "U_a" => 0.001,
            "v_a" => 0.0,
            bias if bias.starts_with('b') => 0.0,
            _ => 0.01,
        };
        assert!((deviation(array) - expected).abs() <= 0.1 * expected, "{name}: {}, not {expected}", deviation(array));
    }
    let scaled = initial_weights(&config, InitScheme::Scaled, 7);
    for (name, expected) in
        [("decoder.C", 1.0 / 80_f64.sqrt()), ("readout.W_o", 1.0 / 20_f64.sqrt()), ("source_embedding", 0.1)]
    {
        let found = deviation(scaled.get(name).expect("a tensor"));
        assert!((found - expected).abs() <= 0.15 * expected, "{name}: {found} is not {expected}");
    }
}

#[test]
fn luong_starts_uniform_as_the_paper_or_scaled_to_its_gates() {
    let sizes = LuongSizes {
        layers: 2,
        attention: AttentionKind::LocalP,
        score: "concat".into(),
        input_feeding: true,
        reverse_source: true,
        window: 3,
        max_source: 0,
        start: 0,
    };
    let config = Config { embedding: 30, hidden: 40, maxout: 0, own: sizes.into(), ..tiny(Architecture::LUONG, None) };
    for (name, array) in initial_weights(&config, InitScheme::Uniform, 7).iter() {
        assert!(array.data.iter().all(|x| x.abs() <= 0.1), "{name}");
        let expected = 0.2 / 12_f64.sqrt();
        assert!((deviation(array) - expected).abs() <= 0.25 * expected, "{name}: {}", deviation(array));
    }
    let scaled = initial_weights(&config, InitScheme::Scaled, 7);
    for (name, expected) in [
        ("target_embedding", 1.0),
        ("decoder.0.W_o", 2.0 / 70_f64.sqrt()),
        ("decoder.1.U_g", 1.0 / 40_f64.sqrt()),
        ("encoder.1.b_f", 1.0),
        ("encoder.1.b_i", 0.0),
        ("attention.W_a", 1.0 / 80_f64.sqrt()),
        ("attention.v_p", 1.0 / 40_f64.sqrt()),
        ("W_c", 2.0 / 80_f64.sqrt()),
    ] {
        let found = deviation(scaled.get(name).expect("a tensor"));
        assert!((found - expected).abs() <= 0.15 * expected, "{name}: {found} is not {expected}");
    }
}

#[test]
fn a_configuration_is_written_as_it_is_read() {
    let path = Path::new("config.json");
    for folder in FOLDERS {
        let config = load(folder).config;
        assert_eq!(Config::from_json(path, &config.to_json()).expect("reads"), config);
    }
    for config in tiny_configs() {
        assert_eq!(Config::from_json(path, &config.to_json()).expect("reads"), config);
        assert!(MODELS.iter().any(|entry| entry.name == config.architecture.name()));
    }
}

#[test]
fn weights_come_back_from_f32_exactly_and_from_f16_rounded() {
    let (folder, path) = Folder::and_path("model.safetensors");
    for config in tiny_configs() {
        let weights = initial_weights(&config, InitScheme::Scaled, 1);
        for half in [false, true] {
            weights.save(&path, half).expect("saves");
            let read = Weights::load(&path, &shapes(&config)).expect("loads");
            assert!(read.parameters() == weights.parameters() && read.names().eq(weights.names()));
            for ((_, a), (_, b)) in read.iter().zip(weights.iter()) {
                let error = a.data.iter().zip(&b.data).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
                assert!(a.shape == b.shape && error <= if half { 1e-3 } else { 0.0 }, "{error}");
            }
        }
    }
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1, "a temporary file was left");
}

#[test]
fn numbers_that_no_f16_holds_are_refused_when_written() {
    let mut weights = Weights::new();
    weights.insert("big", Array { shape: vec![2], data: vec![0.5, 70_000.0] });
    let folder = Folder::new();
    let Err(error) = weights.save(&folder.join("x"), true) else { panic!("70000 is no f16") };
    assert!(error.is_users() && error.to_string().contains("`big`"), "{error}");
}

#[test]
fn a_loaded_folder_knows_its_digest_and_size_and_tells_its_progress() {
    let mut heard = Vec::new();
    let model = Model::load_with(&reference("rnnsearch"), &Device::cpu(), &Tokenizers::default(), &mut |share| {
        heard.push(share);
    })
    .expect("loads");
    assert!(heard.is_sorted() && heard.first() == Some(&0.0) && heard.last() == Some(&1.0), "{heard:?}");
    assert_eq!(model.digest().len(), 64);
    assert_eq!(model.digest(), load("rnnsearch").digest());
    assert_ne!(model.digest(), load("rnnencdec").digest());
    assert_eq!(
        model.parameters(),
        shapes(&model.config).iter().map(|(_, shape)| shape.iter().product::<usize>()).sum::<usize>()
    );
    assert_eq!((model.specials(), model.source_eos()), ((0, 1), Some(0)));
}

#[test]
fn tensors_that_lie_over_each_other_are_damage() {
    let (_folder, file) = Folder::and_path("model.safetensors");
    let shape = |name: &str| (name.to_owned(), vec![2]);
    let header = |second: &str| {
        let tensor =
            |name: &str, place: &str| format!(r#""{name}":{{"dtype":"F32","shape":[2],"data_offsets":{place}}}"#);
        format!("{{{},{},{}}}", tensor("a", "[0,8]"), tensor("b", second), tensor("c", "[8,16]"))
    };
    for second in ["[4,12]", "[0,8]"] {
        let header = header(second);
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.bytes());
        bytes.extend([0; 16]);
        std::fs::write(&file, bytes).expect("written");
        let read = Weights::load(&file, &[shape("a"), shape("b"), shape("c")]);
        let Err(error) = read else { panic!("{second} is read") };
        assert!(error.is_users() && error.to_string().contains("model.safetensors"), "{error}");
    }
}

// --- what can be wrong with a folder ---------------------------------------------------------------

type Spoil = fn(&Path);

fn replace(folder: &Path, file: &str, from: &str, to: &str) {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).expect("a text file");
    assert!(text.contains(from), "{file} has no {from}");
    std::fs::write(path, text.replacen(from, to, 1)).expect("writes");
}

fn insert(folder: &Path, name: &str, count: usize, number: f32) {
    let path = folder.join("model.safetensors");
    let config = Config::load(&folder.join("config.json")).expect("a good config");
    let mut weights = Weights::load(&path, &shapes(&config)).expect("good weights");
    weights.insert(name, Array { shape: vec![count], data: vec![number; count] });
    weights.save(&path, false).expect("saves");
}

fn in_bytes(folder: &Path, file: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let path = folder.join(file);
    let mut bytes = std::fs::read(&path).expect("a file");
    change(&mut bytes);
    std::fs::write(path, bytes).expect("writes");
}

fn in_weights(folder: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    in_bytes(folder, "model.safetensors", change);
}

fn write(folder: &Path, file: &str, bytes: &[u8]) {
    folder.put(file, bytes);
}

fn delete(folder: &Path, file: &str) {
    std::fs::remove_file(folder.join(file)).expect("deletes");
}

const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.safetensors";
const SOURCE: &str = "source.tokenizer.json";
const TARGET: &str = "target.tokenizer.json";

const REWRITTEN: &[(&str, &str, &str, &str, &str)] = &[
    (CONFIG, "\"eos\": 0,", "\"eos\": 0", "config.json, line 8", "JSON"),
    (CONFIG, "\"interlinear\"", "\"marian\"", CONFIG, "`format`"),
    (CONFIG, "\"version\": 1", "\"version\": 2", CONFIG, "`version`"),
    (
        CONFIG,
        "\"rnnsearch\",\n \"source_v",
        "\"perceptron\",\n \"source_v",
        CONFIG,
        "knows rnnencdec, rnnsearch, luong",
    ),
    (CONFIG, "\"hidden\": 6", "\"hiden\": 6", CONFIG, "`hiden` is unknown"),
    (CONFIG, "\"hidden\": 6", "\"hidden\": 6, \"colour\": 1", CONFIG, "`colour` is unknown"),
    (CONFIG, "\"hidden\": 6,", "", CONFIG, "`hidden` is missing"),
    (CONFIG, "\"hidden\": 6", "\"hidden\": \"6\"", CONFIG, "`hidden` must be a whole number"),
    (CONFIG, "\"hidden\": 6", "\"hidden\": 0", CONFIG, "`hidden` must be a whole number from 1"),
    (CONFIG, "\"hidden\": 6", "\"hidden\": -6", CONFIG, "`hidden` must"),
    (CONFIG, "\"hidden\": 6", "\"hidden\": 6.5", CONFIG, "`hidden` must"),
    (CONFIG, "\"hidden\": 6", "\"hidden\": 99999999999", CONFIG, "`hidden` must"),
    (CONFIG, "\"hidden\": 6", "\"hidden\": 4611686018427387904", CONFIG, "`hidden` must"),
    (CONFIG, "\"hidden\": 6", "\"hidden\": 7", WEIGHTS, "where the config.json asks for [7, 6]"),
    (CONFIG, "\"source_eos\": true", "\"source_eos\": 1", CONFIG, "`source_eos` must be true or false"),
    (CONFIG, "\"en\"", "5", CONFIG, "`source_language` must be a text"),
    (CONFIG, "\"en\"", "\"English language\"", CONFIG, "`source_language` must be a BCP 47"),
    (CONFIG, "\"maxout\"", "\"output_rank\": 3, \"maxout\"", CONFIG, "`output_rank` belongs to rnnencdec"),
    (CONFIG, "\"eos\": 0", "\"eos\": 33", CONFIG, "`eos` is 33"),
    (CONFIG, "\"unk\": 1", "\"unk\": 0", CONFIG, "`unk` is 0, the same"),
    (CONFIG, "\"eos\": 0", "\"eos\": 2", SOURCE, "\"s2\" at id 2, where `eos`"),
    (CONFIG, "\"unk\": 1", "\"unk\": 3", SOURCE, "\"s3\" at id 3, where `unk`"),
    (CONFIG, "source_vocabulary\": 33", "source_vocabulary\": 34", SOURCE, "has 33 words, but `source_"),
    (CONFIG, "target_vocabulary\": 33", "target_vocabulary\": 32", TARGET, "has 33 words, but `target_"),
    (TARGET, "</s>", "<eos>", TARGET, "</s>"),
    (TARGET, "\"model\"", "\"modl\"", TARGET, "tokenizer"),
    (TARGET, ", \"t32\": 32", "", TARGET, "32"),
    (SOURCE, "\"s32\": 32", "\"s32\": 32, \"s33\": 33", SOURCE, "34"),
    (SOURCE, "\"[UNK]\": 1", "\"x\": 1", SOURCE, "[UNK]"),
];

const SPOILT: &[(Spoil, &str, &str)] = &[
    (|f| delete(f, CONFIG), "model", "no config.json"),
    (|f| delete(f, WEIGHTS), WEIGHTS, "does not exist"),
    (|f| delete(f, SOURCE), SOURCE, "does not exist"),
    (|f| delete(f, TARGET), TARGET, "does not exist"),
    (|f| write(f, CONFIG, b"[]"), CONFIG, "one JSON object"),
    (|f| write(f, CONFIG, b""), "config.json, line 1", "JSON"),
    (|f| write(f, CONFIG, &[0xff, 0xfe, 0]), CONFIG, "UTF-8"),
    (|f| write(f, CONFIG, b"{\"model_type\": \"marian\"}"), CONFIG, "`"),
    (|f| in_bytes(f, CONFIG, |b| b.truncate(b.len() / 2)), CONFIG, "JSON"),
    (|f| write(f, SOURCE, b"{"), SOURCE, "tokenizer"),
    (|f| write(f, TARGET, b""), TARGET, "tokenizer"),
    (|f| write(f, SOURCE, b"<sentencepiece>"), SOURCE, "tokenizer"),
    (|f| in_bytes(f, SOURCE, |b| b.truncate(b.len() / 2)), SOURCE, "tokenizer"),
    (|f| insert(f, "decoder.D", 1, 0.0), WEIGHTS, "`decoder.D` is not part"),
    (|f| insert(f, "decoder.b", 5, 0.0), WEIGHTS, "`decoder.b` has the shape [5]"),
    (|f| insert(f, "decoder.b", 6, f32::NAN), WEIGHTS, "`decoder.b` holds a number that is not finite"),
    (|f| insert(f, "decoder.b", 6, f32::INFINITY), WEIGHTS, "not finite"),
    (rename_a_tensor, WEIGHTS, "`readout.b_w` is missing"),
    (|f| in_weights(f, |b| b.truncate(b.len() - 1)), WEIGHTS, "truncated"),
    (|f| in_weights(f, |b| b.truncate(20)), WEIGHTS, "truncated"),
    (|f| in_weights(f, |b| b.push(0)), WEIGHTS, "damaged"),
    (|f| in_weights(f, |b| b[9] = b'!'), WEIGHTS, "damaged"),
    (|f| in_weights(f, |b| b[..8].fill(0xff)), WEIGHTS, WEIGHTS),
    (|f| in_weights(f, Vec::clear), WEIGHTS, "is empty"),
    (|f| write(f, WEIGHTS, b"PK\x03\x04 a zip file of PyTorch"), WEIGHTS, "not a safetensors file"),
    (|f| write(f, WEIGHTS, b"<!DOCTYPE html><html></html>"), WEIGHTS, "not a safetensors file"),
    (|f| write(f, WEIGHTS, &b"\x80\x02}q\x00X\x05\x00\x00\x00statedict".repeat(50)), WEIGHTS, "not a safetensors file"),
];

fn rename_a_tensor(folder: &Path) {
    in_weights(folder, |bytes| {
        let at = bytes.windows(11).position(|window| window == b"readout.b_w").expect("the name");
        bytes[at + 10] = b'v';
    });
}

pub fn each_fault(mut look: impl FnMut(&Path, &str, &str)) {
    let spoilt = |spoil: &dyn Fn(&Path)| {
        let folder = Folder::new();
        spoil(&copy_of("rnnsearch", &folder));
        folder
    };
    for (file, from, to, named, says) in REWRITTEN {
        look(&spoilt(&|folder| replace(folder, file, from, to)).join("model"), named, says);
    }
    for (spoil, named, says) in SPOILT {
        look(&spoilt(spoil).join("model"), named, says);
    }
}

#[test]
fn whatever_is_wrong_with_a_folder_is_a_sentence_that_names_it() {
    each_fault(|folder, file, says| {
        let Err(error) = Model::load(folder, &Device::cpu()) else { panic!("a folder was loaded: {says}") };
        let said = error.to_string();
        assert!(error.is_users() && said.contains(file) && said.contains(says), "\"{says}\" is not said by: {said}");
        assert!(!said.contains('\n'), "more than a sentence: {said}");
    });
}

#[test]
fn weights_of_a_type_that_cannot_be_read_are_named() {
    let folder = Folder::new();
    let (data, path) = (0.5_f64.to_le_bytes(), folder.join("model.safetensors"));
    let view = safetensors::tensor::TensorView::new(safetensors::Dtype::F64, vec![1], &data).expect("a view");
    safetensors::serialize_to_file([("x", view)], None, &path).expect("writes");
    let Err(error) = Weights::load(&path, &[("x".into(), vec![1])]) else { panic!("f64 was read") };
    assert!(error.is_users() && error.to_string().contains("`x` is stored as F64"), "{error}");
}

/// A copy in 8 bits is read like any other: each number is within half a step of its row, the file is known by its bytes,
/// also after its numbers were handed over, and what lacks its scales is named.
#[test]
fn matrices_in_8_bits_are_read_with_a_scale_for_each_row() {
    for (name, bits, levels) in [
        ("rnnsearch", 8, 127.0),
        ("rnnencdec", 8, 127.0),
        ("luong-local-p-general", 8, 127.0),
        // a matrix that is no table of words has one bit more
        ("rnnsearch", 5, 31.0),
        ("rnnencdec", 4, 15.0),
    ] {
        let folder = Folder::new();
        let copy = copy_of(name, &folder);
        let whole = load(name);
        let path = copy.join("model.safetensors");
        whole.weights.save_in_8_bits(&path, bits).expect("writes");
        let small = Model::load(&copy, &Device::cpu()).expect("reads");
        for (tensor, array) in whole.weights.iter() {
            let width = array.data.len() / array.shape.first().copied().unwrap_or(1).max(1);
            let is_matrix = array.shape.len() == 2;
            let (rows, found) =
                (small.weights.rows(tensor).expect("rows"), small.weights.get(tensor).expect("it is there"));
            for (n, row) in array.data.chunks(width).enumerate() {
                let most = row.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
                let bound = if is_matrix { most / levels * 0.5001 } else { most / 1024.0 };
                let own = &found.data[n * width..(n + 1) * width];
                assert!(row.iter().zip(own).all(|(a, b)| (a - b).abs() <= bound), "{name}, {tensor}, row {n}");
                assert_eq!(rows.get(n, &mut Vec::new()), own);
            }
        }
        let digest = small.digest();
        small.stepper(Kernels::Fused, 1).expect("it decodes");
        assert_eq!(small.digest(), digest, "by the bytes of the file");
        // what was rounded once is not rounded again
        let again = folder.join("again.safetensors");
        small.weights.save_in_8_bits(&again, bits).expect("writes");
        let shapes: Vec<_> = small.weights.iter().map(|(name, array)| (name.to_owned(), array.shape.clone())).collect();
        let again = Weights::load(&again, &shapes).expect("reads");
        assert!(again.iter().zip(small.weights.iter()).all(|((_, a), (_, b))| {
            a.data.iter().zip(&b.data).all(|(a, b)| (a - b).abs() <= 1e-6 * b.abs().max(1e-3))
        }));
    }
    let (_folder, path) = Folder::and_path("model.safetensors");
    for (scale, says) in [(None, "needs `x.scale`"), (Some(f32::NAN), "a scale that is not finite")] {
        let bytes = scale.map(f32::to_le_bytes);
        let view = |kind, shape, data| safetensors::tensor::TensorView::new(kind, shape, data).expect("a view");
        let mut tensors = vec![("x", view(safetensors::Dtype::I8, vec![1, 2], &[1, 2][..]))];
        tensors.extend(bytes.iter().map(|bytes| ("x.scale", view(safetensors::Dtype::F32, vec![1], &bytes[..]))));
        safetensors::serialize_to_file(tensors, None, &path).expect("writes");
        let Err(error) = Weights::load(&path, &[("x".into(), vec![1, 2])]) else { panic!("{says}") };
        assert!(error.is_users() && error.to_string().contains(says), "{error}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let Err(error) = Model::load(Path::new("no/such/model"), &Device::cpu()) else { panic!("it was loaded") };
    assert!(
        matches!(error, Error::File { .. }) && error.to_string().starts_with("no/such/model: does not exist"),
        "{error}"
    );
}

#[test]
fn weights_cut_anywhere_are_refused_without_a_panic() {
    let model = load("rnnencdec");
    let bytes = std::fs::read(model.folder.join("model.safetensors")).expect("the fixture");
    let (_folder, path) = Folder::and_path("cut");
    for length in (0..bytes.len()).step_by(97) {
        std::fs::write(&path, &bytes[..length]).expect("written");
        let found = Weights::load(&path, &shapes(&model.config));
        assert!(matches!(found, Err(Error::File { .. })), "{length} bytes were read as a model");
    }
}

// --- files that would block, never end or fill the memory ---------------------------------------------

#[cfg(unix)]
fn refused(name: &str, spoil: impl FnOnce(&Path)) -> String {
    let folder = Folder::new();
    let model = copy_of(name, &folder);
    spoil(&model);
    let Err(error) = Model::load(&model, &Device::cpu()) else { panic!("the folder was loaded") };
    assert!(error.is_users(), "{error}");
    error.to_string()
}

#[cfg(unix)]
const FILES: [&str; 4] = [CONFIG, WEIGHTS, SOURCE, TARGET];

#[cfg(unix)]
#[test]
fn a_pipe_or_device_in_a_model_folder_blocked_for_ever() {
    for file in FILES {
        let said = refused("rnnsearch", |folder| {
            delete(folder, file);
            let made = std::process::Command::new("mkfifo").arg(folder.join(file)).status().expect("mkfifo runs");
            assert!(made.success());
        });
        assert!(said.contains(file) && said.contains("not a plain file"), "{said}");
        let said = refused("rnnsearch", |folder| {
            delete(folder, file);
            std::os::unix::fs::symlink("/dev/zero", folder.join(file)).expect("a link");
        });
        assert!(said.contains(file) && said.contains("not a plain file"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_as_model_card_blocked_the_reader() {
    let (folder, path) = Folder::and_path("README.md");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
    assert_eq!(card(&folder), "");
    std::fs::remove_file(&path).expect("removes");
    std::fs::write(&path, "# A card").expect("writes");
    assert_eq!(card(&folder), "# A card");
}

#[cfg(unix)]
fn sparse(path: &Path, start: &[u8], length: u64) {
    std::fs::write(path, start).expect("writes");
    let file = std::fs::OpenOptions::new().write(true).open(path).expect("opens");
    file.set_len(length).expect("grows");
}

#[cfg(unix)]
#[test]
fn a_sparse_file_was_read_to_its_end() {
    const HUGE: u64 = 20 << 30;
    for (file, says) in FILES.into_iter().zip(["at most 1048576", "not a safetensors file", "at most", "at most"]) {
        let said = refused("rnnsearch", |folder| sparse(&folder.join(file), &[], HUGE));
        assert!(said.contains(file) && said.contains(says), "{said}");
    }
    let weights = "model.safetensors";
    let said = refused("rnnsearch", |folder| {
        let bytes = std::fs::read(folder.join(weights)).expect("the fixture");
        sparse(&folder.join(weights), &bytes, HUGE);
    });
    assert!(said.contains("truncated or damaged"), "{said}");
    let said = refused("rnnsearch", |folder| {
        sparse(&folder.join(weights), &[&(HUGE - 8).to_le_bytes()[..], b"{"].concat(), HUGE);
    });
    assert!(said.contains("has a header of") && said.contains("16777216"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_model_of_trillions_of_numbers_is_refused_before_room_is_made() {
    let said = refused("rnnsearch", |f| replace(f, "config.json", "\"hidden\": 6", "\"hidden\": 16777216"));
    assert!(said.contains("model.safetensors") && said.contains("models of at most 1073741824"), "{said}");
}

#[cfg(unix)]
#[test]
fn sixteen_million_layers_were_listed_before_the_header_was_looked_at() {
    let said = refused("luong-none", |folder| {
        let text = folder.text("config.json");
        let mut config = json_of(&text);
        config["layers"] = 16_777_216.into();
        folder.put("config.json", config.to_string());
    });
    assert!(said.contains("config.json") && said.contains("`layers` must be a whole number from 1 to 64"), "{said}");
}

#[test]
fn the_quality_that_the_window_names_is_that_of_the_cards() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    for purpose in CATALOGUE {
        let places = [".", "en-de", "fr-en", "learning-en-fr"].map(|group| models.join(group).join(purpose.folder));
        let folder = places.into_iter().find(|folder| folder.is_dir()).expect("a folder of this name");
        let Some(bleu) = purpose.bleu else { continue };
        let card = std::fs::read_to_string(folder.join("README.md")).expect("a card");
        let line = card.lines().find(|line| line.starts_with("| Tatoeba test")).expect("a line of the test");
        let said = line.split("**").nth(1).and_then(|bold| bold.parse::<f32>().ok()).expect("a number in bold");
        assert!((said - bleu).abs() < 0.0501, "{}: {bleu}, its card {line}", purpose.folder);
    }
}
