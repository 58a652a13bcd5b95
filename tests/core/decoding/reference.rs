//! The beams of the reference implementation, with the weights of its small models.

use std::{collections::BTreeMap, path::PathBuf};

use interlinear::decoding::{Decoded, SearchOptions, Specials, decode, force};
use interlinear::models::{Kernels, Model, Stepper};
use interlinear::nn::device::{DeviceChoice, pick};
use interlinear::text::tokenizer::Tokenizer;
use serde_json::Value;

use crate::{cli::json_of, forever};

const TOLERANCE: f64 = 1e-4;

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/reference").join(name)
}

fn cases(name: &str, kind: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder(name).join("expected.jsonl")).expect("the fixture is there");
    let all = text.lines().map(json_of);
    all.filter(|case| case["kind"] == kind).collect()
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|word| word.as_str().expect("a word")).collect()
}

fn ids(tokenizer: &Tokenizer, value: &Value) -> Vec<u32> {
    strings(value).iter().map(|word| tokenizer.id(word).expect("the fixture's words are known")).collect()
}

fn check_number(what: &str, got: f32, expected: &Value) {
    let expected = expected.as_f64().expect("a number");
    assert!((f64::from(got) - expected).abs() < TOLERANCE, "{what}: {got} instead of {expected}");
}

fn check_rows(what: &str, got: Option<&Vec<Vec<f32>>>, expected: &Value) {
    assert_eq!(got.is_none(), expected.is_null(), "{what}");
    let (Some(got), Some(expected)) = (got, expected.as_array()) else { return };
    assert_eq!(got.len(), expected.len(), "{what}");
    for (got, expected) in got.iter().zip(expected) {
        let expected = expected.as_array().expect("a row");
        assert_eq!(got.len(), expected.len(), "{what}");
        for (&got, expected) in got.iter().zip(expected) {
            check_number(what, got, expected);
        }
    }
}

fn check_beam(what: &str, target: &Tokenizer, decoded: &Decoded, case: &Value) {
    let expected = case["hypotheses"].as_array().expect("a list");
    assert_eq!(decoded.hypotheses.len(), expected.len(), "{what}");
    for (got, expected) in decoded.hypotheses.iter().zip(expected) {
        let tokens: Vec<_> = got.tokens.iter().map(|&id| target.token(id).expect("a known id")).collect();
        assert_eq!(tokens, strings(&expected["tokens"]), "{what}");
        assert_eq!(got.finished, expected["finished"].as_bool().expect("a flag"), "{what}");
        check_number(what, got.log_p, &expected["log_p"]);
        check_rows(what, got.alpha.as_ref(), &expected["alpha"]);
    }
}

fn check_model(name: &str, engine: Kernels) {
    let device = pick(DeviceChoice::Cpu).expect("there is always a CPU");
    let model = Model::load(folder(name), &device).expect("the fixture loads");
    let specials = Specials { eos: model.config.eos, unk: model.config.unk, bars_unk: false };
    let mut stepper = model.stepper(engine, 1).expect("the CPU has both engines");
    let what = format!("{name}, {engine:?}");
    check_beams(&what, &model, specials, stepper.as_mut());
    check_scores(&what, &model, stepper.as_mut());
}

fn check_beams(what: &str, model: &Model, specials: Specials, stepper: &mut dyn Stepper) {
    let mut groups: BTreeMap<(u64, u64), Vec<Value>> = BTreeMap::new();
    for case in cases(&model.config.name, "beam") {
        let key = (case["beam"].as_u64().expect("a size"), case["max_length"].as_u64().expect("a length"));
        groups.entry(key).or_default().push(case);
    }
    assert!(!groups.is_empty(), "{what}");
    for ((beam, max_length), cases) in groups {
        let options =
            SearchOptions { beam: beam as usize, max_length: Some(max_length as usize), ..SearchOptions::default() };
        let sources: Vec<Vec<u32>> = cases.iter().map(|case| ids(&model.source, &case["source"])).collect();
        let sources: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
        let mut run = |sources: &[&[u32]]| {
            decode(stepper, specials, sources, &options, &forever(), &mut |_, _| {}).expect("it decodes")
        };
        let together = run(&sources);
        for (index, case) in cases.iter().enumerate() {
            let what = format!("{what}, beam {beam}, case {index}");
            check_beam(&what, &model.target, &run(&sources[index..=index])[0], case);
            check_beam(&format!("{what} in a batch"), &model.target, &together[index], case);
        }
    }
}

fn check_scores(what: &str, model: &Model, stepper: &mut dyn Stepper) {
    let cases = cases(&model.config.name, "score");
    let pairs: Vec<(Vec<u32>, Vec<u32>)> =
        cases.iter().map(|case| (ids(&model.source, &case["source"]), ids(&model.target, &case["target"]))).collect();
    let pairs: Vec<(&[u32], &[u32])> =
        pairs.iter().map(|(source, target)| (source.as_slice(), target.as_slice())).collect();
    let together = force(stepper, &pairs, &forever()).expect("it scores");
    for (index, case) in cases.iter().enumerate() {
        let alone = force(stepper, &pairs[index..=index], &forever()).expect("it scores");
        for got in [&alone[0], &together[index]] {
            let what = format!("{what}, score case {index}");
            check_number(&what, got.log_p, &case["log_p"]);
            let expected = case["token_log_p"].as_array().expect("a list");
            assert_eq!(got.token_log_p.len(), expected.len(), "{what}");
            for (&got, expected) in got.token_log_p.iter().zip(expected) {
                check_number(&what, got, expected);
            }
            check_rows(&what, got.alpha.as_ref(), &case["alpha"]);
            check_rows(&what, got.energies.as_ref(), &case["energies"]);
        }
    }
}

macro_rules! both_engines {
    ($($test:ident: $name:literal),* $(,)?) => {$(
        #[test]
        fn $test() {
            check_model($name, Kernels::Plain);
            check_model($name, Kernels::Fused);
        }
    )*};
}

both_engines! {
    rnnsearch: "rnnsearch",
    rnnencdec: "rnnencdec",
    rnnencdec_rank: "rnnencdec-rank",
    luong_none: "luong-none",
    luong_global_dot: "luong-global-dot",
    luong_global_general: "luong-global-general",
    luong_global_concat: "luong-global-concat",
    luong_global_location: "luong-global-location",
    luong_local_m_dot: "luong-local-m-dot",
    luong_local_m_general: "luong-local-m-general",
    luong_local_p_dot: "luong-local-p-dot",
    luong_local_p_general: "luong-local-p-general",
}
