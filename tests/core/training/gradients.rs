//! The hand-written gradients against candle's autograd and against differences of the readable models' loss in f64.

use std::collections::HashMap;

use candle_core::{Device, Tensor};
use interlinear::models::loss::{Regularizer, trainable};
use interlinear::nn::fused::{Level, Precision};
use interlinear::training::card::model::has_large_nodes;
use interlinear::training::fused::{BatchLoss, Fused, StepOptions};
use interlinear::training::minibatch::{GuidedLink, Minibatch};
use interlinear::training::{layout::ParameterLayout, plain, plain::PlainEngine, settings::OptimizerSettings};
use interlinear::{models::config::Config, nn::fused};

use super::{Ids, SOURCE, TARGET, plainly, waves, wirings};

const BATCHES: &[(&str, Ids, Ids)] = &[
    ("lengths unlike on both sides", SOURCE, TARGET),
    ("one pair", &[&[3, 3, 0]], &[&[2, 2, 5, 0]]),
    ("only ends of sentences", &[&[0], &[0]], &[&[0], &[0]]),
    ("short and long", &[&[0], &[4, 1, 1, 8, 0], &[9, 0]], &[&[6, 0], &[0], &[1, 12, 1, 3, 7, 5, 0]]),
    ("equal lengths", &[&[2, 3, 0], &[4, 5, 0]], &[&[2, 0], &[3, 0]]),
];

fn engine(config: &Config, threads: usize) -> Fused {
    Fused::new(config, threads).expect("it has kernels")
}

fn pairs() -> Minibatch<'static> {
    Minibatch::new(SOURCE, TARGET)
}

fn waved(config: &Config) -> (ParameterLayout, Vec<f32>) {
    let layout = ParameterLayout::new(config);
    let flat = waves(&layout);
    (layout, flat)
}

fn gradient(engine: &mut Fused, flat: &[f32], batch: Minibatch<'_>, options: StepOptions) -> (BatchLoss, Vec<f32>) {
    let loss = engine.step(flat, batch, Some(options));
    let mut total = vec![0.0; flat.len()];
    for shard in engine.gradients() {
        total.iter_mut().zip(shard.iter()).for_each(|(t, g)| *t += g);
        shard.fill(0.0);
    }
    (loss, total)
}

#[track_caller]
fn assert_same(layout: &ParameterLayout, found: &[f32], expected: &[f32], what: &str) {
    for entry in layout.entries() {
        let (found, expected) = (&found[entry.range()], &expected[entry.range()]);
        let norm = expected.iter().map(|x| x * x).sum::<f32>().sqrt();
        let error = found.iter().zip(expected).map(|(f, e)| (f - e).powi(2)).sum::<f32>().sqrt();
        assert!(error <= 1e-4 * norm + 1e-7, "{what}: gradient of {} of norm {norm} is off by {error}", entry.name);
    }
}

#[test]
fn fused_gradients_are_those_of_autograd() {
    for (wiring, config) in wirings() {
        let (layout, flat) = waved(&config);
        let plain = PlainEngine::new(&config, &flat, &OptimizerSettings::default(), &Device::Cpu).expect("an engine");
        for (index, &(name, source, target)) in BATCHES.iter().enumerate() {
            let options = plainly(source.len(), if index % 2 == 0 { 0.1 } else { 0.0 });
            let (plain_loss, expected) = plain.gradient(Minibatch::new(source, target), options).expect("a gradient");
            for threads in 1..=3 {
                let what = format!("{wiring}, {name}, {threads} threads");
                let batch = Minibatch::new(source, target);
                let (loss, found) = gradient(&mut engine(&config, threads), &flat, batch, options);
                assert_same(&layout, &found, &expected, &what);
                assert_eq!(loss.words, plain_loss.words, "{what}");
                for (found, expected) in [(loss.nll, plain_loss.nll), (loss.smoothed, plain_loss.smoothed)] {
                    assert!((found - expected).abs() <= 1e-5 * expected.abs(), "{what}: loss {found}, not {expected}");
                }
            }
        }
    }
}

#[test]
fn gradients_by_hand_are_those_of_autograd() {
    let settings = OptimizerSettings::default();
    let with_large_nodes: Vec<_> = wirings().into_iter().filter(|(_, config)| has_large_nodes(config)).collect();
    assert_eq!(with_large_nodes.len(), 7, "RNNsearch, RNNencdec and five of Luong's");
    for (wiring, config) in with_large_nodes {
        let (layout, flat) = waved(&config);
        let by_hand = PlainEngine::by_hand(&config, &flat, &settings, &Device::Cpu).expect("an engine");
        let plain = PlainEngine::new(&config, &flat, &settings, &Device::Cpu).expect("an engine");
        let unguided = BATCHES.iter().map(|&(name, source, target)| (name, Minibatch::new(source, target)));
        for (name, batch) in unguided.chain([("guided", pairs().guided(LINKED))]) {
            for dropout in [0.0, 0.3] {
                let options = StepOptions { dropout, guide: 1.5, seed: 7, ..plainly(batch.len(), dropout / 3.0) };
                let (plain_loss, expected) = plain.gradient(batch, options).expect("a gradient");
                let (loss, found) = by_hand.gradient(batch, options).expect("a gradient");
                let what = format!("{wiring}, {name}, dropout {dropout}");
                let pairs =
                    [(loss.nll, plain_loss.nll), (loss.smoothed, plain_loss.smoothed), (loss.guide, plain_loss.guide)];
                for (found, expected) in pairs {
                    assert!((found - expected).abs() <= 1e-5 * expected.abs(), "{what}: {found}, not {expected}");
                }
                assert_same(&layout, &found, &expected, &what);
                assert_eq!((loss.words, loss.guided), (plain_loss.words, plain_loss.guided), "{what}");
            }
        }
    }
}

#[test]
fn every_level_of_instructions_gives_the_same_gradient() {
    // a pool of one thread: the shard runs where the level is set
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    for (wiring, config) in wirings() {
        let (layout, flat) = waved(&config);
        let at = |level| {
            let step = || gradient(&mut engine(&config, 1), &flat, pairs(), plainly(4, 0.1)).1;
            pool.install(|| fused::at_most(level, step))
        };
        let base = at(Level::Base);
        for level in [Level::Avx2, Level::Avx512] {
            assert_same(&layout, &at(level), &base, &format!("{wiring} at {level:?}"));
        }
    }
}

const LINKED: &[&[GuidedLink]] = &[
    &[link(0, 0), link(0, 1), link(1, 3)],
    &[link(0, 0), link(3, 0), link(5, 1)],
    &[],
    &[link(2, 2), link(2, 1), link(3, 3)],
];

const fn link(i: u16, j: u16) -> GuidedLink {
    GuidedLink { i, j }
}

fn aligning() -> impl Iterator<Item = (String, Config)> {
    wirings().into_iter().filter(|(_, config)| config.aligns())
}

#[test]
fn guided_gradients_are_those_of_autograd() {
    let batch = pairs().guided(LINKED);
    for (wiring, config) in aligning() {
        let (layout, flat) = waved(&config);
        let plain = PlainEngine::new(&config, &flat, &OptimizerSettings::default(), &Device::Cpu).expect("an engine");
        let options = StepOptions { guide: 1.5, ..plainly(4, 0.1) };
        let (plain_loss, expected) = plain.gradient(batch, options).expect("a gradient");
        let unguided = plain.gradient(batch, plainly(4, 0.1)).expect("a gradient").1;
        assert_ne!(expected, unguided, "{wiring}: the cost has a gradient");
        for threads in 1..=3 {
            let what = format!("{wiring}, {threads} threads");
            let (loss, found) = gradient(&mut engine(&config, threads), &flat, batch, options);
            assert_same(&layout, &found, &expected, &what);
            assert_eq!((loss.words, loss.guided), (plain_loss.words, plain_loss.guided), "{what}");
            assert!(loss.guided > 2 && loss.guide > 0.0, "{what}");
            for (found, expected) in [(loss.guide, plain_loss.guide), (loss.smoothed, plain_loss.smoothed)] {
                assert!((found - expected).abs() <= 1e-5 * expected.abs(), "{what}: {found}, not {expected}");
            }
        }
        let mut engine = engine(&config, 2);
        let off = gradient(&mut engine, &flat, batch, plainly(4, 0.1)).1;
        let never = gradient(&mut engine, &flat, pairs(), plainly(4, 0.1)).1;
        assert_eq!(off, never, "{wiring}: without a weight nothing is added");
    }
}

#[test]
fn guided_gradients_are_differences_of_the_loss() {
    let options = StepOptions { guide: 2.0, ..plainly(4, 0.0) };
    // tensors on the way from alpha to the weights
    are_differences(aligning(), pairs().guided(LINKED), options, |name, length| {
        if name.starts_with("readout") { vec![] } else { vec![length / 2] }
    });
}

#[test]
fn gradients_are_differences_of_the_loss() {
    // the first and last of each tensor and one between; embeddings of words that do occur
    are_differences(wirings().into_iter(), pairs(), plainly(4, 0.1), |_, length| vec![0, length / 2, length - 1]);
}

fn are_differences(
    wirings: impl Iterator<Item = (String, Config)>, batch: Minibatch<'_>, options: StepOptions,
    places: fn(&str, usize) -> Vec<usize>,
) {
    const STEP: f64 = 1e-5;
    let shallow = |config: &Config| config.luong().is_none_or(|luong| luong.layers == 1);
    for (wiring, config) in wirings.filter(|(_, config)| shallow(config)) {
        let (layout, flat) = waved(&config);
        let found = gradient(&mut engine(&config, 2), &flat, batch, options).1;
        let mut exact: Vec<f64> = flat.iter().map(|x| f64::from(*x)).collect();
        for entry in layout.entries() {
            for k in places(&entry.name, entry.len()) {
                let at = entry.offset + k;
                let here = exact[at];
                let mut loss = |x| {
                    exact[at] = x;
                    exact_loss(&config, &layout, &exact, batch, options)
                };
                let difference = (loss(here + STEP) - loss(here - STEP)) / (2.0 * STEP);
                exact[at] = here;
                let error = (f64::from(found[at]) - difference).abs();
                assert!(
                    error <= 1e-4 * difference.abs().max(0.01),
                    "{wiring}: {} [{k}]: {} not {difference}",
                    entry.name,
                    found[at]
                );
            }
        }
    }
}

/// Each tensor's gradient is off by a part of its norm: factors are off by 2^-9, and errors add up along a sentence.
#[test]
fn gradients_with_bf16_factors_are_within_two_in_a_hundred() {
    for (wiring, config) in wirings() {
        let (layout, flat) = waved(&config);
        for threads in 1..=2 {
            let at = |precision| {
                let mut engine = engine(&config, threads).with_precision(precision);
                let step = gradient(&mut engine, &flat, pairs(), plainly(4, 0.1));
                (step, engine.step(&flat, pairs(), None))
            };
            let ((exact_loss, exact), measured) = at(Precision::F32);
            let ((loss, rounded), measured_too) = at(Precision::Bf16);
            assert_eq!(measured, measured_too, "{wiring}: what is only measured is exact");
            assert!((loss.nll - exact_loss.nll).abs() <= 5e-3 * exact_loss.nll, "{wiring}: {loss:?}, {exact_loss:?}");
            assert_eq!(exact == rounded, Precision::Bf16.here() == Precision::F32, "{wiring}");
            for entry in layout.entries() {
                let (exact, rounded) = (&exact[entry.range()], &rounded[entry.range()]);
                let norm = exact.iter().map(|x| x * x).sum::<f32>().sqrt();
                let error = exact.iter().zip(rounded).map(|(e, r)| (e - r).powi(2)).sum::<f32>().sqrt();
                assert!(error <= 0.02 * norm, "{wiring}, {}: norm {norm}, off by {error}", entry.name);
            }
        }
    }
}

fn norm(x: &[f32]) -> f64 {
    x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn a_sample_of_all_words_gives_the_exact_gradient() {
    for (wiring, config) in wirings() {
        let (layout, flat) = waved(&config);
        for precision in [Precision::F32, Precision::Bf16] {
            let at = |sample| {
                let mut engine = engine(&config, 2).with_precision(precision).with_sample(sample);
                gradient(&mut engine, &flat, pairs(), plainly(4, 0.0))
            };
            let (exact, sampled) = (at(None), at(Some(1000)));
            assert!((exact.0.nll - sampled.0.nll).abs() <= 1e-6 * exact.0.nll, "{wiring}");
            assert_same(&layout, &sampled.1, &exact.1, &format!("{wiring}, {precision:?}"));
        }
    }
}

#[test]
fn the_mean_gradient_of_many_samples_comes_near_the_exact_one() {
    const DRAWS: u64 = 600;
    const PAIR: (Ids, Ids) = (&[&[3, 3, 0]], &[&[2, 2, 5, 0]]);
    let pair = Minibatch::new(PAIR.0, PAIR.1);
    let (wiring, config) = wirings().swap_remove(0);
    let flat = waves(&ParameterLayout::new(&config));
    let exact = gradient(&mut engine(&config, 1), &flat, pair, plainly(1, 0.0)).1;
    let mean = |drawn| {
        let mut engine = engine(&config, 1).with_sample(Some(drawn));
        let mut mean = vec![0.0; flat.len()];
        for seed in 0..DRAWS {
            let one = gradient(&mut engine, &flat, pair, StepOptions { seed, ..plainly(1, 0.0) }).1;
            mean.iter_mut().zip(&one).for_each(|(mean, one)| *mean += one / DRAWS as f32);
        }
        let off: Vec<f32> = mean.iter().zip(&exact).map(|(mean, exact)| mean - exact).collect();
        norm(&off) / norm(&exact)
    };
    // what is left is the bias of a logarithm of a mean and the spread of so many draws; both fall with the sample
    let (few, more) = (mean(2), mean(6));
    assert!(few <= 0.15 && more <= 0.05 && more < few, "{wiring}: off by {few} and {more} of the norm");
}

fn exact_loss(
    config: &Config, layout: &ParameterLayout, flat: &[f64], batch: Minibatch<'_>, options: StepOptions,
) -> f64 {
    let tensors: HashMap<String, Tensor> = layout
        .entries()
        .iter()
        .map(|entry| {
            let tensor = Tensor::from_slice(&flat[entry.range()], entry.shape.as_slice(), &Device::Cpu);
            (entry.name.clone(), tensor.expect("a tensor"))
        })
        .collect();
    let model = trainable(config, &tensors).expect("a model");
    let mut regularizer = Regularizer::new(0.0, f64::from(options.smoothing), 0);
    let links = plain::looks(batch, &Device::Cpu).expect("a tensor");
    let loss = model.guided_loss(batch.source, batch.target, links.as_ref(), &mut regularizer).expect("a loss");
    let number = |tensor: &Tensor| tensor.to_scalar::<f64>().expect("a number");
    let guide = loss.guide.as_ref().map_or(0.0, |(cost, _)| number(cost));
    f64::from(options.scale) * (number(&loss.objective) + f64::from(options.guide) * guide)
}

#[test]
fn with_dropout_the_gradient_is_that_of_the_masked_loss() {
    for ((wiring, config), threads) in wirings().into_iter().zip([1, 2, 3].into_iter().cycle()) {
        let flat = waves(&ParameterLayout::new(&config));
        let options = StepOptions { dropout: 0.3, ..plainly(4, 0.1) };
        let mut engine = engine(&config, threads);
        let (loss, direction) = gradient(&mut engine, &flat, pairs(), options);
        let again = gradient(&mut engine, &flat, pairs(), options);
        assert_eq!((loss, &direction), (again.0, &again.1), "the same seed gives the same masks and numbers");
        let other = gradient(&mut engine, &flat, pairs(), StepOptions { seed: 2, ..options });
        assert_ne!(loss, other.0, "another seed drops others");
        // along the gradient g the loss changes by |g|^2 a unit
        let squared: f64 = direction.iter().map(|g| f64::from(*g).powi(2)).sum();
        let step = 1e-3 / squared.sqrt();
        let mut at = |by: f64| {
            let moved: Vec<f32> = flat.iter().zip(&direction).map(|(x, g)| x + (by * f64::from(*g)) as f32).collect();
            f64::from(options.scale) * gradient(&mut engine, &moved, pairs(), options).0.smoothed
        };
        let slope = (at(step) - at(-step)) / (2.0 * step);
        assert!((slope / squared - 1.0).abs() < 0.01, "{wiring}: slope {slope}, |g|^2 {squared}");
    }
}

#[test]
fn gradients_add_up_and_measuring_makes_none() {
    let (_, config) = wirings().swap_remove(0);
    let flat = waves(&ParameterLayout::new(&config));
    let options = plainly(4, 0.0);
    let mut engine = engine(&config, 1);
    let (loss, once) = gradient(&mut engine, &flat, pairs(), options);
    engine.step(&flat, pairs(), Some(options));
    engine.step(&flat, pairs(), Some(options));
    let twice = engine.gradients()[0].clone();
    assert!(twice.iter().zip(&once).all(|(t, o)| (t - 2.0 * o).abs() <= 1e-5), "two steps leave the sum");
    let measured = engine.step(&flat, pairs(), None);
    assert_eq!(measured, loss, "the loss without an update is the same");
    assert_eq!(engine.gradients()[0], twice, "and leaves the gradient alone");
}
