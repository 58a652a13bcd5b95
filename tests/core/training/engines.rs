//! The fused engine and candle's, update by update; both against a third program; and both learn.

use candle_core::Device;
use interlinear::models::config::{Architecture, AttentionKind, Config};
use interlinear::models::init::{InitScheme, initial_weights};
use interlinear::training::backend::{Engine, FusedEngine};
use interlinear::training::fused::{Fused, StepOptions};
use interlinear::training::settings::{OptimizerSettings, Rule};
use interlinear::training::{layout::ParameterLayout, minibatch::Minibatch, optimizer::Optimizer, plain::PlainEngine};

use super::{SOURCE, TARGET, WIRINGS, config, luong, plainly, waves};

fn fused(config: &Config, settings: &OptimizerSettings, threads: usize) -> FusedEngine {
    let flat = waves(&ParameterLayout::new(config));
    let optimizer = Optimizer::new(settings, flat.len());
    FusedEngine::new(Fused::new(config, threads).expect("it has kernels"), flat, optimizer)
}

fn plain(config: &Config, settings: &OptimizerSettings) -> PlainEngine {
    PlainEngine::new(config, &waves(&ParameterLayout::new(config)), settings, &Device::Cpu).expect("an engine")
}

type Make = fn(&Config, &OptimizerSettings) -> Box<dyn Engine>;

const ENGINES: [Make; 2] = [|c, s| Box::new(fused(c, s, 2)), |c, s| Box::new(plain(c, s))];

fn rule(rule: Rule, clip: f32) -> OptimizerSettings {
    OptimizerSettings { rule, clip, ..OptimizerSettings::default() }
}

#[track_caller]
fn assert_near(found: &[f32], expected: &[f32], tolerance: f32, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let worst =
        found.iter().zip(expected).map(|(f, e)| (f - e).abs()).fold(0.0, |a: f32, b| if b <= a { a } else { b });
    assert!(worst <= tolerance, "{what}: off by {worst}");
}

#[test]
fn both_engines_move_weights_alike() {
    let cases = [Rule::Adam, Rule::Adadelta, Rule::Sgd].into_iter().flat_map(|r| [(r, 0.3), (r, 100.0)]);
    for (index, (r, clip)) in cases.enumerate() {
        let (architecture, rank) = WIRINGS[index % WIRINGS.len()];
        let (config, settings) = (config(architecture, rank), rule(r, clip));
        let rate = if r == Rule::Sgd { 0.2 } else { settings.rate() };
        let (mut fused, mut plain) = (fused(&config, &settings, 2), plain(&config, &settings));
        for update in 0..10 {
            let step = |engine: &mut dyn Engine| {
                engine.update(Minibatch::new(SOURCE, TARGET), plainly(4, 0.1), rate, update).expect("an update")
            };
            let ((a, norm_a), (b, norm_b)) = (step(&mut fused), step(&mut plain));
            assert_eq!(norm_a > clip, clip < 1.0, "{r:?}: clipping is active where it should be");
            assert!(
                (a.smoothed - b.smoothed).abs() < 1e-3 && (norm_a - norm_b).abs() < 1e-3,
                "{r:?} {clip}, update {update}"
            );
        }
        let what = format!("{r:?}, clip {clip}");
        assert_near(&fused.weights().expect("weights"), &plain.weights().expect("weights"), 1e-4, &what);
        let (a, b) = (fused.memory().expect("memory"), plain.memory().expect("memory"));
        assert_near(&a.first, &b.first, 1e-4, &what);
        assert_near(&a.second, &b.second, 1e-4, &what);
    }
}

type Curve = [(f64, f32); 10];

/// -log p a word and gradient norm before each of ten updates on the four pairs of [`SOURCE`] and
/// [`TARGET`], from the weights of [`waves`], with label smoothing 0.1, the gradient of the mean
/// over the pairs, its norm cut at 1, Adam with step size 0.02 or Adadelta with the paper's numbers.
///
/// Made by a PyTorch 2.15 program in f64 that knows nothing of this one: the equations of both
/// papers' appendices written out for one sentence at a time, without padding, its gradient by
/// `torch.autograd.grad`, and the two rules written out as in their papers.
#[rustfmt::skip]
const GOLDEN: &[(Architecture, Option<usize>, Rule, f32, Curve)] = &[
    (Architecture::RNN_SEARCH, None, Rule::Adam, 0.02, [
        (2.569791, 1.885198), (2.452716, 1.244515), (2.362758, 1.237667), (2.273777, 1.210167), (2.191804, 1.158941),
        (2.113893, 1.129349), (2.032148, 1.096843), (1.949462, 1.085220), (1.871109, 1.138375), (1.788691, 1.167064),
    ]),
    (Architecture::RNN_SEARCH, None, Rule::Adadelta, 1.0, [
        (2.569791, 1.885198), (2.533540, 1.792087), (2.503280, 1.463043), (2.475395, 1.524914), (2.452016, 1.376137),
        (2.425699, 1.353036), (2.395682, 1.382957), (2.365648, 1.494891), (2.337027, 1.357582), (2.306215, 1.377761),
    ]),
    (Architecture::RNN_ENC_DEC, Some(3), Rule::Adam, 0.02, [
        (2.596755, 1.161715), (2.512263, 0.997447), (2.452735, 0.950822), (2.395750, 0.988787), (2.334397, 0.989027),
        (2.272533, 1.019036), (2.208555, 1.098999), (2.144528, 1.064291), (2.076979, 1.065061), (2.007258, 1.102057),
    ]),
    (Architecture::RNN_ENC_DEC, Some(3), Rule::Adadelta, 1.0, [
        (2.596755, 1.161715), (2.576872, 1.114273), (2.557413, 1.069586), (2.538626, 1.015539), (2.517597, 1.061889),
        (2.500122, 0.963780), (2.481433, 0.976031), (2.462845, 0.967125), (2.442476, 0.988824), (2.421629, 0.986341),
    ]),
];

#[test]
fn ten_updates_go_as_in_another_program() {
    for (index, (architecture, rank, r, rate, curve)) in GOLDEN.iter().enumerate() {
        let mut engine = fused(&config(*architecture, *rank), &rule(*r, 1.0), 1 + index % 3);
        for (update, (nll, norm)) in curve.iter().enumerate() {
            let found = engine
                .update(Minibatch::new(SOURCE, TARGET), plainly(4, 0.1), *rate, update as u64)
                .expect("an update");
            let found_nll = found.0.nll / found.0.words as f64;
            let what = format!("{architecture:?}, {r:?}, update {update}");
            assert!((found_nll - nll).abs() < 2e-5 * nll, "{what}: {found_nll}, not {nll}");
            assert!((found.1 - norm).abs() < 2e-4 * norm, "{what}: norm {}, not {norm}", found.1);
        }
    }
}

#[test]
fn a_bad_batch_leaves_no_trace() {
    for &(architecture, rank) in WIRINGS {
        let (config, settings) = (config(architecture, rank), rule(Rule::Adam, 1.0));
        for make in ENGINES {
            let (mut spoilt, mut sound) = (make(&config, &settings), make(&config, &settings));
            let before = spoilt.weights().expect("weights");
            for scale in [f32::NAN, f32::INFINITY] {
                let options = StepOptions { scale, ..plainly(4, 0.0) };
                let (_, norm) = spoilt.update(Minibatch::new(SOURCE, TARGET), options, 0.01, 0).expect("an update");
                assert!(!norm.is_finite());
            }
            assert_eq!(spoilt.weights().expect("weights"), before, "a gradient that is no number moves nothing");
            for engine in [&mut spoilt, &mut sound] {
                engine.update(Minibatch::new(SOURCE, TARGET), plainly(4, 0.1), 0.01, 0).expect("an update");
            }
            let weights = [&spoilt, &sound].map(|engine| engine.weights().expect("weights"));
            assert_eq!(weights[0], weights[1], "{architecture:?}: nothing of it is left in the memories and buffers");
        }
    }
}

#[test]
fn a_restored_engine_goes_on_as_before() {
    for r in [Rule::Adam, Rule::Adadelta, Rule::Sgd] {
        let (config, settings) = (config(Architecture::RNN_ENC_DEC, None), rule(r, 1.0));
        for make in ENGINES {
            let mut first = make(&config, &settings);
            let step = |engine: &mut dyn Engine, update| {
                let options = StepOptions { dropout: 0.2, seed: update, ..plainly(4, 0.0) };
                engine.update(Minibatch::new(SOURCE, TARGET), options, 0.1, update).expect("an update");
            };
            (0..3).for_each(|update| step(&mut *first, update));
            let mut second = make(&config, &settings);
            second.restore(first.weights().expect("weights"), Some(first.memory().expect("memory"))).expect("restored");
            for engine in [&mut first, &mut second] {
                step(&mut **engine, 3);
            }
            assert_eq!(first.weights().expect("weights"), second.weights().expect("weights"), "{r:?}");
        }
    }
}

fn toy() -> Vec<(Vec<u32>, Vec<u32>)> {
    (0..15u32)
        .map(|i| {
            let words: Vec<u32> = (0..=i % 3).map(|k| 4 + (i + k * (i / 3 + 1)) % 5).collect();
            let mut source = vec![2 + i % 2];
            source.extend(&words);
            let mut target = words;
            if i % 2 == 1 {
                target.reverse();
            }
            source.push(0);
            target.push(0);
            (source, target)
        })
        .collect()
}

#[test]
fn every_architecture_learns_a_toy_by_heart() {
    let pairs = toy();
    let source: Vec<&[u32]> = pairs.iter().map(|(source, _)| source.as_slice()).collect();
    let target: Vec<&[u32]> = pairs.iter().map(|(_, target)| target.as_slice()).collect();
    let gated = [Architecture::RNN_SEARCH, Architecture::RNN_ENC_DEC].map(|architecture| config(architecture, None));
    let local = luong(1, AttentionKind::LocalP, "general", true, true);
    for config in gated.into_iter().chain([luong(2, AttentionKind::Global, "dot", true, true), local]) {
        let architecture = config.architecture;
        let maxout = if architecture == Architecture::LUONG { 0 } else { 8 };
        let config = Config { hidden: 12, embedding: 6, maxout, ..config };
        let settings = OptimizerSettings::default();
        let layout = ParameterLayout::new(&config);
        let flat = layout.flatten(&initial_weights(&config, InitScheme::Scaled, 3)).expect("the layout's tensors");
        let optimizer = Optimizer::new(&settings, flat.len());
        let mut engine = FusedEngine::new(Fused::new(&config, 2).expect("it has kernels"), flat, optimizer);
        let mut nll = f64::INFINITY;
        for update in 0..400 {
            let (loss, _) = engine
                .update(Minibatch::new(&source, &target), plainly(pairs.len(), 0.0), 0.02, update)
                .expect("an update");
            nll = loss.nll / loss.words as f64;
            if nll < 0.05 {
                break;
            }
        }
        assert!(nll < 0.05, "{architecture:?} still loses {nll} a word");
        let measured = engine.measure(Minibatch::new(&source, &target)).expect("a loss");
        assert!(measured.nll / (measured.words as f64) < 0.06, "and so it measures");
    }
}
