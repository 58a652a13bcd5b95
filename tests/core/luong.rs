//! The models of Luong et al. 2015: every combination that the paper defines, by itself and in padded batches,
//! its gradients, and where local attention looks.

use std::path::Path;

use candle_core::{DType, Tensor};
use interlinear::attention::{AttentionKind, KINDS, scores};
use interlinear::decoding::{Decoded, Hypothesis, SearchOptions, Specials, decode, force};
use interlinear::models::config::{Architecture, Config, LuongSizes, OwnSizes};
use interlinear::models::init::{InitScheme, initial_weights};
use interlinear::models::{Annotations, Kernels, Model, Stepper, fused};
use interlinear::models::{checkpoint::Weights, folder::readable, loss::trainable, plain::PlainStepper};
use interlinear::nn::device::Device;
use serde_json::Value;

use crate::cli::{json_of, reference, run_in, run_line};
use crate::folder::{Files as _, Folder};
use crate::forever;
use crate::models::{check_gradients, tiny, variables};

fn looks() -> Vec<(AttentionKind, &'static str)> {
    let mut looks = vec![(AttentionKind::None, "dot")];
    for kind in KINDS.iter().map(|line| line.kind).filter(|kind| *kind != AttentionKind::None) {
        looks.extend(scores("luong").filter(|score| kind.allows(score)).map(|score| (kind, score.name)));
    }
    assert_eq!(looks.len(), 11);
    looks
}

type Wiring = (bool, bool, usize);

const WIRINGS: [Wiring; 8] = [
    (false, false, 1),
    (true, true, 2),
    (true, false, 1),
    (false, true, 2),
    (true, true, 1),
    (false, false, 2),
    (true, false, 2),
    (false, true, 1),
];

fn config((attention, score): (AttentionKind, &str), (input_feeding, reverse_source, layers): Wiring) -> Config {
    let by_place = score == "location" && attention == AttentionKind::Global;
    Config {
        maxout: 0,
        own: OwnSizes::Luong(LuongSizes {
            layers,
            attention,
            score: score.to_owned(),
            input_feeding,
            reverse_source,
            window: usize::from(attention.is_local()),
            max_source: if by_place { 3 } else { 0 },
            start: 3,
        }),
        ..tiny(Architecture::LUONG, None)
    }
}

fn weights(config: &Config) -> Weights {
    let mut weights = initial_weights(config, InitScheme::Scaled, 5);
    for (_, array) in weights.iter_mut() {
        array.data.iter_mut().enumerate().for_each(|(i, x)| *x = 1.5 * *x + 0.05 * (i as f32 + 1.0).sin());
    }
    weights
}

#[test]
fn gradients_of_every_combination_agree_with_differences_in_float64() {
    for (index, look) in looks().into_iter().enumerate() {
        let wiring = WIRINGS[index % WIRINGS.len()];
        let config = config(look, wiring);
        let (tensors, variables) = variables(&weights(&config), DType::F64);
        let model = trainable(&config, &tensors).expect("a model");
        let dropped = if wiring.2 == 2 { (0.3, 0.1) } else { (0.0, 0.0) };
        check_gradients(&format!("{look:?} {wiring:?}"), model.as_ref(), &variables, dropped, 1);
    }
}

#[track_caller]
fn assert_alike(what: &str, a: &[f32], b: &[f32]) {
    assert_eq!(a.len(), b.len(), "{what}");
    let near = a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5 || (a.is_nan() && b.is_nan()));
    assert!(near, "{what}: {a:?} is not {b:?}");
}

fn assert_same(what: &str, a: &Hypothesis, b: &Hypothesis) {
    let flat = |rows: &Option<Vec<Vec<f32>>>| rows.iter().flatten().flatten().copied().collect::<Vec<_>>();
    assert_alike(what, &a.token_log_p, &b.token_log_p);
    assert_alike(what, &flat(&a.alpha), &flat(&b.alpha));
    assert_alike(what, &flat(&a.energies), &flat(&b.energies));
    assert_alike(what, a.p_t.as_deref().unwrap_or_default(), b.p_t.as_deref().unwrap_or_default());
}

fn beams(stepper: &mut dyn Stepper, sources: &[&[u32]]) -> Vec<Decoded> {
    let options = SearchOptions { beam: 3, max_length: Some(7), ..SearchOptions::default() };
    let specials = Specials { eos: 0, unk: 1, bars_unk: false };
    decode(stepper, specials, sources, &options, &forever(), &mut |_, _| {}).expect("it decodes")
}

#[test]
fn every_combination_reads_a_sentence_in_a_batch_as_it_does_alone() {
    let sources: [&[u32]; 4] = [&[2, 5, 4, 6, 0], &[6, 0], &[0], &[3, 4, 1, 0]];
    let targets: [&[u32]; 4] = [&[2, 0], &[5, 3, 4, 2, 5, 0], &[4, 0], &[1, 1, 0]];
    let pairs: Vec<(&[u32], &[u32])> = sources.into_iter().zip(targets).collect();
    for (index, look) in looks().into_iter().enumerate() {
        // Eleven looks and eight wirings meet in other pairs here than among the gradients.
        let wiring = WIRINGS[(3 * index + 1) % WIRINGS.len()];
        let config = config(look, wiring);
        let model = readable(&config, &weights(&config), &candle_core::Device::Cpu).expect("a model");
        let mut stepper = PlainStepper::new(model);
        let mut scores = |pairs: &[(&[u32], &[u32])]| force(&mut stepper, pairs, &forever()).expect("it scores");
        let together = scores(&pairs);
        let alone: Vec<Hypothesis> = pairs.iter().map(|pair| scores(&[*pair]).swap_remove(0)).collect();
        let mut fused = fused::stepper(&config, &std::sync::Arc::new(weights(&config)), 1).expect("a stepper");
        let by_kernels = force(fused.as_mut(), &pairs, &forever()).expect("it scores");
        let decoded = beams(&mut stepper, &sources);
        for (index, source) in sources.into_iter().enumerate() {
            let what = format!("{look:?} {wiring:?}, sentence {index}");
            assert_same(&what, &alone[index], &together[index]);
            assert_same(&format!("{what}, fused"), &by_kernels[index], &together[index]);
            let words = |found: &Decoded| found.hypotheses.iter().map(|one| one.tokens.clone()).collect::<Vec<_>>();
            assert_eq!(words(&beams(&mut stepper, &[source])[0]), words(&decoded[index]), "{what}");
            // What the beam says of its best is what forcing it says.
            let best = &decoded[index].hypotheses[0];
            let forced = force(&mut stepper, &[(source, &best.tokens)], &forever()).expect("it scores");
            assert_same(&what, best, &forced[0]);
        }
    }
}

#[test]
fn a_reversed_source_keeps_its_annotations_in_place() {
    let look = (AttentionKind::Global, "general");
    let (forward, backward) = (config(look, (true, false, 2)), config(look, (true, true, 2)));
    let weights = weights(&forward);
    let encode = |config: &Config, source: &[u32]| {
        readable(config, &weights, &candle_core::Device::Cpu).expect("a model").encode(&[source]).expect("it encodes")
    };
    let (read, reversed) = (encode(&backward, &[2, 5, 4, 0]), encode(&forward, &[0, 4, 5, 2]));
    let numbers = |tensor: &Tensor| tensor.flatten_all().and_then(|flat| flat.to_vec1::<f32>()).expect("numbers");
    for j in 0..4 {
        let word = |annotations: &Annotations, j: usize| numbers(&annotations.h.narrow(1, j, 1).expect("a word"));
        assert_alike(&format!("word {j}"), &word(&read, j), &word(&reversed, 3 - j));
    }
    // The decoder starts from the same states, h and c of both layers.
    assert_eq!((read.last.len(), reversed.last.len()), (4, 4));
    for (a, b) in read.last.iter().zip(&reversed.last) {
        assert_alike("last states", &numbers(a), &numbers(b));
    }
}

#[test]
fn the_decoder_reads_the_start_word_first() {
    let config = config((AttentionKind::LocalP, "concat"), (true, true, 2));
    let model = readable(&config, &weights(&config), &candle_core::Device::Cpu).expect("a model");
    let annotations = model.encode(&[&[2, 5, 0]]).expect("it encodes");
    let state = model.init_state(&annotations).expect("a state");
    let log_p = |word: Option<&[u32]>| {
        let step = model.step(word, &state, &annotations).expect("it steps");
        step.log_p.flatten_all().and_then(|flat| flat.to_vec1::<f32>()).expect("numbers")
    };
    assert_eq!(log_p(None), log_p(Some(&[3])));
    assert_ne!(log_p(None), log_p(Some(&[2])));
}

#[test]
fn local_attention_looks_round_p_t() {
    for name in ["luong-local-m-dot", "luong-local-m-general", "luong-local-p-dot", "luong-local-p-general"] {
        let model = Model::load(reference(name), &Device::cpu()).expect("the fixture loads");
        let d = model.config.window().expect("it is local") as f32;
        let sources: [&[u32]; 2] = [&[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0], &[5, 6, 0]];
        let target = [2, 3, 4, 5, 6, 7, 8, 0];
        for engine in [Kernels::Plain, Kernels::Fused] {
            let mut stepper = model.stepper(engine, 1).expect("a stepper");
            let pairs = sources.map(|source| (source, &target[..]));
            let found = force(stepper.as_mut(), &pairs, &forever()).expect("it scores");
            for (source, found) in sources.iter().zip(&found) {
                let (p_t, alpha) = (found.p_t.as_ref().expect("p_t"), found.alpha.as_ref().expect("alpha"));
                for (t, (&p, row)) in p_t.iter().zip(alpha).enumerate() {
                    if name.contains("local-m") {
                        assert_eq!(p, t.min(source.len() - 1) as f32, "{name} {engine:?}");
                    }
                    for (s, &alpha) in row.iter().enumerate() {
                        assert_eq!(alpha > 0.0, (s as f32 - p).abs() <= d, "{name} {engine:?}, {s} at {p}: {row:?}");
                    }
                }
                assert_eq!((p_t.len(), alpha.len()), (target.len(), target.len()));
            }
        }
    }
    let model = Model::load(reference("luong-global-dot"), &Device::cpu()).expect("the fixture loads");
    let mut stepper = model.stepper(Kernels::Plain, 1).expect("a stepper");
    let found = force(stepper.as_mut(), &[(&[2, 0], &[3, 0])], &forever()).expect("it scores");
    assert_eq!(found[0].p_t, None);
}

#[test]
fn words_beyond_the_location_score_have_no_energy() {
    let folder = Folder::new();
    let path = reference("luong-global-location");
    let model = Model::load(&path, &Device::cpu()).expect("the fixture loads");
    let known = model.config.luong().expect("it is luong").max_source;
    for words in [known - 1, known, known + 5] {
        folder.put("source", "s3 ".repeat(words));
        folder.put("target", "t4 t5");
        for engine in ["fused", "plain"] {
            let path = path.to_str().expect("a plain path");
            let arguments = ["score", "--model", path, "--source", "source", "--target", "target", "--engine", engine];
            let outcome = run_in(&folder, &arguments).quiet();
            let record = json_of(&outcome.stdout);
            assert!(record["log_p"].is_f64() && record.get("p_t").is_none());
            for (alpha, energies) in rows(&record["alpha"]).iter().zip(rows(&record["energies"])) {
                assert_eq!((alpha.len(), energies.len()), (words + 1, words + 1));
                let sum: f64 = alpha.iter().filter_map(Value::as_f64).sum();
                assert!((sum - 1.0).abs() < 1e-5, "{sum}");
                for (s, (alpha, energy)) in alpha.iter().zip(&energies).enumerate() {
                    assert_eq!((alpha.as_f64() > Some(0.0), energy.is_f64()), (s < known, s < known), "{s}: {energy}");
                    assert!(energy.is_f64() || energy.is_null());
                }
            }
        }
    }
}

fn rows(value: &Value) -> Vec<Vec<Value>> {
    serde_json::from_value(value.clone()).expect("rows")
}

#[test]
fn configurations_name_only_what_goes_together() {
    let path = Path::new("config.json");
    let good = config((AttentionKind::LocalP, "general"), (true, true, 2));
    assert_eq!(Config::from_json(path, &good.to_json()).expect("it is sound"), good);
    for (from, to, key) in [
        ("\"general\"", "\"location\"", "score"),
        ("\"general\"", "\"additive\"", "score"),
        ("\"local-p\"", "\"local\"", "attention"),
        ("\"local-p\"", "\"global\"", "window"),
        ("\"window\": 1", "\"window\": 0", "window"),
        ("\"start\": 3", "\"start\": 99", "start"),
    ] {
        let text = good.to_json().replace(from, to);
        let error = Config::from_json(path, &text).expect_err("it does not fit").to_string();
        assert!(error.contains(&format!("`{key}`")), "{error}");
    }
}

#[test]
fn help_names_every_attention() {
    let folder = Folder::new();
    let help = run_line(&folder, "train --help").stdout;
    let kinds = KINDS.iter().map(|line| line.explanation);
    assert!(kinds.chain(scores("luong").map(|line| line.equation)).all(|what| help.contains(what)), "{help}");
}
