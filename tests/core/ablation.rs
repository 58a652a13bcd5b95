//! The tests of attention on every architecture against a slow direct computation: the readable equations, one row at
//! a time, with alpha written by hand, and divergences by their definitions.

use candle_core::{Device as Candle, Tensor};
use interlinear::analysis::ablation::{AblatedWord, AblationEffect, AblationMeans, FIGURES};
use interlinear::models::{Kernels, Model};
use interlinear::{analysis::ablation, decoding::reweigh::permutation, models::folder::readable, nn::device::Device};
use serde_json::Value;

use crate::cli::{feed, json_lines, json_of, reference};
use crate::folder::{Files as _, Folder};
use crate::models::{FOLDERS, FOREIGN};
use crate::{forever, tiny::TINY};

const SOURCE: &[u32] = &[2, 9, 4, 7, 6, 0];
const TARGET: &[u32] = &[5, 8, 3, 0];
const SEEDS: &[u64] = &[11, 12];

fn host(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().and_then(|flat| flat.to_vec1()).expect("numbers")
}

fn effect(own: &[f32], log_p: &[f32], token: u32) -> AblationEffect {
    let p = |log_p: &[f32]| log_p.iter().map(|log_p| f64::from(*log_p).exp()).collect::<Vec<f64>>();
    let (p, q) = (p(own), p(log_p));
    let term = |(p, q): (&f64, &f64)| if *p > 0.0 { p * (p / q).ln() } else { 0.0 };
    let kl = |p: &[f64], q: &[f64]| p.iter().zip(q).map(term).sum::<f64>();
    let m: Vec<f64> = p.iter().zip(&q).map(|(p, q)| f64::midpoint(*p, *q)).collect();
    let best = |p: &[f64]| (0..p.len()).max_by(|a, b| p[*a].total_cmp(&p[*b]).then(b.cmp(a)));
    AblationEffect {
        js: f64::midpoint(kl(&p, &m), kl(&q, &m)) as f32,
        tv: (p.iter().zip(&q).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0) as f32,
        log_p: log_p[token as usize],
        changes: best(&p) != best(&q),
    }
}

fn direct(model: &Model, source: &[u32], target: &[u32]) -> Vec<AblatedWord> {
    let readable = readable(&model.config, &model.weights, &Candle::Cpu).expect("a model");
    let annotations = readable.encode(&[source]).expect("it encodes");
    let mut state = readable.init_state(&annotations).expect("a state");
    let mut words = Vec::new();
    for (i, &token) in target.iter().enumerate() {
        let y_prev = (i > 0).then(|| vec![target[i - 1]]);
        let aligned = readable.align(y_prev.as_deref(), &state, &annotations).expect("it looks");
        let alpha = host(aligned.alpha_i.as_ref().expect("it aligns"));
        let say = |alpha: &[f32]| {
            let mut aligned = aligned.clone();
            aligned.alpha_i = Some(Tensor::from_slice(alpha, (1, alpha.len()), &Candle::Cpu).expect("a row"));
            readable.predict(y_prev.as_deref(), &aligned, &annotations).expect("it speaks")
        };
        let own = say(&alpha);
        let log_p = host(&own.log_p);
        let effect = |alpha: &[f32]| effect(&log_p, &host(&say(alpha).log_p), token);
        let sum: f32 = alpha.iter().sum();
        let without = |j: usize| {
            let left = sum - alpha[j];
            let weight = |k: usize| if k == j || left <= 0.0 { 0.0 } else { alpha[k] * sum / left };
            effect(&(0..alpha.len()).map(weight).collect::<Vec<f32>>())
        };
        let permuted = |seed: &u64| {
            effect(&permutation(*seed, i, alpha.len()).into_iter().map(|j| alpha[j]).collect::<Vec<f32>>())
        };
        words.push(AblatedWord {
            token,
            log_p: log_p[token as usize],
            best: (0..log_p.len()).fold(0, |best, k| if log_p[k] > log_p[best] { k } else { best }) as u32,
            uniform: effect(&vec![sum / alpha.len() as f32; alpha.len()]),
            permuted: SEEDS.iter().map(permuted).collect(),
            without: (0..alpha.len()).map(without).collect(),
            alpha: alpha.clone(),
        });
        state = own.s;
    }
    words
}

fn near(what: &str, found: &AblationEffect, expected: &AblationEffect) {
    let pairs = [(found.js, expected.js), (found.tv, expected.tv), (found.log_p, expected.log_p)];
    assert!(pairs.iter().all(|(a, b)| (a - b).abs() < 1e-4), "{what}: {found:?} is not {expected:?}");
    assert_eq!(found.changes, expected.changes, "{what}");
}

#[test]
fn every_architecture_is_tested_as_by_hand() {
    let long: Vec<u32> = (0..70).map(|n| 2 + n % 9).chain([0]).collect();
    for folder in FOLDERS.into_iter().chain(FOREIGN) {
        let model = Model::load(reference(folder), &Device::cpu()).expect("the fixture loads");
        let mut steppers =
            [Kernels::Plain, Kernels::Fused].map(|kernels| model.stepper(kernels, 2).expect("a stepper"));
        if !model.config.aligns() {
            let error = ablation::words(steppers[1].as_mut(), (SOURCE, TARGET), SEEDS, &forever());
            assert!(error.is_err_and(|error| error.to_string().contains("no alignment")), "{folder}");
            continue;
        }
        for source in [SOURCE, &long] {
            let expected = direct(&model, source, TARGET);
            for stepper in &mut steppers {
                let found = ablation::words(stepper.as_mut(), (source, TARGET), SEEDS, &forever());
                for (found, expected) in found.expect("it is tested").iter().zip(&expected) {
                    let what = format!("{folder}, {} words, {}", source.len(), expected.token);
                    assert_eq!((found.token, found.best), (expected.token, expected.best), "{what}");
                    assert!((found.log_p - expected.log_p).abs() < 1e-4, "{what}");
                    near(&what, &found.uniform, &expected.uniform);
                    let all = |word: &AblatedWord| [word.permuted.clone(), word.without.clone()].concat();
                    assert_eq!(all(found).len(), SEEDS.len() + source.len(), "{what}");
                    all(found).iter().zip(&all(expected)).for_each(|(found, expected)| near(&what, found, expected));
                }
            }
        }
    }
}

#[test]
fn figures_are_means_over_the_words_that_have_them() {
    let effect = |js: f32, changes| AblationEffect { js, changes, ..AblationEffect::default() };
    let word = |alpha: &[f32], without: &[f32]| AblatedWord {
        alpha: alpha.to_vec(),
        without: without.iter().map(|js| effect(*js, *js > 0.5)).collect(),
        permuted: vec![effect(0.25, true), effect(0.75, false)],
        ..AblatedWord::default()
    };
    let mut means = AblationMeans::default();
    means.add(&[word(&[0.7, 0.2, 0.1], &[0.6, 0.2, 0.1]), word(&[0.2, 0.7, 0.1], &[0.3, 0.2, 0.1])]);
    means.add(&[word(&[1.0], &[0.1])]);
    let of = |name: &str| means.of(FIGURES.iter().position(|figure| figure.name == name).expect(name));
    assert_eq!((means.sentences, means.words), (2, 3));
    for (name, expected) in [
        ("js_permuted", 0.5),
        ("changed_permuted", 0.5),
        ("js_top", 0.3),
        ("changed_top", 1.0 / 3.0),
        ("top_agrees", 2.0 / 3.0),
        ("kendall", f64::midpoint(1.0, 1.0 / 3.0)),
        ("spearman", f64::midpoint(1.0, 0.5)),
    ] {
        assert!(of(name).is_some_and(|found| (found - expected).abs() < 1e-6), "{name}: {:?}", of(name));
    }
    assert_eq!(AblationMeans::default().of(0), None);
}

#[test]
fn the_command_writes_every_format() {
    let folder = Folder::new();
    TINY.save(&folder);
    let ablate = |more: &[&str], stdin: &str| {
        feed(&folder, &[&["ablate", "--model", "tiny"], more].concat(), stdin.as_bytes()).quiet().stdout
    };
    let text = "one two three\n\nthree\n";
    let lines = ablate(&[], text);
    let records = json_lines(&lines);
    let rows = |record: &Value, key: &str| record[key].as_array().map_or(0, Vec::len);
    assert_eq!(records.iter().map(|record| record["line"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
    let translated = feed(&folder, &["translate", "--model", "tiny", "--format", "jsonl"], text.as_bytes()).stdout;
    let translated = json_of(translated.lines().next().expect("a line"));
    let first = &records[0];
    assert_eq!(first["target"], translated["hypotheses"][0]["tokens"], "the model's own translation");
    assert_eq!(first["source"], serde_json::json!(["one", "two", "three", "</s>"]));
    let t_y = rows(first, "target");
    for key in ["alpha", "leave_one_out", "leave_one_out_log_p", "leave_one_out_changed"] {
        assert_eq!(rows(first, key), t_y, "{key}");
        assert!(first[key].as_array().expect(key).iter().all(|row| row.as_array().map_or(0, Vec::len) == 4), "{key}");
    }
    assert_eq!(rows(&records[1], "target"), 0);
    assert!(records[1]["js"]["uniform"].is_null() && first["js"]["uniform"].as_f64() > Some(0.0));
    assert_eq!(first["js"]["permuted"], first["means"]["js_permuted"]);
    assert_eq!(rows(&first["tokens"], "kendall"), t_y);
    // Given translations, as files; two models, line by line.
    folder.put("x", text);
    folder.put("y", "un deux\nun\ndeux\n");
    let given = ablate(&["--source", "x", "--target", "y", "--model", "tiny", "--format", "tsv"], "");
    let cells: Vec<Vec<&str>> = given.lines().map(|line| line.split('\t').collect()).collect();
    assert!(cells.iter().all(|row| row.len() == 9 + FIGURES.len()), "{given}");
    let places: Vec<(&str, &str, &str)> = cells[1..].iter().map(|row| (row[1], row[2], row[3])).collect();
    let (one, three) =
        ([("1", "1", "un"), ("1", "2", "deux"), ("1", "3", "</s>")], [("3", "1", "deux"), ("3", "2", "</s>")]);
    assert_eq!(places, [&one[..], &one, &three, &three].concat());
    let table = ablate(&["--format", "table", "--summary", "means.tsv"], text);
    assert!(table.contains("Kendall's tau, alpha and leave-one-out") && table.contains("target tokens"), "{table}");
    let means = folder.text("means.tsv");
    assert!(means.starts_with("model\tsentences\ttokens\tjs_uniform") && means.contains("\ntiny\t2\t"), "{means}");
    assert_eq!(ablate(&["--seed", "1"], text), lines, "the same seed, the same orders");
    assert_ne!(ablate(&["--seed", "2"], text), lines);
    let deaf = reference("rnnencdec");
    feed(&folder, &["ablate", "--model", &deaf.display().to_string()], b"a\n").refused("no alignment to test");
}
