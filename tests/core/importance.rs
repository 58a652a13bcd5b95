//! What matters besides alpha: gradients against differences of log p in f64 on every architecture, the rest against
//! a slow direct computation with the readable models.

use std::collections::HashMap;

use candle_core::{DType, Device as Candle, Tensor};
use interlinear::interventions::{Intervening, Intervention};
use interlinear::models::gradient::{Descent, Gradients, Smoothing, two_embeddings};
use interlinear::models::loss::{Trainable, trainable};
use interlinear::models::{Kernels, Model, Need, StepOutput, StepRow, Stepper as _};
use interlinear::{analysis::measures::MEASURES, decoding, decoding::importance::Subject};

use crate::forever;
use crate::models::{FOLDERS, FOREIGN, load};

pub const SOURCE: &[u32] = &[2, 9, 4, 7, 0];
pub const TARGET: &[u32] = &[5, 8, 3, 0];

fn tensors(model: &Model) -> HashMap<String, Tensor> {
    let tensor = |name: &str| {
        let tensor = model.weights.tensor(name, &Candle::Cpu).and_then(|tensor| Ok(tensor.to_dtype(DType::F64)?));
        (name.to_owned(), tensor.expect("a tensor"))
    };
    model.weights.names().map(tensor).collect()
}

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
        let found = gradients.times_input((SOURCE, TARGET), Smoothing::PLAIN, &forever()).expect("gradients");
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
        gradients.times_input((SOURCE, TARGET), Smoothing { samples, noise, seed }, &forever()).expect("it")
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

#[test]
fn alpha_is_optimised_along_its_gradient() {
    const STEP: f64 = 1e-2;
    for folder in FOLDERS.iter().chain(&FOREIGN).filter(|folder| load(folder).config.aligns()) {
        let model = load(folder);
        let gradients = Gradients::new(&model).expect("a model");
        let optimise =
            |steps, rate| gradients.optimised((SOURCE, TARGET), Descent { steps, rate }, &forever()).expect("rows");
        let (own, one) = (optimise(0, 1.0), optimise(1, 1.0));
        let mut stepper = model.stepper(Kernels::Plain, 1).expect("a stepper");
        let forced = decoding::force(stepper.as_mut(), &[(SOURCE, TARGET)], &forever()).expect("it scores");
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
                gradients.persuade((SOURCE, &TARGET[..i]), &[], word as u32, &forever()).expect("it runs")
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

#[test]
fn leaving_out_is_what_is_lost_by_hand() {
    for folder in FOLDERS.into_iter().chain(FOREIGN) {
        let model = load(folder);
        let readable = trainable(&model.config, &tensors(&model)).expect("a model");
        for kernels in [Kernels::Plain, Kernels::Fused] {
            let mut stepper = model.stepper(kernels, 2).expect("a stepper");
            let mut subject = Subject::new(&model, stepper.as_mut());
            let mut measure = |name: &str| {
                let place = MEASURES.iter().position(|line| line.name == name).expect("a line of the table");
                let tested =
                    interlinear::analysis::measures::measure(&mut subject, place, (SOURCE, TARGET), &forever())?;
                let rows = tested.measured.into_iter().find(|found| found.measure == place).expect("it was asked");
                interlinear::error::Result::Ok(rows.rows)
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
                assert!(error.contains("choose a model that has one"), "{error}");
                continue;
            }
            let forced = decoding::force(
                model.stepper(kernels, 2).expect("a stepper").as_mut(),
                &[(SOURCE, TARGET)],
                &forever(),
            );
            let alpha = forced.expect("it is forced").remove(0).alpha.expect("it aligns");
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
