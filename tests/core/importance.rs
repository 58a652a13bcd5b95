//! What matters besides alpha: gradients against differences of log p in f64 on every architecture, the rest against
//! a slow direct computation with the readable models.

use std::collections::HashMap;

use candle_core::{DType, Device as Candle, Tensor};
use interlinear::decoding;
use interlinear::decoding::importance::{IMPORTANCES, Subject, importance, shares};
use interlinear::interventions::{Intervening, Intervention};
use interlinear::models::gradient::{Descent, Gradients, Smoothing, two_embeddings};
use interlinear::models::loss::{Trainable, trainable};
use interlinear::models::{Kernels, Model, Need, StepOutput, StepRow, Stepper as _};
use interlinear::nn::device::Device;
use interlinear::ticket::CancellationToken;
use serde_json::Value;

use crate::cli::{reference, run_in};
use crate::models::{FOLDERS, FOREIGN};
use crate::tiny::TINY;

/// No word occurs twice, so that a row of the table is a word.
pub const SOURCE: &[u32] = &[2, 9, 4, 7, 0];
pub const TARGET: &[u32] = &[5, 8, 3, 0];

fn load(folder: &str) -> Model {
    Model::load(&reference(folder), &Device::cpu()).expect("the fixture loads")
}

/// The weights as f64, by name.
fn tensors(model: &Model) -> HashMap<String, Tensor> {
    let tensor = |name: &str| {
        let tensor = model.weights.tensor(name, &Candle::Cpu).and_then(|tensor| Ok(tensor.to_dtype(DType::F64)?));
        (name.to_owned(), tensor.expect("a tensor"))
    };
    model.weights.names().map(tensor).collect()
}

/// log p of each word of the target.
fn log_p(model: &dyn Trainable, source: &[u32]) -> Vec<f64> {
    let total = |length: usize| {
        let (loss, _) = model.loss(&[source], &[&TARGET[..length]]).expect("a loss");
        -loss.to_scalar::<f64>().expect("a number")
    };
    let total = |length: usize| if length == 0 { 0.0 } else { total(length) };
    (0..TARGET.len()).map(|i| total(i + 1) - total(i)).collect()
}

fn near(what: &str, found: &[Vec<f32>], expected: &[Vec<f64>], most: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let near = found.iter().zip(expected).all(|(a, b)| (f64::from(*a) - b).abs() < most);
        assert!(near && found.len() == expected.len(), "{what}, row {i}: {found:?} is not {expected:?}");
    }
}

/// x_j . d log p(y_i) / d x_j is how log p(y_i) changes as x_j grows in its own direction.
#[test]
fn gradients_are_differences_on_every_architecture() {
    const STEP: f64 = 1e-5;
    for folder in FOLDERS.into_iter().chain(FOREIGN) {
        let model = load(folder);
        let (config, all) = two_embeddings(&model.config, tensors(&model));
        let gradients = Gradients::from_tensors(&model.config, all.clone()).expect("a model");
        let found = gradients
            .times_input((SOURCE, TARGET), Smoothing::PLAIN, &CancellationToken::forever())
            .expect("gradients");
        let mut expected = vec![vec![0.0; SOURCE.len()]; TARGET.len()];
        for (j, &word) in SOURCE.iter().enumerate() {
            let scaled = |by: f64| {
                let table = &all["source_embedding"];
                let scale: Vec<f64> =
                    (0..table.dim(0).expect("rows")).map(|row| if row == word as usize { by } else { 1.0 }).collect();
                let scale = Tensor::from_vec(scale, (table.dim(0).expect("rows"), 1), &Candle::Cpu).expect("a column");
                let mut changed = all.clone();
                changed.insert("source_embedding".to_owned(), table.broadcast_mul(&scale).expect("a table"));
                log_p(trainable(&config, &changed).expect("a model").as_ref(), SOURCE)
            };
            for (i, (more, less)) in scaled(1.0 + STEP).into_iter().zip(scaled(1.0 - STEP)).enumerate() {
                expected[i][j] = (more - less) / (2.0 * STEP);
            }
        }
        near(folder, &found, &expected, 1e-6);
    }
}

#[test]
fn smoothing_averages_and_follows_its_seed() {
    let model = load("rnnsearch");
    let gradients = Gradients::new(&model).expect("a model");
    let of = |samples, noise, seed| {
        gradients
            .times_input((SOURCE, TARGET), Smoothing { samples, noise, seed }, &CancellationToken::forever())
            .expect("it")
    };
    let plain = of(1, 0.0, 1);
    let wide =
        |rows: &[Vec<f32>]| rows.iter().map(|row| row.iter().map(|x| f64::from(*x)).collect()).collect::<Vec<_>>();
    near("samples without noise", &of(3, 0.0, 2), &wide(&plain), 1e-6);
    assert_eq!(of(4, 0.2, 5), of(4, 0.2, 5));
    assert_ne!(of(4, 0.2, 5), of(4, 0.2, 6));
    near("little noise", &of(2, 1e-4, 5), &wide(&plain), 1e-3);
}

/// alpha_i and log p of every word at step i, with the rows that are pinned.
pub fn said(model: &Model, i: usize, pins: &[(usize, Vec<f32>)]) -> (Vec<f32>, Vec<f32>) {
    let mut stepper = model.stepper(Kernels::Plain, 1).expect("a stepper");
    let list = pins.iter().map(|(i, alpha)| Intervention::Pin { i: *i, alpha: alpha.clone() }).collect();
    let mut stepper = Intervening::new(stepper.as_mut(), vec![list]);
    stepper.begin(&[SOURCE]).expect("it encodes");
    let mut output = StepOutput::default();
    for k in 0..=i {
        let rows = [StepRow { sentence: 0, parent: 0, y_prev: k.checked_sub(1).map(|before| TARGET[before]) }];
        stepper.step(&rows, &Need::all(), &mut output).expect("it speaks");
    }
    (output.alpha_row(0, SOURCE.len()).unwrap_or_default().to_vec(), output.log_p)
}

/// One step of descent, its gradient taken by differences of what pinned rows say.
#[test]
fn alpha_is_optimised_along_its_gradient() {
    const STEP: f64 = 1e-2;
    for folder in FOLDERS.iter().chain(&FOREIGN).filter(|folder| load(folder).config.aligns()) {
        let model = load(folder);
        let gradients = Gradients::new(&model).expect("a model");
        let optimise = |steps, rate| {
            gradients.optimised((SOURCE, TARGET), Descent { steps, rate }, &CancellationToken::forever()).expect("rows")
        };
        let (own, one) = (optimise(0, 1.0), optimise(1, 1.0));
        let mut stepper = model.stepper(Kernels::Plain, 1).expect("a stepper");
        let forced =
            decoding::force(stepper.as_mut(), &[(SOURCE, TARGET)], &CancellationToken::forever()).expect("it scores");
        let alpha = forced[0].alpha.clone().expect("it aligns");
        let wide =
            |rows: &[Vec<f32>]| rows.iter().map(|row| row.iter().map(|x| f64::from(*x)).collect()).collect::<Vec<_>>();
        near(&format!("{folder}: no step changes nothing"), &own, &wide(&alpha), 1e-5);
        let mut expected = Vec::new();
        for (i, alpha) in alpha.iter().enumerate() {
            let sum: f64 = alpha.iter().map(|alpha| f64::from(*alpha)).sum();
            let row = |shift: &dyn Fn(usize) -> f64| {
                let weights: Vec<f64> = alpha.iter().enumerate().map(|(j, a)| f64::from(*a) * shift(j).exp()).collect();
                let total: f64 = weights.iter().sum();
                weights.iter().map(|weight| weight * sum / total).collect::<Vec<f64>>()
            };
            let said = |row: Vec<f64>| {
                let row: Vec<f32> = row.into_iter().map(|x| x as f32).collect();
                f64::from(said(&model, i, &[(i, row)]).1[TARGET[i] as usize])
            };
            let slope = |j: usize| {
                let at = |by: f64| said(row(&|k| if k == j { by } else { 0.0 }));
                (at(STEP) - at(-STEP)) / (2.0 * STEP)
            };
            let slopes: Vec<f64> = (0..alpha.len()).map(slope).collect();
            expected.push(row(&|j| slopes[j]));
        }
        near(folder, &one, &expected, 1e-3);
        let best = optimise(30, 1.0);
        for (i, row) in best.iter().enumerate() {
            let (after, before) = (said(&model, i, &[(i, row.clone())]).1, said(&model, i, &[]).1);
            let word = TARGET[i] as usize;
            assert!(after[word] >= before[word] - 1e-5, "{folder}, word {i}: {} < {}", after[word], before[word]);
        }
    }
}

pub fn best(log_p: &[f32]) -> usize {
    (0..log_p.len()).fold(0, |best, k| if log_p[k] > log_p[best] { k } else { best })
}

/// What is found says the word, and a row just nearer to the model's own does not.
#[test]
fn a_small_change_of_a_row_makes_the_model_say_a_word() {
    let mut persuaded = 0;
    for folder in FOLDERS.iter().chain(&FOREIGN).filter(|folder| load(folder).config.aligns()) {
        let model = load(folder);
        let gradients = Gradients::new(&model).expect("a model");
        {
            let i = 2;
            let own = said(&model, i, &[]).1;
            let mut order: Vec<usize> = (0..own.len()).collect();
            order.sort_by(|a, b| own[*b].total_cmp(&own[*a]));
            let ask = |word: usize| {
                gradients
                    .persuade((SOURCE, &TARGET[..i]), &[], word as u32, &CancellationToken::forever())
                    .expect("it runs")
            };
            let first = ask(order[0]).expect("it says it anyway");
            assert!(first.moved.abs() < 1e-6, "{folder}: {first:?}");
            for &word in &order[1..3] {
                let Some(found) = ask(word) else { continue };
                persuaded += 1;
                let what = format!("{folder}, step {i}, word {word}: {found:?}");
                let log_p = said(&model, i, &[(i, found.alpha.clone())]).1;
                let far = log_p[best(&log_p)] - log_p[word];
                assert!(far < 1e-4 && (log_p[word] - found.log_p).abs() < 1e-4, "{what}");
                let moved: f32 = found.alpha.iter().zip(&first.alpha).map(|(a, b)| (a - b).abs()).sum();
                assert!((moved / 2.0 - found.moved).abs() < 1e-5 && found.moved > 0.0, "{what}");
                let nearer: Vec<f32> = found.alpha.iter().zip(&first.alpha).map(|(a, b)| b + (a - b) * 0.99).collect();
                assert_ne!(best(&said(&model, i, &[(i, nearer)]).1), word, "{what}");
            }
        }
    }
    assert!(persuaded >= 3, "only {persuaded} words could be had");
}

/// What is left out by hand, with the readable models.
#[test]
fn leaving_out_is_what_is_lost_by_hand() {
    for folder in FOLDERS.into_iter().chain(FOREIGN) {
        let model = load(folder);
        let readable = trainable(&model.config, &tensors(&model)).expect("a model");
        for kernels in [Kernels::Plain, Kernels::Fused] {
            let mut stepper = model.stepper(kernels, 2).expect("a stepper");
            let mut subject = Subject::new(&model, stepper.as_mut());
            let mut measure = |name: &str| {
                let one = importance(name).expect("a line of the table");
                one.measure(&mut subject, (SOURCE, TARGET), &CancellationToken::forever())
            };
            let whole = log_p(readable.as_ref(), SOURCE);
            let without = |j: usize| {
                let source: Vec<u32> =
                    SOURCE.iter().enumerate().map(|(k, &id)| if k == j { model.config.unk } else { id }).collect();
                log_p(readable.as_ref(), &source)
            };
            let without: Vec<Vec<f64>> = (0..SOURCE.len()).map(without).collect();
            let lost = |i: usize| without.iter().map(|without| whole[i] - without[i]).collect();
            let expected: Vec<Vec<f64>> = (0..TARGET.len()).map(lost).collect();
            near(&format!("{folder}, unknown"), &measure("unknown-word").expect("it is measured"), &expected, 1e-4);
            if !model.config.aligns() {
                let error = measure("leave-one-out").expect_err("no alignment").to_string();
                assert!(error.contains("choose a model that has one, or gradient or unknown-word"), "{error}");
                continue;
            }
            let alpha = measure("attention").expect("it is measured");
            let row = |i: usize| {
                let own = said(&model, i, &[]).1[TARGET[i] as usize];
                let lost = |j: usize| {
                    let (sum, left) = (alpha[i].iter().sum::<f32>(), alpha[i].iter().sum::<f32>() - alpha[i][j]);
                    let weight = |(k, a): (usize, &f32)| if k == j || left <= 0.0 { 0.0 } else { a * sum / left };
                    let row: Vec<f32> = alpha[i].iter().enumerate().map(weight).collect();
                    f64::from(own - said(&model, i, &[(i, row)]).1[TARGET[i] as usize])
                };
                (0..SOURCE.len()).map(lost).collect()
            };
            let expected: Vec<Vec<f64>> = (0..TARGET.len()).map(row).collect();
            near(&format!("{folder}, left out"), &measure("leave-one-out").expect("it is measured"), &expected, 1e-4);
        }
    }
}

#[test]
fn links_are_read_off_shares() {
    assert_eq!(shares(&[vec![1.0, -2.0, 3.0], vec![-1.0, 0.0, 0.0]]), [[0.25, 0.0, 0.75], [0.0; 3]]);
    let folder = tempfile::tempdir().expect("a directory");
    TINY.save(folder.path());
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("x", "one two three\ntwo\n");
    write("y", "un deux\ntrois\n");
    write("gold", "0-0 1-1\n0-0\n");
    let align = |more: &[&str]| {
        let all = ["align", "--model", "tiny", "--source", "x", "--target", "y"];
        run_in(folder.path(), &[&all, more].concat(), b"")
    };
    for one in IMPORTANCES {
        let outcome = align(&["--importance", one.name, "--format", "jsonl"]);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{}", one.name);
        let records: Vec<Value> =
            outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(records[0]["target"], serde_json::json!(["un", "deux", "</s>"]));
        let matrix: Vec<Vec<f32>> = serde_json::from_value(records[0]["matrix"].clone()).expect("rows");
        assert_eq!((matrix.len(), matrix[0].len()), (3, 4), "{}", one.name);
        let greatest = |row: &[f32]| best(&row[..3]);
        let expected: Vec<String> = (0..2)
            .filter(|i| matrix[*i][greatest(&matrix[*i])] > 0.0)
            .map(|i| format!("{}-{i}", greatest(&matrix[i])))
            .collect();
        let outcome = align(&["--importance", one.name]);
        assert_eq!(outcome.stdout.lines().next(), Some(expected.join(" ").as_str()), "{}", one.name);
    }
    let outcome = align(&["--importance", "charm"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("possible values: attention, gradient"), "{}", outcome.stderr);
    let evaluate = |format: &str| {
        let all = ["evaluate", "--model", "tiny", "--source", "x", "--target", "y", "--unk", "none", "--gold", "gold"];
        let more = ["--importance", "gradient", "--importance", "unknown-word", "--format", format];
        let outcome = run_in(folder.path(), &[&all[..], &more].concat(), b"");
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome.stdout
    };
    let json: Value = serde_json::from_str(&evaluate("json")).expect("JSON");
    let rows = &json["models"][0]["importances"];
    assert_eq!((&rows[0]["name"], &rows[1]["name"]), (&"gradient".into(), &"unknown-word".into()));
    assert!(rows[0]["aer"].is_number() && rows[0]["kendall_with_alpha"].is_number(), "{rows}");
    for format in ["table", "tsv"] {
        let text = evaluate(format);
        assert!(text.contains("gradient") && text.contains("diagonal"), "{text}");
    }
    // what else may matter stands in a column of its own, and so does tau
    let tsv = evaluate("tsv");
    let table: Vec<Vec<&str>> = tsv.lines().map(|line| line.split('\t').collect()).collect();
    let head = table.iter().position(|cells| cells.contains(&"importance")).expect("its table");
    let at = |name: &str| table[head].iter().position(|cell| *cell == name).expect("a column");
    let rows: Vec<&Vec<&str>> = table[head + 1..].iter().filter(|cells| cells[0] == "tiny").collect();
    let of = |name: &str| rows.iter().map(|cells| cells[at(name)]).collect::<Vec<_>>();
    assert!(table[head..].iter().all(|cells| cells.len() == table[head].len()), "{tsv}");
    assert_eq!(&of("importance")[rows.len() - 2..], ["gradient", "unknown-word"]);
    assert_eq!(of("reading")[0], "predicted");
    assert!(of("reading")[rows.len() - 2..].iter().all(|cell| *cell == "-"), "{tsv}");
    let tau = json["models"][0]["importances"][0]["kendall_with_alpha"].as_f64().expect("a number");
    assert_eq!(of("kendall_with_alpha")[rows.len() - 2], format!("{tau:.6}"));
    assert_eq!(of("kendall_with_alpha")[0], "-");
    // samples of nothing are refused, and not passed over
    for command in ["evaluate", "align"] {
        let gold = if command == "evaluate" { &["--gold", "gold"][..] } else { &[] };
        let all = [command, "--model", "tiny", "--source", "x", "--target", "y", "--samples", "3"];
        let outcome = run_in(folder.path(), &[&all[..], gold, &["--importance", "unknown-word"]].concat(), b"");
        let said = "--samples goes with --importance gradient alone";
        assert!(outcome.code == 2 && outcome.stderr.contains(said), "{command}: {}", outcome.stderr);
        let outcome = run_in(folder.path(), &[&all[..], gold, &["--importance", "gradient"]].concat(), b"");
        assert_eq!(outcome.code, 0, "{command}: {}", outcome.stderr);
    }
}
