//! The output layer that computes no more than is asked for: against plain sums in f64, against itself asked for every
//! word, and against the readable form, at every level of instructions.

use std::sync::Arc;

use interlinear::decoding::{SearchOptions, Specials, decode};
use interlinear::models::config::{Architecture, Config, LuongSizes, OwnSizes};
use interlinear::models::init::{InitScheme, initial_weights};
use interlinear::models::plain::{PlainStepper, answer_on_device};
use interlinear::models::{Asked, Need, StepOutput, StepRow, Stepper, fused};
use interlinear::nn::fused::screen::{IntegerLayer, Rounded, Sifted};
use interlinear::nn::fused::{Level, at_most, level, screen};
use interlinear::{attention::AttentionKind, models::checkpoint::Weights, models::folder::readable, models::need::top};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::forever;

fn levels() -> impl Iterator<Item = Level> {
    [Level::Base, Level::Avx2, Level::Avx512].into_iter().filter(|one| *one <= level())
}

struct Layer {
    what: &'static str,
    n: usize,
    k: usize,
    rows: usize,
    w: Vec<f32>,
    b: Vec<f32>,
    t: Vec<f32>,
    /// How far ln sum exp may be off.
    near: f64,
}

impl Layer {
    fn random(what: &'static str, (n, k, rows): (usize, usize, usize), seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut numbers = |count: usize| -> Vec<f32> { (0..count).map(|_| rng.random_range(-1.0..1.0)).collect() };
        Self { what, n, k, rows, w: numbers(n * k), b: numbers(n), t: numbers(rows * k), near: 3e-4 }
    }

    fn logits(&self, row: usize) -> Vec<f64> {
        let t = &self.t[row * self.k..(row + 1) * self.k];
        let dot = |w: &[f32]| w.iter().zip(t).map(|(w, t)| f64::from(*w) * f64::from(*t)).sum::<f64>();
        let bias = |v: usize| self.b.get(v).map_or(0.0, |b| f64::from(*b));
        (0..self.n).map(|v| dot(&self.w[v * self.k..(v + 1) * self.k]) + bias(v)).collect()
    }

    fn length(&self, row: usize, v: usize) -> f64 {
        let norm = |x: &[f32]| x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        norm(&self.w[v * self.k..(v + 1) * self.k]) * norm(&self.t[row * self.k..(row + 1) * self.k])
    }

    fn check(&self, threads: usize, count: usize) -> usize {
        let what = self.what;
        let screen = IntegerLayer::new(&self.w, &self.b, self.n, self.k).expect("ordinary numbers");
        let mut rounded = Rounded::default();
        assert!(screen.round(threads, self.rows, &self.t, &mut rounded), "{what}");
        let (mut sieves, mut sifted, mut most) = (Vec::new(), Sifted::default(), 0);
        let parts = screen.sift(threads, &rounded, count, &mut sieves);
        for row in 0..self.rows {
            screen::merge(&mut sieves, &rounded, parts, row, &mut sifted);
            let logits = self.logits(row);
            let greatest = logits.iter().fold(f64::NEG_INFINITY, |most, l| most.max(*l));
            let log_sum = greatest + logits.iter().map(|l| (l - greatest).exp()).sum::<f64>().ln();
            // what was kept counts as it is, as its caller has it
            let exact = |&(token, _): &(u32, f64)| (token, logits[token as usize] as f32);
            let found = sifted.log_sum(&sifted.words.iter().map(exact).collect::<Vec<_>>());
            assert!((found - log_sum).abs() < self.near + 1e-6 * log_sum.abs(), "{what}: {found} is not {log_sum}");
            let mut order: Vec<usize> = (0..self.n).collect();
            order.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]).then(a.cmp(&b)));
            for (place, &v) in order.iter().take(count).enumerate() {
                let found = sifted.words.iter().any(|&(token, _)| token as usize == v);
                assert!(found, "{what}, row {row}: word {v}, the best but {place}, was lost");
            }
            for &(token, l) in &sifted.words {
                let exact = logits[token as usize];
                assert!(
                    (l - exact).abs() <= 0.03 * self.length(row, token as usize) + 1e-6 * exact.abs(),
                    "{what}: word {token} is {l}, not {exact}"
                );
            }
            let mut tokens: Vec<u32> = sifted.words.iter().map(|word| word.0).collect();
            tokens.sort_unstable();
            tokens.dedup();
            assert_eq!(tokens.len(), sifted.words.len(), "{what}: a word is there twice");
            most = most.max(sifted.words.len());
        }
        most
    }
}

fn layers() -> Vec<Layer> {
    let sizes = [(1, 1, 1), (5, 3, 2), (31, 2, 13), (32, 7, 1), (33, 16, 12), (64, 33, 25), (700, 65, 5)];
    let mut layers: Vec<Layer> =
        sizes.into_iter().enumerate().map(|(i, sizes)| Layer::random("odd sizes", sizes, i as u64)).collect();
    let mut peaked = Layer::random("peaked", (300, 40, 6), 20);
    peaked.w.iter_mut().for_each(|w| *w *= 8.0);
    let mut late = Layer::random("the later the better", (900, 20, 3), 21);
    late.b = (0..900).map(|v| v as f32 * 0.3).collect();
    let mut forbidden = Layer::random("almost all forbidden", (500, 20, 3), 22);
    forbidden.b.iter_mut().enumerate().filter(|(v, _)| v % 100 != 7).for_each(|(_, b)| *b = -1e9);
    let mut tiny = Layer::random("next to nothing", (200, 10, 3), 24);
    tiny.w.iter_mut().for_each(|w| *w *= 1e-20);
    tiny.t[10..20].fill(0.0);
    let mut free = Layer::random("no bias", (100, 10, 3), 25);
    free.b.clear();
    layers.extend([peaked, late, forbidden, tiny, free]);
    layers
}

#[test]
fn the_best_words_pass_the_sieve_and_the_sum_is_right() {
    for level in levels() {
        at_most(level, || {
            for layer in layers() {
                for count in [1, 2, 5, 40] {
                    layer.check(1, count);
                }
            }
        });
    }
}

/// A twentieth of the words lie far in a direction that t is against: the others are as they would be without them.
#[test]
fn words_that_are_improbable_do_not_move_the_others() {
    let mut layer = Layer::random("a few far away", (6000, 64, 12), 34);
    let Layer { w, b, t, .. } = &mut layer;
    let far: Vec<f32> = t[..64].to_vec();
    w.iter_mut().for_each(|w| *w *= 0.4);
    for word in w.chunks_exact_mut(64).step_by(20) {
        word.iter_mut().zip(&far).for_each(|(w, far)| *w += 1.5 * far);
    }
    for row in t.chunks_exact_mut(64) {
        row.iter_mut().zip(&far).for_each(|(t, far)| *t = 0.3 * *t - 0.5 * far);
    }
    b.fill(0.0);
    layer.near = 2.5e-3;
    layer.check(1, 5);
}

#[test]
fn threads_share_the_words() {
    let layer = Layer::random("two parts", (9001, 190, 14), 30);
    let (one, two) = (layer.check(1, 6), layer.check(2, 6));
    assert!(one == two && one < 1500, "the probable words are kept, whoever looks at them: {one}, {two}");
}

#[test]
fn equals_are_all_kept() {
    let mut flat = Layer::random("flat", (400, 12, 2), 31);
    let first = flat.w[..12].to_vec();
    flat.w = first.repeat(400);
    flat.b.fill(0.25);
    assert_eq!(flat.check(1, 3), 400);
}

#[test]
fn the_best_of_nothing_but_zeros_are_kept() {
    for flat in [true, false] {
        let mut layer = Layer::random("zeros", (400, 12, 2), 33);
        layer.t.fill(0.0);
        layer.b = (0..400).map(|v| if flat { 0.0 } else { -((v / 5) as f32) }).collect();
        assert!(layer.check(1, 3) >= 3);
    }
}

#[test]
fn rows_that_would_lose_too_much_are_refused() {
    let mut layer = Layer::random("one number of many counts", (200, 50, 3), 23);
    layer.w.chunks_mut(50).for_each(|w| w[9] *= 1e4);
    layer.t.chunks_mut(50).for_each(|t| t[9] *= 1e-4);
    let screen = IntegerLayer::new(&layer.w, &layer.b, 200, 50).expect("ordinary numbers");
    assert!(!screen.round(1, 3, &layer.t, &mut Rounded::default()));
}

#[test]
fn numbers_that_may_overflow_are_refused() {
    let layer = Layer::random("", (40, 4, 2), 32);
    for broken in [f32::NAN, f32::INFINITY, 1e30] {
        let mut w = layer.w.clone();
        w[17] = broken;
        assert!(IntegerLayer::new(&w, &layer.b, 40, 4).is_none(), "{broken} among the weights");
        let mut t = layer.t.clone();
        t[5] = broken;
        let screen = IntegerLayer::new(&layer.w, &layer.b, 40, 4).expect("ordinary numbers");
        assert!(!screen.round(1, 2, &t, &mut Rounded::default()), "{broken} among the inputs");
    }
    let mut b = layer.b.clone();
    b[3] = f32::NAN;
    assert!(IntegerLayer::new(&layer.w, &b, 40, 4).is_none());
}

/// So many that the output layers are sifted, but for the one of low rank.
const WORDS: usize = 11_000;

fn config(architecture: Architecture, output_rank: Option<usize>) -> Config {
    let luong = LuongSizes {
        layers: 1,
        attention: AttentionKind::Global,
        score: "dot".to_owned(),
        input_feeding: false,
        reverse_source: false,
        window: 0,
        max_source: 0,
        start: 3,
    };
    Config {
        name: "many words".to_owned(),
        source_language: "en".to_owned(),
        target_language: "fr".to_owned(),
        source_vocabulary: 9,
        target_vocabulary: WORDS,
        embedding: 5,
        maxout: if architecture == Architecture::LUONG { 0 } else { 6 },
        alignment: if architecture == Architecture::RNN_SEARCH { 5 } else { 0 },
        output_rank,
        own: if architecture == Architecture::LUONG { luong.into() } else { OwnSizes::None },
        ..Config::bare(architecture, 7)
    }
}

fn configs() -> Vec<Config> {
    vec![
        config(Architecture::RNN_SEARCH, None),
        config(Architecture::RNN_ENC_DEC, None),
        config(Architecture::RNN_ENC_DEC, Some(3)),
        config(Architecture::LUONG, None),
    ]
}

fn weights(config: &Config, seed: u64) -> Weights {
    let mut weights = initial_weights(config, InitScheme::Scaled, seed);
    for (name, array) in weights.iter_mut() {
        array.data.iter_mut().enumerate().for_each(|(i, x)| *x = 2.0 * *x + 0.1 * (i as f32 + 1.0).sin());
        if array.shape.first() == Some(&WORDS) && name != "target_embedding" {
            let width = array.data.len() / WORDS;
            array.data.copy_within(20 * width..40 * width, 100 * width);
        }
    }
    weights
}

fn first(sentences: usize) -> Vec<StepRow> {
    (0..sentences).map(|sentence| StepRow { sentence, parent: 0, y_prev: None }).collect()
}

fn step(stepper: &mut dyn Stepper, need: &Need<'_>) -> StepOutput {
    let mut output = StepOutput::default();
    stepper.begin(&[&[2, 5, 0], &[7, 0]]).expect("encodes");
    stepper.step(&first(2), need, &mut output).expect("steps");
    output
}

/// How far log p may be from the exact one: with six inputs, what is rounded off hardly evens out.
const NEAR: f32 = 2e-3;

#[track_caller]
fn assert_near(what: &str, found: &[(u32, f32)], all: &[f32], count: usize) {
    let expected = top(all, count);
    assert_eq!(found.len(), expected.len(), "{what}");
    for (place, (&(token, log_p), expected)) in found.iter().zip(&expected).enumerate() {
        assert!((log_p - expected.1).abs() < NEAR, "{what}, place {place}: {log_p} is not {}", expected.1);
        // words may change places only where rounding decides
        assert!((all[token as usize] - expected.1).abs() < 1e-5, "{what}, place {place}: word {token}");
        let twin = found[place + 1..].iter().find(|other| other.1.to_bits() == log_p.to_bits());
        assert!(twin.is_none_or(|twin| twin.0 > token), "{what}: of equals the lower id comes first");
    }
}

#[test]
fn what_is_asked_for_is_what_every_word_would_have_said() {
    for (seed, config) in (1..).zip(configs()) {
        let weights = Arc::new(weights(&config, seed));
        let mut plain = PlainStepper::new(readable(&config, &weights, &candle_core::Device::Cpu).expect("a model"));
        let reference = step(&mut plain, &Need::all());
        let words: Vec<Asked> =
            [(1, 3), (0, 149), (0, 3), (1, WORDS as u32)].map(|(row, token)| Asked { row, token }).into();
        for level in levels() {
            let mut kernels = fused::stepper(&config, &weights, 1).expect("a stepper");
            for engine in [kernels.as_mut(), &mut plain] {
                at_most(level, || {
                    let what = format!("{:?}, rank {:?}, {level:?}", config.architecture, config.output_rank);
                    let all = step(engine, &Need::all());
                    assert!(all.best.is_empty() && all.words.is_empty(), "{what}");
                    for (a, b) in all.log_p.iter().zip(&reference.log_p) {
                        assert!((a - b).abs() < 1e-5_f32.max(1e-6 * b.abs()), "{what}: {a} is not {b}");
                    }
                    for best in [1, 2, 7, 60, WORDS - 1, WORDS, WORDS + 1, usize::MAX] {
                        let output = step(engine, &Need { best, words: &words, every: false });
                        assert!(output.log_p.is_empty(), "{what}");
                        for row in 0..2 {
                            assert_near(&what, output.best_row(row), all.log_p_row(row), best);
                        }
                        for (asked, found) in words.iter().zip(&output.words) {
                            match all.log_p_row(asked.row).get(asked.token as usize) {
                                Some(expected) => {
                                    assert!((found - expected).abs() < NEAR, "{what}: {found}, {expected}");
                                }
                                None => assert!(found.is_nan(), "{what}: no such word"),
                            }
                        }
                    }
                    let both = step(engine, &Need { every: true, best: 3, words: &words });
                    assert!(both.log_p == all.log_p && both.best_row(1) == top(all.log_p_row(1), 3), "{what}");
                });
            }
        }
    }
}

#[test]
fn damaged_weights_end_in_a_sentence() {
    for config in configs() {
        for broken in [f32::NAN, f32::INFINITY] {
            for name in ["readout.W_o", "readout.G", "readout.G_l", "W_s", "target_embedding", "source_embedding"] {
                let mut weights = weights(&config, 3);
                let Ok(array) = weights.get(name) else { continue };
                let mut array = array.clone();
                array.data.fill(broken);
                weights.insert(name, array);
                let mut stepper = fused::stepper(&config, &Arc::new(weights), 1).expect("a stepper");
                let (specials, options) = (
                    Specials { eos: 0, unk: 1, bars_unk: false },
                    SearchOptions { beam: 3, ..SearchOptions::default() },
                );
                let sources: [&[u32]; 2] = [&[2, 3, 0], &[4, 0]];
                let error = decode(stepper.as_mut(), specials, &sources, &options, &forever(), &mut |_, _| {});
                let Err(error) = error else { continue };
                let sentence = error.to_string();
                assert!(sentence.contains("gives no word a probability"), "{name} = {broken}: {sentence}");
            }
        }
    }
}

#[test]
fn a_device_picks_the_same_words_as_the_host() {
    let mut rng = ChaCha8Rng::seed_from_u64(50);
    let (rows, vocabulary) = (6, 37);
    let mut log_p: Vec<f32> = (0..rows * vocabulary).map(|_| -f32::from(rng.random_range(1..9u8)) / 2.0).collect();
    log_p[2 * vocabulary..3 * vocabulary].fill(f32::NAN);
    log_p[3 * vocabulary..4 * vocabulary - 2].fill(f32::NEG_INFINITY);
    log_p[4 * vocabulary + 5] = f32::NAN;
    let tensor = candle_core::Tensor::from_slice(&log_p, (rows, vocabulary), &candle_core::Device::Cpu);
    let tensor = tensor.expect("it fits");
    let words: Vec<Asked> = (0..rows).map(|row| Asked { row, token: 7 * row as u32 + 4 }).collect();
    for best in [0, 1, 3, 37, 40] {
        for words in [&words[..], &[]] {
            let need = Need { best, words, every: false };
            let mut host = StepOutput { rows, vocabulary, log_p: log_p.clone(), ..StepOutput::default() };
            let mut device = StepOutput { rows, vocabulary, ..StepOutput::default() };
            host.answer(&need);
            answer_on_device(&tensor, &need, &mut device).expect("the CPU does all of it");
            assert_eq!((&device.best, &device.best_ends), (&host.best, &host.best_ends), "{best} words");
            let bits = |words: &[f32]| words.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&device.words), bits(&host.words));
        }
    }
}
