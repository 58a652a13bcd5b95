//! The recurrent models of other toolkits (Nematus, OpenNMT): the fused forms against the readable ones, over
//! what people's models have and sizes drawn at random.

use std::{collections::HashSet, sync::Arc};

use candle_core::{DType, Device as Candle, Tensor};
use interlinear::decoding::{Decoded, Hypothesis, SearchOptions, Specials, decode, force};
use interlinear::models::config::{Architecture, Config};
use interlinear::models::init::{InitScheme, initial_weights};
use interlinear::models::nematus::sizes::{EncoderKind, NematusNorm, NematusSizes, NematusUnit};
use interlinear::models::opennmt::sizes::{AttentionalMix, DecoderStart, OpenNmtSizes};
use interlinear::models::{Need, StepOutput, StepRow, Stepper, folder, fused, shapes};
use interlinear::models::{anatomy::anatomy_of, checkpoint::Weights, loss::trainable, plain::PlainStepper};
use interlinear::{host::words::decode_all, models::anatomy::Miswiring};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::models::{tiny, variables};
use crate::{anatomy::check_drawing, forever};

const SPECIALS: Specials = Specials { eos: 0, unk: 1, bars_unk: false };
const SOURCES: &[&[u32]] = &[&[4, 2, 5, 0], &[3, 0], &[6, 6, 2, 7, 3, 0], &[5, 0], &[2, 3, 4, 5, 6, 7, 0], &[7, 2, 0]];

fn sized(name: &str, architecture: Architecture, rng: &mut ChaCha8Rng) -> Config {
    let mut size = |from: usize, to: usize| rng.random_range(from..to);
    Config {
        name: name.to_owned(),
        source_vocabulary: size(9, 20),
        target_vocabulary: size(40, 60),
        embedding: size(3, 40),
        hidden: 2 * size(2, 20),
        maxout: size(2, 20),
        alignment: size(2, 20),
        ..tiny(architecture, None)
    }
}

type NematusKind = (&'static str, EncoderKind, [NematusUnit; 2], [usize; 5], NematusNorm, bool);

fn nematus(rng: &mut ChaCha8Rng) -> Vec<Config> {
    use EncoderKind::{Alternating, Bidirectional, Topped};
    use NematusUnit::{Gru, GruCudnn, GruNematus, Lstm};
    let kinds: [NematusKind; 7] = [
        ("amun", Bidirectional, [Gru, Gru], [1, 1, 1, 2, 1], NematusNorm::None, false),
        ("deep", Bidirectional, [GruNematus, GruNematus], [3, 2, 3, 4, 2], NematusNorm::None, true),
        ("normed", Alternating, [GruNematus, GruNematus], [3, 2, 2, 3, 2], NematusNorm::Nematus, true),
        ("marian", Topped, [Gru, Gru], [3, 2, 2, 4, 2], NematusNorm::Marian, false),
        ("topped", Topped, [Gru, Lstm], [3, 1, 2, 2, 1], NematusNorm::None, true),
        ("lstm", Bidirectional, [Lstm, Lstm], [2, 2, 3, 3, 2], NematusNorm::Marian, false),
        ("cudnn", Alternating, [GruCudnn, GruCudnn], [2, 1, 2, 1, 1], NematusNorm::None, false),
    ];
    let config = |(k, (name, encoder, units, depths, norm, skip)): (usize, NematusKind)| {
        let [encoder_layers, encoder_cells, decoder_layers, base_cells, high_cells] = depths;
        let sizes = NematusSizes {
            encoder,
            encoder_unit: units[0],
            decoder_unit: units[1],
            encoder_layers,
            encoder_cells,
            decoder_layers,
            base_cells,
            high_cells,
            skip,
            norm,
            shared_embedding: k % 4 == 2,
            tied_output: k % 2 == 0,
        };
        let config = sized(name, Architecture::NEMATUS, rng);
        let target = if sizes.shared_embedding { config.source_vocabulary } else { config.target_vocabulary };
        Config { maxout: 0, alignment: 0, target_vocabulary: target, own: sizes.into(), ..config }
    };
    kinds.into_iter().enumerate().map(config).collect()
}

fn opennmt(rng: &mut ChaCha8Rng) -> Vec<Config> {
    use DecoderStart::{Bridge, Layers, Top, Zeros};
    use NematusUnit::{GruCudnn, Lstm};
    let kinds = [
        ("onmt", Lstm, true, Layers, "general", AttentionalMix::Tanh, true),
        ("one-way", GruCudnn, false, Layers, "dot", AttentionalMix::Tanh, true),
        ("mlp", GruCudnn, true, Layers, "additive", AttentionalMix::Linear, false),
        ("joey", Lstm, true, Bridge, "additive", AttentionalMix::Tanh, true),
        ("joey-last", GruCudnn, true, Top, "general", AttentionalMix::Tanh, true),
        ("joey-zero", Lstm, false, Zeros, "general", AttentionalMix::Tanh, false),
    ];
    let config =
        |(k, (name, unit, both, start_state, score, mixing, feeding)): (usize, (&str, _, _, _, &str, _, _))| {
            let config = sized(name, Architecture::OPENNMT, rng);
            let n = config.hidden;
            let sizes = OpenNmtSizes {
                both_directions: both,
                unit,
                encoder_hidden: match (start_state, both) {
                    (DecoderStart::Layers, true) => n / 2,
                    (DecoderStart::Layers | DecoderStart::Top, _) => n,
                    _ => n + 3,
                },
                encoder_layers: 2,
                decoder_layers: if start_state == DecoderStart::Layers { 2 } else { 3 },
                start_state,
                score: score.to_owned(),
                mixing,
                input_feeding: feeding,
                shared_embedding: k == 3,
                tied_output: k == 1,
                start: 3,
            };
            let (m, k_y) = (if k == 1 { n } else { config.embedding }, config.target_vocabulary);
            let k_y = if k == 3 { config.source_vocabulary } else { k_y };
            assert_eq!(sizes.misfit(m, n), None);
            Config { maxout: 0, alignment: 0, embedding: m, target_vocabulary: k_y, own: sizes.into(), ..config }
        };
    kinds.into_iter().enumerate().map(config).collect()
}

pub fn configs(seed: u64) -> Vec<Config> {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    [nematus(rng), opennmt(rng)].concat()
}

pub fn weights(config: &Config, seed: u64) -> Arc<Weights> {
    let mut weights = initial_weights(config, InitScheme::Uniform, seed);
    for (name, array) in weights.iter_mut() {
        let is_gain = name.contains("norm.g");
        let (scale, shift) = if is_gain { (1.0, 1.0) } else { (4.0, 0.0) };
        array.data.iter_mut().for_each(|x| *x = *x * scale + shift);
    }
    Arc::new(weights)
}

pub fn plain(config: &Config, weights: &Weights) -> PlainStepper {
    PlainStepper::new(folder::readable(config, weights, &Candle::Cpu).expect("the readable form"))
}

pub fn quick(config: &Config, weights: &Arc<Weights>) -> Box<dyn Stepper> {
    fused::stepper(config, weights, 2).expect("the fused form")
}

#[track_caller]
fn near(what: &str, found: &[f32], expected: &[f32], most: f32) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= most, "{what} [{k}]: {a} is not {b}");
    }
}

const LOG_P: f32 = 1e-5;
const ALPHA: f32 = 1e-6;

fn apart(config: &Config) -> f32 {
    if config.nematus().is_some_and(|sizes| sizes.norm != NematusNorm::None) { 10.0 } else { 1.0 }
}

fn same_step(what: &str, steppers: &mut [&mut dyn Stepper; 2], rows: &[StepRow], (turns, apart): (bool, f32)) {
    let mut outputs = [StepOutput::default(), StepOutput::default()];
    for (stepper, output) in steppers.iter_mut().zip(&mut outputs) {
        stepper.align(rows, output).expect("it looks");
        if turns && !output.alpha.is_empty() {
            // the answer before does not count
            stepper.predict(rows, &Need { best: 2, ..Need::default() }, output).expect("a step");
            let (row, length) = (rows[rows.len() - 1], output.t_x * (rows.len() - 1));
            let words = SOURCES[row.sentence].len();
            output.alpha[length..length + words].reverse();
        }
        stepper.predict(rows, &Need::all(), output).expect("a step");
    }
    let [found, expected] = &outputs;
    near(&format!("{what}: log p"), &found.log_p, &expected.log_p, apart * LOG_P);
    near(&format!("{what}: alpha"), &found.alpha, &expected.alpha, apart * ALPHA);
    assert_eq!(found.energies.len(), expected.energies.len());
    for (r, row) in rows.iter().enumerate().filter(|_| !found.alpha.is_empty()) {
        let e = |output: &StepOutput| output.energies_row(r, SOURCES[row.sentence].len()).expect("it looks").to_vec();
        near(&format!("{what}: energies"), &e(found), &e(expected), apart * LOG_P);
    }
    let [s, other] = steppers.each_ref().map(|stepper| stepper.states().expect("states").to_vec());
    near(&format!("{what}: s_i"), &s, &other, apart * LOG_P);
}

#[test]
fn fused_forms_give_the_numbers_of_the_readable_ones() {
    for (seed, config) in (1..3).flat_map(|seed| configs(seed).into_iter().map(move |config| (seed, config))) {
        let weights = weights(&config, 7);
        let (mut plain, mut quick) = (plain(&config, &weights), quick(&config, &weights));
        let what = format!("{}, {seed}", config.name);
        let mut both: [&mut dyn Stepper; 2] = [quick.as_mut(), &mut plain];
        for stepper in &mut both {
            stepper.begin(&SOURCES[..3]).expect("encodes");
        }
        let [s, other] = both.each_ref().map(|stepper| stepper.states().expect("s_0").to_vec());
        near(&format!("{what}: s_0"), &s, &other, LOG_P);
        for sentence in 0..4 {
            let [quick, plain] = both
                .each_ref()
                .map(|stepper| [stepper.annotations(sentence), stepper.context(sentence).map(|c| vec![c])]);
            for (found, expected) in quick.into_iter().zip(plain) {
                assert_eq!(found.is_some(), expected.is_some(), "{what}");
                near(&what, &found.unwrap_or_default().concat(), &expected.unwrap_or_default().concat(), LOG_P);
            }
        }
        let row = |sentence, parent, y_prev| StepRow { sentence, parent, y_prev };
        let steps: &[&[StepRow]] = &[
            &[row(0, 0, None), row(1, 0, None), row(2, 0, None), row(2, 0, None)],
            &[row(2, 3, Some(4)), row(2, 2, Some(5)), row(2, 3, Some(6)), row(0, 0, Some(2)), row(0, 0, Some(2))],
            &[row(0, 3, Some(3)), row(2, 2, Some(3)), row(2, 0, Some(1))],
            &[row(2, 2, Some(7)), row(2, 1, Some(2)), row(2, 1, Some(2)), row(0, 0, Some(4))],
        ];
        for (i, rows) in steps.iter().enumerate() {
            same_step(&format!("{what}, step {i}"), &mut both, rows, (i % 2 == 1, apart(&config)));
        }
    }
}

fn best(stepper: &mut dyn Stepper, source: &[u32]) -> Decoded {
    let options = SearchOptions { beam: 5, max_length: Some(9), ..SearchOptions::default() };
    let found = decode(stepper, SPECIALS, &[source], &options, &forever(), &mut |_, _| {});
    found.expect("it decodes").remove(0)
}

fn alpha(found: &Hypothesis) -> Vec<f32> {
    found.alpha.iter().flatten().flatten().copied().collect()
}

fn check_same(what: &str, found: &Decoded, expected: &Decoded, most: [f32; 2]) {
    assert_eq!(found.hypotheses.len(), expected.hypotheses.len(), "{what}");
    for (found, expected) in found.hypotheses.iter().zip(&expected.hypotheses) {
        assert_eq!(found.tokens, expected.tokens, "{what}");
        near(what, &found.token_log_p, &expected.token_log_p, most[0]);
        near(what, &alpha(found), &alpha(expected), most[1]);
    }
}

fn noise(config: &Config, weights: &Weights, found: &[Decoded]) -> [f32; 2] {
    let model = trainable(config, &variables(weights, DType::F64).0).expect("the readable form");
    let number = |x: &Tensor| x.to_dtype(DType::F32).and_then(|x| x.flatten_all()?.to_vec1::<f32>()).expect("numbers");
    let mut most = [0.0_f32; 2];
    for (source, found) in SOURCES.iter().zip(found) {
        for hypothesis in &found.hypotheses {
            let annotations = model.encode(&[source]).expect("encodes");
            let (mut s, mut y_prev) = (model.init_state(&annotations).expect("s_0"), None);
            let mut exact = [Vec::new(), Vec::new()];
            for word in &hypothesis.tokens {
                let aligned = model.align(y_prev, &s, &annotations).expect("it looks");
                let step = model.predict(y_prev, &aligned, &annotations).expect("it speaks");
                exact[0].push(number(&step.log_p)[*word as usize]);
                exact[1].extend(aligned.alpha_i.iter().flat_map(number));
                (s, y_prev) = (step.s, Some(std::slice::from_ref(word)));
            }
            for (k, own) in [hypothesis.token_log_p.clone(), alpha(hypothesis)].iter().enumerate() {
                assert_eq!(own.len(), exact[k].len());
                most[k] = own.iter().zip(&exact[k]).fold(most[k], |most, (a, b)| most.max((a - b).abs()));
            }
        }
    }
    most
}

#[test]
fn lists_of_the_best_are_the_same_in_both_forms_alone_and_in_batches() {
    for config in configs(5) {
        let weights = weights(&config, 11);
        let (mut plain, mut quick) = (plain(&config, &weights), quick(&config, &weights));
        assert!(quick.joins());
        let many: Vec<&[u32]> = SOURCES.iter().copied().cycle().take(12).collect();
        let options = SearchOptions { beam: 5, max_length: Some(9), ..SearchOptions::default() };
        let all = decode_all(SPECIALS, quick.as_mut(), &many, &options, 3).expect("they decode");
        let expected: Vec<Decoded> = SOURCES.iter().map(|source| best(&mut plain, source)).collect();
        let noise = noise(&config, &weights, &expected);
        // tanh and exp are rounded a little more than in the readable form
        let most = [LOG_P.max(8.0 * noise[0]), ALPHA.max(8.0 * noise[1])];
        for (n, (source, expected)) in SOURCES.iter().zip(&expected).enumerate() {
            check_same(&format!("{}, alone {n}", config.name), &best(quick.as_mut(), source), expected, most);
            for again in (n..many.len()).step_by(SOURCES.len()) {
                check_same(&format!("{}, sentence {again}", config.name), &all[again], expected, most);
            }
        }
    }
}

#[test]
fn taken_apart_they_compute_the_same() {
    for config in configs(8) {
        let (weights, name) = (weights(&config, 13), &config.name);
        let words = [4, 2, 0];
        let pair: [(&[u32], &[u32]); 1] = [(SOURCES[0], &words)];
        let expected = force(&mut *quick(&config, &weights), &pair, &forever()).expect("it scores").remove(0);
        let of = |wrong| {
            let mut anatomy = anatomy_of(&config, &weights, wrong).expect("it can be taken apart");
            let encoded = anatomy.encode(SOURCES[0]).expect("it reads");
            let (mut state, mut y_prev, mut steps) = (encoded.start.clone(), None, Vec::new());
            for word in words {
                let taken = anatomy.step(&encoded, &state, y_prev).expect("a step");
                (state, y_prev) = (taken.state.clone(), Some(word));
                steps.push(taken);
            }
            (anatomy.machine(), encoded, steps)
        };
        let (machine, encoded, steps) = of(None);
        let keys = check_drawing(name, &machine);
        for (i, taken) in steps.iter().enumerate() {
            let alpha = expected.alpha.as_ref().map(|alpha| alpha[i].clone());
            assert_eq!(taken.alpha_i.is_some(), alpha.is_some(), "{name}");
            near(name, &taken.alpha_i.clone().unwrap_or_default(), &alpha.unwrap_or_default(), apart(&config) * ALPHA);
            near(name, &[taken.log_p[words[i] as usize]], &[expected.token_log_p[i]], apart(&config) * LOG_P);
            let parts: HashSet<&str> = encoded.parts.iter().chain(&taken.parts).map(|part| part.key).collect();
            let own = ["words", "candidates", "word"];
            assert_eq!(parts, keys.iter().copied().filter(|key| !own.contains(key)).collect(), "{name}");
            for quantity in encoded.parts.iter().chain(&taken.parts).flat_map(|part| &part.quantities) {
                assert!(quantity.width > 0 && quantity.values.len() == quantity.width * quantity.count(), "{name}");
                let rows = if quantity.symbol.ends_with("_j") { SOURCES[0].len() } else { 1 };
                assert!(quantity.count() == rows || quantity.symbol.contains("{ij}"), "{name}: {}", quantity.name);
            }
        }
        let learned = machine.weights.iter().flatten().map(|(name, _)| name).collect::<HashSet<_>>();
        for (tensor, _) in shapes(&config) {
            assert!(learned.contains(&tensor), "{name}: {tensor} is in no box");
        }
        assert_ne!(of(Some(Miswiring::Untrained)).2[0].log_p, steps[0].log_p, "{name}");
    }
}

#[test]
fn weights_that_were_packed_are_what_they_were() {
    for config in configs(6) {
        let (packed, untouched) = (weights(&config, 3), weights(&config, 3));
        let _ = quick(&config, &packed);
        assert!(packed.iter().eq(untouched.iter()), "{}", config.name);
    }
}
